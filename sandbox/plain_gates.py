"""Gates that are plain functions: what a worker is told of them, and what their results mean."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

from .dialogue import Done, GateInfo


def plain_done(*args: Any, **kwargs: Any) -> Done:
    """End the work with an answer (``CIRCLE-8``: its type is kept)."""
    given = [*args, *kwargs.values()]
    if not given:
        raise TypeError("done: missing required argument: answer; write done(answer)")
    if len(given) > 1 or set(kwargs) - {"answer"}:
        raise TypeError("done takes one argument; write done(answer)")
    return Done(given[0])


_DONE = GateInfo("done(answer)", ("answer",), frozenset({"answer"}))


def is_async(function: Callable[..., Any]) -> bool:
    """Whether a gate has to be awaited, as far as its kind tells."""
    call = getattr(function, "__call__", None)  # noqa: B004 - an object's own, to look at
    return inspect.iscoroutinefunction(function) or inspect.iscoroutinefunction(call)


def describe_gate(name: str, function: Callable[..., Any]) -> GateInfo:
    """What a worker is told of a plain function as a gate."""
    if function is plain_done:
        return _DONE
    try:
        signature = inspect.signature(function)
    except (TypeError, ValueError):
        return GateInfo(f"{name}(...)")
    positional = tuple(
        parameter.name
        for parameter in signature.parameters.values()
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.POSITIONAL_OR_KEYWORD)
    )
    return GateInfo(f"{name}{signature}", positional)


def final(name: str, result: Any) -> Any:
    """What a gate's result means: that of a function named ``done`` ends the work."""
    return Done(result) if name == "done" and not isinstance(result, Done) else result
