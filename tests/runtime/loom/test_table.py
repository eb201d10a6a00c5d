"""The export as parquet: a row a turn."""

from __future__ import annotations

import datetime as dt
import io
import json
import os
import stat
import subprocess
import sys
from pathlib import Path

import pytest
from circlet import Loom, ScriptedLLM, gate
from circlet.runtime.errors import LoomError
from circlet.runtime.loom.exports import table

SHAPED = "sk-proj-very-secret-0123456789"


@gate
def tell(secret: str) -> str:
    """Tell."""
    return f"told {secret}"


def rows(loom: Loom, **options) -> list[dict]:
    from pyarrow import parquet

    stream = io.BytesIO()
    loom.export(stream, "parquet", **options)
    return parquet.read_table(stream).to_pylist()


@pytest.fixture
def loom(deep):
    """A loom of two roots, one of which delegated; the other one was truncated."""
    loom = Loom()
    llm = ScriptedLLM(
        {
            "root": [
                {"code": "r = call_entity({'intent': 'leaf'})", "thinking": "hm"},
                {
                    "code": "done((r, tell('x')))",
                    "usage": {"prompt_tokens": 7, "completion_tokens": 5, "cached_tokens": 2},
                },
            ],
            "leaf": [{"code": "done(b'leaf')"}],
            "stop": [{"content": f"plain {SHAPED}"}] * 2,
        }
    )
    wards = [{"max_turns": 2}, {"require_done_tool": True}, {"max_depth": 1}]
    spell = deep(llm, tell, loom=loom, wards=wards)
    loom.judge(spell.cast("root"), lambda result: 0.5)
    spell.cast("stop")
    return loom


@pytest.mark.parquet
def test_a_row_a_turn(loom):
    """LOOM-9: each utterance is a row, with all that was observed of it, and its tokens."""
    root, last, leaf, *stopped = rows(loom)
    assert [row["turn"] for row in (root, last, leaf, *stopped)] == [1, 2, 1, 1, 2]
    assert (root["parts"], root["delegated"]) == (2, [leaf["entity"]])
    assert (root["thinking"], root["utterance"]) == ("hm", None)
    [call] = root["tool_calls"]
    assert json.loads(call["arguments"]) == {"code": "r = call_entity({'intent': 'leaf'})"}
    assert [call["gate"] for call in last["gate_calls"]] == ["tell", "done"]
    assert last["gate_calls"][0]["result"] == "told x"
    assert leaf["spawned_by"] in {turn.id for turn in loom.turns}
    assert (leaf["depth"], leaf["medium"], leaf["intent"]) == (1, "code", "leaf")
    usage = loom.entities[last["entity"]].reply(2).usage
    assert (last["prompt_tokens"], last["completion_tokens"], last["cached_tokens"]) == (
        usage.prompt_tokens,
        usage.completion_tokens,
        usage.cached_tokens,
    )
    assert last["duration_ms"] > 0
    assert isinstance(last["at"], dt.datetime)
    assert last["at"].tzinfo is not None


@pytest.mark.parquet
def test_how_each_cast_ended(loom):
    """LOOM-7: each row says how its cast ended; what it came to stands on the last one."""
    root, last, leaf, first, cut = rows(loom)
    assert [row["outcome"] for row in (root, leaf, first, cut)] == [
        "terminated",
        "terminated",
        "truncated",
        "truncated",
    ]
    assert [row["reason"] for row in (last, cut)] == ["done", "max_turns"]
    assert [row["is_last"] for row in (root, last, leaf, first, cut)] == [0, 1, 1, 0, 1]
    assert json.loads(last["result"]) == [{"$bytes": "bGVhZg=="}, "told x"]
    assert [row["result"] for row in (root, first, cut)] == [None] * 3
    assert [row["reward"] for row in (root, last, cut)] == [None, 0.5, None]
    assert [row["passed"] for row in (root, last, cut)] == [None, True, None]


@pytest.mark.parquet
def test_the_schema(loom):
    """LOOM-9: the columns are those of the page, typed, also where there is no row."""
    from pyarrow import parquet

    for one in (loom, Loom()):
        stream = io.BytesIO()
        one.export(stream, "parquet")
        schema = parquet.read_schema(stream)
        assert schema.names == list(table.COLUMNS)
        for field in schema:
            kind, _ = table.COLUMNS[field.name]
            assert str(field.type).replace("element: ", "").replace("double", "float64") == kind


@pytest.mark.parquet
def test_secrets_are_withheld(code):
    """PROD-8: no default export holds a secret, wherever it was said; ``none`` gives all."""
    replies = [
        {"content": f"I use {SHAPED}", "thinking": SHAPED, "code": f"print('{SHAPED}')"},
        {"code": f"x = tell('{SHAPED}')\nraise ValueError('{SHAPED}')"},
        {"code": f"done(['{SHAPED}', 'hunter22'])"},
    ]
    cast = code(replies, tell, secrets=["hunter22"]).cast(f"go {SHAPED}", context=SHAPED)
    text = json.dumps(rows(cast.loom), default=str)
    assert SHAPED not in text
    assert "hunter22" not in text
    assert "[redacted: OpenAI key]" in text
    whole = json.dumps(rows(cast.loom, redaction="none"), default=str)
    assert SHAPED in whole
    assert "hunter22" in whole


@pytest.mark.parquet
def test_to_a_file(loom, tmp_path):
    """PROD-8: a file is made for its user alone; one that can't be written is named."""
    loom.export(tmp_path / "turns.parquet", "parquet")
    data = (tmp_path / "turns.parquet").read_bytes()
    assert data.startswith(b"PAR1")
    assert data.endswith(b"PAR1")
    assert stat.S_IMODE(os.stat(tmp_path / "turns.parquet").st_mode) == 0o600
    with pytest.raises(LoomError, match=r"no/turns\.parquet can't be written: No such file"):
        loom.export(tmp_path / "no/turns.parquet", "parquet")


@pytest.mark.parquet
def test_many_turns(story):
    """LOOM-9: rows are written in groups, so that a large loom is never held whole."""
    from pyarrow import parquet

    story.entity("e")
    for _ in range(table.ROWS * 2 + 1):
        story.turn("e")
    stream = io.BytesIO()
    story.loom.export(stream, "parquet")
    assert parquet.ParquetFile(stream).num_row_groups == 3
    assert parquet.read_table(stream)["turn"].to_pylist() == list(range(1, table.ROWS * 2 + 2))


def test_it_is_no_text(story):
    """PROD-8: parquet is bytes, so it is written somewhere."""
    with pytest.raises(LoomError, match="parquet is bytes: give a path"):
        story.loom.export(format="parquet")


def test_without_pyarrow(tmp_path):
    """PROD-8: where pyarrow is not installed the error says how to get it."""
    program = (
        "import sys; sys.modules['pyarrow'] = None; from circlet import Loom; "
        f"Loom().export({str(tmp_path / 'x')!r}, 'parquet')"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True)
    assert "an export as parquet needs pyarrow: pip install 'circlet[parquet]'" in done.stderr
    assert not Path(tmp_path / "x").exists() or not (tmp_path / "x").read_bytes()
