"""What every store promises, whatever it is made of."""

from __future__ import annotations

import hashlib
import threading
from collections.abc import Iterator

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import LoomStore, MemoryStore, SQLiteStore

AT = "2026-01-01T00:00:00.000000Z"


@pytest.fixture(params=["memory", "sqlite", "sqlite-power"])
def store(request, tmp_path) -> Iterator[LoomStore]:
    if request.param == "memory":
        made: LoomStore = MemoryStore()
    else:
        durability = "power" if request.param.endswith("power") else "process"
        made = SQLiteStore(tmp_path / "run", durability)
    yield made
    made.close()


def fill(store: LoomStore, count: int) -> list[tuple[int, str, str, bytes]]:
    rows = [(n, AT, "kind", b"body %d" % n) for n in range(1, count + 1)]
    for row in rows:
        store.append(*row)
    return rows


def test_an_empty_store_has_no_records(store):
    """A new store holds nothing."""
    assert list(store.read()) == []


def test_records_come_back_in_order_and_whole(store):
    """LOOM-3: what was appended is read as it was, in the order of n."""
    rows = fill(store, 5)
    assert list(store.read()) == rows


@pytest.mark.parametrize("after", [0, 1, 4, 5, 99])
def test_reading_starts_after_a_record(store, after):
    """A reader that knows some records reads on from there."""
    rows = fill(store, 5)
    assert list(store.read(after)) == rows[after:]


def test_any_bytes_are_kept(store):
    """A body is bytes: empty, with every value, and large."""
    bodies = [b"", bytes(range(256)), b"x" * 3_000_000]
    for n, body in enumerate(bodies, 1):
        store.append(n, AT, "kind", body)
    assert [body for *_, body in store.read()] == bodies


@pytest.mark.parametrize("n", [-1, 0, 1, 2, 4, 5])
def test_only_the_next_record_is_taken(store, n):
    """LOOM-3: n is gapless; neither a gap nor a second record of one number gets in."""
    rows = fill(store, 2)
    with pytest.raises(LoomError, match="append-only"):
        store.append(n, AT, "kind", b"other")
    assert list(store.read()) == rows
    store.append(3, AT, "kind", b"the next one is still taken")


def test_a_reader_sees_what_is_added_while_it_reads(store):
    """Reading is by row: a record that is there when it is reached is read."""
    fill(store, 1)
    reading = store.read()
    next(reading)
    store.append(2, AT, "kind", b"later")
    assert [n for n, *_ in reading] == [2]


def test_an_abandoned_reader_holds_nothing_up(store):
    """A reader that stops halfway doesn't keep the writer from going on."""
    rows = fill(store, 3)
    reading = store.read()
    assert next(reading) == rows[0]
    store.append(4, AT, "kind", b"")
    reading.close()
    store.append(5, AT, "kind", b"")


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
        lambda: store.append(2, AT, "kind", b""),
        lambda: list(store.read()),
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
                    store.append(len(list(store.read())) + 1, AT, "kind", b"")
                store.get(store.put(b"shared"))
        except BaseException as error:
            problems.append(error)

    threads = [threading.Thread(target=work) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert problems == []
    assert [n for n, *_ in store.read()] == list(range(1, 81))
