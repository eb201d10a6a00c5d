"""``inspect``, as far as it looks at functions and classes and shows no frame.

The module's own ``signature`` evaluates a text that an object gives for its signature, and
follows whatever an object says that it wraps. Here kinds of callables are told by their class.
"""

from __future__ import annotations

import functools
import inspect
import linecache
import types
from collections.abc import Callable
from typing import Any

from .. import classes, guards
from ..names import is_special
from ..symbols import TURN
from .facade import Facade

_as_written = functools.partial(inspect.Signature.from_callable, follow_wrapped=False)
_PLAIN = (type(None), bool, int, float, complex, str, bytes, type(...))
_BUILTIN = (
    types.BuiltinFunctionType,
    types.MethodDescriptorType,
    types.ClassMethodDescriptorType,
    types.WrapperDescriptorType,
    types.MethodWrapperType,
)


def mend() -> dict[str, Any]:
    """What looks at an object asks its class what it is. ``dataclass`` asks for signatures too."""
    inspect.Signature.from_callable = _from_callable  # type: ignore[method-assign,assignment]
    return {
        "inspect.getdoc": _getdoc,
        "inspect.getmembers": _getmembers,
        "inspect.getsource": _getsource,
        "inspect.ismodule": _ismodule,
    }


@classmethod  # type: ignore[misc]
def _from_callable(
    _cls: Any, obj: Any, *, follow_wrapped: bool = True, eval_str: bool = False, **_names: Any
) -> inspect.Signature:
    """``Signature.from_callable``, which ``inspect.signature`` calls."""
    if eval_str:
        raise TypeError("annotations aren't evaluated here: use typing.get_type_hints")
    return _signature(obj, follow_wrapped)


def _signature(obj: Any, follow_wrapped: bool = True) -> inspect.Signature:
    """What a callable takes.

    Args:
        obj: A function, method, class, partial, or object with ``__call__``.
        follow_wrapped: Whether a decorated function has the signature of the one it wraps.

    Raises:
        TypeError: The object can't be called.
        ValueError: What it takes isn't known.
    """
    if isinstance(obj, types.MethodType):
        return _bound(_signature(obj.__func__, follow_wrapped))
    if isinstance(obj, types.FunctionType):
        wrapped = vars(obj).get("__wrapped__") if follow_wrapped else None
        return _of_function(obj) if wrapped is None else _signature(wrapped)
    if isinstance(obj, functools._lru_cache_wrapper):
        return _signature(vars(obj)["__wrapped__"])
    if isinstance(obj, functools.partial):
        inner = _signature(obj.func)
        return inspect._signature_get_partial(inner, obj)  # type: ignore[attr-defined,no-any-return]
    if type(obj) in _BUILTIN:
        return _as_written(obj)
    if isinstance(obj, type):
        return _of_class(obj)
    found = _method(type(obj), "__call__")
    if found is None:
        raise TypeError(f"{obj!r} is not a callable object")
    return _bound(_signature(found[1]))


def _bound(signature: inspect.Signature) -> inspect.Signature:
    """A function's signature as that of a method of an object."""
    return inspect._signature_bound_method(signature)  # type: ignore[attr-defined,no-any-return]


def _method(cls: type, name: str) -> tuple[type, Any] | None:
    """A class's method of that name and the class that has it, if it is written in Python."""
    for base in type.mro(cls):
        found = vars(base).get(name)
        if found is not None:
            found = found.__func__ if isinstance(found, staticmethod) else found
            return (base, found) if isinstance(found, types.FunctionType) else None
    return None


def _of_class(cls: type) -> inspect.Signature:
    found = _method(cls, "__new__") or _method(cls, "__init__")
    if found is not None:
        owner, method = found
        method = vars(method).get("__wrapped__", method)
        # What a dataclass or a namedtuple wrote for the program's class is its own as well.
        return _bound(_as_written(method) if classes.is_own(owner) else _signature(method))
    if classes.is_own(cls):
        return inspect.Signature()
    raise ValueError(f"no signature found for {cls!r}")


def _of_function(function: types.FunctionType) -> inspect.Signature:
    signature = _as_written(function)
    if function.__code__.co_filename.startswith(TURN):
        return signature
    # What the library takes for granted may be a thing of its own.
    return signature.replace(
        parameters=[
            parameter.replace(default=...) if _is_of_its_own(parameter) else parameter
            for parameter in signature.parameters.values()
        ]
    )


def _is_of_its_own(parameter: inspect.Parameter) -> bool:
    return parameter.default is not parameter.empty and type(parameter.default) not in _PLAIN


def _getdoc(obj: Any) -> str | None:
    """``inspect.getdoc``; a class has its base's text where it has none."""
    kinds = type.mro(obj)[:-1] if isinstance(obj, type) else ()
    texts = [vars(kind).get("__doc__") for kind in kinds] or [getattr(obj, "__doc__", None)]
    text = next((text for text in texts if isinstance(text, str)), None)
    return None if text is None else inspect.cleandoc(text)


def _getmembers(obj: Any, predicate: Callable[[Any], Any] | None = None) -> list[tuple[str, Any]]:
    """``inspect.getmembers``: the attributes that a program can read, by name."""
    missing = object()
    members = [
        (name, value)
        for name in sorted({name for name in dir(obj) if type(name) is str})
        if not is_special(name)
        and (value := guards.get_attribute(obj, name, missing)) is not missing
    ]
    return [(name, value) for name, value in members if predicate is None or predicate(value)]


def _getsource(obj: Any) -> str:
    """``inspect.getsource`` of the program's own functions.

    Raises:
        TypeError: It is no function or method.
        OSError: The function is not the program's own, or its turn's source is gone.
    """
    while isinstance(obj, types.MethodType | types.FunctionType):
        inner = obj.__func__ if isinstance(obj, types.MethodType) else None
        inner = inner or vars(obj).get("__wrapped__")
        if inner is None:
            break
        obj = inner
    if not isinstance(obj, types.FunctionType):
        raise TypeError(f"getsource() takes a function that you have defined, not {obj!r}")
    code = obj.__code__
    lines = linecache.getlines(code.co_filename) if code.co_filename.startswith(TURN) else []
    if not lines:
        raise OSError(f"the source of {obj.__name__} is not available")
    return "".join(inspect.getblock(lines[code.co_firstlineno - 1 :]))


def _ismodule(obj: Any) -> bool:
    """``inspect.ismodule``."""
    return isinstance(obj, type) and issubclass(obj, Facade)
