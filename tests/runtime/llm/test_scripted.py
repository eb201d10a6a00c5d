"""The scripted model: what its replies become, and who gets which."""

import anyio
import pytest
from circlet.runtime.errors import (
    ContextLimit,
    MalformedReply,
    ProviderError,
    ScriptError,
    ScriptExhausted,
)
from circlet.runtime.llm import Message, Reply, Request, ScriptedLLM, ToolCall, Usage
from hypothesis import given
from hypothesis import strategies as st

HELLO = Request([Message("user", "hello")])


def ask(llm, request=HELLO):
    return anyio.run(llm.query, request)


def test_content():
    """LLM-6: a reply's content is the text, as it stands."""
    assert ask(ScriptedLLM([{"content": "hi", "thinking": "hm"}])) == Reply(
        content="hi", thinking="hm", model="scripted"
    )


def test_code_is_a_call_of_python():
    """MEDIUM-2: a reply's code calls the code medium's one tool."""
    reply = ask(ScriptedLLM([{"code": "done(1)"}]))
    assert reply.tool_calls == (ToolCall("call_1", "python", {"code": "done(1)"}),)
    assert reply.stop_reason == "tool_calls"


def test_tool_calls():
    """LOOP-7: a call is passed on as written, without arguments too."""
    reply = ask(
        ScriptedLLM(
            [
                {
                    "content": None,
                    "tool_calls": [
                        {"gate": "echo", "args": {"text": "a"}, "id": "x"},
                        {"gate": "done"},
                    ],
                }
            ]
        )
    )
    assert reply.tool_calls == (
        ToolCall("x", "echo", {"text": "a"}),
        ToolCall("call_1", "done", {}),
    )


def test_default_ids_are_unique():
    """LLM-4: default ids are never used twice, and keep clear of those in the script."""
    call = {"gate": "echo"}
    llm = ScriptedLLM(
        [{"tool_calls": [call, call | {"id": "call_2"}, call]}, {"code": "1"}], name="m"
    )
    ids = [item.id for _ in range(2) for item in ask(llm).tool_calls]
    assert ids == ["call_1", "call_2", "call_3", "call_4"]


def test_arguments_stay_out_of_the_script():
    """LLM-1: what a caller does to a reply leaves the next one alone."""
    line = {"tool_calls": [{"gate": "echo", "args": {"texts": ["a"]}}]}
    llm = ScriptedLLM({"": [line]})
    for _ in range(2):
        reply = ask(llm.bind("go", child=False))
        assert reply.tool_calls[0].arguments == {"texts": ["a"]}
        reply.tool_calls[0].arguments["texts"].append("b")


def test_usage():
    """PROD-3: a reply's own usage stands before the script's."""
    llm = ScriptedLLM(
        [{"content": "a"}, {"content": "b", "usage": {"prompt_tokens": 7}}],
        usage={"prompt_tokens": 100, "completion_tokens": 50},
    )
    assert [ask(llm).usage, ask(llm).usage] == [Usage(100, 50), Usage(7)]


def test_a_raw_response_is_read_as_a_provider_s():
    """LLM-6: a raw response goes through the normaliser."""
    message = {"content": "hello", "tool_calls": []}
    raw = {
        "choices": [{"message": message, "finish_reason": "stop"}],
        "usage": {"prompt_tokens": 10, "completion_tokens": 5},
    }
    bare = {"choices": raw["choices"]}
    llm = ScriptedLLM([{"raw_response": raw}, {"raw_response": bare}], usage=Usage(1, 1))
    assert ask(llm) == Reply(content="hello", usage=Usage(10, 5))
    assert ask(llm) == Reply(content="hello", usage=Usage(1, 1))


