"""Walks from every object that a program can name to all that it can reach; a script.

It follows what the policy admits: attributes by public names, items, what is iterated, awaited and
entered, the results of calls with a few arguments, and the errors that they end in. Recorders
(``recorders.py``) are among the arguments, stand in the place of attributes, and override what a
subclass may: what they are handed joins the walk. It prints, as JSON, how much it saw and each
path to an object that leads out. Run in a process of its own, for it calls whatever it finds.
"""

from __future__ import annotations

import gc
import io
import json
import os
import signal
import sys
from typing import Any

import holdings
from circlet.sandbox.facades.names import PUBLIC
from circlet.sandbox.reader import Reader
from circlet.sandbox.stub import GateStub
from circlet.sandbox.worker import Worker
from recorders import Recorders
from walking import OPERATIONS, Walk


def _exit(code: int) -> None:
    raise AssertionError(f"the process would have ended with {code}")


def _stop(*_: Any) -> None:
    raise TimeoutError


def _answer(*_: Any) -> Any:
    """What a host answers that is asked for a page of a record, or for a gate's result."""
    return {"code": "x = 1", "calls": [{"gate": "echo"}]}


def main() -> None:
    """Walk, and print what was found.

    Arguments are names that are added to facades; with some the walk begins at these alone.
    """
    added = [argument.rpartition(".") for argument in sys.argv[1:]]
    for module, _, name in added:
        PUBLIC[module] = f"{PUBLIC.get(module, '')} {name}"
    end, os._exit = os._exit, _exit  # only now: what is called below must not end the walk
    worker = Worker()
    worker.make_ready()
    namespace = worker._namespace
    signal.signal(signal.SIGALRM, _stop)
    sys.stdout = io.StringIO()
    sys.setrecursionlimit(300)
    variables: dict[str, Any] = {"__builtins__": namespace._pristine, "__name__": "__main__"}
    recorders = Recorders(variables, list(OPERATIONS))
    walk = Walk(recorders)
    for module, _, name in added:
        walk.add(getattr(namespace._facades[module], name), f"{module}.{name}", 0, True)
    if not added:
        for name, value in {**namespace._pristine, **namespace.variables}.items():
            if name.isidentifier() and not name.startswith("__"):
                walk.add(value, name, 0, True)
        for name, facade in namespace._facades.items():
            walk.add(facade, name, 0, True)
        for kind in (GateStub, Reader):
            info = {"signature": "gate(value)", "parameters": ["value"], "seal": []}
            walk.add(kind("gate", _answer, info), kind.__name__, 0, True)
        recorders.run(holdings.SOURCE)
        for name, value in variables["held"].items():
            walk.add(value, f"held.{name}", 0, False)
    gc.disable()
    walk.run()
    found = json.dumps(
        {"seen": len(walk.seen), "calls": walk.calls, "handed": walk.handed, "bad": walk.bad}
    )
    os.write(1, found.encode())
    end(0)


main()
