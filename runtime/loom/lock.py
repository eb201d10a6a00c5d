"""The lock that lets one process at a time write a loom."""

from __future__ import annotations

import os
from pathlib import Path

from ..errors import LoomError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]


class WriterLock:
    """Held from its making to ``release``, or to the end of the process, however that ends.

    Args:
        directory: The run's directory; the lock is its file ``loom.lock``.

    Raises:
        LoomError: Another process, or this one already, writes the loom; or the file system
            has no locks.
        OSError: The file can't be opened.
    """

    def __init__(self, directory: Path) -> None:
        if fcntl is None:
            raise LoomError("a loom on disk needs a POSIX system: leave the path out")
        path = directory / "loom.lock"
        # A file object, so that a loom that was dropped without being closed lets go too.
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
        try:
            fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
            self._file.truncate(0)
            self._file.write(b"%d" % os.getpid())
        except BlockingIOError:
            raise self._refusal(directory) from None
        except OSError as error:
            self._file.close()
            raise LoomError(f"{path} can't be locked: {error.strerror}") from error

    def release(self) -> None:
        """Let the next writer in."""
        self._file.truncate(0)
        # A forked child has a copy of the descriptor, so that closing alone would not unlock.
        fcntl.flock(self._file, fcntl.LOCK_UN)
        self._file.close()

    def _refusal(self, directory: Path) -> LoomError:
        with self._file as file:
            holder = file.read(20).decode("ascii", "replace") or "unknown"
        return LoomError(
            f"the loom at {directory} is being written by process {holder}: "
            "close it there, or open it with read_only=True"
        )
