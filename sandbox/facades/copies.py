"""Copies: of what has public parts only, so that a copy shows nothing that its original hides.

The standard library's take an object apart by the names that its class says it has, and hand
what they find to whoever has a ``__deepcopy__``. These look at what the class really has, and
leave alone what is not made of a program's own values.
"""

from __future__ import annotations

import ast
import collections
import copy
import copyreg
import datetime
import decimal
import enum
import fractions
import functools
import io
import ipaddress
import pathlib
import random
import statistics
import string
import types
import uuid
import weakref
from collections.abc import Callable, Iterator
from typing import Any

from .. import classes
from ..names import is_special
from ..specials import Attributes
from ..stub import GateStub
from .getters import attrgetter, methodcaller
from .namespaces import SimpleNamespace

_Memo = dict[int, Any]

_WHOLE: frozenset[type] = frozenset(
    {
        *(bool, bytes, complex, float, int, property, range, slice, str, weakref.ref),
        *(types.BuiltinFunctionType, types.EllipsisType, types.FunctionType, types.NoneType),
        *(types.GenericAlias, types.NotImplementedType, types.UnionType),
        *(attrgetter, methodcaller, datetime.timezone),
    }
)
"""Classes whose instances are their own copies."""
_WHOLE_FAMILIES: frozenset[type] = frozenset({enum.Enum, GateStub, type})
"""Classes of which that is true of every subclass as well."""
_OPEN: set[type] = {
    *(BaseException, ast.AST, functools.partial, pathlib.PurePath, random.Random, uuid.UUID),
    *(collections.ChainMap, collections.OrderedDict, collections.UserDict),
    *(collections.UserList, collections.UserString, collections.deque),
    *(bytearray, dict, frozenset, list, set, tuple, SimpleNamespace, string.Template),
    *(datetime.date, datetime.time, datetime.timedelta, datetime.tzinfo),
    *(decimal.Decimal, decimal.Context, fractions.Fraction, statistics.NormalDist),
    *(io.BytesIO, io.StringIO, ipaddress.IPv4Address, ipaddress.IPv6Address),
    *(ipaddress.IPv4Network, ipaddress.IPv6Network),
    *(type(iter([])), type(iter(())), type(iter(range(0)))),
}
"""Classes of the standard library whose instances, and those of its subclasses, hold public values
alone and can be copied part by part."""


def mend() -> dict[str, Any]:
    """``copy`` is mended in place: ``dataclasses`` and the containers copy through it."""
    copyreg._slotnames = _slot_names  # type: ignore[attr-defined]
    copy.copy = shallow
    copy.deepcopy = deep  # type: ignore[assignment]
    return {}


def allow_copies(*kinds: type) -> None:
    """Have instances of further classes, and of their subclasses, be copied part by part."""
    _OPEN.update(kinds)


def shallow(x: Any) -> Any:
    """Copy an object; what it holds is shared with the copy.

    Raises:
        TypeError: Objects of its class can't be copied.
    """
    kind = type(x)
    if _is_whole(kind) or kind in (tuple, frozenset, types.MethodType):
        return x
    if kind in (Attributes, bytearray, dict, list, set):
        return kind.copy(x)
    hook = getattr(kind, "__copy__", None)
    return hook(x) if hook else _rebuild(x, None)


def deep(x: Any, memo: Any = None) -> Any:
    """Copy an object and all that it holds.

    Args:
        x: The object.
        memo: Copies by the ``id`` of their originals, from the call that this one is part of.

    Raises:
        TypeError: Objects of a class can't be copied.
    """
    kind = type(x)
    if _is_whole(kind):
        return x
    if memo is None:
        memo = {}
    made = memo.get(id(x), memo)
    if made is not memo:
        return made
    if kind in _DEEP:
        made = _DEEP[kind](x, memo)
    elif hook := getattr(kind, "__deepcopy__", None):
        made = hook(x, memo)
    else:
        made = _rebuild(x, memo)
    if made is not x:
        memo[id(x)] = made
        _keep(x, memo)
    return made


class _Originals:
    """Stands in a memo for the originals of its copies, which the memo's holder doesn't get."""

    __slots__ = ("__weakref__",)


_originals: weakref.WeakKeyDictionary[_Originals, list[Any]] = weakref.WeakKeyDictionary()


