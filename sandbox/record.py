"""What has been done to a session, so that it can be done again to another worker.

A turn is run again with the answers that its gates gave then: no gate is called twice.
"""

from __future__ import annotations

import copy
import hashlib
import sys
import threading
from collections.abc import Mapping
from dataclasses import dataclass, field, replace

from .execution import Calls, Execution
from .wire import ESCAPES, Sealed

MAX_RECORD = 64 << 20
"""Bytes of sources, variables and gates' answers that one session's record holds."""
_ENTRY_BYTES = 500  # what an entry takes up itself
PLAYABLE = ("ok", "error", "done")
"""How a turn ends that comes to the same when it is run again."""


@dataclass(frozen=True, slots=True)
class Exchange:
    """One call of a gate and its answer.

    Attributes:
        call: Digest of the call as it came.
        reply: The frame that answered it.
        answer: What the program gave to the gate that ends its work, or None.
    """

    call: bytes
    reply: bytes
    answer: Sealed | None = None

    @property
    def size(self) -> int:
        """Bytes that it takes up."""
        return _ENTRY_BYTES + len(self.reply) + (len(self.answer.data) if self.answer else 0)


@dataclass(frozen=True, slots=True)
class Setting:
    """A variable that the host set."""

    name: str
    value: Sealed

    @property
    def size(self) -> int:
        """Bytes that it takes up."""
        return _ENTRY_BYTES + len(self.value.data)


@dataclass(frozen=True, slots=True)
class Played:
    """A turn that came to its end.

    Attributes:
        number: Its number in its session, from 1.
        source: Its source.
        exchanges: Its calls of gates, in order.
        outcome: Digest of what could be seen of it.
        flaw: Why it would not do the same again, as what it did; or the empty string.
        seconds: The time it took.
        calls: What is told of its calls of gates, should it be undone.
        reads: What it read of clocks and chance.
    """

    number: int
    source: str
    exchanges: tuple[Exchange, ...]
    outcome: bytes
    flaw: str
    seconds: float
    calls: Calls
    reads: bytes | None

    @property
    def playable(self) -> bool:
        """Whether it would do the same again."""
        return not self.flaw

    @property
    def size(self) -> int:
        """Bytes that it takes up."""
        own = _ENTRY_BYTES + sys.getsizeof(self.source)
        own += len(self.reads or b"")
        return own + sum(one.size for one in self.exchanges) + self.calls.size


@dataclass(frozen=True, slots=True)
class Loaded:
    """A state that was taken up from an image, or can be.

    Attributes:
        number: How many turns had led to it.
        body: The state, as its worker wrote it.
        left_out: Variables of that moment that it lacks, each with the reason.
    """

    number: int
    body: bytes
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def size(self) -> int:
        """Bytes that it takes up."""
        return _ENTRY_BYTES + len(self.body)


Entry = Setting | Played | Loaded


def played(
    source: str, exchanges: tuple[Exchange, ...] | None, calls: Calls, execution: Execution
) -> Played:
    """The entry of a turn that came to its end; without its exchanges it can't be run again."""
    return Played(
        execution.turn,
        source,
        exchanges or (),
        outcome_of(execution),
        _flaw_of(execution, exchanges is not None),
        execution.duration_ms / 1000,
        calls,
        execution.reads,
    )


def _flaw_of(execution: Execution, has_exchanges: bool) -> str:
    if execution.status not in PLAYABLE:
        return "was cut off"
    if not has_exchanges:
        return "was answered more by its gates than is kept"
    return "" if execution.repeatable else "read clocks or random bytes more than is kept"


def call_digest(body: bytes | bytearray) -> bytes:
    """By what a call is known again."""
    return hashlib.blake2b(body, digest_size=16).digest()


