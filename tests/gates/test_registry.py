"""The gates that come with circlet."""

from __future__ import annotations

import datetime as dt
from decimal import Decimal

import pytest
from circlet.gates import STANDARD, UnknownGate, done, echo, find
from circlet.sandbox import wire


def test_every_standard_gate_is_found_by_its_name():
    """A gate is known under the name that it has."""
    assert set(STANDARD) == {
        "done",
        "call_entity",
        "call_entity_batch",
        "read",
        "write",
        "list_dir",
        "search",
        "fetch",
        "echo",
    }
    assert all(find(name).name == name for name in STANDARD)


@pytest.mark.parametrize("name", list(STANDARD))
def test_every_standard_gate_tells_a_model_what_it_does(name):
    """A description of a line, a schema, and a note on each argument."""
    gate = STANDARD[name]
    assert gate.summary.endswith(".")
    assert gate.parameters["type"] == "object"
    assert all(one.get("description") for one in gate.parameters["properties"].values())


def test_an_unknown_gate_is_refused_with_a_hint():
    """A misspelt name is one line with what was probably meant, and all that there is."""
    with pytest.raises(UnknownGate, match=r"unknown gate 'raed'; did you mean read\?.*list_dir"):
        find("raed")
    with pytest.raises(LookupError):
        find("zzz")


def test_only_done_ends_the_loop():
    """LOOP-3: one gate's answer is the end."""
    assert [gate.name for gate in STANDARD.values() if gate.final] == ["done"]


VALUES = [
    42,
    True,
    None,
    1.5,
    "x",
    b"x",
    (1, 2),
    {1},
    {1: (2,)},
    2**80,
    Decimal("1.0"),
    dt.date.min,
]


@pytest.mark.parametrize("value", VALUES, ids=repr)
@pytest.mark.parametrize("gate", [done, echo], ids=["done", "echo"])
def test_a_value_comes_back_with_its_type(call, gate, value):
    """CIRCLE-8: done and echo return their argument as it is; 42 stays an int."""
    assert call(gate, value) is value


def test_done_without_an_answer_is_an_error():
    """LOOP-7: a malformed done is an error with the words `missing required`."""
    with pytest.raises(TypeError, match=r"^done: missing required argument: answer"):
        done.check((), {})


def test_done_keeps_a_sealed_answer_sealed(call):
    """An answer that nobody asked to see is handed on without being decoded."""
    sealed = wire.seal({"a": (1,)})
    assert call(done, sealed) is sealed
    assert done.seal == ("answer",)
