"""Dataclasses: field names are what they seem, and fields are read as attributes are."""

from __future__ import annotations

import dataclasses
import keyword
import operator
import reprlib
from collections.abc import Callable, Iterable, Mapping
from itertools import takewhile
from typing import Any

from .. import classes, guards
from ..names import CLASS_METHODS, is_guarded, is_private, is_special, why_not_readable
from .copies import deep

_FIELDS = "__dataclass_fields__"
_COMPARISONS: dict[str, Callable[[Any, Any], Any]] = {
    "__eq__": operator.eq,
    "__lt__": operator.lt,
    "__le__": operator.le,
    "__gt__": operator.gt,
    "__ge__": operator.ge,
}


def mend() -> dict[str, Any]:
    """No field can be renamed, and what reads fields by their names goes through the guards.

    A frozen dataclass's ``__init__`` writes past an object's ``__setattr__``, so the name of a
    field is a property of its class. The functions that are replaced in the module are those
    that it gives to the classes that it makes.
    """
    field: Any = dataclasses.Field
    field.name = _fixed_name(field.name)
    classes.close(field)
    for name, ours in {
        "_set_new_attribute": _with_open_match_args(dataclasses._set_new_attribute),  # type: ignore[attr-defined]
        "_replace": _replace,
        "_dataclass_getstate": _get_state,
    }.items():
        if hasattr(dataclasses, name):  # _replace is there from Python 3.13
            setattr(dataclasses, name, ours)
    return {
        "dataclasses.asdict": _asdict,
        "dataclasses.astuple": _astuple,
        "dataclasses.dataclass": _dataclass,
        "dataclasses.make_dataclass": _make_dataclass,
        "dataclasses.replace": _replace,
    }


def _with_open_match_args(write: Callable[..., Any]) -> Callable[..., Any]:
    """What sets an attribute of a class that becomes a dataclass.

    Patterns by position never read guarded names, and a class may become a dataclass after a
    pattern's names were looked at: what it is registered for is asked in between.
    """

    def set_new_attribute(cls: type, name: str, value: Any) -> Any:
        if name == "__match_args__":
            value = tuple(takewhile(lambda field: not is_guarded(field), value))
        return write(cls, name, value)

    return set_new_attribute


def _fixed_name(slot: Any) -> property:
    """The name of a field, which is given once, and checked."""

    def get(field: Any) -> Any:
        return slot.__get__(field)

    def give(field: Any, name: Any) -> None:
        had = getattr(field, "name", None)
        if had is not None and name != had:
            raise ValueError(f"a field() belongs to one name, and this one is {had!r}'s")
        if name is not None:
            _check_field_name(name)
        slot.__set__(field, name)

    return property(get, give)


def _check_field_name(name: Any) -> None:
    if type(name) is not str or not name.isidentifier() or why_not_readable(name):
        raise ValueError(f"{name!r} can't be the name of a field")


# -- making ----------------------------------------------------------------------------------


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """``dataclasses.dataclass`` for classes whose field names are what they seem.

    It writes source text out of them.
    """
    if cls is None:
        return lambda decorated: _dataclass(decorated, **options)
    if not isinstance(cls, type) or not classes.is_own(cls):
        raise TypeError("dataclass() takes a class that you have defined")
    for name in vars(cls).get("__annotations__", ()):
        _check_field_name(name)
        if is_guarded(name) and classes.is_inherited(cls, name):
            raise ValueError(f"{name!r} can't be the name of a field: a base class guards it")
    defined = frozenset(vars(cls))
    made: Any = dataclasses.dataclass(**options)(cls)
    if any(is_guarded(name) for name in getattr(made, _FIELDS)):
        _guard(made, defined)
    return made


def _guard(cls: Any, defined: frozenset[str]) -> None:
    """Put guards into the methods that ``dataclass`` wrote: they can be called on any object."""
    for name, compare in _COMPARISONS.items():
        if name in vars(cls) and name not in defined:
            setattr(cls, name, _comparison(cls, name, compare))
    if "__repr__" in vars(cls) and "__repr__" not in defined:
        setattr(cls, "__repr__", _representation(cls))  # noqa: B010 - mypy sees a method
    private = tuple(name for name in getattr(cls, _FIELDS) if is_private(name))
    if private and "__init__" in vars(cls) and "__init__" not in defined:
        setattr(cls, "__init__", _initialiser(cls, private))  # noqa: B010


def _comparison(cls: type, name: str, compare: Callable[[Any, Any], Any]) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.compare]

    def method(self: Any, other: Any) -> Any:
        if type(other) is not type(self):
            return NotImplemented
        return compare(_values(self, names), _values(other, names))

    return _as_method(cls, name, method)


def _representation(cls: type) -> Any:
    names = [field.name for field in dataclasses.fields(cls) if field.repr]

    def method(self: Any) -> str:
        pairs = zip(names, _values(self, names), strict=True)
        shown = ", ".join([f"{name}={value!r}" for name, value in pairs])
        return f"{type(self).__qualname__}({shown})"

    return _as_method(cls, "__repr__", reprlib.recursive_repr()(method))


