"""Functions about functions: what one takes over from another, and what keeps its value."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable, Iterable
from typing import Any

from .. import classes, guards
from ..names import is_private, is_special, why_not_writable

_TEXTS = ("__name__", "__qualname__", "__doc__")


def mend() -> dict[str, Any]:
    """``update_wrapper`` is mended in place: others here call it.

    ``lru_cache`` would copy all that a callable says its variables are, ``__mro_entries__``
    for example, and a class could then have other bases than those that were looked at.
    """
    functools.update_wrapper = _update_wrapper
    functools.partialmethod.__get__ = _get_partial  # type: ignore[method-assign]
    return {"functools.cached_property": CachedProperty}


def _update_wrapper(
    wrapper: Any,
    wrapped: Any,
    assigned: Iterable[str] = functools.WRAPPER_ASSIGNMENTS,
    updated: Iterable[str] = functools.WRAPPER_UPDATES,
) -> Any:
    """``functools.update_wrapper``, with what is harmless on any object.

    Texts are copied where they are texts, annotations and variables from function to function,
    and names of the program's own as the program itself could copy them.
    """
    for name in assigned:
        if type(name) is not str:  # a subclass could pass for another name
            raise TypeError(f"attribute name must be string, not {type(name).__name__!r}")
        if name in _TEXTS:
            _copy_text(name, wrapped, wrapper)
        elif name == "__annotations__":
            if _are_functions(wrapper, wrapped):
                wrapper.__annotations__ = wrapped.__annotations__
        elif not is_special(name) and guards.has_attribute(wrapped, name):
            guards.set_attribute(wrapper, name, guards.get_attribute(wrapped, name))
    if "__dict__" in updated and isinstance(wrapped, types.FunctionType):
        for name, value in vars(wrapped).items():
            if not is_special(name) and not is_private(name):
                setattr(wrapper, name, value)
    wrapper.__wrapped__ = wrapped
    return wrapper


def _get_partial(self: Any, obj: Any, cls: Any = None) -> Any:
    """``partialmethod.__get__``, which leaves alone what the method is bound to.

    The library's keeps that on the partial: of a builtin function it is a module.
    """
    bind = getattr(type(self.func), "__get__", None)
    bound = bind(self.func, obj, cls) if bind else self.func
    if bound is not self.func:
        return functools.partial(bound, *self.args, **self.keywords)
    return self._make_unbound_method().__get__(obj, cls)


def _copy_text(name: str, wrapped: Any, wrapper: Any) -> None:
    value = getattr(wrapped, name, None)
    # A subclass of str could be one text to one reader, and another to the next.
    if type(value) is str or (value is None and name == "__doc__"):
        setattr(wrapper, name, value)


def _are_functions(*objects: Any) -> bool:
    return all(isinstance(one, types.FunctionType) for one in objects)


class CachedProperty:
    """``functools.cached_property``: computed at the first read, then the object's own variable.

    Args:
        func: Computes the value from the object.

    Raises:
        TypeError: The object is no instance of the program's own classes, has no variables, or
            the property has no name.
    """

    def __init__(self, func: Callable[[Any], Any]) -> None:
        self.func = func
        self.attrname: str | None = None
        self.__doc__ = func.__doc__

    def __set_name__(self, owner: type, name: str) -> None:
        if self.attrname not in (None, name):
            raise TypeError(
                "Cannot assign the same cached_property to two different names "
                f"({self.attrname!r} and {name!r})."
            )
        self.attrname = name

    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        name = self._checked_name(instance)
        kept = getattr(instance, "__dict__", None)
        if type(kept) is not dict:
            raise TypeError(f"{type(instance).__name__!r} object has no variables to keep {name!r}")
        if name not in kept:
            kept[name] = self.func(instance)
        return kept[name]

    def _checked_name(self, instance: Any) -> str:
        """The name, which the program can change, for it writes past ``setattr``."""
        name = self.attrname
        if name is None:
            raise TypeError(
                "Cannot use cached_property instance without calling __set_name__ on it."
            )
        if type(name) is not str or not classes.is_own(type(instance)):
            raise TypeError("a cached_property works on objects of your own classes")
        if refusal := why_not_writable(name):
            raise AttributeError(refusal)
        if is_private(name):
            guards.own(instance, name)
        return name

    __class_getitem__: Any = classmethod(types.GenericAlias)


CachedProperty.__name__ = CachedProperty.__qualname__ = "cached_property"
CachedProperty.__module__ = "functools"
