"""A session for a host that blocks."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self, TypeVar

from . import channel, dialogue, variables
from .base import LOST, no_answer
from .checkpoint import Checkpoint
from .dialogue import CallGate, Receive, Send, Steps
from .durable import DurableSession, settings_for
from .execution import Execution
from .images import envelope
from .images.steps import dumping, loading
from .limits import Limits
from .plain_gates import final, is_async
from .settings import Backend
from .wire import Op

_T = TypeVar("_T")


class Sandbox(DurableSession):
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
        checkpoints: How many of the last turns' ends are kept as parked processes; 0 to 100.
            Default 1.
        seed: What its programs' random numbers begin with, from 0 and below 2 ** 63. Default: any.

    Attributes:
        backend: The back end that was taken, once a worker has started.
        why_portable: Why ``auto`` took ``portable``, or the empty string.

    Raises:
        ValueError: A gate's name, a module, a package or the back end is not one that can
            be had.
        BackendUnavailable: ``kernel`` was asked for, or packages were, and can't be had.
        PackageUnavailable: A package is installed and can't be loaded.

    A session is used by one thread at a time. When an exception such as
    ``KeyboardInterrupt`` leaves a turn or a gate, the worker is ended, and the session goes on
    from the end of the turn before.
    """

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        packages: Iterable[str] = (),
        checkpoints: int = 1,
        seed: int | None = None,
    ) -> None:
        super().__init__(gates, limits, modules, backend, None, packages, checkpoints, seed)
        for name, function in self._settings.gates.items():
            if is_async(function):
                raise ValueError(f"the gate {name!r} is async; AsyncSandbox takes such gates")
        self._restore()

    def run(self, source: str, reads: bytes | None = None) -> Execution:
        """Run one turn.

        Args:
            source: Python source; the value of a last expression is kept.
            reads: ``Execution.reads`` of a turn that is run again: its reads of clocks and chance
                are answered from there, each kind in order, and from the world where that runs
                out. Default: from the world.

        Raises:
            SandboxClosed: The session is closed.
            TypeError: The source is no text.
            CodecError: It is too long, or the reads are malformed.
        """
        turn = dialogue.Turn(self.limits, self._turns + 1)
        steps = turn.steps(source, reads)
        with self._exchange():
            self._turns = turn.number
            try:
                return self._ended(turn, source, self._drive(steps))
            except LOST as error:
                self._give_up_worker()
                return self._told(turn.given_up(self._why(error), self._roll_back()))
            except BaseException:
                self._broken_off(turn)
                raise

    def __setitem__(self, name: str, value: Any) -> None:
        """Set a variable; types are kept.

        Raises:
            CodecError: The value can't cross, or does not fit into the worker.
            NoSuchVariable: The name is none.
            SandboxClosed: The worker died over it; the session is as it was.
        """
        try:
            with self._exchange():
                setting = self._setting(name, value)
                self._drive(variables.setting(name, setting.value, self.limits))
                self._past.add(setting)
        except LOST as error:
            raise no_answer(error, f"the variable {name!r} is not set") from None

    def __getitem__(self, name: str) -> Any:
        """Get a variable's value; types are kept.

        Raises:
            NoSuchVariable: There is none of that name.
            CodecError: The value can't cross.
            SandboxClosed: The worker died over it.
        """
        try:
            with self._exchange():
                return self._drive(variables.getting(name)).open()
        except LOST as error:
            raise no_answer(error, f"the variable {name!r} was not read") from None

    def checkpoint(self) -> Checkpoint:
        """Keep the state as it is now, to go back to or to fork.

        Raises:
            CheckpointUnavailable: It can't be kept; the text says why.
            SandboxClosed: The session is closed.
        """
        try:
            with self._exchange():
                return Checkpoint(self, self._kept())
        except LOST as error:
            raise no_answer(error, "no checkpoint was made") from None

    def restore(self, point: Checkpoint, rerun: bool = True) -> None:
        """Go back to a checkpoint of this session, or of one with the same settings.

        Turns go on being counted from where they are.

        Args:
            point: The checkpoint.
            rerun: Whether turns may be run again, from the session's record, where the
                checkpoint's process is gone. Default True.

        Raises:
            CheckpointUnavailable: It is closed, can't be had any more, or is of another kind
                of session.
            SandboxClosed: The session is closed.
        """
        if not isinstance(point, Checkpoint):
            raise TypeError(f"point must be a Checkpoint, not {type(point).__name__}")
        with self._exchange(settles=False):
            self._go_back(point._past_for(self), rerun)

    @property
    def checkpoints(self) -> tuple[Checkpoint, ...]:
        """Those that the session keeps by itself, the newest last: good until they give way."""
        return tuple(Checkpoint(self, past, is_own=False) for past in self._pasts())

    def dump(self, skip: bool = False) -> bytes:
        """Write the state into an image, which outlives the session.

        Args:
            skip: Whether variables that can't be kept are left out, which the image then says.
                Default False.

        Returns:
            The image, signed with this user's key unless the back end is ``portable``.

        Raises:
            CannotDump: Variables can't be kept, each of which is named; or there is no room.
            ImageError: The user's key can't be used.
            SandboxClosed: The session is closed, or the worker died over it.
        """
        try:
            with self._exchange():
                dumped = self._drive(dumping())
        except LOST as error:
            raise no_answer(error, "no image was made") from None
        return self._packed(dumped, skip)

    @classmethod
    def load(
        cls,
        image: bytes,
        trust: bool = False,
        gates: Mapping[str, Callable[..., Any]] | None = None,
        limits: Limits | None = None,
        modules: Iterable[str] | None = None,
        backend: Backend = "auto",
        packages: Iterable[str] | None = None,
        checkpoints: int = 1,
    ) -> Self:
        """A session with the state of an image, in a fresh process.

        Args:
            image: What ``dump`` gave.
            trust: Whether to take an image that this user's key has not signed: anybody may have
                written it, and its code runs. Default False.
            gates: The session's gates; all must be there that the image's session had.
            limits: Default: those of the image's session.
            modules: Default: those of the image's session.
            backend: ``kernel``, ``portable`` or ``auto``. Default ``auto``.
            packages: Default: those of the image's session.
            checkpoints: As for any session. Default 1.

        Raises:
            UntrustedImage: The image is not signed with this user's key.
            ImageMismatch: It was made by other versions, or lacks a gate here.
            ImageError: It is none, is damaged, or can't be taken up.
            BackendUnavailable: As for any session.
        """
        opened = envelope.unpack(image, trust)
        settings = settings_for(opened, gates, limits, modules, packages)
        box = cls(backend=backend, checkpoints=checkpoints, **settings)
        try:
            with box._exchange():
                box._drive(loading(opened.body))
                box._take_up(opened)
        except LOST as error:
            box.close()
            raise no_answer(error, "the image was not loaded") from None
        except BaseException:
            box.close()
            raise
        return box

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

    @contextmanager
    def _exchange(self, settles: bool = True) -> Iterator[None]:
        """A use of the worker, which has this session's state unless it is to have another."""
        self._begin()
        self._using.acquire()
        with self._using_worker():
            self._look()
            if settles:
                self._settle()
            yield

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
            case Send(data, seconds):
                return channel.send(self._socket(), data, seconds)
            case Receive(seconds):
                return self._receive(seconds)
            case CallGate(name, args, kwargs):
                return final(name, _not_awaitable(name, self._settings.gate(name)(*args, **kwargs)))

    def _receive(self, seconds: float) -> tuple[Op, bytes | bytearray]:
        return channel.receive(self._socket(), self._inbox, seconds)


def _not_awaitable(name: str, result: Any) -> Any:
    if inspect.isawaitable(result):
        if inspect.iscoroutine(result):
            result.close()  # or Python warns that nobody awaited it
        raise TypeError(f"the gate {name!r} is async; AsyncSandbox takes such gates")
    return result
