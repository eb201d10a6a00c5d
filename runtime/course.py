"""The course of one cast: what has come of it so far, and when that is enough."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from ..sandbox.execution import clip
from .wards import Wards

LAST_CHARS = 200
"""Length of the last observation in a summary."""


class Course:
    """What one cast has come to so far.

    Attributes:
        turns: Its utterances.
        last_text: The last observation, also where an earlier cast of the entity made it.
    """

    def __init__(self, last_text: str = "") -> None:
        self.turns = 0
        self.last_text = last_text
        self._errors_in_a_row = 0
        self._called: Counter[str] = Counter()

    def utter(self) -> None:
        """Count an utterance."""
        self.turns += 1

    def observe(self, text: str, is_error: bool, called: Iterable[str]) -> None:
        """Take in what was observed of an utterance.

        Args:
            text: The observation.
            is_error: Whether it tells of an error.
            called: Names of the gates that were called.
        """
        self._errors_in_a_row = self._errors_in_a_row + 1 if is_error else 0
        self._called.update(called)
        self.last_text = text

    def ward_reached(self, wards: Wards) -> str | None:
        """The ward of the cast's own that lets no further turn begin (``LOOP-4``), or None."""
        if wards.max_turns is not None and self.turns >= wards.max_turns:
            return "max_turns"
        if wards.max_errors_in_a_row and self._errors_in_a_row >= wards.max_errors_in_a_row:
            return "max_errors_in_a_row"
        return None

    def summary(self, reason: str) -> str:
        """What a truncated cast had done, from a template and never a query (``LOOP-4``)."""
        calls = ", ".join(f"{name} {count} times" for name, count in self._called.items())
        last = f"; last observed: {clip(self.last_text, LAST_CHARS)}" if self.last_text else ""
        return f"Stopped by {reason} after {self.turns} turns; called: {calls or 'nothing'}{last}"
