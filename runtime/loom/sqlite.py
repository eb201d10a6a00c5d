"""The store on disk: SQLite, which many may read while one writes.

A run's directory holds ``loom.db`` (with ``-wal`` and ``-shm`` beside it while it is open),
``loom.lock`` and ``blobs/``. Triggers in the database refuse to change or remove a record, so
that LOOM-3 holds for whoever opens the file, with whatever program.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Literal, get_args

from ..errors import LoomError
from .blobs import Blobs
from .lock import WriterLock
from .store import Row

Durability = Literal["process", "power"]
FORMAT = 1
"""Version of the database's layout, kept in its ``user_version``."""

_LAYOUT = (
    "CREATE TABLE records (n INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,"
    " body BLOB NOT NULL)",
    "CREATE TRIGGER records_stay BEFORE DELETE ON records"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
    "CREATE TRIGGER records_stand BEFORE UPDATE ON records"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
    # This also refuses INSERT OR REPLACE, whose removal of the old row fires no trigger.
    "CREATE TRIGGER records_follow BEFORE INSERT ON records"
    " WHEN NEW.n IS NOT (SELECT COALESCE(MAX(n), 0) + 1 FROM records)"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only: n must be the next one'); END",
    f"PRAGMA user_version = {FORMAT}",
)

_ADVICE = {
    "SQLITE_FULL": "free some space",
    "SQLITE_IOERR": "check the disk, its free space and its quota",
    "SQLITE_NOTADB": "choose another directory, or restore it from a copy",
    "SQLITE_CORRUPT": "restore it from a copy",
    "SQLITE_BUSY": "another program holds the database: close it",
    "SQLITE_CANTOPEN": "check that it exists and may be opened",
    "SQLITE_READONLY": "check that it may be written",
}
"""What to do about SQLite's errors, by the beginning of their names."""


