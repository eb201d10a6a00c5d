"""A gate's error as it is recorded, so that a program that is run again meets the same one."""

from __future__ import annotations

import builtins
from typing import Any

from ..sandbox.outcomes import Outcome
from ..sandbox.wire import dumps, loads


def failure_of(error: BaseException) -> bytes:
    """The codec's bytes of an error: an outcome as it is, others by name and message."""
    if isinstance(error, Outcome):
        return dumps(error)
    return dumps([_builtin(error).__name__, type(error).__name__, _message(error)])


def error_of(failure: bytes) -> Exception:
    """An error that a program, and whoever tells of it, takes for the recorded one.

    Raises:
        CodecError: The bytes are damaged.
    """
    found = loads(failure)
    if isinstance(found, Outcome):
        return found
    kind, name, message = found
    base = getattr(builtins, kind, None)
    if not (isinstance(base, type) and issubclass(base, Exception)):
        base = Exception
    # A class of its own, for a builtin's may take other arguments, and read differently.
    likeness: Any = type(name, (base,), {"__init__": _keep, "__str__": _told})
    error: Exception = likeness(message)
    return error


def _keep(self: Any, message: str) -> None:
    self.args = (message,)


def _told(self: Any) -> str:
    return str(self.args[0])


def _builtin(error: BaseException) -> type:
    """The nearest class of an error that every Python knows; a group's takes more than a text."""
    return next(
        kind
        for kind in type(error).__mro__
        if kind.__module__ == "builtins" and not issubclass(kind, BaseExceptionGroup)
    )


def _message(error: BaseException) -> str:
    """What an error says; a ``KeyError``'s own text is the quoted key."""
    only = error.args[0] if isinstance(error, KeyError) and len(error.args) == 1 else None
    try:
        text = only if isinstance(only, str) else str(error)
    except Exception:  # the error's own code
        return ""
    return text[:]  # of a class of its own it could not be written
