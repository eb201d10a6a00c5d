"""Dataclasses: field names are what they seem."""

from __future__ import annotations

import dataclasses
from typing import Any

from .. import guards
from ..policy import is_special
from .containers import without_guarded_patterns


def mend() -> dict[str, Any]:
    """A field can't be renamed to a special name: ``asdict`` reads attributes by field names."""

    def set_attribute(field: dataclasses.Field[Any], name: str, value: Any) -> None:
        if name == "name" and value is not None:
            _check_field_name(value)
        object.__setattr__(field, name, value)

    dataclasses.Field.__setattr__ = set_attribute  # type: ignore[method-assign,assignment]
    return {"dataclasses.dataclass": _dataclass}


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """``dataclasses.dataclass`` for classes whose field names are what they seem.

    It writes source text out of them, and makes them the names that positional patterns read.
    """
    if cls is None:
        return lambda decorated: _dataclass(decorated, **options)
    if not isinstance(cls, type) or not guards.is_own(cls):
        raise TypeError("dataclass() takes a class that you have defined")
    for base in cls.__mro__:
        for name, field in vars(base).get("__dataclass_fields__", {}).items():
            _check_field_name(name)
            _check_field_name(field.name)
    for name in vars(cls).get("__annotations__", ()):
        _check_field_name(name)
        if guards.is_guarded(name) and guards.is_inherited(cls, name):
            raise ValueError(f"{name!r} can't be the name of a field: a base class guards it")
    return without_guarded_patterns(dataclasses.dataclass(**options)(cls))


def _check_field_name(name: Any) -> None:
    if type(name) is not str or not name.isidentifier() or is_special(name):
        raise ValueError(f"{name!r} can't be the name of a field")
