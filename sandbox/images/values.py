"""Values of the library's in an image: each is made by what a program would make it with."""

from __future__ import annotations

import array
import collections
import collections.abc
import dataclasses
import datetime
import decimal
import fractions
import functools
import io
import ipaddress
import itertools
import operator
import pathlib
import random
import re
import statistics
import string
import time
import types
import typing
import uuid
import weakref
from collections.abc import Callable, Iterable
from typing import TYPE_CHECKING, Any
from zoneinfo import _zoneinfo  # type: ignore[attr-defined]

from .. import classes
from ..codec import Described
from ..facades.getters import attrgetter, methodcaller
from ..facades.logs import Logger, RootLogger, getLogger
from ..facades.paths import Path
from ..facades.structs import Struct
from ..outcomes import Truncated
from ..specials import Attributes
from .errors import Unfit
from .shapes import Parts, number, row, table, text

if TYPE_CHECKING:
    from .pickling import Plan
    from .unpickling import Loading

# -- what takes more than a call -----------------------------------------------------------------


def _bytes_stream(data: bytes, place: int) -> io.BytesIO:
    made = io.BytesIO(data)
    made.seek(place)
    return made


def _text_stream(text: str, place: int) -> io.StringIO:
    made = io.StringIO(text, newline="")
    made.seek(place)
    return made


def _stream_parts(stream: Any) -> Parts:
    if stream.closed:
        raise Unfit("a stream is closed; delete it")
    return stream.getvalue(), stream.tell()


def _generator(state: Any) -> random.Random:
    made = random.Random(0)
    made.setstate(state)
    return made


def _array_parts(values: Any) -> Parts:
    is_text = values.typecode in "uw"
    return values.typecode, values.tounicode() if is_text else values.tobytes()


_SIGNALS: dict[str, Any] = {kind.__name__: kind for kind in decimal.Context().flags}
_SETTINGS = ("prec", "rounding", "Emin", "Emax", "capitals", "clamp")


def _context(settings: Parts, flags: Parts, traps: Parts) -> decimal.Context:
    signals = ([_SIGNALS[name] for name in names] for names in (flags, traps))
    flagged, trapped = signals
    given: dict[str, Any] = dict(zip(_SETTINGS, settings, strict=True))
    return decimal.Context(**given, flags=flagged, traps=trapped)


def _context_parts(context: Any) -> Parts:
    settings = tuple([getattr(context, name) for name in _SETTINGS])
    on = [
        tuple([kind.__name__ for kind, is_on in signals.items() if is_on])
        for signals in (context.flags, context.traps)
    ]
    return settings, *on


def _reference(*target: Any) -> Any:
    """A weak reference; without a target, to what is gone."""
    return weakref.ref(*target) if target else weakref.ref(set())


def _reference_parts(reference: Any) -> Parts:
    target = reference()
    return () if target is None else (target,)


def _union(*members: Any) -> Any:
    return functools.reduce(operator.or_, members)


def _replaced(make: Any, data: Any) -> Any:
    made = make()
    made.data = data
    return made


_ZoneInfo: Any = _zoneinfo.ZoneInfo


def _zone_parts(zone: Any) -> Parts:
    if zone.key is None:
        raise Unfit("a time zone has no name; make it with ZoneInfo(name)")
    return (zone.key,)


_ITERABLE = (list, tuple, str, bytes, range)


_GONE_THROUGH: tuple[Any, ...] = (
    *([], (), "", "\xff", b"", set(), range(1), range(1 << 70)),
    *({}, {}.values(), {}.items()),
)
"""What has iterators of the interpreter's own, of one kind each."""


def _iterator(values: Any, place: int) -> Any:
    if type(values) not in _ITERABLE or type(place) is not int:
        raise ValueError("an iterator goes through something else")
    made: Any = iter(values)
    made.__setstate__(place)
    return made


def _iterator_parts(iterator: Any) -> Parts:
    values, *rest = iterator.__reduce__()[1:]
    (values,) = values
    if type(values) not in _ITERABLE:
        raise Unfit("an iterator goes through a list of your own class; keep the list itself")
    return (values, *(rest or [0]))


