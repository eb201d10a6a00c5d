"""How much of ordinary Python runs in a sandbox as it does on CPython, measured.

Run ``python benchmarks/coverage.py`` in a checkout with the ``dev`` extra installed. Three sets
of programs are run on plain CPython and in a sandbox, and what they print and raise is compared:
HumanEval, our own snippets, and CPython's own tests of its language and library. The exit code
is 1 where a program of the first two differs, or under 95% of the third agree.
"""

from __future__ import annotations

import argparse
import json
import platform
import sys
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from circlet import Sandbox
from rich.console import Console
from rich.table import Table
from rich.text import Text
from suites import boxed, cpython, humaneval, plain, snippets
from suites.program import Program, Result, compared

SETS = ("humaneval", "snippets", "cpython")
GOALS = {"humaneval": 1.0, "snippets": 1.0, "cpython": 0.95}
"""The share of each set that has to agree."""

MAX_LINE = 300
"""Characters of a line about a program that differs."""


@dataclass(frozen=True)
class Measured:
    """One set, measured.

    Attributes:
        name: The set's name.
        results: One for each program that counts.
        left_out: Why other programs don't count, with their number.
        missing: What could not be measured, in sentences.
    """

    name: str
    results: Sequence[Result]
    left_out: dict[str, int] = field(default_factory=dict)
    missing: Sequence[str] = ()

    @property
    def failing(self) -> list[Result]:
        """The programs that differ."""
        return [result for result in self.results if not result.passed]

    @property
    def rate(self) -> float:
        """The share of programs that agree, 0 to 1; 0 where there are none."""
        return 1 - len(self.failing) / len(self.results) if self.results else 0.0

    @property
    def reached(self) -> bool:
        """Whether the share is what it has to be. A set that isn't there holds nothing up."""
        return self.rate >= GOALS[self.name] or (not self.results and bool(self.missing))


def agreement(programs: Sequence[Program]) -> list[Result]:
    """Run programs in both places and compare."""
    both = zip(programs, plain.run(programs), boxed.run(programs), strict=True)
    return [compared(program, expected, found) for program, expected, found in both]


def measured(name: str) -> Measured:
    """Measure one set."""
    if name == "humaneval":
        return Measured(name, agreement(humaneval.programs()))
    if name == "snippets":
        return Measured(name, agreement(snippets.programs()))
    return _cpython()


def _cpython() -> Measured:
    """CPython's tests: those that pass on it in the form in which a sandbox is given them."""
    cut = cpython.cut()
    programs = cut.programs()
    results, failed = [], 0
    both = zip(programs, plain.run(programs), boxed.run(programs), strict=True)
    for program, expected, found in both:
        tests = zip(program.name.split(), expected[1:], found[1:], strict=True)
        for name, wanted, had in tests:
            if wanted.error:
                failed += 1
            else:  # a test says by an error that it fails; what it prints is its own affair
                silent = replace(had, printed=wanted.printed)
                results.append(compared(Program(name, ()), (wanted,), (silent,)))
    why = "does not pass on plain CPython when cut out of its file"
    return Measured("cpython", results, {**cut.left_out, why: failed}, cut.missing)


# -- reports -----------------------------------------------------------------------------------


def as_json(sets: Sequence[Measured], backend: str) -> str:
    """The report for machines."""
    report = {
        "python": platform.python_version(),
        "backend": backend,
        "sets": [
            {
                "name": each.name,
                "passed": len(each.results) - len(each.failing),
                "of": len(each.results),
                "rate": round(each.rate, 4),
                "goal": GOALS[each.name],
                "failing": {result.name: result.difference for result in each.failing},
                "left_out": each.left_out,
                "missing": list(each.missing),
            }
            for each in sets
        ],
    }
    return json.dumps(report, indent=1)


def show(sets: Sequence[Measured], backend: str, failing: bool, console: Console) -> None:
    """The report for people."""
    title = f"Same result as CPython {platform.python_version()}, {backend} back end"
    table = Table("set", "passed", "of", "rate", "goal", title=title, title_justify="left")
    for each in sets:
        passed, count = len(each.results) - len(each.failing), len(each.results)
        style = "" if each.reached else "red"
        figures = (passed, count, f"{each.rate:.1%}", f"{GOALS[each.name]:.0%}")
        table.add_row(each.name, *(f"{figure}" for figure in figures), style=style)
    console.print(table)
    for each in sets:
        for sentence in each.missing:
            console.print(Text(f"{each.name}: {sentence}"))
        for reason, count in each.left_out.items():
            console.print(Text(f"{each.name}: {count} left out: {reason}"))
        for result in each.failing if failing else ():
            console.print(Text(f"{result.name}: {result.difference}"[:MAX_LINE]))


def main(arguments: Sequence[str] | None = None) -> int:
    """Measure, report, and say by the exit code whether the goals are reached."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--only", choices=SETS, help="measure one set only")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.add_argument("--failing", action="store_true", help="name the programs that differ")
    options = parser.parse_args(arguments)
    with Sandbox() as sandbox:
        backend = sandbox.backend
    sets = [measured(name) for name in SETS if options.only in (None, name)]
    if options.json:
        print(as_json(sets, backend))
    else:
        show(sets, backend, options.failing, Console(highlight=False, soft_wrap=True))
    return 0 if all(each.reached for each in sets) else 1


if __name__ == "__main__":
    sys.exit(main())
