"""The frames and the codec: types are kept, and hostile bytes do no harm."""

import datetime as dt
import struct
from collections import Counter, OrderedDict, defaultdict, namedtuple
from contextlib import suppress
from decimal import Decimal
from enum import IntEnum
from fractions import Fraction
from typing import Any

import msgpack
import pytest
from circlet.sandbox import wire
from circlet.sandbox.codec import MAX_ALIKE, MAX_DEPTH, MAX_LOOSE_KEYS, MAX_TEXT
from circlet.sandbox.errors import CodecError, ProtocolError
from circlet.sandbox.outcomes import ChildFailed, GateInterrupted, Truncated
from circlet.sandbox.scalars import MAX_EXPONENT, MAX_INT_BYTES
from circlet.sandbox.survey import MAX_SURROGATES, survey
from circlet.sandbox.wire import (
    HEADER,
    MAX_FRAME,
    Described,
    Inbox,
    NoRoom,
    Op,
    Sealed,
    dumps,
    frame,
    loads,
    read_setting,
    seal,
    setting,
)
from hypothesis import given
from hypothesis import strategies as st

texts = st.text(st.characters())  # lone surrogates too
zones = st.integers(-1439, 1439).map(lambda n: dt.timezone(dt.timedelta(minutes=n)))
hashable_atoms = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(-(2**3000), 2**3000)
    | st.floats(allow_nan=False)
    | st.complex_numbers(allow_nan=False)
    | texts
    | st.binary()
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.datetimes(timezones=st.none() | zones)
    | st.dates()
    | st.times(timezones=st.none() | zones)
    | st.timedeltas()
)
hashables = st.recursive(
    hashable_atoms,
    lambda inner: st.lists(inner, max_size=3).map(tuple) | st.frozensets(inner, max_size=3),
    max_leaves=6,
)
outcomes = st.builds(ChildFailed, texts, texts, texts) | st.builds(
    GateInterrupted, texts, texts, texts
)
values = st.recursive(
    hashables | outcomes | st.builds(Described, texts, texts),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.lists(inner, max_size=4).map(tuple)
        | st.dictionaries(hashables, inner, max_size=4)
        | st.sets(hashables, max_size=4)
        | st.builds(Truncated, texts, inner, texts)
    ),
    max_leaves=12,
)


def shape(value: Any) -> Any:
    """A value with the type of each part in sight, so that 1, 1.0 and True differ."""
    kind = type(value)
    if kind in (list, tuple):
        return kind, [shape(item) for item in value]
    if kind in (set, frozenset):
        return kind, {shape_key(item) for item in value}
    if kind is dict:
        return kind, [(shape(key), shape(item)) for key, item in value.items()]
    if kind is Truncated:
        return kind, value.reason, shape(value.partial), value.summary
    return kind, value


def shape_key(value: Any) -> Any:
    return type(value), value


@given(values)
def test_types_are_kept(value: Any) -> None:
    """CIRCLE-8: every codec type comes back equal and of its own type, however nested."""
    assert shape(loads(dumps(value))) == shape(value)


@given(values)
def test_sealed_values_open_where_they_are_wanted(value: Any) -> None:
    """A sealed value passes through a host unopened, and is a plain value to its receiver."""
    sealed = seal(value)
    assert loads(dumps([sealed])) == [sealed]
    assert shape(loads(dumps([sealed]), unseal=True)) == shape([value])
    assert shape(sealed.open()) == shape(value)


def test_fold_of_a_time_is_kept() -> None:
    """The second of two equal wall-clock times stays the second."""
    late = dt.datetime(2025, 10, 26, 2, 30, fold=1)
    assert loads(dumps(late)).fold == 1
    assert loads(dumps(late.time())).fold == 1


class _Colour(str):
    def __str__(self) -> str:
        return "a lie"


