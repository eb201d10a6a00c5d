"""Values as JSON: what JSON has stays itself, what it lacks is tagged with its type.

A tagged value is an object with one key that begins with ``$``, such as
``{"$decimal": "1.5"}``. Only a tuple and a set are not told from a list.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
from collections.abc import Callable, Iterable, Mapping
from decimal import Decimal
from fractions import Fraction
from typing import Any

from ..sandbox.outcomes import ChildFailed, GateInterrupted, Outcome, Truncated
from ..sandbox.preview import PREVIEW_CHARS, class_name, show
from ..sandbox.wire import Described

MAX_LEVELS = 100
"""How deep a value is written; what nests deeper is described."""
MAX_INT_BITS = 14_000
"""An int of more bits is tagged: Python refuses to read so many decimal digits back."""


def to_json(value: Any) -> Any:
    """A value as the ``json`` module can write it, strictly (no NaN).

    None, bool, int, float and str are themselves; lists, tuples and sets are lists, sets
    sorted where their items can be; a dict with string keys is an object. Everything else is
    tagged: ``$map`` (other keys: pairs), ``$float`` (not finite), ``$int`` (huge, in
    hexadecimal), ``$bytes`` (base64), ``$decimal``, ``$fraction``, ``$complex``,
    ``$datetime``, ``$date``, ``$time``, ``$timedelta`` (days, seconds, microseconds),
    ``$described``, ``$truncated``, ``$child_failed``, ``$gate_interrupted``. An object of any
    other class is ``$described`` too.

    What nests deeper than ``MAX_LEVELS`` is ``$described``, for readers of JSON have limits too.

    Args:
        value: Any value.
    """
    return _written(value, MAX_LEVELS)


def _written(value: Any, levels: int) -> Any:
    """``to_json`` with the number of levels that may still be written."""
    if value is None or isinstance(value, bool):
        return value
    for kind, write in _WRITERS:
        if isinstance(value, kind):
            return write(value)
    if levels > 0:
        for kind, write_all in _NESTED_WRITERS:
            if isinstance(value, kind):
                return write_all(value, levels - 1)
    return _described(Described(class_name(value), show(value, PREVIEW_CHARS)))


def _text(value: str) -> str:
    return str.__str__(value)


def _int(value: int) -> Any:
    if value.bit_length() > MAX_INT_BITS:
        return {"$int": hex(value)}
    return int(value)


def _float(value: float) -> Any:
    return float(value) if math.isfinite(value) else {"$float": repr(float(value))}


def _list(value: Iterable[Any], levels: int) -> list[Any]:
    return [_written(item, levels) for item in value]


def _set(value: Iterable[Any], levels: int) -> list[Any]:
    # Sorted as JSON, for a set of sets has no order of its own.
    items = _list(value, levels)
    try:
        return sorted(items)
    except TypeError:
        return sorted(items, key=json.dumps)


def _mapping(value: Mapping[Any, Any], levels: int) -> dict[str, Any]:
    if all(isinstance(key, str) and not key.startswith("$") for key in value):
        return {_text(key): _written(item, levels) for key, item in value.items()}
    return {"$map": [_list(pair, levels) for pair in value.items()]}


def _described(value: Described) -> dict[str, Any]:
    return {"$described": {"type": value.type, "text": value.text}}


def _truncated(value: Truncated, levels: int) -> dict[str, Any]:
    return {
        "$truncated": {
            "reason": value.reason,
            "partial": _written(value.partial, levels),
            "summary": value.summary,
        }
    }


def _outcome(value: Outcome) -> dict[str, Any]:
    return {"reason": value.reason, "message": value.message, "entity_id": value.entity_id}


# The first that fits is taken: a datetime is a date too.
_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any], Any]], ...] = (
    (str, _text),
    (int, _int),
    (float, _float),
    ((bytes, bytearray), lambda value: {"$bytes": base64.b64encode(value).decode("ascii")}),
    (Decimal, lambda value: {"$decimal": str(value)}),
    (Fraction, lambda value: {"$fraction": str(value)}),
    (complex, lambda value: {"$complex": [_float(value.real), _float(value.imag)]}),
    (dt.datetime, lambda value: {"$datetime": value.isoformat()}),
    (dt.date, lambda value: {"$date": value.isoformat()}),
    (dt.time, lambda value: {"$time": value.isoformat()}),
    (
        dt.timedelta,
        lambda value: {"$timedelta": [value.days, value.seconds, value.microseconds]},
    ),
    (Described, _described),
    (ChildFailed, lambda value: {"$child_failed": _outcome(value)}),
    (GateInterrupted, lambda value: {"$gate_interrupted": _outcome(value)}),
)
# Those of values with others in them, which are told how many levels they have left.
_NESTED_WRITERS: tuple[tuple[type | tuple[type, ...], Callable[[Any, int], Any]], ...] = (
    ((list, tuple), _list),
    ((set, frozenset), _set),
    (Mapping, _mapping),
    (Truncated, _truncated),
)