def _own_parts(iterator: Any) -> Parts:
    """What an iterator was made with, and has left."""
    kind, arguments, *rest = iterator.__reduce__()
    if kind is not type(iterator) or (rest and kind is not zip):
        raise Unfit(f"how far a {kind.__name__} has come can't be kept; keep a list")
    return tuple(arguments)


def _zip(strict: bool, *iterators: Any) -> Any:
    return zip(*iterators, strict=strict)


def _zip_parts(iterator: Any) -> Parts:
    return len(iterator.__reduce__()) > 2, *_own_parts(iterator)


def _variable(name: str, bound: Any, constraints: Parts, marks: dict[str, bool]) -> Any:
    return typing.TypeVar(text(name), *row(constraints), bound=bound, **table(marks))


_MARKS = ("covariant", "contravariant", "infer_variance")


def _variable_parts(made: Any) -> Parts:
    marks = {mark: True for mark in _MARKS if getattr(made, f"__{mark}__", False)}
    return made.__name__, made.__bound__, made.__constraints__, marks


# -- all of them ---------------------------------------------------------------------------------

_Row = tuple[type, Callable[..., Any], Callable[[Any], Iterable[Any]]]


def _as_text(x: Any) -> Parts:
    return (str(x),)


def _by_reduce(x: Any) -> Parts:
    return tuple(x.__reduce_ex__(4)[1])


def _attributes(*names: str) -> Callable[[Any], Parts]:
    return lambda x: tuple([getattr(x, name) for name in names])


def _alike(kinds: Iterable[Any], parts: Callable[[Any], Iterable[Any]]) -> list[_Row]:
    return [(kind, kind, parts) for kind in kinds]


_ROWS: list[_Row] = [
    (complex, complex, _attributes("real", "imag")),
    (range, range, _attributes("start", "stop", "step")),
    (slice, slice, _attributes("start", "stop", "step")),
    *_alike([decimal.Decimal, uuid.UUID, Path], _as_text),
    *_alike([pathlib.PurePath, pathlib.PurePosixPath, pathlib.PureWindowsPath], _as_text),
    *_alike([ipaddress.IPv4Address, ipaddress.IPv6Address], _as_text),
    *_alike([ipaddress.IPv4Network, ipaddress.IPv6Network], _as_text),
    *_alike([ipaddress.IPv4Interface, ipaddress.IPv6Interface], _as_text),
    (fractions.Fraction, fractions.Fraction, _attributes("numerator", "denominator")),
    *_alike([datetime.datetime, datetime.date, datetime.time, datetime.timedelta], _by_reduce),
    (datetime.timezone, datetime.timezone, _by_reduce),
    (decimal.Context, _context, _context_parts),
    (_ZoneInfo, _ZoneInfo, _zone_parts),
    (time.struct_time, time.struct_time, lambda x: (tuple(x),)),
    (re.Pattern, re.compile, lambda x: (x.pattern, x.flags & ~re.DEBUG)),
    (array.array, array.array, _array_parts),
    (io.BytesIO, _bytes_stream, _stream_parts),
    (io.StringIO, _text_stream, _stream_parts),
    (random.Random, _generator, lambda x: (x.getstate(),)),
    (random.SystemRandom, random.SystemRandom, lambda _: ()),
    (statistics.NormalDist, statistics.NormalDist, _attributes("mean", "stdev")),
    (string.Template, string.Template, _attributes("template")),
    (Struct, Struct, _attributes("format")),
    (types.MappingProxyType, types.MappingProxyType, lambda x: (dict(x),)),
    (Attributes, dict, lambda x: (dict(x),)),
    (collections.ChainMap, collections.ChainMap, lambda x: tuple(x.maps)),
    *[
        (kind, functools.partial(_replaced, kind), _attributes("data"))
        for kind in (collections.UserDict, collections.UserList)
    ],
    (collections.UserString, collections.UserString, _attributes("data")),
    (attrgetter, attrgetter, lambda x: [".".join(path) for path in x._paths]),
    (
        methodcaller,
        lambda name, args, given: methodcaller(name, *args, **given),
        lambda x: (x._name, x._args, x._kwargs),
    ),
    (operator.itemgetter, operator.itemgetter, _by_reduce),
    (weakref.ref, _reference, _reference_parts),
    (Logger, getLogger, _attributes("name")),
    (RootLogger, getLogger, lambda _: ()),
    (Truncated, Truncated, _attributes("reason", "partial", "summary")),
    (Described, Described, _attributes("type", "text")),
    # types
    (types.GenericAlias, types.GenericAlias, _attributes("__origin__", "__args__")),
    (types.UnionType, _union, lambda x: x.__args__),
    (typing.ForwardRef, str, _attributes("__forward_arg__")),
    (typing.TypeVar, _variable, _variable_parts),
    (typing.NewType, typing.NewType, _attributes("__name__", "__supertype__")),
    (dataclasses.InitVar, dataclasses.InitVar, _attributes("type")),
    # iterators
    *[(type(iter(values)), _iterator, _iterator_parts) for values in _GONE_THROUGH],
    *_alike([enumerate, map, filter, itertools.count, itertools.repeat], _own_parts),
    *_alike([itertools.starmap], _own_parts),
    (zip, _zip, _zip_parts),
]
_PLACES = {kind: place for place, (kind, *_) in enumerate(_ROWS)}


