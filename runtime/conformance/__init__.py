"""Conformance: suites of cases that say how a runtime has to behave, and who runs them."""

from .checks import Check
from .renditions import Renditions, read_renditions
from .runner import CaseResult, SuiteResult, run_case, run_suite
from .suite import Case, Suite, read_suite

__all__ = [
    "Case",
    "CaseResult",
    "Check",
    "Renditions",
    "Suite",
    "SuiteResult",
    "read_renditions",
    "read_suite",
    "run_case",
    "run_suite",
]