def _initialiser(cls: Any, private: tuple[str, ...]) -> Any:
    write = cls.__init__

    def method(self: Any, /, *args: Any, **kwargs: Any) -> None:
        for name in private:
            guards.own(self, name)
        write(self, *args, **kwargs)

    method.__wrapped__ = write  # type: ignore[attr-defined]
    return _as_method(cls, "__init__", method)


def _as_method(cls: type, name: str, method: Any) -> Any:
    method.__name__, method.__qualname__ = name, f"{cls.__qualname__}.{name}"
    return method


def _values(obj: Any, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple([guards.attribute(obj, name) for name in names])


def _make_dataclass(
    cls_name: str,
    fields: Iterable[Any],
    *,
    bases: tuple[type, ...] = (),
    namespace: Mapping[str, Any] | None = None,
    module: str | None = None,  # noqa: ARG001 - the class is the program's, whatever is said here
    **options: Any,
) -> Any:
    """``dataclasses.make_dataclass``; a class statement's checks hold for bases and namespace."""
    annotations: dict[str, Any] = {}
    values = dict(namespace or {})
    for item in fields:
        name, kind, *default = (item, "typing.Any") if isinstance(item, str) else tuple(item)
        if type(name) is not str or not name.isidentifier():
            raise TypeError(f"Field names must be valid identifiers: {name!r}")
        if keyword.iskeyword(name):
            raise TypeError(f"Field names must not be keywords: {name!r}")
        if name in annotations:
            raise TypeError(f"Field name duplicated: {name!r}")
        annotations[name] = kind
        if default:
            values[name] = default[0]
    for name in values:
        if type(name) is not str or (is_special(name) and name not in CLASS_METHODS):
            raise ValueError(f"{name!r} can't stand in the namespace of a dataclass")
    made = classes.build_class(_no_body, cls_name, *bases)
    made.__module__ = "__main__"
    for name, value in values.items():
        setattr(made, name, value)
    made.__annotations__ = annotations
    return _dataclass(made, **options)


def _no_body() -> None:
    """The body of a class whose names are set once it is there."""


# -- reading ---------------------------------------------------------------------------------


def _fields_of(obj: Any, caller: str) -> list[Any]:
    """The fields of an object's class; the object itself could have others under that name."""
    if not hasattr(type(obj), _FIELDS):
        raise TypeError(f"{caller}() should be called on dataclass instances")
    fields: dict[str, Any] = getattr(type(obj), _FIELDS)
    return list(fields.values())


def _names(obj: Any, caller: str) -> list[str]:
    _fields_of(obj, caller)
    return [field.name for field in dataclasses.fields(type(obj))]


def _pairs(obj: Any, caller: str) -> list[tuple[str, Any]]:
    names = _names(obj, caller)
    return list(zip(names, _values(obj, names), strict=True))


def _asdict(obj: Any, *, dict_factory: Callable[[Any], Any] = dict) -> Any:
    """``dataclasses.asdict``."""

    def convert(record: Any) -> Any:
        return dict_factory(
            [(name, _copied(value, convert)) for name, value in _pairs(record, "asdict")]
        )

    return convert(obj)


def _astuple(obj: Any, *, tuple_factory: Callable[[Any], Any] = tuple) -> Any:
    """``dataclasses.astuple``."""

    def convert(record: Any) -> Any:
        return tuple_factory([_copied(value, convert) for _, value in _pairs(record, "astuple")])

    return convert(obj)


def _copied(value: Any, convert: Callable[[Any], Any]) -> Any:
    """A value with the dataclasses in its containers converted, and the rest copied."""
    kind = type(value)
    if hasattr(kind, _FIELDS):
        return convert(value)
    if isinstance(value, tuple) and hasattr(kind, "_fields"):
        return kind(*[_copied(one, convert) for one in value])
    if isinstance(value, list | tuple):
        return kind(_copied(one, convert) for one in value)
    if isinstance(value, dict):
        pairs = [(_copied(key, convert), _copied(one, convert)) for key, one in value.items()]
        if not hasattr(kind, "default_factory"):
            return kind(pairs)
        same: Any = kind(value.default_factory)  # type: ignore[attr-defined]
        for key, one in pairs:
            same[key] = one
        return same
    return deep(value)


def _replace(obj: Any, /, **changes: Any) -> Any:
    """``dataclasses.replace``."""
    for field in _fields_of(obj, "replace"):
        name, sort = field.name, field._field_type
        if sort is dataclasses._FIELD_CLASSVAR:  # type: ignore[attr-defined]
            continue
        if not field.init:
            if name in changes:
                raise ValueError(f"field {name} is declared with init=False, it can't be replaced")
        elif name not in changes:
            if sort is dataclasses._FIELD_INITVAR and field.default is dataclasses.MISSING:  # type: ignore[attr-defined]
                raise ValueError(f"InitVar {name!r} must be specified with replace()")
            changes[name] = guards.attribute(obj, name)
    return type(obj)(**changes)


def _get_state(obj: Any) -> list[Any]:
    return list(_values(obj, _names(obj, "copy")))
