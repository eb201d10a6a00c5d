"""Previews: bounded in length and in work, whatever the value is."""

from collections import Counter, OrderedDict, defaultdict, deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest
from circlet.sandbox.preview import describe, each_repr_once, show, summary


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


@dataclass
class Point:
    x: int
    y: Any = None
    hidden: int = field(default=0, repr=False)


class Pair(NamedTuple):
    first: Any
    second: Any


class MyText(str):
    """Says that it is longer than it is."""

    __slots__ = ()

    def __len__(self) -> int:
        return 10**9

    def __getitem__(self, _: Any) -> str:
        raise AssertionError


class MyInt(int):
    def bit_length(self) -> int:
        raise AssertionError


class Silent:
    def __repr__(self) -> str:
        return ""


class LyingText:
    """Its repr is a text of a class that has methods of its own."""

    def __repr__(self) -> str:
        return MyText("lies")


class Exiting:
    def __repr__(self) -> str:
        raise SystemExit


class Whole:
    """An item that must not be written."""

    def __repr__(self) -> str:
        raise AssertionError


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (Counter("aab"), "Counter({'a': 2, 'b': 1})"),
        (deque([1, 2]), "deque([1, 2])"),
        (deque([1], maxlen=3), "deque([1], maxlen=3)"),
        (Counter(a=1, b=3, c=2), "Counter({'b': 3, 'c': 2, 'a': 1})"),
        (defaultdict(int, a=1), "defaultdict(<class 'int'>, {'a': 1})"),
        ({"a": 1}.items(), "dict_items([('a', 1)])"),
        ({"a": 1}.keys(), "dict_keys(['a'])"),
        (Point(1, [2]), "Point(x=1, y=[2])"),
        (Pair(1, "b"), "Pair(first=1, second='b')"),
        (MyText("ab"), "'ab'"),
        (MyInt(3), "3"),
        (True, "True"),
        (Silent(), "<Silent: its repr is an empty text>"),
        (LyingText(), "lies"),
        (Exiting(), "<Exiting: its repr raised SystemExit>"),
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
    """Viewport: what lies between head and tail is counted and never written."""
    value = kind([1] * 100 + [Whole()] * 100_000 + [2, 3, 4])
    text = describe(value)
    assert text.rstrip(")]").endswith(" more ..., 2, 3, 4")
    assert "repr raised" not in text
    assert len(text) < 300


@pytest.mark.parametrize("size", [12, 100, 5_000])
@pytest.mark.parametrize("room", [100, 200, 5_000])
@pytest.mark.parametrize(
    "make",
    [
        *(list, tuple, set, frozenset, deque, MyList, dict.fromkeys, OrderedDict.fromkeys),
        *(Counter, lambda names: dict.fromkeys(names).keys()),
    ],
)
def test_a_cut_container_shows_head_tail_and_the_exact_number_between(
    make: Any, room: int, size: int
) -> None:
    """Viewport: the first items, how many are left out, and the last ones, each whole."""
    value = make([f"n{number}" for number in range(size)])
    text, whole = show(value, room), show(value, 10**6)
    head, cut, rest = text.partition("... ")
    if not cut:
        assert text == whole
        return
    count, mark, tail = rest.partition(" more ..., ")
    assert mark
    assert whole.startswith(head)
    assert whole.endswith(f", {tail}")
    assert head.count("'n") + int(count.replace(",", "")) + tail.count("'n") == size
    assert room * 0.8 < len(text) < room + 40


def test_a_cut_dictionary_shows_numbers_as_they_are() -> None:
    """Viewport: a value is told by type and size only where that is shorter than itself."""
    text = show({number: number * 1.5 for number in range(3_000)}, ROOM)
    assert "<" not in text


# -- room is shared out ------------------------------------------------------------------------

ROOM = 600


def test_a_long_item_leaves_room_for_the_others() -> None:
    """Viewport: of several items each is seen; what the short ones don't need the long have."""
    text = show({"a": "x" * 9_000, "b": [1, 2], "c": {"d": "y" * 9_000, "e": 5}, "f": None}, ROOM)
    for key in ("'a': 'x", "'b': [1, 2]", "'c': {'d': 'y", "'e': 5", "'f': None"):
        assert key in text
    assert ROOM * 0.8 < len(text) <= ROOM + 50


def test_every_key_is_seen_before_any_value_whole() -> None:
    """Viewport: where a dictionary's values have no room, they are told by type and size."""
    text = show({f"k{n}": ["v" * 100] * n for n in range(20)}, ROOM)
    for n in range(20):
        assert f"'k{n}': " in text
    assert "<list, 18 items>" in text


def test_records_are_shown_in_each_item() -> None:
    """Viewport: of a few like records each is shown with all its keys."""
    records = [{"id": n, "text": "t" * 3_000, "tags": ["a", "b"]} for n in range(3)]
    text = show(records, ROOM)
    assert text.count("'tags': ['a', 'b']") == 3
    assert text.count("chars left out") == 3


@pytest.mark.parametrize(
    "value",
    [
        Point(1, "x" * 10_000_000),
        Pair(["x" * 10_000_000], 2),
        [Point(n, Pair("x" * 9_999, n)) for n in range(9_999)],
        dict.fromkeys(range(100_000), "y" * 1_000).values(),
        MyText("z" * 10_000_000),
        b"b" * 10_000_000,
        deque(range(1_000_000)),
        10**10_000_000,
        [[[["deep"] * 99] * 99] * 99] * 99,
        {(n, n): {n: "w" * n} for n in range(5_000)},
    ],
    ids=lambda value: type(value).__name__,
)
def test_what_is_shown_is_bounded(value: Any) -> None:
    """Viewport: generated reprs, views, subclasses and huge numbers are cut as lists are."""
    assert len(show(value, ROOM)) <= ROOM + 150


def test_a_cut_text_says_exactly_how_much_is_missing() -> None:
    """Viewport: head, exact count, tail; characters stay whole."""
    text = "".join(chr(0x10000 + n) for n in range(5_000))
    head, _, rest = show(text, ROOM).partition("... ")
    count, _, tail = rest.partition(" chars left out ...")
    head, tail = eval(head), eval(tail)
    assert text.startswith(head)
    assert text.endswith(tail)
    assert len(head) + int(count.replace(",", "")) + len(tail) == 5_000


def test_values_that_hold_themselves_end() -> None:
    """Viewport: a dataclass or a namedtuple that holds itself is entered once."""
    point = Point(1)
    point.y = [point]
    assert show(point, ROOM) == "Point(x=1, y=[...])"
    nested: list[Any] = []
    for _ in range(100_000):
        nested = [nested]
    assert show(nested, ROOM) == "[" * 20 + "..." + "]" * 20


def test_a_repr_may_be_run_once() -> None:
    """An object's own code runs once while one thing is made of it, however often it is shown."""

    class Counting:
        count = 0

        def __repr__(self) -> str:
            Counting.count += 1
            return f"number {Counting.count}"

    value = [Counting()]
    with each_repr_once():
        assert show(value, ROOM) == show(value, 20) == "[number 1]"
    assert describe(value) == "list, 1 item: [number 2]"


@pytest.mark.parametrize(
    ("value", "text"),
    [
        ([1, 2], "list, 2 items"),
        ("abc", "str, 3 chars"),
        (7, "int: 7"),
        (None, "None"),
        (Counter("ab"), "Counter, 2 items"),
        (len, "builtin_function_or_method"),
    ],
)
def test_a_summary(value: Any, text: str) -> None:
    """Viewport: type and size, or a number itself."""
    assert summary(value) == text
