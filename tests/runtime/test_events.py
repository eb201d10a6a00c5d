"""Events: what is told while a run goes on, and in which order."""

import re

import anyio
import pytest
from circlet import Cantrip, Circle, Retry, ScriptedLLM
from circlet.runtime import events as told


def kinds(events):
    return [type(event).__name__ for event in events]


def watch(spell, intent="go"):
    seen = []
    spell.cast(intent, on_event=seen.append)
    return seen


def test_the_order_of_a_turn(chat):
    """PROD-1: step, message, thinking, text, usage, calls, the end of the step; then the end."""
    replies = [
        {
            "content": "let me see",
            "thinking": "hm",
            "tool_calls": [{"gate": "echo", "args": {"text": "a"}}],
        },
        {"tool_calls": [{"gate": "done", "args": {"answer": "b"}}]},
    ]
    seen = watch(chat(replies, "echo"))
    assert kinds(seen) == [
        "EntityStarted",
        "StepStarted",
        "MessageStarted",
        "Thinking",
        "Text",
        "MessageCompleted",
        "UsageReported",
        "ToolCalled",
        "ToolResult",
        "StepCompleted",
        "StepStarted",
        "MessageStarted",
        "MessageCompleted",
        "UsageReported",
        "ToolCalled",
        "ToolResult",
        "StepCompleted",
        "EntityEnded",
        "FinalResponse",
    ]


def test_what_they_say(chat):
    """PROD-1: events carry the texts, the ordinals and the tokens."""
    usage = {"prompt_tokens": 3, "completion_tokens": 1}
    spell = chat(
        ScriptedLLM([{"content": "the answer", "usage": usage}], name="m"), wards=[{"max_turns": 1}]
    )
    started, step, _, text, _, usage_reported, completed, ended, final = watch(spell)
    assert (started.intent, started.model, started.parent_id, started.depth) == ("go", "m", None, 0)
    assert (step.turn, text.text) == (1, "the answer")
    assert usage_reported.usage.total_tokens == usage_reported.total.total_tokens == 4
    assert (completed.turn, completed.observation, completed.is_error) == (1, "the answer", False)
    assert (ended.outcome, ended.reason) == ("terminated", "done")
    assert "the answer" in final.text


def test_a_tree_s_events(deep):
    """PROD-1, COMP-9: children's events come between their parent's call and its result."""
    replies = {
        "go": [{"code": "done(call_entity_batch(['x', 'x']))"}],
        "x": [{"code": "done(1)"}],
    }
    usage = {"prompt_tokens": 2, "completion_tokens": 0}
    seen = watch(deep(ScriptedLLM(replies, usage=usage)))
    root = seen[0].entity_id
    started = [event for event in seen if isinstance(event, told.EntityStarted)]
    assert [event.parent_id for event in started] == [None, root, root]
    assert [event.depth for event in started] == [0, 1, 1]
    called = next(n for n, event in enumerate(seen) if isinstance(event, told.ToolCalled))
    result = next(
        n
        for n, event in enumerate(seen)
        if isinstance(event, told.ToolResult) and event.entity_id == root
    )
    between = seen[called + 1 : result]
    assert {event.entity_id for event in between} == {event.entity_id for event in started[1:]}
    assert not [e for e in seen[result:] if e.entity_id != root]
    totals = [event.total.total_tokens for event in seen if isinstance(event, told.UsageReported)]
    assert totals == [2, 4, 6]


def test_one_that_was_not_started(deep):
    """COMP-9: an entity that never began has an end all the same."""
    replies = {"go": [{"code": "done(call_entity('x').reason)"}]}
    seen = watch(deep(replies, wards=[{"max_turns": 3}, {"max_entities": 0}]))
    ended = [event for event in seen if isinstance(event, told.EntityEnded)]
    assert [event.outcome for event in ended] == ["not_started", "terminated"]


def test_texts_are_bounded(code):
    """PROD-1: arguments and results are told in bounded texts."""
    seen = watch(code([{"code": "echo('x' * 100_000)\ndone('y' * 100_000)"}], "echo"))
    called = [event for event in seen if isinstance(event, told.ToolCalled)]
    results = [event for event in seen if isinstance(event, told.ToolResult)]
    assert [event.name for event in called] == ["echo", "done"]
    assert all(len(event.arguments) < 3_000 for event in called)
    assert all(len(event.text) < 3_000 for event in results)
    assert len(seen[-1].text) < 3_000


def test_a_stream_and_a_sink_tell_the_same(chat):
    """PROD-1: whichever way they are watched, the events are the same."""
    spell = chat([{"content": "a"}] * 2)

    async def stream():
        return [event async for event in spell.stream("go")]

    assert kinds(anyio.run(stream)) == kinds(watch(spell))


