"""Lasting entities: what adds up from intent to intent, and what never does."""

import asyncio
import itertools

import anyio
import pytest
from circlet import Cantrip, Circle, Retry, ScriptedLLM, Truncated, gate
from circlet.runtime.errors import CantripError, MalformedReply, ProviderError
from circlet.runtime.events import MessageStarted, ToolCalled
from circlet.runtime.llm import check_linkage
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TURNS = {"max_turns": 10}


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def done(answer):
    return call("done", answer=answer)


@gate
async def hang() -> None:
    """Never answer."""
    await anyio.sleep_forever()


# -- what every query holds ------------------------------------------------------------------------


def check_queries(llm):
    """Each query answers every call once, right after it, and adds to the one before.

    LLM-7, LOOP-1, ENTITY-3: utterances and observations alternate, and nothing that was told is
    ever told otherwise.
    """
    before = ()
    for request in llm.requests:
        messages = tuple(request.messages)
        check_linkage(messages)
        assert messages[: len(before)] == before
        for one, following in itertools.pairwise(messages):
            assert (one.role, following.role) != ("assistant", "assistant")
        assert messages[-1].role in ("user", "tool")
        before = messages


CALLS = st.sampled_from(
    [
        {"gate": "echo", "args": {"text": "a"}},
        {"gate": "echo", "args": {}},
        {"gate": "nobody", "args": {}},
        {"gate": "done", "args": {"answer": 1}},
        {"gate": "done", "args": {}},
        {"gate": "fail", "args": {}},
    ]
)
REPLIES = st.one_of(
    st.lists(CALLS, min_size=1, max_size=4).map(lambda calls: {"tool_calls": calls}),
    st.just({"content": "text"}),
    st.just({"content": None}),
    st.just({"error": {"status": 400, "message": "no"}}),
)
PROGRAMS = st.one_of(
    REPLIES,
    st.sampled_from(["x = 1", "1/0", "done(1)", "echo('a')\ndone(2)", "print("]).map(run),
    st.tuples(st.sampled_from(["x = 1", "done(1)", "1/0"]), CALLS).map(
        lambda both: {
            "tool_calls": [
                {"gate": "python", "args": {"code": both[0]}},
                both[1],
                {"gate": "python", "args": {"code": "x = 2"}},
            ]
        }
    ),
)


@gate
def fail() -> None:
    """Fail."""
    raise ValueError("it failed")


def live(make, replies, intents, strict):
    """Give one entity several intents, whatever becomes of each, then fork it at every turn."""
    wards = [{"max_turns": 3}, {"require_done_tool": strict}]
    spell = make([*replies, *[done("end")] * 20], "echo", fail, wards=wards)
    outcomes = []
    with spell.summon() as entity:
        for number in range(intents):
            try:
                cast = entity.send(f"intent {number}")
                outcomes.append("terminated" if cast.terminated else cast.reason)
            except (ProviderError, MalformedReply) as error:
                outcomes.append(type(error).__name__)
        check_queries(spell.llm)
        recorded = [turn.utterance.tool_calls for turn in spell.loom.turns if turn.part == 1]
        told = [
            one.tool_calls for one in spell.llm.requests[-1].messages if one.role == "assistant"
        ]
        assert recorded[: len(told)] == told
        for turn in range(1, len(recorded) + 1):
            llm = ScriptedLLM([done("forked")])
            fork = spell.fork(entity.entity_id, turn, "another way", llm=llm)
            assert (fork.result, fork.difference) == ("forked", None)
            check_queries(llm)
            said = [one for one in llm.requests[0].messages if one.role == "assistant"]
            assert [one.tool_calls for one in said] == recorded[:turn]
    return outcomes


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(REPLIES, max_size=8), st.integers(1, 4), st.booleans())
def test_linkage_on_every_query(replies, intents, strict):
    """LLM-7, LOOP-3: whatever a model says, each query of an entity and of its forks is sound."""
    outcomes = live(_chat, replies, intents, strict)
    assert len(outcomes) == intents


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(PROGRAMS, max_size=6), st.integers(1, 3), st.booleans())
def test_linkage_on_every_query_in_code(replies, intents, strict):
    """LLM-7, LOOP-3: the same where programs and direct calls stand beside each other."""
    outcomes = live(_code, replies, intents, strict)
    assert len(outcomes) == intents


