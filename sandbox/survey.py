"""What an encoded value would cost its reader, told from its bytes before any object is made.

A few bytes can claim a list of a hundred million items, lists in lists whose room is set aside
level by level, or a hundred copies of themselves. So a reader looks first: every item that is
claimed is there, and what there is keeps within its bounds.
"""

from __future__ import annotations

import enum
import re
from typing import NamedTuple

from .errors import CodecError

Bytes = bytes | bytearray | memoryview

MAX_DEPTH = 64
"""How deep containers with an extension type may nest in one value."""
MAX_OPEN = 512 << 20
"""Bytes that the extensions may hold that stand one inside the other: each is copied to be read."""
MAX_SURROGATES = 1_000_000
"""Lone surrogates in one value: each takes a hundred times as long to read as another character."""
ITEM_BYTES = 80
"""About how many bytes an item of a container takes as an object, its own contents aside."""


class Ext(enum.IntEnum):
    """The extension types of the codec."""

    TUPLE = 1
    SET = 2
    FROZENSET = 3
    INT = 4
    DECIMAL = 6
    FRACTION = 7
    COMPLEX = 8
    DATETIME = 9
    DATE = 10
    TIME = 11
    TIMEDELTA = 12
    DESCRIBED = 20
    SEALED = 21
    TRUNCATED = 22
    OUTCOME = 23


IN_BYTES = frozenset({Ext.INT, Ext.DECIMAL, Ext.DATE})
"""Extensions whose content is no value; that of all others is an encoded list."""
_LISTS = frozenset(Ext) - IN_BYTES

_SIZES = [0] * 256
"""By its first byte, the size of a value that the byte tells by itself; 0 for all others."""
for _tag in (*range(0x81), 0x90, 0xC0, 0xC2, 0xC3, *range(0xE0, 0x100)):
    _SIZES[_tag] = 1
for _tag in range(0xA0, 0xC0):
    _SIZES[_tag] = _tag - 0xA0 + 1
for _tag, _size in zip(range(0xCA, 0xD4), (5, 9, 2, 3, 5, 9, 2, 3, 5, 9), strict=True):
    _SIZES[_tag] = _size

_TEXTS = {0xC4: 1, 0xC5: 2, 0xC6: 4, 0xD9: 1, 0xDA: 2, 0xDB: 4}
"""First bytes of texts and bytes, with how many bytes tell their length."""
_ARRAYS, _MAPS = {0xDC: 2, 0xDD: 4}, {0xDE: 2, 0xDF: 4}
_EXTENSIONS = {0xC7: 1, 0xC8: 2, 0xC9: 4}
_FIXED_EXTENSIONS = {0xD4: 1, 0xD5: 2, 0xD6: 4, 0xD7: 8, 0xD8: 16}

_LONE_SURROGATE = re.compile(rb"\xed[\xa0-\xbf]")


class Cost(NamedTuple):
    """What reading a value takes.

    Attributes:
        items: Members of all its containers.
        sealed: Bytes in it that stay sealed.
        weight: About how many bytes it takes as objects.
    """

    items: int
    sealed: int
    weight: int


def survey(data: Bytes, most_items: int, unseal: bool, beyond: str = "") -> Cost:
    """Look through an encoded value; nothing is decoded.

    Args:
        data: What claims to be one.
        most_items: Members that its containers may have together.
        unseal: Whether sealed values in it are to be opened.
        beyond: What is to be done with a value that has more, for the error's text.

    Raises:
        CodecError: It is malformed, claims more than there is, or passes a bound.
    """
    look = _Look(data, most_items, unseal, beyond)
    try:
        look.value(0, len(data), 0, 0)
    except IndexError:
        raise _malformed("it ends early") from None
    _check_surrogates(data)
    return Cost(look.items, look.sealed, len(data) + ITEM_BYTES * look.items)


def _malformed(why: str) -> CodecError:
    return CodecError(f"malformed value: {why}")


