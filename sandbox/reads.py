"""What programs read of the world, as bytes: clocks and chance, by kind, in the order of reading.

A worker tells its host of it, the host keeps it, and a turn that is run again is given it back.
"""

from __future__ import annotations

import struct
from collections.abc import Collection, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .errors import CodecError, ProtocolError
from .wire import dumps, loads

_SECONDS = ("time", "monotonic", "perf_counter", "process_time", "thread_time")
CLOCKS = {name + unit: code for unit, code in (("", "d"), ("_ns", "q")) for name in _SECONDS}
"""The clocks, called as the functions of Python's module ``time``, and how a number of each is
packed: seconds as floats, nanoseconds as whole numbers."""
CHANCE = "chance"
"""Random bytes that follow from no seed."""
NUMBER_BYTES = 8
MAX_READS = 256 << 10
"""Bytes of one turn's reads that are kept, which is 32,768 reads of clocks: a turn that reads more
would not show the same when it is run again."""
_MAX_DATA = MAX_READS + 1_000
_MAX_SECONDS = 1 << 32


def per_second(clock: str) -> int:
    """How many of a clock's numbers make a second."""
    return 1 if CLOCKS[clock] == "d" else 1_000_000_000


def packed(clock: str, numbers: Collection[float]) -> bytes:
    """What was read of a clock, as bytes."""
    return struct.pack(f"<{len(numbers)}{CLOCKS[clock]}", *numbers)


def unpacked(clock: str, data: bytes) -> tuple[float, ...]:
    """What was read of a clock, from its bytes."""
    return struct.unpack(f"<{len(data) // NUMBER_BYTES}{CLOCKS[clock]}", data)


def reads_of(data: bytes | bytearray) -> dict[str, bytes]:
    """Reads by kind.

    Raises:
        CodecError: The bytes are none, or are more than are kept of a turn.
    """
    if len(data) > _MAX_DATA:
        raise CodecError(f"reads of clocks and chance may take {_MAX_DATA:,} bytes")
    reads = loads(data, guarded=True)
    if type(reads) is not dict or not reads or not all(map(_is_read, reads, reads.values())):
        raise CodecError("reads of clocks and chance are bytes by kind")
    return reads


def _is_read(kind: Any, data: Any) -> bool:
    if type(kind) is not str or type(data) is not bytes or not data:
        return False
    if kind not in CLOCKS:
        return kind == CHANCE
    most = _MAX_SECONDS * per_second(kind)  # nor is one of these NaN
    return not len(data) % NUMBER_BYTES and all(0 <= n < most for n in unpacked(kind, data))


class Reads:
    """Reads of a turn, or of a part of it, put together.

    Attributes:
        size: How many bytes they are, of all kinds.
    """

    def __init__(self) -> None:
        self._parts: dict[str, list[bytes]] = {}
        self.size = 0

    def add(self, reads: Mapping[str, bytes]) -> None:
        """Add what was read next."""
        for kind, data in reads.items():
            self._parts.setdefault(kind, []).append(data)
            self.size += len(data)

    @property
    def data(self) -> bytes | None:
        """All of them as bytes; None where there are none."""
        return dumps(self._by_kind()) if self._parts else None

    def begins_with(self, reads: Mapping[str, bytes]) -> bool:
        """Whether this is what was read first, of each kind."""
        own = self._by_kind()
        return all(own.get(kind, b"").startswith(data) for kind, data in reads.items())

    def _by_kind(self) -> dict[str, bytes]:
        return {kind: b"".join(self._parts[kind]) for kind in sorted(self._parts)}


class ReadsOfTurn:
    """What a worker tells of one turn's reads, which its host doesn't trust.

    Args:
        given: What its reads are answered from, by kind. Default: from the world.

    Attributes:
        is_whole: Whether these are all: not where the worker says that it is more than is kept.
    """

    def __init__(self, given: Mapping[str, bytes] = MappingProxyType({})) -> None:
        self._given = given
        self._all, self._fresh = Reads(), Reads()
        self.is_whole = True

    def add(self, body: bytes | bytearray) -> None:
        """Take in what was read next; an empty body says that it is more than is kept.

        Raises:
            ProtocolError: It is malformed, or more than a turn may have.
        """
        if not body:
            self.is_whole = False
            return
        try:
            reads = reads_of(body)
        except CodecError as error:
            raise ProtocolError(str(error)) from None
        self._all.add(reads)
        self._fresh.add(reads)
        if self._all.size > MAX_READS:
            raise ProtocolError("a worker sent more reads than are kept of a turn")

    def take(self) -> bytes | None:
        """What came since this was last asked; None where nothing did."""
        fresh, self._fresh = self._fresh, Reads()
        return fresh.data

    @property
    def data(self) -> bytes | None:
        """All that came; None where nothing did."""
        return self._all.data

    @property
    def differ(self) -> bool:
        """Whether it did not begin with all that was given."""
        return not self._all.begins_with(self._given)


def joined(parts: Iterable[bytes | None]) -> bytes | None:
    """Parts of one turn's reads, in order, as one; None where nothing was read.

    Raises:
        CodecError: A part is malformed.
    """
    reads = Reads()
    for part in parts:
        if part is not None:
            reads.add(reads_of(part))
    return reads.data
