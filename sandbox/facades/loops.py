"""The event loop of a program: callbacks that are ready, timers, and sleep.

It waits for no file, socket, thread or process, for a program has none; so when nothing is
ready and no timer runs, nothing will ever happen again, and that is an error, not a hang.
"""

from __future__ import annotations

import asyncio
import heapq
import sys
import time
import types
import weakref
from asyncio import events
from collections import deque
from collections.abc import AsyncGenerator, Callable
from contextvars import Context
from typing import Any

from ..deadline import Interrupt
from ..symbols import TURN
from ..tracebacks import own_traceback
from ..world import WORLD
from .streams import ERR

_CLOCK = WORLD.clocks["monotonic"]
_RESOLUTION = time.get_clock_info("monotonic").resolution
_LONGEST_SLEEP = 3_600.0
_SHOWN_TASKS = 5
_Handler = Callable[[asyncio.AbstractEventLoop, dict[str, Any]], object]


class Loop(asyncio.AbstractEventLoop):
    """An event loop without a selector. What it has no method for raises NotImplementedError."""

    def __init__(self) -> None:
        self._ready: deque[asyncio.Handle] = deque()
        self._timers: list[asyncio.TimerHandle] = []
        self._generators: weakref.WeakSet[AsyncGenerator[Any, Any]] = weakref.WeakSet()
        self._running = self._stopping = self._closed = self._silent = False
        self._factory: Any = None
        self._handler: _Handler | None = None

    def __repr__(self) -> str:
        return f"<Loop running={self._running} closed={self._closed}>"

    # -- running -----------------------------------------------------------------------------

    def run_forever(self) -> None:
        """Run until ``stop`` is called.

        Raises:
            RuntimeError: A loop runs already, this one is closed, or nothing is left that could
                happen.
        """
        self._check_closed()
        if self._running:
            raise RuntimeError("This event loop is already running")
        if events._get_running_loop() is not None:
            raise RuntimeError("Cannot run the event loop while another loop is running")
        hooks = sys.get_asyncgen_hooks()
        self._running, self._silent = True, False
        try:
            sys.set_asyncgen_hooks(self._generators.add, self._close_generator)
            events._set_running_loop(self)
            while True:
                self._step()
                if self._stopping:
                    break
        finally:
            self.leave()
            sys.set_asyncgen_hooks(*hooks)

    def run_until_complete(self, future: Any) -> Any:
        """Run until a future, or the task of a coroutine, is done; gives its result.

        Raises:
            RuntimeError: As ``run_forever``; or the loop was stopped before.
        """
        self._check_closed()
        is_new = not asyncio.isfuture(future)
        future = asyncio.ensure_future(future, loop=self)
        if is_new:
            future._log_destroy_pending = False  # what cut the loop off is raised instead
        future.add_done_callback(_stop)
        try:
            self.run_forever()
        except BaseException:
            if is_new and future.done() and not future.cancelled():
                future.exception()  # it counts as seen
            raise
        finally:
            future.remove_done_callback(_stop)
        if not future.done():
            raise RuntimeError("Event loop stopped before Future completed.")
        return future.result()

    def stop(self) -> None:
        """End ``run_forever`` after the present round."""
        self._stopping = True

    def leave(self) -> None:
        """No longer be the running loop."""
        self._running = self._stopping = False
        if events._get_running_loop() is self:
            events._set_running_loop(None)

    def abandon(self) -> list[Any]:
        """Drop all that an interrupted turn left in the loop; gives it to be let go of later."""
        left = [self, self._ready, self._timers]
        self._silent = True
        self._ready, self._timers = deque(), []
        self.leave()
        return left

    def is_running(self) -> bool:
        """Whether it runs now."""
        return self._running

    def is_closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def close(self) -> None:
        """Drop what waits; the loop can't be used any more.

        Raises:
            RuntimeError: It is running.
        """
        if self._running:
            raise RuntimeError("Cannot close a running event loop")
        self._closed = True
        self._ready.clear()
        self._timers.clear()

    def _check_closed(self) -> None:
        if self._closed:
            raise RuntimeError("Event loop is closed")

    def _step(self) -> None:
        """One round: what is ready at its beginning, with the timers that are due."""
        while self._timers and self._timers[0]._cancelled:
            heapq.heappop(self._timers)
        if not self._ready and not self._stopping:
            if not self._timers:
                raise RuntimeError(_standstill(self))
            time.sleep(min(max(self._timers[0].when() - self.time(), 0), _LONGEST_SLEEP))
        due = self.time() + _RESOLUTION
        while self._timers and self._timers[0].when() < due:
            self._ready.append(heapq.heappop(self._timers))
        for _ in range(len(self._ready)):
            handle = self._ready.popleft()
            if not handle._cancelled:
                handle._run()

    # -- callbacks ---------------------------------------------------------------------------

    def call_soon(  # type: ignore[override]
        self, callback: Callable[..., object], *args: Any, context: Context | None = None
    ) -> asyncio.Handle:
        """Call in the next round."""
        self._check_callback(callback)
        handle = asyncio.Handle(callback, args, self, context)
        self._ready.append(handle)
        return handle

    call_soon_threadsafe = call_soon  # type: ignore[assignment]

    def call_later(  # type: ignore[override]
        self,
        delay: float,
        callback: Callable[..., object],
        *args: Any,
        context: Context | None = None,
    ) -> asyncio.TimerHandle:
        """Call after ``delay`` seconds."""
        if delay is None:
            raise TypeError("delay must not be None")
        return self.call_at(self.time() + delay, callback, *args, context=context)

    def call_at(  # type: ignore[override]
        self, when: float, callback: Callable[..., object], *args: Any, context: Any = None
    ) -> asyncio.TimerHandle:
        """Call when ``time()`` has come to ``when``."""
        if when is None:
            raise TypeError("when cannot be None")
        self._check_callback(callback)
        timer = asyncio.TimerHandle(when, callback, args, self, context)
        heapq.heappush(self._timers, timer)
        return timer

    def time(self) -> float:
        """Seconds on the loop's clock."""
        return _CLOCK.read()

    def _check_callback(self, callback: Any) -> None:
        self._check_closed()
        if asyncio.iscoroutine(callback) or asyncio.iscoroutinefunction(callback):
            raise TypeError("coroutines cannot be used as callbacks; use create_task()")
        if not callable(callback):
            raise TypeError(f"a callable object was expected, got {callback!r}")

    def _timer_handle_cancelled(self, handle: asyncio.TimerHandle) -> None:
        """A cancelled timer stays until its turn comes."""

    # -- futures and tasks -------------------------------------------------------------------

    def create_future(self) -> asyncio.Future[Any]:
        """A future of this loop."""
        return asyncio.Future(loop=self)

    def create_task(
        self, coro: Any, *, name: Any = None, context: Context | None = None, **settings: Any
    ) -> Any:
        """A task that runs a coroutine, from the next round on."""
        self._check_closed()
        if context is not None:
            settings["context"] = context
        if self._factory is None:
            return asyncio.Task(coro, loop=self, name=name, **settings)
        task = self._factory(self, coro, **settings)
        if name is not None and hasattr(task, "set_name"):
            task.set_name(name)
        return task

    def set_task_factory(self, factory: Any) -> None:
        """Have ``factory(loop, coro, ...)`` make the tasks; None for plain ones."""
        if factory is not None and not callable(factory):
            raise TypeError("task factory must be a callable or None")
        self._factory = factory

    def get_task_factory(self) -> Any:
        """What makes the tasks, or None."""
        return self._factory

    def run_in_executor(  # type: ignore[override]
        self,
        executor: Any,  # noqa: ARG002 - the signature of the standard library's
        func: Callable[..., Any],
        *args: Any,
    ) -> asyncio.Future[Any]:
        """Call a function now, for there are no threads; gives a future that is done."""
        future = self.create_future()
        try:
            future.set_result(func(*args))
        except Exception as error:
            future.set_exception(error)
        return future

    # -- the end -----------------------------------------------------------------------------

    def _close_generator(self, generator: AsyncGenerator[Any, Any]) -> None:
        if not self._closed and not self._silent:
            self.call_soon(self.create_task, generator.aclose())

    async def shutdown_asyncgens(self) -> None:
        """Close the asynchronous generators that have begun and not ended."""
        left = list(self._generators)
        self._generators.clear()
        ends = await asyncio.gather(*[one.aclose() for one in left], return_exceptions=True)
        for generator, end in zip(left, ends, strict=True):
            if isinstance(end, Exception):
                self.call_exception_handler(
                    {
                        "message": "an error occurred during closing of asynchronous generator "
                        f"{generator!r}",
                        "exception": end,
                        "asyncgen": generator,
                    }
                )

    async def shutdown_default_executor(self, timeout: float | None = None) -> None:
        """There is no executor."""

    # -- errors that nobody waits for ----------------------------------------------------------

    def set_exception_handler(self, handler: _Handler | None) -> None:
        """Have ``handler(loop, context)`` told of errors that nobody waits for."""
        if handler is not None and not callable(handler):
            raise TypeError(f"A callable object or None is expected, got {handler!r}")
        self._handler = handler

    def get_exception_handler(self) -> _Handler | None:
        """What is told of such errors, or None."""
        return self._handler

    def default_exception_handler(self, context: dict[str, Any]) -> None:
        """Print to standard error what happened."""
        lines = [context.get("message") or "Unhandled exception in event loop"]
        lines += [
            f"{key}: {context[key]!r}"
            for key in sorted(context)
            if key not in ("message", "exception", "source_traceback", "handle_traceback")
        ]
        if isinstance(error := context.get("exception"), BaseException):
            lines.append(own_traceback(error))
        ERR.own.write("\n".join(lines) + "\n")

    def call_exception_handler(self, context: dict[str, Any]) -> None:
        """Tell the handler what happened."""
        if self._silent or isinstance(context.get("exception"), Interrupt):
            return  # of a turn that was ended, nobody is to be told
        if self._handler is None:
            self.default_exception_handler(context)
            return
        try:
            self._handler(self, context)
        except Exception as error:
            self.default_exception_handler(
                {
                    "message": "Unhandled error in exception handler",
                    "exception": error,
                    "context": context,
                }
            )

    def get_debug(self) -> bool:
        """There is no debug mode."""
        return False

    def set_debug(self, enabled: bool) -> None:
        """There is no debug mode."""


