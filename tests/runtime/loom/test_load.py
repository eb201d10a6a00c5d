"""Looms taken over: from an export or a run, into either format, without loss."""

from __future__ import annotations

import json
import os
import shutil
from contextlib import closing

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import ImageRecord, Row, SQLiteStore, verify
from circlet.runtime.loom.brief import brief_of
from circlet.runtime.loom.store import chain_of
from circlet.sandbox import wire

FORMATS = ("sqlite", "jsonl")


@pytest.fixture(scope="module")
def origin(tmp_path_factory):
    """A real cantrip's run: gates, a child, an error, values of many kinds, a large context."""
    run = tmp_path_factory.mktemp("origin") / "run"
    replies = {
        "go": [
            {"code": "x = [1.5, (2, {3}), b'bytes', 'é', 10**30, float('inf')]\nprint(x)"},
            {"code": "y = call_entity('child', context={'k': (1, 2)})"},
            {"code": "1 / 0"},
            {"code": "done((x, y, len(context)))"},
        ],
        "child": [{"code": "done([context, 'said'])"}],
    }
    circle = Circle(medium="code", gates=["done", "call_entity"], wards=[{"max_turns": 10}])
    with Loom(run) as loom:
        cast = Cantrip(llm=ScriptedLLM(replies), circle=circle, loom=loom).cast(
            "go", context="c" * 100_000
        )
        loom.annotate_reward(0, 0.5)
        digest = loom._store.put(b"image" * 100)
        node = cast.thread[-1].id
        loom.append(ImageRecord(cast.entity_id, node, digest, 500, {"python": "3"}, {"x": "why"}))
    return run


def rows_of(run):
    with Loom(run, read_only=True) as loom:
        return list(loom._store.read())


def blobs_of(run):
    return {p.name: p.read_bytes() for p in (run / "blobs").rglob("*") if p.is_file()}


def test_the_origin_is_whole(origin):
    """What a real run leaves has no fault."""
    assert verify(origin).faults == []


@pytest.mark.parametrize("layout", FORMATS)
def test_an_export_is_taken_over_whole(origin, tmp_path, layout):
    """LOOM-3: n, at and every byte of every record are the same, and so are the blobs."""
    with Loom(origin, read_only=True) as loom:
        loom.export(tmp_path / "export.jsonl", redaction="none")
    with Loom.load(tmp_path / "export.jsonl", tmp_path / "new", format=layout) as loom:
        assert loom.path == tmp_path / "new"
        with Loom(origin, read_only=True) as before:
            assert list(loom.records()) == list(before.records())
            assert loom.export(redaction="none") == before.export(redaction="none")
    assert rows_of(tmp_path / "new") == rows_of(origin)
    assert {*blobs_of(tmp_path / "new")} <= {*blobs_of(origin)}
    assert verify(tmp_path / "new").is_whole
    assert verify(tmp_path / "new").blobs == verify(origin).blobs == 2


def test_there_and_back_again(origin, tmp_path):
    """From SQLite to JSONL to SQLite: nothing is different at the end."""
    Loom.load(origin, tmp_path / "lines", format="jsonl").close()
    Loom.load(tmp_path / "lines", tmp_path / "back").close()
    assert rows_of(tmp_path / "back") == rows_of(tmp_path / "lines") == rows_of(origin)
    Loom.load(tmp_path / "lines" / "loom.jsonl", tmp_path / "again").close()
    assert rows_of(tmp_path / "again") == rows_of(origin)


def test_a_loom_can_be_taken_into_memory(origin, tmp_path):
    """Without a path the new loom is in memory."""
    with Loom.load(origin) as loom, Loom(origin, read_only=True) as before:
        assert loom.path is None
        assert list(loom.records()) == list(before.records())


def test_a_loom_that_was_taken_over_goes_on(origin, tmp_path):
    """ENTITY-5: the new loom is a loom like any other: it can be cast into and forked."""
    with Loom.load(origin, tmp_path / "new", format="jsonl") as loom:
        circle = Circle(medium="code", gates=["done", "call_entity"], wards=[{"max_turns": 10}])
        llm = ScriptedLLM([{"code": "done(x[0])"}])
        spell = Cantrip(llm=llm, circle=circle, loom=loom)
        root = next(iter(loom.entities))
        assert spell.fork(root, from_turn=1, intent="on", llm=llm).result == 1.5
    assert verify(tmp_path / "new").is_whole