class SQLiteStore:
    """The records of one run's directory.

    Args:
        directory: The run's directory. A writer makes what is missing, for its user alone.
        durability: ``process``: a record outlives the death of this process, however sudden,
            and a power cut may take the newest ones but leaves the loom whole. ``power``: a
            record outlives that too, at the cost of a disk sync each.
        read_only: Read without the lock, while another process may be writing.

    Raises:
        LoomError: Another process writes the loom, it is of a newer format or no loom, or it
            can't be opened.
    """

    def __init__(
        self, directory: str | Path, durability: Durability = "process", read_only: bool = False
    ) -> None:
        if durability not in get_args(Durability):
            raise LoomError(f"durability is 'process' or 'power', not {durability!r}")
        self._directory = Path(directory)
        self._path = self._directory / "loom.db"
        self._blobs = Blobs(self._directory / "blobs", sync=durability == "power")
        self._read_only = read_only
        self._process = os.getpid()
        self._mutex = threading.Lock()
        self._lock: WriterLock | None = None
        self._database: sqlite3.Connection | None = None
        try:
            with self._faults():
                if not read_only:
                    self._claim()
                self._database = self._open(durability)
        except BaseException:
            self.close()
            raise

    def append(self, n: int, at: str, kind: str, body: bytes) -> None:
        """Keep a record, as durable as the store was asked to be."""
        with self._access(write=True) as database:
            database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", (n, at, kind, body))

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after``, those that a writer adds meanwhile included."""
        # One row a query: no cursor stays open, which would hold the log's clean-up back.
        query = "SELECT n, at, kind, body FROM records WHERE n > ? ORDER BY n LIMIT 1"
        while True:
            with self._access() as database:
                row: Row | None = database.execute(query, (after,)).fetchone()
            if row is None:
                return
            yield row
            after = row[0]

    def put(self, data: bytes) -> str:
        """Keep a blob in a file of its own."""
        self._check_usable(write=True)
        return self._blobs.put(data)

    def get(self, digest: str) -> bytes:
        """The blob with this digest; its content is checked against it."""
        self._check_usable()
        return self._blobs.get(digest)

    def close(self) -> None:
        """Close the database and let the next writer in."""
        with self._mutex:
            database, self._database = self._database, None
            lock, self._lock = self._lock, None
            if os.getpid() != self._process:
                return  # a forked child: both are its parent's
            try:
                if database is not None:
                    with self._faults():
                        database.close()
            finally:
                if lock is not None:
                    lock.release()

    def _claim(self) -> None:
        """Make the directory and the file where they are missing, and take the lock."""
        self._directory.mkdir(mode=0o700, parents=True, exist_ok=True)
        self._lock = WriterLock(self._directory)
        # Made here rather than by SQLite, for its mode; the files beside it take that mode too.
        # Never opened when it exists: closing it would drop the locks of this process's readers.
        with contextlib.suppress(FileExistsError):
            os.close(os.open(self._path, os.O_CREAT | os.O_EXCL, 0o600))

    def _open(self, durability: Durability) -> sqlite3.Connection:
        if not self._path.is_file():
            raise LoomError(f"there is no loom at {self._directory}: it holds no loom.db")
        database = sqlite3.connect(
            f"{self._path.resolve().as_uri()}?{self._mode()}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        try:
            self._check_format(database)
            if not self._read_only:
                self._prepare(database, durability)
        except BaseException:
            database.close()
            raise
        return database

    def _mode(self) -> str:
        if not self._read_only:
            return "mode=rw"
        # Where nothing may be written SQLite can't coordinate with a writer, and with no log
        # beside the database there is none.
        at_rest = not Path(f"{self._path}-wal").exists()
        alone = at_rest and not os.access(self._directory, os.W_OK)
        return "mode=ro&immutable=1" if alone else "mode=ro"

    def _check_format(self, database: sqlite3.Connection) -> None:
        (version,) = database.execute("PRAGMA user_version").fetchone()
        (tables,) = database.execute("SELECT COUNT(*) FROM sqlite_master").fetchone()
        if version > FORMAT:
            raise LoomError(
                f"the loom at {self._directory} has format {version}, this circlet knows "
                f"{FORMAT}: upgrade circlet"
            )
        if version < 1 and (tables or self._read_only):
            raise LoomError(f"{self._path} is not a loom: choose another directory")

    def _prepare(self, database: sqlite3.Connection, durability: Durability) -> None:
        (journal,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise LoomError(
                f"a loom can't be kept at {self._directory}: its file system lacks shared "
                "memory; choose a local disk"
            )
        database.execute(f"PRAGMA synchronous = {'FULL' if durability == 'power' else 'NORMAL'}")
        (version,) = database.execute("PRAGMA user_version").fetchone()
        if version == 0:
            database.execute("BEGIN IMMEDIATE")
            for statement in _LAYOUT:
                database.execute(statement)
            database.execute("COMMIT")

    @contextlib.contextmanager
    def _access(self, *, write: bool = False) -> Iterator[sqlite3.Connection]:
        """The database for one thread at a time; its errors become the loom's."""
        with self._mutex, self._faults():
            yield self._check_usable(write=write)

    def _check_usable(self, *, write: bool = False) -> sqlite3.Connection:
        if self._database is None:
            raise LoomError(f"the loom at {self._directory} is closed")
        if os.getpid() != self._process:
            raise LoomError(
                f"the loom at {self._directory} was opened by process {self._process}: "
                "a forked process has to open it for itself"
            )
        if write and self._read_only:
            raise LoomError(f"the loom at {self._directory} was opened to be read only")
        return self._database

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            yield
        except OSError as error:
            what = f"the loom at {self._directory} can't be used: {error.strerror}"
            raise LoomError(f"{what}: {error.filename}") from error
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            advice = next((text for key, text in _ADVICE.items() if name.startswith(key)), "")
            what = f"the loom's database {self._path}: {error}"
            raise LoomError(f"{what}; {advice}" if advice else what) from error
