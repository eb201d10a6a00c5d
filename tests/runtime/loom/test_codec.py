"""Records as bytes and back."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Reply, ToolCall, Usage
from circlet.runtime.loom import (
    KINDS,
    CallRecord,
    ContextRef,
    DecisionRecord,
    EndRecord,
    EntityRecord,
    FoldRecord,
    ForkPoint,
    IdentityRecord,
    ImageRecord,
    IntentRecord,
    NodeRecord,
    Observation,
    ObservedCall,
    ReplyRecord,
    ResumeRecord,
    RewardRecord,
    Sent,
    SpawnPoint,
    Verdict,
)
from circlet.runtime.loom.brief import pack_brief, unpack_brief
from circlet.runtime.loom.codec import decode, encode, kind_of, row_of
from circlet.runtime.loom.lines import read_brief, read_line, row_line
from circlet.sandbox import wire
from hypothesis import given, settings
from hypothesis import strategies as st

texts = st.text(st.characters(), max_size=20)  # lone surrogates among them
counts = st.integers(0, 2**40)
numbers = st.floats(allow_nan=False, allow_infinity=False)
plain = st.recursive(
    st.none() | st.booleans() | st.integers() | numbers | texts,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(texts, inner, max_size=3),
    max_leaves=6,
)
mappings = st.dictionaries(texts, plain, max_size=4)
bodies = st.binary(max_size=20)
contexts = st.builds(ContextRef, st.none() | texts, st.none() | bodies, counts, texts)
replies = st.builds(
    Reply,
    content=st.none() | texts,
    tool_calls=st.lists(
        st.builds(ToolCall, texts, texts, mappings, st.none() | texts), max_size=3
    ).map(tuple),
    usage=st.builds(Usage, counts, counts, counts),
    thinking=st.none() | texts,
    stop_reason=st.sampled_from(["stop", "tool_calls", "length", "refusal"]),
    model=st.none() | texts,
)
observations = st.builds(
    Observation,
    records=st.lists(st.builds(ObservedCall, texts, texts, texts, st.booleans()), max_size=3).map(
        tuple
    ),
    printed=texts,
    value=st.none() | texts,
    error=st.none() | texts,
    text=texts,
    is_error=st.booleans(),
)
records = {
    "identity": st.builds(IdentityRecord, texts, texts, st.none() | texts, mappings, texts),
    "entity": st.builds(
        EntityRecord,
        id=texts,
        cantrip_id=texts,
        identity_id=texts,
        spawned_by=st.none() | st.builds(SpawnPoint, texts, counts, counts),
        depth=counts,
        wards=mappings,
        medium=texts,
        model=texts,
        intent=texts,
        context=st.none() | contexts,
        forked_from=st.none()
        | st.builds(ForkPoint, texts, st.sampled_from(["snapshot", "replay"])),
    ),
    "intent": st.builds(
        IntentRecord, texts, counts, texts, st.none() | contexts, st.none() | texts
    ),
    "reply": st.builds(
        ReplyRecord,
        texts,
        counts,
        replies,
        st.none() | st.builds(Sent, counts, bodies, st.none() | bodies),
    ),
    "resume": st.builds(ResumeRecord, texts, st.none() | texts),
    "call": st.builds(
        CallRecord,
        entity=texts,
        turn=counts,
        k=counts,
        gate=texts,
        arguments=bodies,
        arguments_text=texts,
        state=st.sampled_from(["begun", "ended"]),
        result=st.none() | bodies,
        text=texts,
        is_error=st.booleans(),
        duration_ms=st.none() | numbers,
        asked=st.none() | bodies,
        failure=st.none() | bodies,
        reads=st.none() | bodies,
    ),
    "node": st.builds(
        NodeRecord,
        id=texts,
        parent=st.none() | texts,
        entity=texts,
        sequence=counts,
        turn=counts,
        part=counts,
        last=st.booleans(),
        observation=observations,
        calls=st.lists(counts, max_size=4).map(tuple),
        delegated=st.lists(texts, max_size=4).map(tuple),
        state=st.sampled_from(["kept", "rolled_back", "lost"]),
        duration_ms=st.floats(min_value=0, exclude_min=True, allow_infinity=False),
        replayable=st.booleans(),
        reads=st.none() | bodies,
    ),
    "end": st.builds(
        EndRecord,
        entity=texts,
        cast=counts,
        node=st.none() | texts,
        outcome=st.sampled_from(["terminated", "truncated", "failed", "not_started"]),
        reason=texts,
        result=st.none() | bodies,
        result_text=texts,
        summary=st.none() | texts,
    ),
    "decision": st.builds(
        DecisionRecord,
        texts,
        counts,
        counts,
        texts,
        st.sampled_from(["allowed", "refused"]),
        texts,
        st.none() | texts,
    ),
    "image": st.builds(ImageRecord, texts, texts, texts, counts, mappings, mappings),
    "fold": st.builds(FoldRecord, texts, counts, counts, texts),
    "reward": st.builds(
        RewardRecord,
        texts,
        numbers,
        texts,
        st.none() | st.builds(Verdict, texts, texts, st.booleans(), st.none() | counts),
    ),
}
REWARD = RewardRecord("node", 1.0, "user")
NODE = NodeRecord(
    "id", None, "e", 1, 1, 1, True, Observation((), "", None, None, "", False), (), (), "kept", 1.0
)


def test_every_kind_has_a_strategy_here():
    """No kind of record is left out of the round trip."""
    assert records.keys() == KINDS.keys()


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(data=st.data())
def test_every_record_comes_back_as_it_was(kind, data):
    """LOOM-3: a record that is read is equal to the one that was written, type by type."""
    record = data.draw(records[kind])
    assert kind_of(record) == kind
    again = decode(kind, encode(record))
    assert again == record
    assert repr(again) == repr(record)


@pytest.mark.parametrize("kind", KINDS)
@settings(deadline=None)
@given(data=st.data(), n=st.integers(1, 2**40), before=bodies)
def test_every_row_comes_back_from_its_line(kind, data, n, before):
    """LOOM-3: a record is the same, to the byte, when it was a line of JSON in between."""
    row = row_of(data.draw(records[kind]), n, "2026-01-01T00:00:00.000000Z", before)
    line = row_line(row).encode("ascii")
    assert line.count(b"\n") == 1
    assert read_line(line) == row
    text = "before" + line.decode("ascii") + "after"
    assert read_brief(text, 6, 6 + len(line)) == (row.n, row.kind, row.brief)
    assert unpack_brief(pack_brief(row.brief)) == row.brief


def test_a_body_is_a_plain_mapping_of_the_fields():
    """The format is self-describing: anybody with the codec can read it."""
    body = wire.loads(encode(REWARD))
    assert body == {"node": "node", "value": 1.0, "by": "user", "verdict": None}
    assert wire.loads(encode(NODE))["observation"]["text"] == ""


def test_an_unknown_kind_is_named():
    """What a newer circlet may have written is named, not guessed at."""
    with pytest.raises(LoomError, match="unknown kind of record: 'vision'"):
        decode("vision", wire.dumps({}))


def test_what_is_no_record_is_refused():
    """Only records go into a loom."""
    not_a_record: Any = {"kind": "reward"}
    with pytest.raises(LoomError, match="not a dict"):
        encode(not_a_record)


def without(body: bytes, name: str) -> bytes:
    fields = wire.loads(body)
    del fields[name]
    return wire.dumps(fields)


@pytest.mark.parametrize("name", ["node", "value", "by"])
def test_a_missing_field_is_named(name):
    """A field without a default must be there."""
    with pytest.raises(LoomError, match=f"the reward record can't be read: {name} is missing"):
        decode("reward", without(encode(REWARD), name))


def test_a_missing_field_deep_inside_is_named():
    """The text gives the path to the field."""
    fields = wire.loads(encode(NODE))
    del fields["observation"]["printed"]
    with pytest.raises(LoomError, match="printed is missing"):
        decode("node", wire.dumps(fields))


def test_a_field_with_a_default_may_be_missing():
    """A field that was added later leaves older looms readable."""
    end = EndRecord("e", 1, None, "failed", "no")
    assert decode("end", without(encode(end), "summary")) == end


def test_an_unknown_field_is_named():
    """What a newer circlet wrote is not dropped in silence."""
    body = wire.dumps(wire.loads(encode(REWARD)) | {"mood": "good"})
    with pytest.raises(LoomError, match="mood is unknown"):
        decode("reward", body)


@pytest.mark.parametrize(
    ("record", "changes", "wrong"),
    [
        (REWARD, {"node": 1}, "node must be str, not int"),
        (REWARD, {"value": True}, "value must be float, not bool"),
        (NODE, {"turn": True}, "turn must be int, not bool"),
        (NODE, {"last": 1}, "last must be bool, not int"),
        (NODE, {"parent": 5}, "parent must be str, not int"),
        (NODE, {"calls": (1, "2")}, "calls must be int, not str"),
        (NODE, {"calls": 7}, "calls must be tuple, not int"),
        (NODE, {"state": "gone"}, "state must be one of kept, rolled_back, lost, not 'gone'"),
        (NODE, {"observation": None}, "observation must be Observation, not NoneType"),
        (
            NODE,
            {"observation": Observation((), "", None, None, b"", False)},  # type: ignore[arg-type]
            "observation.text must be str, not bytes",
        ),
        (IdentityRecord("i", "c", None, {}, ""), {"hyperparameters": {1: 2}}, "names as keys"),
        (IdentityRecord("i", "c", None, {}, ""), {"hyperparameters": []}, "must be dict"),
    ],
)
def test_a_field_of_the_wrong_type_is_never_written(record, changes, wrong):
    """What could not be read again is refused on the way in, with the field's name."""
    with pytest.raises(LoomError, match=wrong):
        encode(dataclasses.replace(record, **changes))


