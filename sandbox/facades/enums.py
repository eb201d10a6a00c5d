"""Enums: the functional form takes no special names."""

from __future__ import annotations

import enum
from typing import Any

from ..policy import is_special


def mend() -> dict[str, Any]:
    """``Enum("Colour", names)`` checks the names."""
    create = enum.EnumMeta._create_  # type: ignore[attr-defined]

    def checked(cls: Any, class_name: str, names: Any, **options: Any) -> Any:
        if type(names) is str:
            names = names.replace(",", " ").split()
        elif isinstance(names, dict):
            names = dict.items(names)
        # Each item is read once, for an object could show another name the next time.
        members = [item if type(item) is str else tuple(item) for item in names]
        for member in members:
            name = member if type(member) is str else member[0]
            if type(name) is not str or is_special(name):
                raise ValueError(f"{name!r} can't be the name of a member")
        return create(cls, class_name, members, **options)

    enum.EnumMeta._create_ = checked  # type: ignore[attr-defined]
    return {}
