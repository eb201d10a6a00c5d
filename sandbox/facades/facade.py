"""A module as a program sees it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

from .names import LEFT_OUT


class Live:
    """A name of a module whose value is looked up at each read.

    Args:
        read: Gives the value.
        write: Takes what a program assigns to the name; None where it can't be assigned to.
    """

    __slots__ = ("_read", "write")

    def __init__(self, read: Callable[[], Any], write: Callable[[Any], None] | None = None) -> None:
        self._read = read
        self.write = write

    def __get__(self, _instance: object, _owner: object = None) -> Any:
        return self._read()


class _FacadeType(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError("a module can't be called")

    def __setattr__(cls, name: str, value: Any) -> None:
        live = vars(cls).get(name)
        if isinstance(live, Live) and live.write is not None:
            live.write(value)
            return
        raise AttributeError(f"{cls!r} is read-only: {name!r} can't be set")

    def __delattr__(cls, name: str) -> None:
        raise AttributeError(f"{cls!r} is read-only: {name!r} can't be deleted")

    def __getattr__(cls, name: str) -> Any:
        why = LEFT_OUT.get(f"{cls.__name__}.{name}")
        raise AttributeError(f"{cls!r} has no {name!r} here" + (f": {why}" if why else ""))

    def __dir__(cls) -> list[str]:
        return sorted(vars(cls))

    def __repr__(cls) -> str:
        return f"<module {cls.__name__!r}>"


_FacadeType.__name__ = _FacadeType.__qualname__ = "module"


class Facade(metaclass=_FacadeType):
    """Base of the modules as a program sees them: public names, and nothing can be set.

    Each is a class, for the interpreter itself then refuses every way of writing to it, once
    classes are frozen; an object's own variables can be written past its class.
    """

    __slots__ = ()


def make(name: str, names: Mapping[str, Any]) -> type[Facade]:
    """A facade of that name, with those names in it."""
    made: Any = _FacadeType(name, (Facade,), {"__slots__": (), **names})
    facade: type[Facade] = made
    return facade
