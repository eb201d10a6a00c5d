"""Requests, replies, and the checks that each reply and each context passes."""

import json

import pytest
from circlet.runtime.errors import MalformedReply
from circlet.runtime.llm import (
    Message,
    Reply,
    Request,
    Tool,
    ToolCall,
    Usage,
    check_linkage,
    check_reply,
)
from hypothesis import given
from hypothesis import strategies as st

IDS = st.lists(st.text(min_size=1, max_size=5), max_size=5)


def calling(*ids):
    return Message("assistant", tool_calls=[ToolCall(call_id, "echo", {}) for call_id in ids])


def result(call_id):
    return Message("tool", "result", tool_call_id=call_id)


def test_a_request_is_a_value():
    """LLM-1: what is sent is a value; lists given are copied, and equal requests are equal."""
    messages, settings = [Message("user", "hi")], {"temperature": 0}
    request = Request(messages, hyperparameters=settings)
    messages.append(Message("user", "later"))
    settings["temperature"] = 1
    assert request == Request((Message("user", "hi"),), hyperparameters={"temperature": 0})


def test_the_neutral_form_is_json_and_whole():
    """LLM-6: a request has one plain form, whatever provider it goes to."""
    call = ToolCall("call_1", "echo", {"text": "a"})
    broken = ToolCall("call_2", "echo", {}, malformed="{")
    request = Request(
        [
            Message("system", "be brief"),
            Message("assistant", None, [call, broken]),
            Message("tool", "a", tool_call_id="call_1"),
        ],
        tools=[Tool("echo", "Say it again.", {"type": "object"})],
        tool_choice="required",
        hyperparameters={"temperature": 0.5},
    )
    neutral = request.neutral()
    assert json.loads(json.dumps(neutral)) == neutral
    assert neutral == {
        "messages": [
            {"role": "system", "content": "be brief"},
            {
                "role": "assistant",
                "content": None,
                "tool_calls": [
                    {"id": "call_1", "name": "echo", "arguments": {"text": "a"}},
                    {"id": "call_2", "name": "echo", "arguments": {}, "malformed": "{"},
                ],
            },
            {"role": "tool", "content": "a", "tool_call_id": "call_1"},
        ],
        "tools": [
            {"name": "echo", "description": "Say it again.", "parameters": {"type": "object"}}
        ],
        "tool_choice": "required",
        "hyperparameters": {"temperature": 0.5},
    }


def test_usages_add_up():
    """PROD-3: usage is cumulative."""
    total = Usage(100, 50, 10) + Usage(200, 30)
    assert total == Usage(300, 80, 10)
    assert total.total_tokens == 380


@pytest.mark.parametrize("content", [None, ""])
def test_an_empty_reply_is_refused(content):
    """LLM-3: a reply has content or tool calls."""
    with pytest.raises(MalformedReply, match=r"^llm returned neither content nor tool_calls$"):
        check_reply(Reply(content=content))


@pytest.mark.parametrize(
    ("stop_reason", "text"), [("length", "raise max_tokens"), ("refusal", "refused to answer")]
)
def test_an_empty_reply_says_why_it_is_empty(stop_reason, text):
    """LLM-3: one that was cut off or refused before anything came has an error of its own."""
    with pytest.raises(MalformedReply, match=text):
        check_reply(Reply(stop_reason=stop_reason))


@given(IDS)
def test_ids_are_unique_within_a_reply(ids):
    """LLM-4: a reply with tool calls passes exactly when no id stands twice."""
    reply = Reply("x", tuple(ToolCall(call_id, "echo", {}) for call_id in ids))
    if len(set(ids)) == len(ids):
        assert check_reply(reply) is reply
    else:
        with pytest.raises(MalformedReply, match="duplicate tool call ID"):
            check_reply(reply)


@given(st.lists(IDS.map(lambda ids: sorted(set(ids))), max_size=4), st.randoms())
def test_answered_calls_are_linked(turns, shuffler):
    """LLM-7: a context passes when each call is answered once, in any order, before the next."""
    messages = [Message("user", "go")]
    for ids in turns:
        messages.append(calling(*ids))
        shuffler.shuffle(ids)
        messages.extend(result(call_id) for call_id in ids)
    check_linkage(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [calling("call_1"), result("call_2")],
        [calling("call_1"), result("call_1"), result("call_1")],
        [result("call_1"), calling("call_1")],
        [calling("call_1"), result("call_1"), calling("call_2"), result("call_1")],
        [calling("call_1"), result(None)],
    ],
)
def test_a_result_needs_its_call(messages):
    """LLM-7: a result that answers no open call is refused."""
    with pytest.raises(MalformedReply, match="tool result without matching tool call"):
        check_linkage(messages)


@pytest.mark.parametrize(
    "messages",
    [
        [calling("call_1", "call_2"), result("call_1")],
        [calling("call_1"), Message("user", "well?"), result("call_1")],
        [calling("call_1"), calling("call_2"), result("call_2")],
    ],
)
def test_a_call_needs_its_result(messages):
    """LLM-7: a call that has no result right after it is refused, as providers refuse it."""
    with pytest.raises(MalformedReply, match=r"tool call without a result: 'call_[12]'"):
        check_linkage(messages)
