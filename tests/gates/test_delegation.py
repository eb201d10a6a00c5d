"""The delegation gates: reading a request for a child."""

from __future__ import annotations

import pytest
from circlet.gates import (
    ChildRequest,
    GateArgumentError,
    GateFault,
    call_entity,
    call_entity_batch,
    parse_batch,
    parse_request,
)
from circlet.sandbox import wire
from pydantic import ValidationError


def test_a_request_is_a_mapping_or_its_fields():
    """call_entity takes a mapping, or the same as keywords with the intent first."""
    whole = ChildRequest(intent="count", context=[1], llm="cheap")
    assert parse_request([{"intent": "count", "context": [1], "llm": "cheap"}], {}) == whole
    assert parse_request(["count"], {"context": [1], "llm": "cheap"}) == whole
    assert parse_request([], {"intent": "count", "context": [1], "llm": "cheap"}) == whole


def test_what_is_not_asked_for_is_left_open():
    """COMP-7: everything but the intent is optional."""
    request = parse_request(["x"], {})
    left = (request.gates, request.wards, request.llm, request.identity, request.medium)
    assert left == (None,) * 5


def test_no_context_is_told_from_a_context_of_none():
    """COMP-4: a child is given a context if one was given, None too."""
    assert parse_request(["x"], {}).has_context is False
    assert parse_request(["x"], {"context": None}).has_context is True


def test_a_sealed_context_stays_sealed():
    """A context that the host needn't see is not decoded on its way to the child."""
    sealed = wire.seal({1: (2,)})
    assert parse_request(["x"], {"context": sealed}).context is sealed
    assert parse_batch([[{"intent": "x", "context": sealed}]], {})[0].context is sealed
    assert call_entity.seal == call_entity_batch.seal == ("context",)


@pytest.mark.parametrize(
    "wards",
    [
        [{"max_turns": 5}, {"max_depth": 1}],
        ({"max_turns": 5}, {"max_depth": 1}),
        {"max_turns": 5, "max_depth": 1},
        [{"max_turns": 5, "max_depth": 1}],
    ],
)
def test_wards_are_one_mapping_or_a_list_of_them(wards):
    """However they are written, each ward stands by itself afterwards (WARD-1)."""
    assert parse_request(["x"], {"wards": wards}).wards == ({"max_turns": 5}, {"max_depth": 1})


def test_gates_and_identity_in_their_forms():
    """COMP-1, COMP-7: gates by name; an identity is a system prompt or its fields."""
    request = parse_request(["x"], {"gates": ["read"], "identity": "You count."})
    assert (request.gates, request.identity) == (("read",), "You count.")
    assert parse_request(["x"], {"identity": {"system_prompt": None}}).identity == {
        "system_prompt": None
    }


@pytest.mark.parametrize(
    ("args", "kwargs", "complaint"),
    [
        ([], {}, "call_entity: intent is required"),
        ([{}], {}, "call_entity: intent is required"),
        ([None], {}, "call_entity: intent is required"),
        ([""], {}, "call_entity: intent must be a text that is not blank, got ''"),
        (["  "], {}, "call_entity: intent must be a text that is not blank, got '  '"),
        ([3], {}, "call_entity: intent must be a string, got 3"),
        (["x", "y"], {}, "call_entity: 2 arguments by position"),
        (["x"], {"intent": "y"}, "call_entity: argument 'intent' was given twice"),
        ([{"intent": "x"}], {"llm": "y"}, "call_entity: llm beside a request"),
        (["x"], {"contxt": 1}, "call_entity: unknown field contxt; did you mean context?"),
        (["x"], {"zzz": 1}, "call_entity: unknown field zzz; there are: intent, context"),
        (
            ["x"],
            {"gates": "read"},
            "call_entity: gates must be a list of names, such as ['read'], got 'read'",
        ),
        (["x"], {"gates": ["a", 1]}, "call_entity: gates[1] must be a string, got 1"),
        (["x"], {"wards": ["a"]}, "call_entity: wards must be a list of mappings"),
        (
            ["x"],
            {"wards": 5},
            "call_entity: wards must be a list of mappings, such as [{'max_turns': 5}], got 5",
        ),
        (["x"], {"llm": 5}, "call_entity: llm must be a string, got 5"),
        (["x"], {"identity": 5}, "call_entity: identity must be a string or a dictionary, got 5"),
    ],
)
def test_a_request_that_will_not_do_names_the_field(args, kwargs, complaint):
    """INTENT-1 and the rest: one line, with the gate and the field."""
    with pytest.raises(GateArgumentError) as caught:
        parse_request(args, kwargs)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_a_batch_is_a_list_of_requests_or_intents():
    """COMP-3: a batch keeps its order; a text alone is an intent."""
    batch = parse_batch([["a", {"intent": "b", "llm": "cheap"}]], {})
    assert [(one.intent, one.llm) for one in batch] == [("a", None), ("b", "cheap")]
    assert parse_batch([], {"requests": ("a",)}) == parse_batch([["a"]], {})
    assert parse_batch([[]], {}) == []


