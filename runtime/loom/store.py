"""Where a loom's records are kept: the seam, and the store that keeps them in memory."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator
from typing import Protocol

from ..errors import LoomError

Row = tuple[int, str, str, bytes]
"""One record as a store has it: ``n``, ``at``, its kind's name and its bytes."""


class LoomStore(Protocol):
    """Keeps records in the order of ``n``, and blobs by their digest. Nothing is ever changed.

    Every method may be called from any thread, and raises ``LoomError`` once the store is
    closed. One store object is the only writer of what it holds.
    """

    def append(self, n: int, at: str, kind: str, body: bytes) -> None:
        """Keep a record; once this returns it is as durable as the store promises.

        Args:
            n: Ordinal of the record: 1, then always one more (``LOOM-3``).
            at: When, RFC 3339 in UTC.
            kind: Its kind's name.
            body: Its bytes.

        Raises:
            LoomError: ``n`` is not the next one, or the record can't be kept.
        """

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records whose ``n`` is above ``after``, in order, as they are when reached.

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

    def append(self, n: int, at: str, kind: str, body: bytes) -> None:
        """Keep a record until the store is closed."""
        with self._lock:
            self._check_open()
            wanted = len(self._rows) + 1
            if n != wanted:
                raise LoomError(f"loom is append-only: record {wanted} is next, not {n}")
            self._rows.append((n, at, kind, body))

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after``."""
        self._check_open()
        while after < len(self._rows):
            yield self._rows[after]
            after += 1
            self._check_open()

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
