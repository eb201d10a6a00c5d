"""Retries: which failures are tried again, and how long apart."""

import anyio
import pytest
from circlet.runtime.errors import ContextLimit, LLMError, MalformedReply, ProviderError
from circlet.runtime.llm import LLM, Message, Reply, Request, Retry, ScriptedLLM, with_retry
from hypothesis import given
from hypothesis import strategies as st
from pydantic import ValidationError

HELLO = Request([Message("user", "hello")])


class Waits:
    """Stands in for the clock: keeps what it was asked to wait, and doesn't."""

    def __init__(self):
        self.seconds = []

    async def __call__(self, seconds):
        self.seconds.append(seconds)


def failing(*statuses):
    return [{"error": {"status": status, "message": "busy"}} for status in statuses]


def ask(llm, retry=None, waits=None, **options):
    async def query():
        return await with_retry(
            llm, HELLO, retry or Retry(), waits or Waits(), jitter=lambda: 0.0, **options
        )

    return anyio.run(query)


@pytest.mark.parametrize("status", [429, 500, 502, 503, 529, 599, None])
def test_passing_failures_are_tried_again(status):
    """PROD-2: 429, 5xx and a lost connection are tried again; the same request is sent."""
    llm = ScriptedLLM([*failing(status), {"content": "ok"}])
    assert ask(llm).content == "ok"
    assert llm.requests == [HELLO, HELLO]


@pytest.mark.parametrize("status", [400, 401, 403, 404, 408, 409, 422])
def test_other_failures_are_not(status):
    """PROD-2: no other 4xx is tried again."""
    llm = ScriptedLLM([*failing(status), {"content": "ok"}])
    with pytest.raises(ProviderError, match=f"answered {status}: busy"):
        ask(llm)
    assert len(llm.requests) == 1


def test_the_statuses_can_be_chosen():
    """PROD-2: the list of statuses is the cantrip's own."""
    llm = ScriptedLLM([*failing(429, 500), {"content": "ok"}])
    with pytest.raises(ProviderError, match="500"):
        ask(llm, Retry(retryable_status_codes=(429,)))


@pytest.mark.parametrize(
    "line",
    [
        {"content": None},
        {"tool_calls": [{"gate": "g", "id": "x"}, {"gate": "g", "id": "x"}]},
        None,
    ],
)
def test_a_broken_contract_is_not_tried_again(line):
    """LLM-3, LLM-4: an empty reply, a double id and an exhausted script are final."""
    llm = ScriptedLLM([line, {"content": "ok"}] if line else [])
    with pytest.raises(LLMError):
        ask(llm)
    assert len(llm.requests) == 1


def test_waits_double():
    """PROD-2: waits grow from one second, and three retries are made by default."""
    waits = Waits()
    with pytest.raises(ProviderError, match="503"):
        ask(ScriptedLLM(failing(429, 500, 502, 503)), waits=waits)
    assert waits.seconds == [1.0, 2.0, 4.0]


@given(
    retries=st.integers(0, 10_000),
    jitter=st.floats(0, 1),
    asked=st.none() | st.floats(0, 120),
    base_s=st.floats(0, 1e6),
)
def test_waits_are_bounded(retries, jitter, asked, base_s):
    """PROD-2: no wait passes the longest one, unless the provider asks, and then it is met."""
    retry = Retry(max_retries=20_000, base_s=base_s)
    wait = retry.wait_s(ProviderError("x", 429, retry_after_s=asked), retries, jitter)
    assert wait is not None
    assert (asked or 0) <= wait <= max(retry.max_s, asked or 0)


def test_jitter_lengthens():
    """PROD-2: jitter adds up to a quarter, so a wait is never shorter than the schedule."""
    error = ProviderError("x", 500)
    assert Retry().wait_s(error, 1, jitter=0.0) == 2.0
    assert Retry().wait_s(error, 1, jitter=1.0) == 2.5


def test_retry_after_is_honoured():
    """PROD-2: a wait that the provider asks for is kept; one past the bound ends the query."""
    assert Retry().wait_s(ProviderError("x", 429, retry_after_s=60), 0) == 60
    assert Retry().wait_s(ProviderError("x", 429, retry_after_s=121), 0) is None
    assert Retry(max_retry_after_s=200).wait_s(ProviderError("x", 429, retry_after_s=121), 0) == 121


def test_too_long_a_context_is_final():
    """LLM-2: messages that are too long stay so, whatever status said it."""
    assert Retry().wait_s(ContextLimit("x", 500), 0) is None


def test_no_retries():
    """PROD-2: with none allowed, the first error is the last."""
    llm = ScriptedLLM([*failing(429), {"content": "ok"}])
    with pytest.raises(ProviderError):
        ask(llm, Retry(max_retries=0))


def test_any_model_is_held_to_the_contract():
    """LLM-3: a reply of a model that doesn't check itself is checked."""

    class Silent(LLM):
        name = "silent"

        async def query(self, request):
            return Reply()

    silent = Silent()
    assert silent.bind("x", child=True) is silent
    with pytest.raises(MalformedReply, match="neither content nor tool_calls"):
        ask(silent)
    anyio.run(silent.aclose)


@pytest.mark.parametrize(
    "fields", [{"max_retries": -1}, {"base_s": -1}, {"max_s": float("inf")}, {"tries": 3}]
)
def test_a_retry_is_checked(fields):
    """PROD-2: fields that make no sense are refused."""
    with pytest.raises(ValidationError):
        Retry(**fields)


def test_a_retry_is_frozen():
    """CANTRIP-2: it is part of a reusable value."""
    with pytest.raises(ValidationError):
        Retry().max_retries = 5
