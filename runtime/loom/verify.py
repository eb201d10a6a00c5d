"""Whether a loom is whole: every record and blob is read, and compared with what it must be."""

from __future__ import annotations

import datetime as dt
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ..errors import LoomError
from .codec import decode_with_brief
from .export import blobs_of
from .formats import opened
from .index import Index
from .records import (
    CallRecord,
    EndRecord,
    ImageRecord,
    IntentRecord,
    NodeRecord,
    Record,
    ReplyRecord,
)
from .store import LoomStore, Row, chain_of
from .values import ContextRef

_AT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")


@dataclass(frozen=True, slots=True)
class Fault:
    """Something that is wrong with a loom.

    Attributes:
        n: The record that it is about; None where it is about no single one.
        of: What the record is: its kind, and the id that it is known by.
        what: What is wrong.
    """

    n: int | None
    of: str
    what: str

    def __str__(self) -> str:
        return self.what if self.n is None else f"record {self.n} ({self.of}): {self.what}"


@dataclass(slots=True)
class Verification:
    """What came of reading a loom through.

    Attributes:
        records: How many records were read.
        blobs: How many blobs they refer to.
        faults: What is wrong, in order.
        chain: The chain of the last record, in hex: it stands for all records, so that a note of
            it tells later whether any of them was changed since; empty where there is none.
        notes: What could not be checked.
    """

    records: int = 0
    blobs: int = 0
    faults: list[Fault] = field(default_factory=list)
    chain: str = ""
    notes: list[str] = field(default_factory=list)

    @property
    def is_whole(self) -> bool:
        """Whether nothing is wrong."""
        return not self.faults


def verify(directory: str | Path) -> Verification:
    """Read all of a run's loom, and tell what is wrong with it.

    A loom that is being written is read as it is when it is reached.

    Args:
        directory: The run's directory.

    Raises:
        LoomError: There is no loom, or it can't be opened at all.
    """
    store = opened(Path(directory), read_only=True)
    try:
        found = Verification()
        reading = Reading(store)
        try:
            for row in store.read():
                found.faults += reading.faults(row)
                found.records += 1
        except LoomError as error:
            what = f"{error}; what follows record {reading.last} can't be checked"
            found.faults.append(Fault(None, "", what))
        found.faults += (Fault(None, "", what) for what in store.damage())
        found.blobs, found.chain = len(reading.blobs), reading.chain.hex()
        if reading.is_unchained:
            found.notes.append("its format has no chain, so that altered texts may go unnoticed")
        return found
    finally:
        store.close()


class Reading:
    """Reads records one after the other, and compares each with those before it.

    Args:
        store: Where their blobs are.

    Attributes:
        last: The ``n`` of the last one.
        chain: Its chain.
        is_unchained: Whether they have no chains of their own.
        blobs: Digests of the blobs that they refer to.
    """

    def __init__(self, store: LoomStore) -> None:
        self._store = store
        self._index = Index(store)
        self._casts: dict[str, _Casts] = {}
        self.last = 0
        self.chain = b""
        self.is_unchained = False
        self.blobs: set[str] = set()

    def faults(self, row: Row) -> list[Fault]:
        """What is wrong with the next record."""
        return [Fault(row.n, _known_by(row), what) for what in self._wrong(row)]

    def _wrong(self, row: Row) -> Iterator[str]:
        if row.n != self.last + 1:
            yield f"record {self.last + 1} is missing before it"
        self.last = row.n
        altered = list(self._wrong_chain(row))
        yield from altered
        if not _is_time(row.at):
            yield f"its time is no time: {row.at!r}"
        try:
            record, brief = decode_with_brief(row.kind, row.body)
            if brief != row.brief:
                yield "its entry in the index is another record's"
                if altered:  # so that it is the entry that is right
                    brief = row.brief
            self._index.check(row.kind, brief)
            if brief == row.brief or not altered:
                yield from self._wrong_blobs(record)
                yield from self._wrong_place(record)
            self._index.add(row.n, row.kind, brief)
        except LoomError as error:
            yield str(error)
        except (LookupError, TypeError, ValueError) as error:
            yield f"its entry in the index can't be read: {error!r}"

    def _wrong_chain(self, row: Row) -> Iterator[str]:
        self.is_unchained = not row.chain
        chain = chain_of(self.chain, row.n, row.at, row.kind, row.body)
        if row.chain and row.chain != chain:
            yield "it was altered, or one before it was: its chain is another"
        # From what is there, for each alteration to be told once.
        self.chain = row.chain or chain

    def _wrong_blobs(self, record: Record) -> Iterator[str]:
        for digest in blobs_of(record):
            try:
                data = self._store.get(digest)
            except LoomError as error:
                yield str(error)
                continue
            self.blobs.add(digest)
            if len(data) != _told_size(record):
                yield f"the blob {digest} has {len(data)} bytes, not {_told_size(record)}"

    def _wrong_place(self, record: Record) -> Iterator[str]:
        """What is wrong with how a record follows the others of its entity."""
        if isinstance(record, NodeRecord):
            yield from self._wrong_node(record)
        elif isinstance(record, IntentRecord):
            casts = self._casts.setdefault(record.entity, _Casts())
            casts.begun += 1
            if record.cast != casts.begun:
                yield f"it begins cast {record.cast}, but cast {casts.begun} is next"
        elif isinstance(record, EndRecord):
            casts = self._casts.setdefault(record.entity, _Casts())
            if not 1 <= record.cast <= casts.begun:
                yield f"it ends cast {record.cast}, which has not begun"
            if record.cast in casts.ended:
                yield f"it ends cast {record.cast}, which has ended"
            casts.ended.add(record.cast)
        elif isinstance(record, ReplyRecord | CallRecord) and record.turn < 1:
            yield f"it is of turn {record.turn}: turns are counted from 1"

    def _wrong_node(self, record: NodeRecord) -> Iterator[str]:
        entity = self._index.entities[record.entity]
        parts = len(entity.parts.get(record.turn, ()))
        if record.part != parts + 1:
            yield f"it is part {record.part} of turn {record.turn}, but part {parts + 1} is next"
        missing = [k for k in record.calls if entity.call(record.turn, k) is None]
        if missing:
            yield f"it tells of calls that are not on record: {missing}"


@dataclass(slots=True)
class _Casts:
    """Casts of one entity: how many began, and which ended."""

    begun: int = 0
    ended: set[int] = field(default_factory=set)


def _told_size(record: Record) -> int:
    told = record if isinstance(record, ImageRecord) else getattr(record, "context", None)
    assert isinstance(told, ImageRecord | ContextRef)  # nothing else has a blob
    return told.size


def _is_time(at: str) -> bool:
    try:
        dt.datetime.fromisoformat(at)
    except ValueError:
        return False
    return _AT.fullmatch(at) is not None


def _known_by(row: Row) -> str:
    known = row.brief[0] if row.brief else "?"
    return f"{row.kind} of {known!r}" if row.kind not in _OWN_ID else f"{row.kind} {known!r}"


_OWN_ID = frozenset({"identity", "entity", "node"})
"""Kinds of records that have an id of their own."""
