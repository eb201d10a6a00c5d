"""The cantrip: how it is put together, cast, summoned and watched."""

import asyncio
import threading

import anyio
import pytest
from circlet import Cantrip, Circle, CircletError, Identity, Loom, Retry, ScriptedLLM, gate
from circlet.runtime.errors import (
    CantripError,
    LoomError,
    MalformedReply,
    ProviderError,
    RuntimeFault,
    ScriptExhausted,
)
from circlet.runtime.events import EntityEnded, FinalResponse
from circlet.runtime.loom import EndRecord
from pydantic import BaseModel

TURNS = [{"max_turns": 10}]


def done(answer):
    return {"tool_calls": [{"gate": "done", "args": {"answer": answer}}]}


def echo(text):
    return {"tool_calls": [{"gate": "echo", "args": {"text": text}}]}


# -- putting one together ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("llm", "circle", "told"),
    [
        (None, {}, "cantrip requires an llm"),
        (
            "yes",
            {"wards": [{"require_done_tool": True}], "medium": None},
            "cantrip with require_done must have a done gate",
        ),
        ("yes", {"medium": None}, "circle must have a done gate"),
        (
            "yes",
            {"gates": ["done"], "medium": None},
            "cantrip must have at least one truncation ward",
        ),
        (
            "yes",
            {"gates": ["done"], "wards": TURNS, "medium": None},
            "circle must declare a medium",
        ),
        (
            "yes",
            {"gates": ["done"], "wards": TURNS, "medium": ["code", "conversation"]},
            "circle must declare exactly one medium",
        ),
    ],
)
def test_what_is_missing_is_told_in_order(llm, circle, told):
    """LOOP-2: no llm, then done, then a truncation ward, then the medium."""
    with pytest.raises(CantripError, match=told):
        Cantrip(llm=llm and ScriptedLLM([]), circle=Circle(**circle))


def test_a_circle_is_needed():
    """CANTRIP-1: an identity has a default, a circle has none."""
    with pytest.raises(CantripError, match="cantrip requires a circle"):
        Cantrip(llm=ScriptedLLM([]))


@pytest.mark.parametrize(
    ("fields", "told"),
    [
        ({"gates": ["done"]}, "cantrip: gates"),
        ({"identity": "You are"}, "cantrip: identity"),
        ({"llms": {"cheap": 7}}, "cantrip: llms.cheap"),
        ({"registry": ["nope"]}, "unknown gate 'nope'"),
    ],
)
def test_bad_fields(fields, told):
    """CANTRIP-1: a field that is unknown or of the wrong type is named, in one line."""
    circle = Circle(gates=["done"], wards=TURNS)
    with pytest.raises(CircletError, match=told) as raised:
        Cantrip(llm=ScriptedLLM([]), circle=circle, **fields)
    assert "\n" not in str(raised.value)


def test_frozen(chat):
    """CANTRIP-2: a cantrip is a value and can't be changed."""
    with pytest.raises(ValueError, match="frozen"):
        chat([]).llm = ScriptedLLM([])


# -- casting -----------------------------------------------------------------------------------


def test_reuse(chat):
    """CANTRIP-2, ENTITY-2: every cast makes an entity of its own."""
    spell = chat([done("first"), done("second")])
    casts = [spell.cast("first task"), spell.cast("second task")]
    assert [cast.result for cast in casts] == ["first", "second"]
    assert casts[0].entity_id != casts[1].entity_id
    assert list(spell.loom.entities) == [cast.entity_id for cast in casts]
    assert [len(request.messages) for request in spell.llm.requests] == [1, 1]


@pytest.mark.parametrize("intent", [None, "", "  \n", 7])
def test_intent_is_required(chat, intent):
    """INTENT-1: a cast needs an intent, and leaves no trace without one."""
    spell = chat([done("ok")])
    with pytest.raises(CantripError, match="intent is required"):
        spell.cast(intent)
    assert not spell.loom.entities
    assert not spell.llm.requests


def test_what_a_cast_tells(chat):
    """LOOM-7, PROD-3: a cast says how it ended, after how much, and where it is recorded."""
    spell = chat([{**done(42), "usage": {"prompt_tokens": 7, "completion_tokens": 3}}])
    cast = spell.cast("go")
    assert (cast.result, cast.terminated, cast.truncated, cast.reason) == (42, True, False, "done")
    assert (cast.turns, cast.entities, cast.tree_turns, cast.max_depth) == (1, 1, 1, 0)
    assert cast.usage.total_tokens == 10
    assert cast.summary is None
    assert [turn.terminated for turn in cast.thread] == [True]
    assert repr(cast) == f"<Cast of {cast.entity_id}: terminated after 1 turns: int: 42>"


