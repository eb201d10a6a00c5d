"""Enums: the functional form checks its names, and properties keep theirs."""

from __future__ import annotations

import enum
import types
from typing import Any

from .. import classes
from ..names import is_guarded, is_special
from .kinds import stand_in

_MIXED_IN = (int, str, float, complex, bytes, tuple, frozenset)
"""Builtin types that members can be of; the others are the program's own classes."""


def mend() -> dict[str, Any]:
    """``Enum("Colour", names)`` checks the names, and the type of the members.

    A property of the library's own reads an attribute of the member's value by the property's
    name, so that is given once. And ``__members__`` is a copy: what compares itself with a view
    is shown the dictionary behind it.
    """
    create = enum.EnumMeta._create_  # type: ignore[attr-defined]

    def checked(cls: Any, class_name: str, names: Any, **options: Any) -> Any:
        if type(names) is str:
            names = names.replace(",", " ").split()
        elif isinstance(names, dict):
            names = dict.items(names)
        # Each item is read once, for an object could show another name the next time.
        members = [item if type(item) is str else tuple(item) for item in names or ()]
        for member in members:
            name = member if type(member) is str else member[0]
            if type(name) is not str or is_special(name):
                raise ValueError(f"{name!r} can't be the name of a member")
        _check_mixed_in(options.get("type"))
        options["module"] = "__main__"  # it would be looked for among the callers
        return create(cls, class_name, members, **options)

    enum.EnumMeta._create_ = checked  # type: ignore[attr-defined]
    enum.EnumMeta.__members__ = property(_members)  # type: ignore[assignment,method-assign]
    enum.property.name = _FixedName()  # type: ignore[assignment]
    kind = stand_in(enum.EnumMeta)
    return {"enum.EnumMeta": kind, "enum.EnumType": kind}


def _members(cls: Any) -> types.MappingProxyType[str, Any]:
    return types.MappingProxyType(dict(cls._member_map_))


def _check_mixed_in(kind: Any) -> None:
    """Functional enums go past the guard of class statements, which looks at the bases."""
    known = kind is None or any(kind is one for one in _MIXED_IN)
    if not known and not (isinstance(kind, type) and classes.is_own(kind)):
        raise TypeError(f"the members of an enum can't be of type {kind!r} here")


class _FixedName:
    """The name of an ``enum.property``, which is given once."""

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        try:
            return vars(instance)["name"]
        except KeyError:
            raise AttributeError("this property has no name yet") from None

    def __set__(self, instance: Any, name: Any) -> None:
        if type(name) is not str or is_guarded(name):
            raise AttributeError(f"an enum's property can't have the name {name!r}")
        had = vars(instance).setdefault("name", name)
        if had != name:
            raise AttributeError(f"the property's name is {had!r}, and can't be another")
