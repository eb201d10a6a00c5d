"""A loom as JSON lines: what stands in an export, and what does not."""

import base64
import io
import json
import os
import shutil
import stat
from concurrent.futures import ThreadPoolExecutor
from dataclasses import fields
from pathlib import Path

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import KINDS, CallRecord, EndRecord
from circlet.runtime.redaction import Secrets
from circlet.sandbox import wire
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SECRET = "sk-proj-very-secret"
TREE = {
    "^go$": [{"code": "r = call_entity('child', context='c' * 10_000)\ndone([r, (1, b'x')])"}],
    "child": [{"content": f"using {SECRET}", "code": "print(len(context))\ndone(len(context))"}],
}


def parsed(text):
    """An export's first line, and the others."""
    head, *lines = [json.loads(line) for line in text.splitlines()]
    return head, lines


def of_kind(lines, kind):
    return [line for line in lines if line["kind"] == kind]


@pytest.fixture
def tree(deep):
    return deep(TREE).cast("go").loom


def test_a_line_a_record(tree):
    """PROD-8, LOOM-3: every record stands on a line of its own, in order, with no gap."""
    head, lines = parsed(tree.export())
    assert {**head, "circlet": ""} == {
        "format": "circlet-loom",
        "version": 2,
        "circlet": "",
        "redaction": "default",
    }
    recorded = [(n, at) for n, at, _ in tree.records()]
    assert [(line["n"], line["at"]) for line in lines] == recorded
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert {line["kind"] for line in lines} <= set(KINDS)


def test_what_is_exported_can_be_read_by_anybody(tree):
    """PROD-8: an export is ASCII and strict JSON, and each record has all its fields."""
    text = tree.export()
    assert text.isascii()
    for line in parsed(text)[1]:
        names = [field.name for field in fields(KINDS[line["kind"]])]
        assert list(line) == ["n", "at", "kind", *names]
        assert not {"n", "at", "kind"} & set(names)


def test_values_are_json(tree):
    """CIRCLE-8: arguments and results are JSON values, those that JSON lacks are tagged."""
    _, lines = parsed(tree.export())
    end = of_kind(lines, "end")[-1]
    assert end["result"] == [10_000, [1, {"$bytes": base64.b64encode(b"x").decode()}]]
    call = of_kind(lines, "call")[0]
    assert (call["gate"], call["arguments"]["intent"]) == ("call_entity", "child")


def test_secrets_are_withheld(tree):
    """PROD-8: a default export holds no secret; ``none`` gives all, as it was said."""
    assert SECRET not in tree.export()
    assert "using [redacted: OpenAI key]" in tree.export(redaction="default")
    assert f"using {SECRET}" in tree.export(redaction="none")


def test_no_digest_tells_a_value(tree):
    """PROD-8: a default export has no digest of arguments: short ones could be guessed by it."""
    _, redacted = parsed(tree.export())
    _, whole = parsed(tree.export(redaction="none"))
    assert {call["asked"] for call in of_kind(redacted, "call")} == {None}
    assert any(call["asked"] for call in of_kind(whole, "call"))


def test_nothing_is_lost_where_nothing_is_redacted(tree):
    """LOOM-3: ``none`` has the exact bytes of each value, and of contexts that are blobs."""
    _, lines = parsed(tree.export(redaction="none"))
    records = [record for _, _, record in tree.records()]
    numbered = [line for line in lines if "n" in line]
    for line, record in zip(numbered, records, strict=True):
        if isinstance(record, CallRecord):
            assert base64.b64decode(line["arguments"]["codec"]) == record.arguments
    [blob] = of_kind(lines, "blob")
    assert wire.loads(base64.b64decode(blob["data"])) == "c" * 10_000
    user = next(line for line in lines if line.get("context"))
    assert user["context"]["digest"] == blob["digest"]
    assert lines.index(blob) < lines.index(user)
    assert wire.loads(base64.b64decode(of_kind(lines, "end")[-1]["result"]["codec"]), unseal=True)


def test_a_context_that_is_a_blob(tree):
    """PROD-8: a default export tells of a large context by its size and a preview."""
    _, lines = parsed(tree.export())
    context = next(line["context"] for line in lines if line.get("context"))
    assert context["size"] > 10_000
    assert context["text"].startswith("str, 10,000 chars")
    assert "c" * 1_000 not in json.dumps(lines)


def test_to_a_file(tree, tmp_path):
    """PROD-8: a file is made for its user alone, and has what the text has."""
    for target in (tmp_path / "a.jsonl", str(tmp_path / "b.jsonl")):
        assert tree.export(target) is None
        assert Path(target).read_text() == tree.export()
        assert stat.S_IMODE(os.stat(target).st_mode) == 0o600


