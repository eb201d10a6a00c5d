"""The lines of JSON: what they say, what a crash leaves of them, what is no line."""

from __future__ import annotations

import base64
import json
import shutil
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Reply, ToolCall
from circlet.runtime.loom import IdentityRecord, IntentRecord, JSONLStore, Loom, ReplyRecord, verify
from circlet.runtime.loom.codec import row_of
from circlet.sandbox import wire
from hypothesis import given, settings
from hypothesis import strategies as st

AT = "2026-01-01T00:00:00.000000Z"


def append(store, rows) -> None:
    for row in rows:
        store.append(row)


@pytest.fixture
def file(run, rows) -> Path:
    """The file of a loom with five records."""
    with closing(JSONLStore(run)) as store:
        append(store, rows(5))
    return run / "loom.jsonl"


def lines_of(file: Path) -> list[dict]:
    return [json.loads(line) for line in file.read_text("ascii").splitlines()]


def read(run: Path) -> list:
    with closing(JSONLStore(run, read_only=True)) as store:
        return list(store.read())


def test_a_line_says_what_its_record_says(run, tell):
    """Any program can read a loom: a head, then a record a line, its fields by name."""
    with Loom(run, format="jsonl") as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e", "echo")
        story.end("e", (1, 2))
    head, *lines = lines_of(run / "loom.jsonl")
    assert (head["format"], head["version"], head["redaction"]) == ("circlet-loom", 2, "none")
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    by_kind = {line["kind"]: line for line in lines}
    assert by_kind["entity"]["wards"] == {"max_turns": 10}
    assert by_kind["reply"]["reply"]["content"] == "said 1"
    assert by_kind["node"]["observation"]["text"] == "e saw 1"
    assert by_kind["call"]["arguments"]["value"] == {"k": 1}
    result = by_kind["end"]["result"]
    assert result["value"] == [1, 2]
    assert wire.loads(base64.b64decode(result["codec"])) == (1, 2)
    assert all(len(line["chain"]) == 64 for line in lines)


def test_an_export_that_withholds_nothing_is_such_a_file(run, tell):
    """What an export writes and what a store keeps are the same lines."""
    with Loom(run, format="jsonl") as loom:
        tell(loom).delegation()
        exported = loom.export(redaction="none")
    assert exported == (run / "loom.jsonl").read_text("ascii")


def test_an_export_with_blobs_can_be_opened_as_it_is(run, tmp_path, tell):
    """An export bears its blobs in its lines: as ``loom.jsonl`` it is the whole loom."""
    sealed = wire.seal("c" * 10_000)
    with Loom(run) as loom:
        story = tell(loom)
        ref = loom.keep(sealed)
        story.entity("e")
        for cast in (2, 3):
            loom.append(IntentRecord("e", cast, "again", ref))
        (tmp_path / "other").mkdir()
        loom.export(tmp_path / "other" / "loom.jsonl", redaction="none")
        before = list(loom.records())
    assert [line["kind"] for line in lines_of(tmp_path / "other" / "loom.jsonl")[1:]].count(
        "blob"
    ) == 1
    assert verify(tmp_path / "other").is_whole
    with Loom(tmp_path / "other") as loom:
        assert list(loom.records()) == before
        assert loom.fetch(loom.entities["e"].intents[1].context) == sealed
        tell(loom).turn("e")
    assert verify(tmp_path / "other").is_whole


def test_a_mapping_that_looks_like_an_encoded_value_is_kept(run):
    """A model may write what it likes as arguments: it can't pass for something else."""
    arguments = {"value": 1, "codec": base64.b64encode(wire.dumps("forged")).decode()}
    reply = Reply(None, (ToolCall("1", "python", arguments),))
    made = row_of(ReplyRecord("e", 1, reply), 1, AT, b"")
    with closing(JSONLStore(run)) as store:
        store.append(made)
    assert read(run) == [made]
    [_, line] = lines_of(run / "loom.jsonl")
    assert line["reply"]["tool_calls"][0]["arguments"] == arguments
    assert base64.b64decode(line["body"]) == made.body


