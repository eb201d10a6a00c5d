"""Asynchronous programs: ``asyncio`` on a loop of ours, with the program's own frames alone."""

from __future__ import annotations

import sys
import traceback
import types
from collections.abc import Callable
from typing import Any

from .. import classes
from ..symbols import TURN
from .streams import ERR
from .traces import format_exception_only, format_list, own_calls


def mend() -> dict[str, Any]:
    """Load ``asyncio`` without what a program can't use, and hide where the library lies.

    Tasks would hand out frames of the runner, and tell the paths of the library's own files.
    Their C code crashes when a subclass leaves out, or repeats, their setting up.
    """
    _load()
    import asyncio
    from asyncio import base_tasks, coroutines, format_helpers

    from .loops import Policy

    asyncio.set_event_loop_policy(Policy())  # type: ignore[abstract]
    classes.close(asyncio.Future, asyncio.Task)
    source_of = format_helpers._get_function_source
    describe = coroutines._format_coroutine  # type: ignore[attr-defined]

    def own_source(func: Any) -> tuple[str, int] | None:
        found = source_of(func)
        return found if found and found[0].startswith(TURN) else None

    def own_coroutine(coro: Any) -> str:
        text: str = describe(coro)
        return text if f" at {TURN}" in text else text.partition(" at ")[0]

    format_helpers._get_function_source = own_source  # type: ignore[assignment]
    format_helpers.extract_stack = _no_stack
    coroutines._format_coroutine = own_coroutine  # type: ignore[attr-defined]
    _hide_frames(base_tasks)
    return {"asyncio.to_thread": _to_thread}


def restore() -> list[Any]:
    """Forget a loop that an interrupted turn left running; gives what was in it."""
    from asyncio import events

    from .loops import Loop

    loop = events._get_running_loop()
    left = [loop, *sys.get_asyncgen_hooks()]
    if type(loop) is Loop:  # of a subclass the methods would be the program's
        left += loop.abandon()
    events._set_running_loop(None)
    sys.set_asyncgen_hooks(None, None)
    return left


def _load() -> None:
    """Import ``asyncio`` without ``ssl``, and so that futures keep no stack of where they began.

    Its C part takes ``extract_stack`` when it is loaded; a program's own loop could turn on the
    debug mode that calls it.
    """
    extract, traceback.extract_stack = traceback.extract_stack, _no_stack
    is_left_out = "ssl" not in sys.modules
    if is_left_out:
        sys.modules["ssl"] = None  # type: ignore[assignment]
    try:
        import asyncio  # noqa: F401
    finally:
        traceback.extract_stack = extract
        if is_left_out:
            del sys.modules["ssl"]


def _no_stack(*_: Any, **__: Any) -> traceback.StackSummary:
    return traceback.StackSummary()


def _hide_frames(base_tasks: Any) -> None:
    """Have ``Task.get_stack`` and ``print_stack`` tell of the program's own calls, without frames.

    The C part of ``asyncio`` keeps the functions themselves, so their code is exchanged.
    """
    if hasattr(base_tasks, "_calls"):
        return
    function = base_tasks._task_get_stack
    whole = types.FunctionType(function.__code__, function.__globals__)
    base_tasks._calls = lambda task, limit: own_calls(whole(task, limit))
    base_tasks._print_calls = _print_calls
    function.__code__ = _get_stack.__code__
    base_tasks._task_print_stack.__code__ = _print_stack.__code__


def _get_stack(task: Any, limit: Any) -> Any:
    return _calls(task, limit)  # type: ignore[name-defined]  # noqa: F821


def _print_stack(task: Any, limit: Any, file: Any) -> None:
    _print_calls(task, limit, file)  # in asyncio's own module


def _print_calls(task: Any, limit: Any, file: Any) -> None:
    calls = task.get_stack(limit=limit)
    error = task._exception
    what = "No stack" if not calls else "Stack" if error is None else "Traceback"
    head = f"{what} for {task!r}" + (" (most recent call last):" if calls else "")
    target = ERR.target if file is None else file
    target.write(f"{head}\n" + "".join(format_list(calls)))
    if error is not None:
        target.write("".join(format_exception_only(error)))


async def _to_thread(func: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
    """Call a function here and now: there is one thread."""
    from contextvars import copy_context

    return copy_context().run(func, *args, **kwargs)
