"""Decimal arithmetic: what shows the flags of a context keeps that context.

The table that C code gives for them points into the context, and goes on doing so when the
context is gone: to write into it then writes into memory that has been given to something else.
"""

from __future__ import annotations

import decimal
from collections.abc import Callable, Iterator, MutableMapping
from typing import Any

from .. import classes

_TABLES = ("flags", "traps")


def mend() -> dict[str, Any]:
    """``Context`` is mended in place, for C code makes contexts too."""
    kind: Any = decimal.Context
    read, set_up = kind.__getattribute__, kind.__init__
    enter: Any = decimal.localcontext

    def get(context: Any, name: str) -> Any:
        return _table(lambda: read(context, name)) if name in _TABLES else read(context, name)

    def give(context: Any, name: str, value: Any) -> None:
        if name in _TABLES:
            _set_all(read(context, name), name, value)
        else:
            object.__setattr__(context, name, value)

    def init(context: Any, *args: Any, **settings: Any) -> None:
        set_up(context, *map(_behind, args), **_all_behind(settings))

    def localcontext(ctx: Any = None, **settings: Any) -> Any:
        """A context manager that works under a copy of a context, by default the present one."""
        return enter(ctx, **_all_behind(settings))

    for name, method in (("__getattribute__", get), ("__setattr__", give), ("__init__", init)):
        classes.put(kind, name, method)
    return {"decimal.localcontext": localcontext}


class SignalDict(MutableMapping[Any, bool]):
    """Which signals have come up in a context, or are errors there; they can be set as well."""

    __slots__ = ("_table",)
    _table: Callable[[], Any]

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("a context has its flags and traps: see decimal.getcontext()")

    def __getitem__(self, signal: Any) -> bool:
        found: bool = self._table()[signal]
        return found

    def __setitem__(self, signal: Any, value: Any) -> None:
        self._table()[signal] = value

    def __delitem__(self, signal: Any) -> None:
        raise ValueError("signal keys cannot be deleted")

    def __iter__(self) -> Iterator[Any]:
        return iter(self._table())

    def __len__(self) -> int:
        return len(self._table())

    def __repr__(self) -> str:
        return repr(self._table())

    def copy(self) -> dict[Any, bool]:
        """The signals as a dictionary."""
        copied: dict[Any, bool] = self._table().copy()
        return copied


def _table(read: Callable[[], Any]) -> SignalDict:
    made = SignalDict.__new__(SignalDict)
    made._table = read
    return made


def _set_all(table: Any, name: str, value: Any) -> None:
    if not isinstance(value, dict | SignalDict):
        raise TypeError(f"{name} must be a signal dict")
    if set(value) != set(table):
        raise KeyError("invalid signal dict")
    for signal in list(table):
        table[signal] = value[signal]


def _behind(value: Any) -> Any:
    """The table that C code takes, for one of ours."""
    return value._table() if type(value) is SignalDict else value


def _all_behind(settings: dict[str, Any]) -> dict[str, Any]:
    return {name: _behind(value) for name, value in settings.items()}
