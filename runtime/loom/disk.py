"""What all stores in a run's directory have in common: its lock, its blobs, who may use it."""

from __future__ import annotations

import contextlib
import errno
import os
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from ..errors import LoomError
from ..logs import log
from .blobs import Blobs, sync_directory
from .brief import Brief
from .lock import WriterLock, is_locked
from .store import Row

Durability = Literal["process", "power"]
NOT_BEGUN = (
    "is empty: its writer has yet to begin, was stopped before that, or the file was emptied; a "
    "writer begins a new loom in it"
)
"""What a reader is told of a loom's file with nothing in it."""
_NO_ROOM = frozenset({errno.ENOSPC, errno.EDQUOT, errno.EFBIG})


class DiskStore:
    """A store in a run's directory; a format's own class says how records lie in its file.

    Args:
        directory: The run's directory. A writer makes what is missing, for its user alone.
        durability: ``process``: a record outlives the death of this process, however sudden,
            and a power cut may take the newest ones but leaves the loom whole. ``power``: a
            record outlives that too, at the cost of a disk sync each.
        read_only: Read without the lock, while another process may be writing.

    Attributes:
        torn: What was unfinished at the end and set aside on opening, in a sentence, or None.

    Raises:
        LoomError: Another process writes the loom, it is of a newer format or no loom, or it
            can't be opened.
    """

    NAME: str
    """Name of the file that holds the records."""

    def __init__(
        self, directory: str | Path, durability: Durability = "process", read_only: bool = False
    ) -> None:
        if durability not in get_args(Durability):
            raise LoomError(f"durability is 'process' or 'power', not {durability!r}")
        self._directory = Path(directory)
        self._path = self._directory / self.NAME
        self._sync = durability == "power"
        self._blobs = Blobs(self._directory / "blobs", sync=self._sync)
        self._read_only = read_only
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._lock: WriterLock | None = None
        self._is_open = True
        self.torn: str | None = None
        try:
            with self._faults():
                if not read_only:
                    self._claim()
                elif not self._path.is_file():
                    raise LoomError(f"there is no loom at {self._directory}: it has no {self.NAME}")
                self._open()
        except BaseException:
            self.close()
            raise
        if self.torn:
            log.warning("the loom at %s: %s", self._directory, self.torn)

    def put(self, data: bytes) -> str:
        """Keep a blob in a file of its own."""
        self._check_usable(write=True)
        return self._blobs.put(data)

    def get(self, digest: str) -> bytes:
        """The blob with this digest; its content is checked against it."""
        self._check_usable()
        return self._blobs.get(digest)

    def close(self) -> None:
        """Close the file and let the next writer in."""
        with self._mutex:
            self._is_open = False
            lock, self._lock = self._lock, None
            if os.getpid() != self._process:
                self._forget()  # a forked child: file and lock are its parent's
                return
            try:
                with self._faults():
                    self._shut()
            finally:
                if lock is not None:
                    lock.release()

    def append(self, row: Row) -> None:
        """Keep a record (see ``LoomStore``)."""
        raise NotImplementedError

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after`` (see ``LoomStore``)."""
        raise NotImplementedError

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Brief]]:
        """What the index needs of them (see ``LoomStore``)."""
        raise NotImplementedError

    def damage(self) -> Iterator[str]:
        """What is wrong with the file itself, a sentence each, whatever its records say."""
        raise NotImplementedError

    def _is_at_rest(self) -> bool:
        """Whether no writer is at work, who may not have finished a record."""
        return not is_locked(self._directory)

    def _open(self) -> None:
        """Open the file; a writer makes it where it is missing or empty."""
        raise NotImplementedError

    def _shut(self) -> None:
        """Close the file, if it is open."""
        raise NotImplementedError

    def _forget(self) -> None:
        """Let go of the file without closing it."""
        raise NotImplementedError

    def _claim(self) -> None:
        """Make the directory and the file where they are missing, and take the lock."""
        missing = [self._directory, *self._directory.parents]
        missing = [path for path in missing if not path.exists()]
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = WriterLock(self._directory)
        # Never opened when it exists: closing it would drop the locks of this process's readers.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))
        if self._sync:
            for path in (self._directory, *(path.parent for path in missing)):
                sync_directory(path)

    @contextlib.contextmanager
    def _access(self, *, write: bool = False) -> Iterator[None]:
        """The file for one thread at a time; its errors become the loom's."""
        with self._mutex, self._faults():
            self._check_usable(write=write)
            yield

    def _check_usable(self, *, write: bool = False) -> None:
        if not self._is_open:
            raise LoomError(f"the loom at {self._directory} is closed")
        if os.getpid() != self._process:
            raise LoomError(
                f"the loom at {self._directory} was opened by process {self._process}: "
                "a forked process has to open it for itself"
            )
        if write and self._read_only:
            raise LoomError(f"the loom at {self._directory} was opened to be read only")

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"the loom at {self._directory} can't be used: {error.strerror}"
            advice = "; free some space" if error.errno in _NO_ROOM else ""
            raise LoomError(f"{what}: {error.filename or self._path}{advice}") from error
