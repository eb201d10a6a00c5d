"""A value as a short text: bounded in length whatever the value is (the Viewport rule)."""

from __future__ import annotations

import collections
import dataclasses
import re
from collections import Counter, OrderedDict, defaultdict, deque
from collections.abc import Iterator
from contextlib import contextmanager
from itertools import islice
from typing import Any

from .deadline import Interrupt

PREVIEW_CHARS = 200
MAX_LEVELS = 20
"""How deep containers are shown; what nests deeper is left out."""
NAME_CHARS = 100
"""Characters of a class's name that are shown."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>|\Z)")


def without_addresses(text: str) -> str:
    """The text with ``<function f at 0x7f...>`` as ``<function f>``."""
    return _ADDRESS.sub("", text) if " at 0x" in text else text


_VIEWS: tuple[type, ...] = (type({}.keys()), type({}.values()), type({}.items()))
_BRACKETS: dict[type, tuple[str, str]] = {
    list: ("[", "]"),
    tuple: ("(", ")"),
    set: ("{", "}"),
    frozenset: ("frozenset({", "})"),
    dict: ("{", "}"),
    deque: ("[", "]"),
    Counter: ("{", "}"),
    OrderedDict: ("{", "}"),
    defaultdict: ("{", "}"),
    **dict.fromkeys(_VIEWS, ("[", "]")),
}
"""What is written item by item, and the instances of subclasses that leave ``__repr__`` alone."""
_PLAIN = (list, tuple, set, frozenset, dict)
_TEXTS = (str, bytes, bytearray)
_UNITS: dict[type, str] = {str: "chars", bytes: "bytes", bytearray: "bytes"}
_SCALARS = (int, float, complex, bool, type(None))
_NAMEDTUPLE = collections.namedtuple("_NAMEDTUPLE", ()).__repr__.__code__
_TEXT_ROOM, _ITEM_ROOM = 20, 80
"""Characters that a text and a list's item have in any case."""
_VALUE_ROOM = 50
"""Characters below which a dictionary's value that needs more is told by its type and size."""
_MARK_ROOM = 36
_LAST = 3
"""Items that are written from the end, where not all have room."""
_WEIGHED, _SAMPLE = 500, 4
"""Items of a container, and of one inside it, by which room is shared out."""
_SEARCHED = 1_000
"""Characters of an object's own text that are searched for addresses, past those that are shown."""
_LONG_INT = 14_000
"""Bits of an int whose decimal digits CPython refuses to write."""


def class_name(value: Any) -> str:
    """The name of a value's class, of a length that can be shown."""
    # A program may have named its class by a text with methods of its own.
    return str.__str__(type(value).__name__)[:NAME_CHARS]


def size_of(value: Any) -> str:
    """How much a value holds, for example ``3 items``; the empty string where that is unknown."""
    shape = _shape(type(value))
    if shape not in _BRACKETS and shape not in _TEXTS:
        return ""
    size = shape.__len__(value)
    unit = _UNITS.get(shape, "items")
    return f"{size:,} {unit[:-1] if size == 1 else unit}"


def summary(value: Any) -> str:
    """Type and size, or a number itself: ``list, 3 items`` or ``int: 3``."""
    if value is None:
        return "None"
    if type(value) in _SCALARS:
        return f"{class_name(value)}: {show(value, _ITEM_ROOM)}"
    size = size_of(value)
    return f"{class_name(value)}, {size}" if size else class_name(value)


def describe(value: Any, limit: int = PREVIEW_CHARS) -> str:
    """Type, size and a preview, for example ``list, 3 items: [1, 2, 3]``."""
    size = size_of(value)
    return f"{class_name(value)}{', ' if size else ''}{size}: {show(value, limit)}"


def show(value: Any, limit: int) -> str:
    """``repr(value)``, cut off inside once it would pass ``limit`` characters by much.

    Containers are written item by item, so that a huge one is never rendered whole, and
    share their room out, so that one long item doesn't keep the others from being seen. The
    result may pass ``limit`` by the length of the marks that say what was left out.
    """
    writer = Writer()
    writer.write(value, limit)
    return writer.text


