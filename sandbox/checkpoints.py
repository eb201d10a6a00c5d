"""Checkpoints: a session's state at the end of a turn, parked in a process of its own.

All that this process holds share a budget of memory. Those that sessions keep by themselves give
way when it is used up, the oldest first: their sessions are then rolled back by running turns
again. Last of all give way those behind which turns can't be run again. Those that were asked for
stay until they are closed.
"""

from __future__ import annotations

import os
import threading
import weakref
from collections.abc import Iterator
from contextlib import AbstractContextManager, contextmanager, suppress

from .capacity import machine_memory
from .errors import BadVariable, CheckpointUnavailable
from .kernel import COPY_SECONDS, KernelWorker

BUDGET_VARIABLE = "CIRCLET_CHECKPOINT_MB"
"""Environment variable with the memory that all checkpoints may take, in MiB. Default: a
quarter of the machine's, or of the container's."""
_OWN_BYTES = 1 << 20  # what a parked process takes up in any case


class Parked:
    """A parked copy of a worker.

    Attributes:
        worker: The copy. It is only ever copied again, so that it serves any number of times.
        place: Where it stands in its session's record.
        turn: The turn at whose end it was made; 0 before the first.
        state_id: Which of its session's states it has.
        is_only_way: Whether its session could not come back to this place without it.
    """

    def __init__(
        self, worker: KernelWorker, place: int, turn: int, state_id: int, is_only_way: bool = False
    ) -> None:
        self.worker = worker
        self.place = place
        self.turn = turn
        self.state_id = state_id
        self.is_only_way = is_only_way
        self.size = _OWN_BYTES
        with suppress(ProcessLookupError):  # who needs it will see that it is gone
            self.size += worker.memory
        self.is_closed = False

    def close(self) -> None:
        """Let go of it."""
        self.is_closed = True
        _budget.drop(self)
        self.worker.end()


class _Budget:
    """What all checkpoints of this process take up."""

    def __init__(self) -> None:
        self._lock = threading.RLock()
        # Each with whether it was asked for, the oldest first.
        self._kept: weakref.WeakKeyDictionary[Parked, bool] = weakref.WeakKeyDictionary()

    def add(self, parked: Parked, asked_for: bool) -> None:
        with self._lock:
            self._kept[parked] = asked_for
            try:
                most = budget_bytes()
            except BadVariable as error:  # it was changed since
                parked.close()
                raise CheckpointUnavailable(str(error)) from None
            while sum(one.size for one in list(self._kept)) > most:
                others = self._may_go() if parked.size <= most else []
                first = next(iter(others), parked)
                first.close()
                if first is parked:
                    raise CheckpointUnavailable(
                        f"checkpoints may take {most >> 20:,} MiB together, and this one does not "
                        f"fit: close some, or set {BUDGET_VARIABLE}"
                    )

    def drop(self, parked: Parked) -> None:
        with self._lock:
            self._kept.pop(parked, None)

    def shed(self, most: int) -> int:
        with self._lock:
            first = self._may_go()[:most]
            for one in first:
                one.close()
            return len(first)

    def _may_go(self) -> list[Parked]:
        """Those that may give way, in that order."""
        kept = [one for one, asked in self._kept.items() if not asked]
        return sorted(kept, key=lambda one: one.is_only_way)  # the oldest first of each kind


class _Making:
    """The checkpoints that are being made at this moment, each by a thread of its own.

    One takes up room as a worker does, and can't give way until it is made.
    """

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._threads: set[int] = set()
        self._hurried: set[int] = set()

    @contextmanager
    def hurry(self) -> Iterator[None]:
        thread = threading.get_ident()
        self._hurried.add(thread)
        try:
            yield
        finally:
            self._hurried.discard(thread)

    @contextmanager
    def one(self) -> Iterator[None]:
        thread = threading.get_ident()
        with self._changed:
            self._threads.add(thread)
        try:
            yield
        finally:
            with self._changed:
                self._threads.discard(thread)
                self._changed.notify_all()

    def wait_for_one(self) -> bool:
        with self._changed:
            # Two that make one and wait for each other would wait in vain.
            if not self._threads or threading.get_ident() in self._threads | self._hurried:
                return False
            return self._changed.wait(COPY_SECONDS)


_budget = _Budget()
_making = _Making()


def being_made() -> AbstractContextManager[None]:
    """While a checkpoint is made, until it is counted in."""
    return _making.one()


def without_waiting() -> AbstractContextManager[None]:
    """While this thread has no time to wait for one that is being made: it runs an event loop."""
    return _making.hurry()


def wait_for_one() -> bool:
    """Wait until a checkpoint that is being made is there, and can give way; whether there was one.

    A thread that makes one itself does not wait, nor does one that has no time to.
    """
    return _making.wait_for_one()


def add(parked: Parked, asked_for: bool) -> None:
    """Count a checkpoint in; older ones that nobody has asked for give way.

    Raises:
        CheckpointUnavailable: There is no room.
    """
    _budget.add(parked, asked_for)


def shed(most: int) -> int:
    """Let go of the oldest checkpoints that nobody has asked for; returns how many.

    Args:
        most: How many at the most.
    """
    return _budget.shed(most)


def _anew_in_child() -> None:
    """A forked child has no checkpoints, and its parent may have held the lock."""
    global _budget, _making
    _budget, _making = _Budget(), _Making()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew_in_child)


def budget_bytes() -> int:
    """Bytes that all checkpoints of this process may take up together.

    Raises:
        BadVariable: The environment variable holds no whole number.
    """
    text = os.environ.get(BUDGET_VARIABLE, "")
    if not text:
        return machine_memory() // 4
    if not text.isdecimal():
        raise BadVariable(f"{BUDGET_VARIABLE} must be a whole number of MiB, not {text!r}")
    return int(text) << 20