def test_to_a_stream(tree):
    """PROD-8: a stream is written a line at a time."""

    class Stream(io.StringIO):
        def __init__(self):
            super().__init__()
            self.longest = 0

        def write(self, text):
            self.longest = max(self.longest, text.count("\n"))
            return super().write(text)

        def writelines(self, lines):
            for line in lines:
                self.write(line)

    stream = Stream()
    tree.export(stream)
    assert stream.getvalue() == tree.export()
    assert stream.longest == 1


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "yaml"}, "'grpo', 'dpo' or 'parquet', not 'yaml'"),
        ({"redaction": "some"}, "'default' or 'none', not 'some'"),
    ],
)
def test_what_there_is_not(tree, tmp_path, options, message):
    """PROD-8: an unknown format or redaction is an error before anything is written."""
    with pytest.raises(LoomError, match=message):
        tree.export(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


def test_a_file_that_can_t_be_written(tree, tmp_path):
    """PROD-8: the error names the file."""
    with pytest.raises(LoomError, match="no/such/folder can't be written: No such file"):
        tree.export(tmp_path / "no/such/folder")


def test_an_export_that_fails_leaves_what_was_there(deep, tmp_path):
    """PROD-8: a file is there when it is whole: where a blob turns out gone, nothing changes."""
    target = tmp_path / "exports" / "out.jsonl"
    target.parent.mkdir()
    target.write_text("an older export")
    with Loom(tmp_path / "run") as loom:
        deep(TREE, loom=loom).cast("go")
        shutil.rmtree(tmp_path / "run" / "blobs")
        with pytest.raises(LoomError):
            loom.export(target, redaction="none")
    assert target.read_text() == "an older export"
    assert list(target.parent.iterdir()) == [target]


@pytest.mark.parametrize(
    "name",
    ["loom.db", "loom.jsonl", "loom.lock", "trajectory.jsonl", "spell.yaml", "blobs/x", "runs/x"],
)
def test_an_export_never_takes_the_place_of_the_run(deep, tmp_path, name):
    """LOOM-3: a name that the run's own files have, or could have, is refused; others are free."""
    with Loom(tmp_path / "run") as loom:
        cast = deep(TREE, loom=loom).cast("go")
        (tmp_path / "link").symlink_to(tmp_path / "run" / name)
        for target in (tmp_path / "run" / name, tmp_path / "run" / "blobs" / ".." / name, "link"):
            with pytest.raises(LoomError, match="would take the place of the run's own files"):
                loom.export(tmp_path / target)
        loom.export(tmp_path / "run" / "export.jsonl")
    with Loom(tmp_path / "run", read_only=True) as loom:
        assert loom.entities[cast.entity_id].end.outcome == "terminated"


def test_a_link_and_a_pipe_stay_what_they_are(tree, tmp_path):
    """PROD-8: what a link points to is written, and so is a pipe, and neither is replaced."""
    (tmp_path / "real.jsonl").write_text("old")
    link, pipe = tmp_path / "link", tmp_path / "pipe"
    link.symlink_to("real.jsonl")
    tree.export(link)
    assert link.is_symlink()
    assert (tmp_path / "real.jsonl").read_text() == tree.export()
    os.mkfifo(pipe)
    with ThreadPoolExecutor() as pool:
        read = pool.submit(pipe.read_text)
        tree.export(pipe)
        assert read.result(60) == tree.export()
    assert pipe.is_fifo()


def test_a_value_that_can_t_be_read(tree):
    """PROD-8: bytes that are no value are told of, and keep nobody from the rest."""
    entity = next(iter(tree.entities))
    tree.append(EndRecord(entity, 1, None, "failed", "x", result=b"\xc1", result_text="the text"))
    end = of_kind(parsed(tree.export())[1], "end")[-1]
    assert end["result"]["$described"]["type"] == "value that can't be read"
    assert end["result_text"] == "the text"


def test_a_loom_that_is_opened_again(code, tmp_path):
    """PROD-8: an export is the same from a loom on disk that is opened to be read."""
    with Loom(tmp_path / "run") as loom:
        code([{"code": f"done({SECRET!r})"}], loom=loom).cast("go")
        text = loom.export()
    with Loom(tmp_path / "run", read_only=True) as loom:
        assert loom.export() == text
        assert SECRET not in text


def test_withheld_values_are_not_recorded(code, tmp_path):
    """PROD-8: what is to be withheld stands nowhere on disk; who opens the loom hands it in."""
    with Loom(tmp_path / "run") as loom:
        code([{"code": "done(context)"}], loom=loom, secrets={"pw": "hunter2"}).cast(
            "go", context="hunter3"
        )
    data = b"".join(path.read_bytes() for path in (tmp_path / "run").rglob("*") if path.is_file())
    assert b"hunter2" not in data
    with Loom(tmp_path / "run", read_only=True) as loom:
        assert "hunter3" in loom.export()
        loom.withhold(Secrets({"pw": "hunter3"}))
        assert "hunter3" not in loom.export()


VALUES = st.text(st.sampled_from('qxz~^é\\" \n'), min_size=4, max_size=12)


def texts_in(value):
    """All texts in a JSON value, but for the names of its fields."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for item in value.values():
            yield from texts_in(item)
    elif isinstance(value, list):
        for item in value:
            yield from texts_in(item)


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.lists(VALUES, min_size=1, max_size=3), st.data())
def test_no_known_value_survives(values, data):
    """PROD-8: no value that was handed in is in any export or event, wherever it was said."""
    values = [value for value in values if len(value.strip()) >= 4]
    said = st.sampled_from([*values, "nothing"]).map(lambda value: f"I say {value}!")

    @gate
    def tell() -> object:
        """Tell something."""
        return {data.draw(said): [data.draw(said), data.draw(said).encode()]}

    @gate
    def fail() -> None:
        """Fail."""
        raise ValueError(data.draw(said))

    calls = [{"gate": "tell", "args": {"x": data.draw(said)}}, {"gate": "fail", "args": {}}]
    replies = [
        {"content": data.draw(said), "thinking": data.draw(said), "tool_calls": calls},
        {"content": data.draw(said)},
    ]
    circle = Circle(gates=["done", tell, fail], wards=[{"max_turns": 3}])
    spell = Cantrip(llm=ScriptedLLM(replies), circle=circle, secrets=values)
    seen = []
    cast = spell.cast(data.draw(said), context=[data.draw(said)], on_event=seen.append)
    shown = [*texts_in(parsed(cast.loom.export())[1])]
    shown += [getattr(event, name) for event in seen for name in type(event).__slots__]
    for value in values:
        assert not [text for text in shown if isinstance(text, str) and value in text]