@pytest.mark.parametrize("error", [ValueError, SystemExit])
def test_a_sink_that_raises(chat, caplog, error):
    """PROD-1: who watches can't change what a run comes to; it is told once what went wrong."""
    told_to = []

    def sink(event):
        told_to.append(event)
        raise error("sink")

    spell = chat([{"content": "a"}])
    cast = spell.cast("go", on_event=sink)
    assert (cast.result, len(told_to)) == ("a", 1)
    assert [entity.outcome for entity in spell.loom.entities.values()] == ["terminated"]
    [record] = caplog.records
    assert (record.name, record.message[:15]) == ("circlet", "on_event raised")


def test_the_start_is_told_once_it_is_recorded(chat):
    """LOOM-1: a cast that can't tell of its start has an end on record all the same."""

    class Stop(BaseException):
        pass

    def sink(event):
        raise Stop

    spell = chat([{"content": "a"}])

    async def main():
        with pytest.raises(Stop):
            await spell.acast("go", on_event=sink)

    anyio.run(main)
    assert [entity.outcome for entity in spell.loom.entities.values()] == ["truncated"]


def test_one_call_has_one_text(chat):
    """PROD-1: an event's arguments are those that are recorded, by name."""
    calls = [{"gate": "echo", "args": {"text": "a"}}, {"gate": "nope", "args": {"b": 1}}]
    spell = chat([{"tool_calls": calls}, {"content": "ok"}], "echo")
    seen = watch(spell)
    called = [(e.name, e.arguments) for e in seen if isinstance(e, told.ToolCalled)]
    assert called == [("echo", '{"text": "a"}'), ("nope", '{"b": 1}')]


LETTERS = {
    "EntityStarted": "E",
    "StepStarted": "s",
    "MessageStarted": "m",
    "QueryRetried": "r",
    "Thinking": "h",
    "Text": "t",
    "MessageCompleted": "M",
    "UsageReported": "u",
    "ToolCalled": "c",
    "ToolResult": "a",
    "StepCompleted": "S",
    "EntityEnded": "X",
    "FinalResponse": "F",
}
LIFE = re.compile(r"E(smr*h?t?Mu(ca)*S)*X")
"""An entity's events: turns, each a message, what it took, and its calls, in that order."""


@pytest.mark.parametrize("medium", ["code", "conversation"])
def test_the_order_of_each_entity_s_events(medium):
    """PROD-1: in both media each entity's events come in one order, its children's among them."""
    requests = [{"intent": "leaf"}] * 3
    call = {
        "code": {"code": f"rs = call_entity_batch({requests!r})\necho('x')"},
        "conversation": {
            "tool_calls": [
                {"gate": "call_entity_batch", "args": {"requests": requests}},
                {"gate": "echo", "args": {"text": "x"}},
            ]
        },
    }[medium]
    finish = {"tool_calls": [{"gate": "done", "args": {"answer": "ok"}}]}
    busy = {"error": {"status": 429, "message": "busy"}}
    replies = {
        "go": [{"content": "see", "thinking": "hm", **call}, busy, busy, finish],
        "leaf": [
            {"thinking": "so", "tool_calls": [{"gate": "echo", "args": {"text": "y"}}]},
            busy,
            {"content": "leaving", **finish},
        ],
    }
    gates = ["done", "echo", "call_entity_batch"]
    circle = Circle(medium=medium, gates=gates, wards=[{"max_turns": 5}])
    spell = Cantrip(llm=ScriptedLLM(replies), circle=circle, retry=Retry(base_s=0))
    seen = watch(spell)
    lives = {}
    for event in seen[:-1]:
        lives.setdefault(event.entity_id, []).append(LETTERS[type(event).__name__])
    root, *leaves = ["".join(life) for life in lives.values()]
    assert root == "E" + "smhtMu" + "ca" * 2 + "S" + "smrrMu" + "ca" + "S" + "X"
    assert leaves == ["E" + "smhMu" + "ca" + "S" + "smrtMu" + "ca" + "S" + "X"] * 3
    assert all(LIFE.fullmatch(life) for life in (root, *leaves))
    assert kinds(seen)[-1] == "FinalResponse"


def test_a_cast_that_fails_has_an_end_and_no_response(chat):
    """PROD-1: the last event of a cast that fails is its end, with the reason."""
    seen = []
    spell = chat([{"error": {"status": 400, "message": "no such model"}}])
    with pytest.raises(Exception, match="no such model"):
        spell.cast("go", on_event=seen.append)
    assert kinds(seen) == ["EntityStarted", "StepStarted", "MessageStarted", "EntityEnded"]
    assert (seen[-1].outcome, "no such model" in seen[-1].reason) == ("failed", True)
