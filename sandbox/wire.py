"""The wire between a session and its worker: frames, and the values in them. No I/O happens here.

A frame is a length (four bytes), an opcode (one byte) and a body; the length is checked
before anything is read. What stands in the bodies is the codec's.
"""

from __future__ import annotations

import enum
import struct

from .codec import Described, Sealed, check_unasked, dumps, loads, seal
from .errors import CodecError, ProtocolError

__all__ = [
    "ESCAPES",
    "HEADER",
    "MAX_FRAME",
    "Described",
    "Inbox",
    "Op",
    "Sealed",
    "check_unasked",
    "dumps",
    "frame",
    "loads",
    "read_setting",
    "seal",
    "setting",
]

MAX_FRAME = 256 << 20
"""Largest body of a frame, in bytes."""
ESCAPES = "unicode_escape"
"""Encoding of output with lone surrogates: as UTF-8 they take a hundred times as long to read."""


class Op(enum.IntEnum):
    """What a frame says. To the worker: 1-15. From the worker: 16 and up."""

    OPEN = 1  # the session's settings: limits, gates, modules
    RUN = 2  # a turn's source
    REPLY = 3  # what a gate answered
    SET = 4  # a variable and its value
    GET = 5  # a variable's name
    HELLO = 16  # the worker is there; carries the process handle beside it
    OUTPUT = 17  # what the program printed
    GATE = 18  # the program calls a gate
    RESULT = 19  # the turn is over
    VALUE = 20  # the answer to GET
    ESCAPED = 21  # OUTPUT with lone surrogates in it, each character escaped


HEADER = struct.Struct("<IB")


def frame(op: Op, body: bytes = b"") -> bytes:
    """One frame, ready to send."""
    if len(body) > MAX_FRAME:
        raise CodecError(f"a value of {len(body):,} bytes is too large: the limit is {MAX_FRAME:,}")
    return HEADER.pack(len(body), op) + body


_NAME_LENGTH = struct.Struct("<H")


def setting(name: str, value: Sealed) -> tuple[bytes, bytes]:
    """The two parts of the frame that sets a variable: apart, so that a large value is not copied.

    Raises:
        CodecError: The value is too large.
    """
    encoded = name.encode()
    size = _NAME_LENGTH.size + len(encoded) + len(value.data)
    head = HEADER.pack(size, Op.SET) + _NAME_LENGTH.pack(len(encoded)) + encoded
    return head, value.data


def read_setting(body: bytes | bytearray) -> tuple[str, memoryview]:
    """The name and the encoded value in the body of a frame that sets a variable."""
    start = _NAME_LENGTH.size + _NAME_LENGTH.unpack_from(body)[0]
    return str(body[_NAME_LENGTH.size : start], "utf-8"), memoryview(body)[start:]


class Inbox:
    """Cuts the bytes that arrive into frames.

    ``buffer()`` is where the next bytes go, ``advance(n)`` says that n have come, ``take()``
    gives the next whole frame or None. A large body is read into its place at once.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max = max_frame
        self._scratch = bytearray(65_536)
        self._start = self._end = 0
        self._op: Op | None = None
        self._body: bytearray | None = None
        self._filled = 0

    def buffer(self) -> memoryview:
        """Where to put the bytes that come next; never empty."""
        if self._body is not None:
            return memoryview(self._body)[self._filled :]
        if self._start and (self._start == self._end or self._end == len(self._scratch)):
            left = self._scratch[self._start : self._end]
            self._scratch[: len(left)] = left
            self._start, self._end = 0, len(left)
        return memoryview(self._scratch)[self._end :]

    def advance(self, count: int) -> None:
        """Say that ``count`` bytes have been put into ``buffer()``."""
        if self._body is not None:
            self._filled += count
        else:
            self._end += count

    def take(self) -> tuple[Op, bytes | bytearray] | None:
        """The next whole frame, or None when more bytes are needed.

        Raises:
            ProtocolError: The header names an unknown opcode or too large a body.
        """
        if self._body is not None:
            return self._take_large()
        have = self._end - self._start
        if have < HEADER.size:
            return None
        length, op = self._header()
        if have - HEADER.size >= length:
            begin = self._start + HEADER.size
            self._start = begin + length
            return op, bytes(memoryview(self._scratch)[begin : self._start])
        if length + HEADER.size > len(self._scratch):
            self._op, self._body, self._filled = op, bytearray(length), have - HEADER.size
            self._body[: self._filled] = self._scratch[self._start + HEADER.size : self._end]
            self._start = self._end = 0
        elif self._start:
            left = self._scratch[self._start : self._end]
            self._scratch[: len(left)] = left
            self._start, self._end = 0, len(left)
        return None

    def _take_large(self) -> tuple[Op, bytearray] | None:
        assert self._body is not None
        assert self._op is not None
        if self._filled < len(self._body):
            return None
        done = self._op, self._body
        self._op = self._body = None
        return done

    def _header(self) -> tuple[int, Op]:
        length, op = HEADER.unpack_from(self._scratch, self._start)
        if length > self._max:
            raise ProtocolError(f"a frame claims {length:,} bytes; the limit is {self._max:,}")
        try:
            return length, Op(op)
        except ValueError:
            raise ProtocolError(f"a frame has the unknown opcode {op}") from None
