"""``docs/exports.md``: current, and its examples are of the schemas that it tells."""

from __future__ import annotations

import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from circlet.runtime.loom.exports import FORMATS, ChatLine, GroupLine, PairLine

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def exports() -> ModuleType:
    """The script that writes the page."""
    spec = importlib.util.spec_from_file_location("exports", DOCS / "exports.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(exports):
    """What the page says is what lines are checked by; else run ``python docs/exports.py``."""
    assert exports.PAGE.read_text(encoding="utf-8") == exports.page()


def test_each_format_is_on_the_page(exports):
    """Each format has a section of its own."""
    assert re.findall(r"^## `(\w+)`$", exports.page(), re.MULTILINE) == list(FORMATS)


def test_the_examples_are_of_their_schemas(exports):
    """Each line that is shown is what its model reads."""
    shown = re.findall(r"```json\n(.*?)```", exports.page(), re.DOTALL)
    for model, line in zip((ChatLine, GroupLine, PairLine), shown, strict=True):
        model.model_validate_json(line)
