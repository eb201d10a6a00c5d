"""Receivers: the first arguments of methods, whose private attributes are read most of all.

A guard at each ``self._x`` would cost more than the attribute. Whose an object is doesn't change,
so a method that keeps its first argument looks once a call, and then reads at full speed.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator

from .names import is_private

_NAMES_WITHOUT_BINDING = (ast.Attribute, ast.keyword, ast.Constant, ast.MatchClass)


def receiver_of(method: ast.FunctionDef | ast.AsyncFunctionDef) -> str | None:
    """The name of a method's first argument; None where that may change, or isn't looked into."""
    arguments = [*method.args.posonlyargs, *method.args.args]
    if not arguments or any(_is_static(decorator) for decorator in method.decorator_list):
        return None
    name = arguments[0].arg
    nodes = [node for statement in method.body for node in ast.walk(statement)]
    if any(name in _bound(node) for node in nodes) or name in {one.arg for one in arguments[1:]}:
        return None
    return name if any(_is_private_of(node, name) for node in nodes) else None


def _is_static(decorator: ast.expr) -> bool:
    return isinstance(decorator, ast.Name) and decorator.id in ("staticmethod", "classmethod")


def _is_private_of(node: ast.AST, name: str) -> bool:
    return (
        isinstance(node, ast.Attribute)
        and isinstance(node.value, ast.Name)
        and node.value.id == name
        and is_private(node.attr)
    )


def _bound(node: ast.AST) -> Iterator[str]:
    """The names that a node binds, whatever binder it is."""
    if isinstance(node, ast.Name):
        if not isinstance(node.ctx, ast.Load):
            yield node.id
    elif isinstance(node, ast.alias):
        yield node.asname or node.name.partition(".")[0]
    elif not isinstance(node, _NAMES_WITHOUT_BINDING):
        for _, value in ast.iter_fields(node):
            for one in value if isinstance(value, list) else [value]:
                if isinstance(one, str):
                    yield one
