"""Composition: what a child is, what its parent gets, and how the tree is recorded."""

from __future__ import annotations

import asyncio
import json
import re
from dataclasses import replace

import anyio
import pytest
from circlet import LLM, Cantrip, Circle, Gate, ScriptedLLM, Truncated, gate
from circlet.runtime.identity import GENERIC_PROMPT
from circlet.runtime.llm import Reply, ToolCall
from circlet.runtime.spawn import spawn
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

TURNS = {"max_turns": 10}


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def answer(text):
    """One parent's turn that gives back what an expression comes to."""
    return [run(f"done({text})")]


# -- what a parent gets ------------------------------------------------------------------------


def test_call_entity_blocks(deep):
    """COMP-2: the parent waits and gets the child's value, with its type."""
    spell = deep(
        answer("call_entity({'intent': 'compute 6*7'})"), child_llm=ScriptedLLM([run("done(42)")])
    )
    assert spell.cast("test blocking").result == 42


@pytest.mark.parametrize(
    "request_",
    ['{"intent": "x", "context": 5}', '"x", context=5', 'intent="x", context=5'],
)
def test_a_request_in_every_form(deep, request_):
    """COMP-2: a mapping, or the same as keywords with the intent first."""
    spell = deep(answer(f"call_entity({request_})"), child_llm=ScriptedLLM([run("done(context)")]))
    assert spell.cast("go").result == 5


@pytest.mark.parametrize(
    ("request_", "told"),
    [
        ('{"intent": "x", "gate": []}', "unknown field gate; did you mean gates?"),
        ('{"context": 1}', "intent is required"),
        ('"  "', "intent"),
        ('"x", gates=["nope"]', "there is no gate 'nope'; there are: "),
        ('"x", llm="nope"', "there is no llm 'nope'; there are: cheap"),
        ('"x", medium="basic"', "unknown medium 'basic'"),
        ('"x", wards=[{"max_turn": 1}]', "unknown ward 'max_turn'; did you mean max_turns?"),
        ('"x", identity={"prompt": 1}', "identity: prompt"),
        ('"x", wards=[{"modules": ["pickle"]}]', "the ward modules can't hold 'pickle'"),
    ],
)
def test_a_refused_delegation(deep, request_, told):
    """COMP-5, COMP-8: it is an exception in the code, does not split the turn, starts no child."""
    source = f"try:\n    call_entity({request_})\nexcept Exception as e:\n    done(str(e))"
    cast = deep([run(source)], llms={"cheap": ScriptedLLM([])}).cast("go")
    assert told in cast.result
    assert (cast.entities, cast.loom.turn_count) == (1, 1)
    assert cast.thread[0].gate_calls == ["call_entity", "done"]
    assert cast.thread[0].observation.records[0].is_error


def test_batch_order(deep):
    """COMP-3: results come in request order, whichever child is done first."""
    order = []

    @gate
    async def wait_for(n: int) -> None:
        """Let those with a higher number go first."""
        while len(order) < 2 - n:
            await anyio.lowlevel.checkpoint()
        order.append(n)

    children = ScriptedLLM(
        [run(f"wait_for({n})\ndone('{letter}')") for n, letter in enumerate("ABC")]
    )
    batch = "','.join(call_entity_batch([{'intent': f'return {c}'} for c in 'ABC']))"
    spell = deep(answer(batch), wait_for, child_llm=children)
    assert spell.cast("go").result == "A,B,C"
    assert order == [2, 1, 0]


def test_replies_are_claimed_in_request_order(deep):
    """COMP-3: children that share one script get their first reply as the batch is spawned."""
    children = ScriptedLLM([{**run(f"done({n})"), "delay_ms": 40 - 10 * n} for n in range(4)])
    spell = deep(answer("call_entity_batch(['a', 'b', 'c', 'd'])"), child_llm=children)
    assert spell.cast("go").result == [0, 1, 2, 3]


@pytest.mark.parametrize(
    "bad", ['{"intent": "b", "gates": ["nope"]}', '{"intent": "b", "wards": [{"x": 1}]}']
)
def test_a_refused_batch_claims_nothing(deep, bad):
    """COMP-3: where one request is refused, no reply of the others' model is used up."""
    source = (
        f"try:\n    call_entity_batch(['a', {bad}])\nexcept Exception: pass\ndone(call_entity('a'))"
    )
    spell = deep(
        [run(source)], child_llm=ScriptedLLM([run("done('first')"), run("done('second')")])
    )
    assert spell.cast("go").result == "first"


