"""The codec: Python values as bytes, with their types. No I/O happens here.

A value is msgpack with an extension type for each Python type that msgpack lacks. Decoding
builds plain values only and runs no code of anybody's. An instance of a class that the codec
doesn't know crosses as a ``Described``: its type and a preview.
"""

from __future__ import annotations

import datetime as dt
import enum
from collections.abc import Callable
from dataclasses import dataclass
from decimal import Decimal
from fractions import Fraction
from typing import Any

import msgpack

from .errors import CodecError
from .outcomes import RAISED, Outcome, Truncated
from .preview import PREVIEW_CHARS, class_name, describe, show

MAX_DEPTH = 64
"""How deep containers with an extension type may nest in one value."""
MAX_INT_BYTES = 1 << 16
"""Largest integer that crosses, in bytes."""
MAX_VALUE = 128 << 20
"""Largest value that is handed on sealed, in bytes."""
MAX_TEXT = 4_096
"""Longest text that describes a value, in characters."""
MAX_LOOSE_KEYS = 1_000
"""Keys of one map, or members of one set, that aren't strings, in what the host decodes
unasked: their hashes are chosen by the sender, so many of them can be made to collide."""
MAX_ITEMS = 100_000
"""Members of all containers together in what the host decodes unasked: a few bytes of a frame
can ask for many times their size in objects."""
MAX_UNASKED = 16 << 20
"""Bytes that the host decodes unasked; what is sealed does not count."""
_ELSEWHERE = "hand it on in pieces, or where it stays sealed, such as a child's context"


@dataclass(frozen=True, slots=True)
class Described:
    """What is left of an object whose class can't cross the boundary.

    Attributes:
        type: Name of its class.
        text: A preview of it, made where it lived.
    """

    type: str
    text: str

    def __repr__(self) -> str:
        return f"<{self.type} that stayed in its sandbox: {self.text}>"


@dataclass(frozen=True, slots=True)
class Sealed:
    """A value on its way, still encoded: the host hands it on without looking inside.

    Attributes:
        data: The value's codec bytes.
        text: Type, size and a preview, made by the sender.
    """

    data: bytes
    text: str

    def __repr__(self) -> str:
        return f"<sealed {self.text}>"

    def open(self) -> Any:
        """Decode the value, sealed ones inside included.

        Raises:
            CodecError: The bytes are malformed.
        """
        return loads(self.data, unseal=True)


def seal(value: Any) -> Sealed:
    """Encode ``value`` once, for handing on.

    Raises:
        CodecError: Part of the value can't be encoded, or it is too large.
    """
    if isinstance(value, Sealed):
        return value
    data = dumps(value)
    if len(data) > MAX_VALUE:
        raise CodecError(f"a value of {len(data):,} bytes is too large: the limit is {MAX_VALUE:,}")
    return Sealed(data, describe(value))


class _Ext(enum.IntEnum):
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


def dumps(value: Any) -> bytes:
    """Encode a value.

    Returns:
        Its bytes. Types are kept: None, bool, int of any size up to 64 KiB, float, complex,
        str (lone surrogates too), bytes, list, tuple, dict with any hashable keys,
        set, frozenset, Decimal, Fraction, datetime, date, time, timedelta, and the outcomes.
        A subclass of one of these crosses as that one; any other object as a ``Described``.
        A bytearray crosses as bytes. A datetime keeps its offset from UTC, not the name of
        its zone.

    Raises:
        CodecError: The value nests too deep or holds itself, or an int is too large.
    """
    return _encode(value, 0)


