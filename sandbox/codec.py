"""The codec: Python values as bytes, with their types. No I/O happens here.

A value is msgpack with an extension type for each Python type that msgpack lacks. Decoding
builds plain values only and runs no code of anybody's. An instance of a class that the codec
doesn't know crosses as a ``Described``: its type and a preview.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import msgpack

from .errors import CodecError
from .outcomes import RAISED, Outcome, Truncated
from .preview import PREVIEW_CHARS, class_name, describe, show
from .scalars import FROM_BYTES, FROM_LIST, WRITERS, Pack, check_labour, labour_of
from .survey import IN_BYTES, MAX_DEPTH, Bytes, Ext, survey

MAX_VALUE = 128 << 20
"""Largest value that is handed on sealed, in bytes."""
MAX_TEXT = 4_096
"""Longest text that describes a value, in characters."""
MAX_LOOSE_KEYS = 1_000
"""Keys of one map, or members of one set, that aren't strings, in what the host decodes
unasked: their hashes are chosen by the sender, so many of them can be made to collide."""
MAX_ALIKE = 32
"""Keys of one map, or members of one set, that have the same hash: the time to tell them apart
goes by the square of their number. Points about the origin come in eights, for to Python -1 and
-2 hash alike."""
MAX_NESTED_ALIKE = 100
"""Members of frozensets of frozensets, in one value, that share a hash: each level of them
multiplies the time that the next one takes."""
MAX_ITEMS = 100_000
"""Members of all containers together in what the host decodes unasked: a few bytes of a frame
can ask for many times their size in objects."""
MAX_OPENED_ITEMS = 10_000_000
"""Members of all containers together in any value; as objects they take up to a gigabyte."""
MAX_UNASKED = 16 << 20
"""Bytes that the host decodes unasked; what is sealed does not count."""
_ELSEWHERE = ": hand it on in pieces, or where it stays sealed, such as a child's context"
_IN_PIECES = ": hand it on in pieces"


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
        return f"<{self.type} that stayed where it lives: {self.text}>"


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
    if len(data) > MAX_OPENED_ITEMS:  # or it can't have so many
        survey(data, MAX_OPENED_ITEMS, unseal=True, beyond=_IN_PIECES)
    return Sealed(data, describe(value))


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
    return msgpack.ExtType(Ext.DESCRIBED, pack(described))


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


def _write_outcome(item: Outcome, pack: Pack) -> tuple[Ext, bytes]:
    return Ext.OUTCOME, pack([type(item).__name__, item.reason, item.message, item.entity_id])


_WRITERS: dict[type, Callable[[Any, Pack], tuple[Ext, bytes]]] = {
    **WRITERS,
    tuple: lambda item, pack: (Ext.TUPLE, pack(list(item))),
    set: lambda item, pack: (Ext.SET, pack(list(item))),
    frozenset: lambda item, pack: (Ext.FROZENSET, pack(list(item))),
    Described: lambda item, pack: (Ext.DESCRIBED, pack([item.type, item.text])),
    Sealed: lambda item, pack: (Ext.SEALED, pack([item.data, item.text])),
    Truncated: lambda item, pack: (
        Ext.TRUNCATED,
        pack([item.reason, item.partial, item.summary]),
    ),
    **dict.fromkeys(RAISED.values(), _write_outcome),
}


def loads(data: Bytes, *, unseal: bool = False, guarded: bool = False) -> Any:
    """Decode a value.

    Args:
        data: What ``dumps`` gave, or what claims to be that.
        unseal: Open sealed values inside (where their receiver is) instead of keeping them.
        guarded: Keep to ``MAX_UNASKED`` bytes, ``MAX_ITEMS`` and ``MAX_LOOSE_KEYS``: for
            what the host decodes without its caller having asked.

    Raises:
        CodecError: The bytes are malformed, or pass a limit.
    """
    return loads_weighed(data, unseal=unseal, guarded=guarded)[0]


def loads_weighed(data: Bytes, *, unseal: bool = False, guarded: bool = False) -> tuple[Any, int]:
    """``loads``, with about how many bytes the value takes as objects."""
    most, beyond = (MAX_ITEMS, _ELSEWHERE) if guarded else (MAX_OPENED_ITEMS, _IN_PIECES)
    cost = survey(data, most, unseal, beyond)
    size = len(data) - cost.sealed
    if guarded and size > MAX_UNASKED:
        raise CodecError(f"a value of {size:,} bytes; the limit is {MAX_UNASKED:,}{_ELSEWHERE}")
    try:
        return _Decoder(unseal, guarded).decode(data), cost.weight
    except CodecError:
        raise
    except MemoryError:
        raise CodecError("a value takes more memory than there is") from None
    except (
        ValueError,
        TypeError,
        OverflowError,
        ArithmeticError,
        RecursionError,
        KeyError,
        msgpack.UnpackException,
    ) as error:
        raise CodecError(f"malformed value: {type(error).__name__}: {error}"[:300]) from None


def check_unasked(data: bytes) -> None:
    """Check on the sender's side that a host will decode a value unasked.

    Raises:
        CodecError: It will not; the text names the limit.
    """
    loads(data, guarded=True)


class _Decoder:
    """Decodes one value that has been surveyed."""

    def __init__(self, unseal: bool, guarded: bool) -> None:
        self._unseal = unseal
        self._guarded = guarded
        self._labour = self._frozensets = self._nested_alike = 0

    def decode(self, data: Bytes) -> Any:
        return msgpack.unpackb(
            data,
            ext_hook=self._extension,
            object_pairs_hook=self._map,
            strict_map_key=False,
            unicode_errors="surrogatepass",
        )

    def _map(self, pairs: list[tuple[Any, Any]]) -> dict[Any, Any]:
        if len(pairs) > 1:
            self._check_keys([key for key, _ in pairs])
        return dict(pairs)

    def _check_keys(self, keys: list[Any], is_nested: bool = False) -> None:
        """Check keys of a map, or members of a set, before they are put in."""
        loose = [key for key in keys if type(key) is not str]
        if not loose:
            return
        if self._guarded and len(loose) > MAX_LOOSE_KEYS:
            raise CodecError(
                f"{len(loose):,} keys that are not strings; the limit is "
                f"{MAX_LOOSE_KEYS:,}{_ELSEWHERE}"
            )
        alike = len(loose) - len(set(map(hash, loose)))
        if alike:
            self._nested_alike += alike * is_nested
            most = max(Counter(map(hash, loose)).values())
            if most > MAX_ALIKE or self._nested_alike > MAX_NESTED_ALIKE:
                raise CodecError("too many keys of a dictionary, or members of a set, hash alike")

    def _extension(self, code: int, content: bytes) -> Any:
        kind = Ext(code)
        if kind in IN_BYTES:
            return FROM_BYTES[kind](content)
        before = self._frozensets
        items = self.decode(content)
        if type(items) is not list:
            raise CodecError("malformed value: a list is wanted")
        if kind is Ext.FRACTION:
            self._labour += labour_of(items)
            check_labour(self._labour)
        elif kind is Ext.SEALED:
            return self._sealed(items)
        elif kind is Ext.SET:
            self._check_keys(items)
        elif kind is Ext.FROZENSET:
            self._check_keys(items, is_nested=self._frozensets > before)
            self._frozensets += 1
        return _READERS[kind](items)

    def _sealed(self, items: list[Any]) -> Any:
        data, text = items
        if type(data) is not bytes or type(text) is not str or len(text) > MAX_TEXT:
            raise CodecError("malformed value: a sealed value is bytes and a short text")
        return self.decode(data) if self._unseal else Sealed(data, text)


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
    if name not in RAISED:
        raise CodecError("malformed value: there is no such outcome")
    return RAISED[name](reason, message, entity_id)


_READERS: dict[Ext, Callable[[list[Any]], Any]] = {
    **FROM_LIST,
    Ext.TUPLE: tuple,
    Ext.SET: set,
    Ext.FROZENSET: frozenset,
    Ext.DESCRIBED: lambda items: Described(*_strings(items, 2)),
    Ext.TRUNCATED: _read_truncated,
    Ext.OUTCOME: _read_outcome,
}
