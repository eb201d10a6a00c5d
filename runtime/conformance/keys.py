"""Reading what a case says: every key has to be known, and every value of the right type."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from ...gates.hints import suggestion
from ...sandbox.preview import show

SHOWN_CHARS = 300
"""Characters of a value that a failure shows."""


class CaseFault(Exception):
    """A case says something that can't be carried out or checked; it fails."""


def shown(value: Any) -> str:
    """A value as a failure shows it."""
    return show(value, SHOWN_CHARS)


def fields(value: Any, what: str, known: Iterable[str]) -> dict[str, Any]:
    """The mapping that a value is, with known keys only.

    Args:
        value: The value.
        what: What errors call it.
        known: The keys.

    Raises:
        CaseFault: It is no mapping, or a key is unknown; the text names it.
    """
    known = tuple(known)
    for key in mapping(value, what):
        if key not in known:
            raise unknown_key(key, what, known)
    return dict(value)


def unknown_key(key: Any, what: str, known: Iterable[str]) -> CaseFault:
    """The error that names a key nobody knows."""
    return CaseFault(f"unknown key {key!r} in {what}; {suggestion(str(key), tuple(known))}")


def mapping(value: Any, what: str) -> dict[str, Any]:
    """The mapping that a value is.

    Raises:
        CaseFault: It is none.
    """
    if not isinstance(value, Mapping):
        raise CaseFault(f"{what} must be a mapping, not {shown(value)}")
    return dict(value)


def items(value: Any, what: str) -> list[Any]:
    """The list that a value is.

    Raises:
        CaseFault: It is none.
    """
    if not isinstance(value, list):
        raise CaseFault(f"{what} must be a list, not {shown(value)}")
    return value


def text(value: Any, what: str) -> str:
    """The text that a value is.

    Raises:
        CaseFault: It is none.
    """
    if not isinstance(value, str):
        raise CaseFault(f"{what} must be a text, not {shown(value)}")
    return value


def flag(value: Any, what: str) -> bool:
    """The truth value that a value is.

    Raises:
        CaseFault: It is none.
    """
    if not isinstance(value, bool):
        raise CaseFault(f"{what} must be true or false, not {shown(value)}")
    return value


def whole(value: Any, what: str) -> int:
    """The whole number, not below 0, that a value is.

    Raises:
        CaseFault: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        raise CaseFault(f"{what} must be a whole number from 0, not {shown(value)}")
    return value


def number(value: Any, what: str) -> float:
    """The number, not below 0, that a value is.

    Raises:
        CaseFault: It is none.
    """
    if isinstance(value, bool) or not isinstance(value, int | float) or not value >= 0:
        raise CaseFault(f"{what} must be a number from 0, not {shown(value)}")
    return float(value)
