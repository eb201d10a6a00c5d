"""The checks that run beside a program: what the source alone can't prove.

They ask whose an object is (``classes.py``): a program may look into what it has made itself.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable, Mapping
from typing import Any

from . import specials
from .classes import class_of, is_class, is_librarys, is_open, is_own, is_own_function
from .deadline import Interrupt
from .formats import Fields, reads_attributes
from .names import (
    DYNAMIC,
    NAMEDTUPLE,
    SETTABLE,
    WRITERS,
    is_guarded,
    is_private,
    why_not_readable,
    why_not_writable,
)
from .symbols import TURN

_MISSING = object()

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
    elif name in specials.READERS:
        return specials.READERS[name](obj)
    elif name in WRITERS:
        return _writer(obj, name)
    elif refusal := why_not_readable(name):
        raise AttributeError(refusal)
    return getattr(obj, name)


def own(obj: Any, name: str) -> Any:
    """Give the object back if the program may write its private or special attribute ``name``.

    Raises:
        AttributeError: It may not.
    """
    if name not in SETTABLE:
        _check_private(obj, name)
    elif not specials.is_writable(obj, name):
        raise AttributeError(f'"{name}" can be set on your own functions and classes only')
    return obj


_allowed: set[tuple[type, bool, str]] = set()


def _check_private(obj: Any, name: str) -> None:
    """Private attributes are free on the program's own objects, unless the library defines them.

    Those of a class may also come from its metaclass, which is always the library's.
    """
    is_a_class = is_class(obj)
    if type(obj) is super:
        kind: Any = obj.__self_class__  # type: ignore[attr-defined]
    else:
        kind = obj if is_a_class else type(obj)
    if (kind, is_a_class, name) in _allowed or is_own_function(obj):
        return
    if name in NAMEDTUPLE and issubclass(kind, tuple):
        return
    if (
        not is_open(kind)
        or is_librarys(kind, name)
        or (is_a_class and is_librarys(type(kind), name))
    ):
        raise AttributeError(
            f'"{name}" of {kind.__name__!r} is private; only names that your own classes '
            "define may start with an underscore"
        )
    _allowed.add((kind, is_a_class, name))


def get_attribute(obj: Any, name: str, default: Any = _MISSING, /) -> Any:
    """``getattr``, under the policy's rules."""
    _check_text(name)
    try:
        return attribute(obj, name)
    except AttributeError:
        if default is _MISSING:
            raise
        return default


def has_attribute(obj: Any, name: str, /) -> bool:
    """``hasattr``, under the policy's rules."""
    _check_text(name)
    try:
        attribute(obj, name)
    except AttributeError:
        return False
    return True


def set_attribute(obj: Any, name: str, value: Any, /) -> None:
    """``setattr``, under the policy's rules."""
    _check_write(obj, name)
    setattr(obj, name, value)


def delete_attribute(obj: Any, name: str, /) -> None:
    """``delattr``, under the policy's rules."""
    _check_write(obj, name)
    delattr(obj, name)


def _check_text(name: Any) -> None:
    # A subclass of str could show one name to the check and another to the look-up.
    if type(name) is not str:
        raise TypeError(f"attribute name must be string, not {type(name).__name__!r}")


def _check_write(obj: Any, name: str) -> None:
    _check_text(name)
    refusal = why_not_writable(name)
    if refusal:
        raise AttributeError(refusal)
    if is_private(name) or name in SETTABLE:
        own(obj, name)


def _writer(obj: Any, name: str) -> Callable[..., None]:
    """``__setattr__`` or ``__delattr__`` of an object, a class or ``super()``.

    A class's own goes past what the object's class has for that, so it is for the program's own
    objects only.
    """
    write = getattr(obj, name)
    if is_class(obj):

        def unbound(target: Any, attribute: str, /, *value: Any) -> None:
            _check_bare_write(target, attribute)
            write(target, attribute, *value)

        return unbound

    def bound(attribute: str, /, *value: Any) -> None:
        if type(obj) is super:
            _check_bare_write(obj.__self__, attribute)  # type: ignore[attr-defined]
        else:
            _check_write(obj, attribute)
        write(attribute, *value)

    return bound


def _check_bare_write(target: Any, name: str) -> None:
    _check_write(target, name)
    if is_class(target) or not is_own(type(target)):
        raise AttributeError(f"{name!r} can be set this way on objects of your own classes only")


def variables(obj: Any) -> Any:
    """``vars``, under the policy's rules.

    Raises:
        TypeError: The object is none of the program's own, or has no attributes of its own.
    """
    try:
        return specials.READERS["__dict__"](obj)
    except AttributeError:
        kind = obj.__name__ if is_class(obj) else type(obj).__name__
        message = (
            f"vars() works on objects of your own classes, not on {kind!r}; "
            "dir() gives names, and getattr() what they stand for"
        )
        raise TypeError(message) from None


# -- format: a text that names attributes ----------------------------------------------------


def _format(text: str, /, *args: Any, **kwargs: Any) -> str:
    text = str.__str__(text)
    if reads_attributes(text):
        return Fields(attribute, args, kwargs).fill(text)
    return text.format(*args, **kwargs)


def _format_map(text: str, mapping: Mapping[str, Any], /) -> str:
    text = str.__str__(text)
    if reads_attributes(text):
        return Fields(attribute, None, mapping).fill(text)
    return text.format_map(mapping)


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


_admitted: set[Callable[..., Any]] = set(_SAFE_FORMAT.values())


def admit(*functions: Callable[..., Any]) -> None:
    """Open functions that have one of the dynamic names and read no attribute unchecked."""
    _admitted.update(functions)


def _is_harmless(function: types.FunctionType) -> bool:
    """Whether a function by one of the dynamic names is the program's own, or an admitted one."""
    return function.__code__.co_filename.startswith(TURN) or function in _admitted


# -- patterns --------------------------------------------------------------------------------


def patterns(kind: Any, count: int) -> Any:
    """The class, if ``count`` positional patterns of it read names that need no guard.

    Raises:
        TypeError: They would read another one.
    """
    names = _match_args(kind) if is_class(kind) else ()
    for name in names[:count]:
        if type(name) is str and is_guarded(name):
            raise TypeError(
                f"{kind.__name__} can't be matched by position: its __match_args__ name {name!r}, "
                "which patterns may not read"
            )
    return kind


def _match_args(kind: type) -> tuple[Any, ...]:
    """What the interpreter will find when it reads a class's ``__match_args__`` after this.

    Raises:
        TypeError: It is no plain tuple. Another object could be made to compute it by then.
    """
    for base in type.mro(kind):
        names = vars(base).get("__match_args__", ())
        if type(names) is not tuple:
            got = type(names).__name__
            raise TypeError(f"{kind.__name__}.__match_args__ must be a tuple (got {got})")
        if "__match_args__" in vars(base):
            return names
    return ()


# -- exceptions ------------------------------------------------------------------------------


def caught(kinds: Any) -> Any:
    """What an ``except`` clause catches: nothing, where the program is being interrupted."""
    return () if isinstance(sys.exception(), Interrupt) else kinds
