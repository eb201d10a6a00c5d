"""Programs on plain CPython: the same interpreter, without a sandbox, in processes of their own.

As a script it reads programs from its standard input and writes what they came to. Each is
run in a fork, so that none finds what another did to a module. Needs a system that can fork.
"""

from __future__ import annotations

import gc
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from importlib import import_module
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from types import CodeType

    from .program import Outcome, Program

SECONDS = 20
"""How long one turn of a program may take."""
PRELOADED = (
    "asyncio calendar collections contextlib copy csv dataclasses decimal difflib enum fractions "
    "functools io itertools json linecache random re statistics textwrap types typing warnings"
).split()
"""Loaded before the forks, as a sandbox's zygote does, or each program would load them anew."""


def run(programs: Sequence[Program]) -> list[Outcome]:
    """Run programs on plain CPython.

    Raises:
        subprocess.CalledProcessError: An interpreter failed, rather than a program.
    """
    shares = os.cpu_count() or 1
    with ThreadPoolExecutor(shares) as threads:
        done = list(threads.map(_run_share, [programs[n::shares] for n in range(shares)]))
    outcomes: list[Outcome] = [()] * len(programs)
    for number, share in enumerate(done):
        outcomes[number::shares] = share
    return outcomes


def _run_share(programs: Sequence[Program]) -> list[Outcome]:
    from .program import Turn

    sources = {source: None for program in programs for source in program.turns}
    places = {source: place for place, source in enumerate(sources)}
    turns = [[places[source] for source in program.turns] for program in programs]
    told = json.dumps({"sources": [*sources], "programs": turns})
    ran = subprocess.run(
        [sys.executable, "-I", __file__], input=told, capture_output=True, text=True, check=True
    )
    return [tuple(Turn(*turn) for turn in turns) for turns in json.loads(ran.stdout)]


# -- in the interpreter that runs them ---------------------------------------------------------


def _serve() -> None:
    told = json.load(sys.stdin)
    sources, programs = told["sources"], told["programs"]
    for name in PRELOADED:
        import_module(name)
    gc.freeze()
    outcomes = [_forked([sources[place] for place in turns]) for turns in programs]
    json.dump(outcomes, sys.stdout)


def _forked(turns: list[str]) -> list[tuple[str, str, str]]:
    reader, writer = os.pipe()
    child = os.fork()
    if not child:
        os.close(reader)
        with open(writer, "w") as pipe:
            json.dump(_outcome(turns), pipe)
        os._exit(0)
    os.close(writer)
    with open(reader) as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else [("", "Ended", f"by status {status}")] * len(turns)


def _outcome(turns: list[str]) -> list[tuple[str, str, str]]:
    import io
    import linecache
    import types

    module = types.ModuleType("__main__")
    sys.modules["__main__"] = module
    done = []
    for number, source in enumerate(turns, 1):
        # A program's errors and logs are part of what a model is shown, in the sandbox too.
        sys.stdout = sys.stderr = output = io.StringIO()
        filename = f"<turn {number}>"
        linecache.cache[filename] = len(source), None, source.splitlines(True), filename
        error = message = ""
        signal.alarm(SECONDS)
        try:
            exec(_compiled(source, filename), vars(module))
        except BaseException as raised:
            error, message = type(raised).__name__, str(raised)
        done.append((output.getvalue(), error, message))
    return done


def _compiled(source: str, filename: str) -> CodeType:
    import warnings

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # what the compiler advises is no output of the program
        return compile(source, filename, "exec", dont_inherit=True)


if __name__ == "__main__":
    _serve()