def take_value(_: Plan, x: Any) -> Parts:
    """A value whose class stands in the table."""
    place = _PLACES[type(x)]
    return make_value, (place, tuple(_ROWS[place][2](x)))


def make_value(_: Loading, place: int, arguments: Parts) -> Any:
    """The value."""
    return _ROWS[number(place)][1](*row(arguments))


def _take_alias(_: Plan, alias: Any) -> Parts:
    return make_alias, tuple(alias.__reduce__()[1])


def _take_callable(_: Plan, alias: Any) -> Parts:
    *arguments, result = alias.__args__
    given = ... if arguments == [...] else arguments
    return make_alias, (collections.abc.Callable, (given, result))


def make_alias(_: Loading, origin: Any, arguments: Any) -> Any:
    """A type with others in brackets."""
    return origin[arguments]


def _take_record(_: Plan, record: Any) -> Parts:
    return make_record, (type(record), tuple(record))


def make_record(_: Loading, kind: Any, values: Parts) -> Any:
    """A named tuple of the library's."""
    if not classes.is_class(kind) or not issubclass(kind, tuple):
        raise ValueError("a record is of no tuple's class")
    return kind(*row(values))


def taker_of(kind: type) -> Callable[[Any, Any], Parts] | None:
    """What takes the library's objects of a class apart, or None where nothing does."""
    if kind in _PLACES:
        return take_value
    if issubclass(kind, typing._BaseGenericAlias):  # type: ignore[attr-defined]
        return _take_alias
    if kind is type(collections.abc.Callable[[], None]):
        return _take_callable
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return _take_record
    return None


_GENERATED = "keep a list of what it gives, or make it anew from its function"
_INSTEAD: dict[type, str] = {
    types.GeneratorType: _GENERATED,
    types.AsyncGeneratorType: _GENERATED,
    types.CoroutineType: "await it first, or make it anew from its function",
    type({}.keys()): "keep a list of it",
    type({}.values()): "keep a list of it",
    type({}.items()): "keep a list of it",
    memoryview: "keep bytes(...) of it",
    re.Match: "keep its groups",
    super: "call super() where it is needed",
}
"""What to keep instead of what can't be kept."""


def unfit(x: Any) -> Unfit:
    """The error about an object that nothing takes apart."""
    kind = type(x)
    if kind.__module__.partition(".")[0] in ("numpy", "pandas"):
        instead = "keep .tolist() of it, or .to_dict()"
    else:
        instead = _INSTEAD.get(kind, "delete it, or keep what it was made from")
    return Unfit(f"objects of the class {kind.__name__} can't be kept; {instead}")


MAKERS = (make_value, make_alias, make_record)
