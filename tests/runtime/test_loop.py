"""The loop in a conversation circle: what is sent, what is called, what ends it."""

import asyncio
import contextlib
import json
import sys
import threading

import anyio
import pytest
from circlet import LLM, Gate, gate
from circlet.runtime.errors import LLMError
from circlet.runtime.llm import Reply, ToolCall, check_linkage
from circlet.runtime.loom import EndRecord
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

FALSE = [{"max_turns": 10}, {"require_done_tool": True}]


def call(name, **args):
    return {"gate": name, "args": args}


def calls(*each):
    return {"tool_calls": list(each)}


def done(answer):
    return calls(call("done", answer=answer))


def echo(text):
    return calls(call("echo", text=text))


def texts(request):
    return [message.content for message in request.messages]


class Fixed(LLM):
    """Answers with the replies that it is given, one after the other."""

    name = "fixed"

    def __init__(self, *replies):
        self.replies = list(replies)
        self.requests = []

    async def query(self, request):
        self.requests.append(request)
        return self.replies.pop(0)


# -- what is sent ------------------------------------------------------------------------------


def test_the_intent_is_the_first_user_message(chat):
    """INTENT-2: after the system prompt comes the intent, and nothing else."""
    spell = chat([done("ok")], system="You are helpful")
    spell.cast("my task")
    (request,) = spell.llm.requests
    assert [message.neutral() for message in request.messages] == [
        {"role": "system", "content": "You are helpful"},
        {"role": "user", "content": "my task"},
    ]


def test_every_query_carries_all_turns(chat):
    """LOOP-5, LLM-1: one message at first, then each turn's two more; nothing is left out."""
    spell = chat([echo("first"), done("ok")], "echo")
    spell.cast("test context growth")
    first, second = spell.llm.requests
    assert len(first.messages) == 1
    assert [message.role for message in second.messages] == ["user", "assistant", "tool"]
    assert second.messages[:1] == first.messages


def test_the_intent_never_changes(chat):
    """INTENT-3: the intent is in every query, as it was given."""
    spell = chat([echo("new intent please"), done("ok")], "echo")
    spell.cast("original intent")
    assert [texts(request)[0] for request in spell.llm.requests] == ["original intent"] * 2


def test_many_messages(chat):
    """LLM-2: any number of messages is sent."""
    spell = chat(
        [*[echo(str(n)) for n in range(60)], done("ok")], "echo", wards=[{"max_turns": 99}]
    )
    assert spell.cast("go").turns == 61
    assert len(spell.llm.requests[-1].messages) == 1 + 2 * 60


def test_gates_are_tools(chat):
    """IDENTITY-3, CIRCLE-11: the gates go with every query, in the circle's order."""
    spell = chat([echo("1"), done("ok")], "echo", Gate("any", lambda **_: 1))
    spell.cast("go")
    for request in spell.llm.requests:
        assert [tool.name for tool in request.tools] == ["done", "echo", "any"]
        assert all(tool.parameters["type"] == "object" for tool in request.tools)


def test_context_in_a_conversation(chat):
    """COMP-4: the context is part of the user message, as JSON where JSON holds it."""
    spell = chat([done("ok")] * 3)
    for context in ({"a": [1, None]}, "plain text", {1, 2}):
        spell.cast("look", context=context)
    shown = [texts(request)[0] for request in spell.llm.requests]
    assert shown[0] == 'look\n\nContext:\n{"a": [1, null]}'
    assert shown[1] == "look\n\nContext:\nplain text"
    assert "{1, 2}" in shown[2]


# -- what is called ----------------------------------------------------------------------------


def test_calls_run_in_order(chat):
    """CIRCLE-7, LOOM-9: several calls are one observation with one entry each, in order."""
    spell = chat(
        [calls(call("echo", text="first"), call("echo", text="second"), call("done", answer="ok"))],
        "echo",
    )
    (turn,) = spell.cast("go").thread
    assert turn.gate_calls == ["echo", "echo", "done"]
    assert [record.result for record in turn.observation.records] == ["first", "second", "ok"]
    assert turn.observation.records[0].arguments == '{"text": "first"}'
    assert turn.metadata.duration_ms > 0


