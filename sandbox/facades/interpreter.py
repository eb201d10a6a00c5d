"""The interpreter as data: what ``sys`` tells, and the settings that it takes."""

from __future__ import annotations

import sys
from typing import Any, NamedTuple

from .facade import Live

MOST_CALLS = 20_000
"""Highest recursion limit: CPython 3.11 needs machine stack for a call, and overflows past it."""
MOST_DIGITS = 100_000
"""Most digits of a number that is made a text: no signal interrupts that, and it takes long."""
_FEWEST_CALLS = sys.getrecursionlimit()  # what the runner itself has need of


class _Implementation(NamedTuple):
    name: str
    version: Any
    hexversion: int
    cache_tag: str | None


def mend() -> dict[str, Any]:
    """No arguments, and no path of the host's."""
    own = sys.implementation
    arguments = [""]  # a list of the program's own, as it expects one
    return {
        "sys.argv": Live(lambda: arguments),
        "sys.implementation": _Implementation(own.name, own.version, own.hexversion, own.cache_tag),
        "sys.set_int_max_str_digits": _set_int_max_str_digits,
        "sys.setrecursionlimit": _setrecursionlimit,
    }


def _setrecursionlimit(limit: int, /) -> None:
    """Set how deep calls may nest: as near to ``limit`` as the sandbox allows.

    That is from 1,000 to 20,000; ``sys.getrecursionlimit`` tells what it has become.
    """
    if not isinstance(limit, int):
        raise TypeError(f"{type(limit).__name__!r} object cannot be interpreted as an integer")
    plain = int.__int__(limit)  # a subclass's own comparisons don't count
    if plain < 1:
        raise ValueError("recursion limit must be greater or equal than 1")
    sys.setrecursionlimit(min(max(plain, _FEWEST_CALLS), MOST_CALLS))


def _set_int_max_str_digits(maxdigits: int) -> None:
    """Set how long texts of numbers may be: up to 100,000 digits, which 0 means too."""
    if not isinstance(maxdigits, int):
        raise TypeError(f"{type(maxdigits).__name__!r} object cannot be interpreted as an integer")
    plain = int.__int__(maxdigits)
    sys.set_int_max_str_digits(MOST_DIGITS if plain == 0 else min(plain, MOST_DIGITS))
