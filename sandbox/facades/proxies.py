"""Read-only views: what compares itself with one is shown a copy, and not what lies behind it."""

from __future__ import annotations

import operator
import types
from collections.abc import Callable
from typing import Any

from .. import classes

_OPERATIONS: dict[str, Callable[[Any, Any], Any]] = {
    "__eq__": operator.eq,
    "__ne__": operator.ne,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
    "__or__": operator.or_,
    "__ror__": lambda mapping, other: other | mapping,
}


def mend() -> dict[str, Any]:
    """``MappingProxyType`` is mended in place: the interpreter itself makes such views.

    Its own operators give the other side the dictionary that it keeps from being changed, the
    groups of a pattern that the library uses for example.
    """
    for name, operate in _OPERATIONS.items():
        classes.put(types.MappingProxyType, name, _method(name, operate))
    return {}


def _method(name: str, operate: Callable[[Any, Any], Any]) -> Callable[[Any, Any], Any]:
    def method(self: Any, other: Any) -> Any:
        return operate(dict(self), other)

    method.__name__ = method.__qualname__ = name
    return method