def test_truncated(chat):
    """LOOP-4: a truncated cast has no result, but a reason and a summary."""
    cast = chat([echo("a"), echo("b")], "echo", wards=[{"max_turns": 2}]).cast("count")
    assert (cast.result, cast.terminated, cast.truncated) == (None, False, True)
    assert (cast.reason, cast.turns) == ("max_turns", 2)
    assert cast.summary == (
        "Stopped by max_turns after 2 turns; called: echo 2 times; last observed: b"
    )
    assert cast.thread.end.summary == cast.summary
    assert "truncated by max_turns" in repr(cast)


@pytest.mark.parametrize(
    ("reply", "kind", "told"),
    [
        ({"error": {"status": 401, "message": "no such key"}}, ProviderError, "answered 401"),
        (
            {"content": None, "tool_calls": None},
            MalformedReply,
            "llm returned neither content nor tool_calls",
        ),
        (
            {"tool_calls": [{"id": "a", "gate": "done"}, {"id": "a", "gate": "done"}]},
            MalformedReply,
            "duplicate tool call ID",
        ),
        (
            {"tool_result": {"tool_call_id": "call_2", "content": "x"}},
            MalformedReply,
            "tool result without matching tool call",
        ),
    ],
)
def test_a_model_that_fails(chat, reply, kind, told):
    """LLM-3, LLM-4, LLM-7: what is wrong with a model is the cast's error, and on record."""
    spell = chat([reply])
    with pytest.raises(kind, match=told):
        spell.cast("go")
    (entity,) = spell.loom.entities.values()
    assert entity.outcome == "failed"
    assert told in entity.reason


def test_an_empty_script(chat):
    """LLM-1: a script that is used up fails the cast."""
    with pytest.raises(ScriptExhausted):
        chat([]).cast("go")


def test_retries_are_invisible(chat):
    """PROD-2: a query that is repeated is one turn."""
    replies = [{"error": {"status": 429, "message": "rate limited"}}, done("ok")]
    cast = chat(replies, retry=Retry(base_s=0)).cast("go")
    assert (cast.result, cast.turns, cast.loom.turn_count) == ("ok", 1, 1)


def test_result_type(chat):
    """CIRCLE-8: done checks the answer against the circle's type, and tells what is wrong."""

    class Report(BaseModel):
        title: str
        count: int

    spell = chat(
        [done({"title": "x"}), {"content": "just text"}, done({"title": "x", "count": 2})],
        result=Report,
    )
    cast = spell.cast("go")
    assert cast.result == Report(title="x", count=2)
    told = [turn.observation for turn in cast.thread]
    assert [one.is_error for one in told] == [True, True, False]
    assert "count" in told[0].text
    assert "does not fit" in told[1].text


def test_a_closed_loom(chat, tmp_path):
    """LOOM-1: what can't be recorded is not done."""
    loom = Loom(tmp_path / "run")
    loom.close()
    spell = chat([done("ok")], loom=loom)
    with pytest.raises(LoomError):
        spell.cast("go")
    assert not spell.llm.requests


# -- summoning ---------------------------------------------------------------------------------


def test_a_summoned_entity_goes_on(chat):
    """ENTITY-5: it persists, takes further intents, and its state adds up."""
    spell = chat([echo("a"), done("first done"), done("second done")], "echo")
    with spell.summon() as entity:
        first, second = entity.send("first task"), entity.send("second task")
    assert (first.result, second.result) == ("first done", "second done")
    assert first.entity_id == second.entity_id == entity.entity_id
    assert (first.turns, second.turns) == (2, 1)
    texts = [message.content for message in spell.llm.requests[-1].messages]
    assert texts == ["first task", None, "a", None, "first done", "second task"]
    assert [turn.turn for turn in second.thread] == [1, 2, 3]


def test_code_state_lasts_from_intent_to_intent(code):
    """ENTITY-5, MEDIUM-3: variables are there for the next intent; context is told anew."""
    spell = code([{"code": "x = 40\ndone(context)"}, {"code": "done(x + context)"}])
    with spell.summon() as entity:
        assert entity.send("keep").result is None
        assert entity.send("add", context=2).result == 42
    assert "`context` now holds int: 2" in spell.llm.requests[-1].messages[-1].content


def test_a_context_stays_until_another_comes(code):
    """ENTITY-5: an intent without a context leaves the one before in place."""
    spell = code([{"code": "done(context)"}] * 2)
    with spell.summon() as entity:
        assert entity.send("read", context=[1]).result == [1]
        assert entity.send("again").result == [1]


