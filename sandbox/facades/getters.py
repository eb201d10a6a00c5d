"""Getters: functions made of names, which read under the policy's rules."""

from __future__ import annotations

from functools import reduce
from typing import Any, Self

from .. import guards


def mend() -> dict[str, Any]:
    """``attrgetter`` and ``methodcaller`` read any attribute by its name."""
    return {"operator.attrgetter": attrgetter, "operator.methodcaller": methodcaller}


class attrgetter:  # noqa: N801 - the standard library's name
    """Gives the attributes of an object by their names; with dots, those of attributes.

    Args:
        attr: A name.
        attrs: Further names: the call then gives a tuple.

    Raises:
        TypeError: A name is no string.
    """

    __slots__ = ("_paths",)
    _paths: tuple[tuple[str, ...], ...]

    def __new__(cls, attr: str, /, *attrs: str) -> Self:  # noqa: D102
        for name in (attr, *attrs):
            if type(name) is not str:
                raise TypeError("attribute name must be a string")
        made = super().__new__(cls)  # an __init__ could be called with another object
        made._paths = tuple(tuple(name.split(".")) for name in (attr, *attrs))
        return made

    def __call__(self, obj: Any, /) -> Any:
        """The attributes of an object.

        Raises:
            AttributeError: There is none of a name, or the program may not read it.
        """
        found = [reduce(guards.get_attribute, path, obj) for path in self._paths]
        return found[0] if len(found) == 1 else tuple(found)

    def __repr__(self) -> str:
        names = ", ".join(repr(".".join(path)) for path in self._paths)
        return f"operator.attrgetter({names})"


class methodcaller:  # noqa: N801 - the standard library's name
    """Calls a method of an object by its name.

    Args:
        name: The method's name.
        args: What it is called with.
        kwargs: What it is called with by keyword.

    Raises:
        TypeError: The name is no string.
    """

    __slots__ = ("_args", "_kwargs", "_name")
    _name: str
    _args: tuple[Any, ...]
    _kwargs: dict[str, Any]

    def __new__(cls, name: str, /, *args: Any, **kwargs: Any) -> Self:  # noqa: D102
        if type(name) is not str:
            raise TypeError("method name must be a string")
        made = super().__new__(cls)
        made._name, made._args, made._kwargs = name, args, kwargs
        return made

    def __call__(self, obj: Any, /) -> Any:
        """What the object's method gives.

        Raises:
            AttributeError: There is no such method, or the program may not read it.
        """
        return guards.get_attribute(obj, self._name)(*self._args, **self._kwargs)

    def __repr__(self) -> str:
        arguments = [repr(argument) for argument in (self._name, *self._args)]
        arguments += [f"{name}={value!r}" for name, value in self._kwargs.items()]
        return f"operator.methodcaller({', '.join(arguments)})"
