"""The checks that run beside a program: what the source alone can't prove.

They rest on one fact. Before the first program runs, every class that exists is made
immutable (``freeze_classes``). From then on a class is the program's own exactly when it is
mutable, and nothing that the interpreter or the standard library relies on can be patched.
"""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
import builtins
import ctypes
import string
import sys
import types
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from typing import Any

from .deadline import Interrupt
from .policy import DYNAMIC, TURN, is_private, is_special, why_not_readable, why_not_writable

_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, CPython 3.10 and later
_MISSING = object()


def freeze_classes() -> int:
    """Make every class of this interpreter immutable; returns how many there are.

    CPython refuses to set an attribute of an immutable class, or to change an object's
    ``__class__`` from or to one. The flag has no public setter, so it is written in place.
    """
    seen: set[type] = set()
    waiting: list[type] = [object]
    while waiting:
        children: list[type] = type.__subclasses__(waiting.pop())
        for child in children:
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    for kind in seen:
        freeze(kind)
    return len(seen)


def freeze(kind: type) -> None:
    """Make one class immutable."""
    flags = ctypes.c_ulong.from_address(id(kind) + _flags_offset())
    flags.value |= _IMMUTABLE


@cache
def _flags_offset() -> int:
    """Where a class object keeps its flags: looked for, so that no layout is assumed."""
    word = ctypes.sizeof(ctypes.c_ulong)
    probes = (int, dict, types.FunctionType, BaseException)
    size: int = type.__basicsize__  # type: ignore[assignment]
    for offset in range(0, size, word):
        found = [ctypes.c_ulong.from_address(id(kind) + offset).value for kind in probes]
        if found == [kind.__flags__ for kind in probes]:
            return offset
    raise RuntimeError("this Python's class objects have no flags where they are looked for")


def is_own(kind: type) -> bool:
    """Whether a class came into being in the program: nothing else makes mutable ones."""
    return not kind.__flags__ & _IMMUTABLE


def is_metaclass(kind: Any) -> bool:
    """Whether calling ``kind`` would make a class."""
    return isinstance(kind, type) and issubclass(kind, type)


# -- attributes ------------------------------------------------------------------------------


def attribute(obj: Any, name: str) -> Any:
    """Read an attribute whose safety depends on the object.

    Raises:
        AttributeError: There is none, or the program may not read it.
    """
    if name == "__class__":
        return class_of(obj)
    if name in DYNAMIC:
        return _without_text_lookup(getattr(obj, name), name)
    if is_private(name):
        _check_private(obj, name)
    else:
        refusal = why_not_readable(name)
        if refusal:
            raise AttributeError(refusal)
    return getattr(obj, name)


def own(obj: Any, name: str) -> Any:
    """Give the object back if the program may write its private attribute ``name``.

    Raises:
        AttributeError: It may not.
    """
    _check_private(obj, name)
    return obj


_allowed: set[tuple[type, str]] = set()


def _check_private(obj: Any, name: str) -> None:
    """Private attributes are free on the program's own objects, unless a base defines them."""
    kind = obj if isinstance(obj, type) else type(obj)
    if (kind, name) in _allowed:
        return
    if kind is types.FunctionType or not is_own(kind) or is_inherited(kind, name):
        raise AttributeError(
            f'"{name}" of {kind.__name__!r} is private; only names that your own classes '
            "define may start with an underscore"
        )
    _allowed.add((kind, name))


def is_guarded(name: str) -> bool:
    """Whether an attribute of that name is read by a guard only, or never."""
    return is_private(name) or name in DYNAMIC or why_not_readable(name) is not None


def is_inherited(kind: type, name: str) -> bool:
    """Whether a class that is not the program's own gives ``kind`` that attribute."""
    return any(name in vars(base) for base in type.mro(kind) if not is_own(base))


