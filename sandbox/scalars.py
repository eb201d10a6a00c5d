"""Numbers and times that msgpack lacks, as bytes and back, each with its bounds.

A number that is small to write can be large to work with: ``Decimal("1E+999999")`` as an int
has a million digits, and two integers of 64 KiB take half a second to be brought to lowest terms.
"""

from __future__ import annotations

import datetime as dt
from collections.abc import Callable
from decimal import Decimal
from fractions import Fraction
from typing import Any

from .errors import CodecError
from .survey import Ext

MAX_INT_BYTES = 1 << 16
"""Largest integer that crosses, in bytes."""
MAX_EXPONENT = 150_000
"""Largest exponent of a Decimal, either way: as an int it would be as large as one that crosses."""
MAX_LABOUR = 1 << 36
"""Bits of a Fraction's parts, multiplied, and summed over the Fractions of one value: the time
that lowest terms take goes by it, a sixth of a second for this much."""

Pack = Callable[[Any], bytes]


def _write_int(item: int, _pack: Pack) -> tuple[Ext, bytes]:
    size = (item.bit_length() + 8) // 8
    if size > MAX_INT_BYTES:
        raise CodecError(f"an int of {size:,} bytes is too large: the limit is {MAX_INT_BYTES:,}")
    return Ext.INT, item.to_bytes(size, "big", signed=True)


def _read_int(content: bytes) -> int:
    if len(content) > MAX_INT_BYTES:
        raise CodecError(f"an int of {len(content):,} bytes; the limit is {MAX_INT_BYTES:,}")
    return int.from_bytes(content, "big", signed=True)


def _write_decimal(item: Decimal, _pack: Pack) -> tuple[Ext, bytes]:
    return Ext.DECIMAL, str(_checked_decimal(item)).encode("ascii")


def _read_decimal(content: bytes) -> Decimal:
    if len(content) > MAX_INT_BYTES:
        raise CodecError(f"a Decimal of {len(content):,} digits; the limit is {MAX_INT_BYTES:,}")
    return _checked_decimal(Decimal(content.decode("ascii")))


def _checked_decimal(item: Decimal) -> Decimal:
    exponent = item.as_tuple().exponent
    if isinstance(exponent, int):  # else it is infinite, or no number
        for power in (exponent, item.adjusted()):
            if abs(power) > MAX_EXPONENT:
                raise CodecError(
                    f"a Decimal with the exponent {power:,} is too large: the limit is "
                    f"{MAX_EXPONENT:,}"
                )
    return item


def labour_of(items: list[Any]) -> int:
    """What it costs to bring a Fraction's two parts to lowest terms.

    Raises:
        CodecError: They are none.
    """
    numerator, denominator = (int(item) for item in _of_type(items, int, 2))
    return numerator.bit_length() * denominator.bit_length()


def check_labour(labour: int) -> None:
    """Check what the Fractions of one value cost.

    Raises:
        CodecError: It is more than ``MAX_LABOUR``.
    """
    if labour > MAX_LABOUR:
        raise CodecError("a Fraction, or all of them together, has too many digits")


def _write_fraction(item: Fraction, pack: Pack) -> tuple[Ext, bytes]:
    parts = [item.numerator, item.denominator]
    check_labour(labour_of(parts))
    return Ext.FRACTION, pack(parts)


def _read_fraction(items: list[Any]) -> Fraction:
    numerator, denominator = items
    if denominator < 1:
        raise CodecError("malformed value: a Fraction is over a number from 1 on")
    return Fraction(numerator, denominator)


def _read_folded(kind: type[dt.datetime] | type[dt.time], items: list[Any]) -> Any:
    text, fold = items
    _of_type([text], str, 1)
    _of_type([fold], int, 1)
    return kind.fromisoformat(text).replace(fold=fold)


def _of_type(items: list[Any], kind: type, count: int) -> list[Any]:
    if len(items) != count or not all(type(item) is kind for item in items):
        raise CodecError(f"malformed value: {count} of type {kind.__name__} are wanted")
    return items


WRITERS: dict[type, Callable[[Any, Pack], tuple[Ext, bytes]]] = {
    int: _write_int,
    Decimal: _write_decimal,
    Fraction: _write_fraction,
    complex: lambda item, pack: (Ext.COMPLEX, pack([item.real, item.imag])),
    dt.datetime: lambda item, pack: (Ext.DATETIME, pack([item.isoformat(), item.fold])),
    dt.date: lambda item, _: (Ext.DATE, item.isoformat().encode("ascii")),
    dt.time: lambda item, pack: (Ext.TIME, pack([item.isoformat(), item.fold])),
    dt.timedelta: lambda item, pack: (
        Ext.TIMEDELTA,
        pack([item.days, item.seconds, item.microseconds]),
    ),
}
FROM_BYTES: dict[Ext, Callable[[bytes], Any]] = {
    Ext.INT: _read_int,
    Ext.DECIMAL: _read_decimal,
    Ext.DATE: lambda content: dt.date.fromisoformat(content.decode("ascii")),
}
FROM_LIST: dict[Ext, Callable[[list[Any]], Any]] = {
    Ext.FRACTION: _read_fraction,
    Ext.COMPLEX: lambda items: complex(*_of_type(items, float, 2)),
    Ext.DATETIME: lambda items: _read_folded(dt.datetime, items),
    Ext.TIME: lambda items: _read_folded(dt.time, items),
    Ext.TIMEDELTA: lambda items: dt.timedelta(*_of_type(items, int, 3)),
}