def _check_surrogates(data: Bytes) -> None:
    if len(data) <= MAX_SURROGATES:
        return
    whole = bytes(data)
    # Each step is dearer than the one before: few texts have the byte, of which most are Korean.
    if b"\xed" in whole and whole.count(b"\xed") > MAX_SURROGATES:
        for count, _ in enumerate(_LONE_SURROGATE.finditer(whole)):
            if count >= MAX_SURROGATES:
                raise CodecError(
                    f"a value with more than {MAX_SURROGATES:,} lone surrogates is too large"
                )


class _Look:
    """One look through a value's bytes."""

    def __init__(self, data: Bytes, most_items: int, unseal: bool, beyond: str) -> None:
        self._data = data
        self._most = most_items
        self._unseal = unseal
        self._beyond = beyond
        self.items = self.sealed = 0

    def value(self, at: int, end: int, depth: int, inside: int) -> None:
        """Pass one value, which has to end where ``end`` is.

        Args:
            at: Where it begins.
            end: Where it has to end.
            depth: In how many extensions it stands.
            inside: Bytes of those together.
        """
        data, sizes = self._data, _SIZES
        missing = 1
        while missing:
            if at >= end:
                raise _malformed("it ends early")
            missing -= 1
            tag = data[at]
            if size := sizes[tag]:
                at += size
            elif tag in _TEXTS:
                at = sum(self._span(at, _TEXTS[tag]))
            elif tag in _EXTENSIONS or tag in _FIXED_EXTENSIONS:
                at = self._extension(at, tag, end, depth, inside)
            else:
                at, members = self._members(at, tag)
                missing += members
                self._count(members)
                if missing > end - at:
                    raise _malformed("it claims more items than it has bytes")
        if at != end:
            raise _malformed("it ends early" if at > end else "more follows after its end")

    def _span(self, at: int, width: int) -> tuple[int, int]:
        """Where the content of a text or of bytes begins, and how long it is."""
        begin = at + 1 + width
        return begin, int.from_bytes(self._data[at + 1 : begin], "big")

    def _members(self, at: int, tag: int) -> tuple[int, int]:
        """Where the members of a container begin, and how many they are."""
        if tag < 0xA0:
            return at + 1, tag - 0x90 if tag > 0x90 else 2 * (tag - 0x80)
        if tag in _ARRAYS:
            return self._span(at, _ARRAYS[tag])
        if tag in _MAPS:
            begin, pairs = self._span(at, _MAPS[tag])
            return begin, 2 * pairs
        raise _malformed(f"no value begins with the byte {tag}")

    def _count(self, members: int) -> None:
        self.items += members
        if self.items > self._most:
            raise CodecError(
                f"a value of more than {self._most:,} items is too large{self._beyond}"
            )

    def _extension(self, at: int, tag: int, end: int, depth: int, inside: int) -> int:
        """Pass an extension; gives where it ends."""
        if tag in _EXTENSIONS:
            at, length = self._span(at, _EXTENSIONS[tag])
        else:
            at, length = at + 1, _FIXED_EXTENSIONS[tag]
        code = self._data[at]
        begin, stop = at + 1, at + 1 + length
        if stop > end:
            raise _malformed("it ends early")
        if code not in IN_BYTES:
            if code not in _LISTS:
                raise _malformed(f"there is no extension type {code}")
            self._nested(begin, stop, depth, inside)
            if code == Ext.SEALED:
                self._sealed(begin, depth, inside + length)
        return stop

    def _nested(self, begin: int, stop: int, depth: int, inside: int) -> None:
        """Look into what an extension holds."""
        inside += stop - begin
        if depth >= MAX_DEPTH:
            raise CodecError(f"the value nests deeper than {MAX_DEPTH} levels")
        if inside > MAX_OPEN:
            raise CodecError(f"the value nests its {stop - begin:,} bytes too deep")
        self.value(begin, stop, depth + 1, inside)

    def _sealed(self, begin: int, depth: int, inside: int) -> None:
        """Count what is sealed, or look into it: the first item of a list that is well-formed."""
        width = _TEXTS.get(self._data[begin + 1], 0)
        if self._data[begin] != 0x92 or self._data[begin + 1] > 0xC6 or not width:
            raise _malformed("a sealed value is bytes and a short text")
        begin, length = self._span(begin + 1, width)
        if self._unseal:
            self._nested(begin, begin + length, depth, inside)
        else:
            self.sealed += length
