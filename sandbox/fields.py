"""The fields of a worker's frames, each checked for its type and its size before it is used."""

from __future__ import annotations

import re
from typing import Any

from .errors import CodecError, ProtocolError
from .execution import clip
from .limits import MAX_TURN_OUTPUT
from .wire import ESCAPES, Op, loads_weighed

MAX_NAME = 1_000
"""Longest name of a variable or a gate, in characters."""
MAX_REASON = 1_000
"""Longest text that tells why a value could not be encoded, in characters."""
_MAX_COUNT = 1 << 53
"""Largest number that a worker's report may hold."""
_MAX_OUTPUT_BYTES = 10 * MAX_TURN_OUTPUT
"""Largest frame of output: an escaped character takes up to ten bytes."""

_NO_ESCAPE = re.compile(rb"\\(?![nrtxuU])")
"""A backslash that escapes nothing, once those that stand for one are gone: Python would warn of
some of these, and look others up by name."""


def decoded(body: bytes | bytearray) -> Any:
    """The value in a frame's body.

    Raises:
        ProtocolError: There is none that the host decodes unasked.
    """
    return decoded_weighed(body)[0]


def decoded_weighed(body: bytes | bytearray) -> tuple[Any, int]:
    """The value in a frame's body, and about how many bytes it takes as objects."""
    try:
        return loads_weighed(body, guarded=True)
    except CodecError as error:
        raise ProtocolError(f"a frame that can't be read: {error}") from None


def output(op: Op, body: bytes | bytearray) -> str:
    """What was printed.

    Raises:
        ProtocolError: It is no text, or more than a turn may have.
    """
    if len(body) > _MAX_OUTPUT_BYTES:
        raise ProtocolError("a worker sent more output than a turn may have")
    try:
        if op is Op.OUTPUT:
            return str(body, "utf-8")
        if not _NO_ESCAPE.search(body.replace(rb"\\", b"")):
            return str(body, ESCAPES)
    except UnicodeDecodeError:
        pass
    raise ProtocolError("a worker sent output that is no text")


def call(message: Any) -> tuple[str, list[Any], dict[str, Any]]:
    """The name and the arguments of a gate call."""
    match message:
        case [str(name), list(args), dict(kwargs)] if len(name) <= MAX_NAME and all(
            type(key) is str for key in kwargs
        ):
            return name, args, kwargs
    raise ProtocolError("a gate call is not a name, a list and a mapping")


def mapping(value: Any) -> dict[Any, Any]:
    """A dictionary."""
    if type(value) is not dict:
        raise ProtocolError("a mapping is wanted")
    return value


def count(value: Any) -> int:
    """A number that isn't negative."""
    if type(value) is not int or not 0 <= value <= _MAX_COUNT:
        raise ProtocolError("a number is wanted, from 0 to 2**53")
    return value


def text(value: Any) -> str:
    """A text."""
    if type(value) is not str or len(value) > MAX_TURN_OUTPUT:
        raise ProtocolError("a text is wanted, of a length that a turn may have")
    return value


def text_or_none(value: Any) -> str | None:
    """A text, or None."""
    return None if value is None else text(value)


def reason(value: Any) -> str | None:
    """A short text, or None."""
    return None if value is None else clip(text(value), MAX_REASON)