def _keep(x: Any, memo: _Memo) -> None:
    """Keep an original as long as its memo: while it lives, no other object has its ``id``."""
    token = memo.get(id(memo))
    if not isinstance(token, _Originals):
        token = memo[id(memo)] = _Originals()
    _originals.setdefault(token, []).append(x)


deep.__name__ = deep.__qualname__ = "deepcopy"
shallow.__name__ = shallow.__qualname__ = "copy"


def _is_whole(kind: type) -> bool:
    return (
        kind in _WHOLE
        or not _WHOLE_FAMILIES.isdisjoint(kind.__mro__)
        or (kind.__module__ == "typing" and not classes.is_own(kind))
    )


def _deep_list(x: list[Any], memo: _Memo) -> list[Any]:
    made: list[Any] = []
    memo[id(x)] = made
    made.extend(deep(item, memo) for item in x)
    return made


def _deep_dict(x: dict[Any, Any], memo: _Memo) -> dict[Any, Any]:
    made: dict[Any, Any] = {}
    memo[id(x)] = made
    for key, value in x.items():
        made[deep(key, memo)] = deep(value, memo)
    return made


def _deep_tuple(x: tuple[Any, ...], memo: _Memo) -> tuple[Any, ...]:
    items = [deep(item, memo) for item in x]
    if id(x) in memo:  # it holds itself, by way of something that can
        again: tuple[Any, ...] = memo[id(x)]
        return again
    return tuple(items) if any(a is not b for a, b in zip(x, items, strict=True)) else x


def _deep_method(x: types.MethodType, memo: _Memo) -> types.MethodType:
    if not classes.is_own(type(x.__self__)):
        return x  # the library's own objects are nobody's to see
    return types.MethodType(x.__func__, deep(x.__self__, memo))


_DEEP: dict[type, Callable[[Any, _Memo], Any]] = {
    list: _deep_list,
    dict: _deep_dict,
    Attributes: _deep_dict,
    tuple: _deep_tuple,
    types.MethodType: _deep_method,
    bytearray: lambda x, _: x.copy(),
}


# -- objects, part by part -------------------------------------------------------------------


def _rebuild(x: Any, memo: _Memo | None) -> Any:
    """Make an object anew out of what its class says it is made of."""
    kind = type(x)
    if not classes.is_own(kind) and _OPEN.isdisjoint(kind.__mro__):
        raise TypeError(f"cannot pickle {kind.__name__!r} object")

    def part(value: Any) -> Any:
        return value if memo is None else deep(value, memo)

    # Looked up on the class: an object's own variables could say anything.
    parts: Any = getattr(kind, "__reduce_ex__")(x, 4)  # noqa: B009 - typed as a bound method
    if isinstance(parts, str):
        return x
    make, arguments, state, items, pairs = (*parts, None, None, None)[:5]
    made = make(*[part(argument) for argument in arguments])
    if memo is not None:
        memo[id(x)] = made
    if state is not None:
        if type(made) is not kind:
            raise TypeError(f"{kind.__name__!r} can't be copied: its __new__ gave another object")
        _set_state(made, *(_copied(each, part) for each in _states(state)))
    for item in items or ():
        made.append(part(item))
    for key, value in pairs or ():
        made[part(key)] = part(value)
    return made


def _states(state: Any) -> tuple[Any, Any]:
    """An object's variables, and what its slots hold."""
    return state if isinstance(state, tuple) and len(state) == 2 else (state, None)


def _copied(state: Any, part: Callable[[Any], Any]) -> Any:
    """A state with its values copied. No memo gets to see the dictionary that an object has."""
    if type(state) is not dict:
        return part(state)
    return {name: part(value) for name, value in state.items()}


def _set_state(made: Any, variables: Any, slots: Any) -> None:
    setter = getattr(type(made), "__setstate__", None)
    if setter:
        setter(made, variables if slots is None else (variables, slots))
        return
    for name, value in (variables or {}).items():
        if type(name) is str and not is_special(name):
            vars(made)[name] = value
    for name, value in (slots or {}).items():
        if name in _slot_names(type(made)):
            setattr(made, name, value)


def _slot_names(kind: type) -> list[str]:
    """The slots that a class really has, whatever its ``__slots__`` says by now."""
    return list(_slots(kind))


def _slots(kind: type) -> Iterator[str]:
    found: dict[str, Any] = {}
    for base in kind.__mro__:
        for name, value in vars(base).items():
            is_first = found.setdefault(name, value) is value
            if is_first and "__slots__" in vars(base) and type(value) is types.MemberDescriptorType:
                yield name
