"""``docs/language.md``: current, the same on every Python, and complete."""

from __future__ import annotations

import ast
import importlib.util
import re
from pathlib import Path
from types import ModuleType

import pytest
from circlet.sandbox import Sandbox, names
from circlet.sandbox.facades.names import LEFT_OUT, PUBLIC
from circlet.sandbox.policy import Policy

DOCS = Path(__file__).parents[1] / "docs"


@pytest.fixture(scope="module")
def language() -> ModuleType:
    """The script that writes the page."""
    spec = importlib.util.spec_from_file_location("language", DOCS / "language.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_current(language):
    """What the page says is what the sandbox goes by; else run ``python docs/language.py``."""
    assert language.PAGE.read_text(encoding="utf-8") == language.page()


def test_every_construct_is_on_the_page(language):
    """Each construct that the policy decides on is written out, or goes with one that is."""
    decided = {name for name in vars(Policy) if name.startswith("visit_")}
    assert decided <= set(language.CONSTRUCTS)
    expressions = {name for name, kind in vars(ast).items() if isinstance(kind, type)}
    named = {name.removeprefix("visit_") for name in language.CONSTRUCTS}
    newer = {"TypeVar", "ParamSpec", "TypeVarTuple", "TypeAlias"}
    assert named - newer - {"check_import_names"} <= expressions


def test_every_module_and_name_is_on_the_page(language):
    """Each module that can be imported, each that is left out, each refused name stands there."""
    page = language.page()
    for module in PUBLIC:
        assert f"| `{module}` |" in page
    rows = "\n".join(line for line in page.splitlines() if line.startswith("| `"))
    for name in (*LEFT_OUT, *names.INSTEAD, *names.CLASS_METHODS):
        assert re.search(rf"[` ]{re.escape(name)}[` ]", page), name
    assert "circlet" not in rows


def test_what_can_be_read_is_not_told_to_be_refused(language):
    """A special name that is read stands among those that can't be set, if anywhere below."""
    refused = language.page().partition("| refused | instead |")[2].partition("\n\n")[0]
    named = set(re.findall(r"__\w+__", refused.replace("define `__getattr__`", "")))
    assert named.isdisjoint(names.READABLE)
    assert "__globals__" in named


def test_a_construct_that_is_not_refused_any_more_is_noticed(language):
    """The words of a refusal are the policy's own: there are none for what is allowed."""
    with pytest.raises(ValueError, match="not refused any more"):
        language._refusal("x = 1")
    assert language._refusal("super = 1").startswith('"super" can\'t be rebound')


def test_what_has_no_docstring_cannot_be_put_on_the_page(language):
    """The page makes nothing up."""
    with pytest.raises(ValueError, match="has no docstring"):
        language._first(lambda: None)


@pytest.mark.parametrize(
    "source",
    [
        "class A: pass\na = A()\nv = vars(a)\nv['x'] = 1\na.y = 2\n(a.x, 'y' in v) == (1, False)",
        "class A:\n    def __init__(self): pass\n'__init__' not in [*vars(A), *dir(A)]",
        "def f():\n    exec('r = 1')\n    return 'r' in locals()\nnot f()",
        "scope = {}\nexec('r = 1', scope)\nscope['r'] == 1",
        "not isinstance(globals(), dict) and type(dict(globals())) is dict",
        "type(getattr) is not type(len)",
        "def f(): pass\nprint(f)\n' at 0x' in repr(f)",
        "1 is 1",
    ],
)
def test_what_is_said_to_differ_does(source):
    """Each difference that the page tells of is there, and no error comes with it."""
    with Sandbox() as box:
        run = box.run(source)
    assert run.value is True, str(run)
    assert run.stdout in ("", "<function f>\n")
