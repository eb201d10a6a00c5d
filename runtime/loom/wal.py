"""What SQLite's log holds after its last whole transaction: what was cut off as it was written.

SQLite leaves that out without a word. Its documentation tells the layout ("Database File Format",
section 4, "The Write-Ahead Log"): a header, then frames, each a header and a page of the database,
with checksums that go on from frame to frame.
"""

from __future__ import annotations

import struct
import sys
from array import array
from pathlib import Path

_HEADER = struct.Struct(">8I")
"""Magic, version, page size, checkpoint, two salts, two checksums."""
_FRAME = struct.Struct(">6I")
"""Page, size of the database where a transaction ends (else 0), two salts, two checksums."""
_ORDERS = {0x377F0682: "little", 0x377F0683: "big"}
"""Byte order of the numbers that are summed up, by magic."""
_Sums = tuple[int, int]


def is_cut_off(path: Path) -> bool:
    """Whether the log goes on after its last whole transaction with what belongs to it.

    What an earlier round left further back in the file has other salts and doesn't count.

    Args:
        path: The log; a missing one is not cut off.
    """
    try:
        log = path.read_bytes()
    except FileNotFoundError:
        return False
    if not log:
        return False
    if len(log) < _HEADER.size:
        return True
    magic, _, size, _, *salts = _HEADER.unpack_from(log)[:6]
    sums = _HEADER.unpack_from(log)[6:]
    order = _ORDERS.get(magic)
    if order is None or _summed((0, 0), log[:24], order) != sums:
        return True
    place, begun = _HEADER.size, False
    while len(log) - place >= _FRAME.size:
        _, commits, *found = _FRAME.unpack_from(log, place)
        page = log[place + _FRAME.size : place + _FRAME.size + size]
        if found[:2] == salts and len(page) == size:
            sums = _summed(sums, log[place : place + 8] + page, order)
            if sums == tuple(found[2:]):
                begun = not commits
                place += _FRAME.size + size
                continue
        # A frame that is not whole: of this round, or wiped out, it was cut off.
        return begun or found[:2] in (salts, [0, 0])
    return begun or place < len(log)


def _summed(sums: _Sums, data: bytes, order: str) -> _Sums:
    words = array("I", data)
    if order != sys.byteorder:
        words.byteswap()
    one, two = sums
    numbers = iter(words)
    for first, second in zip(numbers, numbers, strict=True):
        one = (one + first + two) & 0xFFFFFFFF
        two = (two + second + one) & 0xFFFFFFFF
    return one, two