def test_a_line_with_a_tuple_has_the_record_s_bytes_too(run):
    """What JSON has no type for is shown as JSON has it, and kept as it was beside that."""
    made = row_of(IdentityRecord("i", "c", None, {"stop": ("a", "b")}, ""), 1, AT, b"")
    with closing(JSONLStore(run)) as store:
        store.append(made)
    [_, line] = lines_of(run / "loom.jsonl")
    assert line["hyperparameters"] == {"stop": ["a", "b"]}
    assert read(run) == [made]


def test_a_loom_cut_at_any_byte_opens_to_what_was_whole(file, rows):
    """LOOM-1: a writer that died in the middle of a line loses that line alone, and it is kept."""
    whole = file.read_bytes()
    last = whole[:-1].rfind(b"\n") + 1
    made = rows(6)
    for end in range(last, len(whole)):
        run = file.parent.with_name(f"cut-{end}")
        run.mkdir()
        (run / "loom.jsonl").write_bytes(whole[:end])
        assert read(run) == made[:4]
        with closing(JSONLStore(run)) as store:
            assert list(store.read()) == made[:4]
            torn = whole[last:end]
            assert (store.torn is None) == (torn == b"")
            append(store, made[4:])
        if torn:
            assert "loom.jsonl.torn-1" in store.torn
            assert (run / "loom.jsonl.torn-1").read_bytes() == torn
        assert read(run) == made
        shutil.rmtree(run)


