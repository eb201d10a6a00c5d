"""A session for a host that awaits."""

from __future__ import annotations

import inspect
import time
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from contextlib import asynccontextmanager, suppress
from types import TracebackType
from typing import Any, Self, TypeVar

import anyio
import anyio.lowlevel
import anyio.to_thread
from anyio.lowlevel import RunVar

from . import checkpoints, dialogue, pool, variables
from .base import LOST, no_answer
from .checkpoint import AsyncCheckpoint
from .dialogue import CallGate, GateInfo, Receive, Send, Steps
from .durable import DurableSession, settings_for
from .errors import NoCapacity
from .execution import Execution
from .images import envelope
from .images.steps import dumping, loading
from .kernel import COPY_SECONDS
from .limits import Limits
from .plain_gates import final, is_async, plain_done
from .settings import Backend
from .threads import to_its_end
from .wire import Op

_T = TypeVar("_T")
_QUICK_BYTES = 65_536
"""A worker that stands ready takes settings of this size without making its host wait."""
_SLICE_SECONDS = 0.001
"""Time after which other tasks have their turn, whether or not a worker's frames have to be
waited for."""
MAX_GATE_THREADS = 64
"""Plain functions that run at the same time as gates of one event loop's sessions."""
_gate_threads: RunVar[anyio.CapacityLimiter] = RunVar("circlet sandbox gate threads")