def test_a_gate_is_waited_for(chat):
    """CIRCLE-3, CIRCLE-4: the next query has the result."""
    order = []

    @gate
    def slow() -> str:
        """Take a while."""
        order.append("slow")
        return "completed"

    spell = chat([calls(call("slow"), call("echo", text="x")), done("ok")], slow, "echo")
    spell.cast("go")
    assert "completed" in texts(spell.llm.requests[1])
    assert order == ["slow"]


def test_an_async_gate(chat):
    """CIRCLE-3: an async gate is awaited."""

    @gate
    async def fetch_it(n: int) -> int:
        """Later."""
        await anyio.lowlevel.checkpoint()
        return n + 1

    spell = chat([calls(call("fetch_it", n=1)), done("ok")], fetch_it)
    spell.cast("go")
    assert texts(spell.llm.requests[1])[-1] == "2"


def test_a_failing_gate(chat):
    """CIRCLE-5: an error is an observation, and the loop goes on."""

    @gate
    def failing() -> None:
        """Fail."""
        raise RuntimeError("something went wrong")

    cast = chat([calls(call("failing")), done("recovered")], failing).cast("go")
    assert (cast.result, cast.turns) == ("recovered", 2)
    told = cast.thread[0].observation
    assert told.is_error
    assert told.text == "Error: something went wrong"
    assert cast.thread[0].calls[0].is_error


def test_a_gate_that_isn_t_there(chat):
    """CIRCLE-5, CIRCLE-6: a call of no gate, or of none of the circle's, is an error, on record."""
    names = ["nope", "call_entity", "_private", "class", "with space", "x" * 5_000]
    cast = chat([calls(*[call(name) for name in names]), done("ok")]).cast("go")
    told = cast.thread[0].observation
    assert [record.is_error for record in told.records] == [True] * len(names)
    assert [record.gate[:20] for record in told.records] == [name[:20] for name in names]
    assert "there is no gate 'nope'; use: done" in told.text


def test_a_gate_without_an_answer(chat):
    """CIRCLE-5: a gate has its own time limit, and a hung one is an error observation."""

    @gate(timeout_s=0.05)
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    cast = chat([calls(call("hang")), done("ok")], hang).cast("go")
    assert cast.thread[0].observation.text == "Error: hang: no answer within 0.05 s"
    assert cast.result == "ok"


def test_a_hung_sync_gate_holds_nothing_up(chat):
    """CIRCLE-5: a sync gate that hangs is left to itself when its time is over."""
    release = threading.Event()

    @gate(timeout_s=0.05)
    def hang() -> None:
        """Hang until the test is over."""
        release.wait(30)

    cast = chat([calls(call("hang")), done("ok")], hang).cast("go")
    assert not release.is_set()
    release.set()
    assert cast.result == "ok"


@pytest.mark.parametrize("is_async", [False, True])
def test_a_gate_that_exits(chat, is_async):
    """CIRCLE-5: a gate that calls sys.exit fails like any other; the runtime lives."""

    def leave() -> None:
        """Exit."""
        sys.exit("bye")

    async def leave_async() -> None:
        """Exit."""
        leave()

    exits = gate(name="leave")(leave_async if is_async else leave)
    cast = chat([calls(call("leave")), done("alive")], exits).cast("go")
    assert cast.thread[0].observation.text == "Error: leave: the gate tried to exit: bye"
    assert cast.result == "alive"


def test_a_gate_that_casts(chat):
    """CANTRIP-2: a sync gate may cast another cantrip with the blocking face."""
    other = chat([done("inner")])

    @gate
    def ask(intent: str) -> str:
        """Ask somebody else."""
        return other.cast(intent).result

    spell = chat([calls(call("ask", intent="x")), done("outer")], ask)
    assert spell.cast("go").thread[0].observation.text == "inner"


def test_arguments_that_are_no_json(chat):
    """CIRCLE-5: a call whose arguments can't be read is an error observation."""
    bad = ToolCall("a", "echo", {}, malformed='{"text": ')
    spell = chat(Fixed(Reply(tool_calls=(bad,)), Reply(content="ok")), "echo")
    cast = spell.cast("go")
    assert cast.thread[0].observation.text == (
        'Error: echo: the arguments can\'t be read as JSON: {"text": '
    )
    assert cast.thread[0].calls[0].is_error


@pytest.mark.parametrize("depth", [99, 101, 600, 900])
def test_arguments_that_nest_deep(chat, depth):
    """CIRCLE-5: arguments too deep for the loom are an error observation, not the end."""
    value = "x"
    for _ in range(depth):
        value = [value]
    spell = chat(
        Fixed(Reply(tool_calls=(ToolCall("a", "echo", {"text": value}),)), Reply(content="ok")),
        "echo",
    )
    cast = spell.cast("go")
    assert cast.result == "ok"
    assert cast.thread[0].observation.is_error == (depth > 98)