@pytest.mark.parametrize(
    ("value", "plain"),
    [
        (defaultdict(list, {"a": [1]}), {"a": [1]}),
        (Counter("aab"), {"a": 2, "b": 1}),
        (OrderedDict(x=1), {"x": 1}),
        (namedtuple("Point", "x y")(1, 2), (1, 2)),
        (IntEnum("Size", {"BIG": 1 << 70}).BIG, 1 << 70),
        (IntEnum("Size", {"SMALL": 3}).SMALL, 3),
        (type("Own", (set,), {})({1}), {1}),
        (_Colour("red"), "red"),
        (bytearray(b"ab"), b"ab"),
    ],
)
def test_subclasses_cross_as_their_base(value: Any, plain: Any) -> None:
    """An instance of a subclass crosses as the built-in value under it, past its methods."""
    got = loads(dumps(value))
    assert (type(got), got) == (type(plain), plain)


def test_other_objects_are_described() -> None:
    """An object that can't cross leaves its type and a preview."""
    got = loads(dumps({"here": range(3)}))["here"]
    assert got == Described("range", "range(0, 3)")


def test_what_cannot_be_encoded_says_so() -> None:
    """Too deep, cyclic and too large values are one clear CodecError."""
    cycle: list[Any] = []
    cycle.append(cycle)
    deep: Any = ()
    for _ in range(MAX_DEPTH + 2):
        deep = (deep,)
    for bad, word in ((cycle, "deep"), (deep, "deep"), (1 << (8 * MAX_INT_BYTES + 8), "too large")):
        with pytest.raises(CodecError, match=word):
            dumps(bad)


def test_deep_lists_can_be_sealed() -> None:
    """A preview gives up on depth long before Python's stack does."""
    deep: Any = []
    for _ in range(400):
        deep = [deep]
    assert "..." in seal(deep).text
    assert shape(seal(deep).open()) == shape(deep)


@given(st.binary(max_size=200), st.booleans(), st.booleans())
def test_arbitrary_bytes_give_a_value_or_a_codec_error(
    data: bytes, unseal: bool, guarded: bool
) -> None:
    """Whatever bytes come, decoding gives a value or a CodecError."""
    with suppress(CodecError):
        loads(data, unseal=unseal, guarded=guarded)


@given(values, st.data())
def test_damaged_bytes_give_a_value_or_a_codec_error(value: Any, data: st.DataObject) -> None:
    """A message with a byte changed, or cut short, is a value or a CodecError."""
    good = bytearray(dumps(value))
    place = data.draw(st.integers(0, len(good) - 1))
    good[place] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(good)))
    for damaged in (bytes(good), bytes(good[:cut])):
        with suppress(CodecError):
            loads(damaged)


@given(st.integers(0, 127), st.binary(max_size=40) | values.map(dumps))
def test_hostile_extensions_give_a_value_or_a_codec_error(code: int, content: bytes) -> None:
    """An extension with any code and any content does no harm."""
    with suppress(CodecError):
        loads(msgpack.packb(msgpack.ExtType(code, content)), unseal=True, guarded=True)


@pytest.mark.parametrize(
    "hostile",
    [
        msgpack.packb(msgpack.ExtType(4, b"\x01" * (MAX_INT_BYTES + 1))),  # a huge int
        msgpack.packb(msgpack.ExtType(6, b"1" * (MAX_INT_BYTES + 1))),  # a huge Decimal
        msgpack.packb(msgpack.ExtType(7, msgpack.packb([1, 0]))),  # a Fraction over nought
        msgpack.packb(msgpack.ExtType(23, msgpack.packb(["OSError", "", "", ""]))),
        msgpack.packb(msgpack.ExtType(21, msgpack.packb([b"", "x" * (MAX_TEXT + 1)]))),
        b"\xdd\xff\xff\xff\xff",  # a list that claims four thousand million items
        b"\xc6\xff\xff\xff\xff",  # bytes that claim as much
    ],
)
def test_hostile_values_are_refused(hostile: bytes) -> None:
    """A value that would cost its reader, or that is none, is refused."""
    with pytest.raises(CodecError):
        loads(hostile)


def test_deep_extensions_are_refused() -> None:
    """Nesting is bounded on the way in as well."""
    data = b"\x90"
    for _ in range(MAX_DEPTH + 2):
        data = msgpack.packb(msgpack.ExtType(2, b"\x91" + data))
    with pytest.raises(CodecError, match="deep"):
        loads(data)


