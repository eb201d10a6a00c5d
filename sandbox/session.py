"""A session as its host holds it: ``Sandbox`` blocks, ``AsyncSandbox`` awaits, over one wire."""

from __future__ import annotations

import inspect
import socket
from collections.abc import Awaitable, Callable, Iterable, Mapping
from types import TracebackType
from typing import Any, Literal, Self

import anyio
import anyio.to_thread

from . import dialogue, pool
from .dialogue import CallGate, Done, GateInfo, Receive, Send, Steps
from .errors import BackendUnavailable, CodecError, ProtocolError, SandboxClosed, SandboxError
from .execution import Execution
from .limits import Limits
from .pool import KernelWorker
from .portable import PortableWorker
from .wire import Inbox, Op, Sealed, seal

Backend = Literal["auto", "kernel", "portable"]
Worker = KernelWorker | PortableWorker
SEND_SECONDS = 30.0
"""How long a worker may take to read what it is sent."""
_LOST = (TimeoutError, ConnectionError, ProtocolError, CodecError)


def _plain_done(*args: Any, **kwargs: Any) -> Any:
    """End the work with an answer (``CIRCLE-8``: its type is kept)."""
    given = [*args, *kwargs.values()]
    if not given:
        raise TypeError("done: missing required argument: answer; write done(answer)")
    if len(given) > 1 or set(kwargs) - {"answer"}:
        raise TypeError("done takes one argument; write done(answer)")
    return given[0]


_DONE = GateInfo("done(answer)", ("answer",), frozenset({"answer"}))


def describe_gate(name: str, function: Callable[..., Any]) -> GateInfo:
    """What a worker is told of a plain function as a gate."""
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


class _Session:
    """What both kinds of session have in common: everything but waiting."""

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        gate_infos: Mapping[str, GateInfo] | None = None,
    ) -> None:
        if backend not in ("auto", "kernel", "portable"):
            raise ValueError(f"backend must be auto, kernel or portable, not {backend!r}")
        self.limits = limits or Limits()
        self._gates: dict[str, Callable[..., Any]] = {"done": _plain_done, **(gates or {})}
        for name in self._gates:
            if not name.isidentifier() or name.startswith("_"):
                raise ValueError(f"a gate can't be named {name!r}: it must be a public identifier")
        self._infos = {
            name: _DONE if function is _plain_done else describe_gate(name, function)
            for name, function in self._gates.items()
        }
        self._infos.update(gate_infos or {})
        self._modules = _known(modules)
        self._wanted = backend
        self._worker: Worker | None = None
        self._inbox = Inbox()
        self._given: dict[str, Sealed] = {}
        self._busy = self._closed = False
        self.backend: Literal["kernel", "portable", ""] = ""
        self.why_portable = ""

    # -- the worker ----------------------------------------------------------------------------

    def _start(self) -> Worker:
        """A fresh worker of the wanted back end, settled and given what the host has set."""
        worker = self._pick_worker()
        self._inbox = Inbox()
        settings = [dialogue.opening(self.limits, self._modules, self._infos)]
        settings += [dialogue.setting(name, value) for name, value in self._given.items()]
        worker.sock.settimeout(SEND_SECONDS)
        worker.sock.sendall(b"".join(settings))
        self._worker, self.backend = worker, worker.backend  # type: ignore[assignment]
        pool.refill()
        return worker

    def _pick_worker(self) -> Worker:
        if self._wanted != "portable":
            try:
                return pool.take()
            except BackendUnavailable as error:
                if self._wanted == "kernel":
                    raise
                self.why_portable = str(error)
        worker = PortableWorker()
        worker.greet()
        return worker

    def _give_up_worker(self) -> None:
        """Kill the worker; the next turn starts a fresh one."""
        if self._worker is not None:
            self._worker.kill()
            self._worker.close()
            self._worker = None

    def _close(self) -> None:
        self._closed = True
        self._give_up_worker()
        self._given.clear()

    def _enter(self) -> None:
        if self._closed:
            raise SandboxClosed("this session is closed")
        if self._busy:
            raise SandboxError("this session is in the middle of a turn")
        self._busy = True

    def _remember(self, name: str, value: Any) -> bytes:
        """The frame that sets a variable, which is set again in a fresh worker."""
        sealed = seal(value)
        data = dialogue.setting(name, sealed)
        self._given[name] = sealed
        return data

    def _gate(self, name: str) -> Callable[..., Any]:
        function = self._gates.get(name)
        if function is None:
            raise NameError(f"there is no gate {name!r}; there are: {', '.join(self._gates)}")
        return function

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None where there is no worker at present."""
        return self._worker.pid if self._worker else None


def _known(modules: Iterable[str] | None) -> tuple[str, ...] | None:
    if modules is None:
        return None
    from .facades import PUBLIC  # here, for it loads every module behind a facade

    names = tuple(modules)
    for name in names:
        if name not in PUBLIC:
            raise ValueError(
                f"no module {name!r} can be given to a program; there are: {', '.join(PUBLIC)}"
            )
    return names


def _final(name: str, result: Any) -> Any:
    return Done(result) if name == "done" and not isinstance(result, Done) else result


class Sandbox(_Session):
    """A namespace in a process of its own, for a host that blocks.

    Args:
        gates: Functions that the program may call, by name. ``done`` is always there.
        limits: What the program may use up. Default ``Limits()``.
        modules: Modules that it may import. Default: all facades.
        backend: ``kernel`` (two walls, Linux), ``portable`` (the language wall), or
            ``auto``: the best there is. Default ``auto``.

    Attributes:
        backend: The back end that was taken, once a worker has started.
        why_portable: Why ``auto`` took ``portable``, or the empty string.

    Raises:
        ValueError: A gate's name, a module or the back end is not one that can be had.
        BackendUnavailable: ``kernel`` was asked for and can't be had.

    A session is used by one thread at a time.
    """

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
    ) -> None:
        super().__init__(gates, limits, modules, backend)
        for name, function in self._gates.items():
            if inspect.iscoroutinefunction(function):
                raise ValueError(f"the gate {name!r} is async; AsyncSandbox takes such gates")
        self._start()

    def run(self, source: str) -> Execution:
        """Run one turn.

        Args:
            source: Python source; the value of a last expression is kept.

        Raises:
            SandboxClosed: The session is closed.
        """
        self._enter()
        turn = dialogue.Turn(self.limits)
        try:
            self._worker or self._start()
            return self._drive(turn.steps(source))
        except _LOST as error:
            self._give_up_worker()
            return turn.given_up(error)
        except BaseException:
            # The worker is in the middle of something that nobody will read the end of.
            self._give_up_worker()
            raise
        finally:
            self._busy = False

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a variable; types are kept.

        Raises:
            CodecError: The value can't cross.
            NoSuchVariable: The name is none.
        """
        self._enter()
        try:
            data = self._remember(name, value)
            if self._worker is None:
                self._start()
            else:
                self._send(data)
        except OSError:
            self._give_up_worker()
        finally:
            self._busy = False

    def __getitem__(self, name: str) -> Any:
        """Get a variable's value; types are kept.

        Raises:
            NoSuchVariable: There is none of that name.
            CodecError: The value can't cross.
            SandboxClosed: The worker died over it.
        """
        self._enter()
        try:
            self._worker or self._start()
            return self._drive(dialogue.getting(name)).open()
        except (TimeoutError, ConnectionError, ProtocolError) as error:
            self._give_up_worker()
            raise SandboxClosed(f"the worker gave no answer: {error}; its state is lost") from None
        finally:
            self._busy = False

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

    def _drive(self, steps: Steps[Any]) -> Any:
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
            return stop.value

    def _perform(self, step: Send | Receive | CallGate) -> Any:
        match step:
            case Send(data):
                return self._send(data)
            case Receive(seconds):
                return self._receive(seconds)
            case CallGate(name, args, kwargs):
                return _final(name, self._gate(name)(*args, **kwargs))

    def _send(self, data: bytes) -> None:
        sock = self._socket()
        sock.settimeout(SEND_SECONDS)
        sock.sendall(data)

    def _receive(self, seconds: float) -> tuple[Op, bytes | bytearray]:
        sock = self._socket()
        sock.settimeout(max(seconds, 0.001))
        while (taken := self._inbox.take()) is None:
            count = sock.recv_into(self._inbox.buffer())
            if not count:
                raise ConnectionError("the worker closed its socket")
            self._inbox.advance(count)
        return taken

    def _socket(self) -> socket.socket:
        if self._worker is None:
            raise ConnectionError("there is no worker")
        return self._worker.sock


