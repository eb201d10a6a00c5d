"""The run that ``crash.py`` kills: a process of its own, which begins it or goes on with it.

Its model is stateless, as models are: which program it says next follows from how many of its
turns went well, and one that didn't is said again. Its programs act through a ledger, whose entry
is on the disk before it answers, and look first whether an entry is there where they can't know.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import sys
import time
from pathlib import Path
from typing import get_args

from circlet import LLM, Cantrip, Circle, Loom, gate
from circlet.runtime.errors import LoomError
from circlet.runtime.llm import Message, Reply, Request, ToolCall, Usage
from circlet.runtime.loom import StoreFormat

RESULT = "result.json"
LEDGER = "ledger"
RUN = "run"
ANSWERS_AFTER_S = 0.01
"""How long the ledger takes to answer once an entry is there: many a kill comes in between."""
FULL = 75
"""The exit code of a run whose loom could not be opened or written."""
SAFELY = """
def safely(name):
    while name not in ledger():
        try:
            enter(name)
        except GateInterrupted:
            pass
"""
"""How an entry is made once: its gate may be interrupted, again and again."""
PLANS = {
    "root": [
        f"{SAFELY}\nparts = [n * n for n in range(20)]\nsafely('root begins')\nprint(parts)",
        "one = call_entity('branch', context=1)\nsafely('root has one')\nprint(one)",
        "rows = [row for row in parts if row % 2]\nprint('row\\n' * 400)",
        "many = call_entity_batch([{'intent': kind, 'context': n} for n, kind in "
        "enumerate(['leaf', 'branch', 'leaf', 'leaf'], 10)])\nsafely('root has many')\nprint(many)",
        "safely('root ends')\ndone({'one': one, 'many': many, 'rows': rows})",
    ],
    "branch": [
        f"{SAFELY}\nsafely(f'branch {{context}} begins')",
        "below = call_entity_batch([{'intent': 'leaf', 'context': context * 100 + n} "
        "for n in range(2)])\nprint(below)",
        "safely(f'branch {context} ends')\ndone([context, below])",
    ],
    "leaf": [
        f"{SAFELY}\nsafely(f'leaf {{context}}')\ndouble = context * 2",
        "done(double)",
    ],
}
"""What each kind of entity does, a program a turn, by its intent."""
ENTRIES = sorted(
    [
        *(f"root {what}" for what in ("begins", "has one", "has many", "ends")),
        *(f"branch {n} {what}" for n in (1, 11) for what in ("begins", "ends")),
        *(f"leaf {n}" for n in (10, 12, 13, 100, 101, 1100, 1101)),
    ]
)
"""What the ledger holds at the end, each once."""
FAILED = ("Error", "was rolled back", "GateInterrupted", "ChildFailed")


class Planned(LLM):
    """Says the programs of a plan, one after the other, each until it goes well."""

    name = "planned"

    async def query(self, request: Request) -> Reply:
        """The next program."""
        messages = request.messages
        intent = next(one.content or "" for one in messages if one.role == "user")
        went_well = sum(one.role == "tool" and _went_well(one) for one in messages)
        code = PLANS[intent][went_well]
        call = ToolCall(f"call_{len(messages)}", "python", {"code": code})
        return Reply(tool_calls=(call,), usage=Usage(10, 5), stop_reason="tool_calls")


def _went_well(message: Message) -> bool:
    return not any(sign in (message.content or "") for sign in FAILED)


def spell(home: Path, format: StoreFormat) -> Cantrip:  # noqa: A002 - what it is called everywhere
    """The cantrip, the same in each life.

    Args:
        home: The run's folder.
        format: The format of its loom.
    """
    path = home / LEDGER

    @gate
    def enter(name: str) -> int:
        """Enter a name, on the disk before this returns."""
        with open(path, "ab") as file:
            file.write(f"{name}\n".encode())
            file.flush()
            os.fsync(file.fileno())
        time.sleep(ANSWERS_AFTER_S)
        return len(name)

    @gate(idempotent=True)
    def ledger() -> list[str]:
        """The names that were entered."""
        return path.read_text().splitlines() if path.exists() else []

    circle = Circle(
        medium="code",
        gates=["done", "call_entity", "call_entity_batch", enter, ledger],
        wards=[{"max_turns": 100}, {"max_depth": 2}],
    )
    return Cantrip(llm=Planned(), circle=circle, loom=Loom(home / RUN, format=format))


def main() -> int:
    """Begin, or go on; the result is on the disk at the end."""
    parser = argparse.ArgumentParser()
    parser.add_argument("home", type=Path)
    parser.add_argument("--format", choices=get_args(StoreFormat), default="sqlite")
    parser.add_argument("--most-bytes", type=int, help="how large a file may become")
    options = parser.parse_args()
    if options.most_bytes is not None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (options.most_bytes, options.most_bytes))
    print("ready", flush=True)
    try:
        with spell(options.home, options.format) as cantrip:
            is_new = not cantrip.loom.entities
            cast = cantrip.cast("root") if is_new else cantrip.resume()
    except LoomError as error:
        print(error, file=sys.stderr)
        return FULL
    (options.home / RESULT).write_text(json.dumps([cast.result, cast.difference]))
    return 0


if __name__ == "__main__":
    sys.exit(main())