def test_an_error_is_the_provider_s():
    """PROD-2: a scripted error has the status that it names, or none at all."""
    llm = ScriptedLLM([{"error": {"status": 429, "message": "rate limited"}}, {"error": {}}])
    with pytest.raises(ProviderError, match=r"^scripted answered 429: rate limited$") as caught:
        ask(llm)
    assert caught.value.status == 429
    assert not isinstance(caught.value, ContextLimit)
    with pytest.raises(ProviderError, match=r"^scripted can't be reached") as caught:
        ask(llm)
    assert caught.value.status is None


def test_a_reply_keeps_the_contract():
    """LLM-3, LLM-4: a scripted reply is checked as any other."""
    twice = [{"id": "call_1", "gate": "echo"}, {"id": "call_1", "gate": "echo"}]
    llm = ScriptedLLM([{"content": None, "tool_calls": None}, {"tool_calls": twice}])
    with pytest.raises(MalformedReply, match="llm returned neither content nor tool_calls"):
        ask(llm)
    with pytest.raises(MalformedReply, match="duplicate tool call ID"):
        ask(llm)


def test_a_result_out_of_place():
    """LLM-7: a tool result from the model goes through the check of linkage."""
    llm = ScriptedLLM([{"tool_result": {"tool_call_id": "call_2", "content": "result"}}])
    request = Request(
        [
            Message("user", "go"),
            Message("assistant", tool_calls=[ToolCall("call_1", "echo", {})]),
            Message("tool", "a", tool_call_id="call_1"),
        ]
    )
    with pytest.raises(MalformedReply, match="tool result without matching tool call"):
        ask(llm, request)


def test_requests_are_kept_in_order():
    """LLM-1: what each entity sent is on record, in one list."""
    llm = ScriptedLLM([{"content": "x"}] * 3)
    requests = [Request([Message("user", text)]) for text in "abc"]
    for entity, request in zip(
        [llm, llm.bind("b", child=False), llm.bind("c", child=True)], requests, strict=True
    ):
        ask(entity, request)
    assert llm.requests == requests


def test_a_failed_query_is_kept_too():
    """PROD-2: a request that failed was sent all the same."""
    llm = ScriptedLLM([{"error": {"status": 500}}])
    with pytest.raises(ProviderError):
        ask(llm)
    assert llm.requests == [HELLO]


@given(st.permutations(range(5)))
def test_children_claim_when_bound(order):
    """COMP-3: children get their first replies in request order, whichever asks first."""
    llm = ScriptedLLM([{"content": str(n)} for n in range(7)])
    root = llm.bind("root", child=False)
    assert ask(root).content == "0"
    children = [llm.bind("child", child=True) for _ in range(5)]
    assert {n: ask(children[n]).content for n in order} == {n: str(n + 1) for n in range(5)}
    assert ask(children[3]).content == "6"  # later ones are claimed when asked for


def test_a_slow_child_keeps_its_place():
    """COMP-3: a delay holds up the reply, not the claim."""
    llm = ScriptedLLM([{"content": "slow", "delay_ms": 20}, {"content": "fast"}])
    said = []

    async def speak(entity):
        said.append((entity, (await entity.query(HELLO)).content))

    async def both():
        slow, fast = (llm.bind("x", child=True) for _ in range(2))
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(speak, slow)
            tasks.start_soon(speak, fast)
        return slow, fast

    slow, fast = anyio.run(both)
    assert said == [(fast, "fast"), (slow, "slow")]


def test_each_entity_has_its_own_copy():
    """COMP-3: by intent, the first pattern that matches gives each entity a script of its own."""
    llm = ScriptedLLM(
        {"^audit": [{"content": "a1"}, {"content": "a2"}], "it|": [{"content": "other"}]}
    )
    one, two = llm.bind("audit os", child=True), llm.bind("audit re", child=True)
    assert [ask(entity).content for entity in (one, two, one, two)] == ["a1", "a1", "a2", "a2"]
    assert ask(one.bind("an audit", child=True)).content == "other"


