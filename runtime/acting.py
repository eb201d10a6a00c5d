"""How an entity's utterances are carried out, and recorded."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import TYPE_CHECKING

from ..sandbox.wire import seal
from . import images
from .desk import TurnDesk
from .errors import MalformedReply, ResumeError
from .events import StepCompleted, StepStarted
from .experience import Experience
from .llm import Reply
from .loom import CallRecord, Uttered
from .media import Act, Medium
from .media.conversation import answering, told_alone
from .recorded import Deviation, Recorded
from .texts import RESULT_CHARS

if TYPE_CHECKING:
    from .entity import Entity

_GO_ON = "That was text alone. Go on; call done with the result when you have it."
_CUT_OFF = "Your reply was cut off at its token limit before it was whole. Write a shorter one."


class Acting:
    """Carries out the utterances of one entity.

    Args:
        owner: The entity.
        medium: Its medium.
        experience: Where what is observed goes.
    """

    def __init__(self, owner: Entity, medium: Medium, experience: Experience) -> None:
        self._owner = owner
        self._medium = medium
        self._experience = experience

    async def carry_out(self, reply: Reply, turn: int) -> Act:
        """Carry out an utterance, and record it.

        Args:
            reply: The utterance.
            turn: Its ordinal.
        """
        act = await self._carry_out(reply, TurnDesk(self._owner, turn))
        self._tell(turn, act)
        await self._keep_state(act)
        return act

    async def carry_out_again(self, turn: Uttered) -> Act:
        """Carry out an utterance that is on record; what there is of it is not done again.

        Raises:
            ResumeError: It would do something else this time.
        """
        owner = self._owner
        self._experience.fitter.follow(turn.reply)
        self._experience.utter(turn.turn)
        if not turn.is_whole:
            owner.emit(StepStarted(owner.entity_id, owner.depth, turn.turn))
        calls = owner.tree.loom.entities[owner.entity_id].calls(turn.turn)
        desk = TurnDesk(owner, turn.turn, Recorded(calls, turn.parts))
        with self._as_begun(turn.turn, calls):
            act = await self._carry_out(turn.reply, desk)
        if not turn.is_whole:
            self._tell(turn.turn, act)
            await self._keep_state(act)
        return act

    async def _carry_out(self, reply: Reply, desk: TurnDesk) -> Act:
        try:
            act = await self._act(reply, desk)
        except Deviation:
            raise
        except BaseException as error:
            limit = self._owner.spec.wards.max_output_chars or RESULT_CHARS
            act = answering(reply, desk.cut_off(error), limit)
            desk.finish(act)
            self._experience.observe(reply, act, desk.called)
            self._tell(desk.turn, act)
            raise
        desk.finish(act)
        self._experience.observe(reply, act, desk.called)
        return act

    @contextmanager
    def _as_begun(self, turn: int, calls: Sequence[CallRecord]) -> Iterator[None]:
        """While a turn is carried out again; where it is another one then, nothing is recorded."""
        try:
            yield
        except Deviation as deviation:
            text = f"turn {turn} can't be carried out again as it was begun: {deviation}"
            made = [call.gate for call in calls if not call.is_error]
            missing = [name for name in dict.fromkeys(made) if name not in self._owner.gates]
            if missing:
                text += f"; give the circle the gates back that it called: {', '.join(missing)}"
            raise self._owner.tree.stop(ResumeError(text)) from None

    async def _act(self, reply: Reply, desk: TurnDesk) -> Act:
        if reply.is_cut_off:
            return told_alone(_CUT_OFF, is_error=True)
        try:
            act = await self._medium.act(reply, desk)
        except MalformedReply as error:
            return told_alone(str(error), is_error=True)
        if act is not None:
            return act
        if self._owner.spec.wards.require_done_tool:
            return told_alone(_GO_ON)
        return self._answer(reply)

    def _answer(self, reply: Reply) -> Act:
        """Text alone as the answer (``LOOP-6``), if it fits the circle's result type."""
        answer = seal(reply.content)
        try:
            self._owner.check_answer(answer)
        except ValueError as error:
            return told_alone(str(error), is_error=True)
        return Act((), reply.content or "", answer=answer)

    def _tell(self, turn: int, act: Act) -> None:
        owner = self._owner
        owner.emit(StepCompleted(owner.entity_id, owner.depth, turn, act.text, act.is_error))

    async def _keep_state(self, act: Act) -> None:
        """Write the state down after a turn that can't be run again."""
        owner = self._owner
        if act.replayable or not self._medium.has_state or owner.tip is None:
            return
        image = await images.written(owner.tree, self._medium, owner.entity_id, owner.tip)
        if image is not None:
            owner.record(image)
