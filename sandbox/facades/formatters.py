"""Formatters: ``string.Formatter`` under the rules that ``str.format`` has here."""

from __future__ import annotations

import _string  # type: ignore[import-not-found]
import pprint
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from .. import guards
from ..formats import converted

_NESTING = 2
"""How deep a field's format may have fields of its own."""
_Field = tuple[str, str | None, str | None, str | None]


def mend() -> dict[str, Any]:
    """A formatter of ours, for the library's reads any attribute that a text names.

    ``PrettyPrinter.format`` bears the name of such a method, and is none.
    """
    guards.admit(Formatter.format, Formatter.vformat, Formatter.get_field, Formatter.get_value)
    guards.admit(pprint.PrettyPrinter.format)
    return {"string.Formatter": Formatter}


class Formatter:
    """What ``str.format`` does, with methods that a subclass can replace."""

    def format(self, format_string: str, /, *args: Any, **kwargs: Any) -> str:
        """Format a text with these values."""
        return self.vformat(format_string, args, kwargs)

    def vformat(self, format_string: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> str:
        """Format a text with the values of a sequence and a mapping.

        Raises:
            ValueError: The text is no format, or its fields nest too deep.
        """
        used: set[int | str] = set()
        text = _Filling(self, args, kwargs, used).fill(format_string, _NESTING)
        self.check_unused_args(used, args, kwargs)
        return text

    def parse(self, format_string: str) -> Iterable[_Field]:
        """The text's parts: literal text, the field after it, its format and its conversion."""
        parts: Iterable[_Field] = _string.formatter_parser(format_string)
        return parts

    def get_field(
        self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> tuple[Any, Any]:
        """The object that a field names, and the key that it begins with.

        Raises:
            AttributeError: It names an attribute that the program may not read.
        """
        first, rest = _string.formatter_field_name_split(field_name)
        obj = self.get_value(first, args, kwargs)
        for is_attribute, key in rest:
            obj = guards.get_attribute(obj, key) if is_attribute else obj[key]
        return obj, first

    def get_value(self, key: int | str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> Any:
        """The value by a place or a name."""
        return args[key] if isinstance(key, int) else kwargs[key]

    def check_unused_args(
        self, used_args: set[int | str], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> None:
        """Called last, with the keys that were used."""

    def format_field(self, value: Any, format_spec: str) -> Any:
        """The text of a value by its format."""
        return format(value, format_spec)

    def convert_field(self, value: Any, conversion: str | None) -> Any:
        """The value after ``!s``, ``!r`` or ``!a``.

        Raises:
            ValueError: There is no such conversion.
        """
        return converted(value, conversion)


class _Filling:
    """One text being formatted: the fields without a name are counted across its nesting."""

    def __init__(
        self,
        formatter: Formatter,
        args: Sequence[Any],
        kwargs: Mapping[str, Any],
        used: set[int | str],
    ) -> None:
        self._formatter = formatter
        self._values = args, kwargs
        self._used = used
        self._next: int | None = 0  # None: the fields have numbers

    def fill(self, text: str, nesting: int) -> str:
        if nesting < 0:
            raise ValueError("Max string recursion exceeded")
        formatter = self._formatter
        parts: list[str] = []
        for literal, name, spec, conversion in formatter.parse(text):
            parts.append(literal)
            if name is not None:
                value, key = formatter.get_field(self._numbered(name), *self._values)
                self._used.add(key)
                value = formatter.convert_field(value, conversion)
                parts.append(formatter.format_field(value, self.fill(spec or "", nesting - 1)))
        return "".join(parts)

    def _numbered(self, name: str) -> str:
        if name == "":
            if self._next is None:
                raise ValueError(
                    "cannot switch from manual field specification to automatic field numbering"
                )
            self._next += 1
            return str(self._next - 1)
        if name.isdigit():
            if self._next:
                raise ValueError(
                    "cannot switch from manual field specification to automatic field numbering"
                )
            self._next = None
        return name