def test_half_characters(chat):
    """LOOM-1: half a surrogate pair in a text, an argument or a result ends nothing."""
    half = "a\ud83d"
    replies = [{"content": half, **echo(half)}, {"content": half}]
    cast = chat(replies, "echo", system=half).cast(f"go {half}")
    assert cast.result == half
    assert cast.thread[0].utterance.content == half
    assert cast.thread[0].observation.text == half


def test_an_ephemeral_result(chat):
    """PROD-5: the messages have a reference with name, size, hash and turn; the loom the whole."""
    big = "very large content here..."
    spell = chat([calls(call("big")), done("ok")], Gate("big", lambda: big, ephemeral=True))
    cast = spell.cast("go")
    told = texts(spell.llm.requests[1])[-1]
    assert big not in json.dumps([message.neutral() for message in spell.llm.requests[1].messages])
    assert told.startswith("[big answered ")
    assert "sha256" in told
    assert "turn 1" in told
    assert cast.thread[0].observation.records[0].result == big


def test_dependencies_are_bound_before(chat, tmp_path):
    """CIRCLE-10: a gate's root is bound when the circle is built."""
    (tmp_path / "test.txt").write_text("hello world")
    spell = chat(
        [calls(call("read", path="test.txt")), done("ok")], {"name": "read", "root": tmp_path}
    )
    assert spell.cast("go").thread[0].observation.text == "hello world"


def test_a_gate_that_is_not_complete(chat):
    """CIRCLE-10: a gate without its root builds, and fails when it is called."""
    cast = chat([calls(call("read", path="x")), done("ok")], "read").cast("go")
    assert "read: no root is configured" in cast.thread[0].observation.text


@pytest.mark.parametrize("count", [1, 3, 20])
def test_output_is_bounded(chat, count):
    """CIRCLE-6: max_output_chars bounds the whole observation, however many calls it tells of."""
    spell = chat(
        [calls(*[call("echo", text="y" * 5_000)] * count), done("ok")],
        "echo",
        wards=[{"max_turns": 5}, {"max_output_chars": 2_000}],
    )
    spell.cast("go")
    told = [message.content for message in spell.llm.requests[1].messages if message.role == "tool"]
    assert len(told) == count
    assert sum(map(len, told)) <= 2_000
    assert all("characters left out" in one for one in told)


# -- what ends it ------------------------------------------------------------------------------


def test_alternation(chat):
    """LOOP-1: an utterance and an observation, turn by turn."""
    cast = chat([echo("a"), done("hello")], "echo").cast("say hello")
    assert [(turn.utterance is not None, turn.observation is not None) for turn in cast.thread] == [
        (True, True)
    ] * 2
    assert cast.terminated


def test_done_stops_at_once(chat):
    """LOOP-3: calls after done are skipped, and not recorded as calls."""
    replies = [
        calls(
            call("echo", text="before"), call("done", answer="finished"), call("echo", text="after")
        )
    ]
    cast = chat(replies, "echo").cast("go")
    assert cast.result == "finished"
    assert cast.thread[0].gate_calls == ["echo", "done"]


@pytest.mark.parametrize("answer", [42, 1.5, "x", None, True, [1, {"a": None}], {}])
def test_done_keeps_the_type(chat, answer):
    """CIRCLE-8: the result is what done was given, None too."""
    cast = chat([done(answer)]).cast("go")
    assert cast.result == answer
    assert type(cast.result) is type(answer)
    assert cast.terminated
    assert cast.thread.result == answer


def test_a_malformed_done(chat):
    """LOOP-7: done without an answer is an error observation, and no end."""
    cast = chat([calls(call("done")), done("ok")]).cast("go")
    assert (cast.turns, cast.result) == (2, "ok")
    told = cast.thread[0].observation
    assert told.is_error
    assert "missing required" in told.text


def test_truncation_is_exact(chat):
    """LOOP-4, CIRCLE-6: max_turns stops the loop after exactly so many turns."""
    for turns in (1, 2, 3):
        cast = chat([echo(str(n)) for n in range(9)], "echo", wards=[{"max_turns": turns}]).cast(
            "go"
        )
        assert (cast.turns, cast.truncated, cast.terminated) == (turns, True, False)
        assert len(cast.thread) == turns


