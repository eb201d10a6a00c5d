"""The Chat Completions form, read as a pure function of plain values."""

import contextlib
import copy
import dataclasses
import json
import subprocess
import sys

import pytest
from circlet.runtime.errors import ContextLimit, MalformedReply, ProviderError
from circlet.runtime.llm import Reply, ToolCall, Usage, normalise
from hypothesis import given
from hypothesis import strategies as st

JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=8), inner),
    max_leaves=8,
)


def nearly(**fields):
    """Mappings in which each field is as it should be, of another kind, or not there."""
    wrong = st.none() | st.text(max_size=3) | st.integers() | st.lists(st.none(), max_size=1)
    return st.fixed_dictionaries({}, optional={key: fields[key] | wrong for key in fields})


CALL = nearly(id=st.text(), function=nearly(name=st.text(), arguments=JSON | JSON.map(json.dumps)))
MESSAGE = nearly(
    content=st.text() | st.lists(nearly(text=st.text())),
    refusal=st.text(),
    reasoning=st.text(),
    tool_calls=st.lists(CALL, max_size=2),
)
CHOICE = nearly(message=MESSAGE, finish_reason=st.sampled_from(["stop", "length"]))
TOKENS = st.integers() | st.just(float("inf")) | st.text(max_size=3)
RESPONSE = nearly(
    choices=st.lists(CHOICE, max_size=2),
    usage=nearly(prompt_tokens=TOKENS, prompt_tokens_details=nearly(cached_tokens=TOKENS)),
)


def response(finish_reason="stop", **message):
    return {"choices": [{"message": message, "finish_reason": finish_reason}]}


def call(arguments, **fields):
    return fields | {"function": {"name": "echo", "arguments": arguments}}


def test_the_contract():
    """LLM-6: content, tool calls, usage and thinking of a whole response come out normalised."""
    raw = response(
        "tool_calls",
        content="hello",
        reasoning_content="hm",
        tool_calls=[call('{"text": "a"}', id="call_9")],
    )
    raw |= {
        "model": "gpt-5.1-2025-11-13",
        "usage": {
            "prompt_tokens": 10,
            "completion_tokens": 5,
            "prompt_tokens_details": {"cached_tokens": 4},
        },
    }
    assert normalise(raw) == Reply(
        content="hello",
        tool_calls=(ToolCall("call_9", "echo", {"text": "a"}),),
        usage=Usage(10, 5, 4),
        thinking="hm",
        stop_reason="tool_calls",
        model="gpt-5.1-2025-11-13",
    )


def test_reading_needs_no_sdk():
    """LLM-6: importing the models imports no provider's SDK."""
    program = "import sys, circlet.runtime.llm; sys.exit('openai' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", program], check=False).returncode == 0


@pytest.mark.parametrize("details", [{}, {"prompt_tokens_details": None}])
@pytest.mark.parametrize("usage", [{"prompt_tokens": 3, "completion_tokens": 2}, {}])
def test_usage_may_lack_parts(usage, details):
    """LLM-6: tokens that an endpoint doesn't count are zero."""
    reply = normalise(response(content="x") | {"usage": usage | details})
    assert reply.usage == Usage(usage.get("prompt_tokens", 0), usage.get("completion_tokens", 0))


def test_usage_may_lack_altogether():
    """LLM-6: a response without a usage has one of zero."""
    assert normalise(response(content="x") | {"usage": None}).usage == Usage()


@pytest.mark.parametrize(
    "arguments",
    ['{"text": "a', "[1]", [1], '"a"', "7", "null", '{"x": NaN}', "print('x')", "[" * 100_000],
)
def test_malformed_arguments_are_kept(arguments):
    """LLM-6: arguments that are no JSON object are kept as the model wrote them."""
    text = arguments if isinstance(arguments, str) else json.dumps(arguments)
    reply = normalise(response(tool_calls=[call(arguments, id="call_1")]))
    assert reply.tool_calls == (ToolCall("call_1", "echo", {}, malformed=text),)


@pytest.mark.parametrize("arguments", [None, "", " ", "{}", {}])
def test_arguments_may_be_empty(arguments):
    """LLM-6: each way to write no arguments is the same."""
    reply = normalise(response(tool_calls=[call(arguments, id="call_1")]))
    assert reply.tool_calls == (ToolCall("call_1", "echo", {}),)


def test_arguments_may_be_decoded():
    """LLM-6: some servers send the arguments as an object; the response stays untouched."""
    raw = response(tool_calls=[call({"text": "a"}, id="call_1")])
    before = copy.deepcopy(raw)
    normalise(raw).tool_calls[0].arguments["text"] = "b"
    assert raw == before


def test_ids_may_lack():
    """LLM-4: calls without an id get one each."""
    reply = normalise(response(tool_calls=[call("{}"), call("{}", id="")]))
    assert [item.id for item in reply.tool_calls] == ["call_1", "call_2"]


@pytest.mark.parametrize(
    ("finish_reason", "message", "stop_reason"),
    [
        ("stop", {"content": "x"}, "stop"),
        (None, {"content": "x"}, "stop"),
        ("eos", {"content": "x"}, "stop"),
        ("length", {"content": ""}, "length"),
        ("content_filter", {"content": None}, "refusal"),
        ("stop", {"content": None, "refusal": "I can't."}, "refusal"),
        ("tool_calls", {"tool_calls": [call("{}")]}, "tool_calls"),
        ("stop", {"tool_calls": [call("{}")]}, "tool_calls"),
        ("length", {"tool_calls": [call('{"a')]}, "length"),
    ],
)
def test_why_it_ended(finish_reason, message, stop_reason):
    """LLM-6: the reason is one of four, whatever an endpoint calls it."""
    assert normalise(response(finish_reason, **message)).stop_reason == stop_reason


def test_a_refusal_is_content():
    """LLM-6: the text of a refusal is what the model said."""
    assert normalise(response(content=None, refusal="I can't.")).content == "I can't."


def test_content_and_thinking_in_parts():
    """LLM-6: text that comes in parts is put together."""
    reply = normalise(
        response(content=[{"type": "text", "text": "a"}, {"type": "text", "text": "b"}])
    )
    assert reply.content == "ab"
    assert normalise(response(content="x", reasoning="hm")).thinking == "hm"


@pytest.mark.parametrize(
    ("error", "kind", "status"),
    [
        ({"message": "slow down", "code": 429}, ProviderError, 429),
        ({"message": "slow down"}, ProviderError, 200),
        ("slow down", ProviderError, 200),
        ({"message": "slow down", "code": "context_length_exceeded"}, ContextLimit, 200),
    ],
)
def test_an_error_in_a_response(error, kind, status):
    """PROD-2: an error that comes with status 200 keeps the status that it names."""
    with pytest.raises(ProviderError, match="slow down") as caught:
        normalise({"error": error})
    assert type(caught.value) is kind
    assert caught.value.status == status


@given(RESPONSE)
def test_no_response_breaks_it(raw):
    """LLM-6: whatever comes is read into JSON values, or is a malformed reply."""
    with contextlib.suppress(MalformedReply):
        json.dumps(dataclasses.asdict(normalise(raw)))


def test_odd_values_of_a_server():
    """LLM-6: a model that is no text is none, and nobody gives tokens back."""
    raw = response(content="x") | {"model": 5}
    raw["usage"] = {"prompt_tokens": -5, "completion_tokens": 3, "prompt_tokens_details": None}
    assert normalise(raw) == Reply(content="x", usage=Usage(0, 3, 0))
