"""Ends, batches, secrets, replies and retries as they go wrong in the field, and their kin."""

from __future__ import annotations

import anyio
import pytest
from circlet import LLM, Retry, ScriptedLLM, Truncated, gate
from circlet.runtime import events as told
from circlet.runtime.errors import MalformedReply, ProviderError
from circlet.runtime.llm import Usage

AT_ONCE = Retry(base_s=0)
AN_HOUR = Retry(base_s=3600, max_s=3600)
COST = {"prompt_tokens": 10, "completion_tokens": 5}


def run(code):
    return {"code": code}


def failing(*statuses):
    return [{"error": {"status": status, "message": "busy"}} for status in statuses]


# -- done inside what catches it (cases 19) ----------------------------------------------------

WAYS = {
    "all of it": """
log = []
def finish(v):
    try:
        done(v)
    except Exception:
        log.append("stolen by except Exception")
    except:
        log.append("stolen by bare except")
        raise
    finally:
        log.append("finally")
finish("kept")
""",
    "return in finally": """
def f():
    try:
        done("kept")
    finally:
        return 5
f()
""",
    "a bare except": "try:\n    done('kept')\nexcept:\n    pass",
    "except BaseException": "try:\n    done('kept')\nexcept BaseException:\n    pass",
    "an endless retry": """
while True:
    try:
        done("kept")
    except:
        continue
""",
    "suppress": (
        "import contextlib\nwith contextlib.suppress(Exception, BaseException):\n    done('kept')"
    ),
    "a context manager": """
class Calm:
    def __enter__(self):
        return self
    def __exit__(self, *_):
        return True
with Calm():
    done("kept")
""",
    "a generator": """
def g():
    try:
        yield done("kept")
    except:
        yield 2
list(g())
""",
    "a key function": "sorted([2, 1], key=lambda n: done('kept'))",
    "a comprehension": "[done('kept') for _ in range(3)]",
    "a repr": "class C:\n    def __repr__(self):\n        return done('kept')\nrepr(C())",
    "another done": "try:\n    done('kept')\nfinally:\n    done('stolen')",
}


@pytest.mark.parametrize("way", WAYS)
def test_done_ends_the_cast(code, way):
    """LOOP-3: the first ``done`` is the end, whatever the code around it catches (cases 19).

    A program that holds the end up has a moment, as ``finally`` blocks do, and no gate more.
    """
    called = []

    @gate
    def touch() -> None:
        """Touch something outside."""
        called.append(way)

    program = (
        f"{WAYS[way]}\nwhile True:\n    try:\n        touch()\n    except Exception:\n        1"
    )
    cast = code([run(program), run("done('too late')")], touch).cast("go")
    assert (cast.result, cast.turns, cast.terminated) == ("kept", 1, True)
    assert called == []
    assert [call.gate for call in cast.thread[0].calls] == ["done"]


@pytest.mark.parametrize(
    "text",
    ["say = '''done(\"no\")'''", "# done('no')", "x = 'FINAL(done(1))'", "done_ = done"],
)
def test_what_only_reads_like_done(code, text):
    """LOOP-3: its name in a string, a comment or another name ends nothing (cases 19)."""
    cast = code([run(text), run("done('yes')")]).cast("go")
    assert (cast.result, cast.turns) == ("yes", 2)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        ("done()", "missing required"),
        ("done(undefined_thing)", "NameError"),
        ("done(1, 2)", "done"),
        ("done(result=1)", "done"),
        ("done(1 / 0)", "ZeroDivisionError"),
        ("done(*[])", "missing required"),
    ],
)
def test_a_done_that_fails(code, call, message):
    """LOOP-7: it is an error observation that says what is wrong, and no end (cases 20)."""
    cast = code([run(call), run("done('ok')")]).cast("go")
    assert (cast.result, cast.turns) == ("ok", 2)
    assert cast.thread[0].observation.is_error
    assert message in cast.thread[0].observation.text


def test_none_is_a_result(code):
    """CIRCLE-8: ``done(None)`` is an end with a result; a truncated cast has none (cases 20)."""
    cast = code([run("done(None)")]).cast("go")
    assert (cast.result, cast.terminated) == (None, True)
    assert cast.thread.end.result is not None
    cast = code([run("1")], wards=[{"max_turns": 1}]).cast("go")
    assert (cast.result, cast.truncated) == (None, True)
    assert cast.thread.end.result is None


