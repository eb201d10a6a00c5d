"""Writes ``docs/language.md`` from what the sandbox itself goes by.

    python docs/language.py

The page is the same on every Python: names that only some versions have stand in it too.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from circlet.sandbox import classes, names
from circlet.sandbox.compiling import compile_turn
from circlet.sandbox.facades import names as facades
from circlet.sandbox.namespace import CLOSED_BUILTINS, PLAIN_BUILTINS, Namespace
from circlet.sandbox.policy import Policy, Refused
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

REFUSED: Mapping[str, str | Callable[[], Any]] = {
    "`from a import *`": "from a import *",
    "`from . import a`": "from . import a",
    "`except* E`": "try: pass\nexcept* E: pass",
    "`class A(metaclass=M)`": lambda: classes.build_class(len, "A", metaclass=len),
    "`type('A', (), {})`": lambda: classes.Type("A", (), {}),
    "`super = 1`": "super = 1",
    "`done = 1`, and any other gate": "done = 1",
    "`match x: case A(_b=c)`": "match x:\n    case A(_b=c): pass",
}
"""Sources that are refused, or calls that are, so that the page has their very words."""

DIFFERENCES = (
    "`vars(x)` and `x.__dict__` are copies. What is written to one reaches the object; what the "
    "object gets later is not in it. Special names are in none, nor in what `dir` gives.",
    "`locals()` in a function is a new copy at each call, as from Python 3.13 on: what `exec` "
    "binds there is not in it. Hand `exec` a dictionary, and read that.",
    "`globals()` gives a mapping that is no `dict`; `dict(globals())` is one.",
    "Builtins that are checked are functions or methods of Python's: `type(getattr)` is not that "
    "of `len`.",
    "`print`, errors and what a turn shows leave addresses out: `<function f>`.",
    "Warnings of the compiler (`SyntaxWarning`) are not shown.",
)
"""What a program can notice, and is told of by no error."""

ALL_THERE_IS = ("collections.abc", "math")
"""Modules that give whatever this Python's has."""


def page() -> str:
    """The whole page."""
    parts = (_intro(), _constructs(), _specials(), _builtins(), _modules(), _differences())
    return "\n".join(line for part in parts for line in part)


def _intro() -> Iterator[str]:
    yield """# The language

A program is ordinary Python: it is compiled to plain bytecode and runs in a real CPython. What
leads out of the sandbox is left out by its name. *Allowed* means as in CPython. *Checked* means
that it works, within what stands there. *Refused* means an error that names the line, the construct
and what to write instead; nothing of the turn has run then, and the session goes on.

With third-party packages a program has raw modules in its hands, and this page says less.

Written by `python docs/language.py` from the policy, the namespace and the lists of modules.
"""


# -- constructs --------------------------------------------------------------------------------


def _constructs() -> Iterator[str]:
    yield "## Constructs\n"
    allowed, rows = [], []
    for method, written in CONSTRUCTS.items():
        decision, text = _decision(method)
        if not written or decision == "refused":
            continue
        if text is None:
            allowed.append(written)
        else:
            rows.append((written, decision, text))
    yield f"Allowed, while what stands in them is checked: {'; '.join(allowed)}.\n"
    yield from _table(("construct", "is", "what, and how"), rows)
    yield (
        "What the source alone can't tell is checked as the program runs: private and special\n"
        "attributes, the attributes that a `format` text names, the bases and the metaclass of a\n"
        "class, and what `case A(x)` reads.\n"
    )
    yield from _table(
        ("refused", "why, and what instead"),
        [(written, _marked(_refusal(tried))) for written, tried in REFUSED.items()],
    )


def _decision(method: str) -> tuple[str, str | None]:
    """What the policy does with a construct, and how; None where there is no more to say."""
    function = getattr(Policy, method)
    if function.__module__.startswith("RestrictedPython") or function is Policy._allow:
        return "allowed", None
    decision, text = _first(function).split(maxsplit=1)
    return DECISIONS[decision], text.rstrip(".")


def _refusal(tried: str | Callable[[], Any]) -> str:
    """What is said of something that is refused."""
    try:
        compile_turn(tried, "<turn 1>", frozenset({"done"})) if isinstance(tried, str) else tried()
    except Refused as refused:
        return str(refused.msg)
    except TypeError as error:
        return str(error)
    raise ValueError(f"{tried!r} is not refused any more: take it from the list")


# -- special names -----------------------------------------------------------------------------


