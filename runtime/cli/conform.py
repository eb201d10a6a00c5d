"""``circlet conform``: a suite of conformance cases, run and told case by case."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated

import typer

from ..conformance import CaseResult, SuiteResult, run_suite
from .console import one_line
from .faults import Code, usage


def conform(
    suite: Annotated[Path, typer.Argument(metavar="SUITE.yaml", help="The suite's file.")],
    rule: Annotated[
        str | None, typer.Option(metavar="RULE", help="Run this rule's cases only.")
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Tell how each assertion was checked.")
    ] = False,
    renditions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            help="The suite's programs in Python. Default: those of the published suite.",
        ),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print what came of each case as JSON.")
    ] = False,
) -> None:
    """Check that circlet behaves as a suite of cases says.

    Each failure is a line: the rule, the case, what was expected, what was
    seen.
    Exit codes: 0 all cases passed, 1 one failed, 2 a file can't be read or has
    no such rule.
    """

    def tell(result: CaseResult) -> None:
        if not as_json:
            for line in _lines(result, explain):
                typer.echo(line)

    with usage():
        ran = run_suite(suite, rule=rule, renditions=renditions, on_result=tell)
    typer.echo(_as_json(ran) if as_json else f"{ran.passed} passed, {ran.failed} failed")
    if ran.failed:
        raise typer.Exit(Code.FAILED)


def _lines(result: CaseResult, explain: bool) -> list[str]:
    """What is told of a case: its failures; or each of its assertions, and what cut it short."""
    case = result.case
    title = f"{case.rule} {case.label}"
    if not explain:
        return [one_line(f"{title}: {failure}") for failure in result.failures]
    lines = [one_line(f"{'passed' if result.passed else 'FAILED'} {title} (line {case.line})")]
    for check in result.checks:
        told = f"{check.key}: {check.expected}{f' ({check.how})' if check.how else ''}"
        lines.append("  " + one_line(told if check.passed else f"FAILED {told}: saw {check.seen}"))
    if result.fault is not None:
        lines.append("  " + one_line(f"FAILED {result.fault}"))
    return lines


def _as_json(ran: SuiteResult) -> str:
    cases = [
        {
            "rule": result.case.rule,
            "name": result.case.label,
            "line": result.case.line,
            "passed": result.passed,
            "failures": result.failures,
        }
        for result in ran.results
    ]
    return json.dumps({"passed": ran.passed, "failed": ran.failed, "cases": cases})
