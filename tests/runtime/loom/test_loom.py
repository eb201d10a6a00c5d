"""The loom as a log: what goes in, what is refused, what is there after reopening."""

from __future__ import annotations

import re
import sqlite3
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Usage
from circlet.runtime.loom import (
    EndRecord,
    EntityRecord,
    ForkPoint,
    IdentityRecord,
    IntentRecord,
    Loom,
    MemoryStore,
    RewardRecord,
    SpawnPoint,
)
from circlet.sandbox import wire
from hypothesis import given, settings
from hypothesis import strategies as st

IDENTITY = IdentityRecord("identity", "cantrip", "Be brief.", {"temperature": 0.5}, "digest")
ENTITY = EntityRecord(
    "e", "cantrip", "identity", None, 0, {"max_turns": 3}, "code", "scripted", "do it"
)


def test_every_record_has_a_gapless_n_and_a_time():
    """LOOM-3: n counts from 1 without a gap, at is RFC 3339 in UTC with microseconds."""
    loom = Loom()
    assert [loom.append(IDENTITY), loom.append(ENTITY)] == [1, 2]
    records = list(loom.records())
    assert [n for n, _, _ in records] == [1, 2]
    assert [record for _, _, record in records] == [IDENTITY, ENTITY]
    for _, at, _ in records:
        assert re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z", at)


def test_the_identity_is_the_loom_s_root(story):
    """IDENTITY-4: the first record is the identity, and the loom shows it."""
    assert story.loom.identity.system_prompt == "Be brief."
    assert story.loom.identity.hyperparameters == {"temperature": 0.5}
    assert isinstance(next(story.loom.records())[2], IdentityRecord)
    assert story.loom.turn_count == 0


def test_an_empty_loom_has_nothing_to_show():
    """A new loom is empty, and says so without an error."""
    loom = Loom()
    assert loom.identity is None
    assert list(loom.turns) == loom.threads() == list(loom.records()) == []
    assert loom.usage() == Usage()


def test_every_identity_can_be_looked_up(story):
    """COMP-7: a child may have another identity; the loom has both."""
    other = IdentityRecord("other", "cantrip", None, {}, "")
    story.loom.append(other)
    assert list(story.loom.identities) == ["identity", "other"]
    assert story.loom.identities["other"] == other
    assert story.loom.identity.id == "identity"


def test_a_turn_can_t_be_deleted(story):
    """LOOM-3: deleting is refused, in so many words, and nothing is gone."""
    story.entity("e")
    story.turn("e")
    for turn in (0, "e.1", 99):
        with pytest.raises(LoomError, match=r"^loom is append-only$"):
            story.loom.delete_turn(turn)
    assert story.loom.turn_count == 1


@pytest.mark.parametrize(
    ("record", "wrong"),
    [
        (IDENTITY, "the id 'identity' is in the loom already"),
        (ENTITY, "the id 'e' is in the loom already"),
        (EntityRecord("n", "c", "who", None, 0, {}, "code", "m", "i"), "no identity 'who'"),
        (
            EntityRecord("n", "c", "identity", SpawnPoint("where", 1), 1, {}, "code", "m", "i"),
            "no turn 'where'",
        ),
        (
            EntityRecord(
                "n", "c", "identity", None, 0, {}, "", "", "", None, ForkPoint("where", "replay")
            ),
            "no turn 'where'",
        ),
        (IntentRecord("who", 1, "intent"), "no entity 'who'"),
        (EndRecord("who", 1, None, "failed", "no"), "no entity 'who'"),
        (EndRecord("e", 1, "e.1", "failed", "no"), "is not the last node of entity 'e'"),
        (EndRecord("e", 1, "where", "failed", "no"), "is not the last node of entity 'e'"),
        (RewardRecord("where", 1.0, "user"), "no turn 'where'"),
    ],
)
def test_a_record_that_contradicts_the_log_is_refused(story, record, wrong):
    """LOOM-2: ids are unique, and what a record refers to is there; else nothing is written."""
    story.entity("e")
    story.turn("e")
    story.turn("e")
    before = list(story.loom.records())
    with pytest.raises(LoomError, match=wrong):
        story.loom.append(record)
    assert list(story.loom.records()) == before