def outcome_of(execution: Execution) -> bytes:
    """By what it is told whether a turn did the same again."""
    error = execution.error.type if execution.error else ""
    seen = (
        *(execution.status, execution.stdout, execution.shown or "", execution.bound or ""),
        error,
    )
    digest = hashlib.blake2b(digest_size=16)
    for text in seen:
        try:
            encoded = text.encode()
        except UnicodeEncodeError:
            encoded = text.encode(ESCAPES)
        digest.update(len(encoded).to_bytes(8, "big") + encoded)
    return digest.digest()


class Record:
    """A session's past, from its beginning or from the oldest place that is still kept.

    A place is a number of entries: 0 is the beginning. What is asked for with each turn costs the
    same however long the past is.

    Attributes:
        base: The latest place from which a fresh worker can be brought to the end, as far as
            turns can be run again.
    """

    def __init__(self) -> None:
        self._entries: list[Entry] = []
        self._seconds: list[float] = []  # what turns took, up to and with each entry
        self._first = 0
        self._seconds_before = 0.0  # the first one
        self._size = 0
        self._lock = threading.Lock()  # another thread may copy it while its session is used
        self._forget_marks()

    def _forget_marks(self) -> None:
        self.base = 0
        self._latest = self._cut_off = -1  # places of the latest turn, and of such a one

    @property
    def end(self) -> int:
        """The place after the last entry."""
        return self._first + len(self._entries)

    @property
    def is_full(self) -> bool:
        """Whether it holds more than ``MAX_RECORD``."""
        return self._size > MAX_RECORD

    def add(self, entry: Entry) -> None:
        """Add what has just been done."""
        took = entry.seconds if isinstance(entry, Played) else 0.0
        with self._lock:
            self._mark(self.end, entry)
            self._seconds.append(self._seconds_until(self.end) + took)
            self._entries.append(entry)
            self._size += entry.size

    def _mark(self, place: int, entry: Entry) -> None:
        if isinstance(entry, Loaded):
            self.base = self._latest = place
        elif isinstance(entry, Played):
            self._latest = place
            if not entry.playable:
                self._cut_off = place

    def _seconds_until(self, place: int) -> float:
        return (
            self._seconds[place - self._first - 1]
            if place > self._first
            else (self._seconds_before)
        )

    def note_told(self, place: int) -> None:
        """Note that it was told which variables the image at a place lacks."""
        image = self._entries[place - self._first]
        assert isinstance(image, Loaded)
        self._entries[place - self._first] = replace(image, left_out={})

    def since(self, place: int) -> list[Entry] | None:
        """What was done since a place, or None where that is not known any more."""
        return None if place < self._first else self._entries[place - self._first :]

    def has_turns_since(self, place: int) -> bool:
        """Whether a turn has run since a place."""
        return self._latest >= place

    def is_repeatable_since(self, place: int) -> bool:
        """Whether what was done since a place is known, and can be done again."""
        return self._first <= place and self._cut_off < place

    def seconds_since(self, place: int) -> float:
        """Time that the turns since a place took, in seconds."""
        return self._seconds_until(self.end) - self._seconds_until(place)

    def forget_before(self, place: int) -> None:
        """Forget what was done before a place."""
        count = min(place, self.end) - self._first
        if count <= 0:
            return
        with self._lock:
            self._seconds_before = self._seconds[count - 1]
            self._size -= sum(entry.size for entry in self._entries[:count])
            del self._entries[:count], self._seconds[:count]
            self._first += count

    def cut(self, place: int) -> None:
        """Forget what was done after a place."""
        count = max(place - self._first, 0)
        with self._lock:
            self._size -= sum(entry.size for entry in self._entries[count:])
            del self._entries[count:], self._seconds[count:]
            self._forget_marks()
            for at, entry in enumerate(self._entries, self._first):
                self._mark(at, entry)

    def copy(self) -> Record:
        """The same past for another session."""
        with self._lock:
            twin = copy.copy(self)
            twin._entries, twin._seconds = list(self._entries), list(self._seconds)
        twin._lock = threading.Lock()
        return twin
