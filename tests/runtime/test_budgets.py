"""Budgets: wards that are counted over the whole tree, and what they leave on record."""

import anyio
import pytest
from circlet import Circle, ScriptedLLM, Truncated, gate
from circlet.runtime.errors import WardError
from circlet.runtime.llm import Usage

TURNS = {"max_turns": 10}
COST = {"prompt_tokens": 10, "completion_tokens": 5}
TREE = {
    "root": [{"code": "done(sum(call_entity_batch([{'intent': 'mid'}, {'intent': 'mid'}])))"}],
    "mid": [{"code": "call_entity_batch([{'intent': 'leaf'}] * 3)\ndone(3)"}],
    "leaf": [{"code": "done(1)"}],
}


def counted(replies=TREE):
    return ScriptedLLM(replies, usage=COST)


def test_tokens_add_up(deep):
    """PROD-3: usage at the root is the whole tree's, and each turn carries its own (cases 25)."""
    cast = deep(counted(), wards=[TURNS, {"max_depth": 2}]).cast("root")
    assert (cast.result, cast.entities, cast.tree_turns) == (6, 9, 9)
    assert cast.usage == Usage(90, 45)
    assert cast.usage.total_tokens == 135
    assert cast.loom.usage() == cast.usage
    for entity in cast.loom.entities.values():
        assert entity.usage.total_tokens == 15
        assert [turn.metadata.tokens_prompt for turn in entity.turns if turn.part == 1] == [10]


@pytest.mark.parametrize("concurrent", [1, 2, 8])
def test_max_tokens_sees_the_whole_tree(deep, concurrent):
    """PROD-3: no query starts at or over the cap; the loom says who never started (cases 25)."""
    root = [{"code": "rs = call_entity_batch(['mid', 'mid'])\nprint(rs)\ndone(rs)"}]
    wards = [TURNS, {"max_depth": 2}, {"max_tokens": 60}, {"max_concurrent": concurrent}]
    cast = deep(counted({**TREE, "root": root}), wards=wards).cast("root")
    # Those that run when the cap is reached finish.
    assert 60 <= cast.usage.total_tokens <= 60 + (concurrent - 1) * 15
    outcomes = [entity.outcome for entity in cast.loom.entities.values()]
    assert None not in outcomes
    waiting = [one for one in cast.loom.entities.values() if one.outcome == "not_started"]
    assert waiting or concurrent == 8
    for entity in waiting:
        assert (entity.reason, entity.turns, entity.utterance_count) == ("max_tokens", [], 0)
        assert entity.end.summary == "Never started: max_tokens"


def test_a_child_that_was_not_started_is_truncated(deep):
    """COMP-8: the parent gets a typed value for it, and goes on."""
    parent = "call_entity('leaf')\nr = call_entity('leaf')\ndone(r)"
    wards = [TURNS, {"max_tokens": 30}]
    cast = deep(counted({**TREE, "root": [{"code": parent}]}), wards=wards).cast("root")
    assert cast.result == Truncated("max_tokens", None, "Never started: max_tokens")


def test_max_tokens_ends_the_root_too(deep):
    """PROD-3: at the cap the entity itself begins no further turn."""
    replies = [{"code": "1"}] * 9
    cast = deep(counted({"root": replies}), wards=[TURNS, {"max_tokens": 31}]).cast("root")
    assert (cast.reason, cast.turns, cast.truncated) == ("max_tokens", 3, True)


def test_a_tighter_cap_of_a_child_s(deep):
    """WARD-1: a child's own max_tokens counts what is below the child alone."""
    parent = "done([call_entity('busy', wards=[{'max_tokens': 20}]).reason, call_entity('leaf')])"
    replies = {**TREE, "root": [{"code": parent}], "busy": [{"code": "1"}] * 9}
    cast = deep(counted(replies)).cast("root")
    assert cast.result == ["max_tokens", 1]
    assert cast.usage.total_tokens == 15 + 30 + 15


