"""How an entity's model is asked, and what it says is recorded."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING

from . import events
from .chronicle import Chronicle
from .errors import ProviderError
from .experience import Experience
from .llm import LLM, Reply, with_retry

if TYPE_CHECKING:
    from .entity import Entity


class Asking:
    """Asks the model of one entity.

    Args:
        owner: The entity.
        llm: Its model.
        chronicle: Where what is said is recorded.
        experience: What the model is told.
    """

    def __init__(
        self, owner: Entity, llm: LLM, chronicle: Chronicle, experience: Experience
    ) -> None:
        self._owner = owner
        self._llm = llm
        self._chronicle = chronicle
        self._experience = experience

    @property
    def model(self) -> str:
        """The model's name."""
        return self._llm.name

    async def ask(self, turn: int) -> Reply:
        """Ask for an utterance; it is on record before anybody is told of it (``LOOM-1``).

        Args:
            turn: Its ordinal.
        """
        owner, fitter = self._owner, self._experience.fitter
        who = owner.entity_id, owner.depth
        owner.emit(events.MessageStarted(*who, turn))
        query = partial(
            with_retry,
            self._observed(turn),
            retry=owner.family.retry,
            on_wait=partial(self._wait, turn),
        )
        reply = await fitter.ask(query)
        owner.branch.spend(reply.usage)
        reply = self._chronicle.reply(turn, reply, fitter.context.sent())
        self._experience.utter(turn)
        owner.tree.turns += 1
        if reply.thinking:
            owner.emit(events.Thinking(*who, reply.thinking))
        if reply.content:
            owner.emit(events.Text(*who, reply.content))
        owner.emit(events.MessageCompleted(*who, turn))
        owner.emit(events.UsageReported(*who, reply.usage, owner.branch.root.usage))
        return reply

    def _observed(self, turn: int) -> LLM:
        """The model, with its queries told of in the trajectory where there is one."""
        recorder, context = self._owner.tree.loom.trajectory, self._experience.fitter.context
        if recorder is None:
            return self._llm
        return recorder.asking(self._llm, self._owner.entity_id, turn, lambda: context.layers)

    def _wait(self, turn: int, error: ProviderError, retry: int, wait_s: float) -> None:
        who = self._owner.entity_id, self._owner.depth
        self._owner.emit(events.QueryRetried(*who, turn, retry, wait_s, str(error)))
