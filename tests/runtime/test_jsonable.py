"""Values as JSON."""

from __future__ import annotations

import datetime as dt
import json
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction

import pytest
from circlet import ChildFailed, Truncated
from circlet.runtime.jsonable import to_json
from circlet.sandbox.outcomes import GateInterrupted
from circlet.sandbox.wire import Described, dumps, loads
from hypothesis import given
from hypothesis import strategies as st

ZONE = dt.timezone(dt.timedelta(hours=2))


class Colour(IntEnum):
    RED = 1


@pytest.mark.parametrize(
    "value", [None, True, 0, -5, 2**64, 1.5, "", "ü", [], [1, ["a"]], {"a": 1}]
)
def test_what_json_has_stays_itself(value):
    """CIRCLE-8: a value that JSON has is written as it is."""
    assert to_json(value) == value
    assert type(to_json(value)) is type(value)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ((1, (2,)), [1, [2]]),
        ({3, 1, 2}, [1, 2, 3]),
        (frozenset({"b", "a"}), ["a", "b"]),
        ({1: "a", "b": 2}, {"$map": [[1, "a"], ["b", 2]]}),
        ({(1, 2): None}, {"$map": [[[1, 2], None]]}),
        ({"$bytes": "x"}, {"$map": [["$bytes", "x"]]}),
        (b"\x00\xff", {"$bytes": "AP8="}),
        (bytearray(b"a"), {"$bytes": "YQ=="}),
        (Decimal("1.50"), {"$decimal": "1.50"}),
        (Fraction(1, 3), {"$fraction": "1/3"}),
        (1 + 2j, {"$complex": [1.0, 2.0]}),
        (float("inf"), {"$float": "inf"}),
        (dt.datetime(2024, 2, 29, 12, tzinfo=ZONE), {"$datetime": "2024-02-29T12:00:00+02:00"}),
        (dt.date(2024, 2, 29), {"$date": "2024-02-29"}),
        (dt.time(1, 2, 3), {"$time": "01:02:03"}),
        (dt.timedelta(days=-1, seconds=5), {"$timedelta": [-1, 5, 0]}),
        (Described("Box", "Box()"), {"$described": {"type": "Box", "text": "Box()"}}),
        (
            Truncated("max_turns", {1}, "Stopped"),
            {"$truncated": {"reason": "max_turns", "partial": [1], "summary": "Stopped"}},
        ),
        (
            ChildFailed("LLMError", "no", "e1"),
            {"$child_failed": {"reason": "LLMError", "message": "no", "entity_id": "e1"}},
        ),
        (
            GateInterrupted("r", "m", "e"),
            {"$gate_interrupted": {"reason": "r", "message": "m", "entity_id": "e"}},
        ),
    ],
)
def test_what_json_lacks_is_tagged(value, written):
    """CIRCLE-8: what JSON lacks is told by a tag; tuples and sets are lists."""
    assert to_json(value) == written


def test_an_int_that_nobody_can_read_back_is_tagged():
    """CIRCLE-8: an int of more digits than Python reads is written in hexadecimal."""
    assert to_json(-(2**20_000)) == {"$int": hex(-(2**20_000))}


def test_an_instance_of_another_class_is_described():
    """A value that no program can give is described, not refused."""
    assert to_json(range(3)) == {"$described": {"type": "range", "text": "range(0, 3)"}}


def test_instances_of_subclasses_are_plain():
    """A subclass of what JSON has is written as that."""
    assert json.dumps(to_json({"c": Colour.RED, "s": type("S", (str,), {})("x")})) == (
        '{"c": 1, "s": "x"}'
    )


def test_sets_come_in_one_order():
    """A set is written in one order, whatever is in it and however it was made."""
    values = [frozenset({"x", "y"}), frozenset({"z"}), 3, "a", None, (1, 2), Decimal("2")]
    assert to_json(set(values)) == to_json(frozenset(values[::-1]))
    assert to_json({frozenset({2, 3}), frozenset({1, 9})}) == [[1, 9], [2, 3]]


SCALARS = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text()
    | st.binary()
    | st.decimals()
    | st.fractions()
    | st.datetimes()
    | st.timedeltas()
)
KEYS = st.integers() | st.text() | st.tuples(st.integers())
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner) | st.tuples(inner) | st.dictionaries(KEYS, inner),
    max_leaves=10,
)


@given(VALUES)
def test_every_value_can_be_written(value):
    """CIRCLE-8: whatever crosses from a sandbox can be written as strict JSON and read back."""
    written = to_json(loads(dumps(value)))
    text = json.dumps(written, allow_nan=False)
    assert json.loads(text) == written


@pytest.mark.parametrize("nest", [lambda v: [v], lambda v: {1: v}, lambda v: {"a": (v,)}])
def test_what_nests_deep_is_described(nest):
    """Every value can be written, however deep it nests."""
    value = 0
    for _ in range(5_000):
        value = nest(value)
    text = json.dumps(to_json(value), indent=2)
    assert "$described" in text
