"""Runs suites: each case is built through the public faces, played, and checked."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ...sandbox.errors import CircletError
from ..errors import SuiteError
from . import vocabulary
from .acting import Play
from .checks import Check
from .expecting import check_all
from .keys import CaseFault, mapping, unknown_key
from .models import build_models
from .renditions import Renditions, read_renditions
from .stage import Stage
from .suite import Case, Suite, read_suite


@dataclass(frozen=True)
class CaseResult:
    """What a case came to.

    Attributes:
        case: The case.
        checks: Its assertions, and what came of each.
        fault: Why it could not be carried out or checked to its end, or None.
    """

    case: Case
    checks: tuple[Check, ...]
    fault: str | None = None

    @property
    def passed(self) -> bool:
        """Whether something was asserted, and all of it holds."""
        return self.fault is None and bool(self.checks) and not self.failures

    @property
    def failures(self) -> list[str]:
        """What is wrong, a line each; empty where nothing is."""
        failed = [check.failure for check in self.checks if not check.passed]
        if self.fault is not None:
            failed.append(self.fault)
        return failed


@dataclass(frozen=True)
class SuiteResult:
    """What a suite came to.

    Attributes:
        suite: The suite.
        results: What each case came to, in order.
    """

    suite: Suite
    results: tuple[CaseResult, ...]

    @property
    def passed(self) -> int:
        """How many cases passed."""
        return sum(result.passed for result in self.results)

    @property
    def failed(self) -> int:
        """How many did not."""
        return len(self.results) - self.passed


def run_suite(
    path: str | Path,
    *,
    rule: str | None = None,
    renditions: str | Path | None = None,
    on_result: Callable[[CaseResult], None] | None = None,
) -> SuiteResult:
    """Run a suite of conformance cases.

    Args:
        path: Its file.
        rule: The rule whose cases are run. Default: all.
        renditions: The file with the suite's programs in Python. Default: the one that comes
            with circlet, for the published suite; a suite in Python needs none.
        on_result: Takes each result as it comes.

    Raises:
        SuiteError: A file can't be read, or the suite has no case of that rule.
    """
    suite = read_suite(path)
    cases = select(suite, rule)
    rendered = None if suite.in_python else read_renditions(renditions)
    results = []
    for case in cases:
        result = run_case(case, rendered)
        results.append(result)
        if on_result is not None:
            on_result(result)
    return SuiteResult(suite, tuple(results))


def select(suite: Suite, rule: str | None) -> tuple[Case, ...]:
    """The suite's cases of a rule; all for None.

    Raises:
        SuiteError: There are none.
    """
    cases = tuple(case for case in suite.cases if rule in (None, case.rule))
    if not cases:
        rules = ", ".join(dict.fromkeys(case.rule for case in suite.cases))
        raise SuiteError(f"{suite.path} has no case of {rule!r}; its rules are: {rules}")
    return cases


def run_case(case: Case, renditions: Renditions | None = None) -> CaseResult:
    """Run one case.

    Args:
        case: The case.
        renditions: Its programs in Python; None where they are.
    """
    checks: list[Check] = []
    try:
        for check in _played(case, renditions):
            checks.append(check)
    except CaseFault as fault:
        return CaseResult(case, tuple(checks), str(fault))
    except Exception as error:
        # A case of anybody's may break the library where no error of its own says so.
        return CaseResult(case, tuple(checks), f"{type(error).__name__}: {error}")
    return CaseResult(case, tuple(checks))


def _played(case: Case, renditions: Renditions | None) -> Iterator[Check]:
    for key in case.body:
        if key not in vocabulary.CASE:
            raise unknown_key(key, "the case", vocabulary.CASE)
    for key in ("setup", "action", "expect"):
        if case.body.get(key) is None:
            raise CaseFault(f"the case has no {key}")

    def render(place: str, program: str) -> str:
        return program if renditions is None else renditions.find(case, place, program)

    setup: dict[str, Any] = mapping(case.body["setup"], "setup")
    with tempfile.TemporaryDirectory(prefix="circlet-conform-") as folder:
        try:
            models = build_models(setup, render)
        except CircletError as error:  # a script that is written wrongly
            raise CaseFault(str(error)) from None
        play = Play(Stage(setup, models, Path(folder)))
        play.perform(case.body["action"])
        yield from check_all(play, case.body["expect"])