@pytest.mark.parametrize("make", [lambda n: dict.fromkeys(range(n)), lambda n: set(range(n))])
def test_keys_that_can_collide_are_bounded_where_nobody_asked(make: Any) -> None:
    """A guarded read refuses more than 1,000 keys whose hashes a sender can choose."""
    many = dumps(make(MAX_LOOSE_KEYS + 1))
    with pytest.raises(CodecError, match="keys that are not strings"):
        loads(many, guarded=True)
    assert len(loads(many)) == MAX_LOOSE_KEYS + 1
    assert len(loads(dumps(make(MAX_LOOSE_KEYS)), guarded=True)) == MAX_LOOSE_KEYS
    assert loads(dumps({str(n): n for n in range(2000)}), guarded=True)["1999"] == 1999


# -- frames ----------------------------------------------------------------------------------


def feed(inbox: Inbox, data: bytes) -> list[tuple[Op, bytes]]:
    """Put bytes in as they fit; gives the frames that come out."""
    frames = []
    while True:
        while (taken := inbox.take()) is not None:
            frames.append((taken[0], bytes(taken[1])))
        if not data:
            return frames
        room = inbox.buffer()
        count = min(len(room), len(data))
        assert count
        room[:count] = data[:count]
        inbox.advance(count)
        data = data[count:]


sizes = st.integers(0, 50) | st.integers(60_000, 140_000)


@given(
    st.lists(st.tuples(st.sampled_from(Op), sizes), max_size=6),
    st.lists(st.integers(500, 70_000), min_size=1, max_size=20),
)
def test_frames_cut_anywhere_come_out_whole(wanted: list[tuple[Op, int]], cuts: list[int]) -> None:
    """However the bytes are cut on their way, the same frames come out in order."""
    sent = [(op, bytes([number]) * size) for number, (op, size) in enumerate(wanted)]
    stream = b"".join(frame(op, body) for op, body in sent)
    inbox, got, place, turn = Inbox(), [], 0, 0
    while place < len(stream):
        piece = stream[place : place + cuts[turn % len(cuts)]]
        got += feed(inbox, piece)
        place, turn = place + len(piece), turn + 1
    assert got == sent


def test_small_frames_are_cut_at_every_byte() -> None:
    """A frame that comes byte by byte is the same frame."""
    inbox, got = Inbox(), []
    for byte in frame(Op.RUN, b"body") * 3:
        got += feed(inbox, bytes([byte]))
    assert got == [(Op.RUN, b"body")] * 3


@pytest.mark.parametrize("size", [10, 60_000, 70_000, 3_000_000])
@pytest.mark.parametrize("kind", ["bytes", "bytearray"])
def test_a_frame_without_room_is_read_over(
    kind: str, size: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Memory: a frame that there is no room for is told of, and the next one comes out whole."""

    def no_memory(*_: object) -> None:
        raise MemoryError

    inbox, left = Inbox(), frame(Op.SET, bytes(size))
    monkeypatch.setattr(wire, kind, no_memory, raising=False)
    with suppress(NoRoom):
        while left:
            inbox.take()
            room = inbox.buffer()
            count = min(len(room), len(left))
            room[:count] = left[:count]
            inbox.advance(count)
            left = left[count:]
        took = inbox.take()
        assert took is not None  # it had another room
        assert len(took[1]) == size
    monkeypatch.undo()
    assert feed(inbox, frame(Op.RUN, b"next")) == [(Op.RUN, b"next")]


@pytest.mark.parametrize("length", [MAX_FRAME + 1, 0xFFFFFFFF])
def test_size_is_checked_before_anything_is_read(length: int) -> None:
    """A header that claims too much is refused by itself: no buffer is made for it."""
    inbox = Inbox()
    with pytest.raises(ProtocolError, match="claims"):
        feed(inbox, struct.pack("<IB", length, Op.RUN))


def test_unknown_opcodes_are_refused() -> None:
    """A frame that says what nobody knows is a protocol error."""
    with pytest.raises(ProtocolError, match="opcode 99"):
        feed(Inbox(), HEADER.pack(0, 99))


@given(st.text(st.characters(codec="utf-8"), min_size=1, max_size=20), values)
def test_a_setting_is_read_as_it_was_written(name: str, value: Any) -> None:
    """A variable's name and value come out of the frame that sets it."""
    [(op, body)] = feed(Inbox(), b"".join(setting(name, seal(value))))
    got, data = read_setting(body)
    assert (op, got) == (Op.SET, name)
    assert shape(loads(data)) == shape(value)


def test_sealing_twice_is_sealing_once() -> None:
    """What is sealed is handed on as it is."""
    sealed = seal([1])
    assert seal(sealed) is sealed
    assert sealed == Sealed(dumps([1]), "list, 1 item: [1]")


# -- bounds of values ------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "word"),
    [
        (Decimal("1E+999999"), "exponent 999,999"),
        (Decimal("1E-999999"), "exponent -999,999"),
        (Fraction(3**400_000, 7**300_000), "too many digits"),
    ],
)
def test_numbers_that_are_large_to_work_with_do_not_cross(value: Any, word: str) -> None:
    """A few digits that stand for very many are refused where they are sent, with the limit."""
    with pytest.raises(CodecError, match=word):
        dumps([value])


