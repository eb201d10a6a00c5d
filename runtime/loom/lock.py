"""The lock that lets one process at a time write a loom."""

from __future__ import annotations

import contextlib
import os
import time
from pathlib import Path

from ..errors import LoomError

try:
    import fcntl
except ImportError:  # not a POSIX system
    fcntl = None  # type: ignore[assignment]


NAME = "loom.lock"
_TRIES = 1_000
_PAUSE_SECONDS = 0.001
_PID_DIGITS = 20
_COMMAND_CHARS = 100


def is_locked(directory: Path) -> bool:
    """Whether a process, this one too, is writing the loom.

    Args:
        directory: The run's directory.
    """
    try:
        handle = os.open(directory / NAME, os.O_RDONLY)
    except OSError:  # nobody ever wrote it here, or its lock is not for us to see
        return False
    try:
        fcntl.flock(handle, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except OSError:
        return True
    finally:
        os.close(handle)
    return False


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
        path = directory / NAME
        # A file object, so that a loom that was dropped without being closed lets go too.
        self._file = os.fdopen(os.open(path, os.O_RDWR | os.O_CREAT, 0o600), "r+b", buffering=0)
        try:
            self._take()
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

    def _take(self) -> None:
        for _ in range(_TRIES):
            with contextlib.suppress(BlockingIOError):
                fcntl.flock(self._file, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return
            # A writer is in the way of this too; one who only looks (is_locked) is not.
            fcntl.flock(self._file, fcntl.LOCK_SH | fcntl.LOCK_NB)
            fcntl.flock(self._file, fcntl.LOCK_UN)
            time.sleep(_PAUSE_SECONDS)  # it may be a thread of this process, which has to get on
        raise BlockingIOError

    def _refusal(self, directory: Path) -> LoomError:
        with self._file as file:
            holder = file.read(_PID_DIGITS).decode("ascii", "replace") or "unknown"
        return LoomError(
            f"the loom at {directory} is being written by process {holder}{_command(holder)}: "
            "close it there, or open it with read_only=True"
        )


def _command(pid: str) -> str:
    """The command of a process in brackets, where the system tells it."""
    try:
        words = Path("/proc", str(int(pid)), "cmdline").read_bytes().split(b"\0")
    except (OSError, ValueError):
        return ""
    command = " ".join(word.decode("utf-8", "replace") for word in words if word)
    shown = command if len(command) <= _COMMAND_CHARS else f"{command[:_COMMAND_CHARS]}..."
    return f" ({''.join(char if char.isprintable() else '?' for char in shown)})" if shown else ""
