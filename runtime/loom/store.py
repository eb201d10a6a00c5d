"""Where a loom's records are kept: the seam, and the store that keeps them in memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from typing import NamedTuple, Protocol

from ..errors import LoomError
from .brief import Brief


class Row(NamedTuple):
    """One record as a store has it.

    Attributes:
        n: Its ordinal: 1, then always one more (``LOOM-3``).
        at: When, RFC 3339 in UTC.
        kind: Its kind's name.
        brief: Its ids and ordinals, from which the index is made.
        body: Its bytes.
        chain: What binds it to all records before it (``chain_of``).
    """

    n: int
    at: str
    kind: str
    brief: Brief
    body: bytes
    chain: bytes


class LoomStore(Protocol):
    """Keeps records in the order of ``n``, and blobs by their digest. Nothing is ever changed.

    Every method may be called from any thread, and raises ``LoomError`` once the store is
    closed. One store object is the only writer of what it holds.
    """

    def append(self, row: Row) -> None:
        """Keep a record; once this returns it is as durable as the store promises.

        Raises:
            LoomError: ``n`` is not the next one, or the record can't be kept. It is not there
                then, and its ``n`` is free.
        """

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records whose ``n`` is above ``after``, in order, as they are when reached.

        Raises:
            LoomError: They can't be read.
        """

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Brief]]:
        """``n``, kind and brief of the same records; quicker where bodies needn't be read.

        Raises:
            LoomError: They can't be read.
        """

    def put(self, data: bytes) -> str:
        """Keep a blob. Keeping it again changes nothing.

        Returns:
            Its SHA-256, in hex.

        Raises:
            LoomError: It can't be kept.
        """

    def get(self, digest: str) -> bytes:
        """The blob with this SHA-256.

        Raises:
            LoomError: There is none, or it is damaged.
        """

    def close(self) -> None:
        """Give the store up. Closing twice is fine."""


def digest_of(data: bytes) -> str:
    """The name of a blob: its SHA-256, in hex."""
    return hashlib.sha256(data).hexdigest()


def chain_of(before: bytes, n: int, at: str, kind: str, body: bytes) -> bytes:
    """What binds a record to those before it: a SHA-256 over them all.

    Args:
        before: The chain of the record before; empty for the first.
        n: The record's ordinal.
        at: When.
        kind: Its kind's name.
        body: Its bytes.
    """
    head = f"{n} {at} {kind}\n".encode("utf-8", "surrogatepass")
    return hashlib.sha256(before + head + body).digest()


def not_next(wanted: int, n: int) -> LoomError:
    """The error for a record that is not the next one."""
    return LoomError(f"loom is append-only: record {wanted} is next, not {n}")


def no_blob(digest: str) -> LoomError:
    """The error for a blob that isn't there."""
    return LoomError(f"the loom holds no blob {digest!r}")


class MemoryStore:
    """A store that lasts as long as its object."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._rows: list[Row] = []
        self._blobs: dict[str, bytes] = {}
        self._closed = False

    def append(self, row: Row) -> None:
        """Keep a record until the store is closed."""
        with self._lock:
            self._check_open()
            wanted = len(self._rows) + 1
            if row.n != wanted:
                raise not_next(wanted, row.n)
            self._rows.append(row)

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after``."""
        self._check_open()
        while after < len(self._rows):
            yield self._rows[after]
            after += 1
            self._check_open()

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Brief]]:
        """What the index needs of the records above ``after``."""
        return ((row.n, row.kind, row.brief) for row in self.read(after))

    def put(self, data: bytes) -> str:
        """Keep a blob until the store is closed."""
        self._check_open()
        digest = digest_of(data)
        self._blobs[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        """The blob with this digest."""
        self._check_open()
        try:
            return self._blobs[digest]
        except KeyError:
            raise no_blob(digest) from None

    def close(self) -> None:
        """Let go of everything."""
        self._closed = True
        self._rows, self._blobs = [], {}

    def _check_open(self) -> None:
        if self._closed:
            raise LoomError("the loom is closed")
