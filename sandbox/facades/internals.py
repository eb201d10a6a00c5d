"""The interpreter's own kinds of objects: told apart by ``isinstance``, and made by nobody."""

from __future__ import annotations

import io
import types
from typing import Any, NoReturn

from .. import classes
from .facade import Facade


def mend() -> dict[str, Any]:
    """Stand-ins for the classes that would make code, frames, tracebacks or modules.

    And no class inherits from one whose instances answer with another object's attributes: it
    would be the program's own, whose private attributes are read freely. Nor from one whose C
    code crashes when a subclass leaves out, or repeats, its setting up.
    """
    classes.close(super, types.GenericAlias, Internal, io.TextIOWrapper)
    module = _stand_in("module", types.ModuleType, type(Facade))
    classes.show_metaclass(module, type(Facade))
    return {
        "types.CodeType": _stand_in("code", types.CodeType),
        "types.FrameType": _stand_in("frame", types.FrameType),
        "types.ModuleType": module,
        "types.TracebackType": _stand_in("traceback", types.TracebackType),
        "types.coroutine": _coroutine,
    }


def _coroutine(func: Any) -> Any:
    """``types.coroutine`` for functions of the program's own, whose code it changes."""
    if not classes.is_own_function(func):
        raise TypeError("types.coroutine() takes a function that you have defined")
    return types.coroutine(func)


def _stand_in(name: str, *kinds: type) -> type:
    return _InternalType(name, (Internal,), {"__slots__": (), "_kinds": kinds})


class _InternalType(type):
    _kinds: tuple[type, ...]

    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, cls._kinds)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return subclass is cls or issubclass(subclass, cls._kinds)

    def __call__(cls, *_: Any, **__: Any) -> NoReturn:
        raise TypeError(f"cannot create {cls.__name__!r} instances")

    def __repr__(cls) -> str:
        return f"<class {cls.__name__!r}>"


class Internal(metaclass=_InternalType):
    """Base of the stand-ins."""

    __slots__ = ()
    _kinds = ()
