"""What both kinds of session have in common: everything but waiting."""

from __future__ import annotations

import inspect
import keyword
import os
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from typing import Any, Literal

from . import dialogue, pool, wire
from .dialogue import Done, GateInfo
from .errors import (
    BackendUnavailable,
    CodecError,
    NoSuchVariable,
    ProtocolError,
    SandboxClosed,
    SandboxError,
)
from .limits import Limits
from .packages import check_modules, check_packages
from .pool import KernelWorker
from .portable import PortableWorker
from .wire import Inbox, Sealed, seal

Backend = Literal["auto", "kernel", "portable"]
Worker = KernelWorker | PortableWorker
SEND_SECONDS = 30.0
"""How long a worker may take to read what it is sent."""
LOST = (TimeoutError, ConnectionError, ProtocolError)
"""What means that a worker, and its state with it, has to be given up."""
_NOT_SILENTLY = (
    "packages need the kernel back end, for with one the language's wall is thin: {}. For code "
    'that you trust, ask for backend="portable"'
)


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


class Session:
    """A worker, what it has been given, and who may use it when."""

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        gate_infos: Mapping[str, GateInfo] | None = None,
        packages: Iterable[str] = (),
    ) -> None:
        if backend not in ("auto", "kernel", "portable"):
            raise ValueError(f"backend must be auto, kernel or portable, not {backend!r}")
        self.limits = limits or Limits()
        self._gates: dict[str, Callable[..., Any]] = {"done": plain_done, **(gates or {})}
        for name in self._gates:
            if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name):
                raise ValueError(f"a gate can't be named {name!r}: it must be a public identifier")
        self._infos = {
            name: describe_gate(name, function) for name, function in self._gates.items()
        }
        self._infos.update(gate_infos or {})
        self._packages = check_packages(packages)
        self._modules = None if modules is None else tuple(modules)
        check_modules(self._modules, self._packages)
        self._wanted = backend
        self._worker: Worker | None = None
        self._inbox = Inbox()
        self._given: dict[str, Sealed] = {}
        self._busy = self._is_new = False
        self._closed = ""
        self.backend: Literal["kernel", "portable", ""] = ""
        self.why_portable = ""
        _sessions.add(self)

    # -- the worker ----------------------------------------------------------------------------

    def _start(self) -> Worker:
        """A fresh worker of the wanted back end, settled and given what the host has set."""
        worker = self._pick_worker()
        self._worker, self.backend = worker, worker.backend
        self._inbox = Inbox()
        worker.sock.settimeout(SEND_SECONDS)
        worker.sock.sendall(dialogue.opening(self.limits, self._modules, self._infos))
        for name, value in self._given.items():
            for part in wire.setting(name, value):
                worker.sock.sendall(part)
        self._is_new = True
        return worker

    def _pick_worker(self) -> Worker:
        if self._wanted != "portable":
            try:
                return pool.take(self._packages)
            except BackendUnavailable as error:
                if self._wanted == "kernel":
                    raise
                if self._packages:
                    raise BackendUnavailable(_NOT_SILENTLY.format(error)) from None
                self.why_portable = str(error)
        worker = PortableWorker(self._packages)
        worker.greet()
        return worker

    def _give_up_worker(self) -> None:
        """End the worker; the next turn starts a fresh one."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _close(self) -> None:
        self._closed = self._closed or "this session is closed"
        self._give_up_worker()
        self._given.clear()

    def _leave_to_parent(self) -> None:
        """In a forked child: the worker is the parent's, and so is its socket."""
        self._closed = "this session belongs to the process that this one was forked from"
        if self._worker is not None:
            self._worker.forget()
            self._worker = None

    @contextmanager
    def _exchange(self) -> Iterator[None]:
        """One use of the worker. What breaks it off in the middle costs the worker its life.

        Raises:
            SandboxClosed: The session is closed.
            SandboxError: Another use is not over.
        """
        if self._closed:
            raise SandboxClosed(self._closed)
        if self._busy:
            raise SandboxError("this session is in the middle of a turn")
        self._busy = True
        try:
            yield
        except (CodecError, NoSuchVariable):
            raise  # the worker's answer, which has been read whole
        except BaseException:
            self._give_up_worker()
            raise
        finally:
            self._busy = False
            if self._is_new:
                # Only now: a fork takes a processor that the first turn has better use for.
                self._is_new = False
                pool.refill(self._packages)

    def _remember(self, name: str, value: Any) -> tuple[bytes, bytes]:
        """The parts of the frame that sets a variable, which is set again in a fresh worker."""
        dialogue.check_name(name)
        if name in self._gates:
            raise NoSuchVariable(f"{name!r} is a gate here and can't be a variable")
        sealed = seal(value)
        self._given[name] = sealed
        return wire.setting(name, sealed)

    def _gate(self, name: str) -> Callable[..., Any]:
        function = self._gates.get(name)
        if function is None:
            raise NameError(f"there is no gate {name!r}; there are: {', '.join(self._gates)}")
        return function

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None where there is no worker at present."""
        return self._worker.pid if self._worker else None


def state_lost(error: Exception) -> SandboxClosed:
    """The error to raise where a worker had to be given up outside of a turn."""
    return SandboxClosed(
        f"the worker gave no answer ({error or 'it took too long'}) and was ended; the state of "
        "the session is lost, but for the variables that its host set"
    )


def final(name: str, result: Any) -> Any:
    """What a gate's result means: that of a function named ``done`` ends the work."""
    return Done(result) if name == "done" and not isinstance(result, Done) else result


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for session in list(_sessions):
        session._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_to_parent)