def test_max_turns_counts_each_cast(chat):
    """LOOP-4: max_turns counts per cast."""
    spell = chat([echo("a"), done(1), echo("b"), done(2)], "echo", wards=[{"max_turns": 2}])
    with spell.summon() as entity:
        assert [entity.send("one").result, entity.send("two").result] == [1, 2]


def test_skipped_calls_are_answered(chat):
    """LOOP-3: when it goes on, a call after done is presented with the result ``skipped``."""
    calls = [
        {"id": "a", "gate": "done", "args": {"answer": 1}},
        {"id": "b", "gate": "echo", "args": {"text": "after"}},
    ]
    spell = chat([{"tool_calls": calls}, done(2)], "echo")
    with spell.summon() as entity:
        first = entity.send("one")
        entity.send("two")
    results = [one for one in spell.llm.requests[-1].messages if one.role == "tool"]
    assert [(one.tool_call_id, one.content) for one in results] == [("a", "1"), ("b", "skipped")]
    assert first.thread[0].gate_calls == ["done"]


def test_it_goes_on_after_a_model_that_failed(chat):
    """ENTITY-5: a failed query leaves no half turn behind."""
    spell = chat([echo("a"), {"error": {"status": 400, "message": "no"}}, done("ok")], "echo")
    with spell.summon() as entity:
        with pytest.raises(ProviderError):
            entity.send("first")
        assert entity.send("second").result == "ok"
    roles = [message.role for message in spell.llm.requests[-1].messages]
    assert roles == ["user", "assistant", "tool", "user"]
    ends = [record for _, _, record in spell.loom.records() if isinstance(record, EndRecord)]
    assert [end.outcome for end in ends] == ["failed", "terminated"]


def test_it_goes_on_after_a_turn_that_was_cut_off(chat):
    """LLM-7, LOOP-1: a turn that a time limit cut off is told of, each of its calls answered."""

    @gate
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    calls = [{"gate": "echo", "args": {"text": "kept"}}, {"gate": "hang"}]
    spell = chat([{"tool_calls": calls}, done("ok")], "echo", hang, wards=[{"timeout_s": 0.5}])
    with spell.summon() as entity:
        first = entity.send("one")
        second = entity.send("two")
    assert (first.reason, second.result) == ("timeout_s", "ok")
    messages = spell.llm.requests[-1].messages
    assert [one.role for one in messages] == ["user", "assistant", "tool", "tool", "user"]
    assert "kept" in messages[2].content
    turn = second.thread[0]
    assert (turn.state, turn.gate_calls) == ("kept", ["echo", "hang"])
    assert [call.is_error for call in turn.observation.records] == [False, True]


def test_two_summoned_entities_share_nothing(code):
    """ENTITY-6: summoning twice gives two independent entities."""
    spell = code([{"code": "x = 1\ndone(1)"}, {"code": "done('x' in globals())"}])
    with spell.summon() as one, spell.summon() as other:
        one.send("set")
        assert other.send("look").result is False
        assert one.entity_id != other.entity_id


def test_an_id_of_the_caller_s(chat):
    """ENTITY-2: an id can be given; one that is taken or won't do is refused."""
    spell = chat([done(1)] * 2)
    with spell.summon(entity_id="auditor-1") as entity:
        assert entity.send("go").entity_id == "auditor-1"
    with pytest.raises(CantripError, match="there is an entity 'auditor-1' already"):
        spell.summon(entity_id="auditor-1")
    for bad in ("", "a.b", "a b", "x" * 65):
        with pytest.raises(CantripError, match="an entity's id is 1 to 64 letters"):
            spell.summon(entity_id=bad)


def test_two_of_one_id(chat):
    """ENTITY-2: of two that were summoned under one id, the second to begin is refused."""
    spell = chat([done(1)] * 2)
    with spell.summon(entity_id="x") as one, spell.summon(entity_id="x") as other:
        one.send("go")
        with pytest.raises(LoomError, match="there is an entity 'x' in the loom already"):
            other.send("go")
    assert len(spell.loom.entities) == 1


def test_a_closed_entity(chat, code):
    """ENTITY-4: an entity that was closed takes no further intent; its thread stays."""
    for spell in (chat([done(1)] * 2), code([{"code": "done(1)"}] * 2)):
        with spell.summon() as entity:
            thread = entity.send("go").thread
        with pytest.raises(CantripError, match="this entity is closed"):
            entity.send("again")
        assert thread.result == 1