def test_an_empty_batch(deep):
    """COMP-3: a batch of nothing gives an empty list, and does not split the turn."""
    cast = deep(answer("call_entity_batch([])")).cast("go")
    assert (cast.result, cast.loom.turn_count) == ([], 1)


def test_one_bad_child(deep):
    """COMP-8: each position has its own value, Truncated or ChildFailed (cases 22)."""
    children = {
        "ok-a": [run("done('A')")],
        "boom": [{"error": {"status": 400, "message": "no such model"}}],
        "ok-c": [run("done('C')")],
        "lost": [run("1"), run("2"), run("3")],
    }
    parent = """
rs = call_entity_batch([{"intent": i} for i in ["ok-a", "boom", "ok-c", "lost"]])
print(rs)
assert isinstance(rs[1], ChildFailed) and isinstance(rs[3], Truncated)
done([rs, rs[1].reason, rs[1].message, rs[3].reason])
"""
    spell = deep([run(parent)], wards=[{"max_turns": 2}], child_llm=ScriptedLLM(children))
    cast = spell.cast("go")
    results, reason, message, truncated = cast.result
    assert (results[0], results[2]) == ("A", "C")
    assert (reason, truncated) == ("ProviderError", "max_turns")
    assert "no such model" in message
    assert [entity.outcome for entity in cast.loom.entities.values()] == [
        "terminated",
        "terminated",
        "failed",
        "terminated",
        "truncated",
    ]
    assert results[1].entity_id == list(cast.loom.entities)[2]


def test_a_failure_is_an_exception(deep):
    """COMP-8: of a single child it is raised; the parent goes on."""
    parent = (
        "try:\n    call_entity('x')\nexcept ChildFailed as e:\n    done('caught: ' + e.message)"
    )
    cast = deep([run(parent)], child_llm=ScriptedLLM([])).cast("go")
    assert cast.result.startswith("caught: the script of 'scripted' has no replies")
    assert cast.terminated


def test_a_child_whose_code_raises_goes_on(deep):
    """COMP-8: that is an observation to it; it fails only when it has nothing left to say."""
    spell = deep(
        answer("call_entity('x')"),
        child_llm=ScriptedLLM([run("raise ValueError('exploded')"), run("done('recovered')")]),
    )
    cast = spell.cast("go")
    assert cast.result == "recovered"
    child = list(cast.loom.entities.values())[1]
    assert child.turns[0].observation.is_error


def test_a_truncated_child(deep):
    """COMP-8, LOOP-4: a child that a ward stopped is a typed value, with what it had to show."""
    parent = "r = call_entity('x', wards=[{'max_turns': 2}])\ndone([isinstance(r, Truncated), r])"
    cast = deep([run(parent)], child_llm=ScriptedLLM([run("1"), run("'so far'")])).cast("go")
    is_truncated, value = cast.result
    assert is_truncated
    assert value == Truncated(
        "max_turns",
        "'so far'",
        "Stopped by max_turns after 2 turns; called: nothing; last observed: 'so far'",
    )


def test_a_batch_too_big(deep):
    """COMP-3: 51 are refused before any starts; 50 run; the limit is named (cases 32)."""
    parent = """
try:
    call_entity_batch([{"intent": "n", "context": i} for i in range(51)])
except Exception as e:
    print(type(e).__name__, e)
ok = call_entity_batch([{"intent": "n", "context": i} for i in range(50)])
empty = call_entity_batch([])
done([len(ok), ok[:3], ok[-1], empty])
"""
    cast = deep([run(parent)], child_llm=ScriptedLLM({"n": [run("done(context)")]})).cast("go")
    assert cast.result == [50, [0, 1, 2], 49, []]
    assert cast.entities == 51
    printed = cast.thread[0].observation.printed
    assert printed.startswith("ValueError 51 requests in one batch; the limit is 50 (max_batch)")


# -- what a child is ---------------------------------------------------------------------------


