"""One assertion and what came of it, and the ways in which an expected value can be met."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .keys import CaseFault, shown

_BOUND = re.compile(r"(greater_than|less_than)\((-?\d+(?:\.\d+)?)\)")


@dataclass(frozen=True)
class Check:
    """One assertion of a case.

    Attributes:
        key: Where it stands, such as ``expect.loom.turn_count``.
        expected: What it asks for.
        seen: What there was.
        passed: Whether it holds.
        how: What was looked at, where the key doesn't say it.
    """

    key: str
    expected: str
    seen: str
    passed: bool
    how: str = ""

    @classmethod
    def that(cls, key: str, holds: bool, expected: str, seen: Any) -> Check:
        """An assertion in words, which holds or not."""
        return cls(key, expected, seen if isinstance(seen, str) else shown(seen), holds)

    @classmethod
    def equal(cls, key: str, expected: Any, seen: Any, how: str) -> Check:
        """A value that has to be the expected one, of the same type; see ``meets``."""
        return cls(key, shown(expected), shown(seen), meets(expected, seen), how)

    @classmethod
    def contains(cls, key: str, expected: str, text: str, how: str) -> Check:
        """A text that has to hold another."""
        return cls(key, f"something with {expected!r}", shown(text), expected in text, how)

    @classmethod
    def excludes(cls, key: str, expected: str, text: str, how: str) -> Check:
        """A text that must not hold another."""
        at = text.find(expected)
        seen = "nothing of it" if at < 0 else shown(text[max(at - 40, 0) : at + 80])
        return cls(key, f"nothing with {expected!r}", seen, at < 0, how)

    @property
    def failure(self) -> str:
        """What is wrong, in one line."""
        where = f" ({self.how})" if self.how else ""
        return f"{self.key}: expected {self.expected}, saw {self.seen}{where}"


def meets(expected: Any, seen: Any) -> bool:
    """Whether a value is what is expected.

    ``not_null``, ``greater_than(x)`` and ``less_than(x)`` ask for such a value. Anything else
    asks for itself, of the same type: 42 is neither 42.0 nor true.
    """
    if expected == "not_null":
        return seen is not None
    bound = _BOUND.fullmatch(expected) if isinstance(expected, str) else None
    if bound:
        if isinstance(seen, bool) or not isinstance(seen, int | float):
            return False
        limit = float(bound[2])
        return seen > limit if bound[1] == "greater_than" else seen < limit
    return same(expected, seen)


def same(one: Any, other: Any) -> bool:
    """Whether two plain values are equal, and their types with them."""
    if type(one) is not type(other):
        return False
    if isinstance(one, list):
        return len(one) == len(other) and all(map(same, one, other))
    if isinstance(one, dict):
        return one.keys() == other.keys() and all(same(one[key], other[key]) for key in one)
    return bool(one == other)


def compare_fields(
    key: str, expected: Mapping[str, Any], seen: Mapping[str, Any], how: str
) -> list[Check]:
    """A check for each expected field of something that has more.

    Raises:
        CaseFault: What is seen has no such field.
    """
    checks = []
    for name, wanted in expected.items():
        if name not in seen:
            raise CaseFault(f"unknown key {name!r} in {key}; there are {', '.join(seen)}")
        checks.append(Check.equal(f"{key}.{name}", wanted, seen[name], how))
    return checks