def _encode(value: Any, depth: int) -> bytes:
    if depth > MAX_DEPTH:
        raise CodecError(f"the value nests deeper than {MAX_DEPTH} levels, or holds itself")

    def pack(inner: Any) -> bytes:
        return _encode(inner, depth + 1)

    def default(item: Any) -> Any:
        return _extension(item, pack)

    try:
        packed: bytes = msgpack.packb(
            value,
            default=default,
            strict_types=True,
            unicode_errors="surrogatepass",
            buf_size=512,  # the default of 256 KiB costs more to get than most values to write
        )
    except CodecError:
        raise
    except (ValueError, TypeError, RecursionError, OverflowError) as error:
        if "recursion" in str(error):
            raise CodecError("the value nests too deep, or holds itself") from None
        raise CodecError(f"the value can't cross the boundary: {error}") from None
    return packed


def _extension(item: Any, pack: Callable[[Any], bytes]) -> Any:
    """What msgpack is to write for an item of a type it doesn't have."""
    writer = _WRITERS.get(type(item))
    if writer is None:
        item = _as_known(item)
        writer = _WRITERS.get(type(item))
        if type(item) in _PACKABLE and not _is_long(item):
            return item
    if writer is not None:
        code, content = writer(item, pack)
        return msgpack.ExtType(code, content)
    described = [class_name(item), show(item, PREVIEW_CHARS)]
    return msgpack.ExtType(_Ext.DESCRIBED, pack(described))


_PLAIN: tuple[type, ...] = (int, float, str, bytes, dict, list, tuple, set, frozenset)


_PACKABLE = (int, float, str, bytes, dict, list, bool, type(None))
"""What msgpack has itself."""

_taught: list[tuple[type, Callable[[Any], Any]]] = []


def teach(kind: type, as_known: Callable[[Any], Any]) -> None:
    """Have instances of a class cross as what ``as_known`` makes of them.

    For workers, before their first program: a host runs no code of its values' classes.

    Args:
        kind: The class; its subclasses cross like it.
        as_known: Gives a value of a type that is kept, or raises ``CodecError``.
    """
    _taught.append((kind, as_known))


def _as_known(item: Any) -> Any:
    """An item as a type that is kept, where its class has been taught or inherits from one."""
    for kind, as_known in _taught:
        if issubclass(type(item), kind):
            return as_known(item)
    for plain in _PLAIN:
        if isinstance(item, plain):
            return _as_plain(item, plain)
    return item


def _as_plain(item: Any, plain: type) -> Any:
    """The built-in value under an instance of a subclass, read past its own methods."""
    if plain is dict:
        return dict(dict.items(item))
    if plain in (list, tuple, set, frozenset):
        return plain(plain.__iter__(item))
    if plain is str:
        return str.__str__(item)
    if plain is bytes:
        return bytes(memoryview(item))
    return int.__int__(item) if plain is int else float.__float__(item)


def _is_long(item: Any) -> bool:
    return type(item) is int and item.bit_length() > 63


def _write_int(item: int, _pack: Callable[[Any], bytes]) -> tuple[_Ext, bytes]:
    size = (item.bit_length() + 8) // 8
    if size > MAX_INT_BYTES:
        raise CodecError(f"an int of {size:,} bytes is too large: the limit is {MAX_INT_BYTES:,}")
    return _Ext.INT, item.to_bytes(size, "big", signed=True)


def _write_outcome(item: Outcome, pack: Callable[[Any], bytes]) -> tuple[_Ext, bytes]:
    return _Ext.OUTCOME, pack([type(item).__name__, item.reason, item.message, item.entity_id])