@pytest.mark.parametrize(
    ("changed", "wrong"),
    [
        ({"id": "e.1"}, "'e.1' is in the loom already"),
        ({"id": "e"}, "'e' is in the loom already"),
        ({"parent": None}, "must follow 'e.1'"),
        ({"parent": "where"}, "must follow 'e.1'"),
        ({"sequence": 1}, "is number 2 of entity 'e', not 1"),
        ({"sequence": 3}, "is number 2 of entity 'e', not 3"),
    ],
)
def test_a_node_follows_its_entity_s_last(story, changed, wrong):
    """LOOM-2, LOOM-8: a node hangs under the node before, with the next ordinal."""
    story.entity("e")
    story.turn("e")
    story.reply("e")
    with pytest.raises(LoomError, match=wrong):
        story.node("e", **changed)
    story.node("e")


def test_a_refused_record_leaves_no_gap(story):
    """What was refused took no n."""
    with pytest.raises(LoomError):
        story.loom.append(IDENTITY)
    assert story.loom.append(ENTITY) == 2


def test_a_record_of_the_wrong_type_is_refused(story):
    """A field of the wrong type is named, and nothing is written."""
    wrong: Any = 7
    with pytest.raises(LoomError, match="entity record can't be written: intent must be str"):
        story.loom.append(
            EntityRecord("e", "c", "identity", None, 0, {}, "code", "scripted", wrong)
        )
    assert not story.loom.entities


@pytest.mark.parametrize("turn", [0, -2, "e.1"])
def test_a_reward_can_be_set_later(story, turn):
    """LOOM-3: a reward is a record of its own; a turn is named by place, from 0, or by id."""
    story.entity("e")
    story.turn("e")
    story.turn("e")
    story.end("e")
    story.loom.annotate_reward(turn, 1)
    assert [turn.reward for turn in story.loom.turns] == [1.0, None]
    *_, (_, _, record) = story.loom.records()
    assert record == RewardRecord("e.1", 1.0, "user")


def test_the_newest_reward_counts_and_all_stay(story):
    """LOOM-3: a second reward doesn't replace the first one's record."""
    story.entity("e")
    story.turn("e")
    turn = story.loom.turns[0]
    story.loom.annotate_reward(0, 0.25, by="verifier")
    story.loom.annotate_reward(0, 0.75)
    assert turn.reward == 0.75
    kept = [record for _, _, record in story.loom.records() if isinstance(record, RewardRecord)]
    assert [(reward.value, reward.by) for reward in kept] == [(0.25, "verifier"), (0.75, "user")]


@pytest.mark.parametrize("reward", ["1", None, 10**400, float("nan"), [1]])
def test_a_reward_that_is_none(story, reward):
    """What is no finite number is an error that shows it, and nothing is recorded."""
    story.entity("e")
    story.turn("e")
    with pytest.raises(LoomError, match="a reward must be a finite number, not"):
        story.loom.annotate_reward(0, reward)
    assert story.loom.turns[0].reward is None


@pytest.mark.parametrize(
    ("turn", "named"),
    [
        (1, "no turn 1: it has 1"),
        ("x", "no turn 'x'"),
        (0.0, "by its place or its id, not by 0.0"),
        (False, "not by False"),
        (None, "not by None"),
    ],
)
def test_a_reward_of_no_turn_is_an_error(story, turn, named):
    """The error names the turn that isn't there."""
    story.entity("e")
    story.turn("e")
    with pytest.raises(LoomError, match=named):
        story.loom.annotate_reward(turn, 1.0)


def test_a_reward_must_be_finite(story):
    """A reward that can't be compared is refused."""
    story.entity("e")
    story.turn("e")
    with pytest.raises(LoomError, match="finite"):
        story.loom.annotate_reward(0, float("nan"))


