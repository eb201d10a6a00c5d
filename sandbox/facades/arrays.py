"""Arrays: a value is made a plain number before its place is looked up."""

from __future__ import annotations

import array
import functools
import math
import operator
from collections.abc import Callable, Iterable
from typing import Any

from .. import classes


def mend() -> dict[str, Any]:
    """The class is mended in place, for it has to stay one that gives its memory to others.

    It looks a place up, then asks the value for a number, and then writes; a value's
    ``__index__`` that empties the array would have it write into memory that is no longer its.
    """
    kind: Any = array.array
    classes.thaw(kind)
    for name, mended in {
        "__setitem__": _setitem,
        "append": _append,
        "extend": _extend,
        "fromlist": _fromlist,
        "insert": _insert,
    }.items():
        setattr(kind, name, mended(getattr(kind, name)))
    return {}


_Method = Callable[..., None]


def _plain(values: Any, value: Any) -> Any:
    """The value as the array will take it."""
    if type(value) in (int, float, str):
        return value
    return math.ldexp(value, 0) if values.typecode in "fd" else operator.index(value)


def _setitem(method: _Method) -> _Method:
    @functools.wraps(method)
    def setitem(self: Any, key: Any, value: Any, /) -> None:
        method(self, key, value if type(key) is slice else _plain(self, value))

    return setitem


def _append(method: _Method) -> _Method:
    @functools.wraps(method)
    def append(self: Any, value: Any, /) -> None:
        method(self, _plain(self, value))

    return append


def _insert(method: _Method) -> _Method:
    @functools.wraps(method)
    def insert(self: Any, place: Any, value: Any, /) -> None:
        method(self, place, _plain(self, value))

    return insert


def _extend(method: _Method) -> _Method:
    @functools.wraps(method)
    def extend(self: Any, values: Iterable[Any], /) -> None:
        if isinstance(values, array.array):
            method(self, values)
        else:
            method(self, (_plain(self, value) for value in values))

    return extend


def _fromlist(method: _Method) -> _Method:
    @functools.wraps(method)
    def fromlist(self: Any, values: list[Any], /) -> None:
        method(self, [_plain(self, value) for value in values] if type(values) is list else values)

    return fromlist
