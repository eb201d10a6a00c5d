"""How records lie in the database, and how an older one is brought to that."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from typing import Any

from ..errors import LoomError
from .brief import pack_brief
from .codec import decode_with_brief
from .store import Row, chain_of

FORMAT = 2
"""Version of the layout, kept in the database's ``user_version``."""
COLUMNS = "n, at, kind, brief, body, chain"
INSERT = "INSERT INTO records VALUES (?, ?, ?, ?, ?, ?)"

_TABLE = (
    "CREATE TABLE records (n INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,"
    " brief BLOB NOT NULL, body BLOB NOT NULL, chain BLOB NOT NULL)"
)
_INDEX = "CREATE INDEX records_briefs ON records (n, kind, brief)"
"""Holds all that opening needs, so that no body is read then."""
_OLD_TABLE = (
    "CREATE TABLE records (n INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,"
    " body BLOB NOT NULL)"
)
_TRIGGERS = (
    "CREATE TRIGGER records_stay BEFORE DELETE ON records"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
    "CREATE TRIGGER records_stand BEFORE UPDATE ON records"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
    # This also refuses INSERT OR REPLACE, whose removal of the old row fires no trigger.
    "CREATE TRIGGER records_follow BEFORE INSERT ON records"
    " WHEN NEW.n IS NOT (SELECT COALESCE(MAX(n), 0) + 1 FROM records)"
    " BEGIN SELECT RAISE(ABORT, 'loom is append-only: n must be the next one'); END",
)
_LAYOUTS = {
    1: (_OLD_TABLE, *_TRIGGERS),
    FORMAT: (_TABLE, _INDEX, *_TRIGGERS),
}
"""What makes a database of each format."""


def format_of(database: sqlite3.Connection) -> int:
    """The format of a database; 0 for an empty one.

    Raises:
        LoomError: It is none of ours, of a newer format, or not laid out as its format says;
            the text tells which, without naming the database.
    """
    (told,) = database.execute("PRAGMA user_version").fetchone()
    found = dict(
        database.execute(
            "SELECT name, sql FROM sqlite_master WHERE name NOT LIKE 'sqlite!_%' ESCAPE '!'"
        )
    )
    if told > FORMAT:
        raise LoomError(f"has format {told}, this circlet knows {FORMAT}: upgrade circlet")
    if told < 1:
        if found:
            raise LoomError("is not a loom: choose another directory")
        return 0
    wanted = {statement.split()[2]: statement for statement in _LAYOUTS[told]}
    for name in sorted({*wanted, *found}):
        if found.get(name) != wanted.get(name):
            wrong = (
                "missing"
                if name not in found
                else "foreign to it"
                if name not in wanted
                else "changed"
            )
            raise LoomError(
                f"is not laid out as a loom is: {name} is {wrong}; restore it from a copy"
            )
    return int(told)


def make(database: sqlite3.Connection, old: int) -> None:
    """Lay an empty database out, or bring one of an older format to this one, in one step.

    Args:
        database: Open for writing, without a transaction.
        old: Its format.
    """
    database.execute("BEGIN IMMEDIATE")
    try:
        if old:
            database.execute("ALTER TABLE records RENAME TO old_records")
            for trigger in _TRIGGERS:
                database.execute(f"DROP TRIGGER {trigger.split()[2]}")
        for statement in (_TABLE, _INDEX):
            database.execute(statement)
        if old:
            database.executemany(INSERT, _brought(database))
            database.execute("DROP TABLE old_records")
        for statement in _TRIGGERS:
            database.execute(statement)
        database.execute(f"PRAGMA user_version = {FORMAT}")
    except BaseException:
        database.execute("ROLLBACK")
        raise
    database.execute("COMMIT")


def _brought(database: sqlite3.Connection) -> Iterator[tuple[Any, ...]]:
    chain = b""
    for n, at, kind, body in database.execute("SELECT * FROM old_records ORDER BY n"):
        chain = chain_of(chain, n, at, kind, body)
        yield n, at, kind, pack_brief(old_row(n, at, kind, body).brief), body, chain


def old_row(n: int, at: str, kind: str, body: bytes) -> Row:
    """A record of format 1, which has no chain yet.

    Raises:
        LoomError: It is damaged; the text tells its ``n``.
    """
    try:
        return Row(n, at, kind, decode_with_brief(kind, body)[1], body, b"")
    except LoomError as error:
        raise LoomError(f"the loom is damaged at record {n}: {error}") from None