def test_one_intent_at_a_time(chat):
    """ENTITY-5: an entity that is at work refuses a second intent."""

    async def main():
        begun, go_on = anyio.Event(), anyio.Event()

        @gate
        async def wait() -> None:
            """Wait."""
            begun.set()
            await go_on.wait()

        spell = chat([{"tool_calls": [{"gate": "wait"}]}, done(1)], wait)
        async with spell.summon() as entity, anyio.create_task_group() as group:
            group.start_soon(entity.asend, "first")
            await begun.wait()
            with pytest.raises(CantripError, match="at work on another intent"):
                await entity.asend("second")
            go_on.set()
        assert spell.loom.utterance_count == 2

    anyio.run(main)


# -- fronts ------------------------------------------------------------------------------------


def test_streaming(chat):
    """PROD-1: a stream is the cast as its events, the last of them the final response."""

    async def main():
        spell = chat([echo("a"), done("b")], "echo")
        return [event async for event in spell.stream("go")]

    events = anyio.run(main)
    assert [type(event).__name__ for event in events][-2:] == ["EntityEnded", "FinalResponse"]
    assert isinstance(events[-1], FinalResponse)
    assert "b" in events[-1].text


def test_a_stream_raises_what_the_cast_raises(chat):
    """PROD-1: a model's failure comes up where the events are read, after the end's event."""

    async def main():
        seen = []

        async def read():
            async for event in chat([]).stream("go"):
                seen.append(event)

        with pytest.raises(ScriptExhausted):
            await read()
        return seen

    seen = anyio.run(main)
    assert isinstance(seen[-1], EntityEnded)
    assert not any(isinstance(event, FinalResponse) for event in seen)


def test_inside_a_running_loop(chat):
    """PROD-1: the blocking face can't be used inside a running loop, and names what can."""
    spell = chat([done(1)])

    async def main():
        with pytest.raises(RuntimeFault, match=r"use `await cantrip\.acast\(\.\.\.\)`"):
            spell.cast("go")
        with pytest.raises(RuntimeFault, match=r"use `await entity\.asend\(\.\.\.\)`"):
            spell.summon().send("go")
        return await spell.acast("go")

    assert asyncio.run(main()).result == 1


def test_many_threads(code):
    """CANTRIP-2: threads may cast one cantrip at the same time."""
    spell = code({"": [{"code": "done(context * 2)"}]})
    results: dict[int, int] = {}

    def work(n: int) -> None:
        results[n] = spell.cast("double", context=n).result

    threads = [threading.Thread(target=work, args=(n,)) for n in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert results == {n: 2 * n for n in range(6)}
    assert len(spell.loom.entities) == 6


def test_an_llm_by_its_name(monkeypatch):
    """COMP-7: wherever a model is wanted, its name will do."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-test")
    circle = Circle(gates=["done"], wards=TURNS)
    spell = Cantrip(
        llm="openai:gpt-5.1", circle=circle, child_llm="openai:a", llms={"b": "openai:b"}
    )
    names = [spell.llm.name, spell.child_llm.name, spell.llms["b"].name]
    assert names == ["openai:gpt-5.1", "openai:a", "openai:b"]


def test_a_null_prompt(chat):
    """CANTRIP-2: without a system prompt the first message is the intent."""
    spell = chat([done("ok")], identity=Identity(system_prompt=None))
    assert spell.cast("minimal test").result == "ok"
    first = spell.llm.requests[0].messages[0]
    assert (first.role, first.content) == ("user", "minimal test")


def test_the_models_of_a_cantrip(chat):
    """COMP-7: they are fixed once it is made, and each is closed once with it."""
    closed = []

    class Closing(ScriptedLLM):
        async def aclose(self):
            closed.append(self.name)

    a, b, c = (Closing([{"content": "ok"}], name) for name in "abc")
    spell = chat(a, child_llm=b, llms={"one": c, "two": a})
    with pytest.raises(TypeError, match="frozen"):
        spell.llms["three"] = a
    spell.close()
    assert closed == ["a", "b", "c"]
    assert spell.cast("go").result == "ok"


def test_a_cantrip_in_a_with_statement_gives_up_its_models(chat):
    """What its models hold is given up at the end, and it can be cast again."""
    spell = chat([done(1), done(2), done(3)])
    given_up = []

    class Counted(ScriptedLLM):
        async def aclose(self):
            given_up.append(self)

    async def main():
        async with spell.model_copy(update={"llm": Counted([done(2)])}) as other:
            return (await other.acast("go")).result

    with spell.model_copy(update={"llm": Counted([done(1)])}) as one:
        assert one.cast("go").result == 1
    assert anyio.run(main) == 2
    assert len(given_up) == 2
