"""The suite beside this file, a test a case; ``circlet conform`` runs it in the same way."""

from __future__ import annotations

from pathlib import Path

import pytest
from circlet.runtime.conformance import read_suite, run_case

SUITE = read_suite(Path(__file__).with_name("suite.yaml"))


@pytest.mark.parametrize("case", SUITE.cases, ids=lambda case: f"{case.rule} {case.label}")
def test_case(case):
    """Each case of the suite passes; its id begins with its rule."""
    result = run_case(case)
    assert result.passed, "\n".join([f"suite.yaml:{case.line}", *result.failures])


def test_names_are_unique():
    """No two cases of a rule have one name, so that each can be told from its id."""
    assert all(case.ordinal == 1 for case in SUITE.cases)
