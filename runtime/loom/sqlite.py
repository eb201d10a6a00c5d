"""The store on disk: SQLite, which many may read while one writes.

A run's directory holds ``loom.db`` (with ``-wal`` and ``-shm`` beside it while it is open),
``loom.lock`` and ``blobs/``. Triggers in the database refuse to change or remove a record, so
that LOOM-3 holds for whoever opens the file, with whatever program.
"""

from __future__ import annotations

import contextlib
import os
import sqlite3
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from ..errors import LoomError
from .brief import Brief, pack_brief, unpack_brief
from .disk import NOT_BEGUN, DiskStore
from .layout import FORMAT, INSERT, format_of, make, old_row
from .store import Row
from .wal import is_cut_off

_BATCH = 2_000
"""Records of one query, where only their briefs are read."""

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


class SQLiteStore(DiskStore):
    """The records of one run's directory, in a database (see ``DiskStore``)."""

    NAME = "loom.db"
    _database: sqlite3.Connection | None = None
    _format = FORMAT

    def append(self, row: Row) -> None:
        """Keep a record, as durable as the store was asked to be."""
        n, at, kind, brief, body, chain = row
        values = (n, at, kind, pack_brief(brief), body, chain)
        with self._access(write=True):
            self._execute(INSERT, values)

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after``, those that a writer adds meanwhile included."""
        # One row a query: no cursor stays open, which would hold the log's clean-up back.
        query = "SELECT * FROM records WHERE n > ? ORDER BY n LIMIT 1"
        while found := self._query(query, after):
            _check_whole(found[0], after)
            yield self._row(*found[0])
            (after, *_) = found[0]

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Brief]]:
        """What the index needs of the records above ``after``; no body is read.

        Who takes it in sees that each ``n`` is the next one.
        """
        if self._format < FORMAT:
            yield from ((row.n, row.kind, row.brief) for row in self.read(after))
            return
        query = (
            "SELECT n, kind, brief FROM records INDEXED BY records_briefs"
            f" WHERE n > ? ORDER BY n LIMIT {_BATCH}"
        )
        while found := self._query(query, after):
            for n, kind, brief in found:
                yield n, kind, unpack_brief(brief)
            (after, *_) = found[-1]

    def damage(self) -> Iterator[str]:
        """What SQLite itself finds wrong, and a transaction that was cut off."""
        with self._access():
            try:
                found = self._execute("PRAGMA integrity_check", ()).fetchall()
            except sqlite3.DatabaseError as error:
                found = [(str(error),)]
        yield from (f"{self._path}: {what}" for (what,) in found if what != "ok")
        if self._is_at_rest() and is_cut_off(self._log):
            yield f"the end of {self._log} is damaged: what was recorded last may be lost"

    def _query(self, query: str, after: int) -> list[Any]:
        with self._access():
            return self._execute(query, (after,)).fetchall()

    def _row(self, n: int, at: str, kind: str, *rest: bytes) -> Row:
        if self._format < FORMAT:
            return old_row(n, at, kind, *rest)
        brief, body, chain = rest
        return Row(n, at, kind, unpack_brief(brief), body, chain)

    def _execute(self, statement: str, values: tuple[Any, ...]) -> sqlite3.Cursor:
        assert self._database is not None  # who has access has a database
        return self._database.execute(statement, values)

    def _open(self) -> None:
        if not self._read_only and is_cut_off(self._log):
            self.torn = "what was recorded last was cut off as it was written, and is left out"
        self._database = database = sqlite3.connect(
            f"{self._path.resolve().as_uri()}?{self._mode()}",
            uri=True,
            isolation_level=None,
            check_same_thread=False,
        )
        self._format = self._checked_format(database)
        if not self._read_only:
            self._prepare(database)

    def _shut(self) -> None:
        database, self._database = self._database, None
        if database is not None:
            database.close()

    def _forget(self) -> None:
        self._database = None

    def _mode(self) -> str:
        if not self._read_only:
            return "mode=rw"
        # Where nothing may be written SQLite can't coordinate with a writer, and with no log
        # beside the database there is none.
        at_rest = not self._log.exists()
        alone = at_rest and not os.access(self._directory, os.W_OK)
        return "mode=ro&immutable=1" if alone else "mode=ro"

    @property
    def _log(self) -> Path:
        return Path(f"{self._path}-wal")

    def _checked_format(self, database: sqlite3.Connection) -> int:
        try:
            found = format_of(database)
        except LoomError as error:
            raise LoomError(f"the loom at {self._path} {error}") from None
        if not found and self._read_only:
            raise LoomError(f"{self._path} {NOT_BEGUN}")
        return found

    def _prepare(self, database: sqlite3.Connection) -> None:
        (journal,) = database.execute("PRAGMA journal_mode = WAL").fetchone()
        if journal != "wal":
            raise LoomError(
                f"a loom can't be kept at {self._directory}: its file system lacks shared "
                "memory; choose a local disk"
            )
        database.execute(f"PRAGMA synchronous = {'FULL' if self._sync else 'NORMAL'}")
        if self._format < FORMAT:
            make(database, self._format)
            self._format = FORMAT

    @contextlib.contextmanager
    def _faults(self) -> Iterator[None]:
        try:
            with super()._faults():
                yield
        except sqlite3.Error as error:
            name = getattr(error, "sqlite_errorname", None) or ""
            advice = next((text for key, text in _ADVICE.items() if name.startswith(key)), "")
            what = f"the loom's database {self._path}: {error}"
            raise LoomError(f"{what}; {advice}" if advice else what) from error
        except UnicodeDecodeError as error:  # of text in a damaged page, SQLite's messages too
            raise LoomError(f"the loom's database {self._path} is damaged: {error}") from error


_ROW = (int, str, str, bytes, bytes, bytes)
"""What the columns hold; in format 1 a row ends earlier."""


def _check_whole(row: tuple[Any, ...], after: int) -> None:
    """See that a row is what the table's columns hold: of a damaged page anything may come.

    Raises:
        LoomError: It is not, or it doesn't follow ``after``.
    """
    if tuple(map(type, row)) != _ROW[: len(row)] or row[0] <= after:
        raise LoomError(f"the record after {after} is damaged; restore the loom from a copy")