def get_attribute(obj: Any, name: str, default: Any = _MISSING) -> Any:
    """``getattr``, under the policy's rules."""
    _check_text(name)
    try:
        return attribute(obj, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def has_attribute(obj: Any, name: str) -> bool:
    """``hasattr``, under the policy's rules."""
    _check_text(name)
    try:
        attribute(obj, name)
    except AttributeError:
        return False
    return True


def set_attribute(obj: Any, name: str, value: Any) -> None:
    """``setattr``, under the policy's rules."""
    _check_write(obj, name)
    setattr(obj, name, value)


def delete_attribute(obj: Any, name: str) -> None:
    """``delattr``, under the policy's rules."""
    _check_write(obj, name)
    delattr(obj, name)


def _check_text(name: Any) -> None:
    # A subclass of str could show one name to the check and another to the look-up.
    if type(name) is not str:
        raise TypeError(f"attribute name must be a string, not {type(name).__name__!r}")


def _check_write(obj: Any, name: str) -> None:
    _check_text(name)
    refusal = why_not_writable(name)
    if refusal:
        raise AttributeError(refusal)
    if is_private(name):
        own(obj, name)


def variables(obj: Any) -> dict[str, Any]:
    """``vars`` of the program's own objects, as a copy."""
    kind = obj if isinstance(obj, type) else type(obj)
    if not is_own(kind):
        raise TypeError(f"vars() works on objects of your own classes, not on {kind.__name__!r}")
    return {name: value for name, value in vars(obj).items() if not is_special(name)}


# -- format: a text that names attributes ----------------------------------------------------


class _Formatter(string.Formatter):
    """Reads the attributes that a format text names under the policy's rules."""

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        first, rest = _string.formatter_field_name_split(field_name)
        obj = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            obj = attribute(obj, key) if is_attribute else obj[key]
        return obj, first


_formatter = _Formatter()


def _format(text: str, /, *args: Any, **kwargs: Any) -> str:
    return _formatter.vformat(str.__str__(text), args, kwargs)


def _format_map(text: str, mapping: Mapping[str, Any], /) -> str:
    return _formatter.vformat(str.__str__(text), (), mapping)


_SAFE_FORMAT: dict[str, Callable[..., str]] = {"format": _format, "format_map": _format_map}


def _without_text_lookup(value: Any, name: str) -> Any:
    """The value, or its safe twin when it is a string's own formatting method."""
    if isinstance(value, types.BuiltinMethodType) and isinstance(value.__self__, str):
        return types.MethodType(_SAFE_FORMAT[name], value.__self__)
    if value is str.format or value is str.format_map:
        return _SAFE_FORMAT[name]
    function = value.__func__ if isinstance(value, types.MethodType) else value
    if isinstance(function, types.FunctionType) and not _is_harmless(function):
        raise AttributeError(f'"{name}" of that object is closed here; use str.format')
    return value


def _is_harmless(function: types.FunctionType) -> bool:
    """Whether a function by one of the dynamic names is the program's own, or ours."""
    return function.__code__.co_filename.startswith(TURN) or function in _SAFE_FORMAT.values()


# -- exceptions ------------------------------------------------------------------------------


def caught(kinds: Any) -> Any:
    """What an ``except`` clause catches: nothing, where the program is being interrupted."""
    return () if isinstance(sys.exception(), Interrupt) else kinds


# -- classes ---------------------------------------------------------------------------------


class _TypeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return is_metaclass(subclass)

    def __repr__(cls) -> str:
        return "<class 'type'>"


class Type(metaclass=_TypeMeta):
    """What a program finds under ``type``: it tells the class of an object, and makes none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes one object here; write a class statement to make a class")
        return class_of(args[0])


Type.__name__ = Type.__qualname__ = "type"


def class_of(obj: Any) -> Any:
    """The object's class; of a class, the ``type`` that makes none."""
    kind = type(obj)
    return Type if is_metaclass(kind) else kind


def build_class(function: Any, name: str, *bases: Any, **keywords: Any) -> Any:
    """Make the class of a class statement, if its bases allow it."""
    for base in bases:
        if not isinstance(base, type) and is_own(type(base)):
            # It could stand for one base here, and for another when the class is made.
            raise TypeError(f"a class can't inherit from an object of {type(base).__name__!r}")
    for base in types.resolve_bases(bases):  # typing.Type stands for type, for example
        if is_metaclass(base) or (isinstance(base, type) and _closed.intersection(base.__mro__)):
            raise TypeError(f"a class can't inherit from {base.__name__!r} here")
    return builtins.__build_class__(function, name, *bases, **keywords)


_closed: set[type] = {Type}


def close(*kinds: type) -> None:
    """Take classes, and what inherits from them, out of the reach of inheritance."""
    _closed.update(kinds)
