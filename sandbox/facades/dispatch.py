"""Functions chosen by the class of an argument: of a class, by what a program is shown for it.

The library's choose by ``type`` itself where the argument is a class. What keeps a table of
functions, what is looked up in one, and an error on the way, would hand that to the program.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from .. import classes


def mend() -> dict[str, Any]:
    """``singledispatch`` is mended in place, for ``singledispatchmethod`` calls it."""
    functools.singledispatch = _with_shown_classes(functools.singledispatch)
    functools.singledispatchmethod.__get__ = _get_method  # type: ignore[method-assign]
    return {}


def _shown_class(obj: Any) -> type:
    return classes.Type if classes.is_class(obj) else type(obj)


def _with_shown_classes(make: Callable[[Any], Any]) -> Any:
    """``singledispatch`` whose functions are chosen by classes that a program may see.

    To choose one, it compares every class there is with what it takes for the bases of its
    argument; an object of the program's own could say that it has some, and look at each.
    """

    def singledispatch(func: Callable[..., Any]) -> Any:
        generic = make(func)
        choose = generic.dispatch
        name = getattr(func, "__name__", "singledispatch function")

        def dispatch(cls: Any) -> Any:
            """The function that stands for a class."""
            if not classes.is_class(cls):
                raise TypeError(f"dispatch() takes a class, not {cls!r}")
            return choose(cls)

        @functools.wraps(func)
        def chosen(*args: Any, **kwargs: Any) -> Any:
            if not args:
                raise TypeError(f"{name} requires at least 1 positional argument")
            return choose(_shown_class(args[0]))(*args, **kwargs)

        shown: Any = chosen
        shown.register, shown.dispatch = generic.register, dispatch
        shown.registry, shown._clear_cache = generic.registry, generic._clear_cache
        return chosen

    return singledispatch


def _get_method(self: Any, obj: Any, cls: Any = None) -> Any:
    """``singledispatchmethod.__get__``."""
    dispatch = self.dispatcher.dispatch
    name = getattr(self.func, "__name__", "singledispatchmethod method")

    def method(*args: Any, **kwargs: Any) -> Any:
        if not args:
            raise TypeError(f"{name} requires at least 1 positional argument")
        return dispatch(_shown_class(args[0])).__get__(obj, cls)(*args, **kwargs)

    shown: Any = method
    shown.__isabstractmethod__ = self.__isabstractmethod__
    shown.register = self.register
    functools.update_wrapper(method, self.func)
    return method