def test_independent_context(deep):
    """COMP-4: no variable and no message of the parent's reaches a child."""
    child = ScriptedLLM([run("try:\n    done(secret)\nexcept NameError:\n    done('undefined')")])
    spell = deep(
        [run("secret = 'parent_data'\nprint('PARENT')"), *answer("call_entity('read it')")],
        child_llm=child,
        system="PARENT prompt",
    )
    assert spell.cast("PARENT intent").result == "undefined"
    (request,) = child.requests
    assert "PARENT" not in json.dumps(request.neutral())
    assert request.messages[-1].content == "read it"


def test_siblings_share_nothing(deep):
    """COMP-4: children that run side by side have a namespace each, and prints of their own."""
    parent = """
mine = 'parent'
print('before')
rs = call_entity_batch([{'intent': 'x', 'context': n} for n in range(4)])
print('after')
done([mine, rs])
"""
    child = "found = 'mine' in globals()\nmine = context\nprint('child', mine)\ndone([mine, found])"
    spell = deep(
        [run(parent)],
        child_llm=ScriptedLLM({"x": [run(child)]}),
    )
    cast = spell.cast("go")
    assert cast.result == ["parent", [[n, False] for n in range(4)]]
    assert "".join(turn.observation.printed for turn in cast.thread) == "before\nafter\n"
    children = list(cast.loom.entities.values())[1:]
    printed = sorted(child.turns[0].observation.printed for child in children)
    assert printed == [f"child {n}\n" for n in range(4)]


def test_a_child_without_an_identity(deep):
    """COMP-10: it gets a generic prompt, never its parent's."""
    child = ScriptedLLM([run("done(1)")] * 3)
    parent = (
        "call_entity('a')\ncall_entity('b', identity='You count')\n"
        "done(call_entity('c', identity={'system_prompt': 'You add', 'temperature': 0.5}))"
    )
    deep([run(parent)], child_llm=child, system="You are the parent").cast("go")
    prompts = [request.messages[0].content for request in child.requests]
    assert prompts == [GENERIC_PROMPT, "You count", "You add"]
    assert child.requests[2].hyperparameters == {"temperature": 0.5}


def test_gates_of_the_registry(deep):
    """COMP-1: a child may have gates that its parent lacks; done is always there."""
    fetched = Gate("grab", lambda url: f"<{url}>")
    source = "done(call_entity('x', gates=['grab']))"
    children = ScriptedLLM([run("done([grab('u'), 'echo' in globals()])")])
    spell = deep([run(source)], "echo", registry=[fetched], child_llm=children)
    assert spell.cast("go").result == ["<u>", False]


def test_children_that_call_gates_directly(deep):
    """COMP-1, WARD-1: a child of a code circle may call gates as tools; wards take the minimum."""
    children = ScriptedLLM([call("echo", text=str(n)) for n in range(1, 7)])
    parent = "r = call_entity({'intent': 'child', 'wards': [{'max_turns': 20}]})\ndone(r.reason)"
    cast = deep([run(parent)], "echo", wards=[{"max_turns": 5}], child_llm=children).cast("go")
    child = list(cast.loom.entities.values())[1]
    assert (child.utterance_count, child.outcome, cast.result) == (5, "truncated", "max_turns")
    assert child.wards["max_turns"] == 5


def test_another_llm(deep):
    """COMP-7: a request names its model; one that names none has child_llm, or its parent's."""
    alternate = ScriptedLLM([run("done('from alternate')")], name="alternate")
    spell = deep(
        [
            *answer("[call_entity('x', llm='alternate_llm'), call_entity('y')]"),
            run("done('parent llm')"),
        ],
        llms={"alternate_llm": alternate},
    )
    cast = spell.cast("go")
    assert cast.result == ["from alternate", "parent llm"]
    assert [entity.model for entity in cast.loom.entities.values()] == [
        "scripted",
        "alternate",
        "scripted",
    ]


def test_another_medium(deep):
    """COMP-7: a child may converse where its parent writes code."""
    child = ScriptedLLM([call("echo", text="hi"), call("done", answer=7)])
    spell = deep(
        answer("call_entity('x', medium='conversation', context=[1])"), "echo", child_llm=child
    )
    cast = spell.cast("go")
    assert cast.result == 7
    assert child.requests[0].messages[-1].content == "x\n\nContext:\n[1]"
    assert [tool.name for tool in child.requests[0].tools] == ["done", "echo"]


