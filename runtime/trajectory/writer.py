"""The file of a trajectory: events are added at its end, and nothing else ever happens to it."""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Callable
from itertools import count
from pathlib import Path

from ..errors import TrajectoryError
from ..logs import log
from .events import Event, parse

NAME = "trajectory.jsonl"
"""The file's name."""


class Writer:
    """Adds events to one file.

    A file that is there is gone on with. A last line that was cut short is moved to a file of
    its own beside it, and told of in the log.

    Args:
        path: The file; made with its folder when missing, for its user alone.
        sync: Whether an event is on the disk itself before ``append`` returns. Without, it
            outlives this process and may be lost in a power cut.
        seen: Is given each event that the file has already, in order.

    Raises:
        TrajectoryError: The file can't be used, or a line of it is damaged.
    """

    def __init__(self, path: Path, *, sync: bool, seen: Callable[[Event], None]) -> None:
        self._path = path
        self._sync = sync
        self._process = os.getpid()
        self._hash = hashlib.sha256()
        self._size = self._seq = 0
        self._file: int | None = None
        try:
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            flags = os.O_WRONLY | os.O_APPEND | os.O_CREAT | os.O_CLOEXEC
            self._file = os.open(path, flags, 0o600)
            self._take_up(seen)
        except BaseException as error:
            self.close()
            raise self._fault(error) if isinstance(error, OSError) else error from None

    @property
    def next_seq(self) -> int:
        """Ordinal of the event that comes next."""
        return self._seq + 1

    @property
    def digest(self) -> str:
        """SHA-256, in hex, of all that stands in the file."""
        return self._hash.hexdigest()

    def append(self, event: Event) -> None:
        """Add the event that comes next.

        Raises:
            TrajectoryError: It can't be written; nothing of it is in the file then.
        """
        line = event.one_line().encode() + b"\n"
        if self._file is None or os.getpid() != self._process:
            raise TrajectoryError(f"{self._path} is closed, or was opened by another process")
        try:
            self._write(self._file, line)
        except OSError as error:
            raise self._fault(error) from error
        self._hash.update(line)
        self._size += len(line)
        self._seq = event.seq

    def close(self) -> None:
        """Let go of the file."""
        file, self._file = self._file, None
        if file is not None:
            os.close(file)

    def _write(self, file: int, line: bytes) -> None:
        try:
            rest = memoryview(line)
            while rest:
                rest = rest[os.write(file, rest) :]
            if self._sync:
                os.fsync(file)
        except BaseException:
            with contextlib.suppress(OSError):
                os.ftruncate(file, self._size)  # a disk that is full takes part of a line
            raise

    def _take_up(self, seen: Callable[[Event], None]) -> None:
        """Read what is there, to the last whole line."""
        with open(self._path, "rb") as file:
            for number in count(1):
                line = file.readline()
                if not line:
                    return
                try:
                    event = _event_of(line, number)
                except TrajectoryError as error:
                    if not file.read(1):
                        self._set_aside(line)
                        return
                    raise TrajectoryError(
                        f"{self._path}, line {number}: {error}: restore it from a copy"
                    ) from None
                seen(event)
                self._hash.update(line)
                self._size += len(line)
                self._seq = number

    def _set_aside(self, torn: bytes) -> None:
        """Move the beginning of an event that was never written whole out of the way."""
        assert self._file is not None
        for number in count(1):
            aside = self._path.with_name(f"{self._path.name}.torn-{number}")
            with contextlib.suppress(FileExistsError):
                file = os.open(aside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
                break
        with os.fdopen(file, "wb") as kept:
            kept.write(torn)
        os.ftruncate(self._file, self._size)
        log.warning("%s ended in the middle of an event, which is in %s now", self._path, aside)

    def _fault(self, error: OSError) -> TrajectoryError:
        return TrajectoryError(f"{self._path} can't be written: {error.strerror}")


def _event_of(line: bytes, number: int) -> Event:
    """The event of a line, the ``number``-th.

    Raises:
        TrajectoryError: It is none, or not the one that comes next.
    """
    if not line.endswith(b"\n"):
        raise TrajectoryError("it is cut short")
    event = parse(line)
    if event.seq != number:
        raise TrajectoryError(f"its seq is {event.seq}, and should be {number}")
    return event
