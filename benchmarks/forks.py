"""What it costs to fork a turn: by snapshot and by replay, one at a time and several in one call.

Run ``python benchmarks/forks.py`` in a checkout, on Linux. A fork's time is that from the call to
its result, with one program of its own; a scripted model answers at once. All is measured in one
run, by turns, and medians are shown. A busy machine makes single times meaningless, so nothing
fails on them.
"""

from __future__ import annotations

import json
import platform
import statistics
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass

import command
from circlet import Cantrip, Circle, ScriptedLLM
from rich.console import Console
from rich.table import Table

TURNS = (1, 10, 100)
"""How many turns are behind a fork."""
COUNT = 8
"""How many forks are made of one turn."""
FIRST = "import random\nrows = []"
TURN = "rows.append([random.random() for _ in range(200)])\nsum(rows[-1])"
ON = "done(len(rows))"
SNAPSHOT, REPLAY = "by snapshot", "by replay"
AT_ONCE, APART = f"{COUNT} in one call", f"{COUNT} calls of one"


@dataclass(frozen=True)
class Figure:
    """One time.

    Attributes:
        strategy: How the forks came by their state.
        how: How many were made, and how.
        turns: How many turns were behind them.
        median: The median, in milliseconds.
    """

    strategy: str
    how: str
    turns: int
    median: float


@contextmanager
def past(turns: int) -> Iterator[tuple[Cantrip, str]]:
    """A cantrip and its entity, which is alive and has so many turns behind it."""
    programs = [FIRST, *[TURN] * (turns - 2), "done(0)"] if turns > 1 else [f"{FIRST}\ndone(0)"]
    llm = ScriptedLLM({"^go": [{"code": program} for program in programs], "^on": [{"code": ON}]})
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": turns + 1}])
    with Cantrip(llm=llm, circle=circle) as spell, spell.summon() as entity:
        yield spell, entity.send("go").entity_id


def one(spell: Cantrip, entity_id: str, turns: int, strategy: str) -> float:
    """Milliseconds that one fork takes."""
    started = time.perf_counter()
    fork = spell.fork(entity_id, turns, "on")
    took = (time.perf_counter() - started) * 1000
    assert fork.forked_from is not None
    assert (fork.result, fork.forked_from.strategy) == (max(turns - 2, 0), strategy)
    return took


def at_once(spell: Cantrip, entity_id: str, turns: int, strategy: str) -> float:
    """Milliseconds that several forks take in one call."""
    started = time.perf_counter()
    forks = spell.fork(entity_id, turns, "on", n=COUNT)
    took = (time.perf_counter() - started) * 1000
    for fork in forks:
        assert fork.error is None
        assert fork.forked_from is not None
        assert fork.forked_from.strategy == strategy
    return took


def apart(spell: Cantrip, entity_id: str, turns: int, strategy: str) -> float:
    """Milliseconds that as many forks take, one after the other."""
    return sum(one(spell, entity_id, turns, strategy) for _ in range(COUNT))


MEASURES = {"one": one, AT_ONCE: at_once, APART: apart}


def measured(runs: int) -> list[Figure]:
    """Everything."""
    return [figure for turns in TURNS for figure in _of(turns, runs)]


def _of(turns: int, runs: int) -> Iterator[Figure]:
    with past(turns) as (spell, entity_id):
        yield from _by(SNAPSHOT, "snapshot", spell, entity_id, turns, runs)
    yield from _by(REPLAY, "replay", spell, entity_id, turns, runs)  # it is over by now


def _by(
    name: str, strategy: str, spell: Cantrip, entity_id: str, turns: int, runs: int
) -> Iterator[Figure]:
    times: dict[str, list[float]] = {how: [] for how in MEASURES}
    for _ in range(runs):
        for how, measure in MEASURES.items():
            times[how].append(measure(spell, entity_id, turns, strategy))
    for how, taken in times.items():
        yield Figure(name, how, turns, round(statistics.median(taken), 2))


def show(figures: Sequence[Figure], runs: int, console: Console) -> None:
    """The report for people."""
    title = f"Forks on CPython {platform.python_version()}, ms, medians of {runs} runs"
    heads = [f"{turns} turn{'s' if turns > 1 else ''}" for turns in TURNS]
    table = Table("strategy", "forks", *heads, title=title, title_justify="left")
    for column in table.columns[2:]:
        column.justify = "right"
    for strategy in (SNAPSHOT, REPLAY):
        for how in MEASURES:
            each = [one for one in figures if (one.strategy, one.how) == (strategy, how)]
            table.add_row(strategy, how, *(f"{figure.median:.1f}" for figure in each))
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    options = command.parser(__doc__, runs=10, what="times that each is measured").parse_args(
        arguments
    )
    figures = measured(options.runs)
    if options.json:
        print(json.dumps({"runs": options.runs, "figures": [asdict(each) for each in figures]}))
    else:
        show(figures, options.runs, Console())


if __name__ == "__main__":
    main()