_WRITERS: dict[type, Callable[[Any, Callable[[Any], bytes]], tuple[_Ext, bytes]]] = {
    int: _write_int,
    tuple: lambda item, pack: (_Ext.TUPLE, pack(list(item))),
    set: lambda item, pack: (_Ext.SET, pack(list(item))),
    frozenset: lambda item, pack: (_Ext.FROZENSET, pack(list(item))),
    Decimal: lambda item, _: (_Ext.DECIMAL, str(item).encode("ascii")),
    Fraction: lambda item, pack: (_Ext.FRACTION, pack([item.numerator, item.denominator])),
    complex: lambda item, pack: (_Ext.COMPLEX, pack([item.real, item.imag])),
    dt.datetime: lambda item, pack: (_Ext.DATETIME, pack([item.isoformat(), item.fold])),
    dt.date: lambda item, _: (_Ext.DATE, item.isoformat().encode("ascii")),
    dt.time: lambda item, pack: (_Ext.TIME, pack([item.isoformat(), item.fold])),
    dt.timedelta: lambda item, pack: (
        _Ext.TIMEDELTA,
        pack([item.days, item.seconds, item.microseconds]),
    ),
    Described: lambda item, pack: (_Ext.DESCRIBED, pack([item.type, item.text])),
    Sealed: lambda item, pack: (_Ext.SEALED, pack([item.data, item.text])),
    Truncated: lambda item, pack: (
        _Ext.TRUNCATED,
        pack([item.reason, item.partial, item.summary]),
    ),
    **dict.fromkeys(RAISED.values(), _write_outcome),
}


def loads(
    data: bytes | bytearray | memoryview, *, unseal: bool = False, guarded: bool = False
) -> Any:
    """Decode a value.

    Args:
        data: What ``dumps`` gave, or what claims to be that.
        unseal: Open sealed values inside (where their receiver is) instead of keeping them.
        guarded: Keep to ``MAX_UNASKED`` bytes, ``MAX_ITEMS`` and ``MAX_LOOSE_KEYS``: for
            what the host decodes without its caller having asked.

    Raises:
        CodecError: The bytes are malformed, or pass a limit.
    """
    try:
        decoder = _Decoder(unseal, guarded)
        value = decoder.decode(data, 0)
        decoder.check_size(len(data))
        return value
    except CodecError:
        raise
    except (
        ValueError,
        TypeError,
        OverflowError,
        ArithmeticError,
        RecursionError,
        KeyError,
        msgpack.UnpackException,
    ) as error:
        if "exceeds max_" in str(error):  # msgpack's own words for the bounds it was given
            raise CodecError(f"a value too large, {error}: {_ELSEWHERE}") from None
        raise CodecError(f"malformed value: {type(error).__name__}: {error}"[:300]) from None


def check_unasked(data: bytes) -> None:
    """Check on the sender's side that a host will decode a value unasked.

    Raises:
        CodecError: It will not; the text names the limit.
    """
    loads(data, guarded=True)


