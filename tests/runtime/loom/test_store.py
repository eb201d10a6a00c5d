"""What every store promises, whatever it is made of."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Reply, ToolCall, Usage
from circlet.runtime.loom import (
    CallRecord,
    FoldRecord,
    IdentityRecord,
    JSONLStore,
    LoomStore,
    MemoryStore,
    NodeRecord,
    Observation,
    Record,
    ReplyRecord,
    Row,
    SQLiteStore,
)
from circlet.runtime.loom.codec import row_of
from circlet.runtime.loom.store import digest_of
from circlet.sandbox import wire
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, rule

AT = "2026-01-01T00:00:00.000000Z"


class ListStore:
    """A store as anybody may write one: it keeps to the protocol, and inherits from nothing."""

    def __init__(self) -> None:
        self.rows: list[Row] | None = []
        self.blobs: dict[str, bytes] = {}

    def _kept(self) -> list[Row]:
        if self.rows is None:
            raise LoomError("the loom is closed")
        return self.rows

    def append(self, row: Row) -> None:
        if row.n != len(self._kept()) + 1:
            raise LoomError("loom is append-only")
        self._kept().append(row)

    def read(self, after: int = 0) -> Iterator[Row]:
        while after < len(self._kept()):
            yield self._kept()[after]
            after += 1

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Any]]:
        return ((row.n, row.kind, row.brief) for row in self.read(after))

    def put(self, data: bytes) -> str:
        self._kept()
        digest = digest_of(data)
        self.blobs[digest] = data
        return digest

    def get(self, digest: str) -> bytes:
        self._kept()
        if digest not in self.blobs:
            raise LoomError(f"no blob {digest}")
        return self.blobs[digest]

    def close(self) -> None:
        self.rows = None


MAKERS: dict[str, Callable[[Path], LoomStore]] = {
    "memory": lambda _: MemoryStore(),
    "sqlite": lambda path: SQLiteStore(path),
    "sqlite-power": lambda path: SQLiteStore(path, "power"),
    "jsonl": lambda path: JSONLStore(path),
    "jsonl-power": lambda path: JSONLStore(path, "power"),
    "a store of one's own": lambda _: ListStore(),
}


@pytest.fixture(params=MAKERS)
def store(request, tmp_path) -> Iterator[LoomStore]:
    made = MAKERS[request.param](tmp_path / "run")
    yield made
    made.close()


def row(n: int, record: Record | None = None, before: bytes = b"") -> Row:
    return row_of(record or FoldRecord("e", n, n, f"fold {n}"), n, AT, before)


def fill(store: LoomStore, count: int) -> list[Row]:
    rows = [row(1)]
    for n in range(2, count + 1):
        rows.append(row(n, before=rows[-1].chain))
    for each in rows:
        store.append(each)
    return rows


def test_an_empty_store_has_no_records(store):
    """A new store holds nothing."""
    assert list(store.read()) == list(store.scan()) == []


def test_records_come_back_in_order_and_whole(store):
    """LOOM-3: what was appended is read as it was, in the order of n."""
    rows = fill(store, 5)
    assert list(store.read()) == rows


@pytest.mark.parametrize("after", [0, 1, 4, 5, 99])
def test_reading_starts_after_a_record(store, after):
    """A reader that knows some records reads on from there."""
    rows = fill(store, 5)
    assert list(store.read(after)) == rows[after:]
    assert list(store.scan(after)) == [(row.n, row.kind, row.brief) for row in rows[after:]]


PAIR = "\ud83d\ude00"  # two lone surrogates, which JSON takes for one character
HARD = ["", "a\r\nb\u2028\x00\x1c", "\ud800", PAIR, "😀 é", "x" * 3_000_000]
ODD = {
    "codec": "AA==",
    "value": {"exact": 1},
    PAIR: (1, 2),
    "big": 2**70_000,
    "inf": float("inf"),
    "map": {1: b"\x00\xff", (2,): set("abcdefgh")},
    "list": [None, True, -0.0, 1e300, 0.1, 2**63, [[]], {}],
    "$map": [["a", 1]],
}


@pytest.mark.parametrize(
    "record",
    [
        *(FoldRecord(text, 1, 2, text) for text in HARD),
        IdentityRecord("i", "c", None, ODD, PAIR),
        IdentityRecord("i", "c", "", {"exact": [], "deep": [[[[[[1]]]]]]}, "", "required"),
        ReplyRecord(
            "e", 1, Reply("", (ToolCall("1", "python", ODD), ToolCall("2", "x", {}, "{")), Usage(1))
        ),
        CallRecord("e", 1, 1, "g", b"\xc1 no value", "", "begun"),
        CallRecord(
            "é", 2**40, 1, "g", wire.dumps({"a": {1, 2}}), "", "ended", b"", PAIR, True, 0.1,
            bytes(range(32)), wire.dumps(ValueError), None,
        ),
        NodeRecord(
            "n", None, "e", 1, 1, 1, True, Observation((), "", None, None, "", False, (PAIR,)),
            (1, 2), ("a", PAIR), "lost", float("inf"), False, b"\x80",
        ),
    ],
    ids=lambda record: f"{type(record).__name__}",
)  # fmt: skip
def test_any_record_is_kept_to_the_byte(store, record):
    """LOOM-3: no text, number, mapping or bytes that a record can hold is changed by its store."""
    kept = row(1, record)
    store.append(kept)
    assert list(store.read()) == [kept]
    assert list(store.scan()) == [(1, kept.kind, kept.brief)]


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 4, 5])
def test_only_the_next_record_is_taken(store, n):
    """LOOM-3: n is gapless; neither a gap nor a second record of one number gets in."""
    rows = fill(store, 2)
    with pytest.raises(LoomError, match="append-only"):
        store.append(row(n))
    assert list(store.read()) == rows
    store.append(row(3))


def test_a_reader_sees_what_is_added_while_it_reads(store):
    """Reading is by row: a record that is there when it is reached is read."""
    fill(store, 1)
    reading, scanning = store.read(), store.scan()
    next(reading)
    next(scanning)
    store.append(row(2))
    assert [row.n for row in reading] == [n for n, *_ in scanning] == [2]


def test_an_abandoned_reader_holds_nothing_up(store):
    """A reader that stops halfway doesn't keep the writer from going on."""
    rows = fill(store, 3)
    reading, scanning = store.read(), store.scan()
    assert next(reading) == rows[0]
    next(scanning)
    store.append(row(4))
    reading.close()
    store.append(row(5))


