"""Makes the facades, and narrower ones of them."""

from __future__ import annotations

import importlib
import types
from collections.abc import Iterable, Mapping
from typing import Any

from .. import classes
from ..names import is_special
from . import alerts, streams, tasks
from .facade import Facade, make
from .names import PUBLIC

_MATTERS = (
    "abcs alerts arrays caches chance clocks constants containers contexts copies decimals "
    "dispatch elements enums errors formatters functions getters identifiers imports "
    "internals interpreter logs namespaces paths proxies queues records references reports "
    "signatures streams structs tables tasks traces trees type_hints zones"
)
"""The modules beside this one that mend something, or have something to stand in."""


def build() -> dict[str, type[Facade]]:
    """Make every facade. Preloads the modules behind them, so that none is imported later."""
    ours: dict[str, Any] = {}
    for matter in _MATTERS.split():
        ours.update(importlib.import_module(f"{__package__}.{matter}").mend())
    classes.close(Facade)
    made: dict[str, type[Facade]] = {}
    for name in sorted(PUBLIC, reverse=True):  # what is in a package before the package
        made[name] = make(name, {**_public_names(name, ours), **_children(name, made)})
    return made


def begin() -> None:
    """A program is about to run: what it has set for itself stands."""
    alerts.begin()


def restore() -> list[Any]:
    """Put back what a program, or its interruption, has left set in the library.

    Returns:
        What stood there: to let go of it may run code of the program's.
    """
    return [left for matter in (streams, tasks, alerts) for left in matter.restore()]


def narrowed(
    facades: Mapping[str, type[Facade]], modules: Iterable[str]
) -> dict[str, type[Facade]]:
    """The facades of these modules alone; a package that is not among them has only its children.

    Args:
        facades: All facades, by module name.
        modules: Names of the modules.
    """
    wanted = set(modules)
    kept: dict[str, type[Facade]] = {}
    for name in sorted(wanted | {name.partition(".")[0] for name in wanted}, reverse=True):
        names = _own_names(facades[name], facades) if name in wanted else {}
        kept[name] = make(name, {**names, **_children(name, kept)})
        classes.freeze(kept[name])
    return kept


def _children(package: str, facades: Mapping[str, type[Facade]]) -> dict[str, type[Facade]]:
    return {
        name.rpartition(".")[2]: facade
        for name, facade in facades.items()
        if name.rpartition(".")[0] == package
    }


def _own_names(facade: type[Facade], facades: Mapping[str, type[Facade]]) -> dict[str, Any]:
    children = _children(facade.__name__, facades)
    return {
        name: value
        for name, value in vars(facade).items()
        if not is_special(name) and name not in children
    }


def _public_names(module_name: str, ours: Mapping[str, Any]) -> dict[str, Any]:
    module = importlib.import_module(module_name)
    names: dict[str, Any] = {}
    for name in PUBLIC[module_name].split():
        value = ours.get(f"{module_name}.{name}", getattr(module, name, None))
        if isinstance(value, types.ModuleType | dict | list | set):
            raise TypeError(
                f"{module_name}.{name} is a {type(value).__name__}: no facade may hold it"
            )
        if value is not None or hasattr(module, name):
            _call_it(value, module_name, name)
            names[name] = value
    return names


def _call_it(value: Any, module: str, name: str) -> None:
    """Have a function or class of ours go by the name that a program finds it under.

    That is what it is shown, in a repr or where it is called with the wrong arguments.
    """
    package = __name__.partition(".")[0]
    function = value.__func__ if type(value) is types.MethodType else value
    if type(function) in (types.FunctionType, type) and function.__module__.startswith(package):
        function.__name__ = function.__qualname__ = name
        function.__module__ = module
