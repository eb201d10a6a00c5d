"""Turns, threads and entities as they are read from the log."""

from __future__ import annotations

import tracemalloc
from collections.abc import Iterator
from decimal import Decimal
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Usage
from circlet.runtime.loom import (
    EndRecord,
    ForkPoint,
    IntentRecord,
    Loom,
    MemoryStore,
    Observation,
    SpawnPoint,
)
from circlet.runtime.loom.store import Row
from circlet.sandbox import wire
from circlet.sandbox.outcomes import Truncated


def test_every_turn_is_there_in_order(story):
    """LOOM-1: each turn is a node with its place, its gates and, at the end, terminated."""
    story.entity("e")
    for gate in ("echo", "echo", "done"):
        story.turn("e", gate)
    story.end("e", "ok")
    turns = story.loom.turns
    assert story.loom.turn_count == len(turns) == 3
    assert [turn.sequence for turn in turns] == [1, 2, 3]
    assert [turn.gate_calls for turn in turns] == [["echo"], ["echo"], ["done"]]
    assert [turn.terminated for turn in turns] == [False, False, True]


def test_turns_have_ids_and_parents(story):
    """LOOM-2: ids are unique; the root's parent is null, each other's is the turn before."""
    story.entity("e")
    story.turn("e")
    story.turn("e")
    first, second = story.loom.turns
    assert first.id != second.id
    assert first.parent_id is None
    assert second.parent_id == first.id
    assert story.loom.turn(first.id) == first


def test_an_unknown_turn_is_an_error(story):
    """The error names the id."""
    for look in (story.loom.turn, story.loom.children_of, story.loom.thread):
        with pytest.raises(LoomError, match="no turn 'nowhere'"):
            look("nowhere")


def test_turns_are_a_sequence(story):
    """LOOM-12: the nodes can be indexed, sliced, counted and walked."""
    story.entity("e")
    nodes = [story.turn("e") for _ in range(4)]
    turns = story.loom.turns
    assert [turn.id for turn in turns] == nodes
    assert turns[-1].id == nodes[-1]
    assert [turn.id for turn in turns[1:3]] == nodes[1:3]
    assert turns[0] in turns
    with pytest.raises(IndexError):
        turns[4]


def test_a_turn_tells_what_was_said_and_seen(story):
    """LOOM-10: a turn has utterance, observation, role, and whose it is."""
    story.entity("e")
    story.turn("e", "echo")
    (turn,) = story.loom.turns
    assert turn.role == "entity"
    assert (turn.cantrip_id, turn.entity_id) == ("cantrip", "e")
    assert turn.utterance.content == "said 1"
    assert turn.observation.text == "e saw 1"
    assert turn.state == "kept"
    assert [wire.loads(call.result) for call in turn.calls] == [1]


def test_a_turn_tells_what_it_took(story):
    """LOOM-9: tokens, duration above 0 and a time."""
    story.entity("e")
    story.turn("e", usage=Usage(100, 50, 20))
    taken = story.loom.turns[0].metadata
    assert (taken.tokens_prompt, taken.tokens_completion, taken.tokens_cached) == (100, 50, 20)
    assert type(taken.duration_ms) is float
    assert taken.duration_ms > 0
    *_, (_, at, _) = story.loom.records()
    assert taken.timestamp == at


def test_a_call_that_never_ended_is_there_as_it_began(story):
    """A call that was begun and has no result is told apart from one that ended."""
    story.entity("e")
    story.reply("e")
    story.call("e", 1, "echo")
    story.call("e", 2, "write", ended=False)
    story.node("e", calls=[1, 2], state="rolled_back")
    (turn,) = story.loom.turns
    assert [(call.gate, call.state) for call in turn.calls] == [
        ("echo", "ended"),
        ("write", "begun"),
    ]
    assert turn.gate_calls == ["echo"]
    assert turn.state == "rolled_back"


