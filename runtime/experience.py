"""What an entity has lived through: what its model is told of it, and the course of its cast.

A fork has lived through what another entity did, and one that is taken up again through what it
did itself; both take it in here, step by step, as it is on record.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..sandbox.wire import Sealed
from .course import Course
from .fitting import Fitter
from .llm import Reply
from .loom import ContextRef, Folded, History, Uttered
from .media import Act, Medium

if TYPE_CHECKING:
    from .entity import Entity

_RUN_AGAIN = "\n\n(To get here your turns were run again: {}. Check what your variables hold.)"


class Experience:
    """What one entity has lived through; see ``replay.Reliving``.

    Args:
        owner: The entity.
        medium: Its medium.
        history: Its turns, to tell of those that are folded.

    Attributes:
        turns: How many utterances it made; a fork counts those of its past.
        course: The course of its newest cast.
    """

    def __init__(self, owner: Entity, medium: Medium, history: History) -> None:
        self._owner = owner
        self._medium = medium
        self._history = history
        self._fitter: Fitter | None = None
        self._untold = ""  # what the next intent is to say of the past
        self.turns = 0
        self.course = Course()

    @property
    def fitter(self) -> Fitter:
        """Keeps what the model is told within its window; there is one after the first intent."""
        assert self._fitter is not None
        return self._fitter

    def fetch(self, ref: ContextRef) -> Sealed:
        """A context that is on record."""
        return self._owner.tree.loom.fetch(ref)

    async def hear(
        self,
        intent: str,
        context: Sealed | None,
        difference: str | None = None,
        is_there: bool = False,
    ) -> None:
        """Put an intent and its context where the entity finds them.

        Args:
            intent: The intent.
            context: Data for it, or None.
            difference: What its past showed differently when it was run again, or None.
            is_there: Whether the medium's state has the context already.
        """
        await self._medium.give(context, is_there)
        if self._fitter is None:
            self._fitter = Fitter(self._owner, self._medium, self._history)
        message = self._medium.first_message(intent) + self._untold
        self._untold = ""
        if difference is not None:
            message += _RUN_AGAIN.format(difference)
        self.fitter.context.add_intent(message, len(intent))
        self.course = Course(self.course.last_text)

    def utter(self, turn: int) -> None:
        """Count an utterance."""
        self.turns = turn
        self.course.utter()

    def observe(self, reply: Reply, act: Act, called: list[str]) -> None:
        """Take in what was observed of an utterance.

        Args:
            reply: The utterance.
            act: What carrying it out came to.
            called: Names of the gates that were called.
        """
        self.fitter.context.add_turn(reply, act.messages)
        self.course.observe(act.text, act.is_error, called)

    def remember(self, turn: Uttered) -> None:
        """Take in an utterance that is on record, and what was observed of it."""
        owner, last = self._owner, turn.parts[-1]
        if turn.entity_id == owner.entity_id:
            self.fitter.follow(turn.reply)
            owner.tip, owner.sequence = last.id, last.sequence
        self.utter(self.turns + 1)
        self.fitter.context.add_turn(turn.reply, turn.told)
        called = [gate for part in turn.parts for gate in part.gate_calls]
        self.course.observe(last.observation.text, last.observation.is_error, called)

    def fold(self, folded: Folded) -> None:
        """Fold turns as it was done before, unless that was in another entity's past."""
        if folded.entity_id == self._owner.entity_id:
            self.fitter.fold(folded.last)

    def note(self, difference: str) -> None:
        """Tell the model what the past showed differently when it was lived again."""
        text = _RUN_AGAIN.format(difference)
        if not self.fitter.context.add_note(text):
            self._untold += text
