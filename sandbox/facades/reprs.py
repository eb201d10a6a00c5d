"""Texts that show objects: the library's own, but for what takes over another object's names."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any


def mend() -> dict[str, Any]:
    """``recursive_repr`` copies whatever its argument says are its annotations."""
    return {"reprlib.recursive_repr": recursive_repr}


def recursive_repr(
    fillvalue: str = "...",
) -> Callable[[Callable[[Any], str]], Callable[[Any], str]]:
    """A decorator for ``__repr__``: what an object shows for itself inside its own text.

    Args:
        fillvalue: The text.
    """

    def decorate(user_function: Callable[[Any], str]) -> Callable[[Any], str]:
        running: set[int] = set()

        @functools.wraps(user_function, ("__name__", "__qualname__", "__doc__"), ())
        def shown(self: Any) -> str:
            if id(self) in running:
                return fillvalue
            running.add(id(self))
            try:
                return user_function(self)
            finally:
                running.discard(id(self))

        return shown

    return decorate