class AsyncSandbox(DurableSession):
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
        checkpoints: How many of the last turns' ends are kept as parked processes. Default 1.
        seed: What its programs' random numbers begin with, from 0 and below 2 ** 63. Default: any.
    """

    async def run(self, source: str, reads: bytes | None = None) -> Execution:
        """Run one turn. See ``Sandbox.run``."""
        return await self.run_turn(dialogue.Turn(self.limits), source, reads)

    async def run_turn(
        self, turn: dialogue.Turn, source: str, reads: bytes | None = None
    ) -> Execution:
        """Run one turn that the caller holds: what it printed can be read while it runs.

        So can what it read of clocks and chance: ``turn.stdout`` and ``turn.take_reads()``.
        """
        turn.number = self._turns + 1
        steps = turn.steps(source, reads)
        async with self._exchange():
            self._turns = turn.number
            try:
                return self._ended(turn, source, await self._drive(steps))
            except LOST as error:
                self._give_up_worker()
                self._cut_off = turn  # until it is told of
                rollback = await to_its_end(self._roll_back)
                self._cut_off = None
                return self._told(turn.given_up(self._why(error), rollback))
            except BaseException:
                self._broken_off(turn)
                raise

    def pass_over(self) -> None:
        """Count a turn that is not run, for what it did was undone when it ran before.

        So that the turns which follow have the numbers that they had then.
        """
        self._turns += 1

    async def set(self, name: str, value: Any) -> None:
        """Set a variable. See ``Sandbox.__setitem__``."""
        try:
            async with self._exchange():
                setting = self._setting(name, value)
                await self._drive(variables.setting(name, setting.value, self.limits))
                self._past.add(setting)
        except LOST as error:
            raise no_answer(error, f"the variable {name!r} is not set") from None

    async def get(self, name: str) -> Any:
        """Get a variable's value. See ``Sandbox.__getitem__``."""
        try:
            async with self._exchange():
                return (await self._drive(variables.getting(name))).open()
        except LOST as error:
            raise no_answer(error, f"the variable {name!r} was not read") from None

    async def checkpoint(self) -> AsyncCheckpoint:
        """Keep the state as it is now. See ``Sandbox.checkpoint``."""
        try:
            async with self._exchange():
                return AsyncCheckpoint(self, await to_its_end(self._kept))
        except LOST as error:
            raise no_answer(error, "no checkpoint was made") from None

    async def restore(self, point: AsyncCheckpoint, rerun: bool = True) -> None:
        """Go back to a checkpoint. See ``Sandbox.restore``."""
        if not isinstance(point, AsyncCheckpoint):
            raise TypeError(f"point must be an AsyncCheckpoint, not {type(point).__name__}")
        async with self._exchange(settles=False):
            past = point._past_for(self)
            await to_its_end(lambda: self._go_back(past, rerun))

    async def keep(self) -> None:
        """Have the checkpoint made now that the session keeps by itself, unless it is in use."""
        await to_its_end(lambda: self._keep(COPY_SECONDS))

    @property
    def checkpoints(self) -> tuple[AsyncCheckpoint, ...]:
        """Those that the session keeps by itself. See ``Sandbox.checkpoints``."""
        return tuple(AsyncCheckpoint(self, past, is_own=False) for past in self._pasts())

    async def dump(self, skip: bool = False) -> bytes:
        """Write the state into an image. See ``Sandbox.dump``."""
        try:
            async with self._exchange():
                dumped = await self._drive(dumping())
        except LOST as error:
            raise no_answer(error, "no image was made") from None
        return await to_its_end(lambda: self._packed(dumped, skip))

    @classmethod
    async def load(
        cls,
        image: bytes,
        trust: bool = False,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        gate_infos: Mapping[str, GateInfo] | None = None,
        packages: Iterable[str] | None = None,
        checkpoints: int = 1,
    ) -> Self:
        """A session with the state of an image, in a fresh process. See ``Sandbox.load``."""
        opened = await to_its_end(lambda: envelope.unpack(image, trust))
        settings = settings_for(opened, gates, limits, modules, packages)
        box = cls(backend=backend, checkpoints=checkpoints, gate_infos=gate_infos, **settings)
        try:
            async with box._exchange():
                await box._drive(loading(opened.body))
                box._take_up(opened)
        except LOST as error:
            await box.aclose()
            raise no_answer(error, "the image was not loaded") from None
        except BaseException:
            await box.aclose()
            raise
        return box

    async def aclose(self) -> None:
        """End the session and its process."""
        if self._using.locked() and not self._busy:  # a checkpoint is made at this moment
            await to_its_end(self._close)
        else:
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

    @asynccontextmanager
    async def _exchange(self, settles: bool = True) -> AsyncIterator[None]:
        """A use of the worker, which has this session's state unless it is to have another."""
        await anyio.lowlevel.checkpoint_if_cancelled()
        self._begin()
        try:
            if not self._using.acquire(blocking=False):  # a checkpoint is made at this moment
                await to_its_end(self._using.acquire)
        except BaseException:
            self._busy = False
            self._using.release()  # which it has got by then
            raise
        with self._using_worker():
            self._look()
            if settles and self._needs_time:
                await self._settle_soon()
            yield

    async def _settle_soon(self) -> None:
        is_quick = (
            self._settings.backend != "portable"
            and not self._past.turn
            and self._past.size < _QUICK_BYTES
            and pool.has_ready(self._settings.packages)
        )
        if is_quick:
            # Where others would have to make room first, a thread waits for that.
            with suppress(NoCapacity), checkpoints.without_waiting():
                self._settle()
                return
        await to_its_end(self._settle)

    async def _drive(self, steps: Steps[_T]) -> _T:
        paused = time.monotonic()
        try:
            step = next(steps)
            while True:
                paused = await _pause(paused)
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
            case Send(data, seconds):
                return await self._send(data, seconds)
            case Receive(seconds):
                with anyio.fail_after(max(seconds, 0.001)):
                    return await self._receive()
            case CallGate(name, args, kwargs):
                return final(name, await self._call(self._settings.gate(name), args, kwargs))

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

    async def _send(self, data: bytes, seconds: float) -> None:
        sock = self._socket()
        sock.setblocking(False)
        view = memoryview(data)
        with anyio.fail_after(seconds):
            while view:
                try:
                    view = view[sock.send(view) :]
                except BlockingIOError:
                    await anyio.wait_writable(sock)

    async def _receive(self) -> tuple[Op, bytes | bytearray]:
        sock = self._socket()
        sock.setblocking(False)
        paused = time.monotonic()
        while (taken := self._inbox.take()) is None:
            paused = await _pause(paused)
            try:
                count = sock.recv_into(self._inbox.buffer())
            except BlockingIOError:
                await anyio.wait_readable(sock)
                continue
            if not count:
                raise ConnectionError("the worker closed its socket")
            self._inbox.advance(count)
        return taken


async def _pause(last: float) -> float:
    """Let other tasks have their turn when it is time; gives when that was last."""
    if time.monotonic() - last < _SLICE_SECONDS:
        return last
    await anyio.lowlevel.checkpoint()
    return time.monotonic()


def _limiter(of_loop: RunVar[anyio.CapacityLimiter], threads: int) -> anyio.CapacityLimiter:
    """An event loop's own limiter: anyio's default one may be used up by others."""
    try:
        return of_loop.get()
    except LookupError:
        of_loop.set(anyio.CapacityLimiter(threads))
        return of_loop.get()
