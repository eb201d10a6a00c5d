"""What a turn did that printed nothing and ends with no value: the names that it bound."""

from __future__ import annotations

import ast
from collections.abc import Iterator, Mapping
from typing import Any

from .preview import summary

MAX_NAMES = 8
"""Names of each sort that are told."""
NAME_CHARS = 60
MAX_SOURCE = 200_000
"""Characters of a source that is looked through; a longer one is not."""
_SORTS = ("assigned", "changed", "defined", "imported", "deleted")


def bindings(source: str, variables: Mapping[str, Any]) -> str:
    """What the turn's own lines bound, for example ``assigned `answer` (list, 2 items)``.

    Args:
        source: The turn's source, which has run.
        variables: The program's variables after it.

    Returns:
        The names by sort, with type and size where a value was bound; the empty string where
        nothing was.
    """
    if len(source) > MAX_SOURCE:
        return ""
    names: dict[str, dict[str, None]] = {sort: {} for sort in _SORTS}
    for sort, name in _of_body(ast.parse(source).body):
        if (name in variables) is not (sort == "deleted"):
            names[sort][name] = None
    for name in (*names["assigned"], *names["imported"]):
        names["changed"].pop(name, None)
    parts = (_told(sort, list(names[sort]), variables) for sort in _SORTS if names[sort])
    return "; ".join(parts)


def _told(sort: str, names: list[str], variables: Mapping[str, Any]) -> str:
    with_value = sort in ("assigned", "changed")
    texts = [
        f"`{name[:NAME_CHARS]}`" + (f" ({summary(variables[name])})" if with_value else "")
        for name in names[:MAX_NAMES]
    ]
    if len(names) > MAX_NAMES:
        texts.append(f"and {len(names) - MAX_NAMES:,} more")
    return f"{sort} {', '.join(texts)}"


_Bound = Iterator[tuple[str, str]]


def _of_body(body: list[ast.stmt]) -> _Bound:
    for statement in body:
        yield from _of_statement(statement)


def _of_statement(node: Any) -> _Bound:
    """What a statement binds at the turn's top level. A loop's own variable is not told."""
    match node:
        case ast.FunctionDef() | ast.AsyncFunctionDef() | ast.ClassDef():
            yield "defined", node.name
        case ast.Import() | ast.ImportFrom():
            for alias in node.names:
                yield "imported", alias.asname or alias.name.partition(".")[0]
        case ast.Assign():
            for target in node.targets:
                yield from _of_target(target)
        case ast.AnnAssign(value=ast.expr()) | ast.AugAssign():
            yield from _of_target(node.target)
        case ast.Delete():
            for target in node.targets:
                yield from _of_target(target, "deleted")
        case ast.Try() | ast.TryStar() | ast.Match():
            parts = node.cases if isinstance(node, ast.Match) else node.handlers
            for part in (node, *parts):
                yield from _of_body(getattr(part, "body", []))
            yield from _of_body(getattr(node, "orelse", []) + getattr(node, "finalbody", []))
        case ast.If() | ast.For() | ast.While() | ast.With() | ast.AsyncFor() | ast.AsyncWith():
            for item in getattr(node, "items", []):
                if item.optional_vars is not None:
                    yield from _of_target(item.optional_vars)
            yield from _of_body(node.body + getattr(node, "orelse", []))


def _of_target(target: ast.expr, sort: str = "assigned") -> _Bound:
    match target:
        case ast.Name():
            yield sort, target.id
        case ast.Tuple() | ast.List():
            for part in target.elts:
                yield from _of_target(part, sort)
        case ast.Starred():
            yield from _of_target(target.value, sort)
        case ast.Attribute() | ast.Subscript():
            holder = target.value
            while isinstance(holder, ast.Attribute | ast.Subscript):
                holder = holder.value
            if isinstance(holder, ast.Name):
                yield "changed", holder.id