def test_a_child_s_turns_hang_under_the_spawning_node(story):
    """LOOM-8, COMP-5: one utterance that delegates is two parent nodes and the child's."""
    story.delegation()
    turns = story.loom.turns
    assert [turn.entity_id for turn in turns] == ["parent", "child", "parent"]
    assert [turn.sequence for turn in turns] == [1, 1, 2]
    assert [turn.parent_id for turn in turns] == [None, turns[0].id, turns[0].id]
    assert story.loom.children_of(turns[0].id) == [turns[1], turns[2]]
    assert story.loom.children_of(turns[2].id) == []


def test_an_utterance_stands_on_the_first_part_only(story):
    """PROD-3: utterance and usage are counted once; the call is on the part after it."""
    story.delegation()
    first, _, second = story.loom.turns
    assert (first.turn, first.part, first.last) == (1, 1, False)
    assert (second.turn, second.part, second.last) == (1, 2, True)
    assert first.utterance.content == "said 1"
    assert second.utterance is None
    assert (first.metadata.tokens_prompt, second.metadata.tokens_prompt) == (100, 0)
    assert (first.gate_calls, second.gate_calls) == ([], ["call_entity", "done"])
    assert first.delegated == ("child",)
    assert story.loom.entities["parent"].utterance_count == 1
    assert story.loom.utterance_count == 2


def test_an_entity_knows_its_own(story):
    """ENTITY-3, COMP-4: an entity's view has its own nodes, its children and its tokens."""
    story.delegation()
    parent, child = story.loom.entities.values()
    assert [turn.id for turn in parent.turns] == ["parent.1", "parent.2"]
    assert [turn.id for turn in child.turns] == ["child.1"]
    assert parent.children == [child]
    assert child.children == []
    assert (parent.depth, child.depth) == (0, 1)
    assert parent.spawned_by is None
    assert child.spawned_by == ("parent.1", 1, 0)
    assert (child.intent, child.model, child.medium) == ("intent of child", "scripted", "code")
    assert child.wards == {"max_turns": 10}
    assert child.identity == story.loom.identity
    assert (child.outcome, child.reason, child.result) == ("terminated", "done", 42)


def test_usage_adds_up(story):
    """PROD-3: tokens per entity, of its own queries, and over the whole tree."""
    story.delegation()
    story.reply("child", Usage(1, 2, 3))
    assert story.loom.entities["parent"].usage == Usage(100, 50, 10)
    assert story.loom.entities["child"].usage == Usage(101, 52, 13)
    assert story.loom.usage() == Usage(201, 102, 23)
    assert story.loom.usage().total_tokens == 303


def test_a_batch_s_children_keep_their_order(story):
    """COMP-3: children stand in request order, whichever of them is done first."""
    story.entity("parent")
    story.reply("parent")
    node = story.node("parent", last=False, delegated=["a", "b", "c"])
    for position, name in enumerate("abc"):
        story.entity(name, spawn=SpawnPoint(node, 1, position))
    for name in "cab":
        story.turn(name)
    parent = story.loom.entities["parent"]
    assert [child.id for child in parent.children] == ["a", "b", "c"]
    assert [child.spawned_by.position for child in parent.children] == [0, 1, 2]
    assert [turn.entity_id for turn in story.loom.children_of(node)] == ["c", "a", "b"]
    assert [thread[-1].entity_id for thread in story.loom.threads()] == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("outcome", "terminated", "truncated"),
    [("terminated", True, False), ("truncated", False, True), ("failed", False, False)],
)
def test_terminated_and_truncated_are_told_apart(story, outcome, terminated, truncated):
    """LOOM-7: the last turn, the thread and the entity say how the cast ended, and why."""
    story.entity("e")
    story.turn("e")
    story.turn("e")
    story.end("e", outcome=outcome, reason="the reason")
    first, last = story.loom.turns
    (thread,) = story.loom.threads()
    for view in (last, thread):
        assert (view.terminated, view.truncated, view.reason) == (
            terminated,
            truncated,
            "the reason",
        )
    assert (first.terminated, first.truncated, first.reason) == (False, False, None)
    entity = story.loom.entities["e"]
    assert (entity.outcome, entity.reason) == (outcome, "the reason")