@pytest.mark.parametrize(
    ("changes", "wrong"),
    [
        ({"turn": "1"}, "turn must be int, not str"),
        ({"calls": (1,)}, "calls must be list, not tuple"),
        ({"observation": "text"}, "observation must be a mapping, not str"),
        ({"duration_ms": 0.0}, "above 0"),
        ({"duration_ms": float("nan")}, "above 0"),
    ],
)
def test_a_field_of_the_wrong_type_is_never_read(changes, wrong):
    """A loom that somebody else wrote is checked too."""
    body = wire.dumps(wire.loads(encode(NODE)) | changes)
    with pytest.raises(LoomError, match=wrong):
        decode("node", body)


@pytest.mark.parametrize("body", [b"", b"\xc1", b"\x93\x01", wire.dumps([1, 2]), wire.dumps(None)])
def test_damaged_bytes_are_an_error_of_the_loom(body):
    """Whatever the bytes are, the error is one of the loom's."""
    with pytest.raises(LoomError, match="the reward record can't be read"):
        decode("reward", body)


@settings(deadline=None)
@given(st.binary(max_size=60))
def test_no_bytes_raise_anything_else(body):
    """Decoding hostile bytes gives a record or a ``LoomError``, nothing else."""
    with contextlib.suppress(LoomError):
        decode("reward", body)


def test_an_int_where_a_float_stands_becomes_one():
    """A whole number is a number: it is kept as a float."""
    assert type(decode("reward", encode(RewardRecord("n", 1, "u"))).value) is float


@pytest.mark.parametrize("duration", [0, -1.0, float("nan")])
def test_a_node_took_some_time(duration):
    """LOOM-9: a duration is above 0."""
    with pytest.raises(LoomError, match="above 0"):
        dataclasses.replace(NODE, duration_ms=duration)


@pytest.mark.parametrize("value", [float("nan"), float("inf"), float("-inf")])
def test_a_reward_is_finite(value):
    """A reward is a number that can be compared and exported."""
    with pytest.raises(LoomError, match="finite"):
        RewardRecord("n", value, "user")
