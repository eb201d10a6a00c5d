"""Special attributes that are harmless on the program's own objects, and on few others."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Mapping
from typing import Any

from .classes import is_class, is_librarys, is_open, is_own, is_own_function
from .names import CLASS_METHODS, is_special


class Attributes(dict[str, Any]):
    """``__dict__`` of a program's object: a copy, and what is written to it is written through."""

    __slots__ = ("_object",)

    def __init__(self, obj: Any) -> None:
        super().__init__(_visible(_instance_dict(obj)))
        self._object = obj

    def __setitem__(self, name: str, value: Any) -> None:
        _check(self._object, name)
        _instance_dict(self._object)[name] = value
        super().__setitem__(name, value)

    def __delitem__(self, name: str) -> None:
        _check(self._object, name)
        del _instance_dict(self._object)[name]
        super().pop(name, None)

    def update(self, *args: Any, **kwargs: Any) -> None:
        """As ``dict.update``."""
        for name, value in dict(*args, **kwargs).items():
            self[name] = value

    def __ior__(self, other: Any) -> Attributes:  # type: ignore[override,misc]
        self.update(other)
        return self

    def setdefault(self, name: str, default: Any = None) -> Any:
        """As ``dict.setdefault``."""
        if name not in self:
            self[name] = default
        return self[name]

    def pop(self, name: str, *default: Any) -> Any:
        """As ``dict.pop``."""
        if name not in self and default:
            return default[0]
        value = self[name]
        del self[name]
        return value

    def popitem(self) -> tuple[str, Any]:
        """As ``dict.popitem``."""
        if not self:
            raise KeyError("popitem(): dictionary is empty")
        name = next(reversed(self))
        return name, self.pop(name)

    def clear(self) -> None:
        """As ``dict.clear``."""
        for name in list(self):
            del self[name]


Attributes.__name__ = Attributes.__qualname__ = "dict"


def _visible(names: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in names.items() if not is_special(name)}


def _instance_dict(obj: Any) -> dict[str, Any]:
    """The dictionary of an object of the program's own class; whose it is, is looked at each time.

    Raises:
        AttributeError: It is another's, or has none.
    """
    if not is_own_function(obj) and (is_class(obj) or not is_open(type(obj))):
        _refuse(obj, "__dict__")
    names: dict[str, Any] = object.__getattribute__(obj, "__dict__")
    return names


def _check(obj: Any, name: Any) -> None:
    if type(name) is not str or is_special(name) or is_librarys(type(obj), name):
        raise AttributeError(f"{name!r} can't be set on {type(obj).__name__!r}")


def _refuse(obj: Any, name: str) -> Any:
    kind = obj.__name__ if is_class(obj) else type(obj).__name__
    raise AttributeError(f'"{name}" of {kind!r} is not available; only that of what you have made')


_VALUES = (
    *(object, int, float, complex, str, bytes, bytearray, tuple, list, dict, set, frozenset),
    *(BaseException, Exception),
)


# -- one reader for each name ------------------------------------------------------------------


def _dict(obj: Any) -> Mapping[str, Any]:
    if is_class(obj) and is_own(obj):
        names = _visible(vars(obj)).items()
        return types.MappingProxyType({k: v for k, v in names if not is_librarys(obj, k)})
    return Attributes(obj)


def _annotations(obj: Any) -> dict[str, Any]:
    owner = obj if is_class(obj) else type(obj)
    if not is_own_function(obj) and not is_own(owner):
        _refuse(obj, "__annotations__")
    return dict(obj.__annotations__)


def _of_class(name: str, obj: Any) -> Any:
    if not is_class(obj) or not is_own(obj):
        _refuse(obj, name)
    return getattr(obj, name)


def _of_function(name: str, obj: Any) -> Any:
    function = obj.__func__ if type(obj) is types.MethodType else obj
    if not is_own_function(function):
        _refuse(obj, name)
    value = getattr(function, name)
    return dict(value) if type(value) is dict else value


def _wrapped(obj: Any) -> Any:
    value = getattr(obj, "__wrapped__")  # noqa: B009 - a special name, in the open
    # lru_cache gives an object of its own, round the function of the program's that it calls.
    inner = value.__wrapped__ if type(value) is functools._lru_cache_wrapper else value
    return value if is_own_function(inner) else _refuse(obj, "__wrapped__")


def _of_method(name: str, obj: Any) -> Any:
    if type(obj) not in (types.MethodType, classmethod, staticmethod):
        _refuse(obj, name)
    if not is_own_function(obj.__func__):
        _refuse(obj, name)
    return getattr(obj, name)


def _new(obj: Any) -> Callable[..., Any]:
    """``__new__`` of ``super()``, an own class or a builtin one: it makes own objects only."""
    if (
        type(obj) is not super
        and not any(obj is kind for kind in _VALUES)
        and not (is_class(obj) and is_own(obj))
    ):
        _refuse(obj, "__new__")
    make = obj.__new__

    def new(kind: Any, /, *args: Any, **kwargs: Any) -> Any:
        if is_class(kind) and not is_own(kind) and not any(kind is one for one in _VALUES):
            raise TypeError("__new__() makes objects of your own classes only; call the class")
        return make(kind, *args, **kwargs)

    return new


def _init(obj: Any) -> Callable[..., None]:
    """``__init__``, which sets up the program's own objects, and makes no other one anew."""
    make: Callable[..., None] = obj.__init__
    if not is_class(obj):
        target = obj.__self__ if type(obj) is super else obj  # type: ignore[attr-defined]
        return make if is_own(type(target)) else _refuse(obj, "__init__")

    def init(self: Any, /, *args: Any, **kwargs: Any) -> None:
        if not is_own(type(self)):
            kind = type(self).__name__
            raise TypeError(f"__init__() sets up objects of your own classes, not of {kind!r}")
        make(self, *args, **kwargs)

    return init


READERS: Mapping[str, Callable[[Any], Any]] = {
    "__dict__": _dict,
    "__annotations__": _annotations,
    "__mro__": functools.partial(_of_class, "__mro__"),
    "__bases__": functools.partial(_of_class, "__bases__"),
    "__base__": functools.partial(_of_class, "__base__"),
    "__defaults__": functools.partial(_of_function, "__defaults__"),
    "__kwdefaults__": functools.partial(_of_function, "__kwdefaults__"),
    "__wrapped__": _wrapped,
    "__self__": functools.partial(_of_method, "__self__"),
    "__func__": functools.partial(_of_method, "__func__"),
    "__init__": _init,
    "__new__": _new,
}
"""What reads a special attribute of an object, or raises AttributeError."""


def is_writable(obj: Any, name: str) -> bool:
    """Whether a program may set that special attribute of an object: it has made the object."""
    if name in CLASS_METHODS:
        return is_class(obj) and is_own(obj)
    if is_own_function(obj):
        return True
    return name != "__wrapped__" and is_own(obj if is_class(obj) else type(obj))