def test_max_entities(deep):
    """CIRCLE-6: so many entities come into being below the root, over its whole life."""
    parent = "rs = call_entity_batch(['leaf'] * 5)\nrs.append(call_entity('leaf'))\ndone(rs)"
    wards = [TURNS, {"max_entities": 3}]
    cast = deep(counted({**TREE, "root": [{"code": parent}]}), wards=wards).cast("root")
    assert cast.result[:3] == [1, 1, 1]
    assert cast.result[3:] == [Truncated("max_entities", None, "Never started: max_entities")] * 3
    assert cast.entities == 4
    outcomes = [entity.outcome for entity in cast.loom.entities.values()]
    assert outcomes.count("not_started") == 3


def test_max_entities_counts_grandchildren(deep):
    """CIRCLE-6: the cap of the root has the whole tree, a mid's has what is below the mid."""
    wards = [TURNS, {"max_depth": 2}, {"max_entities": 4}]
    cast = deep(counted(), wards=wards).cast("root")
    assert cast.entities == 5


def test_timeout_of_a_child(deep):
    """LOOP-4: a child's own wall clock truncates the child, and its parent goes on."""

    @gate
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    parent = "r = call_entity('slow', wards=[{'timeout_s': 0.2}])\ndone([r.reason, 'went on'])"
    spell = deep({"root": [{"code": parent}], "slow": [{"code": "hang()"}]}, hang)
    assert spell.cast("root").result == ["timeout_s", "went on"]


def test_errors_in_a_row_of_a_child(deep):
    """CIRCLE-6: a child that only makes errors is stopped after so many."""
    parent = "done(call_entity('bad').reason)"
    replies = {"root": [{"code": parent}], "bad": [{"code": "1/0"}] * 9}
    wards = [TURNS, {"max_errors_in_a_row": 3}]
    cast = deep(replies, wards=wards).cast("root")
    assert cast.result == "max_errors_in_a_row"
    assert list(cast.loom.entities.values())[1].utterance_count == 3


def test_usage_of_each_cast(chat):
    """PROD-3: a summoned entity's casts have their own usage; the loom has the sum."""
    spell = chat(ScriptedLLM([{"content": "a"}, {"content": "b"}], usage=COST))
    with spell.summon() as entity:
        usages = [entity.send("one").usage, entity.send("two").usage]
    assert [usage.total_tokens for usage in usages] == [15, 15]
    assert spell.loom.usage().total_tokens == 30


def test_max_tokens_of_a_summoned_entity(chat):
    """PROD-3: max_tokens is the entity's over its life: no cast goes on past it."""
    spell = chat(
        ScriptedLLM([{"content": "a"}, {"content": "b"}], usage=COST),
        wards=[TURNS, {"max_tokens": 15}],
    )
    with spell.summon() as entity:
        assert entity.send("one").terminated
        second = entity.send("two")
    assert (second.reason, second.turns) == ("max_tokens", 0)


def test_a_fork_s_budget(deep):
    """LOOM-4: max_tokens and max_entities of a fork count afresh; its past costs it nothing."""
    root = [{"code": "x = call_entity('leaf')"}, {"code": "y = call_entity('leaf')\ndone(y)"}]
    wards = [TURNS, {"max_tokens": 45}, {"max_entities": 1}]
    spell = deep(counted({**TREE, "root": root}), wards=wards)
    cast = spell.cast("root")
    assert cast.result == Truncated("max_entities", None, "Never started: max_entities")
    assert cast.usage.total_tokens == 45
    fork = spell.fork(cast.thread, 1, "root again")
    assert (fork.result, fork.entities, fork.tree_turns) == (1, 2, 2)
    assert fork.usage.total_tokens == 30
    assert spell.loom.usage().total_tokens == 75


def test_forks_that_are_made_together_have_a_budget_each(deep):
    """LOOM-4: what one of several forks spends is taken from none of the others."""
    spell = deep(counted({**TREE, "root": [{"code": "1"}] * 5}), wards=[TURNS, {"max_tokens": 31}])
    cast = spell.cast("root")
    forks = spell.fork(cast.thread, 1, "root again", n=4)
    assert [(fork.reason, fork.turns) for fork in forks] == [("max_tokens", 3)] * 4


def test_there_is_no_budget_of_money():
    """CIRCLE-6: prices are not known, so a cap on cost is refused and never passed over."""
    with pytest.raises(WardError, match="unknown ward 'max_cost'"):
        Circle(gates=["done"], wards=[TURNS, {"max_cost": 1.0}])
