"""How a gate's function is called: what it raises, and that the work is over, whatever it does."""

from __future__ import annotations

import asyncio
from typing import Any

from ..gates import Gate


async def called(gate: Gate, arguments: dict[str, Any]) -> Any:
    """What a gate answers.

    Raises:
        Exception: Whatever the gate raises.
        CancelledError: The work is over, even where the gate has kept that to itself.
    """
    task = asyncio.current_task()
    before = _cancellations(task)
    try:
        result = await gate.call(arguments)
        _check_cancelled(task, before)
        return result
    except Exception:
        _check_cancelled(task, before)
        raise
    except BaseException as error:
        # One of the gate's own would end the event loop, or pass for a cancellation of the work.
        if _is_ours(task):
            raise
        if isinstance(error, SystemExit):
            raise RuntimeError(f"{gate.name}: the gate tried to exit: {error}") from error
        raise RuntimeError(f"{gate.name}: the gate raised {type(error).__name__}") from error


def _cancellations(task: asyncio.Task[Any] | None) -> int:
    return task.cancelling() if task is not None else 0


def _check_cancelled(task: asyncio.Task[Any] | None, before: int) -> None:
    """Raise the cancellation that a gate has kept to itself: the work is over all the same."""
    if _cancellations(task) > before:
        raise asyncio.CancelledError


def _is_ours(task: asyncio.Task[Any] | None) -> bool:
    """Whether what ends a task came from outside: it is cancelled, or closed half done."""
    try:
        return task is None or asyncio.current_task() is not task or task.cancelling() > 0
    except RuntimeError:  # no event loop runs any more
        return True