class Policy(asyncio.AbstractEventLoopPolicy):
    """One loop for the one thread there is."""

    def __init__(self) -> None:
        self._loop: asyncio.AbstractEventLoop | None = None
        self._was_set = False

    def get_event_loop(self) -> asyncio.AbstractEventLoop:
        """The present loop; made where none was ever set.

        Raises:
            RuntimeError: There is none.
        """
        if self._loop is None and not self._was_set:
            self.set_event_loop(self.new_event_loop())
        if self._loop is None:
            raise RuntimeError("There is no current event loop in thread 'MainThread'.")
        return self._loop

    def set_event_loop(self, loop: asyncio.AbstractEventLoop | None) -> None:
        """Make a loop the present one; None for none."""
        if loop is not None and not isinstance(loop, asyncio.AbstractEventLoop):
            raise TypeError(
                "loop must be an instance of AbstractEventLoop or None, "
                f"not '{type(loop).__name__}'"
            )
        self._was_set = True
        self._loop = loop

    def new_event_loop(self) -> Loop:
        """A new loop."""
        return Loop()  # type: ignore[abstract]


def _stop(future: asyncio.Future[Any]) -> None:
    """End the loop that ran for a future's sake."""
    if not future.cancelled() and isinstance(future.exception(), KeyboardInterrupt | SystemExit):
        return  # it has left the loop by itself
    future.get_loop().stop()


def _standstill(loop: Loop) -> str:
    waiting = sorted(_place(task) for task in asyncio.all_tasks(loop))
    if not waiting:
        return "the event loop has nothing left to do, and nothing can stop it"
    shown = ", ".join(waiting[:_SHOWN_TASKS])
    more = f" and {len(waiting) - _SHOWN_TASKS} more" if len(waiting) > _SHOWN_TASKS else ""
    return f"nothing is left that could end the wait of: {shown}{more}"


def _place(task: asyncio.Task[Any]) -> str:
    """The innermost of the program's own coroutines that a task is in, with its line."""
    coroutine: Any = task.get_coro()
    place = task.get_name()
    while (
        isinstance(coroutine, types.CoroutineType)
        and coroutine.cr_frame is not None
        and coroutine.cr_code.co_filename.startswith(TURN)
    ):
        place = f"{coroutine.__qualname__}() at line {coroutine.cr_frame.f_lineno}"
        coroutine = coroutine.cr_await
    return place
