"""Previews: bounded in length and in work, whatever the value is."""

from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

import pytest
from circlet.sandbox.preview import describe, show


class MyList(list):
    """Leaves ``__repr__`` alone."""


class MyTuple(tuple):
    __slots__ = ()


class MySet(set):
    pass


class MyFrozen(frozenset):
    pass


class MyDict(dict):
    pass


class Sly(list):
    """Gives other items than it holds."""

    def __iter__(self) -> Any:
        raise AssertionError

    def __len__(self) -> int:
        raise AssertionError


class Own(list):
    def __repr__(self) -> str:
        return "its own"


class Heir(Own):
    pass


class Whole:
    """An item that must not be written."""

    def __repr__(self) -> str:
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (deque([1, 2]), "deque([1, 2])"),
        (defaultdict(int, a=1), "defaultdict({'a': 1})"),
        (OrderedDict(a=1), "OrderedDict({'a': 1})"),
        (MyList([1, [2]]), "MyList([1, [2]])"),
        (MyTuple([1]), "MyTuple((1,))"),
        (MySet(), "MySet()"),
        (MySet([1]), "MySet({1})"),
        (MyFrozen([1]), "MyFrozen({1})"),
        (MyDict(a=MyDict()), "MyDict({'a': MyDict({})})"),
        (Sly([1]), "Sly([1])"),
        (Own([1]), "its own"),
        (Heir([1]), "its own"),
        (frozenset([1]), "frozenset({1})"),
        ((1,), "(1,)"),
    ],
)
def test_containers_are_written_by_what_they_hold(value: Any, text: str) -> None:
    """Viewport: a subclass is written as its base is, under its name; one's own repr is kept."""
    assert show(value, 200) == text


def test_the_moved_order_of_an_ordered_dict_is_shown() -> None:
    """An OrderedDict is written in its own order, which is not that of the dict under it."""
    moved = OrderedDict(a=1, b=2)
    moved.move_to_end("a")
    assert show(moved, 200) == "OrderedDict({'b': 2, 'a': 1})"


@pytest.mark.parametrize("kind", [list, tuple, deque, MyList, MyTuple])
def test_a_huge_container_is_not_rendered_whole(kind: Any) -> None:
    """Viewport: what comes after the budget is counted and never written."""
    value = kind([1] * 100 + [Whole()] * 100_000)
    text = describe(value)
    assert text.rstrip(")]").endswith(" more")
    assert "repr raised" not in text
    assert len(text) < 300
