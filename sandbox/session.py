"""A session as its host holds it: ``Sandbox`` blocks, ``AsyncSandbox`` awaits, over one wire."""

from __future__ import annotations

import inspect
import socket
import time
from collections.abc import Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.lowlevel import RunVar

from . import dialogue, pool
from .base import LOST, SEND_SECONDS, Backend, Session, final, is_async, plain_done, state_lost
from .dialogue import CallGate, Receive, Send, Steps
from .execution import Execution
from .limits import Limits
from .wire import Op

__all__ = ["AsyncSandbox", "Backend", "Sandbox"]

_T = TypeVar("_T")
_QUICK_BYTES = 65_536
"""A worker that stands ready takes settings of this size without making its host wait."""
_STEPS_AT_ONCE = 32
"""Steps of a turn after which other tasks have their turn, whether or not it has to wait."""
MAX_GATE_THREADS = 64
"""Plain functions that run at the same time as gates of one event loop's sessions."""
MAX_STARTS = 8
"""Workers of one event loop's sessions that start at the same time."""
_gate_threads: RunVar[anyio.CapacityLimiter] = RunVar("circlet sandbox gate threads")
_starts: RunVar[anyio.CapacityLimiter] = RunVar("circlet sandbox worker starts")


class Sandbox(Session):
    """A namespace in a process of its own, for a host that blocks.

    Args:
        gates: Functions that the program may call, by name. ``done`` is always there.
        limits: What the program may use up. Default ``Limits()``.
        modules: Modules that it may import. Default: all facades.
        backend: ``kernel`` (two walls, Linux), ``portable`` (the language wall), or
            ``auto``: the best there is, and with packages ``kernel``. Default ``auto``.
        packages: Third-party packages that the program may import, by top-level name, such as
            ``["numpy", "pandas"]``; with ``modules`` only those that are named there too.
            They are given as they are, so with one the language wall is thin. Default: none.

    Attributes:
        backend: The back end that was taken, once a worker has started.
        why_portable: Why ``auto`` took ``portable``, or the empty string.

    Raises:
        ValueError: A gate's name, a module, a package or the back end is not one that can
            be had.
        BackendUnavailable: ``kernel`` was asked for, or packages were, and can't be had.
        PackageUnavailable: A package is installed and can't be loaded.

    A session is used by one thread at a time. When an exception such as
    ``KeyboardInterrupt`` leaves a turn or a gate, the worker is ended and its state is gone;
    the next use starts a fresh one with the variables that the host has set.
    """

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        packages: Iterable[str] = (),
    ) -> None:
        super().__init__(gates, limits, modules, backend, packages=packages)
        for name, function in self._gates.items():
            if is_async(function):
                raise ValueError(f"the gate {name!r} is async; AsyncSandbox takes such gates")
        self._start()

    def run(self, source: str) -> Execution:
        """Run one turn.

        Args:
            source: Python source; the value of a last expression is kept.

        Raises:
            SandboxClosed: The session is closed.
            TypeError: The source is no text.
            CodecError: It is too long.
        """
        turn = dialogue.Turn(self.limits)
        steps = turn.steps(source)
        try:
            with self._exchange():
                self._worker or self._start()
                return self._drive(steps)
        except LOST as error:
            return turn.given_up(error)

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a variable; types are kept.

        Raises:
            CodecError: The value can't cross.
            NoSuchVariable: The name is none.
            SandboxClosed: The worker is gone; a fresh one will be given the variable.
        """
        try:
            with self._exchange():
                parts = self._remember(name, value)
                if self._worker is None:
                    self._start()
                else:
                    for part in parts:
                        self._send(part)
        except LOST as error:
            raise state_lost(error) from None

    def __getitem__(self, name: str) -> Any:
        """Get a variable's value; types are kept.

        Raises:
            NoSuchVariable: There is none of that name.
            CodecError: The value can't cross.
            SandboxClosed: The worker died over it.
        """
        try:
            with self._exchange():
                self._worker or self._start()
                return self._drive(dialogue.getting(name)).open()
        except LOST as error:
            raise state_lost(error) from None

    def close(self) -> None:
        """End the session and its process."""
        self._close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    # -- waiting ---------------------------------------------------------------------------------

    def _drive(self, steps: Steps[_T]) -> _T:
        try:
            step = next(steps)
            while True:
                try:
                    outcome = self._perform(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(outcome)
        except StopIteration as stop:
            result: _T = stop.value
            return result

    def _perform(self, step: Send | Receive | CallGate) -> Any:
        match step:
            case Send(data):
                return self._send(data)
            case Receive(seconds):
                return self._receive(seconds)
            case CallGate(name, args, kwargs):
                return final(name, _not_awaitable(name, self._gate(name)(*args, **kwargs)))

    def _send(self, data: bytes) -> None:
        sock = self._socket()
        sock.settimeout(SEND_SECONDS)
        sock.sendall(data)

    def _receive(self, seconds: float) -> tuple[Op, bytes | bytearray]:
        sock = self._socket()
        # For the whole frame: a worker that drips bytes gets no time anew with each.
        until = time.monotonic() + max(seconds, 0.001)
        while (taken := self._inbox.take()) is None:
            left = until - time.monotonic()
            if left <= 0:
                raise TimeoutError
            sock.settimeout(left)
            count = sock.recv_into(self._inbox.buffer())
            if not count:
                raise ConnectionError("the worker closed its socket")
            self._inbox.advance(count)
        return taken

    def _socket(self) -> socket.socket:
        if self._worker is None:
            raise ConnectionError("there is no worker")
        return self._worker.sock


def _not_awaitable(name: str, result: Any) -> Any:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()  # or Python warns that nobody awaited it
        raise TypeError(f"the gate {name!r} is async; AsyncSandbox takes such gates")
    return result


def _limiter(of_loop: RunVar[anyio.CapacityLimiter], threads: int) -> anyio.CapacityLimiter:
    """An event loop's own limiter: anyio's default one may be used up by others."""
    try:
        return of_loop.get()
    except LookupError:
        of_loop.set(anyio.CapacityLimiter(threads))
        return of_loop.get()


class AsyncSandbox(Session):
    """A namespace in a process of its own, for a host that awaits.

    Takes the same arguments as ``Sandbox``. Gates may be async; a plain function is called in
    a thread. The worker starts with the first turn or variable.

    Args:
        gates: Functions that the program may call, by name. ``done`` is always there.
        limits: What the program may use up. Default ``Limits()``.
        modules: Modules that it may import. Default: all facades.
        backend: ``kernel``, ``portable`` or ``auto``. Default ``auto``.
        gate_infos: What the program is told of a gate, where that is not to be read off the
            function, by name.
        packages: Third-party packages that the program may import. See ``Sandbox``.
    """

    async def run(self, source: str) -> Execution:
        """Run one turn. See ``Sandbox.run``."""
        return await self.run_turn(dialogue.Turn(self.limits), source)

    async def run_turn(self, turn: dialogue.Turn, source: str) -> Execution:
        """Run one turn that the caller holds: its ``stdout`` can be read while it runs."""
        steps = turn.steps(source)
        try:
            with self._exchange():
                await self._ensure()
                return await self._drive(steps)
        except LOST as error:
            return turn.given_up(error)

    async def set(self, name: str, value: Any) -> None:
        """Set a variable. See ``Sandbox.__setitem__``."""
        try:
            with self._exchange():
                parts = self._remember(name, value)
                if self._worker is None:
                    await self._ensure()
                else:
                    for part in parts:
                        await self._send(part)
        except LOST as error:
            raise state_lost(error) from None

    async def get(self, name: str) -> Any:
        """Get a variable's value. See ``Sandbox.__getitem__``."""
        try:
            with self._exchange():
                await self._ensure()
                return (await self._drive(dialogue.getting(name))).open()
        except LOST as error:
            raise state_lost(error) from None

    async def aclose(self) -> None:
        """End the session and its process."""
        self._close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()

    # -- waiting ---------------------------------------------------------------------------------

    async def _ensure(self) -> None:
        if self._worker is None:
            size = sum(len(value.data) for value in self._given.values())
            quick = self._wanted != "portable" and size < _QUICK_BYTES
            if quick and pool.has_ready(self._packages):
                self._start()
            else:
                await anyio.to_thread.run_sync(self._start, limiter=_limiter(_starts, MAX_STARTS))

    async def _drive(self, steps: Steps[_T]) -> _T:
        taken = 0
        try:
            step = next(steps)
            while True:
                taken += 1
                if taken % _STEPS_AT_ONCE == 0:
                    await anyio.lowlevel.checkpoint()
                try:
                    outcome = await self._perform(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(outcome)
        except StopIteration as stop:
            result: _T = stop.value
            return result

    async def _perform(self, step: Send | Receive | CallGate) -> Any:
        match step:
            case Send(data):
                return await self._send(data)
            case Receive(seconds):
                with anyio.fail_after(max(seconds, 0.001)):
                    return await self._receive()
            case CallGate(name, args, kwargs):
                return final(name, await self._call(self._gate(name), args, kwargs))

    async def _call(
        self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        if is_async(function):
            return await function(*args, **kwargs)
        if function is plain_done:
            return function(*args, **kwargs)
        answer = await anyio.to_thread.run_sync(
            lambda: function(*args, **kwargs),
            abandon_on_cancel=True,
            limiter=_limiter(_gate_threads, MAX_GATE_THREADS),
        )
        return await answer if inspect.isawaitable(answer) else answer

    async def _send(self, data: bytes) -> None:
        sock = self._socket()
        view = memoryview(data)
        with anyio.fail_after(SEND_SECONDS):
            while view:
                try:
                    view = view[sock.send(view) :]
                except BlockingIOError:
                    await anyio.wait_writable(sock)

    async def _receive(self) -> tuple[Op, bytes | bytearray]:
        sock = self._socket()
        while (taken := self._inbox.take()) is None:
            try:
                count = sock.recv_into(self._inbox.buffer())
            except BlockingIOError:
                await anyio.wait_readable(sock)
                continue
            if not count:
                raise ConnectionError("the worker closed its socket")
            self._inbox.advance(count)
        return taken

    def _socket(self) -> socket.socket:
        if self._worker is None:
            raise ConnectionError("there is no worker")
        self._worker.sock.setblocking(False)
        return self._worker.sock