def test_by_intent_without_a_handle():
    """INTENT-2: a request sent without a handle is known by its first user message."""
    llm = ScriptedLLM({"^a": [{"content": "a1"}, {"content": "a2"}], "^b": [{"content": "b1"}]})
    first = Request([Message("system", "b"), Message("user", "a"), Message("user", "b")])
    assert [ask(llm, first).content for _ in range(2)] == ["a1", "a2"]
    assert ask(llm, Request([Message("user", "b")])).content == "b1"


@pytest.mark.parametrize(("count", "text"), [(0, "no replies"), (1, "1 reply"), (2, "2 replies")])
def test_exhaustion_counts(count, text):
    """LLM-1: past the end of the script there is an error that says how long it was."""
    llm = ScriptedLLM([{"content": "x"}] * count, name="short")
    for _ in range(count):
        ask(llm)
    with pytest.raises(ScriptExhausted, match=f"^the script of 'short' has {text}: no reply"):
        ask(llm)


def test_exhaustion_by_intent():
    """LLM-1: by intent, the error names the pattern, or the intent that matches none."""
    llm = ScriptedLLM({"^a": [{"content": "x"}]})
    entity = llm.bind("a", child=False)
    ask(entity)
    with pytest.raises(ScriptExhausted, match=r"for '\^a' has 1 reply"):
        ask(entity)
    with pytest.raises(ScriptExhausted, match="for the intent 'count them' has no replies"):
        ask(llm.bind("count them", child=True))


def test_a_child_without_a_reply_fails_itself():
    """COMP-8: binding a child past the end raises nothing; its own query does, each time."""
    child = ScriptedLLM([]).bind("x", child=True)
    for _ in range(2):
        with pytest.raises(ScriptExhausted):
            ask(child)


@pytest.mark.parametrize(
    ("replies", "text"),
    [
        ("done(1)", "replies: a list of mappings is wanted, not str"),
        (["done(1)"], r"replies\[0\]: a mapping is wanted, not str"),
        ([{"content": "x"}, {"contents": "x"}], r"replies\[1\].contents: no such key; the keys ar"),
        ([{"tool_calls": [{"args": {}}]}], r"replies\[0\].tool_calls\[0\].gate: field required"),
        ([{"tool_calls": [{"gate": "g", "x": 1}]}], r"tool_calls\[0\].x: no such key"),
        ([{"tool_calls": [{"gate": "g", "args": {"a": {1}}}]}], "args.a: .*JSON"),
        ([{"code": {"file": "x.py"}}], r"replies\[0\].code: .*string"),
        ([{"delay_ms": -1}], r"replies\[0\].delay_ms: .*0"),
        ([{"usage": {"prompt_tokens": "7"}}], r"replies\[0\].usage.prompt_tokens"),
        ([{"raw_response": {}, "content": "x"}], "raw_response can't stand beside content"),
        ([{"error": {}, "code": "x"}], "error can't stand beside code"),
        ({"(": []}, r"'\(' is no pattern"),
        ({"a": [{"x": 1}]}, r"replies for 'a'\[0\].x: no such key"),
        ({"a": None}, "replies for 'a': a list of mappings is wanted, not nothing"),
    ],
)
def test_a_wrong_script_says_where(replies, text):
    """LLM-1: a script is checked when the model is built; the error is a line with the place."""
    with pytest.raises(ScriptError, match=text) as caught:
        ScriptedLLM(replies)
    assert "\n" not in str(caught.value)


def test_a_wrong_usage_says_so():
    """PROD-3: the script's usage has the keys of a usage only."""
    with pytest.raises(ScriptError, match=r"usage.tokens: no such key; the keys are prompt_tokens"):
        ScriptedLLM([], usage={"tokens": 1})


def test_a_context_that_is_broken_is_told_of():
    """LLM-7: a script holds to the linkage of calls and results as a provider does."""
    stray = Request([Message("user", "hello"), Message("tool", "x", tool_call_id="call_9")])
    with pytest.raises(MalformedReply, match="tool result without matching tool call"):
        ask(ScriptedLLM([{"content": "hi"}]), stray)