@pytest.mark.parametrize(
    "value",
    [
        Decimal(f"1E+{MAX_EXPONENT}"),
        Decimal("-Infinity"),
        Fraction(3**100_000, 7**50_000),
        sum((Fraction(1, n) for n in range(1, 2_000)), Fraction()),
    ],
)
def test_numbers_of_a_size_that_programs_have_cross(value: Any) -> None:
    """The bounds leave room for what is computed with such numbers."""
    got = loads(dumps(value), guarded=True)
    assert (type(got), got) == (type(value), value)


@pytest.mark.parametrize("guarded", [False, True])
@pytest.mark.parametrize("make", [frozenset, dict.fromkeys])
def test_keys_that_collide_are_refused_wherever_they_are_opened(make: Any, guarded: bool) -> None:
    """The time to build a map of keys with one hash goes by their square: it is not begun."""
    alike = make(n * ((1 << 61) - 1) for n in range(MAX_ALIKE + 1))
    with pytest.raises(CodecError, match="hash alike"):
        loads(dumps(alike), guarded=guarded)


def test_points_about_the_origin_are_no_collisions() -> None:
    """To Python -1 and -2 hash alike: what honest programs have of that is let through."""
    points = {(x, y, z) for x in range(-9, 10) for y in range(-9, 10) for z in range(-9, 10)}
    edges = {frozenset({(x, y), (x + 1, y)}) for x in range(-200, 200) for y in range(-9, 10)}
    for value in (points, dict.fromkeys(points, 1), edges):
        assert loads(dumps(value)) == value


def test_text_that_only_looks_like_surrogates_is_read() -> None:
    """Korean text begins many characters with the byte that surrogates begin with."""
    text = "\ud55c" * (MAX_SURROGATES + 1)
    assert loads(dumps(text), guarded=True) == text


@pytest.mark.parametrize("unseal", [False, True])
@pytest.mark.parametrize("guarded", [False, True])
def test_nothing_but_the_codecs_own_types_is_made(unseal: bool, guarded: bool) -> None:
    """Msgpack has a class of its own for one extension: no worker has the host make it."""
    for stamp in (b"\xd6\xff" + bytes(4), b"\xd7\xff" + bytes(8), b"\xc7\x0c\xff" + bytes(12)):
        with pytest.raises(CodecError, match="no extension type"):
            loads(b"\x91" + stamp, unseal=unseal, guarded=guarded)


@given(values)
def test_a_survey_finds_in_a_value_what_is_in_it(value: Any) -> None:
    """A look at the bytes passes every honest value, and counts what stays sealed."""
    data = dumps([value, seal(value)])
    cost = survey(data, 1_000_000, unseal=False)
    assert cost.sealed == len(dumps(value))
    assert cost.items < len(data)
    assert survey(data, 1_000_000, unseal=True).sealed == 0
