"""What it costs to keep a loom: each append, by durability and format, and opening it again.

Run ``python benchmarks/loom.py`` in a checkout. One entity's turns are recorded, each with a reply
of 500 characters, an observation of 1,000 and two gate calls: six records. Then the loom is opened
and threaded in a process of its own, whose memory is measured: on Linux. The exit code is 1 where a
goal is not met. Rates with ``power`` are the disk's, and so say little about circlet.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

import command
from circlet.runtime.llm import Reply
from circlet.runtime.llm.base import ToolCall, Usage
from circlet.runtime.loom import (
    CallRecord,
    EntityRecord,
    IdentityRecord,
    IntentRecord,
    Loom,
    NodeRecord,
    Observation,
    ObservedCall,
    Record,
    ReplyRecord,
)
from circlet.sandbox import wire
from rich.console import Console
from rich.table import Table

TURNS = 100_000
SYNCED_TURNS = 200
"""Turns that are recorded with ``power``, where each record waits for the disk."""
STRETCH = 1_000
"""Turns of the stretches whose cost is compared."""
FORMATS = ("sqlite", "jsonl")
MOST_SECONDS = 3.0
"""Goal for opening and threading the whole loom."""
MOST_MB = 160.0
"""Goal for the memory that takes, beyond a process with an empty loom."""
MOST_GROWTH = 1.25
"""Goal for what a turn costs in the last stretch, in turns of the first."""


@dataclass(frozen=True)
class Figure:
    """One measure.

    Attributes:
        what: What was measured.
        format: The loom's format.
        value: How much, in the unit.
        unit: ``us``, ``s``, ``MB``, ``bytes`` or ``times``.
        goal: What it must not pass, or None.
    """

    what: str
    format: str
    value: float
    unit: str
    goal: float | None = None

    @property
    def is_met(self) -> bool:
        """Whether the goal is reached, if there is one."""
        return self.goal is None or self.value <= self.goal


def beginning() -> list[Record]:
    """What goes before the turns."""
    return [
        IdentityRecord("identity", "cantrip", "You are a careful analyst." * 20, {}, ""),
        EntityRecord(
            "e", "cantrip", "identity", None, 0, {"max_turns": 10}, "code", "model", "Count them."
        ),
        IntentRecord("e", 1, "Count them."),
    ]


def turn(number: int) -> Iterator[Record]:
    """One turn's records."""
    code = f"found = search('line {number}')\n" * 16
    call = ToolCall(f"call_{number}", "python", {"code": code[:500]})
    usage = Usage(1_000 + number, 120, 900)
    yield ReplyRecord("e", number, Reply(None, (call,), usage, None, "tool_calls", "model-1"))
    observed = []
    for k in (1, 2):
        sent = wire.dumps({"query": f"line {number}", "limit": 10})
        shown = f'{{"query":"line {number}","limit":10}}'
        yield CallRecord("e", number, k, "search", sent, shown, "begun", asked=bytes(32))
        got = wire.dumps([f"{number}: a line that was found, {place}" for place in range(5)])
        yield CallRecord(
            "e", number, k, "search", sent, shown, "ended", got, "5 lines", False, 1.5, bytes(32)
        )
        observed.append(ObservedCall("search", shown, "5 lines", False))
    text = f"line {number} of what the program printed\n" * 27
    told = Observation(tuple(observed), text[:1_000], None, None, text[:1_000], False)
    parent = f"e.{number - 1}" if number > 1 else None
    yield NodeRecord(
        f"e.{number}", parent, "e", number, number, 1, True, told, (1, 2), (), "kept", 12.5
    )


def record(loom: Loom, first: int, count: int) -> float:
    """Record some turns.

    Returns:
        Microseconds a turn, without what it costs to make the records.
    """
    made = [item for number in range(first, first + count) for item in turn(number)]
    started = time.perf_counter()
    for item in made:
        loom.append(item)
    return (time.perf_counter() - started) / count * 1e6


