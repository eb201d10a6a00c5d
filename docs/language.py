"""Writes ``docs/language.md`` from what the sandbox itself goes by.

    python docs/language.py

The page is the same on every Python: names that only some versions have stand in it too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

from circlet.sandbox import classes, guards, names
from circlet.sandbox.facades import names as facades
from circlet.sandbox.namespace import _INSTEAD, _PLAIN, Namespace
from circlet.sandbox.policy import Policy
from RestrictedPython.transformer import INSPECT_ATTRIBUTES

PAGE = Path(__file__).with_name("language.md")

DECISIONS = {"Allow": "allowed", "Check": "checked", "Deny": "refused"}
"""By the first word of a policy method's docstring."""

CONSTRUCTS = {
    "visit_Name": "a name",
    "visit_Attribute": "`x.y`, read, set or deleted",
    "visit_AugAssign": "`x += 1`, `x.y += 1`, `x[0] += 1`",
    "visit_NamedExpr": "`(x := 1)`",
    "visit_Global": "`global x`",
    "visit_Nonlocal": "`nonlocal x`",
    "check_import_names": "`import a`, `import a.b as c`, `from a import b`",
    "visit_FunctionDef": "`def`",
    "visit_AsyncFunctionDef": "`async def`",
    "visit_Lambda": "`lambda`",
    "visit_ClassDef": "`class`",
    "visit_ListComp": "comprehensions and generator expressions, also `async`",
    "visit_SetComp": "",
    "visit_DictComp": "",
    "visit_GeneratorExp": "",
    "visit_ExceptHandler": "`except`, `except E as e`",
    "visit_TryStar": "`except* E`",
    "visit_Match": "`match`, `case A(x, y)`",
    "visit_MatchClass": "`case A(x=1)`",
    "visit_MatchAs": "`case x`, `case A() as x`, `case _`",
    "visit_MatchStar": "`case [*x]`",
    "visit_MatchMapping": "`case {'k': v, **rest}`",
    "visit_TypeVar": "`def f[T]`, `class A[T]`, `type A[T] = ...` (3.12)",
    "visit_ParamSpec": "",
    "visit_TypeVarTuple": "",
    "visit_Constant": "literals",
    "visit_List": "displays of lists, tuples, sets and dicts",
    "visit_Tuple": "",
    "visit_Set": "",
    "visit_Dict": "",
    "visit_JoinedStr": "f-strings in all their forms",
    "visit_FormattedValue": "",
    "visit_Starred": "`*x` and `**x` in calls, displays and targets",
    "visit_BinOp": "operators, comparisons and their chains, `and`, `or`, `not`",
    "visit_UnaryOp": "",
    "visit_BoolOp": "",
    "visit_Compare": "",
    "visit_IfExp": "`a if b else c`",
    "visit_Call": "calls",
    "visit_keyword": "",
    "visit_Subscript": "items and slices",
    "visit_Slice": "",
    "visit_Assign": "assignment to names, attributes, items and patterns of them",
    "visit_AnnAssign": "annotations, with their values",
    "visit_Delete": "`del`",
    "visit_If": "`if`",
    "visit_For": "`for`",
    "visit_While": "`while`",
    "visit_Break": "`break`",
    "visit_Continue": "`continue`",
    "visit_Pass": "`pass`",
    "visit_Try": "`try`, `else`, `finally`",
    "visit_Raise": "`raise`, `raise ... from`",
    "visit_Assert": "`assert`",
    "visit_With": "`with`",
    "visit_withitem": "",
    "visit_Return": "`return`",
    "visit_Yield": "`yield`",
    "visit_YieldFrom": "`yield from`",
    "visit_Await": "`await`, `async with` and `async for` in functions",
    "visit_AsyncWith": "",
    "visit_AsyncFor": "",
    "visit_TypeAlias": "`type X = ...` (3.12)",
    "visit_MatchValue": "the other patterns: values, `None`, sequences, `|`, guards",
    "visit_MatchSingleton": "",
    "visit_MatchSequence": "",
    "visit_MatchOr": "",
    "visit_match_case": "",
}
"""How the constructs are written; an empty text goes with the one before it."""

AT_RUN_TIME = {
    guards.attribute: "`x._y`, `x.__dict__`, `text.format` and the like",
    guards.own: "`x._y = 1`, `f.__name__ = ...`",
    classes.build_class: "`class A(B, metaclass=M)`",
    guards.patterns: "`case A(x, y)`",
    guards.caught: "`except`",
}
"""What a program calls without writing it, and where."""

ALL_THERE_IS = ("collections.abc", "math")
"""Modules that give whatever this Python's has."""


def page() -> str:
    """The whole page."""
    parts = (_intro(), _constructs(), _specials(), _builtins(), _modules())
    return "\n".join(line for part in parts for line in part)


def _intro() -> Iterator[str]:
    yield """# The language

A program is ordinary Python: it is compiled to plain bytecode and runs in a real CPython. What leads out of the sandbox is
left out by its name. *Allowed* means as in CPython. *Checked* means that it works, within what stands there. *Refused* means an error that
names the line, the construct and what to write instead; nothing of the turn has run then, and the session goes on.

Written by `python docs/language.py` from the policy, the namespace and the lists of modules; don't edit it by hand.
"""