def test_done_on_the_last_turn(chat):
    """LOOP-4: done on the last allowed turn is terminated."""
    cast = chat([echo("a"), done("b")], "echo", wards=[{"max_turns": 2}]).cast("go")
    assert (cast.terminated, cast.truncated) == (True, False)


def test_text_ends(chat):
    """LOOP-6: text alone is the answer."""
    cast = chat([{"content": "The answer is 42"}]).cast("what is the answer?")
    assert (cast.result, cast.terminated, cast.turns) == ("The answer is 42", True, 1)


def test_text_goes_on_where_done_is_required(chat):
    """LOOP-6: with require_done_tool, text alone ends nothing."""
    spell = chat([{"content": "thinking..."}, {"content": "still..."}, done("42")], wards=FALSE)
    cast = spell.cast("what is the answer?")
    assert (cast.result, cast.turns) == ("42", 3)
    assert [message.role for message in spell.llm.requests[-1].messages] == [
        "user",
        "assistant",
        "user",
        "assistant",
        "user",
    ]


def test_text_beside_calls(chat):
    """LOOP-6: text beside calls is no answer, and stays in the context."""
    spell = chat([{"content": "let me see", **echo("a")}, done("b")], "echo")
    assert spell.cast("go").result == "b"
    assert "let me see" in texts(spell.llm.requests[1])


def test_a_reply_that_was_cut_off(chat):
    """LOOP-6: text that stopped at its token limit is not taken for an answer."""
    spell = chat(Fixed(Reply(content="The answer is", stop_reason="length"), Reply(content="42")))
    cast = spell.cast("go")
    assert (cast.result, cast.turns) == ("42", 2)
    assert "cut off" in cast.thread[0].observation.text


def test_the_wall_clock(chat):
    """LOOP-4: timeout_s ends a cast wherever it is, a model that never answers included."""

    class Silent(LLM):
        name = "silent"

        async def query(self, request):
            await anyio.sleep_forever()

    cast = chat(Silent(), wards=[{"timeout_s": 0.1}]).cast("go")
    assert (cast.truncated, cast.reason, cast.turns) == (True, "timeout_s", 0)
    assert cast.loom.entities[cast.entity_id].outcome == "truncated"