def test_a_redacted_export_is_refused(origin, tmp_path):
    """PROD-8: what was withheld can't be made up: the error says why and how to mend it."""
    with Loom(origin, read_only=True) as loom:
        loom.export(tmp_path / "export.jsonl")
    with pytest.raises(LoomError) as refusal:
        Loom.load(tmp_path / "export.jsonl", tmp_path / "new")
    assert "it is redacted" in str(refusal.value)
    assert "redaction='none'" in str(refusal.value)
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize(
    ("change", "wrong"),
    [
        (lambda lines: lines.pop(4), "line 5: record"),
        (lambda lines: lines[3].update(turn=7), "it was altered"),
        (lambda lines: lines[3].update(more=1), "it was altered"),
        (lambda lines: lines[3].update(kind="story"), "line 4: unknown kind of record: 'story'"),
        (lambda lines: lines[-1].update(chain="00" * 32), "it was altered"),
        (
            lambda lines: next(line for line in lines if line["kind"] == "blob").update(data=""),
            "blob",
        ),
    ],
)
def test_what_is_not_whole_is_not_taken_over(origin, tmp_path, change, wrong):
    """LOOM-2: the first thing that is wrong is named, and nothing is made."""
    with Loom(origin, read_only=True) as loom:
        head, *lines = map(json.loads, loom.export(redaction="none").splitlines())
    head["kind"] = "head"
    lines = [head, *lines]
    change(lines)
    text = "".join(json.dumps(line, separators=(",", ":")) + "\n" for line in lines)
    (tmp_path / "export.jsonl").write_text(text)
    for path in (tmp_path / "new", None):
        with pytest.raises(LoomError, match=wrong):
            Loom.load(tmp_path / "export.jsonl", path)
    assert {path.name for path in tmp_path.iterdir()} == {"export.jsonl"}


@pytest.mark.parametrize(
    ("kind", "fields", "wrong"),
    [
        ("intent", {"entity": "who", "cast": 1, "text": ""}, "no entity 'who'"),
        ("reward", {"node": "where", "value": 1.0, "by": "user"}, "no turn 'where'"),
        ("resume", {"entity": "e", "mood": 1}, "mood is unknown; a newer circlet"),
        ("resume", {"entity": 5}, "entity must be str, not int"),
    ],
)
def test_a_record_that_does_not_fit_is_not_taken_over(run, tmp_path, tell, kind, fields, wrong):
    """LOOM-2: references and fields are checked on the way in, though the chain is right."""
    with Loom(run, trajectory=False) as loom:
        tell(loom).entity("e")
    with closing(SQLiteStore(run)) as store:
        *_, last = store.read()
        body = wire.dumps(fields)
        chain = chain_of(last.chain, last.n + 1, last.at, kind, body)
        store.append(Row(last.n + 1, last.at, kind, brief_of(kind, fields), body, chain))
    with pytest.raises(LoomError, match=rf"can't be taken over: record {last.n + 1} .*{wrong}"):
        Loom.load(run, tmp_path / "new")


def test_a_blob_that_is_gone_is_an_error(origin, tmp_path):
    """Every blob is read on the way in, and its content checked."""
    shutil.copytree(origin, tmp_path / "copy")
    shutil.rmtree(tmp_path / "copy" / "blobs")
    with pytest.raises(LoomError, match=r"can't be taken over: record .* no blob"):
        Loom.load(tmp_path / "copy", tmp_path / "new")
    assert not (tmp_path / "new").exists()


@pytest.mark.parametrize("there", ["a run", "a file in it", "a file"])
def test_a_directory_that_is_not_empty_is_refused(origin, tmp_path, there):
    """Nothing is mixed with what is there already, and none of it is touched."""
    new = tmp_path / "new"
    if there == "a run":
        Loom(new).close()
    elif there == "a file in it":
        new.mkdir()
        (new / "mine").write_text("mine")
    else:
        new.write_text("mine")
    before = sorted(os.listdir(tmp_path))
    with pytest.raises(LoomError, match="is not empty: choose another directory"):
        Loom.load(origin, new)
    assert sorted(os.listdir(tmp_path)) == before


def test_an_empty_directory_will_do(origin, tmp_path):
    """A directory that was made for it is taken."""
    (tmp_path / "new").mkdir()
    with Loom.load(origin, tmp_path / "new") as loom:
        assert loom.turn_count


@pytest.mark.parametrize("source", ["nothing", "empty"])
def test_where_there_is_nothing_to_take_over(tmp_path, source):
    """The error names the path."""
    (tmp_path / "empty").mkdir()
    with pytest.raises(LoomError, match=f"no .*{tmp_path / source}"):
        Loom.load(tmp_path / source, tmp_path / "new")


def test_the_source_is_not_changed(origin, tmp_path):
    """A run that is taken over stays as it was."""
    before = {path: path.read_bytes() for path in origin.rglob("*") if path.is_file()}
    Loom.load(origin, tmp_path / "new").close()
    after = {path: path.read_bytes() for path in origin.rglob("*") if path.is_file()}
    changed = {path.name for path in {*before, *after} if before.get(path) != after.get(path)}
    assert changed <= {"loom.db-wal", "loom.db-shm"}
