"""Caches of calls: what they keep is compared with a program's arguments, so it holds no classes.

With ``typed``, the library's key of a call holds the classes of its arguments beside them: of a
class, ``type`` itself. A program's own ``__hash__`` can bring one of its objects to that place
of another call's key, and its ``__eq__`` would be handed what makes classes.
"""

from __future__ import annotations

import functools
import sys
import types
import typing
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from .. import classes

_plain = functools.lru_cache


def mend() -> dict[str, Any]:
    """``lru_cache`` keeps classes where nothing compares itself with them.

    The class of its caches, which a program sees by ``type``, makes no typed ones either.
    """
    kind: Any = functools._lru_cache_wrapper
    _exchange(kind)
    classes.close(kind)
    classes.put(kind, "__init__", _check_untyped)
    functools.lru_cache = _lru_cache
    return {}


def _lru_cache(maxsize: Any = 128, typed: bool = False) -> Any:
    """``functools.lru_cache``."""
    if not typed:
        return _plain(maxsize)
    if callable(maxsize):
        return _typed(maxsize, 128)
    return lambda function: _typed(function, maxsize)


class _Kinds:
    """The classes of a call's arguments: equal where they are the same."""

    __slots__ = ("_kinds",)

    def __init__(self, values: Iterable[Any]) -> None:
        self._kinds = tuple([type(value) for value in values])

    def __eq__(self, other: object) -> bool:
        return type(other) is _Kinds and self._kinds == other._kinds

    def __hash__(self) -> int:
        return hash(self._kinds)


def _typed(function: Callable[..., Any], maxsize: int | None) -> Any:
    """A cache that tells calls apart by their arguments' classes, which are one part of the key."""

    def called(_: _Kinds, /, *args: Any, **kwargs: Any) -> Any:
        return function(*args, **kwargs)

    cached = _plain(maxsize)(called)

    @functools.wraps(function)
    def cache(*args: Any, **kwargs: Any) -> Any:
        return cached(_Kinds((*args, *kwargs.values())), *args, **kwargs)

    shown: Any = cache
    shown.cache_info = cached.cache_info
    shown.cache_clear = cached.cache_clear
    shown.cache_parameters = lambda: {"maxsize": maxsize, "typed": True}
    return cache


def _check_untyped(_self: Any, _function: Any, _maxsize: Any, typed: Any, _info: Any) -> None:
    if typed:
        raise TypeError("a cache is made by functools.lru_cache()")


# -- those that the library has already -------------------------------------------------------


def _exchange(kind: Any) -> None:
    """Put caches of ours in the place of the library's typed ones."""

    def ours(value: Any) -> Any:
        settings = value.cache_parameters() if type(value) is kind else {}
        return _typed(value.__wrapped__, settings["maxsize"]) if settings.get("typed") else value

    for names in _places():
        for name, value in list(names.items()):
            if (made := ours(value)) is not value:
                names[name] = made
    for function in _typing_functions():
        for cell in function.__closure__ or ():
            cell.cell_contents = ours(cell.cell_contents)


def _places() -> Iterator[dict[Any, Any]]:
    """The dictionaries in which modules keep their caches."""
    yield from [vars(module) for module in list(sys.modules.values()) if module is not None]
    yield getattr(typing, "_caches", {})  # from Python 3.12 on


def _typing_functions() -> Iterator[types.FunctionType]:
    """The functions of ``typing`` that have a typed cache in their closures, on Python 3.11."""
    yield typing.Literal._getitem  # type: ignore[attr-defined]
    if "_class_getitem_inner" in vars(typing.Annotated):
        yield vars(typing.Annotated)["_class_getitem_inner"]