# -- batches (cases 22, 25, 32) ----------------------------------------------------------------


class Waiting(LLM):
    """A model of children; the one with the intent ``ok-a`` answers once ``ok-c`` has."""

    name = "waiting"

    def __init__(self):
        self.answered = anyio.Event()
        self.script = ScriptedLLM(
            {
                "ok-a": [run('done("A")')],
                "boom": failing(400),
                "ok-c": [run('done("C")')],
                "lost": [run("1"), run("2")],
            }
        )

    async def query(self, request):
        intent = request.messages[-1].content
        if intent == "ok-a":
            await self.answered.wait()
        reply = await self.script.query(request)
        if intent == "ok-c":
            self.answered.set()
        return reply


def test_one_bad_child_in_a_batch(deep):
    """COMP-3, COMP-8: children run side by side, and each position is what its child came to.

    The first answers only after the third: one after the other they would never end (cases 22).
    """
    program = """
rs = call_entity_batch([{"intent": i} for i in ["ok-a", "boom", "ok-c", "lost"]])
kinds = [type(r).__name__ for r in rs]
done([[r for r in rs if r in ("A", "C")], kinds, rs[3].reason])
"""

    async def main():
        spell = deep([run(program)], wards=[{"max_turns": 2}], child_llm=Waiting())
        with anyio.fail_after(60):
            return await spell.acast("go")

    cast = anyio.run(main)
    kinds = ["str", "ChildFailed", "str", "Truncated"]
    assert cast.result == [["A", "C"], kinds, "max_turns"]


def test_tokens_of_what_failed(deep):
    """PROD-3: a child that fails or is truncated has spent what it has spent (cases 25)."""
    replies = {
        "root": [run("done([type(r).__name__ for r in call_entity_batch(['boom', 'lost'])])")],
        "boom": [run("1"), *failing(400)],
        "lost": [run("1")] * 3,
    }
    cast = deep(ScriptedLLM(replies, usage=COST), wards=[{"max_turns": 2}]).cast("root")
    assert cast.result == ["ChildFailed", "Truncated"]
    assert cast.usage == cast.loom.usage() == Usage(40, 20)


def test_what_the_cap_kept_out(deep):
    """PROD-3: where the tokens are spent, what did not start says so, by its type (cases 25)."""
    program = "rs = call_entity_batch(['leaf'] * 6)\ndone(rs)"
    replies = {"root": [run(program)], "leaf": [run("done(1)")]}
    wards = [{"max_turns": 3}, {"max_tokens": 60}, {"max_concurrent": 1}]
    cast = deep(ScriptedLLM(replies, usage=COST), wards=wards).cast("root")
    kept_out = Truncated("max_tokens", None, "Never started: max_tokens")
    assert cast.result == [1, 1, 1, kept_out, kept_out, kept_out]
    assert cast.usage.total_tokens == 60


@pytest.mark.parametrize("requests", ["['n'] * 51", "[{'intent': 'n'}] * 51", "('n',) * 1_000"])
def test_a_batch_too_big(deep, requests):
    """COMP-3: it is refused before any child starts, and names the limit (cases 32)."""
    program = f"""
try:
    call_entity_batch({requests})
except ValueError as e:
    print(e)
done(len(call_entity_batch(['n'] * 50)))
"""
    spell = deep([run(program)], child_llm=ScriptedLLM({"n": [run("done(1)")]}))
    cast = spell.cast("go")
    assert (cast.result, cast.entities) == (50, 51)
    assert "50 (max_batch)" in cast.thread[0].observation.printed


# -- what providers really send (cases 30) -----------------------------------------------------

FENCED = """<think>Maybe ```python
done("wrong")
``` would do.</think>
First an example, not to run:
```json
{"done": 1}
```
```python
doc = '''Use fences:
```
like this
```
'''
print(doc.count("```"))
```
"""


def as_text(text):
    return {"content": text}


def as_call(text):
    return {"tool_calls": [{"gate": "python", "args": {"code": text}}]}


