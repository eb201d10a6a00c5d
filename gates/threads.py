"""The threads that sync gates run in: so many an event loop and no more."""

from __future__ import annotations

import asyncio
import contextlib
import threading
from collections.abc import Callable
from typing import Any

import anyio
import anyio.to_thread
from anyio.lowlevel import RunVar

MAX_THREADS = 64
"""Sync gates of one event loop that run at a time; more wait for a free thread."""

_limiters: RunVar[anyio.CapacityLimiter] = RunVar("circlet gate threads")


class Seat:
    """Leave to run one function in a thread; it lasts until the function has ended.

    A function that nobody waits for any more keeps its seat: its thread is still there.
    """

    def __init__(self, limiter: anyio.CapacityLimiter) -> None:
        self._limiter = limiter
        self._taken = threading.Lock()

    async def run(self, function: Callable[[], Any]) -> Any:
        """Run the function. Cancelling takes effect at once and leaves the thread to itself."""
        loop = asyncio.get_running_loop()

        def work() -> tuple[Any, BaseException | None]:
            if not self._taken.acquire(blocking=False):
                return None, None  # cancelled before it began
            try:
                return function(), None
            except BaseException as error:
                return None, error  # a future with a GeneratorExit would close all that await it
            finally:
                with contextlib.suppress(RuntimeError):  # the loop may be closed by now
                    loop.call_soon_threadsafe(self._give_up)

        try:
            answer, error = await anyio.to_thread.run_sync(
                work, abandon_on_cancel=True, limiter=anyio.CapacityLimiter(1)
            )
        finally:
            if self._taken.acquire(blocking=False):
                self._give_up()
        if error is None:
            return answer
        try:
            raise error
        finally:
            del error  # its traceback holds this frame

    def _give_up(self) -> None:
        self._limiter.release_on_behalf_of(self)


async def free_seat() -> Seat:
    """A seat, once one is free."""
    limiter = _limiter()
    seat = Seat(limiter)
    await limiter.acquire_on_behalf_of(seat)
    return seat


def _limiter() -> anyio.CapacityLimiter:
    """The seats of this event loop's gates; not anyio's own, which others may use up."""
    try:
        return _limiters.get()
    except LookupError:
        _limiters.set(anyio.CapacityLimiter(MAX_THREADS))
        return _limiters.get()
