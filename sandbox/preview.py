"""A value as a short text: bounded in length whatever the value is (the Viewport rule)."""

from __future__ import annotations

import re
from collections import Counter, OrderedDict, defaultdict, deque
from typing import Any

PREVIEW_CHARS = 200
MAX_LEVELS = 20
"""How deep containers are shown; what nests deeper is left out."""
NAME_CHARS = 100
"""Characters of a class's name that are shown."""
_ADDRESS = re.compile(r" at 0x[0-9a-fA-F]+(?=>)")


def without_addresses(text: str) -> str:
    """The text with ``<function f at 0x7f...>`` as ``<function f>``."""
    return _ADDRESS.sub("", text) if " at 0x" in text else text


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
}
"""What is written item by item, and the instances of subclasses that leave ``__repr__`` alone."""
_SIZED = (str, bytes, bytearray, list, tuple, set, frozenset, dict)
_UNITS: dict[type, str] = {str: "chars", bytes: "bytes", bytearray: "bytes"}


def class_name(value: Any) -> str:
    """The name of a value's class, of a length that can be shown."""
    return type(value).__name__[:NAME_CHARS]


def describe(value: Any, limit: int = PREVIEW_CHARS) -> str:
    """Type, size and a preview, for example ``list, 3 items: [1, 2, 3]``."""
    kind = type(value)
    size = f", {len(value):,} {_UNITS.get(kind, 'items')}" if kind in _SIZED else ""
    return f"{class_name(value)}{size}: {show(value, limit)}"


def show(value: Any, limit: int) -> str:
    """``repr(value)``, cut off inside once it would pass ``limit`` characters by much.

    Containers are written item by item, so that a huge one is never rendered whole. The
    result may pass ``limit`` by the length of the marks that say what was left out.
    """
    return _Writer(limit).write(value)


def _shape(kind: type) -> type | None:
    """The class by whose items an instance of ``kind`` is written; None where by its own repr."""
    if kind in _BRACKETS:
        return kind
    owner = next(base for base in type.mro(kind) if "__repr__" in base.__dict__)
    return owner if owner in _BRACKETS else None


class _Writer:
    """Writes one value within a budget of characters."""

    def __init__(self, limit: int) -> None:
        self.left = limit
        self.parts: list[str] = []
        self.open: set[int] = set()

    def write(self, value: Any) -> str:
        self._value(value)
        return "".join(self.parts)

    def _put(self, text: str) -> None:
        self.parts.append(text)
        self.left -= len(text)

    def _value(self, value: Any) -> None:
        kind = type(value)
        shape = _shape(kind)
        if shape is not None:
            self._container(value, shape)
        elif kind in (str, bytes, bytearray):
            self._text(value)
        elif kind is int and value.bit_length() > 14_000:
            # Decimal digits of an int that long are refused by CPython itself.
            self._put(f"<int of {value.bit_length():,} bits>")
        else:
            self._object(value)

    def _container(self, value: Any, shape: Any) -> None:
        """Write a container by the methods of its ``shape``, past those of its own class."""
        if id(value) in self.open or len(self.open) == MAX_LEVELS:
            self._put("...")
            return
        size = shape.__len__(value)
        if not size and shape in (set, frozenset):
            self._put(f"{class_name(value)}()")
            return
        self.open.add(id(value))
        opening, closing = _BRACKETS[shape]
        if type(value) not in (list, tuple, set, frozenset, dict):
            opening, closing = f"{class_name(value)}({opening[-1]}", f"{closing[0]})"
        self._put(opening)
        self._items(value, shape, size)
        if shape is tuple and size == 1:
            self._put(",")
        self._put(closing)
        self.open.discard(id(value))

    def _items(self, value: Any, shape: Any, size: int) -> None:
        pairs = issubclass(shape, dict)
        for index, item in enumerate(shape.items(value) if pairs else shape.__iter__(value)):
            if index:
                self._put(", ")
            if self.left <= 0:
                self._put(f"... {size - index:,} more")
                break
            if pairs:
                self._value(item[0])
                self._put(": ")
                self._value(item[1])
            else:
                self._value(item)

    def _text(self, value: str | bytes | bytearray) -> None:
        room = max(self.left, 20)
        if len(value) <= room:
            self._put(repr(value))
            return
        head = room * 2 // 3
        tail = room - head
        cut = len(value) - head - tail
        unit = _UNITS[type(value)]
        self._put(f"{value[:head]!r}... {cut:,} {unit} left out ...{value[-tail:]!r}")

    def _object(self, value: Any) -> None:
        try:
            text = without_addresses(repr(value))
        except Exception as error:
            # The object's own code failed; saying so tells its author more than silence.
            text = f"<{class_name(value)}: its repr raised {class_name(error)}>"
        room = max(self.left, 20)
        if len(text) > room:
            text = f"{text[:room]}... {len(text) - room:,} chars left out"
        self._put(text)
