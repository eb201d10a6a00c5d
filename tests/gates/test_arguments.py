"""Arguments: what a signature admits, and how a call that doesn't fit is told so."""

from __future__ import annotations

import datetime as dt
import enum
from decimal import Decimal
from fractions import Fraction
from typing import Annotated, Any, Literal

import pytest
from circlet.gates import GateArgumentError, GateFault, gate
from circlet.sandbox import wire
from hypothesis import given
from hypothesis import strategies as st
from pydantic import Field


@gate
def take(
    text: str,
    count: int = 0,
    share: float = 1.0,
    flag: bool = False,
    data: bytes = b"",
    items: list[int] | None = None,
    names: tuple[str, ...] = (),
    anything: Any = None,
    kind: Literal["a", "b"] = "a",
    few: Annotated[int, Field(le=3)] = 1,
) -> None: ...


@gate(seal=("answer",))
def keep(answer: int) -> None: ...


def test_arguments_are_bound_by_position_and_by_name():
    """What is left out stays out, so that the function's own default holds."""
    assert take.check(("x", 2), {"flag": True}) == {"text": "x", "count": 2, "flag": True}


def test_a_missing_argument_is_named():
    """A call without a required argument says `missing required` (LOOP-7) and how to call it."""
    with pytest.raises(GateArgumentError, match="missing required argument: text") as caught:
        take.check((), {"count": 1})
    assert "call it as take(text: str, count: int = 0" in str(caught.value)
    assert isinstance(caught.value, TypeError)
    assert isinstance(caught.value, GateFault)


def test_an_unknown_argument_is_named_with_the_signature():
    """A misspelt argument is not dropped."""
    with pytest.raises(GateArgumentError, match=r"take: unknown argument 'txt'; call it as take\("):
        take.check(("x",), {"txt": "y"})


def test_too_many_positions_and_names_given_twice():
    """The two other ways in which a call can miss a signature."""
    with pytest.raises(GateArgumentError, match="11 arguments by position, at most 10"):
        take.check(tuple("x" * 11), {})
    with pytest.raises(GateArgumentError, match="'text' was given twice"):
        take.check(("x",), {"text": "y"})


def test_a_keyword_only_argument_is_not_taken_by_position():
    """Python's own rule for parameters after * holds."""

    @gate
    def strict(a: int, *, b: int = 0) -> None: ...

    assert strict.signature == "strict(a: int, *, b: int = 0) -> None"
    with pytest.raises(GateArgumentError, match="2 arguments by position, at most 1"):
        strict.check((1, 2), {})


@pytest.mark.parametrize(
    ("arguments", "complaint"),
    [
        ({"count": "x"}, "take: count must be an integer, got 'x'"),
        ({"count": True}, "take: count must be an integer, got True"),
        ({"count": 1.0}, "take: count must be an integer, got 1.0"),
        ({"text": b"x"}, "take: text must be a string, got b'x'"),
        ({"text": 5}, "take: text must be a string, got 5"),
        ({"data": "x"}, "take: data must be bytes, got 'x'"),
        ({"flag": 1}, "take: flag must be a boolean, got 1"),
        ({"share": "0.5"}, "take: share must be a number, got '0.5'"),
        ({"items": [1, "2"]}, "take: items[1] must be an integer, got '2'"),
        ({"kind": "c"}, "take: kind must be 'a' or 'b', got 'c'"),
        ({"few": 4}, "take: few must be less than or equal to 3, got 4"),
    ],
)
def test_a_value_of_the_wrong_type_is_told_in_one_line(arguments, complaint):
    """Scalars are strict; the complaint names the gate, the argument, and what it got."""
    with pytest.raises(GateArgumentError) as caught:
        take.check((), {"text": "x", **arguments})
    assert str(caught.value) == complaint


def test_a_long_wrong_value_is_shown_short():
    """An error never repeats a flood of data."""
    with pytest.raises(GateArgumentError) as caught:
        take.check(("x", "y" * 1_000_000), {})
    assert len(str(caught.value)) < 300


