"""Whether a loom is whole: what verification finds, and that it finds it everywhere."""

from __future__ import annotations

import base64
import json
import re
import shutil
import sqlite3
from contextlib import closing
from pathlib import Path

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Reply
from circlet.runtime.loom import (
    EndRecord,
    EntityRecord,
    ImageRecord,
    IntentRecord,
    JSONLStore,
    Loom,
    NodeRecord,
    Observation,
    ReplyRecord,
    SQLiteStore,
    verify,
)
from circlet.runtime.loom.codec import row_of
from circlet.runtime.loom.store import digest_of
from circlet.sandbox import wire

AT = "2026-01-01T00:00:00.000000Z"
STORES = {"sqlite": SQLiteStore, "jsonl": JSONLStore}


@pytest.fixture(params=STORES)
def layout(request):
    """A format of stores on disk."""
    return request.param


@pytest.fixture
def told(run, layout, tell):
    """A run with delegation, a context in a blob, an image, a reward; closed."""
    with Loom(run, format=layout, trajectory=False) as loom:
        story = tell(loom)
        story.delegation()
        ref = loom.keep(wire.seal("c" * 5_000))
        loom.append(IntentRecord("parent", 2, "again", ref, "parent.2"))
        story.turn("parent", "echo")
        image = b"image" * 1_000
        digest = loom._store.put(image)
        loom.append(ImageRecord("parent", "parent.3", digest, len(image), {"python": "3"}, {}))
        story.end("parent", "second", cast=2)
        loom.annotate_reward(0, 0.5)
    return run


def faults(run: Path) -> list[str]:
    return [str(fault) for fault in verify(run).faults]


def test_a_whole_loom_is_called_whole(told):
    """A loom that nobody touched has no fault, and all of it was read."""
    found = verify(told)
    assert found.faults == []
    assert found.is_whole
    with Loom(told, read_only=True) as loom:
        assert found.records == len(list(loom.records()))
    assert found.blobs == 2
    assert found.notes == []


def test_the_chain_s_end_stands_for_the_loom(told, run, tell):
    """LOOM-3: the last chain is the same wherever the same records are, and another where not."""
    chain = verify(told).chain
    assert re.fullmatch("[0-9a-f]{64}", chain)
    other = told.with_name("other")
    for layout in STORES:
        Loom.load(told, other, format=layout).close()
        assert verify(other).chain == chain
        shutil.rmtree(other)
    with Loom(told) as loom:
        loom.annotate_reward(0, 0.75)
    assert verify(told).chain != chain


def test_a_loom_in_the_making_is_read_as_it_is(told, tell):
    """A run that goes on can be verified: what is written meanwhile is no fault."""
    with Loom(told) as loom:
        tell(loom).entity("another")
        assert verify(told).is_whole


def test_where_there_is_no_loom(tmp_path):
    """Nothing to verify is an error, not a whole loom."""
    with pytest.raises(LoomError, match="there is no loom"):
        verify(tmp_path)


def flipped(file: Path, place: int, bit: int) -> None:
    with file.open("r+b") as opened:
        opened.seek(place)
        [byte] = opened.read(1)
        opened.seek(place)
        opened.write(bytes([byte ^ (1 << bit)]))


def test_an_altered_byte_in_any_line_is_found(run, tell):
    """LOOM-3: whichever byte of a record's line is changed, in texts shown too, it is found."""
    with Loom(run, format="jsonl", trajectory=False) as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e", "echo")
        story.end("e", (1, 2))
    file = run / "loom.jsonl"
    whole = file.read_bytes()
    for place in range(whole.index(b"\n") + 1, len(whole), 5):
        flipped(file, place, place % 7)
        try:
            assert not verify(run).is_whole, whole[place - 20 : place + 20]
        finally:
            file.write_bytes(whole)


def test_an_altered_byte_in_any_body_is_found(run, tell):
    """LOOM-3: whichever byte of a record in the database is changed, the record is named."""
    with Loom(run, trajectory=False) as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e", "echo")
        story.end("e", (1, 2))
    file = run / "loom.db"
    whole = file.read_bytes()
    with closing(SQLiteStore(run, read_only=True)) as store:
        kept = list(store.read())
    found = 0
    for row in kept:
        start = whole.index(row.body)
        for place in range(start, start + len(row.body), 3):
            flipped(file, place, place % 8)
            try:
                text = "\n".join(faults(run))
            finally:
                file.write_bytes(whole)
            assert f"record {row.n} ({row.kind}" in text, (row.kind, place - start)
            found += 1
    assert found > 300


