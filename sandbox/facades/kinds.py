"""Metaclasses as a program sees them: they tell their instances, and make no classes."""

from __future__ import annotations

from typing import Any

from .. import classes


def stand_in(metaclass: type) -> type:
    """What a program finds under the name of a metaclass: for ``isinstance``, and nothing else."""
    name = metaclass.__name__

    class Kind(type):
        def __instancecheck__(cls, instance: Any) -> bool:
            return isinstance(instance, metaclass)

        def __subclasscheck__(cls, subclass: Any) -> bool:
            return isinstance(subclass, type) and issubclass(subclass, metaclass)

        def __call__(cls, *_: Any, **__: Any) -> Any:
            raise TypeError(f"{name} makes no classes here; write a class statement")

        def __repr__(cls) -> str:
            return repr(metaclass)

    made = Kind(name, (), {"__slots__": (), "__doc__": metaclass.__doc__})
    classes.close(made)
    classes.show_metaclass(made, metaclass)
    return made