# -- what adds up ----------------------------------------------------------------------------------


def test_the_four_levels(chat):
    """ENTITY-5: queries within turns, turns within casts, casts within one summoned life."""
    failing = {"error": {"status": 429, "message": "slow down"}}
    replies = [failing, call("echo", text="a"), done(1), done(2)]
    spell = chat(replies, "echo", retry=Retry(base_s=0))
    with spell.summon() as entity:
        first, second = entity.send("one"), entity.send("two")
    view = spell.loom.entities[entity.entity_id]
    assert len(spell.llm.requests) == 4  # two queries of the first turn, for one was repeated
    assert [turn.turn for turn in view.turns] == [1, 2, 3]
    assert (first.turns, second.turns) == (2, 1)
    assert [(one.cast, one.text) for one in view.intents] == [(1, "one"), (2, "two")]
    assert [one.after for one in view.intents] == [None, view.turns[1].id]
    assert [turn.end.cast if turn.end else None for turn in view.turns] == [None, 1, 2]


def test_two_lives_at_once(code):
    """ENTITY-6: two summoned entities that work at the same time share neither state nor turns."""
    replies = {
        "one": [run("x = 'one'"), run("done(x)"), run("done(x + '!')")],
        "two": [run("x = 'two'"), run("done(x)"), run("done(x + '!')")],
    }
    spell = code(replies)

    async def main():
        async with spell.summon() as one, spell.summon() as two:
            results = {}

            async def send(entity, name):
                results[name] = [(await entity.asend(name)).result]
                results[name].append((await entity.asend("more")).result)

            async with anyio.create_task_group() as group:
                group.start_soon(send, one, "one")
                group.start_soon(send, two, "two")
            return results

    assert anyio.run(main) == {"one": ["one", "one!"], "two": ["two", "two!"]}
    assert [len(entity.turns) for entity in spell.loom.entities.values()] == [3, 3]


# -- an intent after a cast that came to no good end ---------------------------------------------


def test_after_a_truncated_cast(code):
    """ENTITY-5, LOOP-4: the next intent has its turns, and the state that was reached."""
    spell = code([run("x = 1"), run("x += 1"), run("done(x)")], wards=[{"max_turns": 2}])
    with spell.summon() as entity:
        first, second = entity.send("one"), entity.send("two")
    assert (first.truncated, first.reason, first.turns) == (True, "max_turns", 2)
    assert (second.result, second.turns) == (2, 1)
    assert [one.reason for one in second.thread if one.reason] == ["max_turns", "done"]


def test_after_a_failed_cast(code):
    """ENTITY-5: what failed is raised and on record; the state of before is there."""
    replies = [run("x = 1"), {"content": None}, {"error": {"status": 400, "message": "no"}}]
    spell = code([*replies, run("done(x)")])
    with spell.summon() as entity:
        with pytest.raises(MalformedReply):
            entity.send("one")
        with pytest.raises(ProviderError):
            entity.send("two")
        assert entity.send("three").result == 1
    users = [one.content for one in spell.llm.requests[-1].messages if one.role == "user"]
    assert users == ["one", "two", "three"]
    check_linkage(spell.llm.requests[-1].messages)


