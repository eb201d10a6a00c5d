"""Attempts at one task, side by side."""

from __future__ import annotations

import pytest
from circlet import Loom
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import (
    ContextRef,
    EndRecord,
    EntityRecord,
    ForkPoint,
    IntentRecord,
    RewardRecord,
    Verdict,
)

MODEL = "scripted"


@pytest.fixture
def attempt(story):
    """Tell of an entity with one cast: ``attempt(name, reward)``; gives its last node."""

    def tell(name, reward=None, *, intent="task", context=None, fork=None, depth=0, end=True):
        loom = story.loom
        loom.append(
            EntityRecord(
                name, "cantrip", "identity", None, depth, {}, "code", MODEL, intent, context, fork
            )
        )
        after = fork and fork.node
        loom.append(IntentRecord(name, 1, intent, context, after))
        node = story.turn(name)
        if end:
            story.end(name, name)
        if reward is not None:
            loom.annotate_reward(node, reward)
        return node

    return tell


def names(loom: Loom) -> list[list[str]]:
    return [[one.name for one in group.attempts] for group in loom.groups()]


def test_casts_at_one_task_are_a_group(story, attempt):
    """LOOM-10: the same intent, with the same context, at the same level is the same task."""
    small, large = ContextRef(None, b"\x01", 1, "1"), ContextRef("d", None, 9, "9")
    attempt("a")
    attempt("b", intent="another task")
    attempt("c", context=small)
    attempt("d", depth=1)
    attempt("e")
    attempt("f", context=large)
    attempt("g", context=large)
    attempt("h", context=small)
    assert names(story.loom) == [["a/1", "e/1"], ["b/1"], ["c/1", "h/1"], ["d/1"], ["f/1", "g/1"]]


def test_forks_of_one_turn_are_a_group(story, attempt):
    """LOOM-4: forks have a past in common that others lack, and only with those of their turn."""
    first = attempt("a")
    second = story.turn("a")
    attempt("b", fork=ForkPoint(first, "snapshot"))
    attempt("c", fork=ForkPoint(second, "replay"))
    attempt("d", fork=ForkPoint(second, "snapshot"))
    assert names(story.loom) == [["a/1"], ["b/1"], ["c/1", "d/1"]]


def test_a_later_cast_and_forks_before_it(story, attempt):
    """ENTITY-5: a later cast is one more attempt beside the forks of the turn before it."""
    node = attempt("a")
    story.loom.append(IntentRecord("a", 2, "more", None, node))
    story.turn("a")
    story.turn("a")
    story.end("a", "2nd", cast=2)
    attempt("b", intent="more", fork=ForkPoint(node, "replay"))
    assert names(story.loom) == [["a/1"], ["a/2", "b/1"]]
    first, second = story.loom.attempts("a")
    assert (first.turns, second.turns) == (range(1, 2), range(2, 4))
    assert (first.node, second.node) == ("a.1", "a.3")
    assert (first.result, second.result) == ("a", "2nd")


def test_how_an_attempt_ended(story, attempt):
    """LOOM-7: each attempt says how its own cast ended, or that it has not."""
    attempt("a")
    attempt("b", end=False)
    story.entity("c")
    story.turn("c")
    story.end("c", outcome="truncated", reason="max_turns")
    story.loom.append(
        EntityRecord("d", "cantrip", "identity", None, 0, {}, "code", MODEL, "kept out")
    )
    story.end("d", outcome="not_started", reason="max_entities")
    told = {
        one.entity_id: (one.outcome, one.reason, one.node, len(one.turns))
        for group in story.loom.groups()
        for one in group.attempts
    }
    assert told == {
        "a": ("terminated", "done", "a.1", 1),
        "b": (None, None, "b.1", 1),
        "c": ("truncated", "max_turns", "c.1", 1),
        "d": ("not_started", "max_entities", None, 0),
    }