def test_a_union_complains_once():
    """What every branch of a union refused is one complaint."""

    @gate
    def either(value: int | list[str]) -> None: ...

    with pytest.raises(GateArgumentError) as caught:
        either.check((1.5,), {})
    assert str(caught.value) == "either: value must be an integer or a list, got 1.5"


def test_an_int_is_a_float_and_a_tuple_a_list():
    """Where JSON or a program can't tell the difference, nor does a gate."""
    checked = take.check(("x",), {"share": 2, "items": (1, 2), "names": ["a"]})
    assert checked["share"] == 2.0
    assert checked["items"] == [1, 2]
    assert checked["names"] == ("a",)


class Color(enum.Enum):
    RED = "red"


def test_richer_types_are_read_from_what_json_can_say():
    """An enum's value or a date's text, as a tool call gives them, become the type declared."""

    @gate
    def rich(color: Color, day: dt.date) -> None: ...

    checked = rich.check((), {"color": "red", "day": "2024-02-03"})
    assert checked == {"color": Color.RED, "day": dt.date(2024, 2, 3)}


@pytest.mark.parametrize(
    "value",
    [(1, {2}), {1: "a"}, Decimal("1.10"), Fraction(1, 3), 2**100, b"\0", dt.timedelta(1), None],
)
def test_what_is_annotated_any_arrives_untouched(value):
    """An argument of any type reaches the function as the very object that was given."""
    assert take.check(("x",), {"anything": value})["anything"] is value


@given(
    st.recursive(
        st.integers() | st.text() | st.binary(), lambda s: st.tuples(s) | st.sets(st.integers())
    )
)
def test_any_value_keeps_its_type(value):
    """Any value, however nested, keeps its type through an unannotated parameter."""

    @gate
    def plain(value) -> None: ...

    assert plain.check((value,), {})["value"] is value


def test_a_sealed_value_is_not_looked_into():
    """An argument named in `seal` may stay encoded; other values of it are checked."""
    sealed = wire.seal("not an int")
    assert keep.check((sealed,), {})["answer"] is sealed
    with pytest.raises(GateArgumentError, match="must be an integer"):
        keep.check(("x",), {})
    with pytest.raises(GateArgumentError, match="text must be a string"):
        take.check((sealed,), {})


def test_open_keywords_are_taken():
    """A function with **kwargs takes any other name."""

    @gate
    def loose(a: int, **more: Any) -> None: ...

    assert loose.check((1,), {"b": (2,)}) == {"a": 1, "b": (2,)}
    assert loose.parameters["additionalProperties"] is True


def test_parameters_that_have_no_name_are_refused():
    """Arguments are recorded by name, so *args and positional-only ones can't be declared."""
    with pytest.raises(GateFault, match="parameter 'args' can't be given by name"):

        @gate
        def many(*args: int) -> None: ...

    with pytest.raises(GateFault, match="parameter 'a' can't be given by name"):

        @gate
        def first(a: int, /) -> None: ...


def test_an_annotation_that_means_nothing_is_a_fault_of_the_declaration():
    """A type without a JSON schema, or a name that isn't there, is one line at declaration."""

    class Opaque: ...

    def opaque(x: Any) -> None: ...

    opaque.__annotations__["x"] = Opaque
    with pytest.raises(GateFault, match=r"opaque.*JSON schema") as caught:
        gate(opaque)
    assert "\n" not in str(caught.value)
    opaque.__annotations__["x"] = "Nowhere"
    with pytest.raises(GateFault, match=r"opaque.*Nowhere"):
        gate(opaque)


def test_the_signature_is_written_for_a_reader():
    """No module names, no Annotated: what a model is shown is what it would write."""
    assert take.signature == (
        "take(text: str, count: int = 0, share: float = 1.0, flag: bool = False, "
        "data: bytes = b'', items: list[int] | None = None, names: tuple[str, ...] = (), "
        "anything: Any = None, kind: Literal['a', 'b'] = 'a', few: int = 1) -> None"
    )