class AsyncSandbox(_Session):
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
    """

    async def run(self, source: str) -> Execution:
        """Run one turn. See ``Sandbox.run``."""
        return await self.run_turn(dialogue.Turn(self.limits), source)

    async def run_turn(self, turn: dialogue.Turn, source: str) -> Execution:
        """Run one turn that the caller holds: its ``stdout`` can be read while it runs."""
        self._enter()
        try:
            await self._ensure()
            return await self._drive(turn.steps(source))
        except _LOST as error:
            self._give_up_worker()
            return turn.given_up(error)
        except BaseException:
            self._give_up_worker()
            raise
        finally:
            self._busy = False

    async def set(self, name: str, value: Any) -> None:
        """Set a variable. See ``Sandbox.__setitem__``."""
        self._enter()
        try:
            data = self._remember(name, value)
            if self._worker is None:
                await self._ensure()
            else:
                await self._send(data)
        except OSError:
            self._give_up_worker()
        finally:
            self._busy = False

    async def get(self, name: str) -> Any:
        """Get a variable's value. See ``Sandbox.__getitem__``."""
        self._enter()
        try:
            await self._ensure()
            return (await self._drive(dialogue.getting(name))).open()
        except (TimeoutError, ConnectionError, ProtocolError) as error:
            self._give_up_worker()
            raise SandboxClosed(f"the worker gave no answer: {error}; its state is lost") from None
        finally:
            self._busy = False

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
            if self._wanted != "portable" and pool.has_ready():
                self._start()
            else:
                await anyio.to_thread.run_sync(self._start)

    async def _drive(self, steps: Steps[Any]) -> Any:
        try:
            step = next(steps)
            while True:
                try:
                    outcome = await self._perform(step)
                except Exception as error:
                    step = steps.throw(error)
                else:
                    step = steps.send(outcome)
        except StopIteration as stop:
            return stop.value

    async def _perform(self, step: Send | Receive | CallGate) -> Any:
        match step:
            case Send(data):
                return await self._send(data)
            case Receive(seconds):
                with anyio.fail_after(max(seconds, 0.001)):
                    return await self._receive()
            case CallGate(name, args, kwargs):
                return _final(name, await self._call(self._gate(name), args, kwargs))

    async def _call(
        self, function: Callable[..., Any], args: list[Any], kwargs: dict[str, Any]
    ) -> Any:
        if inspect.iscoroutinefunction(function) or function is _plain_done:
            result = function(*args, **kwargs)
            return await result if isinstance(result, Awaitable) else result
        return await anyio.to_thread.run_sync(
            lambda: function(*args, **kwargs), abandon_on_cancel=True
        )

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
