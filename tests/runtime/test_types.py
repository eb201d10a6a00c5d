"""Types: every value that the codec knows comes through every door unchanged."""

import datetime as dt
from decimal import Decimal
from fractions import Fraction

import pytest
from circlet import ChildFailed, GateInterrupted, ScriptedLLM, Truncated, gate

VALUES = [
    None,
    True,
    42,
    -(2**200),
    1.5,
    float("inf"),
    2 + 3j,
    "text",
    "half \ud83d",
    b"bytes\x00",
    [1, [2, [3]]],
    (1, (2,), []),
    {1, 2},
    frozenset({"a"}),
    {1: {2: {"three": (4,)}}, (5, 6): None, b"k": "v"},
    Decimal("0.10"),
    Fraction(1, 3),
    dt.datetime(2026, 1, 2, 3, 4, 5, 6),
    dt.datetime(2026, 1, 2, tzinfo=dt.timezone(dt.timedelta(hours=2))),
    dt.date(2026, 1, 2),
    dt.time(3, 4, 5),
    dt.timedelta(days=1, microseconds=7),
    Truncated("max_turns", [1], "done something"),
    ChildFailed("ProviderError", "no", "abc"),
    GateInterrupted("killed", "may have happened", ""),
]
everyone = pytest.mark.parametrize("value", VALUES, ids=lambda value: type(value).__name__)


def same(one, other):
    """Equal, and of the same types all the way down."""
    if type(one) is not type(other):
        return False
    if isinstance(one, dict):
        return list(one) == list(other) and all(same(one[key], other[key]) for key in one)
    if isinstance(one, list | tuple):
        return len(one) == len(other) and all(map(same, one, other))
    return one == other


@pytest.mark.parametrize("value", [VALUES], ids=["all"])
def test_through_every_door_at_once(deep, value):
    """CIRCLE-8: through context, a gate and back, a child's context and answer, and done."""
    given = []

    @gate
    def keep(value):
        """Keep a value and give it back."""
        given.append(value)
        return value

    parent = "done(call_entity('x', context=keep(context)))"
    spell = deep([{"code": parent}], keep, child_llm=ScriptedLLM([{"code": "done(context)"}]))
    cast = spell.cast("go", context=value)
    assert same(given[0], value)
    assert same(cast.result, value)
    assert same(cast.thread.result, value)


@everyone
def test_through_done(code, value):
    """CIRCLE-8: alone as well, from the context straight to the answer."""
    spell = code([{"code": "done(context)"}])
    assert same(spell.cast("go", context=value).result, value)


def test_through_a_batch(deep):
    """COMP-3: each position of a batch keeps its value's type."""
    parent = "done(call_entity_batch([{'intent': 'x', 'context': v} for v in context]))"
    spell = deep(
        [{"code": parent}],
        child_llm=ScriptedLLM({"x": [{"code": "done(context)"}]}),
    )
    plain = [value for value in VALUES if not isinstance(value, Exception)]
    assert same(spell.cast("go", context=plain).result, plain)


def test_what_a_program_makes(code):
    """CIRCLE-8: values made in the sandbox come out with their types."""
    source = """
from datetime import date
from decimal import Decimal
from fractions import Fraction
done([(1, {2: {3}}), b"x", 10**50, Decimal("1.0"), Fraction(1, 2), date(2026, 1, 2), None])
"""
    assert same(
        code([{"code": source}]).cast("go").result,
        [
            (1, {2: {3}}),
            b"x",
            10**50,
            Decimal("1.0"),
            Fraction(1, 2),
            dt.date(2026, 1, 2),
            None,
        ],
    )


def test_an_object_of_a_class_is_described(code):
    """CIRCLE-8: what can't cross comes out as a description, and ends nothing."""
    source = "class Box:\n    def __repr__(self): return 'a box'\ndone(Box())"
    result = code([{"code": source}]).cast("go").result
    assert (result.type, result.text) == ("Box", "a box")