def test_delegation_from_a_conversation():
    """COMP-2: a model that converses spawns children by tool call; failures are observations."""
    requests = [{"intent": "a", "context": {"n": 1}}, {"intent": "b"}]
    llm = ScriptedLLM(
        [
            call("call_entity_batch", requests=requests),
            call("call_entity", intent="c"),
            {"content": "ok"},
        ]
    )
    children = ScriptedLLM([{"content": "A"}, {"content": "B"}])
    circle = Circle(gates=["done", "call_entity", "call_entity_batch"], wards=[TURNS])
    cast = Cantrip(llm=llm, circle=circle, child_llm=children).cast("go")
    assert cast.result == "ok"
    assert llm.requests[1].messages[-1].content == '["A", "B"]'
    assert llm.requests[2].messages[-1].content.startswith("Error: the script")
    assert [turn.part for turn in cast.thread] == [1, 2, 1, 2, 1]


def test_a_conversing_parent_is_told_what_children_can_be_given():
    """CIRCLE-11, COMP-1, COMP-7: models and further gates stand in the tools that delegate."""
    llm = ScriptedLLM([{"content": "ok"}])
    spell = Cantrip(
        llm=llm,
        circle=Circle(gates=["done", "call_entity"], wards=[TURNS]),
        llms={"cheap": llm},
        registry=[Gate("grab", lambda url: url)],
    )
    spell.cast("go")
    done, call_entity = llm.requests[0].tools
    assert call_entity.description.endswith(
        "one of these models: cheap.\n\nA request may name these gates beside your own: grab."
    )
    assert "cheap" not in done.description


def test_depth_zero(deep):
    """COMP-6: at depth 0 calling a gate that delegates fails with a clear error."""
    source = "try:\n    call_entity('sub')\nexcept Exception as e:\n    done(f'blocked: {e}')"
    cast = deep([run(source)], wards=[TURNS, {"max_depth": 0}]).cast("go")
    assert cast.result == (
        "blocked: call_entity is not available at this depth (max_depth is 0): "
        "do the work in your own code"
    )
    assert cast.thread[0].gate_calls == ["call_entity", "done"]


def test_depth_falls(deep):
    """COMP-6, COMP-11: depth 2 gives 1, gives 0; there the same clear error."""
    deepest = "try:\n    call_entity('no')\nexcept Exception as e:\n    done(str(e))"
    replies = {
        "root": answer("call_entity('one')"),
        "one": answer("call_entity('two')"),
        "two": [run(deepest)],
    }
    spell = deep(ScriptedLLM(replies), wards=[TURNS, {"max_depth": 2}])
    cast = spell.cast("root")
    assert "not available at this depth" in cast.result
    assert cast.max_depth == 2
    entities = cast.loom.entities.values()
    assert [(entity.depth, entity.wards["max_depth"]) for entity in entities] == [
        (0, 2),
        (1, 1),
        (2, 0),
    ]


def test_a_spawn_function_of_the_user_s(deep):
    """COMP-1: what is granted is up to a function that can be replaced."""
    by_depth = [ScriptedLLM(answer("call_entity('level 2')")), ScriptedLLM(answer("'deepest'"))]

    def by_level(request, parent):
        return replace(spawn(request, parent), llm=by_depth[parent.depth])

    spell = deep(answer("call_entity('level 1')"), wards=[TURNS, {"max_depth": 2}], spawn=by_level)
    assert spell.cast("go").result == "deepest"


# -- how it is recorded ------------------------------------------------------------------------