def appended(directory: Path, turns: int, layout: str) -> list[Figure]:
    """A loom of many turns, and what a turn cost in its stretches."""
    costs = []
    with Loom(directory, format=layout, trajectory=False) as loom:
        for item in beginning():
            loom.append(item)
        for first in range(1, turns + 1, STRETCH):
            costs.append(record(loom, first, min(STRETCH, turns + 1 - first)))
    # A stretch is the median of some, for a busy machine disturbs single ones.
    few = max(1, len(costs) // 20)
    first, last = statistics.median(costs[:few]), statistics.median(costs[-few:])
    return [
        Figure(f"record a turn, of {turns:,}", layout, round(statistics.median(costs), 1), "us"),
        Figure("the same, in the first twentieth", layout, round(first, 1), "us"),
        Figure("the same, in the last twentieth", layout, round(last, 1), "us"),
        Figure("growth from first to last", layout, round(last / first, 2), "times", MOST_GROWTH),
    ]


def synced(directory: Path, turns: int, layout: str) -> Figure:
    """What a turn costs where each record waits for the disk."""
    with Loom(directory, format=layout, durability="power", trajectory=False) as loom:
        for item in beginning():
            loom.append(item)
        cost = record(loom, 1, turns)
    return Figure("record a turn, durability power", layout, round(cost, 1), "us")


def opened(directory: Path, turns: int, layout: str) -> list[Figure]:
    """What it takes to open and thread a loom, measured in a process of its own."""
    with tempfile.TemporaryDirectory() as empty:
        Loom(empty, format=layout, trajectory=False).close()
        base = _told(empty)
    told = _told(directory)
    if told["turns"] != turns:
        raise RuntimeError(f"the thread has {told['turns']} turns, not {turns}")
    # Of a small loom the difference is noise, of either sign.
    memory = max(0.0, (told["peak_kb"] - base["peak_kb"]) / 1024)
    both = told["open_s"] + told["thread_s"]
    goal = MOST_SECONDS if turns <= TURNS else None
    return [
        Figure(f"open a loom of {turns:,} turns", layout, round(told["open_s"], 2), "s"),
        Figure("thread it", layout, round(told["thread_s"], 2), "s"),
        Figure("open and thread it", layout, round(both, 2), "s", goal),
        Figure("memory of that at its peak", layout, round(memory, 1), "MB", MOST_MB),
    ]


def _told(directory: str | Path) -> dict[str, float]:
    done = subprocess.run(
        [sys.executable, __file__, "--open", str(directory)], capture_output=True, check=True
    )
    told: dict[str, float] = json.loads(done.stdout)
    return told


def open_and_thread(directory: Path) -> dict[str, float]:
    """Open a loom and go through its only thread, in this process."""
    started = time.perf_counter()
    with Loom(directory, read_only=True) as loom:
        opening = time.perf_counter()
        turns = sum(len(thread) for thread in loom.threads())
        ended = time.perf_counter()
    return {
        "open_s": opening - started,
        "thread_s": ended - opening,
        "peak_kb": _peak_kb(),
        "turns": turns,
    }


def _peak_kb() -> int:
    """The most memory that this process has had; getrusage would tell that of its parent too."""
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1])
    raise RuntimeError("this process has no VmHWM")


def measured(turns: int) -> list[Figure]:
    """Everything, for each format."""
    figures = []
    for layout in FORMATS:
        with tempfile.TemporaryDirectory() as home:
            run = Path(home) / "run"
            figures += appended(run, turns, layout)
            figures.append(synced(Path(home) / "synced", min(turns, SYNCED_TURNS), layout))
            size = sum(path.stat().st_size for path in run.iterdir()) / turns
            figures.append(Figure("on the disk, a turn", layout, round(size), "bytes"))
            figures += opened(run, turns, layout)
    return figures


def show(figures: Sequence[Figure], console: Console) -> None:
    """The report for people."""
    title = f"What a loom costs on CPython {platform.python_version()}"
    table = Table("", *FORMATS, "goal", title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    rows = len(figures) // len(FORMATS)
    for row in range(rows):
        each = figures[row::rows]
        goal = f"{each[0].goal:g} {each[0].unit}" if each[0].goal else ""
        style = "" if all(figure.is_met for figure in each) else "red"
        cells = (f"{figure.value:,g} {figure.unit}" for figure in each)
        table.add_row(each[0].what, *cells, goal, style=style)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure and report."""
    parser = command.parser(__doc__, runs=TURNS, what="turns that the loom has")
    parser.add_argument("--open", type=Path, metavar="DIR", help="only open and thread this loom")
    options = parser.parse_args(arguments)
    if options.open:
        print(json.dumps(open_and_thread(options.open)))
        return 0
    figures = measured(options.runs)
    if options.json:
        print(json.dumps({"turns": options.runs, "figures": [asdict(each) for each in figures]}))
    else:
        show(figures, Console())
    return 0 if all(figure.is_met for figure in figures) else 1


if __name__ == "__main__":
    sys.exit(main())