@pytest.mark.parametrize("sent", [as_text, as_call])
@pytest.mark.parametrize(
    ("text", "printed"),
    [
        (FENCED, "2\n"),
        ("```python\nprint(1)\n```\nand then\n```python\nprint(2)\n```", "2\n"),
        ("<thinking>\n```python\nprint(0)\n```\n</thinking>\n```py\nprint(3)\n```", "3\n"),
        ("~~~python\nprint('~~~')\n~~~", "~~~\n"),
        ("````python\nprint('```')\n````", "```\n"),
        ("```python\r\nprint(4)\r\n```", "4\n"),
        ('```python\nprint("""\n```\n""".count("`"))\n```', "3\n"),
    ],
)
def test_the_last_block_is_what_runs(code, sent, text, printed):
    """LOOP-6: thinking removed, the last block runs, as text and as the tool's own argument."""
    if sent is as_call:
        text = text[text.index("```" if "```" in text else "~~~") :] if text != FENCED else text
    cast = code([sent(text), run("done(1)")]).cast("go")
    assert cast.thread[0].observation.printed == printed


@pytest.mark.parametrize("sent", [as_text, as_call])
def test_a_block_that_is_never_closed(code, sent):
    """LOOP-6: it is not run, for its end may be missing, and the model is told (cases 30)."""
    cast = code([sent('```python\ndone("closed?")'), run("done('again')")]).cast("go")
    assert (cast.result, cast.turns) == ("again", 2)
    assert "the last python block is not closed" in cast.thread[0].observation.text
    assert cast.thread[0].observation.is_error


@pytest.mark.parametrize("text", ["print(5)", "\n\nprint(5)\n", "s = '''\n```\n'''\nprint(5)"])
def test_plain_code_in_a_call(code, text):
    """LOOP-6: code that is not in a fence runs as it is, fences within it too (cases 30)."""
    cast = code([as_call(text), run("done(1)")]).cast("go")
    assert cast.thread[0].observation.printed == "5\n"


def test_a_fence_without_a_language_in_a_call(code):
    """LOOP-6: the tool takes nothing but code, so a bare fence holds code too (cases 30)."""
    cast = code([as_call("```\nprint(6)\n```"), run("done(1)")]).cast("go")
    assert cast.thread[0].observation.printed == "6\n"


def test_a_reply_cut_off_at_its_limit(code, chat):
    """LLM-3: text that was cut off is no answer and no program; the model is told (cases 30)."""
    choice = {"message": {"content": "```python\ndone('half"}, "finish_reason": "length"}
    for make in (code, chat):
        spell = make([{"raw_response": {"choices": [choice]}}, {"content": "whole"}])
        cast = spell.cast("go")
        assert (cast.result, cast.turns) == ("whole", 2)
        assert "cut off at its token limit" in cast.thread[0].observation.text


def test_an_empty_reply_cut_off_at_its_limit(code):
    """LLM-3: where nothing came before the limit, the cast fails and says so (cases 30)."""
    choice = {"message": {"content": ""}, "finish_reason": "length"}
    spell = code([{"raw_response": {"choices": [choice]}}])
    with pytest.raises(MalformedReply, match="cut off at its token limit before anything came"):
        spell.cast("go")
    assert [entity.outcome for entity in spell.loom.entities.values()] == ["failed"]


# -- retries -----------------------------------------------------------------------------------


def test_a_retry_is_no_turn(chat):
    """PROD-2: the loom has one turn and one reply; an event tells of each retry."""
    seen = []
    spell = chat(
        ScriptedLLM([*failing(429, 503, None), {"content": "ok"}], usage=COST), retry=AT_ONCE
    )
    cast = spell.cast("go", on_event=seen.append)
    assert (cast.result, cast.turns, cast.loom.turn_count) == ("ok", 1, 1)
    assert [type(record).__name__ for _, _, record in cast.loom.records()].count("ReplyRecord") == 1
    retried = [event for event in seen if isinstance(event, told.QueryRetried)]
    assert [(event.turn, event.retry) for event in retried] == [(1, 1), (1, 2), (1, 3)]
    assert ["429" in event.reason for event in retried] == [True, False, False]
    assert len({id(request) for request in spell.llm.requests}) == 1
    assert cast.usage == cast.loom.usage() == Usage(10, 5)


