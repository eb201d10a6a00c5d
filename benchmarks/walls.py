"""What each layer of the walls costs at the start: time to a first result with it and without.

Run ``python benchmarks/walls.py`` in a checkout, on a machine with the ``kernel`` back end. Three
times are taken: of a zygote's start to the first result of its first session, of a session whose
worker is forked on demand, and of the self-test by itself. Each layer is left off in turn, and
the turns alternate; medians of one run are shown, and what they differ from those of all layers.
"""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from unittest.mock import patch

import command
from circlet.sandbox import pool, selftest
from circlet.sandbox.testing import KERNEL_LAYERS, SandboxOf, zygote_without
from circlet.sandbox.zygote import LANGUAGE
from rich.console import Console
from rich.progress import track
from rich.table import Table

ALL, UNTRIED = "all layers", "self-test"
LEFT_OFF = (ALL, UNTRIED, LANGUAGE, *(name for name in KERNEL_LAYERS if name != "no_new_privs"))
"""What is left off in turn; the first is nothing. Without no_new_privs seccomp can't be had."""
SESSIONS = 10
"""Sessions of each zygote whose workers are forked on demand."""


@dataclass(frozen=True)
class Start:
    """Medians with something left off, in milliseconds.

    Attributes:
        left_off: What was.
        zygote_ms: From nothing to a first result.
        session_ms: From a zygote that runs to a new session's first result.
    """

    left_off: str
    zygote_ms: float
    session_ms: float


def _first_result(zygote: pool.Zygote) -> None:
    with SandboxOf(zygote) as session:
        assert session.run("6 * 7").value == 42


def _milliseconds(since: float) -> float:
    return 1000 * (time.perf_counter() - since)


def started(left_off: str) -> tuple[float, list[float]]:
    """Start one zygote with something left off: its time, and those of sessions, in ms."""
    layers = () if left_off in (ALL, UNTRIED) else (left_off,)
    untried = patch.object(pool.Zygote, "_try_jail", return_value=[])
    if left_off == UNTRIED:
        untried.start()
    begin = time.perf_counter()
    try:
        with zygote_without(*layers) as zygote:
            _first_result(zygote)
            whole = _milliseconds(begin)
            sessions = []
            for _ in range(SESSIONS):
                begin = time.perf_counter()
                _first_result(zygote)
                sessions.append(_milliseconds(begin))
            return whole, sessions
    finally:
        if left_off == UNTRIED:
            untried.stop()


def tried(runs: int) -> float:
    """The self-test's time on a zygote that has nothing else to do: the median, in ms."""
    times = []
    with zygote_without() as zygote:
        for _ in range(runs):
            begin = time.perf_counter()
            trials = zygote._try_jail()
            for trial in trials:
                trial.greet()
            assert not selftest.holes([trial.sock for trial in trials])
            times.append(_milliseconds(begin))
    return statistics.median(times)


def measured(runs: int) -> list[Start]:
    """Start a zygote that often with each layer left off, by turns."""
    times: dict[str, tuple[list[float], list[float]]] = {name: ([], []) for name in LEFT_OFF}
    for _ in track(range(runs), "Measuring", transient=True, console=Console(stderr=True)):
        for name, (zygotes, sessions) in times.items():
            whole, each = started(name)
            zygotes.append(whole)
            sessions += each
    return [
        Start(name, round(statistics.median(zygotes), 2), round(statistics.median(sessions), 3))
        for name, (zygotes, sessions) in times.items()
    ]


def show(starts: Sequence[Start], self_test_ms: float, runs: int, console: Console) -> None:
    """The report for people."""
    title = f"Time to a first result, medians of {runs} runs"
    heads = ("left off", "zygote ms", "saved", "session ms", "saved")
    table = Table(*heads, title=title, title_justify="left")
    whole = starts[0]
    for each in starts:
        table.add_row(
            "nothing" if each is whole else each.left_off,
            *(f"{each.zygote_ms:.1f}", f"{whole.zygote_ms - each.zygote_ms:+.1f}"),
            *(f"{each.session_ms:.2f}", f"{whole.session_ms - each.session_ms:+.2f}"),
        )
    console.print(table)
    console.print(f"The self-test alone: {self_test_ms:.2f} ms, most of them beside other work.")


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    options = command.parser(__doc__, runs=15, what="zygotes of each").parse_args(arguments)
    starts, self_test_ms = measured(options.runs), tried(options.runs)
    if options.json:
        found = {"runs": options.runs, "self_test_ms": round(self_test_ms, 3)}
        json.dump({**found, "starts": [asdict(each) for each in starts]}, sys.stdout)
        print()
    else:
        show(starts, self_test_ms, options.runs, Console())


if __name__ == "__main__":
    main()