def _specials() -> Iterator[str]:
    yield "## Special and private names\n"
    rows = [
        ("methods that a class may define", names.CLASS_METHODS),
        ("those that aren't called by name", _not_called()),
        ("those that `super()` doesn't reach", _not_by_super()),
        ("attributes of any object that are read", names.READABLE | {"__class__"}),
        ("attributes of your own objects, functions and classes that are read", _of_own()),
        ("attributes of your own functions that are set", names.SETTABLE - names.CLASS_METHODS),
        ("other names that a class body may assign", _assigned()),
        ("names that a turn may assign at its top level", names.MODULE_VARIABLES),
        ("names that are read as variables", _variables()),
        ("methods whose text names attributes: they are checked", names.DYNAMIC),
        ("attributes that lead into frames and code: refused", INSPECT_ATTRIBUTES),
    ]
    yield from _table(("names", "which"), [(which, _code(sorted(these))) for which, these in rows])
    yield (
        "The methods above can be set on your own classes too. Every other special name (`__x__`)\n"
        "is refused. Private names (`_x`, `__x`) are free on\n"
        "objects, functions and classes that are your own, and closed on all others.\n"
    )
    readable = names.READABLE | names.OWN_READABLE
    yield from _grouped(
        ("refused", "instead"),
        {name: text for name, text in names.INSTEAD.items() if name not in readable},
    )
    yield from _grouped(
        ("refused to be set", "instead"),
        {name: text for name, text in names.INSTEAD.items() if name in readable},
    )


def _not_called() -> frozenset[str]:
    return names.CLASS_METHODS - names.OPERATOR_METHODS - names.OWN_READABLE


def _assigned() -> frozenset[str]:
    # Where slots are assigned, a guard checks the names in them.
    return (names.CLASS_VARIABLES | {"__slots__"}) - names.CLASS_METHODS


def _not_by_super() -> frozenset[str]:
    return names.CLASS_METHODS - names.SUPER_METHODS - names.OWN_READABLE


def _variables() -> frozenset[str]:
    return names.READABLE_NAMES - names.CLASS_METHODS - names.MODULE_VARIABLES


def _of_own() -> frozenset[str]:
    return names.OWN_READABLE - {"__class__"}


# -- builtins ----------------------------------------------------------------------------------


def _builtins() -> Iterator[str]:
    yield "## Builtins\n"
    yield f"Allowed: {_code(PLAIN_BUILTINS)}, and every exception.\n"
    found = Namespace({}, lambda _: None).builtins
    checked = {
        name: value
        for name, value in found.items()
        if name.isidentifier()
        and not names.is_special(name)
        and name not in PLAIN_BUILTINS
        and name not in CLOSED_BUILTINS
        and not (isinstance(value, type) and issubclass(value, BaseException))
    }
    yield from _table(
        ("checked", "how"), [(_code([name]), _first(checked[name])) for name in sorted(checked)]
    )
    yield from _grouped(("refused", "instead"), CLOSED_BUILTINS)


# -- modules -----------------------------------------------------------------------------------


def _modules() -> Iterator[str]:
    yield "## Modules\n"
    yield (
        "A module is a read-only face with the names that are listed here, as far as this Python\n"
        "has them.\n"
    )
    rows = [(_code([module]), _names_of(module)) for module in sorted(facades.PUBLIC)]
    yield from _table(("module", "names"), rows)
    yield "What one may look for in vain:\n"
    yield from _grouped(
        ("left out", "why, and what instead"), dict(sorted(facades.LEFT_OUT.items()))
    )


def _names_of(module: str) -> str:
    if module in ALL_THERE_IS:
        return "all of its public names"
    listed = facades.PUBLIC[module].split()
    if module == "ast":
        nodes = set(facades.AST_NODES.split())
        return _code(name for name in listed if name not in nodes) + ", and every class of nodes"
    return _code(listed) or "its submodules"


# -- differences ---------------------------------------------------------------------------------


def _differences() -> Iterator[str]:
    yield "## What differs without an error\n"
    for difference in DIFFERENCES:
        yield f"- {difference}"
    yield ""


# -- text --------------------------------------------------------------------------------------


def _first(documented: Any) -> str:
    """The first paragraph of a docstring, in Markdown."""
    text = inspect.getdoc(documented)
    if not text:
        raise ValueError(f"{documented!r} has no docstring, so the page can't say what it does")
    return re.sub(r"``(.+?)``", r"`\1`", " ".join(text.split("\n\n")[0].split()))


def _code(listed: Iterable[str]) -> str:
    text = " ".join(listed)
    return f"`{text}`" if text else ""


_CALL = r"\([\w.]*\)"
_NAME = re.compile(
    rf"__\w+__|\b[a-z_]\w*{_CALL}(?:\.\w+(?:{_CALL})?)*"
    rf"|\b[a-z_]\w*(?:\.[A-Za-z_]\w*(?:{_CALL})?)+|\.exceptions"
)


def _marked(text: str) -> str:
    """A message with the names in it marked as code."""
    return _NAME.sub(r"`\g<0>`", text)


def _grouped(head: tuple[str, str], texts: Mapping[str, str]) -> Iterator[str]:
    """A table of names and texts, with the names that have the same text in one row."""
    rows: dict[str, list[str]] = {}
    for name, text in texts.items():
        rows.setdefault(text, []).append(name)
    yield from _table(head, [(_code(found), _marked(text)) for text, found in rows.items()])


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
