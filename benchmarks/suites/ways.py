"""The ways in which probes are run: with both of a sandbox's walls, or with one taken away."""

from __future__ import annotations

import os
import select
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

from circlet.sandbox import Limits, Sandbox
from circlet.sandbox.pool import Zygote
from circlet.sandbox.testing import KERNEL_LAYERS, SandboxOf, zygote_without

WAYS = {
    "language": "the language's wall alone: no layer of the kernel's",
    "kernel": "the kernel's wall alone: plain exec in a jailed worker",
    "both": "both walls",
    "portable": "the language's wall alone, on the portable back end",
}
"""The ways, by name."""

ENDING_SECONDS = 60.0
"""Time after which a process that should have ended counts as one that stays."""


class Way:
    """Sessions of one way.

    Attributes:
        name: One of ``WAYS``.
        language_stands: Whether programs are checked.
        notes: What this machine doesn't give, in sentences.
    """

    def __init__(self, name: str, limits: Limits, zygote: Zygote | None) -> None:
        self.name = name
        self.language_stands = name != "kernel"
        self._limits = limits
        self._zygote = zygote
        self._idle: list[Sandbox] = []
        layers = {} if zygote is None else zygote.layers
        self.notes = [f"{name}: without {layer}: {why}" for layer, why in layers.items() if why]

    def session(self, limits: Limits | None = None) -> Sandbox:
        """A session, which ``give_back`` takes back."""
        gates = {"echo": lambda value=None, *_, **__: value}
        if self._zygote is not None:
            return SandboxOf(self._zygote, gates=gates, limits=limits or self._limits)
        with suppress(IndexError):
            return self._idle.pop()
        return Sandbox(gates=gates, limits=limits or self._limits, backend="portable")

    def give_back(self, box: Sandbox, whole: bool) -> None:
        """End a session, or keep it for the next probe where a worker is dear and it is whole."""
        if self._zygote is None and whole:
            self._idle.append(box)
        else:
            box.close()

    def close(self) -> None:
        """End the sessions that were kept."""
        while self._idle:
            self._idle.pop().close()

    def left_behind(self) -> list[int]:
        """Processes that outlive all sessions of this way, by id."""
        self.close()
        if self._zygote is None:
            return []
        return [pid for pid in _of_session(self._zygote._process.pid) if not _ends(pid)]


@contextmanager
def opened(name: str, limits: Limits, without: Sequence[str] = ()) -> Iterator[Way]:
    """One way, ready.

    Args:
        name: One of ``WAYS``.
        limits: Those of its sessions.
        without: Layers of the kernel's wall to leave off where it stands.

    Raises:
        BackendUnavailable: It needs the ``kernel`` back end, and there is none here.
    """
    if name == "portable":
        way = Way(name, limits, None)
        try:
            yield way
        finally:
            way.close()
        return
    off = {"language": KERNEL_LAYERS, "kernel": ("language", *without), "both": tuple(without)}
    with zygote_without(*off[name]) as zygote:
        yield Way(name, limits, zygote)


def own_things(pid: int | None) -> Callable[[], list[str]]:
    """What a worker has made since this was called: threads and descriptors, in sentences."""
    threads, descriptors = _count(pid, "task"), _count(pid, "fd")

    def made() -> list[str]:
        found = []
        if _stays_above(pid, "task", threads):
            found.append("it started a thread")
        if _stays_above(pid, "fd", descriptors):
            found.append("it opened a descriptor")
        return found

    return made


def _stays_above(pid: int | None, folder: str, most: int) -> bool:
    """Whether a process keeps more than so many of these.

    For a moment it may have one more: while it is copied for a checkpoint.
    """
    for _ in range(200):
        if _count(pid, folder) <= most:
            return False
        threading.Event().wait(0.01)
    return True


def _count(pid: int | None, folder: str) -> int:
    """How many of these a process has; 0 where that can't be told."""
    try:
        return len(os.listdir(f"/proc/{pid}/{folder}"))
    except OSError:
        return 0


def _of_session(leader: int) -> list[int]:
    """The processes that a zygote has started, but for the one that it goes on in itself."""
    found = []
    for entry in Path("/proc").iterdir():
        with suppress(OSError, ValueError, IndexError):
            fields = (entry / "stat").read_text().rpartition(")")[2].split()
            state, parent, session = fields[0], int(fields[1]), int(fields[3])
            if session == leader and state != "Z" and leader not in (int(entry.name), parent):
                found.append(int(entry.name))
    return found


def _ends(pid: int) -> bool:
    """Whether a process that is about to end does so."""
    try:
        handle = os.pidfd_open(pid)
    except ProcessLookupError:
        return True
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    try:
        return bool(poll.poll(ENDING_SECONDS * 1000))
    finally:
        os.close(handle)
