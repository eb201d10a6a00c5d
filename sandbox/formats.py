"""Format texts whose fields read attributes: filled in as ``str.format`` does, by a given rule."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
from collections.abc import Callable, Mapping, Sequence
from typing import Any

_CONVERSIONS: Mapping[str, Callable[[Any], str]] = {"r": repr, "s": str, "a": ascii}
_NUMBERINGS = ("manual field specification", "automatic field numbering")


def reads_attributes(text: str) -> bool:
    """Whether a format text names an attribute, or can't be read."""
    try:
        return any(
            field is not None
            and (
                any(
                    is_attribute for is_attribute, _ in _string.formatter_field_name_split(field)[1]
                )
                or reads_attributes(spec)
            )
            for _, field, spec, _ in _string.formatter_parser(text)
        )
    except ValueError:
        return True


class Fields:
    """The fields of one format text.

    Args:
        attribute: Reads an attribute of an object by its name.
        args: What stands for numbered fields; None where there is only a mapping.
        named: What stands for the others.
    """

    def __init__(
        self,
        attribute: Callable[[Any, str], Any],
        args: Sequence[Any] | None,
        named: Mapping[str, Any],
    ) -> None:
        self._attribute = attribute
        self._args = args
        self._named = named
        self._next = 0
        self._automatic: bool | None = None  # how fields are numbered, once one is

    def fill(self, text: str, depth: int = 2) -> str:
        """The text with its fields filled in.

        Raises:
            ValueError: The text is no format text.
            IndexError, KeyError, AttributeError: There is nothing for a field.
        """
        if not depth:
            raise ValueError("Max string recursion exceeded")
        parts = []
        for literal, field, spec, conversion in _string.formatter_parser(text):
            parts.append(literal)
            if field is not None:
                value = converted(self._value(field), conversion)
                parts.append(format(value, self.fill(spec, depth - 1) if "{" in spec else spec))
        return "".join(parts)

    def _value(self, field: str) -> Any:
        first, steps = _string.formatter_field_name_split(field)
        value = self._named[first] if first and isinstance(first, str) else self._numbered(first)
        for is_attribute, key in steps:
            value = self._attribute(value, key) if is_attribute else value[key]
        return value

    def _numbered(self, number: Any) -> Any:
        automatic = number == ""
        if self._automatic is not None and self._automatic is not automatic:
            before, now = _NUMBERINGS[self._automatic], _NUMBERINGS[automatic]
            raise ValueError(f"cannot switch from {before} to {now}")
        self._automatic = automatic
        if automatic:
            number, self._next = self._next, self._next + 1
        if self._args is None:
            raise ValueError("Format string contains positional fields")
        if number >= len(self._args):
            raise IndexError(f"Replacement index {number} out of range for positional args tuple")
        return self._args[number]


def converted(value: Any, conversion: str | None) -> Any:
    """The value after ``!r``, ``!s`` or ``!a``.

    Raises:
        ValueError: There is no such conversion.
    """
    if conversion is None:
        return value
    if conversion not in _CONVERSIONS:
        raise ValueError(f"Unknown conversion specifier {conversion}")
    return _CONVERSIONS[conversion](value)