class _Decoder:
    """Decodes one value; every limit is checked on the way down."""

    def __init__(self, unseal: bool, guarded: bool) -> None:
        self._unseal = unseal
        self._guarded = guarded
        self._items = 0
        self._sealed_bytes = 0

    def decode(self, data: bytes | bytearray | memoryview, depth: int) -> Any:
        if depth > MAX_DEPTH:
            raise CodecError(f"the value nests deeper than {MAX_DEPTH} levels")
        return msgpack.unpackb(
            data,
            ext_hook=lambda code, content: self._extension(code, content, depth + 1),
            strict_map_key=False,
            unicode_errors="surrogatepass",
            **(self._bounds() if self._guarded else {}),
        )

    def _bounds(self) -> dict[str, Any]:
        """What msgpack checks before it makes a container or a text, and our own count."""
        return {
            "object_pairs_hook": self._map,
            "list_hook": self._list,
            "max_array_len": MAX_ITEMS,
            "max_map_len": MAX_ITEMS,
            "max_str_len": MAX_UNASKED,
        }

    def _map(self, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        self._count(2 * len(pairs))
        self._check_keys([key for key, _ in pairs])
        return dict(pairs)

    def _list(self, items: list[Any]) -> list[Any]:
        self._count(len(items))
        return items

    def _count(self, items: int) -> None:
        self._items += items
        if self._items > MAX_ITEMS:
            raise CodecError(f"a value of more than {MAX_ITEMS:,} items: {_ELSEWHERE}")

    def check_size(self, size: int) -> None:
        """Check the bytes of a whole value, once it is known how many of them are sealed."""
        size -= self._sealed_bytes
        if self._guarded and size > MAX_UNASKED:
            raise CodecError(
                f"a value of {size:,} bytes; the limit is {MAX_UNASKED:,}: {_ELSEWHERE}"
            )

    def _check_keys(self, keys: list[Any]) -> None:
        if self._guarded and len(keys) > MAX_LOOSE_KEYS:
            loose = sum(type(key) is not str for key in keys)
            if loose > MAX_LOOSE_KEYS:
                raise CodecError(
                    f"{loose:,} keys that are not strings; the limit is {MAX_LOOSE_KEYS:,}: "
                    f"{_ELSEWHERE}"
                )

    def _extension(self, code: int, content: bytes, depth: int) -> Any:
        kind = _Ext(code)
        if kind in _FROM_BYTES:
            return _FROM_BYTES[kind](content)
        items = self.decode(content, depth)
        if type(items) is not list:
            raise CodecError("malformed value: a list is wanted")
        if kind in (_Ext.SET, _Ext.FROZENSET):
            self._check_keys(items)
        if kind is _Ext.SEALED:
            return self._sealed(items, depth)
        return _FROM_LIST[kind](items)

    def _sealed(self, items: list[Any], depth: int) -> Any:
        data, text = items
        if type(data) is not bytes or type(text) is not str or len(text) > MAX_TEXT:
            raise CodecError("malformed value: a sealed value is bytes and a short text")
        self._sealed_bytes += len(data)
        return self.decode(data, depth) if self._unseal else Sealed(data, text)


def _read_int(content: bytes) -> int:
    if len(content) > MAX_INT_BYTES:
        raise CodecError(f"an int of {len(content):,} bytes; the limit is {MAX_INT_BYTES:,}")
    return int.from_bytes(content, "big", signed=True)


def _read_decimal(content: bytes) -> Decimal:
    if len(content) > MAX_INT_BYTES:
        raise CodecError(f"a Decimal of {len(content):,} digits; the limit is {MAX_INT_BYTES:,}")
    return Decimal(content.decode("ascii"))


def _read_fraction(items: list[Any]) -> Fraction:
    numerator, denominator = items
    if type(numerator) is not int or type(denominator) is not int or denominator < 1:
        raise CodecError("malformed value: a Fraction is two ints")
    return Fraction(numerator, denominator)


def _strings(items: list[Any], count: int) -> list[str]:
    if len(items) != count or not all(type(item) is str for item in items):
        raise CodecError(f"malformed value: {count} strings are wanted")
    return items


def _read_truncated(items: list[Any]) -> Truncated:
    first, partial, last = items
    reason, summary = _strings([first, last], 2)
    return Truncated(reason, partial, summary)


def _read_outcome(items: list[Any]) -> Outcome:
    name, reason, message, entity_id = _strings(items, 4)
    return RAISED[name](reason, message, entity_id)


def _read_folded(kind: type[dt.datetime] | type[dt.time], items: list[Any]) -> Any:
    text, fold = items
    return kind.fromisoformat(text).replace(fold=fold)


_FROM_BYTES: dict[_Ext, Callable[[bytes], Any]] = {
    _Ext.INT: _read_int,
    _Ext.DECIMAL: _read_decimal,
    _Ext.DATE: lambda content: dt.date.fromisoformat(content.decode("ascii")),
}
_FROM_LIST: dict[_Ext, Callable[[list[Any]], Any]] = {
    _Ext.TUPLE: tuple,
    _Ext.SET: set,
    _Ext.FROZENSET: frozenset,
    _Ext.FRACTION: _read_fraction,
    _Ext.COMPLEX: lambda items: complex(*items),
    _Ext.DATETIME: lambda items: _read_folded(dt.datetime, items),
    _Ext.TIME: lambda items: _read_folded(dt.time, items),
    _Ext.TIMEDELTA: lambda items: dt.timedelta(*items),
    _Ext.DESCRIBED: lambda items: Described(*_strings(items, 2)),
    _Ext.TRUNCATED: _read_truncated,
    _Ext.OUTCOME: _read_outcome,
}
