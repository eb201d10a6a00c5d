"""Containers: a namedtuple's positional patterns, and the texts that hold others."""

from __future__ import annotations

import collections
from typing import Any

from .. import guards


def mend() -> dict[str, Any]:
    """``namedtuple`` is mended in place, for ``typing.NamedTuple`` makes its own with it.

    A ``UserString`` formats as texts do here, with the attributes that a program may read.
    """
    for name in ("format", "format_map"):
        method = _format_of_data(name)
        setattr(collections.UserString, name, method)
        guards.admit(method)
    make = collections.namedtuple

    def namedtuple(
        typename: str,
        field_names: Any,
        *,
        rename: bool = False,
        defaults: Any = None,
        module: str | None = None,
    ) -> Any:
        made = make(
            typename,
            field_names,
            rename=rename,
            defaults=defaults,
            module=module or "__main__",
        )
        return without_guarded_patterns(made)

    collections.namedtuple = namedtuple
    return {}


def _format_of_data(name: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> str:
        text: str = guards.attribute(str, name)(self.data, *args, **kwargs)
        return text

    return method


def without_guarded_patterns(made: Any) -> Any:
    """Cut a class's positional patterns before the first name that is only read by a guard.

    A pattern reads attributes without one, and of any object that passes for an instance.
    """
    names = vars(made).get("__match_args__", ())
    guarded = [place for place, name in enumerate(names) if guards.is_guarded(name)]
    if guarded:
        setattr(made, "__match_args__", names[: guarded[0]])  # noqa: B010 - typed as final
    return made