# -- constructs --------------------------------------------------------------------------------


def _constructs() -> Iterator[str]:
    yield "## Constructs\n"
    allowed, rows = [], []
    for method, written in CONSTRUCTS.items():
        decision, text = _decision(method)
        if not written:
            continue
        if text is None:
            allowed.append(written)
        else:
            rows.append((written, decision, text))
    yield f"Allowed, while their parts are checked: {'; '.join(allowed)}.\n"
    yield from _table(("construct", "", "how"), rows)
    yield "What the source alone can't tell is checked as the program runs:\n"
    yield from _table(
        ("written", "checked"), [(where, _first(guard)) for guard, where in AT_RUN_TIME.items()]
    )


def _decision(method: str) -> tuple[str, str | None]:
    """What the policy does with a construct, and how; None where there is no more to say."""
    function = getattr(Policy, method)
    if function.__module__.startswith("RestrictedPython") or function is Policy._allow:
        return "allowed", None
    text = _first(function)
    return DECISIONS[text.split()[0].strip(";:,")], text


# -- special names -----------------------------------------------------------------------------


def _specials() -> Iterator[str]:
    yield "## Special and private names\n"
    rows = [
        ("methods that a class may define", names.CLASS_METHODS),
        ("of these, reached through `super()`", names.SUPER_METHODS),
        ("of these, called by their names on any object", names.OPERATOR_METHODS),
        ("attributes of any object that are read", names.READABLE | {"__class__"}),
        ("attributes of your own objects, functions and classes that are read", _own()),
        ("attributes of your own functions and classes that are set", names.SETTABLE),
        ("names that a class body may assign", names.CLASS_VARIABLES),
        ("names that a turn may assign at its top level", names.MODULE_VARIABLES),
        ("names that are read as variables", names.READABLE_NAMES - names.MODULE_VARIABLES),
        ("methods that read attributes named in a text: checked", names.DYNAMIC),
        ("attributes that lead into the interpreter's frames: refused", INSPECT_ATTRIBUTES),
    ]
    yield from _table(("which", "names"), [(which, _code(sorted(these))) for which, these in rows])
    yield (
        "Every other special name (`__x__`) is refused. Private names (`_x`, `__x`) are free on objects, functions and classes "
        "of your own,\nand closed on all others. `super` and the names of gates can't be rebound.\n"
    )
    yield from _table(
        ("refused", "instead"), [(_code([name]), text) for name, text in names.INSTEAD.items()]
    )


def _own() -> frozenset[str]:
    return names.OWN_READABLE - {"__class__"}


# -- builtins ----------------------------------------------------------------------------------


def _builtins() -> Iterator[str]:
    yield "## Builtins\n"
    yield f"Allowed: {_code(_PLAIN)}, and every exception.\n"
    found = Namespace({}, lambda _: None).builtins
    checked = {
        name: value
        for name, value in found.items()
        if name.isidentifier()
        and not names.is_special(name)
        and name not in _PLAIN
        and name not in _INSTEAD
        and not (isinstance(value, type) and issubclass(value, BaseException))
    }
    yield from _table(
        ("checked", "how"), [(_code([name]), _first(checked[name])) for name in sorted(checked)]
    )
    yield from _table(
        ("refused", "instead"), [(_code([name]), text) for name, text in _INSTEAD.items()]
    )


# -- modules -----------------------------------------------------------------------------------


def _modules() -> Iterator[str]:
    yield "## Modules\n"
    yield (
        "A module is a read-only face with the names that are listed here. A name that your Python doesn't have is left out.\n"
    )
    rows = [(_code([module]), _names_of(module)) for module in sorted(facades.PUBLIC)]
    yield from _table(("module", "names"), rows)
    yield "What one may look for in vain:\n"
    yield from _table(
        ("left out", "why, and what instead"),
        [(_code([name]), text) for name, text in sorted(facades.LEFT_OUT.items())],
    )


def _names_of(module: str) -> str:
    if module in ALL_THERE_IS:
        return "all of its public names"
    listed = facades.PUBLIC[module].split()
    if module == "ast":
        nodes = set(facades._AST_NODES.split())
        return _code(name for name in listed if name not in nodes) + ", and every class of nodes"
    return _code(listed) or "its submodules"


# -- text --------------------------------------------------------------------------------------


def _first(documented: Any) -> str:
    """The first paragraph of a docstring, in Markdown."""
    text = inspect.getdoc(documented)
    if not text:
        raise ValueError(f"{documented!r} has no docstring, so the page can't say what it does")
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split("\n\n")[0].split()))


def _code(listed: Iterable[str]) -> str:
    return " ".join(f"`{name}`" for name in listed)


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    yield _row(head)
    yield _row(["---"] * len(head))
    for row in rows:
        yield _row(row)
    yield ""


def _row(cells: Iterable[str]) -> str:
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
