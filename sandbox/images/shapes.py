"""What an image's own structure may consist of: plain containers and texts, and nothing alike.

An image can hold objects of the program's own classes, whose methods say what they like. So what a
maker looks at is of the very types that are named here, and what it looks at twice it copies first.
"""

from __future__ import annotations

from typing import Any, TypeVar

_T = TypeVar("_T")
Parts = tuple[Any, ...]


def text(x: Any) -> str:
    """A text.

    Raises:
        ValueError: It is none; so do all of these.
    """
    return _exact(x, str)


def number(x: Any) -> int:
    """A whole number."""
    return _exact(x, int)


def row(x: Any) -> Parts:
    """A tuple of anything."""
    return _exact(x, tuple)


def texts(x: Any) -> tuple[str, ...]:
    """A tuple of texts."""
    return tuple([text(each) for each in row(x)])


def series(x: Any) -> list[Any]:
    """A list of anything, copied."""
    return list(_exact(x, list))


def mapping(x: Any) -> dict[Any, Any]:
    """A dictionary of anything, copied."""
    return dict(_exact(x, dict))


def table(x: Any) -> dict[str, Any]:
    """A dictionary whose keys are texts, copied."""
    return {text(key): value for key, value in _exact(x, dict).items()}


def pairs(x: Any) -> list[tuple[Any, Any]]:
    """A list of pairs, copied."""
    found = series(x)
    if not all(type(pair) is tuple and len(pair) == 2 for pair in found):
        raise ValueError("a list of pairs is wanted")
    return found


def _exact(x: Any, kind: type[_T]) -> _T:
    if type(x) is not kind:
        raise ValueError(f"a {kind.__name__} is wanted")
    return x
