"""Library methods that ask their first argument for its class take instances only.

``Counter.copy(int)`` would give ``type``, and ``ChainMap.new_child(a_class, "X")`` would call
it: a class made of any names, with no class statement. A method can be called with anything as
its first argument, so every method of the library's own Python classes that looks at a class
is made to refuse one there. This is done once, before classes are frozen.
"""

from __future__ import annotations

import functools
import sys
import types
from collections.abc import Callable, Iterable
from typing import Any

from .classes import is_class

_LOOKS = {"__class__", "type"}
_LEFT = ("__new__", "__repr__")  # a text is all that ``__repr__`` makes, and ``pprint`` knows it


def take_instances_only(kinds: Iterable[type]) -> int:
    """Guard the methods of these classes; returns how many were.

    Metaclasses are left alone, for their instances are classes; no program holds one.
    """
    return sum(_guard(kind) for kind in kinds if not issubclass(kind, type) and _is_standard(kind))


def _is_standard(kind: type) -> bool:
    return str(kind.__module__).partition(".")[0] in sys.stdlib_module_names


def _guard(kind: type) -> int:
    guarded = 0
    for name, value in list(vars(kind).items()):
        replaced = None if name in _LEFT else _replaced(value)
        if replaced is not None:
            setattr(kind, name, replaced)
            guarded += 1
    return guarded


def _replaced(value: Any) -> Any:
    """What stands in for a method or a property; None where it can stay."""
    if type(value) is functools.cached_property:
        # One can be told what to compute and where to keep it, by whoever gets hold of it.
        return property(value.func)
    if isinstance(value, types.FunctionType) and _LOOKS.intersection(value.__code__.co_names):
        return _checked(value)
    if type(value) is property:
        get, set_, delete = (
            part and _replaced(part) for part in (value.fget, value.fset, value.fdel)
        )
        if get or set_ or delete:
            return property(get or value.fget, set_ or value.fset, delete or value.fdel)
    return None


def _checked(method: Callable[..., Any]) -> Callable[..., Any]:
    name = method.__name__

    @functools.wraps(method)
    def checked(self: Any, /, *args: Any, **kwargs: Any) -> Any:
        if is_class(self):
            raise TypeError(f"{name}() is a method of instances, and {self.__name__} is a class")
        return method(self, *args, **kwargs)

    return checked
