"""What both kinds of session have in common: everything but waiting."""

from __future__ import annotations

import copy
import os
import socket
import threading
import weakref
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import replace
from types import MappingProxyType
from typing import Any, Literal, Self

from . import dialogue, pool
from .channel import check_silence, send
from .dialogue import GateInfo
from .errors import (
    BackendUnavailable,
    CheckpointUnavailable,
    CodecError,
    NoSuchVariable,
    ProtocolError,
    SandboxClosed,
    SandboxError,
)
from .execution import Execution, RollBack, lacking
from .keeper import Watch
from .limits import Limits
from .notes import Notes
from .past import Past, Restored, Worker
from .portable import PortableWorker
from .record import Setting, played
from .settings import Backend, Settings
from .variables import check_name
from .wire import Inbox, seal

LOST = (TimeoutError, ConnectionError, ProtocolError)
"""What means that a worker, and its state with it, has to be given up."""
_NOT_SILENTLY = (
    "packages need the kernel back end, for with one the language's wall is thin: {}. For code "
    'that you trust, ask for backend="portable"'
)


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
        checkpoints: int = 1,
        seed: int | None = None,
    ) -> None:
        self._settings = Settings(
            gates, limits, modules, backend, gate_infos, packages, checkpoints, seed
        )
        self.limits = self._settings.limits
        self.why_portable = ""
        self._live()

    def _live(self) -> None:
        """Begin with no worker and no past."""
        self._worker: Worker | None = None
        self._inbox = Inbox()
        self._past = Past(self.limits, self._settings.checkpoints)
        self._turns = 0
        self._cut_off: dialogue.Turn | None = None
        self._notes = Notes()
        self._busy = self._is_new = False
        self._is_untouched = True  # whether the present use has not come to the worker yet
        self._using = threading.Lock()  # held by whoever talks with the worker
        self._watch = Watch(self._keep)
        self._closed = ""
        self.backend: Literal["kernel", "portable", ""] = ""
        self._layers: Mapping[str, str] = {}
        _sessions.add(self)

    def _twin(self) -> Self:
        """Another session with the same settings, which has not begun."""
        twin = copy.copy(self)
        twin._live()
        return twin

    # -- the worker ----------------------------------------------------------------------------

    def _look(self) -> None:
        """End a worker that has died, or said something unasked, since it was last used."""
        if self._worker is None:
            return
        try:
            check_silence(self._worker.sock, self._inbox)
        except ConnectionError:
            self._give_up_worker()
        except ProtocolError as error:
            self._give_up_worker()
            self._notes.broke(error)

    @property
    def _needs_time(self) -> bool:
        """Whether it may take a while until this session can be used."""
        return self._worker is None or self._past.is_due or self._past.needs_image

    def _settle(self) -> None:
        """Have a worker with this session's state, which is kept where that is due."""
        self._is_untouched = False
        if self._worker is not None and self._past.is_due:
            self._keep_by(self._past.park)
        if self._worker is not None and self._past.needs_image:
            self._keep_by(self._past.write_image)
        if self._worker is None:
            self._restore()
        self._is_untouched = True  # it is idle, and has this session's state

    def _restore(self) -> None:
        """Take a worker with the state that this session's past ends in."""
        restored = self._take(self._past)
        cut_off, self._cut_off = self._cut_off, None
        if cut_off is not None:
            self._notes.undone([cut_off.calls])
        if not restored.is_whole:
            self._notes.lost()
        elif cut_off or not restored.is_the_same:
            self._notes.rolled_back(restored.rollback, self._turns)
        else:
            self._notes.kept()

    def _take(self, past: Past) -> Restored:
        restored = past.restore(self._fresh)
        self._adopt(restored.worker)
        return restored

    def _adopt(self, worker: Worker) -> None:
        """Go on with a worker.

        Raises:
            SandboxClosed: The session was closed while it was got ready.
        """
        self._worker, self._inbox = worker, Inbox()
        self.backend = worker.backend
        self._layers = worker.layers
        self._is_new = True
        if self._closed:  # looked at last, for whoever closes it looks for a worker last
            self._give_up_worker()
            raise SandboxClosed(self._closed)

    def _why(self, error: Exception) -> Exception:
        """Why a turn's worker had to be given up."""
        return SandboxClosed("the session was closed while the turn ran") if self._closed else error

    def _roll_back(self) -> RollBack | None:
        """Go back to the end of the last whole turn; None where the state is lost."""
        if self._closed:
            return None
        try:
            restored = self._take(self._past)
        except (SandboxError, OSError):
            return RollBack(self._past.turn)  # the next use tries again, and tells if it can't
        return restored.rollback if restored.is_whole else None

    def _fresh(self) -> Worker:
        """A fresh worker of the wanted back end, which has its settings and no variables."""
        worker = self._pick_worker()
        if worker.why_no_copies:
            self._past.keep = 0
        try:
            send(worker.sock, self._settings.opening())
        except OSError as error:  # a timeout too
            worker.end()
            raise SandboxClosed(f"a worker ended before it was ready: {error}") from None
        return worker

    def _pick_worker(self) -> Worker:
        wanted, packages = self._settings.backend, self._settings.packages
        if wanted != "portable":
            try:
                return pool.take(packages)
            except BackendUnavailable as error:
                if wanted == "kernel":
                    raise
                if packages:
                    raise BackendUnavailable(_NOT_SILENTLY.format(error)) from None
                self.why_portable = str(error)
        worker = PortableWorker(packages)
        worker.greet()
        return worker

    def _give_up_worker(self) -> None:
        """End the worker; the next use takes another one that has its state."""
        if self._worker is not None:
            self._worker.end()
            self._worker = None

    def _close(self) -> None:
        self._closed = self._closed or "this session is closed"
        if self._busy:  # who is in the middle of a turn finds its worker dead, and clears up
            if self._worker is not None:
                self._worker.kill()
            self._past.close()
        else:  # a checkpoint may be made at this moment, with descriptors that are closed here
            with self._using:
                self._give_up_worker()
                self._past.close()
                self._past = Past(self.limits, 0)
        self._watch.close()

    def _leave_to_parent(self) -> None:
        """In a forked child: the worker is the parent's, and so is its socket."""
        self._closed = "this session belongs to the process that this one was forked from"
        self._using = threading.Lock()  # a thread of the parent's may have held it
        self._past.forget()
        if self._worker is not None:
            self._worker.forget()
            self._worker = None

    def _begin(self) -> None:
        """Begin a use of the worker.

        Raises:
            SandboxClosed: The session is closed.
            SandboxError: Another use is not over.
        """
        if self._closed:
            raise SandboxClosed(self._closed)
        if self._busy:
            raise SandboxError("this session is in the middle of a turn")
        self._busy = True

    @contextmanager
    def _using_worker(self) -> Iterator[None]:
        """A use of the worker. What breaks it off in the middle costs the worker its life."""
        self._is_untouched = True
        try:
            yield
        except (CodecError, NoSuchVariable, CheckpointUnavailable):
            raise  # the worker's answer, which has been read whole
        except BaseException:
            if not self._is_untouched:
                self._give_up_worker()
            raise
        finally:
            self._busy = False
            if self._closed:  # meanwhile; whoever did it has left this to be cleared up here
                self._give_up_worker()
                self._past.close()
            self._using.release()
            if self._is_new:
                # Only now: a fork takes a processor that the first turn has better use for.
                self._is_new = False
                pool.refill(self._settings.packages)
            if self._is_to_be_kept:
                self._watch.is_news()

    def _socket(self) -> socket.socket:
        """The worker's socket, to send or to wait by.

        Raises:
            ConnectionError: There is no worker: the session was closed meanwhile.
        """
        self._is_untouched = False
        if self._worker is None:
            raise ConnectionError("there is no worker")
        return self._worker.sock

    def _setting(self, name: str, value: Any) -> Setting:
        """What sets a variable.

        Raises:
            NoSuchVariable: There can be none of that name.
            CodecError: The value can't cross.
        """
        check_name(name)
        if name in self._settings.gates:
            raise NoSuchVariable(f"{name!r} is a gate here and can't be a variable")
        return Setting(name, seal(value))

    # -- the past ------------------------------------------------------------------------------

    def _broken_off(self, turn: dialogue.Turn) -> None:
        """Note a turn that did not come to its end, unless it never began."""
        if self._is_untouched:
            self._turns = turn.number - 1
        else:
            self._cut_off = turn

    def _ended(self, turn: dialogue.Turn, source: str, execution: Execution) -> Execution:
        """Note a turn that has come to its end."""
        self._past.add(played(source, turn.exchanges, turn.calls, execution))
        return self._told(execution)

    def _told(self, execution: Execution) -> Execution:
        """A turn with what its model has to know beforehand."""
        before = self._notes.take()
        return replace(execution, before=before) if before else execution

    def _kept(self) -> Past:
        """The past as it is now, with a checkpoint that stays.

        Raises:
            CheckpointUnavailable: There is no way to keep it.
            TimeoutError, ConnectionError, ProtocolError: The worker has to be given up.
        """
        self._is_untouched = False
        past = self._past.snapshot()
        assert self._worker is not None
        if not self._worker.why_no_copies:
            past.park(self._worker, asked_for=True)
        elif reason := past.why_not_repeatable():
            raise CheckpointUnavailable(
                f"no checkpoint can be made: {self._worker.why_no_copies}, and the turns of this "
                f"session can't be run again: {reason}"
            )
        self._is_untouched = True
        return past

    def _pasts(self) -> list[Past]:
        """The past as of each checkpoint that is kept by itself."""
        return self._past.kept()

    def _go_back(self, kept: Past, rerun: bool = True) -> None:
        """Take up the state that a checkpoint's past ends in.

        Raises:
            CheckpointUnavailable: It can't be had any more.
        """
        self._is_untouched = False
        past = kept.snapshot()
        past.parked = list(kept.parked)
        restored = past.restore(self._fresh) if rerun else past.copy()
        if restored.lost or not restored.is_whole:
            restored.worker.end()
            raise CheckpointUnavailable(
                f"the checkpoint at the end of turn {kept.turn} can't be had any more: its "
                "process is gone, and the turns up to it can't be run again"
            )
        self._give_up_worker()
        self._past.close()
        past.parked, past.keep = [], self._past.keep
        self._past = past
        self._adopt(restored.worker)
        self._turns = max(self._turns, past.turn)
        if restored.left_out:
            self._notes.lacks(lacking(restored.image, restored.left_out))
        self._is_untouched = True

    @property
    def state_id(self) -> int:
        """A number for what its programs find: a checkpoint of the same number has the same."""
        return self._past.state_id

    def _keep(self, seconds: float = 0.0) -> None:
        """Have the state kept now, unless the session is in use, or has nothing new.

        Args:
            seconds: How long to wait for a checkpoint that is being made. Default: not at all.
        """
        if not self._using.acquire(timeout=0 if self._busy else seconds):
            return
        try:
            if self._worker is not None and self._past.keep and self._past.has_news:
                self._keep_by(self._past.park)
            if self._worker is not None and self._past.needs_image:
                self._keep_by(self._past.write_image)
        finally:
            self._using.release()

    @property
    def _is_to_be_kept(self) -> bool:
        """Whether there is something to do once nobody uses this session."""
        return (self._past.keep and self._past.has_news) or self._past.needs_image

    def _keep_by(self, means: Callable[[Worker], None]) -> None:
        """Have the worker's state kept; a worker that does not answer is ended."""
        assert self._worker is not None
        try:
            means(self._worker)
        except (CheckpointUnavailable, SandboxClosed):
            pass  # no room for a process, or in the budget
        except LOST:
            self._give_up_worker()

    @property
    def layers(self) -> Mapping[str, str]:
        """The layers of the kernel's wall, once a worker has started.

        Each by its name, with the empty string where it stands, or why it does not.
        """
        return MappingProxyType(dict(self._layers))

    @property
    def pid(self) -> int | None:
        """The worker's process id, or None where there is no worker at present."""
        with suppress(ProcessLookupError):
            return self._worker.pid if self._worker else None
        return None


def no_answer(error: Exception, doing: str) -> SandboxClosed:
    """The error to raise where a worker had to be given up outside of a turn."""
    return SandboxClosed(
        f"{doing}: the worker gave no answer ({error or 'it took too long'}) and was ended; it may "
        "have lacked memory; the session goes on from the end of its last turn"
    )


_sessions: weakref.WeakSet[Session] = weakref.WeakSet()


def _leave_all_to_parent() -> None:
    for session in list(_sessions):
        session._leave_to_parent()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_leave_all_to_parent)