def test_what_has_not_ended_says_so(story):
    """LOOM-7: a running entity is neither terminated nor truncated."""
    story.entity("e")
    story.turn("e")
    (thread,) = story.loom.threads()
    assert (thread.terminated, thread.truncated, thread.reason, thread.result) == (
        False,
        False,
        None,
        None,
    )
    assert (story.loom.entities["e"].outcome, story.loom.entities["e"].result) == (None, None)


def test_an_entity_that_never_began_has_an_end_and_no_node(story):
    """COMP-9: a child that was never started is in the loom with its outcome."""
    story.entity("e")
    story.end("e", outcome="not_started", reason="parent_terminated")
    entity = story.loom.entities["e"]
    assert (entity.outcome, entity.reason, entity.turns) == ("not_started", "parent_terminated", [])
    thread = story.loom.thread("e")
    assert (len(thread), thread.reason) == (0, "parent_terminated")
    assert story.loom.threads() == []


def test_a_thread_is_the_path_from_the_root(story):
    """LOOM-10: a thread is extracted as a sequence of turns, the root's first."""
    story.entity("e")
    nodes = [story.turn("e", "echo") for _ in range(3)]
    story.end("e", "ok")
    (thread,) = story.loom.threads()
    assert len(thread) == 3
    assert [turn.id for turn in thread] == [turn.id for turn in thread.turns] == nodes
    assert all(turn.utterance and turn.observation for turn in thread)
    assert thread[-1].terminated
    assert thread[:2] == thread.turns[:2]
    assert thread.result == "ok"


def test_a_thread_can_be_had_by_node_or_entity(story):
    """LOOM-10: any path can be extracted, to a node in the middle too."""
    story.delegation()
    thread = story.loom.thread
    assert [turn.id for turn in thread("parent")] == ["parent.1", "parent.2"]
    assert [turn.id for turn in thread("child")] == ["parent.1", "child.1"]
    assert [turn.id for turn in thread("parent.1")] == ["parent.1"]
    assert thread("child.1").result == 42
    assert thread("parent.1").result is None


def test_every_leaf_has_its_thread(story):
    """LOOM-10: there is a thread for each leaf, the parent's before its child's."""
    story.delegation()
    threads = [[turn.id for turn in thread] for thread in story.loom.threads()]
    assert threads == [["parent.1", "parent.2"], ["parent.1", "child.1"]]


def test_casts_in_one_loom_are_threads_of_their_own(story):
    """LOOM-7, CANTRIP-2: two casts give two threads, in the order in which they began."""
    story.entity("a")
    story.entity("b")
    story.turn("b")
    story.end("b", outcome="truncated", reason="max_turns")
    story.turn("a")
    story.end("a", "ok")
    first, second = story.loom.threads()
    assert (first[-1].terminated, first[-1].truncated) == (True, False)
    assert (second[-1].terminated, second[-1].truncated) == (False, True)


def test_a_fork_shares_the_path_up_to_its_turn(story):
    """LOOM-4: a fork is a new entity under turn N; the original is untouched."""
    story.entity("original")
    for _ in range(3):
        story.turn("original")
    story.end("original", "original")
    before = [turn.id for turn in story.loom.thread("original")]
    story.entity("forked", fork=ForkPoint("original.1", "replay"))
    story.turn("forked")
    story.end("forked", "forked")
    first, second = story.loom.threads()
    assert ([turn.id for turn in first], first.result) == (before, "original")
    assert [turn.id for turn in second] == ["original.1", "forked.1"]
    assert second.result == "forked"
    assert story.loom.entities["forked"].forked_from == ("original.1", "replay")
    assert story.loom.entities["original"].children == []


def test_a_summoned_entity_goes_on_in_one_thread(story):
    """ENTITY-5: a further cast hangs under the last; each cast's last turn tells its end."""
    story.entity("e")
    story.turn("e")
    story.end("e", "first")
    story.loom.append(IntentRecord("e", 2, "go on", None, "e.1"))
    story.turn("e")
    story.end("e", "second", "truncated", reason="max_turns", cast=2)
    (thread,) = story.loom.threads()
    assert [turn.turn for turn in thread] == [1, 2]
    assert [(turn.terminated, turn.truncated) for turn in thread] == [(True, False), (False, True)]
    assert story.loom.thread("e.1").result == "first"
    assert story.loom.thread("e").result == "second"


