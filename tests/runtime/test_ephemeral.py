"""Ephemeral gates: what they answer is kept in the loom and never enters the messages."""

import hashlib

import anyio
import pytest
from circlet import Folding, Gate, Limits, ScriptedLLM
from circlet.sandbox.wire import dumps, seal
from hypothesis import given, settings
from hypothesis import strategies as st

SECRET = "very large content here " * 400


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def run(source):
    return {"code": source}


def said(spell):
    """Everything that the model was ever told, query by query."""
    return [
        "\n".join(message.content or "" for message in request.messages)
        for request in spell.llm.requests
    ]


def big(answer=SECRET, **fields):
    return Gate("big", lambda: answer, ephemeral=True, **fields)


def reference(answer, turn):
    digest = hashlib.sha256(seal(answer).data).hexdigest()[:16]
    return f"[big answered {len(dumps(answer)):,} bytes, sha256 {digest}, in turn {turn}]"


@pytest.mark.parametrize("answer", [SECRET, {"rows": [SECRET]}, "tiny", 7, None, b"\x00" * 5000])
def test_a_conversation_is_told_a_reference(chat, answer):
    """PROD-5: the very next query has name, size, hash and turn, and no preview, of any type."""
    spell = chat([call("big"), call("done", answer="ok")], big(answer))
    cast = spell.cast("go")
    assert spell.llm.requests[1].messages[-1].content == reference(answer, 1)
    assert cast.loom.turns[0].observation.text == reference(answer, 1)


def test_later_queries_have_the_reference_too(chat):
    """PROD-5: the result never comes in later either, folded or not."""
    script = [call("big"), *[call("echo", text="x")] * 3, call("done", answer="ok")]
    for folding in (Folding(), Folding(after_turns=2)):
        spell = chat(script, big(), "echo", folding=folding)
        spell.cast("go")
        assert not any("very large" in text for text in said(spell))
        assert all("sha256" in text for text in said(spell)[1:3])


def test_the_loom_keeps_it_whole(chat):
    """PROD-5: in the call's own record; the observation's list of calls has its beginning."""
    cast = chat([call("big"), call("done", answer="ok")], big()).cast("go")
    (record,) = cast.loom.turns[0].calls
    assert record.result == dumps(SECRET)
    assert "very large content here" in cast.loom.turns[0].observation.records[0].result


def test_code_gets_the_value(code):
    """PROD-5: the program gets the value itself; the model is told of it what a conversation is."""
    spell = code([run("text = big()\nlen(text)"), run("done(text[:4])")], big())
    cast = spell.cast("go")
    assert cast.result == "very"
    assert spell.llm.requests[1].messages[-1].content == f"{len(SECRET)}\n{reference(SECRET, 1)}"
    assert not any("very large" in text for text in said(spell)[:2])


def test_what_a_program_prints_is_its_own_affair(code):
    """PROD-5: code may show what it likes of the value; the capability text says so of the gate."""
    spell = code([run("print(big()[:10])"), run("done(1)")], big())
    spell.cast("go")
    capabilities, *_ = spell.llm.requests[0].messages
    assert "You are not shown its answer" in capabilities.content
    assert spell.llm.requests[1].messages[-1].content.startswith("very large\n[big answered")


def test_many_answers_of_one_program(code):
    """Viewport: a program that asks a thousand times is told of ten, and how many more."""
    spell = code([run("for n in range(1000): big()"), run("done(1)")], big("x" * 100))
    spell.cast("go")
    told = spell.llm.requests[1].messages[-1].content
    assert told.count("[big answered") == 10
    assert "990 more such answers" in told


def test_a_turn_that_is_undone(code):
    """PROD-5: what is told of the calls of a turn that was rolled back has no result in it."""
    spell = code(
        [run("text = big()\nsum(range(10 ** 12))"), run("done('alive')")],
        big(),
        wards=[{"max_turns": 5, "max_eval_ms": 300}],
    )
    cast = spell.cast("go")
    assert cast.result == "alive"
    told = said(spell)[1]
    assert "very large" not in told
    assert "big() gave [big answered" in told


def test_a_turn_that_is_cut_off(code):
    """PROD-5: neither has what is told of a turn that a ward cut off in its middle."""

    async def hang():
        await anyio.sleep_forever()

    script = [run("big(); hang()"), run("done('after')")]
    spell = code(
        script,
        big(),
        Gate("hang", hang, timeout_s=None),
        wards=[{"max_turns": 5, "timeout_s": 0.5}],
    )
    with spell.summon() as entity:
        first = entity.send("one")
        assert first.reason == "timeout_s"
        assert "very large" not in first.summary
        assert entity.send("two").result == "after"
    told = said(spell)[1]
    assert "very large" not in told
    assert "big was called with {}: [big answered" in told


def test_a_direct_call_in_a_code_circle(code):
    """PROD-5: a gate that the model calls itself there answers with the reference as well."""
    spell = code([call("big"), run("done(1)")], big())
    spell.cast("go")
    assert spell.llm.requests[1].messages[-1].content == reference(SECRET, 1)


def test_an_error_is_told(chat):
    """CIRCLE-5: what goes wrong in an ephemeral gate is no result, and the model has to know it."""

    def fail():
        raise ValueError("no such file")

    spell = chat([call("big"), call("done", answer="ok")], Gate("big", fail, ephemeral=True))
    spell.cast("go")
    assert spell.llm.requests[1].messages[-1].content == "Error: no such file"


def test_what_a_parent_gets_of_a_truncated_child(deep):
    """PROD-5: the part that a truncated child has to show has no ephemeral result in it."""
    child = ScriptedLLM([call("big")])
    source = (
        "r = call_entity({'intent': 'x', 'medium': 'conversation', 'wards': [{'max_turns': 1}]})\n"
        "done([r.partial, r.summary])"
    )
    cast = deep([run(source)], big(), child_llm=child).cast("go")
    assert "very large" not in str(cast.result)
    assert cast.result[0] == reference(SECRET, 1)


def test_a_fork_is_told_the_same(code):
    """LOOM-13, PROD-5: replay gives the program the recorded value, and the model the reference."""
    answers = iter([SECRET])
    gate = Gate("big", lambda: next(answers), ephemeral=True)
    spell = code([run("text = big()"), run("done(1)")], gate)
    cast = spell.cast("go")
    other = ScriptedLLM([run("done(len(text))")])
    fork = spell.fork(cast.thread, from_turn=1, intent="again", llm=other)
    assert (fork.result, fork.difference) == (len(SECRET), None)
    assert not any(
        "very large" in message.content for message in other.requests[0].messages if message.content
    )


@settings(max_examples=15, deadline=None)
@given(st.integers(0, 60_000), st.integers(200, 3_000))
def test_references_leave_room(code, printed, limit):
    """Viewport: with references too, an observation keeps within max_output_chars."""
    spell = code(
        [run(f"for n in range(12): big()\nprint('p' * {printed})"), run("done(1)")],
        big("x" * 100),
        wards=[{"max_turns": 5, "max_output_chars": limit}],
    )
    spell.cast("go")
    assert len(spell.llm.requests[1].messages[-1].content) <= limit + Limits().output_chars // 100
