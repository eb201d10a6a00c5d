"""What a session's model is to be told before its next observation."""

from __future__ import annotations

from collections.abc import Iterable

from .errors import ProtocolError
from .execution import LOST_STATE, Calls, RollBack, effects

_BROKE = "Since the last turn the process broke the protocol ({}) and was killed."
_KEPT = "Nothing of the session's state was lost."


class Notes:
    """What has happened to a session since its model was last told.

    What happened more than once stands there once, as it is now.
    """

    def __init__(self) -> None:
        self._forget()

    def _forget(self) -> None:
        self._protocol = self._state = self._image = ""
        self._calls: dict[int, Calls] = {}

    def broke(self, error: ProtocolError) -> None:
        """Its process broke the protocol between two turns."""
        self._protocol = _BROKE.format(error)

    def undone(self, calls: Iterable[Calls]) -> None:
        """Turns were undone, which had called these gates."""
        self._calls.update({one.turn: one for one in calls})

    def rolled_back(self, rollback: RollBack, turns: int) -> None:
        """It was rolled back; ``turns`` is the number of its last turn."""
        self._state = rollback.text(turns)
        self.undone(rollback.calls)

    def lost(self) -> None:
        """All of its state was lost."""
        self._state = LOST_STATE

    def kept(self) -> None:
        """It has another process, and its state."""
        if self._protocol and not self._state:
            self._state = _KEPT

    def lacks(self, text: str) -> None:
        """It was taken up from an image that lacks variables."""
        self._image = text

    def take(self) -> str:
        """All of it, which is then told."""
        parts = (self._protocol, self._state, self._image, effects([*self._calls.values()]))
        self._forget()
        return "\n".join(part for part in parts if part)