def test_a_blob_is_named_by_its_content(store):
    """A blob's name is the SHA-256 of its bytes, and gives them back."""
    for data in (b"", b"some", bytes(range(256)) * 1000):
        digest = store.put(data)
        assert digest == hashlib.sha256(data).hexdigest()
        assert store.get(digest) == data


def test_a_blob_can_be_put_again(store):
    """Putting a blob twice is the same as putting it once."""
    assert store.put(b"same") == store.put(b"same")
    assert store.get(store.put(b"same")) == b"same"


@pytest.mark.parametrize("digest", ["0" * 64, "", "short", "../../etc/passwd", "a/b", "A" * 64])
def test_an_unknown_blob_is_an_error(store, digest):
    """A digest that names no blob is told so, whatever it looks like."""
    with pytest.raises(LoomError, match="no blob"):
        store.get(digest)


def test_a_closed_store_refuses(store):
    """After close every use is one clear error; closing again is none."""
    fill(store, 1)
    digest = store.put(b"blob")
    reading = store.read()
    store.close()
    store.close()
    for use in (
        lambda: store.append(row(2)),
        lambda: list(store.read()),
        lambda: list(store.scan()),
        lambda: next(reading),
        lambda: store.put(b"more"),
        lambda: store.get(digest),
    ):
        with pytest.raises(LoomError, match="closed"):
            use()


def test_a_store_may_be_used_from_any_thread(store):
    """Threads that hand the turn to each other append, read and put without harm."""
    turn = threading.Lock()
    problems: list[BaseException] = []

    def work() -> None:
        try:
            for _ in range(20):
                with turn:
                    store.append(row(len(list(store.read())) + 1))
                store.get(store.put(b"shared"))
                numbers = [n for n, *_ in store.scan()]
                assert numbers == list(range(1, len(numbers) + 1))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [row.n for row in store.read()] == list(range(1, 81))


class AllAlike(RuleBasedStateMachine):
    """One writes and reads all stores at once; those on disk are closed and opened in between."""

    @initialize()
    def begin(self) -> None:
        self.home = TemporaryDirectory()
        self.path = Path(self.home.name)
        self.stores = {name: make(self.path / name) for name, make in MAKERS.items()}
        self.rows: list[Row] = []
        self.blobs: dict[str, bytes] = {}

    @rule(text=st.text(st.characters(), max_size=30), size=st.sampled_from([0, 10, 5_000]))
    def append(self, text: str, size: int) -> None:
        n = len(self.rows) + 1
        before = self.rows[-1].chain if self.rows else b""
        kept = row_of(FoldRecord(text, n, size, text * size), n, AT, before)
        for store in self.stores.values():
            store.append(kept)
        self.rows.append(kept)

    @rule(off=st.sampled_from([-1, 0, 2]))
    def append_another(self, off: int) -> None:
        for store in self.stores.values():
            with pytest.raises(LoomError, match="append-only"):
                store.append(row(len(self.rows) + off))

    @rule(data=st.binary(max_size=50))
    def put(self, data: bytes) -> None:
        digests = {store.put(data) for store in self.stores.values()}
        self.blobs[digests.pop()] = data
        assert not digests

    @rule(after=st.integers(0, 10))
    def read(self, after: int) -> None:
        briefs = [(row.n, row.kind, row.brief) for row in self.rows[after:]]
        for store in self.stores.values():
            assert list(store.scan(after)) == briefs
            assert list(store.read(after)) == self.rows[after:]
            for digest, data in self.blobs.items():
                assert store.get(digest) == data

    @rule()
    def reopen(self) -> None:
        for name in self.stores:
            if (self.path / name).exists():
                self.stores[name].close()
                self.stores[name] = MAKERS[name](self.path / name)

    def teardown(self) -> None:
        for store in self.stores.values():
            store.close()
        self.home.cleanup()


TestAllAlike = AllAlike.TestCase
TestAllAlike.settings = settings(max_examples=30, stateful_step_count=20, deadline=None)
