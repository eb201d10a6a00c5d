"""Weak references: a finalizer of ours, for the standard library's keeps count in its class."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from typing import Any

_Call = tuple[Any, Callable[..., Any], tuple[Any, ...], dict[str, Any]]


class finalize:  # noqa: N801 - the standard library's name
    """Calls a function when an object is gone, or when it is called itself; once.

    Nothing is called at the end of the session: its process is ended from outside.

    Args:
        obj: The object.
        func: The function.
    """

    __module__ = "weakref"
    atexit = False

    def __init__(self, obj: Any, func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> None:
        self._call: Any = func, args, kwargs
        self._reference = weakref.ref(obj, self)
        _ALIVE.add(self)

    def __call__(self, _: Any = None) -> Any:
        """Call the function if that was not done yet; gives its result, or None."""
        call, self._call = self._call, None
        _ALIVE.discard(self)
        if call is None:
            return None
        func, args, kwargs = call
        return func(*args, **kwargs)

    def detach(self) -> _Call | None:
        """Never call the function; gives what it was about, or None where it is too late."""
        found = self.peek()
        self._call = None
        _ALIVE.discard(self)
        return found

    def peek(self) -> _Call | None:
        """The object, the function and its arguments; None where it is too late."""
        obj = self._reference()
        if self._call is None or obj is None:
            return None
        return (obj, *self._call)

    @property
    def alive(self) -> bool:
        """Whether the function is still to be called."""
        return self._call is not None

    def __repr__(self) -> str:
        return f"<finalize; {'for ' + repr(self._reference()) if self.alive else 'dead'}>"


_ALIVE: set[finalize] = set()
"""A finalizer lives until it is called, whether the program holds it or not."""


def mend() -> dict[str, Any]:
    """``weakref.finalize``."""
    return {"weakref.finalize": finalize}