def test_a_cast_that_failed_before_its_first_turn_leaves_the_last_one_s_end(story):
    """LOOM-7: a cast without a node of its own says nothing about the node before."""
    story.entity("e")
    story.turn("e")
    story.end("e", "first")
    story.loom.append(EndRecord("e", 2, None, "failed", "the provider answered 401"))
    (turn,) = story.loom.turns
    assert turn.terminated
    assert story.loom.entities["e"].outcome == "failed"


@pytest.mark.parametrize(
    "value",
    [42, "text", True, (1, (2,)), {1, 2}, {1: {(2, 3): b"x"}}, Decimal("1.50"), 2**200,
     Truncated("max_turns", [1], "did one")],
)  # fmt: skip
def test_a_result_keeps_its_type(story, value):
    """CIRCLE-8: what ``done`` was given comes out of the loom with its type."""
    story.entity("e")
    story.turn("e")
    story.end("e", value)
    found = story.loom.entities["e"].result
    assert found == value
    assert type(found) is type(value)


def test_a_result_is_unsealed_where_it_is_asked_for(story):
    """A child's value that its parent handed on sealed is opened for the host's caller."""
    story.entity("e")
    story.turn("e")
    story.end("e", {"child": wire.seal((1, 2))})
    assert story.loom.thread("e").result == {"child": (1, 2)}


def test_a_turn_is_a_view_that_keeps_up(story):
    """LOOM-5: turns are views of the log: what is recorded later shows in them."""
    story.entity("e")
    story.turn("e")
    turn = story.loom.turns[0]
    assert not turn.terminated
    story.end("e")
    story.loom.annotate_reward(0, 0.5)
    assert turn.terminated
    assert turn.reward == 0.5


def test_a_turn_can_t_be_set(story):
    """LOOM-3: a view has nothing to write to."""
    story.entity("e")
    story.turn("e")
    turn: Any = story.loom.turns[0]
    for name in ("observation", "reward", "terminated", "sequence"):
        with pytest.raises(AttributeError):
            setattr(turn, name, None)


class CountingStore(MemoryStore):
    """A store that counts the records that are read from it."""

    rows = 0

    def read(self, after: int = 0) -> Iterator[Row]:
        for row in super().read(after):
            self.rows += 1
            yield row


def test_recording_a_turn_reads_nothing_back(story):
    """Appending costs the same after 10 turns and after 1,000: it looks at no record."""
    story.entity("e")
    for _ in range(1000):
        story.turn("e", "echo")
    store = CountingStore()
    loom = Loom(store=store)
    for _, _, record in story.loom.records():
        loom.append(record)
    assert loom.turn_count == 1000
    assert store.rows == 0


def test_looking_at_one_turn_reads_a_few_records(tell):
    """A view reads what it shows, however long the loom is."""
    store = CountingStore()
    story = tell(Loom(store=store))
    story.entity("e")
    for _ in range(200):
        story.turn("e", "echo")
    before = store.rows
    turn = story.loom.turns[100]
    assert turn.observation.text
    assert turn.gate_calls == ["echo"]
    assert turn.metadata.tokens_prompt == 100
    assert store.rows - before < 10


def test_the_index_keeps_no_text(run, tell):
    """A node costs the same memory however much it printed: the text stays in the store."""
    big = Observation((), "x" * 500_000, None, None, "", False)
    with Loom(run) as loom:
        story = tell(loom)
        story.entity("e")
        tracemalloc.start()
        try:
            for _ in range(20):
                story.reply("e")
                story.node("e", observation=big)
            kept, _ = tracemalloc.get_traced_memory()
        finally:
            tracemalloc.stop()
        assert kept < 500_000
        assert loom.turns[3].observation == big
