"""The wire between a session and its worker: frames, and the values in them. No I/O happens here.

A frame is a length (four bytes), an opcode (one byte) and a body; the length is checked
before anything is read. What stands in the bodies is the codec's.
"""

from __future__ import annotations

import enum
import struct
from typing import Any

from .codec import Described, Sealed, check_unasked, dumps, loads, loads_weighed, seal
from .errors import CodecError, ProtocolError

__all__ = [
    "ESCAPES",
    "HEADER",
    "MAX_FRAME",
    "NO_ROOM",
    "Described",
    "Inbox",
    "Op",
    "Sealed",
    "check_unasked",
    "dumps",
    "frame",
    "imaged",
    "loads",
    "loads_weighed",
    "read_imaged",
    "read_setting",
    "seal",
    "setting",
]

MAX_FRAME = 256 << 20
"""Largest body of a frame, in bytes."""
_FIRST_ROOM = 1 << 20
"""Room, in bytes, that a large body has at first: it doubles as bytes come, for a claim alone must
not cost its reader memory."""
ESCAPES = "unicode_escape"
"""Encoding of output with lone surrogates: as UTF-8 they take a hundred times as long to read."""


NO_ROOM = b"no room"
"""What is said of something that does not fit into a worker, or beside it."""


class Op(enum.IntEnum):
    """What a frame says. To the worker: 1-15. From the worker: 16 and up."""

    OPEN = 1  # the session's settings: limits, gates, modules
    RUN = 2  # a turn's source
    REPLY = 3  # what a gate answered
    SET = 4  # a variable and its value
    GET = 5  # a variable's name
    DUMP = 7  # write your state down
    LOAD = 8  # take up a state
    COPY = 6  # make a copy of yourself; its socket comes beside the frame
    HELLO = 16  # the worker is there; carries the process handle beside it
    OUTPUT = 17  # what the program printed
    GATE = 18  # the program calls a gate
    RESULT = 19  # the turn is over
    VALUE = 20  # the answer to GET
    COPIED = 22  # the copy is there, or could not be made
    TAKEN = 23  # the answer to SET: empty, or that there is no room for the value
    IMAGE = 24  # the answer to DUMP and to LOAD: what came of it, and the state
    ESCAPED = 21  # OUTPUT with lone surrogates in it, each character escaped
    READS = 25  # what the program read of clocks and chance; empty: more than is kept


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


_TOLD_LENGTH = struct.Struct("<I")


def imaged(op: Op, told: dict[str, Any], state: bytes = b"") -> tuple[bytes, bytes]:
    """The two parts of a frame that carries a session's state, and what is told beside it."""
    encoded = dumps(told)
    size = _TOLD_LENGTH.size + len(encoded) + len(state)
    return HEADER.pack(size, op) + _TOLD_LENGTH.pack(len(encoded)) + encoded, state


def read_imaged(body: bytes | bytearray) -> tuple[bytes, bytes]:
    """What is told, encoded, and the state in the body of a frame that carries one.

    Raises:
        ProtocolError: Its parts are not of the lengths that it says.
    """
    start = _TOLD_LENGTH.size
    end = start + _TOLD_LENGTH.unpack_from(body)[0] if len(body) >= start else len(body) + 1
    if end > len(body):
        raise ProtocolError("a frame with an image is cut short")
    return bytes(body[start:end]), bytes(memoryview(body)[end:])


class NoRoom(MemoryError):
    """There is no room for a frame's body, which has been read over.

    Args:
        op: What the frame was.
    """

    def __init__(self, op: Op) -> None:
        super().__init__()
        self.op = op


class Inbox:
    """Cuts the bytes that arrive into frames.

    ``buffer()`` is where the next bytes go, ``advance(n)`` says that n have come, ``take()``
    gives the next whole frame or None. A large body is read into its place at once; the memory
    that it takes is never more than a first room or twice what has come of it.
    """

    def __init__(self, max_frame: int = MAX_FRAME) -> None:
        self._max = max_frame
        self._scratch = bytearray(65_536)
        self._start = self._end = 0
        self._op: Op | None = None
        self._body: bytearray | None = None
        self._length = self._filled = self._skipped = 0
        self._lent = memoryview(b"")

    def buffer(self) -> memoryview:
        """Where to put the bytes that come next; never empty."""
        if self._body is not None:
            self._lent = memoryview(self._body)[self._filled :]
            return self._lent
        if self._skipped:
            return memoryview(self._scratch)[: self._skipped]
        if self._start and (self._start == self._end or self._end == len(self._scratch)):
            left = self._scratch[self._start : self._end]
            self._scratch[: len(left)] = left
            self._start, self._end = 0, len(left)
        return memoryview(self._scratch)[self._end :]

    @property
    def is_empty(self) -> bool:
        """Whether every byte that has come was taken as part of a frame."""
        return self._op is None and self._start == self._end

    def advance(self, count: int) -> None:
        """Say that ``count`` bytes have been put into ``buffer()``, which is then used up."""
        if self._body is not None:
            self._filled += count
            if self._filled == len(self._body) < self._length:
                self._lent.release()  # or the room could not be made larger
                self._make_room(self._body, min(self._filled, self._length - self._filled))
        elif self._skipped:
            self._skipped -= count
        else:
            self._end += count

    def take(self) -> tuple[Op, bytes | bytearray] | None:
        """The next whole frame, or None when more bytes are needed.

        Raises:
            ProtocolError: The header names an unknown opcode or too large a body.
            NoRoom: There is no memory for its body.
        """
        if self._op is not None:
            return self._take_large(self._op)
        have = self._end - self._start
        if have < HEADER.size:
            return None
        length, op = self._header()
        begin = self._start + HEADER.size
        if have - HEADER.size >= length:
            self._start = begin + length
            return op, self._small(op, begin, self._start)
        if length + HEADER.size > len(self._scratch):
            self._op, self._length, self._filled = op, length, have - HEADER.size
            self._begin_large(begin)
            self._start = self._end = 0
        elif self._start:
            left = self._scratch[self._start : self._end]
            self._scratch[: len(left)] = left
            self._start, self._end = 0, len(left)
        return None

    def _small(self, op: Op, begin: int, end: int) -> bytes:
        try:
            return bytes(memoryview(self._scratch)[begin:end])
        except MemoryError:
            raise NoRoom(op) from None

    def _begin_large(self, begin: int) -> None:
        """Put what has come of a large body into its place."""
        try:
            self._body = bytearray(min(self._length, _FIRST_ROOM))
        except MemoryError:
            self._skipped = self._length - self._filled
        else:
            self._body[: self._filled] = memoryview(self._scratch)[begin : self._end]

    def _make_room(self, body: bytearray, size: int) -> None:
        try:
            body.extend(bytes(size))
        except MemoryError:
            self._body, self._skipped = None, self._length - self._filled

    def _take_large(self, op: Op) -> tuple[Op, bytearray] | None:
        body = self._body
        if self._skipped or (body is not None and self._filled < self._length):
            return None
        self._lent.release()
        self._op = self._body = None
        if body is None:
            raise NoRoom(op)
        return op, body

    def _header(self) -> tuple[int, Op]:
        length, op = HEADER.unpack_from(self._scratch, self._start)
        if length > self._max:
            raise ProtocolError(f"a frame claims {length:,} bytes; the limit is {self._max:,}")
        try:
            return length, Op(op)
        except ValueError:
            raise ProtocolError(f"a frame has the unknown opcode {op}") from None