@contextmanager
def each_repr_once() -> Iterator[None]:
    """Inside, an object's own ``__repr__`` runs once, however often the object is written."""
    global _written
    _written = {}
    try:
        yield
    finally:
        _written = None


_written: dict[int, tuple[Any, str]] | None = None


def _shape(kind: type) -> Any:
    """The class by whose rules an instance of ``kind`` is written: where its repr comes from."""
    if kind in _BRACKETS or kind in _TEXTS:
        return kind
    return next(base for base in type.mro(kind) if "__repr__" in base.__dict__)


def _field_names(value: Any, owner: type) -> list[str] | None:
    """The fields of a dataclass or namedtuple whose repr is the generated one, else None."""
    method = owner.__dict__["__repr__"]
    method = getattr(method, "__wrapped__", method)
    code = getattr(method, "__code__", None)
    if code is _NAMEDTUPLE and isinstance(value, tuple):
        return [name for name in owner.__dict__.get("_fields", ()) if type(name) is str]
    if code is not None and code.co_filename == "<string>" and dataclasses.is_dataclass(owner):
        return [field.name for field in dataclasses.fields(owner) if field.repr]
    return None


def _is_namesake(value: Any, shape: type) -> bool:
    """Whether a class passes for the plain one: that of ``__dict__`` does."""
    return shape in _PLAIN and class_name(value) == shape.__name__