@pytest.mark.parametrize("layout", ["sqlite"], indirect=True)
def test_an_altered_byte_in_any_page_changes_no_record_unseen(told, layout):
    """A byte that is changed anywhere in the file is found, or no record reads differently."""
    file = told / "loom.db"
    whole = file.read_bytes()
    with closing(SQLiteStore(told, read_only=True)) as store:
        kept = list(store.read())
    for place in range(0, len(whole), 101):
        flipped(file, place, place % 8)
        try:
            if verify(told).is_whole:
                with closing(SQLiteStore(told, read_only=True)) as store:
                    assert list(store.read()) == kept
        except LoomError:
            pass  # it can't be opened at all
        finally:
            file.write_bytes(whole)


DAMAGE = {
    "zeroed": lambda data, place: data[:place] + bytes(512) + data[place + 512 :],
    "ones": lambda data, place: data[:place] + b"\xff" * 64 + data[place + 64 :],
    "cut off": lambda data, place: data[:place],
    "twice": lambda data, place: data[:place] + data[place - 100 : place] + data[place:],
}


@pytest.mark.parametrize("damage", DAMAGE)
def test_damage_anywhere_is_told_as_such(told, damage, layout):
    """A damaged file is found to be so: it is named as a fault, or by a LoomError, and no more."""
    file = told / ("loom.db" if layout == "sqlite" else "loom.jsonl")
    whole = file.read_bytes()
    found = 0
    for place in range(100, len(whole), len(whole) // 64):
        file.write_bytes(DAMAGE[damage](whole, place))
        try:
            found += not verify(told).is_whole
            read_through(told)
        except LoomError:
            found += 1
    assert found > 32  # of some 64; the rest of a database is unused


def read_through(run: Path) -> None:
    """Look at all that a loom has."""
    with Loom(run, read_only=True) as loom:
        for thread in loom.threads():
            str([turn.gate_calls for turn in thread])
        list(loom.records())


def test_an_altered_byte_in_a_blob_is_found(told):
    """A blob is compared with its digest, and named."""
    for blob in [path for path in (told / "blobs").rglob("*") if path.is_file()]:
        whole = blob.read_bytes()
        for place in (0, len(whole) // 2, len(whole) - 1):
            flipped(blob, place, 0)
            [fault] = faults(told)
            assert blob.name in fault
            assert "damaged" in fault
            blob.write_bytes(whole)
        blob.unlink()
        [fault] = faults(told)
        assert f"no blob '{blob.name}'" in fault
        blob.write_bytes(whole)
    assert verify(told).is_whole


def test_a_record_that_was_taken_out_is_found(told, layout):
    """LOOM-3: a gap in n is named."""
    if layout == "jsonl":
        file = told / "loom.jsonl"
        lines = file.read_bytes().split(b"\n")
        file.write_bytes(b"\n".join([*lines[:5], *lines[6:]]))
    else:
        doctored(told, "DELETE FROM records WHERE n = 5")
    assert any("record 5 is missing" in fault for fault in faults(told))


def test_records_that_were_swapped_are_found(told, layout):
    """LOOM-3: two records in each other's place break the chain."""
    if layout == "jsonl":
        file = told / "loom.jsonl"
        lines = [json.loads(line) for line in file.read_text().splitlines()]
        lines[4]["n"], lines[5]["n"] = 5, 4
        lines[4], lines[5] = lines[5], lines[4]
        text = "\n".join(json.dumps(line, separators=(",", ":")) for line in lines)
        file.write_text(text + "\n")
    else:
        for one, other in ((4, 100), (5, 4), (100, 5)):
            doctored(told, f"UPDATE records SET n = {other} WHERE n = {one}")
    found = faults(told)
    assert any(fault.startswith("record 4 ") and "altered" in fault for fault in found)


def doctored(run: Path, statement: str) -> None:
    """Change a database past its triggers, and put them back."""
    with closing(sqlite3.connect(run / "loom.db")) as database:
        query = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
        triggers = database.execute(query).fetchall()
        for name, _ in triggers:
            database.execute(f"DROP TRIGGER {name}")
        database.execute(statement)
        for _, sql in triggers:
            database.execute(sql)
        database.commit()


@pytest.mark.parametrize("layout", ["sqlite"], indirect=True)
def test_a_brief_that_was_changed_is_found(told, layout):
    """What the index is made of is compared with the records themselves."""
    doctored(told, "UPDATE records SET brief = x'91a178' WHERE kind = 'intent' AND n = 3")
    [fault] = faults(told)
    assert "record 3 (intent of 'x'): its entry in the index is another record's" in fault


def observed(text: str = "saw") -> Observation:
    return Observation((), "", None, None, text, False)


def node(name: str, sequence: int, turn: int, **changed) -> NodeRecord:
    parent = f"e.{sequence - 1}" if sequence > 1 else None
    values = {
        "id": name, "parent": parent, "entity": "e", "sequence": sequence, "turn": turn, "part": 1,
        "last": True, "observation": observed(), "calls": (), "delegated": (), "state": "kept",
        "duration_ms": 1.0,
    }  # fmt: skip
    return NodeRecord(**(values | changed))


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        (node("e.2", 2, 2, part=2), "it is part 2 of turn 2, but part 1 is next"),
        (node("e.2", 2, 1), "it is part 1 of turn 1, but part 2 is next"),
        (node("e.2", 2, 2, calls=(1, 2)), r"calls that are not on record: \[1, 2\]"),
        (node("e.2", 3, 2, parent="e.1"), "is number 2 of entity 'e', not 3"),
        (node("e.2", 2, 2, parent=None), "must follow 'e.1'"),
        (node("e.1", 2, 2, parent="e.1"), "the id 'e.1' is in the loom already"),
        (IntentRecord("e", 3, "again"), "it begins cast 3, but cast 2 is next"),
        (IntentRecord("who", 1, "again"), "no entity 'who'"),
        (EndRecord("e", 2, "e.1", "failed", "why"), "it ends cast 2, which has not begun"),
        (EndRecord("e", 1, "e.1", "failed", "why"), "it ends cast 1, which has ended"),
        (EndRecord("e", 1, "e.0", "failed", "why"), "'e.0' is not the last node"),
        (ReplyRecord("e", 0, Reply("said")), "turns are counted from 1"),
        (EntityRecord("f", "c", "who", None, 0, {}, "code", "m", "i"), "no identity 'who'"),
        (ImageRecord("e", "e.1", digest_of(b""), 0, {}, {}), "holds no blob"),
    ],
)
def test_a_record_that_contradicts_those_before_it_is_found(run, tell, layout, record, wrong):
    """LOOM-1, LOOM-2: ids, references, parts, calls and casts are compared, the record named."""
    with Loom(run, format=layout, trajectory=False) as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e")
        story.end("e", 1)
    with closing(STORES[layout](run)) as store:
        *_, last = store.read()
        store.append(row_of(record, last.n + 1, AT, last.chain))
    [fault] = faults(run)
    assert re.search(rf"record {last.n + 1} \(.*\): .*{wrong}", fault)