@pytest.mark.parametrize("size", [0, 100, 5_000, 1_000_000])
def test_a_context_is_kept_as_it_is(run, size):
    """COMP-4: a context small or large comes back byte for byte, also after reopening."""
    sealed = wire.seal(b"x" * size)
    with Loom(run) as loom:
        ref = loom.keep(sealed)
        assert (ref.digest is None) == (size < 4_000)
        assert ref.size == len(sealed.data)
        loom.append(IDENTITY)
        loom.append(
            EntityRecord("e", "c", "identity", None, 0, {}, "code", "scripted", "do it", ref)
        )
    with Loom(run, read_only=True) as loom:
        found = loom.entities["e"].context
        assert found is not None
        assert loom.fetch(found) == sealed
        assert loom.fetch(found).open() == b"x" * size


def test_a_context_s_bytes_are_not_looked_into(story):
    """A context travels sealed: bytes that are no value at all are kept all the same."""
    sealed = wire.Sealed(b"\xc1" * 10_000, "hostile")
    assert story.loom.fetch(story.loom.keep(sealed)) == sealed


def test_threads_may_append_at_once(run):
    """Children run concurrently: their records share one gapless n."""
    with Loom(run) as loom:
        loom.append(IDENTITY)

        def work(name: str) -> None:
            loom.append(EntityRecord(name, "c", "identity", None, 0, {}, "", "", ""))
            for cast in range(1, 50):
                loom.append(IntentRecord(name, cast, "go on"))

        threads = [threading.Thread(target=work, args=(f"e{i}",)) for i in range(4)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert [n for n, _, _ in loom.records()] == list(range(1, 202))


def shown(loom: Loom) -> dict[str, Any]:
    """All that a loom shows of its tree."""
    return {
        "records": list(loom.records()),
        "turns": [
            (
                turn.id,
                turn.parent_id,
                turn.entity_id,
                turn.sequence,
                turn.turn,
                turn.part,
                turn.utterance,
                turn.observation,
                turn.gate_calls,
                turn.metadata,
                turn.reward,
                turn.terminated,
                turn.truncated,
                turn.reason,
            )
            for turn in loom.turns
        ],
        "entities": [
            (entity.id, entity.usage, entity.outcome, entity.result, entity.utterance_count)
            for entity in loom.entities.values()
        ],
        "threads": [[turn.id for turn in thread] for thread in loom.threads()],
        "children": {turn.id: [t.id for t in loom.children_of(turn.id)] for turn in loom.turns},
        "usage": loom.usage(),
    }


STEPS = st.lists(
    st.sampled_from(["entity", "spawn", "fork", "turn", "delegate", "end", "reward"]), max_size=25
)


@settings(deadline=None)
@given(steps=STEPS, data=st.data())
def test_a_reopened_loom_equals_the_old_one(tell, steps, data):
    """ENTITY-4, LOOM-2: whatever happened, the loom on disk shows it again, all of it."""
    with tempfile.TemporaryDirectory() as home:
        with Loom(Path(home) / "run") as loom:
            story = tell(loom)
            for place, step in enumerate(steps):
                happen(story, step, f"e{place}", data)
            before = shown(loom)
        with Loom(Path(home) / "run") as again:
            assert shown(again) == before
            tell(again).entity("another")
        with Loom(Path(home) / "run", read_only=True) as reader:
            assert list(reader.entities)[-1] == "another"


def happen(story: Any, step: str, name: str, data: st.DataObject) -> None:
    """Let one thing happen to one of the entities there are."""
    loom = story.loom
    entities, turns = list(loom.entities), [turn.id for turn in loom.turns]
    if step == "entity" or not entities:
        story.entity(name)
    elif step in ("turn", "delegate", "end"):
        entity = data.draw(st.sampled_from(entities))
        if step == "turn":
            story.turn(entity, "echo", usage=Usage(data.draw(st.integers(0, 9)), 1))
        elif step == "delegate":
            story.reply(entity)
            story.node(entity, last=False)
        else:
            story.end(entity, 1, data.draw(st.sampled_from(["terminated", "truncated", "failed"])))
    elif turns:
        node = data.draw(st.sampled_from(turns))
        if step == "spawn":
            story.entity(name, spawn=SpawnPoint(node, 1))
        elif step == "fork":
            story.entity(name, fork=ForkPoint(node, "replay"))
        else:
            loom.annotate_reward(node, data.draw(st.floats(0, 1)))


def test_a_loom_goes_on_where_it_was_left(run, tell):
    """ENTITY-5: a summoned entity goes on in a loom that was closed in between."""
    with Loom(run) as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e")
        story.end("e", "first")
    with Loom(run) as loom:
        loom.append(IntentRecord("e", 2, "go on", None, "e.1"))
        tell(loom).turn("e")
        tell(loom).end("e", "second", cast=2)
        assert [turn.parent_id for turn in loom.turns] == [None, "e.1"]
        assert [turn.terminated for turn in loom.turns] == [True, True]
        assert loom.entities["e"].result == "second"


def test_a_reader_shows_the_loom_as_it_was_opened(run, tell):
    """A view of a run that goes on doesn't change under its reader's hands."""
    with Loom(run) as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e")
        with Loom(run, read_only=True) as reader:
            before = list(reader.records())
            story.turn("e")
            assert reader.turn_count == 1
            assert list(reader.records()) == before
            with pytest.raises(LoomError, match="read only"):
                reader.annotate_reward(0, 1.0)
        assert loom.turn_count == 2


def test_a_missing_record_is_an_error(run):
    """A loom from which somebody cut a record is damaged, and says which one is gone."""
    with Loom(run) as loom:
        for name in "abc":
            loom.append(IdentityRecord(name, "c", None, {}, ""))
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute("DROP TRIGGER records_stay")
        database.execute("DELETE FROM records WHERE n = 2")
        database.commit()
        database.execute(
            "CREATE TRIGGER records_stay BEFORE DELETE ON records"
            " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END"
        )
    with pytest.raises(LoomError, match="record 2 is missing"):
        Loom(run)


@pytest.mark.parametrize(
    ("kind", "brief", "wrong"),
    [
        ("entity", "c1", "brief can't be read"),
        ("entity", "a161", "brief can't be read"),
        ("entity", "90", "damaged at record 2"),
        ("intent", "91a3776869", "damaged at record 2: the loom has no entity 'whi'"),
        ("story", "90", "damaged at record 2: unknown kind of record: 'story'; a newer circlet"),
    ],
)
def test_a_damaged_record_is_an_error(run, kind, brief, wrong):
    """A record whose place can't be read is named by its n; opening fails as a whole."""
    with Loom(run) as loom:
        loom.append(IDENTITY)
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute(f"INSERT INTO records VALUES (2, 'at', '{kind}', x'{brief}', x'80', x'')")
        database.commit()
    for read_only in (False, True):
        with pytest.raises(LoomError, match=wrong):
            Loom(run, read_only=read_only)


def test_a_store_of_one_s_own_will_do(tell):
    """LoomStore is a seam: a loom takes up what any store holds."""
    store = MemoryStore()
    first = Loom(store=store)
    story = tell(first)
    story.entity("e")
    story.turn("e")
    assert shown(Loom(store=store)) == shown(first)


@pytest.mark.parametrize(
    ("arguments", "wrong"),
    [
        ({"path": "run", "store": MemoryStore()}, "a path or a store, not both"),
        ({"read_only": True}, "give a path"),
        ({"durability": "power"}, "give a path"),
    ],
)
def test_arguments_that_contradict_each_other_are_an_error(arguments, wrong):
    """An argument that would have no effect is refused, not ignored."""
    with pytest.raises(LoomError, match=wrong):
        Loom(**arguments)


def test_a_closed_loom_refuses(story):
    """After close, appending is one clear error, and closing again is none."""
    with story.loom as loom:
        pass
    loom.close()
    with pytest.raises(LoomError, match="closed"):
        loom.append(ENTITY)