@settings(max_examples=50, deadline=None)
@given(st.integers(0, 2_000), st.sampled_from([b"", b"\0", b"\xff", b"{", b"null", b"\0\n"]))
def test_a_torn_end_of_any_kind(rows, size, fill):
    """Whatever stands where the last bytes were, the records before them are there, no others."""
    made = rows(8)
    with tempfile.TemporaryDirectory() as home:
        run = Path(home) / "run"
        with closing(JSONLStore(run)) as store:
            append(store, made)
        file = run / "loom.jsonl"
        whole = file.read_bytes()
        head = whole.index(b"\n") + 1
        kept = whole[: max(head, len(whole) - size)]
        file.write_bytes(kept + fill * (size // max(1, len(fill))))
        lines = kept[head:].count(b"\n")
        assert read(run) == made[:lines]
        with closing(JSONLStore(run)) as store:
            assert list(store.read()) == made[:lines]
            append(store, made[lines:])
        assert read(run) == made


@pytest.mark.parametrize("size", [512, 1024, 4096])
def test_a_last_block_of_zeros_is_set_aside(run, rows, size):
    """A power cut that left zeros for the last block: the lines before it are whole."""
    made = rows(40)
    with closing(JSONLStore(run)) as store:
        append(store, made)
    file = run / "loom.jsonl"
    file.write_bytes(file.read_bytes()[:-size] + bytes(size))
    assert not verify(run).is_whole
    with closing(JSONLStore(run)) as store:
        kept = list(store.read())
        assert kept == made[: len(kept)]
        assert 40 > len(kept) > 15
        assert store.torn is not None
    assert verify(run).records == len(kept)
    assert sum(path.stat().st_size for path in run.glob("*torn-1")) >= size


def test_what_is_set_aside_is_never_written_over(file):
    """Each torn line gets a file of its own."""
    for number in (1, 2, 3):
        with file.open("ab") as end:
            end.write(b"torn %d" % number)
        JSONLStore(file.parent).close()
    torn = [file.with_name(f"loom.jsonl.torn-{number}") for number in (1, 2, 3)]
    assert [path.read_bytes() for path in torn] == [b"torn 1", b"torn 2", b"torn 3"]
    assert {path.stat().st_mode & 0o777 for path in torn} == {0o600}


def test_a_file_that_was_cut_in_its_head_begins_anew(run, rows):
    """A crash as the file was made leaves nothing to lose: the next writer makes it again."""
    JSONLStore(run).close()
    head = (run / "loom.jsonl").read_bytes()
    for end in (0, 1, 10, len(head) - 1):
        (run / "loom.jsonl").write_bytes(head[:end])
        with closing(JSONLStore(run)) as store:
            append(store, rows(1))
        assert read(run) == rows(1)


def test_a_reader_leaves_an_unfinished_line_alone(file, rows):
    """A reader beside a writer doesn't read what is half written, and reads it once it is whole."""
    whole = file.read_bytes()
    half = whole[:-1].rfind(b"\n") + 20
    file.write_bytes(whole[:half])
    with closing(JSONLStore(file.parent, read_only=True)) as reader:
        assert list(reader.read()) == rows(4)
        assert list(reader.scan(4)) == []
        with file.open("ab") as end:
            end.write(whole[half:])
        assert list(reader.read(4)) == rows(5)[4:]
    assert not list(file.parent.glob("*torn*"))


@pytest.mark.parametrize(
    ("line", "wrong"),
    [
        (b"", "it is not JSON"),
        (b"{", "it is not JSON"),
        (b"[1]", "it is not a JSON object"),
        (b'{"n":2}', "'at' must be a text"),
        (b'{"n":"2","at":"","kind":"fold","chain":""}', "'n' must be a whole number"),
        (b'{"n":2,"at":"","kind":"fold","chain":""}', "fold record can't be read"),
        (b'{"n":2,"at":"","kind":"story","chain":""}', "unknown kind of record: 'story'; a newer"),
        (b'{"n":2,"at":"","kind":"fold","entity":"e","chain":"xyz"}', "fold record can't be read"),
        (b'{"kind":"blob","digest":"a","data":"?"}', "'data' must be base64"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_damaged_line_is_named(file, line, wrong, read_only):
    """A line in the middle that is no record is an error with its number and what is wrong."""
    lines = file.read_bytes().split(b"\n")
    lines[2] = line
    file.write_bytes(b"\n".join(lines))
    with pytest.raises(LoomError, match=rf"loom\.jsonl, line 3: .*{wrong}"):
        Loom(file.parent, read_only=read_only)


def test_a_line_that_is_missing_or_there_twice_is_named(file):
    """LOOM-3: n has no gap, and no record stands twice."""
    lines = file.read_bytes().split(b"\n")
    for changed, number in (([*lines[:2], *lines[3:]], 3), ([*lines[:3], *lines[2:]], 4)):
        file.write_bytes(b"\n".join(changed))
        with pytest.raises(LoomError, match=rf"line {number}: record {number - 1} is missing"):
            Loom(file.parent)


@pytest.mark.parametrize(
    ("head", "wrong"),
    [
        ({"version": 3}, "it has version 3, this circlet reads 2: upgrade circlet"),
        ({"version": 1}, "it has version 1, this circlet reads 2: export it again"),
        ({"version": "2"}, "it has version '2'"),
        ({"redaction": "default"}, "it is redacted.*export the loom again with redaction='none'"),
        ({"redaction": None}, "it is redacted"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_head_that_is_not_ours_is_refused(file, head, wrong, read_only):
    """A newer version is refused, not guessed; a redacted export is not the loom."""
    first, _, rest = file.read_bytes().partition(b"\n")
    changed = json.dumps({**json.loads(first), **head}, separators=(",", ":")).encode()
    file.write_bytes(changed + b"\n" + rest)
    with pytest.raises(LoomError, match=rf"loom\.jsonl: {wrong}"):
        JSONLStore(file.parent, read_only=read_only)


@pytest.mark.parametrize("content", [b"a,b\n1,2\n", b"one line", b'{"format":"other"}\n', b"\n\n"])
@pytest.mark.parametrize("read_only", [True, False])
def test_another_file_is_left_alone(run, content, read_only):
    """A file of that name that is no loom is neither read nor mended."""
    run.mkdir(parents=True)
    (run / "loom.jsonl").write_bytes(content)
    with pytest.raises(LoomError, match=r"loom\.jsonl"):
        JSONLStore(run, read_only=read_only)
    assert (run / "loom.jsonl").read_bytes() == content
    assert not list(run.glob("*torn*"))


def test_a_body_that_is_no_record_is_refused(run, rows):
    """What could not be written as a line's fields is not written."""
    [row] = rows(1)
    with closing(JSONLStore(run)) as store:
        for body in (b"\xc1", wire.dumps([1]), wire.dumps({1: 2})):
            with pytest.raises(LoomError, match="fold record can't be read"):
                store.append(row._replace(body=body))
        store.append(row)


def test_lines_longer_than_a_block_are_read(run, rows):
    """A record may be larger than what is read at a time."""
    made = rows(3, text="x" * 3_000_000)
    with closing(JSONLStore(run)) as store:
        append(store, made)
    with closing(JSONLStore(run)) as store:
        assert [n for n, *_ in store.scan()] == [1, 2, 3]
        assert list(store.read()) == made