def test_a_delegating_turn_is_two_nodes(deep):
    """LOOM-8, COMP-5: the child hangs under the first part; the second has the call's record."""
    spell = deep(
        [run("print('one')\nr = call_entity('child work')\nprint('two')\ndone(r)")],
        child_llm=ScriptedLLM([run("done('child done')")]),
    )
    cast = spell.cast("go")
    first, child, second = cast.loom.turns
    assert [turn.entity_id == cast.entity_id for turn in (first, child, second)] == [
        True,
        False,
        True,
    ]
    assert [turn.sequence for turn in (first, child, second)] == [1, 1, 2]
    assert (first.parent_id, child.parent_id, second.parent_id) == (None, first.id, first.id)
    assert (first.turn, first.part, first.last) == (1, 1, False)
    assert (second.turn, second.part, second.last) == (1, 2, True)
    assert first.delegated == (child.entity_id,)
    assert (first.gate_calls, second.gate_calls) == ([], ["call_entity", "done"])
    assert (first.observation.printed, second.observation.printed) == ("one\n", "two\n")
    assert (first.utterance is not None, second.utterance) == (True, None)
    assert cast.turns == 1
    assert [turn.id for turn in cast.thread] == [first.id, second.id]
    assert cast.loom.thread(child.entity_id).turns[0].id == first.id


def test_each_call_stands_once(deep):
    """LOOM-8: with calls before, between and after two delegations there are three parts."""
    source = "echo(1)\ncall_entity('a')\necho(2)\ncall_entity_batch(['b', 'c'])\necho(3)\ndone(4)"
    cast = deep(
        [{**run(source), "usage": {"prompt_tokens": 9}}],
        "echo",
        child_llm=ScriptedLLM([run("done(0)")] * 3),
    ).cast("go")
    parts = cast.thread.turns
    assert [turn.gate_calls for turn in parts] == [
        ["echo"],
        ["call_entity", "echo"],
        ["call_entity_batch", "echo", "done"],
    ]
    assert [len(turn.delegated) for turn in parts] == [1, 2, 0]
    assert [turn.metadata.tokens_prompt for turn in parts] == [9, 0, 0]
    assert [call.k for turn in parts for call in turn.calls] == [1, 2, 3, 4, 5, 6]
    points = [entity.spawned_by for entity in list(cast.loom.entities.values())[1:]]
    assert [(point.node, point.call, point.position) for point in points] == [
        (parts[0].id, 2, 0),
        (parts[1].id, 4, 0),
        (parts[1].id, 4, 1),
    ]


def test_children_of_one_node_in_order(deep):
    """COMP-5: a batch's children hang under the same node."""
    cast = deep(
        answer("call_entity_batch(['a', 'b', 'c'])"), child_llm=ScriptedLLM([run("done(0)")] * 3)
    ).cast("go")
    first = cast.loom.turns[0]
    children = [
        child for child in cast.loom.children_of(first.id) if child.entity_id != cast.entity_id
    ]
    assert sorted(child.entity_id for child in children) == sorted(first.delegated)
    assert cast.loom.entities[cast.entity_id].children


# -- how many run at once ----------------------------------------------------------------------


class Crowd(LLM):
    """Answers by intent, and counts how many are being answered at once.

    Args:
        replies: The code to run, by a pattern of the intent.
        gather: Nobody of those whose intent matches is answered before so many are there.
    """

    name = "crowd"

    def __init__(self, replies, gather=("^$", 1)):
        self.replies = replies
        self.pattern, self.wanted = gather
        self.inside = self.most = 0
        self.calls = 0
        self.full = anyio.Event()

    async def query(self, request):
        intent = next(one.content for one in request.messages if one.role == "user")
        self.inside += 1
        self.most = max(self.most, self.inside)
        try:
            if self.inside >= self.wanted:
                self.full.set()
            if re.search(self.pattern, intent):
                await self.full.wait()
            for _ in range(5):
                await anyio.lowlevel.checkpoint()
        finally:
            self.inside -= 1
        self.calls += 1
        source = next(code for key, code in self.replies.items() if re.search(key, intent))
        return Reply(tool_calls=(ToolCall(f"c{self.calls}", "python", {"code": source}),))


def crowd(deep, replies, wards, gather=("^$", 1)):
    """Cast the intent ``root`` and give the cast and the model, or fail after a minute."""

    async def main():
        model = Crowd(replies, gather)
        spell = deep(model, wards=[TURNS, *wards])
        with anyio.fail_after(60):
            return await spell.acast("root"), model

    return anyio.run(main)


def test_eight_at_a_time(deep):
    """COMP-3: of 20 children 8 run side by side, and never more (cases 32)."""
    replies = {"root": "done(call_entity_batch(['leaf'] * 20))", "leaf": "done(1)"}
    cast, model = crowd(deep, replies, [], gather=("leaf", 8))
    assert cast.result == [1] * 20
    assert model.most == 8


