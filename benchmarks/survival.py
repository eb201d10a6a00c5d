"""What it costs that a session can't be lost: checkpoints, roll-backs, forks.

Run ``python benchmarks/survival.py`` in a checkout, on Linux. All is measured in one run, by
turns, and medians are shown. A busy machine makes single times meaningless, so nothing fails on
them.
"""

from __future__ import annotations

import json
import os
import platform
import signal
import statistics
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path

import command
from circlet import Limits, Sandbox
from rich.console import Console
from rich.table import Table

STATES = {
    "empty": "x = 0",
    "100 MB": "x = 0\nheld = [bytes(1_000) for _ in range(100_000)]",
}
"""What the namespace holds, by name."""
TURN = "x = x + 1"
IDLE_SECONDS = 0.03  # long enough for a checkpoint to have been made
GOALS = {"checkpoint": 6.0, "kill to answered turn": 5.0}


@dataclass(frozen=True)
class Figure:
    """One time or size.

    Attributes:
        what: What was measured.
        state: What the namespace held.
        median: The median, in the unit.
        unit: ``ms`` or ``MB``.
        goal: What it should be with an empty namespace, or None.
    """

    what: str
    state: str
    median: float
    unit: str
    goal: float | None


def timed(action: Callable[[], object]) -> float:
    """Milliseconds that an action takes."""
    started = time.perf_counter()
    action()
    return (time.perf_counter() - started) * 1000


@contextmanager
def session(state: str, **settings: int) -> Iterator[Sandbox]:
    """A session that holds what a state says."""
    with Sandbox(limits=Limits(memory_mb=1_024), backend="kernel", **settings) as box:
        ran = box.run(STATES[state])
        if ran.status != "ok":
            raise RuntimeError(f"the state {state!r} can't be made:\n{ran}")
        yield box


def checkpoint(box: Sandbox) -> float:
    """A checkpoint that somebody waits for."""
    started = time.perf_counter()
    with box.checkpoint():
        return (time.perf_counter() - started) * 1000


def fork(box: Sandbox) -> float:
    """A second session out of a checkpoint, up to its first answer."""
    with box.checkpoint() as point:
        started = time.perf_counter()
        with point.fork() as twin:
            twin.run(TURN)
            return (time.perf_counter() - started) * 1000


def recovered(box: Sandbox) -> float:
    """From the kill of an idle worker to the next turn's answer."""
    box.run(TURN)
    time.sleep(IDLE_SECONDS)
    assert box.pid is not None
    os.kill(box.pid, signal.SIGKILL)
    return timed(lambda: box.run(TURN))


def at_once(box: Sandbox) -> float:
    """A turn right after another."""
    box.run(TURN)
    return timed(lambda: box.run(TURN))


def after_idling(box: Sandbox) -> float:
    """A turn after a while, in which a checkpoint was made."""
    box.run(TURN)
    time.sleep(IDLE_SECONDS)
    return timed(lambda: box.run(TURN))


MEASURES: dict[str, tuple[Callable[[Sandbox], float], int]] = {
    "checkpoint": (checkpoint, 1),
    "fork to answered turn": (fork, 1),
    "kill to answered turn": (recovered, 1),
    "kill to answered turn, by running turns again": (recovered, 0),
    "turn at once": (at_once, 1),
    "turn after idling": (after_idling, 1),
    "turn after idling, without checkpoints": (after_idling, 0),
}
"""Each measure's function, and how many checkpoints its session keeps."""


def memory(state: str) -> float:
    """Megabytes (PSS) that one session takes up with its checkpoint, beyond one without."""

    def proportional(box: Sandbox) -> int:
        pids = [box.pid, *(one.worker.pid for one in box._past.parked)]
        return sum(_pss(pid) for pid in pids if pid is not None)

    with session(state, checkpoints=0) as bare, session(state) as kept:
        for box in (bare, kept):
            for _ in range(3):
                box.run(TURN)
                time.sleep(IDLE_SECONDS)
        return (proportional(kept) - proportional(bare)) / 1e6


def _pss(pid: int) -> int:
    for line in Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines():
        if line.startswith("Pss:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError(f"process {pid} has no Pss")


def measured(runs: int) -> list[Figure]:
    """Everything, for each state."""
    figures = []
    for state in STATES:
        for what, (measure, keep) in MEASURES.items():
            with session(state, checkpoints=keep) as box:
                median = statistics.median(measure(box) for _ in range(runs))
            goal = GOALS.get(what) if state == "empty" else None
            figures.append(Figure(what, state, round(median, 2), "ms", goal))
        figures.append(
            Figure("memory of a checkpoint (PSS)", state, round(memory(state), 2), "MB", None)
        )
    return figures


def show(figures: Sequence[Figure], runs: int, console: Console) -> None:
    """The report for people."""
    title = f"What survival costs on CPython {platform.python_version()}, medians of {runs} runs"
    table = Table("", *STATES, "goal, empty", title=title, title_justify="left")
    for column in table.columns[1:]:
        column.justify = "right"
    per_state = len(figures) // len(STATES)
    for row in range(per_state):
        each = figures[row::per_state]
        goal = f"{each[0].goal:.0f} ms" if each[0].goal else ""
        style = "red" if each[0].goal and each[0].median > each[0].goal else ""
        cells = (f"{figure.median:.2f} {figure.unit}" for figure in each)
        table.add_row(each[0].what, *cells, goal, style=style)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    options = command.parser(__doc__, runs=40, what="times that each is measured").parse_args(
        arguments
    )
    figures = measured(options.runs)
    if options.json:
        print(json.dumps({"runs": options.runs, "figures": [asdict(each) for each in figures]}))
    else:
        show(figures, options.runs, Console())


if __name__ == "__main__":
    main()