def test_normalised_replies(chat):
    """LLM-6: a provider's raw response is read to the contract."""
    raw = {
        "choices": [{"message": {"content": "hello", "tool_calls": []}, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
    cast = chat([{"raw_response": raw}]).cast("go")
    assert cast.result == "hello"
    assert (cast.usage.prompt_tokens, cast.usage.completion_tokens) == (10, 5)


WORDS = st.sampled_from(
    [
        {"content": "text"},
        {"content": "both", **echo("a")},
        echo("a"),
        calls(call("echo", text="a"), call("nope"), call("done")),
        calls(call("done", answer=1), call("echo", text="skipped"), call("done", answer=2)),
        calls(call("failing")),
        calls(call("hang"), call("echo", text="after")),
        {"error": {"status": 400, "message": "no"}},
        {"content": None},
    ]
)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.differing_executors])
@given(script=st.lists(WORDS, max_size=12), turns=st.integers(1, 4), strict=st.booleans())
def test_whatever_a_model_says_the_context_is_sound(chat, script, turns, strict):
    """LLM-7, LOOP-1: however its casts end, each call is answered once, right after it."""

    @gate(timeout_s=0.01)
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    def fail() -> None:
        """Fail."""
        raise LookupError("no")

    wards = [{"max_turns": turns}, {"require_done_tool": strict}]
    spell = chat(script, "echo", hang, gate(name="failing")(fail), wards=wards)
    with spell.summon() as entity:
        for intent in ("one", "two", "three"):
            with contextlib.suppress(LLMError):
                assert entity.send(intent).turns <= turns
    for request in spell.llm.requests:
        check_linkage(request.messages)
        assert request.messages[0].content == "one"
    (recorded,) = spell.loom.entities.values()
    ends = [one for _, _, one in spell.loom.records() if isinstance(one, EndRecord)]
    assert len(ends) == 3
    assert len(recorded.turns) == recorded.utterance_count
    assert [turn.sequence for turn in recorded.turns] == [turn.turn for turn in recorded.turns]


# -- what is recorded --------------------------------------------------------------------------


def test_turns_are_recorded(chat):
    """LOOM-1, LOOM-2: each turn has its place, its calls and its parent."""
    cast = chat([echo("1"), echo("2"), done("ok")], "echo").cast("go")
    turns = cast.loom.turns
    assert [(turn.sequence, turn.gate_calls) for turn in turns] == [
        (1, ["echo"]),
        (2, ["echo"]),
        (3, ["done"]),
    ]
    assert [turn.parent_id for turn in turns] == [None, turns[0].id, turns[1].id]
    assert [turn.terminated for turn in turns] == [False, False, True]


def test_a_turn_is_recorded_before_the_next_begins(chat):
    """LOOM-1: when the model is asked, all turns before are in the loom, and calls' beginnings."""
    seen = []

    class Looking(Fixed):
        async def query(self, request):
            seen.append(spell.loom.turn_count)
            return await super().query(request)

    @gate
    def look() -> int:
        """Count what the loom has of this call."""
        return sum(type(record).__name__ == "CallRecord" for _, _, record in spell.loom.records())

    replies = [Reply(tool_calls=(ToolCall("a", "look", {}),)), Reply(content="ok")]
    spell = chat(Looking(*replies), look)
    cast = spell.cast("go")
    assert seen == [0, 1]
    assert cast.thread[0].observation.text == "1"


def test_usage_and_time(chat):
    """LOOM-9, PROD-3: tokens and time stand on each turn, tokens add up."""
    usages = [
        {"prompt_tokens": 100, "completion_tokens": 50},
        {"prompt_tokens": 200, "completion_tokens": 30},
    ]
    replies = [{**echo("1"), "usage": usages[0]}, {**done("ok"), "usage": usages[1]}]
    cast = chat(replies, "echo").cast("go")
    assert (cast.usage.prompt_tokens, cast.usage.completion_tokens) == (300, 80)
    assert cast.usage.total_tokens == 380
    for turn, usage in zip(cast.thread, usages, strict=True):
        assert turn.metadata.tokens_prompt == usage["prompt_tokens"]
        assert turn.metadata.tokens_completion == usage["completion_tokens"]
        assert turn.metadata.duration_ms > 0
        assert turn.metadata.timestamp


def test_two_casts_in_one_loom(chat):
    """LOOM-7: terminated and truncated are told apart, thread by thread."""
    spell = chat([done("ok"), echo("1")], "echo", wards=[{"max_turns": 1}])
    spell.cast("will terminate")
    spell.cast("will be truncated")
    ends = [(thread[-1].terminated, thread[-1].truncated) for thread in spell.loom.threads()]
    assert ends == [(True, False), (False, True)]


@pytest.mark.parametrize("is_async", [False, True])
@pytest.mark.parametrize("kind", [KeyboardInterrupt, GeneratorExit, asyncio.CancelledError])
def test_a_gate_that_raises_what_ends_programs(chat, is_async, kind):
    """CIRCLE-5: what would end a program, or pass for a cancellation, is an observation."""

    def odd() -> None:
        """Raise it."""
        raise kind

    async def odd_async() -> None:
        """Raise it."""
        odd()

    raises = gate(name="odd")(odd_async if is_async else odd)
    cast = chat([calls(call("odd")), done("alive")], raises).cast("go")
    assert cast.thread[0].observation.text == f"Error: odd: the gate raised {kind.__name__}"
    assert cast.result == "alive"


def test_an_error_that_can_not_be_told(chat):
    """CIRCLE-5: an error whose own text fails is told by its class."""

    class Mute(Exception):
        def __str__(self) -> str:
            raise RuntimeError("no words")

    @gate
    def odd() -> None:
        """Raise it."""
        raise Mute

    cast = chat([calls(call("odd")), done("alive")], odd).cast("go")
    assert cast.thread[0].observation.text == "Error: Mute"


def test_a_node_tells_of_so_many_calls(chat):
    """LOOM-1: all calls are recorded; the observation tells of the first 200 and the number."""
    many = [call("echo", text=str(n)) for n in range(250)]
    cast = chat([calls(*many), done("ok")], "echo").cast("go")
    records = cast.thread[0].observation.records
    assert [record.arguments for record in records[:2]] == ['{"text": "0"}', '{"text": "1"}']
    assert (len(records), records[-1].result) == (201, "50 more calls")
    assert len(cast.thread[0].calls) == 250
