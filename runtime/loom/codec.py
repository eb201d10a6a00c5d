"""A record as bytes, and back: a plain mapping of its fields through the sandbox's codec.

The fields' annotations say what may stand in them; both ways check it, so that nothing is
written that couldn't be read again.
"""

from __future__ import annotations

import types
from collections.abc import Callable, Iterable
from dataclasses import MISSING, fields, is_dataclass
from typing import Any, Literal, Union, get_args, get_origin, get_type_hints

from ...sandbox import wire
from ...sandbox.errors import CodecError
from ..errors import LoomError
from .brief import Brief, brief_of, unknown_kind
from .records import KINDS, Record
from .store import Row, chain_of

_NAMES: dict[type, str] = {record: kind for kind, record in KINDS.items()}


def kind_of(record: Record) -> str:
    """The name of a record's kind.

    Raises:
        LoomError: It is no record.
    """
    try:
        return _NAMES[type(record)]
    except KeyError:
        raise LoomError(f"a loom holds records, not a {type(record).__name__}") from None


def encode(record: Record) -> bytes:
    """The record's bytes.

    Raises:
        LoomError: A field holds what it must not hold; the text names it.
    """
    return _encoded(record)[2]


def row_of(record: Record, n: int, at: str, before: bytes) -> Row:
    """The record as a store keeps it.

    Args:
        record: The record.
        n: Its ordinal.
        at: When, RFC 3339 in UTC.
        before: The chain of the record before; empty for the first.

    Raises:
        LoomError: A field holds what it must not hold; the text names it.
    """
    kind, brief, body = _encoded(record)
    return Row(n, at, kind, brief, body, chain_of(before, n, at, kind, body))


def _encoded(record: Record) -> tuple[str, Brief, bytes]:
    kind = kind_of(record)
    try:
        fields = _FORMS[kind].pack(record)
        return kind, brief_of(kind, fields), wire.dumps(fields)
    except (_Mismatch, CodecError) as error:
        raise LoomError(f"the {kind} record can't be written: {error}") from None


def decode(kind: str, body: bytes) -> Record:
    """The record that ``encode`` made these bytes of.

    Args:
        kind: Its kind's name.
        body: The bytes.

    Raises:
        LoomError: The kind is unknown, a field is missing, unknown or of the wrong type, or
            the bytes are damaged; the text names which.
    """
    return decode_with_brief(kind, body)[0]


def decode_with_brief(kind: str, body: bytes) -> tuple[Record, Brief]:
    """The record, and the brief that belongs to it.

    Raises:
        LoomError: As ``decode`` raises it.
    """
    if kind not in _FORMS:
        raise unknown_kind(kind)
    try:
        fields = wire.loads(body)
        record: Record = _FORMS[kind].unpack(fields)
    except (_Mismatch, CodecError) as error:
        raise LoomError(f"the {kind} record can't be read: {error}") from None
    return record, brief_of(kind, fields)


class _Mismatch(Exception):
    """A value is not what its place asks for."""

    def __init__(self, wrong: str, place: str = "it") -> None:
        super().__init__(f"{place} {wrong}")
        self._wrong = wrong
        self._place = place

    def within(self, name: str) -> _Mismatch:
        """The same, told from where the field of that name stands."""
        inner = "" if self._place == "it" else f".{self._place}"
        return _Mismatch(self._wrong, name + inner)


Convert = Callable[[Any], Any]
_SCALARS = frozenset({str, int, float, bool, bytes, type(None)})


class _Form:
    """How the values of one class with fields are packed into a mapping, and unpacked."""

    def __init__(self, kind: type) -> None:
        self._kind = kind
        hints = get_type_hints(kind)
        required = _required(kind)
        self._fields = [
            (name, name in required, _plain(hint), *_converters(hint))
            for name, hint in hints.items()
        ]
        self._known = frozenset(hints)

    def pack(self, value: Any) -> dict[str, Any]:
        if type(value) is not self._kind:
            raise _mismatch(self._kind.__name__, value)
        packed = {}
        for name, _, plain, pack, _ in self._fields:
            item = getattr(value, name)
            packed[name] = item if type(item) in plain else _convert(name, item, pack)
        return packed

    def unpack(self, packed: Any) -> Any:
        if type(packed) is not dict:
            raise _mismatch("a mapping", packed)
        values = {}
        for name, required, plain, _, unpack in self._fields:
            if name in packed:
                item = packed[name]
                values[name] = item if type(item) in plain else _convert(name, item, unpack)
            elif required:
                raise _Mismatch("is missing", name)
        if len(values) < len(packed):
            unknown = min(str(name) for name in packed if name not in self._known)
            raise _Mismatch("is unknown; a newer circlet may have written it", unknown)
        return self._kind(**values)


def _required(kind: type) -> set[str]:
    """Names of the fields that have no default."""
    if is_dataclass(kind):
        return {
            field.name
            for field in fields(kind)
            if field.default is MISSING and field.default_factory is MISSING
        }
    return {name for name in kind._fields if name not in kind._field_defaults}  # type: ignore[attr-defined]


def _plain(hint: Any) -> frozenset[type]:
    """The types whose values stand as they are under this annotation: a shortcut for most."""
    kinds = get_args(hint) if get_origin(hint) in (Union, types.UnionType) else (hint,)
    return frozenset(kinds) & _SCALARS


def _convert(name: str, value: Any, convert: Convert) -> Any:
    try:
        return convert(value)
    except _Mismatch as error:
        raise error.within(name) from None


def _converters(hint: Any) -> tuple[Convert, Convert]:
    """How a value with this annotation is packed, and how it is unpacked."""
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = next(item for item in arguments if item is not type(None))
        pack, unpack = _converters(inner)
        return _optional(pack), _optional(unpack)
    if origin is tuple:
        pack, unpack = _converters(arguments[0])
        return _each(pack, tuple, list), _each(unpack, list, tuple)
    if origin is dict:
        return _mapping, _mapping
    if origin is Literal:
        return _one_of(arguments), _one_of(arguments)
    if is_dataclass(hint) or hasattr(hint, "_fields"):
        form = _Form(hint)
        return form.pack, form.unpack
    return (_number, _number) if hint is float else (_exactly(hint), _exactly(hint))


def _optional(convert: Convert) -> Convert:
    return lambda value: None if value is None else convert(value)


def _each(convert: Convert, given: Any, made: Callable[[Iterable[Any]], Any]) -> Convert:
    def all_of(value: Any) -> Any:
        if type(value) is not given:
            raise _mismatch(given.__name__, value)
        return made(convert(item) for item in value)

    return all_of


def _one_of(choices: tuple[Any, ...]) -> Convert:
    def one(value: Any) -> Any:
        if value not in choices:
            raise _Mismatch(f"must be one of {', '.join(choices)}, not {value!r}")
        return value

    return one


def _exactly(kind: type) -> Convert:
    def exact(value: Any) -> Any:
        if type(value) is not kind:
            raise _mismatch(kind.__name__, value)
        return value

    return exact


def _mapping(value: Any) -> Any:
    if type(value) is not dict or not all(type(key) is str for key in value):
        raise _mismatch("dict with names as keys", value)
    return value


def _number(value: Any) -> float:
    if type(value) is int:
        return float(value)
    if type(value) is not float:
        raise _mismatch("float", value)
    return value


def _mismatch(wanted: str, value: Any) -> _Mismatch:
    return _Mismatch(f"must be {wanted}, not {type(value).__name__}")


_FORMS: dict[str, _Form] = {kind: _Form(record) for kind, record in KINDS.items()}
