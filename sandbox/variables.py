"""How variables are set and got by the host: steps without I/O."""

from __future__ import annotations

import keyword

from . import fields, wire
from .dialogue import TRANSIT_BYTES, Receive, Send, Steps
from .errors import CodecError, NoSuchVariable, ProtocolError
from .limits import Limits
from .wire import NO_ROOM, Op, Sealed, dumps, frame

READ_SECONDS = 10.0
"""How long a worker may take to give a variable's value."""


def setting(name: str, value: Sealed, limits: Limits) -> Steps[None]:
    """Set a variable, whose name has been checked.

    Raises:
        CodecError: The value does not fit into the worker.
    """
    size = len(value.data)
    if size > limits.memory_mb << 20:
        raise CodecError(_TOO_LARGE.format(name, size, limits.memory_mb))
    for part in wire.setting(name, value):
        yield Send(part)
    op, body = yield Receive(READ_SECONDS + size / TRANSIT_BYTES)
    if op is not Op.TAKEN or body not in (b"", NO_ROOM):
        raise ProtocolError(f"a frame {op.name} came instead of a receipt")
    if body:
        raise CodecError(_TOO_LARGE.format(name, size, limits.memory_mb))


_TOO_LARGE = (
    "the variable {!r} can't be set: its value, of {:,} bytes, does not fit into the memory that "
    "a program may take ({:,} MiB); hand it over in pieces, or set memory_mb higher"
)


def getting(name: str, seconds: float = READ_SECONDS) -> Steps[Sealed]:
    """Ask for a variable.

    Args:
        name: Its name.
        seconds: How long to wait for the answer.

    Raises:
        NoSuchVariable: There is none of that name.
        CodecError: Its value can't cross.
    """
    check_name(name)
    yield Send(frame(Op.GET, dumps(name)))
    op, body = yield Receive(seconds)
    if op is not Op.VALUE:
        raise ProtocolError(f"a frame {op.name} came instead of a value")
    match fields.decoded(body):
        case ["value", Sealed() as value]:
            return value
        case ["missing", None]:
            raise NoSuchVariable(f"the namespace holds no variable {name!r}")
        case ["error", str(text)]:
            raise CodecError(f"the variable {name!r} can't be read: {fields.reason(text)}")
    raise ProtocolError("a value frame is malformed")


def check_name(name: str) -> None:
    """Check the name of a variable that the host sets or gets.

    Raises:
        NoSuchVariable: There can be no variable of that name.
    """
    if not isinstance(name, str):
        raise NoSuchVariable(f"a variable's name is a str, not {type(name).__name__}")
    special = (name.startswith("__") and name.endswith("__")) or keyword.iskeyword(name)
    if not name.isidentifier() or special or len(name) > fields.MAX_NAME:
        raise NoSuchVariable(f"{name[: fields.MAX_NAME]!r} can't be the name of a variable")