@pytest.mark.parametrize(
    ("args", "kwargs", "complaint"),
    [
        ([], {}, "call_entity_batch: missing required argument: requests"),
        (["a"], {}, "call_entity_batch: requests must be one list"),
        (["a", "b"], {}, "call_entity_batch: requests must be one list"),
        ([{"intent": "a"}], {}, "call_entity_batch: requests must be one list"),
        ([["a"]], {"n": 1}, "call_entity_batch: unknown argument 'n'"),
        ([["a", 3]], {}, "call_entity_batch: requests[1] must be a mapping or an intent, got 3"),
        ([["a", ""]], {}, "call_entity_batch: requests[1].intent must"),
        ([["a", {}]], {}, "call_entity_batch: requests[1].intent is required"),
        ([[{"intent": "a", "x": 1}]], {}, "call_entity_batch: unknown field requests[0].x"),
        (
            [[{"intent": "a", "gates": [1]}]],
            {},
            "call_entity_batch: requests[0].gates[0] must be a string, got 1",
        ),
    ],
)
def test_a_batch_that_will_not_do_names_the_position_and_field(args, kwargs, complaint):
    """One line, with the position of the bad request, counted from 0."""
    with pytest.raises(GateArgumentError) as caught:
        parse_batch(args, kwargs)
    assert str(caught.value).startswith(complaint)
    assert "\n" not in str(caught.value)


def test_a_request_is_frozen():
    """What was asked for can't be changed afterwards."""
    with pytest.raises(ValidationError):
        parse_request(["x"], {}).intent = "y"


def test_the_gates_hand_requests_to_what_is_bound(call):
    """COMP-2, COMP-3: the bound spawn gets the request, or the requests in their order."""

    async def one(request: ChildRequest) -> object:
        return request.intent, request.context

    async def many(requests: list[ChildRequest]) -> list[object]:
        return [await one(request) for request in requests]

    assert call(call_entity.bind(spawn=one), "a", context=(1,)) == ("a", (1,))
    batch = [{"intent": "a"}, "b"]
    assert call(call_entity_batch.bind(spawn=many), batch) == [("a", None), ("b", None)]


def test_delegation_needs_somebody_who_spawns(call):
    """CIRCLE-10: without a spawn the gates build, and fail when called."""
    with pytest.raises(GateFault, match="call_entity: no spawn is configured"):
        call(call_entity, "x")
    assert call_entity.delegates
    assert call_entity_batch.delegates


def test_renamed_gates_speak_under_their_new_name():
    """An error names the gate as the entity knows it."""
    with pytest.raises(GateArgumentError, match=r"^ask: intent is required"):
        call_entity.configure(name="ask").check((), {})


def test_the_schema_says_what_the_reader_takes():
    """The tool definition and the reader have the same fields."""
    assert set(call_entity.parameters["properties"]) == set(ChildRequest.model_fields)
    assert call_entity.parameters["required"] == ["intent"]
    assert call_entity.signature.startswith("call_entity(intent: str, *, context: Any = None")


def test_a_batch_beyond_all_measure_is_not_even_read():
    """COMP-3: more requests than any ward allows are refused by their number."""
    with pytest.raises(GateArgumentError, match=r"10,001 requests in one batch; the limit is 10,0"):
        parse_batch([[None] * 10_001], {})