class Writer:
    """Writes a value within a budget of characters.

    Attributes:
        text: What has been written so far, also where an object's own code broke it off.
    """

    def __init__(self) -> None:
        self._parts: list[str] = []
        self._size = 0
        self._open: set[int] = set()

    @property
    def text(self) -> str:  # noqa: D102 - see Attributes
        return "".join(self._parts)

    def write(self, value: Any, room: int) -> None:
        """Write a value in about ``room`` characters."""
        shape = _shape(type(value))
        if shape in _BRACKETS:
            self._container(value, shape, room)
        elif shape in _TEXTS:
            self._text(value, shape, room)
        elif shape is int and int.bit_length(value) > _LONG_INT:
            self._put(f"<int of {int.bit_length(value):,} bits>")
        else:
            names = _field_names(value, shape)
            if names is None:
                self._object(value, room)
            else:
                self._record(value, names, room)

    def _put(self, text: str) -> None:
        self._parts.append(text)
        self._size += len(text)

    # -- what holds other values -----------------------------------------------------------------

    @contextmanager
    def _inside(self, value: Any) -> Iterator[bool]:
        """Whether a value may be entered: not one that holds itself, or that nests too deep."""
        if id(value) in self._open or len(self._open) == MAX_LEVELS:
            self._put("...")
            yield False
            return
        self._open.add(id(value))
        yield True
        self._open.discard(id(value))

    def _container(self, value: Any, shape: Any, room: int) -> None:
        """Write a container by the methods of its ``shape``, past those of its own class."""
        with self._inside(value) as entered:
            if not entered:
                return
            size = shape.__len__(value)
            if not size and shape in (set, frozenset):
                self._put(f"{class_name(value)}()")
                return
            opening, closing = _BRACKETS[shape]
            if type(value) not in _PLAIN and not _is_namesake(value, shape):
                opening, closing = f"{class_name(value)}({opening[-1]}", f"{closing[0]})"
            if shape is defaultdict:
                opening = f"{opening[:-1]}{self._factory(value)}, {opening[-1]}"
            if shape is deque and deque.maxlen.__get__(value) is not None:
                closing = f"{closing[:-1]}, maxlen={deque.maxlen.__get__(value)})"
            self._put(opening)
            self._items(value, shape, size, room - len(opening) - len(closing))
            self._put("," * (shape is tuple and size == 1) + closing)

    @staticmethod
    def _factory(value: Any) -> str:
        writer = Writer()
        writer.write(vars(defaultdict)["default_factory"].__get__(value), _ITEM_ROOM)
        return writer.text

    def _items(self, value: Any, shape: Any, size: int, room: int) -> None:
        """Write items: each has what the later ones, as far as they are weighed, can spare.

        Where not all have room, the last few are written too, after the number left out.
        """
        is_dict = issubclass(shape, dict)
        items = list(islice(_iterate(value, shape), max(room // 3, 1)))
        weights = [_weight(item, is_dict) for item in items[: min(_WEIGHED, room // 3 + 1)]]
        share = _level(weights, room * len(weights) // max(size, 1))
        if not is_dict:
            share = max(share, _ITEM_ROOM)
        needed = sum(min(weight, share) for weight in weights)
        least = sum(min(weight, max(share, _TEXT_ROOM)) for weight in weights)
        last: list[Any] = []
        kept = 0
        if least * size > room * len(weights):
            last, kept = _last_few(value, shape, size, room // 4)
        start = self._size
        for index, item in enumerate(items):
            left = room - (self._size - start)
            later = needed if size <= len(weights) else (size - index) * 3
            self._put(", " * bool(index))
            if left <= 0 or (index and left <= kept and later > left):
                self._rest(last, is_dict, size - index, kept)
                return
            needed -= min(weights[index], share) if index < len(weights) else 0
            self._item(item, is_dict, min(max(left - needed, min(share, left)), left))
        if size > len(items):
            self._put(", ")
            self._rest(last, is_dict, size - len(items), kept)

    def _rest(self, last: list[Any], is_dict: bool, size: int, room: int) -> None:
        """Write how many are left out of the ``size`` items that remain, and the last of them."""
        texts: list[str] = []
        for item in reversed(last[-size:]):
            part = Writer()
            part._open = self._open
            part._item(item, is_dict, room // len(last))
            room -= part._size
            if texts and room < 0:
                break
            texts.append(part.text)
        if size > len(texts):
            texts.append(f"... {size - len(texts):,} more" + " ..." * bool(texts))
        self._put(", ".join(reversed(texts)))

    def _item(self, item: Any, is_pair: bool, room: int) -> None:
        if is_pair:
            start = self._size
            self.write(item[0], max(room // 2, _VALUE_ROOM))
            self._put(": ")
            room -= self._size - start
            item = item[1]
            if max(room, _TEXT_ROOM) < min(_estimate(item), _VALUE_ROOM):
                self._put(f"<{summary(item)}>")
                return
        self.write(item, room)

    def _record(self, value: Any, names: list[str], room: int) -> None:
        """Write a dataclass or a namedtuple as its generated repr does, but within bounds."""
        with self._inside(value) as entered:
            if not entered:
                return
            self._put(f"{type(value).__qualname__[:NAME_CHARS]}(")
            start = self._size
            for index, name in enumerate(names):
                left = room - (self._size - start)
                if index and left <= 0:
                    self._put(f", ... {len(names) - index:,} more")
                    break
                self._put(f"{', ' * bool(index)}{name[:NAME_CHARS]}=")
                try:
                    field = getattr(value, name)
                except AttributeError:
                    self._put("<not set>")
                    continue
                share = left // (len(names) - index)
                self.write(field, max(share, _TEXT_ROOM))
            self._put(")")

    # -- what does not ---------------------------------------------------------------------------

    def _text(self, value: Any, shape: Any, room: int) -> None:
        size, room = shape.__len__(value), max(room, _TEXT_ROOM)
        if size <= room:
            self._put(shape.__repr__(value))
            return
        kept = max(room - _MARK_ROOM, _TEXT_ROOM)
        head = kept * 2 // 3
        tail = kept - head
        first, last = (
            shape.__getitem__(value, part) for part in (slice(head), slice(size - tail, size))
        )
        cut = f"{size - head - tail:,} {_UNITS[shape]}"
        self._put(f"{first!r}... {cut} left out ...{last!r}")

    def _object(self, value: Any, room: int) -> None:
        whole, room = _own_text(value), max(room, _TEXT_ROOM)
        text = without_addresses(whole[: room + _SEARCHED])
        left_out = max(len(whole) - room - _SEARCHED, 0) + max(len(text) - room, 0)
        self._put(f"{text[:room]}... {left_out:,} chars left out" if left_out else text)


def _own_text(value: Any) -> str:
    """What an object's own ``__repr__`` makes of it, or that it failed."""
    if _written is not None and id(value) in _written:
        return _written[id(value)][1]
    try:
        text = str.__str__(repr(value)) or f"<{class_name(value)}: its repr is an empty text>"
    except Interrupt:
        raise
    except BaseException as error:
        # The object's own code failed; saying so tells its author more than silence.
        text = f"<{class_name(value)}: its repr raised {class_name(error)}>"
    if _written is not None:
        _written[id(value)] = value, text
    return text


def _iterate(value: Any, shape: Any) -> Iterator[Any]:
    """The items of a container, of a dictionary its pairs, in the order of its repr."""
    if not issubclass(shape, dict):
        return iter(shape.__iter__(value))
    pairs = shape.items(value)
    if shape is Counter and all(type(pair[1]) is int for pair in pairs):
        return iter(sorted(pairs, key=lambda pair: -int(pair[1])))
    return iter(pairs)


def _last(value: Any, shape: Any, count: int) -> list[Any]:
    if shape is Counter or not hasattr(shape, "__reversed__"):
        return list(deque(_iterate(value, shape), count))
    if issubclass(shape, dict):
        value = shape.items(value)
        shape = type(value)
    return list(islice(shape.__reversed__(value), count))[::-1]


def _last_few(value: Any, shape: Any, size: int, room: int) -> tuple[list[Any], int]:
    """The last items of a container for which there is room, and about how much they take.

    That is one at least, but none in a narrow place: a bit of an item would tell nothing.
    """
    last = _last(value, shape, min(_LAST, size - 1))
    weights = [_weight(item, issubclass(shape, dict)) for item in last]
    while len(weights) > 1 and sum(weights) > room:
        del weights[0]
    if sum(weights) > room < _TEXT_ROOM:
        weights.clear()
    return last[len(last) - len(weights) :], min(sum(weights), room)


# -- sharing room out ----------------------------------------------------------------------------


def _weight(item: Any, is_pair: bool) -> int:
    """About how many characters an item takes, with what stands between it and the next."""
    if is_pair:
        return 4 + min(_estimate(item[0]), NAME_CHARS) + _estimate(item[1])
    return 2 + _estimate(item)


def _estimate(value: Any, levels: int = 2) -> int:
    """About how many characters a value takes, by a look at some of what it holds."""
    shape = _shape(type(value))
    if shape in _TEXTS:
        return int(shape.__len__(value)) + 2
    if shape is int:
        return int.bit_length(value) // 3 + 2
    if shape not in _BRACKETS:
        return 16 * (1 + len(_field_names(value, shape) or ()))
    size = shape.__len__(value)
    if not levels or not size:
        return 2 + 4 * int(size)
    is_dict = issubclass(shape, dict)
    sample = list(islice(shape.items(value) if is_dict else shape.__iter__(value), _SAMPLE))
    total = sum(
        _estimate(item[0], levels - 1) + _estimate(item[1], levels - 1) + 4
        if is_dict
        else _estimate(item, levels - 1) + 2
        for item in sample
    )
    return 2 + total * int(size) // len(sample)


def _level(weights: list[int], room: int) -> int:
    """The most that each may take so that all fit: small ones leave what they don't need."""
    for index, weight in enumerate(sorted(weights)):
        share = room // (len(weights) - index)
        if weight > share:
            return share
        room -= weight
    return max(weights, default=0)
