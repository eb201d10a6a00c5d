"""How many workers this process may have, and how much memory they may take up together.

A new worker is refused before the machine starves of them; what nobody waits for gives way first.
Workers that run already are not stopped here: a cgroup bounds those, where there is one.
"""

from __future__ import annotations

import math
import os
import socket
import sys
import threading
import time
import weakref
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Protocol

from . import cgroups
from .errors import BadVariable, NoCapacity

if sys.platform == "win32":
    resource = None
else:
    import resource

WORKERS_VARIABLE = "CIRCLET_MAX_WORKERS"
"""Environment variable with how many workers there may be at once: those of sessions, those that
stand ready, and checkpoints. Default: one for each 4 MiB of ``max_memory()``, and no more than
half of the processes that this user may have."""
MEMORY_VARIABLE = "CIRCLET_MAX_MEMORY_MB"
"""Environment variable with the memory that all workers may take up together, in MiB. Default:
three quarters of the machine's, or of the container's."""
_WORKER_BYTES = 4 << 20
_PAIRS = 4
"""Pairs of descriptors that a session may take until it has run its first turn."""
_OWN_BYTES = 1 << 20  # what a worker takes up in any case: pages that are its own and no more
_LOOK_SECONDS = 0.25
"""How old a look at the memory in use may be."""
_LOOK_SHARE = 20
"""How old it may be where it takes long, in times of that: a thousand workers take a while."""


class Measured(Protocol):
    """A worker, as far as it counts here."""

    @property
    def memory(self) -> int:
        """Bytes that it has of its own."""


class _Workers:
    """All workers of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        # By identity. A worker may end by the collector's hand in the middle of anything, so to
        # take one out needs no lock: it is one step.
        self._live: dict[int, weakref.ref[Measured]] = {}
        self._sizes: dict[int, int] = {}
        self._next_look = 0.0

    def join(self, worker: Measured, most: int) -> bool:
        with self._lock:
            if len(self._live) >= most:
                return False
            self._live[id(worker)] = weakref.ref(worker)
            return True

    def leave(self, worker: Measured) -> None:
        self._live.pop(id(worker), None)
        self._sizes.pop(id(worker), None)

    @property
    def count(self) -> int:
        return len(self._live)

    def memory(self, most: int) -> int:
        """Bytes that they take up, as of a moment ago; none where all of the machine uses less."""
        now = time.monotonic()
        if now >= self._next_look:
            live = list(self._live.items()) if _used_by_all() >= most else []
            self._sizes = {place: _size(ref()) for place, ref in live}
            took = time.monotonic() - now
            self._next_look = now + max(_LOOK_SECONDS, _LOOK_SHARE * took)
        return sum(list(self._sizes.values()))


def _size(worker: Measured | None) -> int:
    with suppress(OSError):  # it has ended, or /proc can't be read
        return worker.memory + _OWN_BYTES if worker is not None else 0
    return _OWN_BYTES


def _used_by_all() -> float:
    """Bytes in use on this machine; without bound where that can't be told."""
    try:
        lines = Path("/proc/meminfo").read_text().splitlines()
        total, available = (
            int(line.split()[1])
            for line in lines
            if line.startswith(("MemTotal:", "MemAvailable:"))
        )
    except (OSError, ValueError):
        return math.inf
    return (total - available) << 10


_workers = _Workers()
_gives_way: Callable[[], bool] = lambda: False  # noqa: E731


def let_go_by(function: Callable[[], bool]) -> None:
    """Set what lets go of workers that nobody waits for; it tells whether there were any."""
    global _gives_way
    _gives_way = function


def check() -> None:
    """Check that a worker more finds memory and descriptors.

    Raises:
        NoCapacity: It does not.
        BadVariable: An environment variable holds no whole number.
    """
    while lack := _lack_of_memory() or _lack_of_descriptors():
        if not _gives_way():
            raise NoCapacity(lack)


def admit(worker: Measured, others_give_way: bool = True) -> None:
    """Count a new worker in; it counts until ``leave``.

    Args:
        worker: The worker. Held weakly.
        others_give_way: Whether to let go of others that nobody waits for, where there is no room.

    Raises:
        NoCapacity: There are as many as there may be.
        BadVariable: An environment variable holds no whole number.
    """
    most = max_workers()
    while not _workers.join(worker, most):
        if not (others_give_way and _gives_way()):
            raise NoCapacity(
                f"there is no room for another worker: {_workers.count:,} are in use, and there "
                f"may be {most:,} (sessions, their checkpoints, and those that stand ready); close "
                f"some sessions, or set {WORKERS_VARIABLE}"
            )