def test_the_limit_is_the_tree_s(deep):
    """COMP-3: it is counted over the whole tree; who waits for children doesn't count."""
    replies = {
        "root": "done(sum(call_entity_batch(['mid'] * 6)))",
        "mid": "done(sum(call_entity_batch(['leaf'] * 6)))",
        "leaf": "done(1)",
    }
    cast, model = crowd(
        deep, replies, [{"max_depth": 2}, {"max_concurrent": 3}], gather=("leaf", 3)
    )
    assert cast.result == 36
    assert cast.entities == 43
    assert model.most == 3


@settings(max_examples=20, deadline=None, suppress_health_check=list(HealthCheck))
@given(
    widths=st.lists(st.integers(1, 3), min_size=1, max_size=4),
    concurrent=st.integers(1, 3),
    single=st.booleans(),
)
def test_no_tree_comes_to_a_standstill(deep, widths, concurrent, single):
    """COMP-3: whatever width and depth, with one slot too, every entity gets its turn."""
    replies = {}
    for level, width in enumerate(widths):
        name = "root" if level == 0 else f"level {level}$"
        below = f"level {level + 1}"
        one_by_one = f"[call_entity('{below}') for _ in range({width})]"
        batch = f"call_entity_batch(['{below}'] * {width})"
        replies[name] = f"done(1 + sum({one_by_one if single else batch}))"
    replies[f"level {len(widths)}$"] = "done(1)"
    cast, model = crowd(deep, replies, [{"max_depth": len(widths)}, {"max_concurrent": concurrent}])
    expected = 1
    for width in reversed(widths):
        expected = 1 + width * expected
    assert cast.result == cast.entities == expected
    assert model.most <= concurrent


class Quitter(LLM):
    """A model whose query cancels itself."""

    name = "quitter"

    async def query(self, request):
        raise asyncio.CancelledError


def test_a_child_cancelled_from_within(deep):
    """COMP-8: a child that was cancelled by something of its own failed; it is not None."""
    parent = """
[lost] = call_entity_batch(["x"])
done([type(lost).__name__, lost.reason])
"""
    cast = deep([run(parent)], child_llm=Quitter()).cast("go")
    assert cast.result == ["ChildFailed", "cancelled"]


def test_a_child_s_gate_that_cancels(deep):
    """COMP-8, CIRCLE-5: a cancellation of a gate's own is an error that the child can handle."""

    @gate
    async def odd() -> None:
        """Raise it."""
        raise asyncio.CancelledError

    child = "try:\n    odd()\nexcept RuntimeError as e:\n    done(str(e))"
    replies = {"go": [run("done(call_entity('x'))")], "x": [run(child)]}
    assert deep(replies, odd).cast("go").result == "odd: the gate raised CancelledError"


def test_a_batch_too_big_is_not_read(deep):
    """COMP-3: the number is checked before any request is read, and is all that is recorded."""
    parent = """
try:
    call_entity_batch([{"no": "request"}] * 20_000)
except ValueError as e:
    done(str(e))
"""
    cast = deep([run(parent)]).cast("go")
    assert cast.result.startswith("20000 requests in one batch; the limit is 50 (max_batch)")
    refused, _ = cast.thread[0].observation.records
    assert len(refused.arguments) < 3_000


def test_a_child_s_large_value_is_shown_by_its_preview():
    """COMP-8: a conversing parent is shown a child's large list undecoded, a text in full."""
    replies = {
        "go": [
            call("call_entity", intent="list", medium="code"),
            call("call_entity", intent="text", medium="code"),
            {"content": "ok"},
        ],
        "list": [run("done(list(range(50_000)))")],
        "text": [run("done('x' * 100_000)")],
    }
    circle = Circle(gates=["done", "call_entity"], wards=[{"max_turns": 5}])
    cast = Cantrip(llm=ScriptedLLM(replies), circle=circle).cast("go")
    texts = [turn.observation.text for turn in cast.thread if not turn.delegated]
    assert texts[0].startswith("list, 50,000 items: [0, 1, 2")
    assert len(texts[1]) > 19_000
