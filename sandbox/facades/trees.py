"""Syntax trees: nodes take their own fields only, and only nodes are walked by their fields."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Any

from .. import classes


def mend() -> dict[str, Any]:
    """Close nodes to inheritance, and to fields of other names.

    Otherwise ``ast.Name(_fields=("__globals__",))`` would make the module's own helpers read
    attributes by any name.
    """
    make = ast.AST.__init__

    def init(node: ast.AST, /, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in node._fields and name not in node._attributes:
                raise TypeError(f"{type(node).__name__} has no field {name!r}")
        make(node, *args, **kwargs)

    def iter_fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
        if not isinstance(node, ast.AST):
            raise TypeError(f"expected a node, got {type(node).__name__!r}")
        for name in type(node)._fields:
            if hasattr(node, name):
                yield name, getattr(node, name)

    ast.AST.__init__ = init  # type: ignore[method-assign,assignment]
    ast.iter_fields = iter_fields
    classes.close(ast.AST)
    return {}
