"""What takes a while, done in a thread beside an event loop, and always to its end."""

from __future__ import annotations

import asyncio
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import anyio

_T = TypeVar("_T")
MAX_STARTS = 8
"""Workers that start at the same time for the sessions of event loops."""
_threads: ThreadPoolExecutor | None = None


async def to_its_end(function: Callable[[], _T]) -> _T:
    """Call a function in a thread.

    Whatever is cancelled meanwhile, be it a scope, a task, or the loop's last tasks: it is waited
    for. A thread that went on by itself would work on a session that somebody else uses by then.

    Raises:
        asyncio.CancelledError: This task was cancelled; only now, for the function is over.
    """
    future = asyncio.wrap_future(_pool().submit(function))
    cancelled: asyncio.CancelledError | None = None
    with anyio.CancelScope(shield=True):
        while not future.done():
            try:
                await asyncio.wait([future])
            except asyncio.CancelledError as error:
                cancelled = error
    if cancelled is not None:
        future.exception()  # nobody else looks at it
        raise cancelled
    return future.result()


def _pool() -> ThreadPoolExecutor:
    global _threads
    if _threads is None:
        _threads = ThreadPoolExecutor(MAX_STARTS, thread_name_prefix="circlet starts")
    return _threads


def _anew_in_child() -> None:
    """A forked child has none of its parent's threads."""
    global _threads
    _threads = None


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew_in_child)