@pytest.mark.parametrize("where", ["gate", "model", "direct"])
def test_after_a_cancelled_cast(code, where):
    """ENTITY-5, COMP-9: what a cancelled turn changed is undone, and it is told of that."""
    cut = {
        "gate": run("x.append(2)\nhang()"),
        "model": {"content": "late", "delay_ms": 60_000},
        "direct": {
            "tool_calls": [
                {"gate": "python", "args": {"code": "y = 1"}},
                {"gate": "hang", "args": {}},
            ]
        },
    }[where]
    spell = code([run("x = [1]; done(0)"), cut, run("done(x)")], hang)

    async def main():
        waits = anyio.Event()

        def watch(event):
            asked = isinstance(event, MessageStarted) and event.turn == 2 and where == "model"
            if asked or (isinstance(event, ToolCalled) and event.name == "hang"):
                waits.set()

        async with spell.summon(on_event=watch) as entity:
            await entity.asend("one")
            task = asyncio.create_task(entity.asend("two"))
            await waits.wait()
            task.cancel()
            with pytest.raises(asyncio.CancelledError):
                await task
            return await entity.asend("three")

    cast = anyio.run(main)
    assert cast.result == [1]
    view = spell.loom.entities[cast.entity_id]
    assert [one.text for one in view.intents] == ["one", "two", "three"]
    ends = [turn.reason for turn in view.turns]
    assert ends == (["done", "done"] if where == "model" else ["done", "cancelled", "done"])
    check_linkage(spell.llm.requests[-1].messages)


def test_an_intent_after_the_budget_is_spent(chat):
    """PROD-3: max_tokens is over its whole life: the intent is recorded and no query made."""
    llm = ScriptedLLM([done(1)], usage={"prompt_tokens": 10, "completion_tokens": 5})
    spell = chat(llm, wards=[TURNS, {"max_tokens": 15}])
    with spell.summon() as entity:
        entity.send("one")
        spent = entity.send("two")
    assert (spent.reason, spent.turns, len(llm.requests)) == ("max_tokens", 0, 1)
    assert spent.summary == "Stopped by max_tokens after 0 turns; called: nothing; last observed: 1"


def test_an_intent_is_required(chat):
    """INTENT-1: each one has to say something; a blank one changes nothing."""
    spell = chat([done(1)])
    with spell.summon() as entity:
        with pytest.raises(CantripError, match="intent is required"):
            entity.send(" ")
        assert entity.send("one").result == 1
    assert [one.text for one in spell.loom.entities[entity.entity_id].intents] == ["one"]


# -- what a ward that ends it leaves -------------------------------------------------------------

COST = {"prompt_tokens": 10, "completion_tokens": 5}
STOPPED = {
    "max_turns": ({"max_turns": 2}, [run("print('so far')"), run("1")]),
    "timeout_s": ({"timeout_s": 1.0}, [run("print('so far')\nhang()")]),
    "max_tokens": ({"max_tokens": 30}, [run("print('so far')"), run("1"), run("1")]),
    "max_errors_in_a_row": ({"max_errors_in_a_row": 2}, [run("1/0"), run("1/0"), run("1")]),
}


@pytest.mark.parametrize("ward", STOPPED)
def test_every_ward_says_what_was_done(deep, ward):
    """LOOP-4: reason and summary stand on the cast, in the loom, and with the child's parent."""
    limit, replies = STOPPED[ward]
    spell = deep(ScriptedLLM({".": replies}, usage=COST), hang, wards=[{"max_turns": 9}, limit])
    cast = spell.cast("root")
    turns = len(cast.thread)
    assert (cast.truncated, cast.terminated, cast.reason) == (True, False, ward)
    assert cast.summary.startswith(f"Stopped by {ward} after {turns} turns; called: ")
    assert "; last observed: " in cast.summary
    end = spell.loom.entities[cast.entity_id].end
    assert (end.outcome, end.reason, end.summary) == ("truncated", ward, cast.summary)
    assert (cast.thread[-1].truncated, cast.thread[-1].reason) == (True, ward)

    parent = [run(f"r = call_entity('child', wards=[{limit!r}])\ndone(r)")]
    spell = deep(ScriptedLLM({"^root": parent, "child": replies}, usage=COST), hang)
    truncated = spell.cast("root").result
    assert type(truncated) is Truncated
    assert (truncated.reason, truncated.summary) == (ward, cast.summary)
    assert truncated.partial


def _chat(replies, *gates, wards):
    return _make("conversation", replies, gates, wards)


def _code(replies, *gates, wards):
    return _make("code", replies, gates, wards)


def _make(medium, replies, gates, wards):
    circle = Circle(medium=medium, gates=["done", *gates], wards=wards)
    return Cantrip(llm=ScriptedLLM(replies), circle=circle)