def test_a_cast_that_failed_before_its_first_turn(story, attempt):
    """LOOM-7: how an earlier cast ended is known also where it came to no node."""
    node = attempt("a")
    story.loom.append(IntentRecord("a", 2, "more", None, node))
    story.loom.append(EndRecord("a", 2, None, "failed", "ProviderError: gone"))
    story.loom.append(IntentRecord("a", 3, "again", None, node))
    story.turn("a")
    story.end("a", 1, cast=3)
    assert [one.outcome for one in story.loom.attempts("a")] == [
        "terminated",
        "failed",
        "terminated",
    ]
    assert [one.node for one in story.loom.attempts("a")] == ["a.1", None, "a.2"]


def test_ranks_and_advantages(story, attempt):
    """LOOM-3: those that are judged are ranked among themselves; the others count for nothing."""
    for name, reward in {"a": 0.5, "b": None, "c": 1.0, "d": 0.5, "e": 0.0}.items():
        attempt(name, reward)
    [group] = story.loom.groups()
    assert (group.name, group.intent) == ("a/1", "task")
    assert group.rewards == [0.5, 1.0, 0.5, 0.0]
    assert group.ranks == {"a/1": 2, "c/1": 1, "d/1": 2, "e/1": 4}
    assert group.tied == {"a/1", "d/1"}
    assert group.advantages["a/1"] == 0.0
    assert group.advantages["c/1"] == -group.advantages["e/1"] == pytest.approx(1.2247, abs=1e-4)
    assert group.leave_one_out == pytest.approx(
        {"a/1": 0.0, "c/1": 2 / 3, "d/1": 0.0, "e/1": -2 / 3}
    )
    assert group.passes == 3
    assert group.pass_at_k(1) == 0.75
    assert group.pass_at_k(2) == 1.0
    assert group.pass_hat_k(2) == 0.5
    with pytest.raises(LoomError, match="k is 5, and there are only 4 judged attempts"):
        group.pass_at_k(5)


def test_the_newest_reward_counts(story, attempt):
    """LOOM-3: a verdict says whether it passed; a bare reward passes above 0."""
    node = attempt("a", 1.0)
    loom = story.loom
    assert loom.attempts("a")[0].passed is True
    loom.annotate_reward(node, 0.0)
    assert loom.attempts("a")[0].passed is False
    loom.append(RewardRecord(node, 0.9, "tests", Verdict("all pass", "pytest", False, 1)))
    assert (loom.attempts("a")[0].reward, loom.attempts("a")[0].passed) == (0.9, False)
    loom.append(RewardRecord(node, 0.0, "tests", Verdict("all pass", "pytest", True, 0)))
    assert (loom.attempts("a")[0].reward, loom.attempts("a")[0].passed) == (0.0, True)


def test_a_reward_within_a_thread(story, attempt):
    """LOOM-3: an attempt is ranked by its last node; a reward of another node is that node's."""
    story.entity("a")
    first = story.turn("a")
    story.turn("a")
    story.end("a", 1)
    story.loom.annotate_reward(first, 1.0)
    assert story.loom.attempts("a")[0].reward is None
    assert story.loom.turn(first).reward == 1.0


def test_forks_in_a_run(code):
    """LOOM-4: best-of-n is one call, and its forks are one group, ranked by what they came to."""
    attempts = [{"code": f"done({n})"} for n in (3, 9, 5)]
    spell = code([{"code": "x = 1"}, {"code": "done(0)"}, *attempts])
    original = spell.cast("begin")
    casts = spell.fork(original.thread, 1, "try", n=3)
    for cast in casts:
        spell.loom.judge(cast, lambda result: result)
    _, group = spell.loom.groups()
    assert sorted(group.rewards) == [3, 5, 9]
    assert {one.entity_id: group.ranks[one.name] for one in group.attempts} == {
        cast.entity_id: {9: 1, 5: 2, 3: 3}[cast.result] for cast in casts
    }


def test_who_there_is_not(story):
    """LOOM-2: an entity that is not there is named."""
    with pytest.raises(LoomError, match="no entity 'x'"):
        story.loom.attempts("x")
