"""The events' schema: names, types and order as keel's readers and writers have them."""

from __future__ import annotations

import json

import pytest
from circlet.runtime.errors import TrajectoryError
from circlet.runtime.trajectory.events import (
    Command,
    DriverCall,
    DriverResult,
    GateVerdict,
    Human,
    Inject,
    Oracle,
    RunEnd,
    RunStart,
    estimate_tokens,
    parse,
)
from hypothesis import given
from hypothesis import strategies as st

KINDS = (RunStart, Inject, DriverCall, DriverResult, Oracle, GateVerdict, Human, Command, RunEnd)
TEXT, U64, I32 = "String", "u64", "i32"
# Field by field as the schema declares them, in its order; a question mark is an Option.
SCHEMA = {
    "run_start": {
        "spec": TEXT,
        "task?": TEXT,
        "driver?": TEXT,
        "keel_version": TEXT,
        "store_hash": TEXT,
    },
    "inject": {"source": TEXT, "tokens": U64, "bytes?": U64},
    "driver_call": {"driver": TEXT, "task?": TEXT, "prompt_tokens": U64},
    "driver_result": {"driver": TEXT, "status": TEXT, "files_changed?": U64, "detail?": TEXT},
    "oracle": {"criterion": TEXT, "oracle": TEXT, "verdict": TEXT, "exit_code?": I32},
    "gate": {"gate": TEXT, "verdict": TEXT, "result": TEXT},
    "human": {"stage": TEXT, "decision": TEXT, "by": TEXT, "note?": TEXT},
    "command": {"cmd": TEXT, "exit_code": I32, "evidence?": TEXT},
    "run_end": {"verdict": TEXT, "duration_ms": U64},
}
# No surrogates: a String of Rust's holds none, and its reader refuses them.
VALUES = {
    TEXT: st.text(st.characters(exclude_categories=["Cs"])),
    U64: st.integers(0, 2**64 - 1),
    I32: st.integers(-(2**31), 2**31 - 1),
}
TIMES = st.datetimes().map(lambda time: time.isoformat() + "Z")


def keel_reads(line: str) -> dict:
    """Read a line as strictly as serde does with the schema's types; gives what it would write."""
    event = json.loads(line)
    assert type(event) is dict
    assert "\n" not in line
    written = {"t": event.pop("t"), "seq": event.pop("seq"), "kind": event.pop("kind")}
    assert type(written["t"]) is str
    assert is_unsigned(written["seq"])
    for field, wanted in SCHEMA[written["kind"]].items():
        name = field.removesuffix("?")
        if name not in event and field.endswith("?"):
            continue
        written[name] = value = event.pop(name)
        if wanted == TEXT:
            assert type(value) is str
        elif wanted == U64:
            assert is_unsigned(value)
        else:
            assert type(value) is int
            assert -(2**31) <= value < 2**31
    assert not event, "a field that the schema lacks"
    return written


def is_unsigned(value: object) -> bool:
    return type(value) is int and 0 <= value < 2**64


@st.composite
def events(draw, kinds=KINDS):
    """An event of any kind, with any of what is optional left out."""
    kind = draw(st.sampled_from(kinds))
    fields = {"t": draw(TIMES), "seq": draw(VALUES[U64])}
    for field, wanted in SCHEMA[kind.model_fields["kind"].default].items():
        if not field.endswith("?") or draw(st.booleans()):
            fields[field.removesuffix("?")] = draw(VALUES[wanted])
    return kind(**fields)


@pytest.mark.parametrize("kind", KINDS)
@given(data=st.data())
def test_every_kind_comes_back_as_it_was(kind, data):
    """An event is the same after it was written and read, whatever stands in it."""
    event = data.draw(events((kind,)))
    assert parse(event.one_line()) == event
    assert type(parse(event.one_line().encode())) is kind


@given(events())
def test_a_reader_as_strict_as_serde_takes_every_line(event):
    """Names, types and order are the schema's: t, seq, kind, then the fields; None is absent."""
    line = event.one_line()
    written = keel_reads(line)
    assert list(written) == list(json.loads(line))
    compact = json.dumps(written, ensure_ascii=False, separators=(",", ":"))
    assert line == compact


def test_there_are_nine_kinds():
    """The kinds are those of the schema, no more and no less."""
    assert [kind.model_fields["kind"].default for kind in KINDS] == list(SCHEMA)


def test_lines_are_byte_for_byte_as_serde_writes_them():
    """Escapes, characters beyond ASCII, and optional fields are written as serde_json does."""
    event = Command(t="2026-08-21T09:14:02Z", seq=9, cmd='é \x7f\u2028"\\\n\x01', exit_code=-1)
    assert event.one_line() == (
        '{"t":"2026-08-21T09:14:02Z","seq":9,"kind":"command",'
        '"cmd":"é \x7f\u2028\\"\\\\\\n\\u0001","exit_code":-1}'
    )


