"""What a gate can answer besides a plain value: codec types, found by name in every namespace.

A gate that stands for a longer piece of work can be cut short, can fail, or can be found
interrupted when a run is taken up again. The program has to tell these from a value by
their type, never by the look of a string.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any


@dataclass(frozen=True)
class Truncated:
    """A child that a ward stopped before it was done: not a failure (``COMP-8``).

    Attributes:
        reason: The ward that stopped it, for example ``max_turns``.
        partial: What it had to show by then, or None.
        summary: A short account of what it did.
    """

    reason: str
    partial: Any = None
    summary: str = ""


class Outcome(Exception):
    """Base of the outcomes that are raised in the program's code.

    Attributes:
        reason: One word for what happened.
        message: What happened, in a sentence.
        entity_id: The entity it happened to, or the empty string.
    """

    __module__ = "builtins"  # a program is shown its bare name

    def __init__(self, reason: str = "", message: str = "", entity_id: str = "") -> None:
        super().__init__(message)
        self.reason = reason
        self.message = message
        self.entity_id = entity_id

    def __repr__(self) -> str:
        return f"{type(self).__name__}(reason={self.reason!r}, message={self.message!r})"

    def __eq__(self, other: object) -> bool:
        if type(other) is not type(self):
            return NotImplemented
        return (self.reason, self.message, self.entity_id) == (
            other.reason,
            other.message,
            other.entity_id,
        )

    __hash__ = Exception.__hash__


class ChildFailed(Outcome):
    """A child whose loop could not go on (``COMP-8``).

    ``call_entity`` raises it; in a batch it stands at the child's position.
    """

    __module__ = "builtins"


class GateInterrupted(Outcome):
    """A gate call that had begun when its run died: it may or may not have happened."""

    __module__ = "builtins"


RAISED: dict[str, type[Outcome]] = {kind.__name__: kind for kind in (ChildFailed, GateInterrupted)}
"""The outcomes that a gate raises in the program, by name."""
OUTCOMES: dict[str, type] = {"Truncated": Truncated, **RAISED}
"""The outcomes that every program finds, by name."""