def measure(pid: int) -> int:
    """Bytes of memory that a process has to itself or shares with what it was forked from.

    Raises:
        ProcessLookupError: It has ended, or this system does not tell.
    """
    try:
        _, resident, shared, *_ = Path(f"/proc/{pid}/statm").read_text().split()
    except (FileNotFoundError, ValueError):
        raise ProcessLookupError("the process has ended") from None
    return (int(resident) - int(shared)) * os.sysconf("SC_PAGE_SIZE")


def leave(worker: Measured) -> None:
    """Count a worker out."""
    _workers.leave(worker)


def count() -> int:
    """How many workers there are: of sessions, of checkpoints, and those that stand ready."""
    return _workers.count


def max_workers() -> int:
    """How many workers there may be at once.

    Raises:
        BadVariable: The environment variable holds no whole number.
    """
    given = _whole_number(WORKERS_VARIABLE)
    if given is not None:
        return given
    most = max(max_memory() // _WORKER_BYTES, 1)
    if resource is not None:
        processes = resource.getrlimit(resource.RLIMIT_NPROC)[0]
        if processes > 0:
            most = min(most, max(processes // 2, 1))
    return most


def max_memory() -> int:
    """Bytes that all workers may take up together.

    Raises:
        BadVariable: The environment variable holds no whole number.
    """
    given = _whole_number(MEMORY_VARIABLE)
    return machine_memory() * 3 // 4 if given is None else given << 20


def machine_memory() -> int:
    """Bytes of memory that this machine has, or that the container may use if that is less."""
    if not hasattr(os, "sysconf"):
        return 1 << 30
    machine = os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")
    limit = cgroups.memory_limit()
    return machine if limit is None else min(machine, limit)


def _whole_number(variable: str) -> int | None:
    text = os.environ.get(variable, "")
    if text and not text.isdecimal():
        raise BadVariable(f"{variable} must be a whole number, not {text!r}")
    return int(text) if text else None


def _lack_of_memory() -> str:
    most = max_memory()
    used = _workers.memory(most)
    if used < most:
        return ""
    return (
        f"there is no memory for another worker: {_workers.count:,} of them take up "
        f"{used >> 20:,} MiB, and may take {most >> 20:,}; close some sessions, or set "
        f"{MEMORY_VARIABLE}"
    )


# -- descriptors -----------------------------------------------------------------------------


def _lack_of_descriptors() -> str:
    while not _has_descriptors():
        if not _raise_limit():
            return no_descriptors()
    return ""


def socket_pair(kind: int = socket.SOCK_STREAM) -> tuple[socket.socket, socket.socket]:
    """The two ends of a worker's socket, or of a zygote's.

    Raises:
        NoCapacity: There are no descriptors left.
    """
    try:
        return socket.socketpair(type=kind)
    except OSError:
        raise NoCapacity(no_descriptors()) from None


def no_descriptors() -> str:
    """What to say where this process has no file descriptor left."""
    most = resource.getrlimit(resource.RLIMIT_NOFILE)[0] if resource is not None else 0
    return (
        f"there are no file descriptors for another worker: this process may have {most:,} "
        "(a session takes three, a checkpoint two); close some sessions, or raise the limit "
        "(ulimit -n)"
    )


def _has_descriptors() -> bool:
    """Whether a session finds descriptors: the only way to know is to take some."""
    taken: list[int] = []
    try:
        for _ in range(_PAIRS):
            taken += os.pipe()
    except OSError:
        return False
    finally:
        for fd in taken:
            os.close(fd)
    return True


def _raise_limit() -> bool:
    """Raise this process's own limit of descriptors, as far as it may; whether that helps."""
    if resource is None:
        return False
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    wanted = soft * 2 if hard < 0 else min(soft * 2, hard)
    try:
        resource.setrlimit(resource.RLIMIT_NOFILE, (wanted, hard))
    except (OSError, ValueError):
        return False
    return wanted > soft


def _anew_in_child() -> None:
    """A forked child has none of its parent's workers, and the parent may have held the lock."""
    global _workers
    _workers = _Workers()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew_in_child)