AT = {"t": "2026-08-21T09:14:02Z", "seq": 412}
SHOWN = [
    (
        RunStart(**AT, spec="s.yaml", task="go", driver="m", keel_version="0", store_hash="h"),
        "  412  run_start      spec=s.yaml task=go driver=m",
    ),
    (
        RunStart(**AT, spec="s.yaml", keel_version="0", store_hash="h"),
        "  412  run_start      spec=s.yaml",
    ),
    (Inject(**AT, source="a.md", tokens=86), "  412  inject         a.md (86 tokens)"),
    (
        DriverCall(**AT, driver="m", prompt_tokens=2),
        "  412  driver_call    m (2 prompt tokens)",
    ),
    (DriverResult(**AT, driver="m", status="ok"), "  412  driver_result  m ok"),
    (
        DriverResult(**AT, driver="m", status="ok", files_changed=1, detail="d"),
        "  412  driver_result  m ok — d",
    ),
    (
        Oracle(**AT, criterion="AC-1", oracle="make test", verdict="pass", exit_code=0),
        "  412  oracle         AC-1 pass — make test",
    ),
    (
        GateVerdict(**AT, gate="G2", verdict="fail", result="g.json"),
        "  412  gate           G2 fail",
    ),
    (
        Human(**AT, stage="spec", decision="approved", by="me", note="n"),
        "  412  human          spec approved by me",
    ),
    (Command(**AT, cmd="cargo test", exit_code=0), "  412  command        `cargo test` exit 0"),
    (RunEnd(**AT, verdict="pass", duration_ms=42), "  412  run_end        pass in 42ms"),
]


@pytest.mark.parametrize(("event", "line"), SHOWN)
def test_summaries_have_keel_s_layout(event, line):
    """The one-line summary: seq in five columns, kind in fourteen, then what matters most."""
    assert event.summary() == line


def test_a_long_number_is_not_cut():
    """The columns are the least widths."""
    event = RunEnd(t=AT["t"], seq=1_234_567, verdict="x", duration_ms=0)
    assert event.summary() == "1234567  run_end        x in 0ms"


@given(events())
def test_tokens_are_those_of_what_reached_a_model(event):
    """Only a block that is injected and what a query sends again count as tokens sent."""
    expected = {"inject": "tokens", "driver_call": "prompt_tokens"}.get(event.kind)
    assert event.sent_tokens == (0 if expected is None else getattr(event, expected))


@pytest.mark.parametrize(
    ("text", "tokens"),
    [("", 0), ("a", 1), ("abcd", 1), ("abcde", 2), ("é", 1), ("ééé", 2), ("\ud800", 1)],
)
def test_tokens_are_bytes_by_four(text, tokens):
    """The estimate is the bytes in UTF-8 by four, rounded up; broken characters count too."""
    assert estimate_tokens(text) == tokens


def line(**changes) -> str:
    good = {**AT, "kind": "inject", "source": "a", "tokens": 1}
    return json.dumps({**good, **changes})


@pytest.mark.parametrize(
    ("changes", "told"),
    [
        ({"kind": "injection"}, "injection"),
        ({"tokens": -1}, "tokens"),
        ({"tokens": 1.0}, "tokens"),
        ({"tokens": "1"}, "tokens"),
        ({"tokens": True}, "tokens"),
        ({"tokens": 2**64}, "tokens"),
        ({"seq": -1}, "seq"),
        ({"source": None}, "source"),
        ({"entity": "e"}, "entity"),
        ({"t": "yesterday"}, "t"),
        ({"t": "2026-13-21T09:14:02Z"}, "t"),
        ({"t": "2026-08-21 09:14:02"}, "t"),
        ({"kind": "run_end", "verdict": "x", "duration_ms": 1.5}, "duration_ms"),
        ({"kind": "command", "cmd": "x", "exit_code": 2**31}, "exit_code"),
    ],
)
def test_what_is_no_event_is_refused(changes, told):
    """A value of another type or out of bounds, an unknown kind, or one field more is an error."""
    with pytest.raises(TrajectoryError, match=told):
        parse(line(**changes))


@pytest.mark.parametrize("text", ["", "{", "[]", "1", '{"t":"x"}', '{"kind":1}', "\x00\x00"])
def test_garbage_is_refused(text):
    """A line that is no event's is an error of the trajectory's, whatever it holds."""
    with pytest.raises(TrajectoryError):
        parse(text)


def test_a_line_without_a_kind():
    """What is an object, and no event, is called so in plain words."""
    with pytest.raises(TrajectoryError, match="it has no kind, so it is no event"):
        parse('{"t":"x"}')


@pytest.mark.parametrize("t", ["2026-08-21T09:14:02Z", "2026-08-21T09:14:02.5+02:00"])
def test_times_are_rfc_3339(t):
    """A time has its offset, and fractions of a second where it has them."""
    assert parse(line(t=t)).t == t


def test_an_optional_field_may_be_null():
    """As serde's reader does, null is taken for absent."""
    assert parse(line(bytes=None)) == parse(line())
