"""``docs/rules.md``: current, and without a rule that nothing shows to hold."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture
def rules() -> ModuleType:
    """The script that writes the page."""
    spec = importlib.util.spec_from_file_location("rules_page", DOCS / "rules.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(rules):
    """What the page says is what cases and tests are there; else run ``python docs/rules.py``."""
    assert rules.PAGE.read_text(encoding="utf-8") == rules.page()


def test_a_rule_that_nothing_shows_is_noticed(rules):
    """A rule without a case and without a test can't be written into the page."""
    rules.RULES["LOOP-99"] = "A rule that nobody tests."
    with pytest.raises(ValueError, match="LOOP-99"):
        rules.page()


def test_a_case_of_no_rule_is_noticed(rules):
    """A case whose rule isn't listed is an error."""
    del rules.RULES["LOOP-3"]
    with pytest.raises(ValueError, match="LOOP-3"):
        rules.page()


def test_a_test_stands_for_the_rules_its_docstring_begins_with(rules):
    """Only the beginning of a test's docstring counts, and only rules that there are."""
    source = '''
def test_one():
    """LOOP-3, LLM-7: both of them."""
def test_two():
    """This is about LOOP-4: not at its beginning."""
def helper():
    """LOOP-5: this is no test."""
class A:
    async def test_three(self):
        """VIEWPORT: a rule without a number. NOT-1: no rule."""
'''
    assert rules._rules_of(source) == {"LOOP-3", "LLM-7", "VIEWPORT"}


def test_every_rule_that_the_library_names_is_listed(rules):
    """A rule that a docstring of the library refers to is one of the list."""
    named = set()
    for path in (DOCS.parent / "runtime").rglob("*.py"):
        found = re.findall(r"``((?:[A-Z]+-\d+)(?:, [A-Z]+-\d+)*)``", path.read_text("utf-8"))
        named.update(rule for one in found for rule in one.split(", "))
    assert named
    assert {rule for rule in named if not rule.startswith(("SHA-", "UTF-"))} <= set(rules.RULES)