def test_three_retries_and_no_more(chat):
    """PROD-2: after three retries the failure is final, and on record."""
    spell = chat([*failing(500, 500, 500, 500), {"content": "too late"}], retry=AT_ONCE)
    with pytest.raises(ProviderError, match="500"):
        spell.cast("go")
    assert len(spell.llm.requests) == 4
    assert spell.loom.turn_count == 0


@pytest.mark.parametrize("status", [400, 401, 404, 422])
def test_what_is_not_tried_again(chat, status):
    """PROD-2: another 4xx ends the cast at the first try, with no retry told of."""
    seen = []
    spell = chat([*failing(status), {"content": "no"}], retry=AT_ONCE)
    with pytest.raises(ProviderError, match=str(status)):
        spell.cast("go", on_event=seen.append)
    assert len(spell.llm.requests) == 1
    assert not [event for event in seen if isinstance(event, told.QueryRetried)]


def test_what_a_provider_asks_for(chat):
    """PROD-2: the wait that is told is the one that the provider asked for, if it is longer."""

    class Busy(LLM):
        name = "busy"

        async def query(self, request):
            raise ProviderError("busy answered 429", 429, retry_after_s=77.0)

    seen = []
    spell = chat(Busy(), retry=Retry(base_s=0), wards=[{"max_turns": 1}, {"timeout_s": 0.05}])
    cast = spell.cast("go", on_event=seen.append)
    assert cast.reason == "timeout_s"
    [retried] = [event for event in seen if isinstance(event, told.QueryRetried)]
    assert retried.wait_s == 77.0


def test_the_wall_clock_ends_a_wait(deep):
    """PROD-2, LOOP-4: a wait for the next try is cut short by ``timeout_s``, a child's too."""
    wards = [{"max_turns": 2}, {"timeout_s": 0.2}]
    spell = deep([*failing(503), {"content": "an hour later"}], wards=wards, retry=AN_HOUR)
    cast = spell.cast("go")
    assert (cast.reason, cast.turns) == ("timeout_s", 0)
    program = "done(call_entity('x', wards=[{'timeout_s': 0.2}]).reason)"
    spell = deep([run(program)], child_llm=ScriptedLLM(failing(503)), retry=AN_HOUR)
    assert spell.cast("go").result == "timeout_s"


def test_a_wait_can_be_cancelled(chat):
    """PROD-2: who cancels the cast while it waits is not kept waiting, and no try follows."""
    spell = chat([*failing(503), {"content": "an hour later"}], retry=AN_HOUR)

    async def main():
        with anyio.CancelScope() as scope:

            def sink(event):
                if isinstance(event, told.QueryRetried):
                    scope.cancel()

            await spell.acast("go", on_event=sink)
        assert scope.cancelled_caught

    anyio.run(main)
    assert len(spell.llm.requests) == 1
    [entity] = spell.loom.entities.values()
    assert (entity.outcome, entity.reason, entity.utterance_count) == ("truncated", "cancelled", 0)


def test_a_wait_keeps_nobody_else(deep):
    """PROD-2: while one child waits to ask again, its siblings go on."""

    @gate
    async def finished() -> None:
        """Say that the sibling is done."""
        sibling.set()

    class Flaky(LLM):
        name = "flaky"

        def __init__(self):
            self.tries = 0

        async def query(self, request):
            self.tries += 1
            if self.tries == 1:
                raise ProviderError("flaky answered 503", 503)
            return await ScriptedLLM([run("done('flaky')")]).query(request)

    async def main():
        nonlocal sibling
        sibling = anyio.Event()
        replies = {
            "go": [run("done(call_entity_batch([{'intent': 'a', 'llm': 'flaky'}, 'b']))")],
            "b": [run("finished()\ndone('b')")],
        }
        spell = deep(ScriptedLLM(replies), finished, llms={"flaky": Flaky()}, retry=AT_ONCE)
        with anyio.fail_after(60):
            cast = await spell.acast("go")
        assert sibling.is_set()
        return cast

    sibling = None
    assert anyio.run(main).result == ["flaky", "b"]