@pytest.mark.parametrize("at", ["", "now", "2026-13-01T00:00:00.000000Z", "2026-01-01"])
def test_a_time_that_is_none_is_found(run, rows, layout, at, tell):
    """Each record tells when it was written, as RFC 3339 has it."""
    Loom(run, format=layout, trajectory=False).close()
    record = tell(Loom()).loom.identity
    with closing(STORES[layout](run)) as store:
        store.append(row_of(record, 1, at, b""))
    [fault] = faults(run)
    assert f"its time is no time: {at!r}" in fault


def test_a_blob_of_another_size_is_found(told):
    """What a record says of its blob's size is compared with the blob."""
    with Loom(told) as loom:
        digest = loom._store.put(b"small")
        loom.append(ImageRecord("parent", "parent.3", digest, 7, {}, {}))
    [fault] = faults(told)
    assert f"the blob {digest} has 5 bytes, not 7" in fault


@pytest.mark.parametrize("layout", ["jsonl"], indirect=True)
def test_an_altered_value_beside_its_bytes_is_found(told, layout):
    """What a line shows of a value is compared with the bytes that count."""
    file = told / "loom.jsonl"
    text = file.read_text()
    shown = base64.b64encode(wire.dumps(42)).decode()
    assert f'{{"value":42,"codec":"{shown}"}}' in text
    file.write_text(
        text.replace(f'{{"value":42,"codec":"{shown}"}}', f'{{"value":43,"codec":"{shown}"}}')
    )
    found = faults(told)
    assert found
    assert all("its line doesn't show what its bytes say" in fault for fault in found)
