"""Which of CPython's tests don't count, by what their source names, with a reason each.

A test is left out where its source uses what a sandbox has not by its documentation; ``denied``
lists it. A test is never left out because it fails.
"""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterator, Mapping
from functools import cache
from pathlib import Path

from . import denied

_NEVER_BOUND = ("__class__", "__bases__", "__base__", "__mro__", "__dict__", "__annotations__")
"""Special names that are read, but never defined by a class."""


def why_left_out(tree: ast.Module) -> str | None:
    """The first reason that holds for a test's source, or None."""
    found = frozenset().union(*map(_all_reasons, tree.body))
    if _foreign_private(tree):
        found |= {denied.PRIVATE}
    return next((reason for reason in denied.REASONS if reason in found), None)


@cache
def _all_reasons(node: ast.AST) -> frozenset[str]:
    """The reasons in a statement. Cached, for cuts of one file share most of theirs."""
    if isinstance(node, ast.ClassDef):
        parts = map(_all_reasons, ast.iter_child_nodes(node))
        return frozenset(_reasons(node)).union(*parts)
    return frozenset(reason for each in ast.walk(node) for reason in _reasons(each))


def _reasons(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _why_module(alias.name)
        case ast.ImportFrom(module=str(module), names=aliases):
            yield from _why_module(module)
            for alias in aliases:
                yield from _why_member(module, alias.name)
        case ast.Name(id=name, ctx=ast.Load()):
            yield from _listed(denied.NAMES, name)
        case ast.Attribute(value=value, attr=name, ctx=context):
            yield from _why_attribute(name, isinstance(context, ast.Load), _is_super(value))
            yield from _why_value(value, name)
        case (
            ast.FunctionDef(name=name)
            | ast.AsyncFunctionDef(name=name)
            | ast.Name(id=name, ctx=ast.Store())
        ) if is_special(name) and (name not in denied.DEFINABLE or name in _NEVER_BOUND):
            yield denied.ATTRIBUTES.get(name, denied.HOOKS)
        case ast.ClassDef(bases=bases, keywords=keywords):
            if any(keyword.arg == "metaclass" for keyword in keywords):
                yield denied.CLASSES
            for base in bases:
                if getattr(base, "attr", getattr(base, "id", "")) in denied.METACLASSES:
                    yield denied.CLASSES
        case ast.Call(func=ast.Name(id="type"), args=[_, _, _]):
            yield denied.CLASSES
        case ast.Call(
            func=ast.Name(id="getattr" | "hasattr" | "setattr" | "delattr" as function),
            args=[_, ast.Constant(value=str(name)), *_],
        ):
            yield from _why_attribute(name, function in ("getattr", "hasattr"), False)
        case ast.TryStar():
            yield denied.SYNTAX


def _why_module(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield from _listed(denied.MODULES, ".".join(parts[:length]))
    if any(is_private(part) for part in parts):
        yield denied.PRIVATE


def _why_member(module: str, name: str) -> Iterator[str]:
    """Why a name of a module is not to be had."""
    yield from _listed(denied.MODULES, f"{module}.{name}")
    yield from _listed(denied.ATTRIBUTES, name)
    if f"{module}.{name}" in denied.FUNCTIONS:
        yield denied.CLOSED
    elif module == "sys" and name not in denied.SYS_DATA:
        yield denied.SYS
    elif module == "os" and name not in denied.OS_DATA:
        yield denied.FILES
    elif is_private(name) or (module == "typing" and name in ("T", "KT", "VT", "VT_co")):
        yield denied.PRIVATE


def _why_attribute(name: str, is_read: bool, of_super: bool) -> Iterator[str]:
    yield from _listed(denied.ATTRIBUTES, name)
    if is_special(name):
        readable = denied.DEFINABLE if of_super else denied.SPECIAL_NAMES
        if name not in (readable if is_read else denied.SETTABLE):
            yield denied.SPECIAL


def _why_value(value: ast.expr, name: str) -> Iterator[str]:
    """Why an attribute can't be had of what it is read of."""
    match value:
        case ast.Name(id="unittest" | "test") if name == "mock":
            yield denied.MACHINERY
        case (
            ast.Name(id="support")
            | ast.Attribute(value=ast.Name(id="support"), attr="warnings_helper" | "import_helper")
        ):
            yield from _listed(denied.SUPPORT, name)
            if name not in _stood_in():
                yield denied.NAMES.get(name, denied.MACHINERY)
        case ast.Name(id=module) if module in sys.stdlib_module_names:
            yield from _why_member(module, name)


def _foreign_private(tree: ast.Module) -> frozenset[str]:
    """The private attributes that are read, but bound nowhere in the test's own source."""
    both = [_private(node) for node in tree.body]
    read = frozenset().union(*(names for names, _ in both))
    return read - frozenset().union(*(names for _, names in both)) - denied.OFFERED


@cache
def _private(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The private attributes that a statement reads, and the names that it binds."""
    read, bound = set(), set()
    for each in ast.walk(node):
        match each:
            case ast.Attribute(attr=name, ctx=ast.Load()) if is_private(name):
                read.add(name)
            case (
                ast.Attribute(attr=name, ctx=ast.Store())
                | ast.Name(id=name, ctx=ast.Store())
                | ast.FunctionDef(name=name)
                | ast.AsyncFunctionDef(name=name)
                | ast.ClassDef(name=name)
                | ast.Constant(value=str(name))  # in __slots__, or given to setattr()
            ):
                bound.add(name)
    return frozenset(read), frozenset(bound)


def is_special(name: str) -> bool:
    """Whether Python gives a meaning to a name (``__x__``)."""
    return name.startswith("__") and name.endswith("__")


def is_private(name: str) -> bool:
    """Whether a name is one that its owner keeps to itself (``_x``)."""
    return name.startswith("_") and name.strip("_") != "" and not name.startswith("__")


def _is_super(node: ast.expr) -> bool:
    return isinstance(node, ast.Call) and getattr(node.func, "id", "") == "super"


@cache
def _stood_in() -> frozenset[str]:
    """The names that our stand-in for ``test.support`` has."""
    path = Path(__file__).parent / "harness" / "support.py"
    tree = ast.parse(path.read_text(encoding="utf-8"))
    homes = [
        node
        for node in tree.body
        if isinstance(node, ast.ClassDef) and node.name in ("support", "_WarningsHelper")
    ]
    stores = [node for home in homes for node in ast.walk(home)]
    return frozenset(
        node.id if isinstance(node, ast.Name) else node.name
        for node in stores
        if isinstance(node, ast.FunctionDef)
        or (isinstance(node, ast.Name) and isinstance(node.ctx, ast.Store))
    ) | {"import_helper"}


def _listed(reasons: Mapping[str, str], name: str) -> Iterator[str]:
    if name in reasons:
        yield reasons[name]
