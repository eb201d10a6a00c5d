"""A past that is lived again: what an entity was, brought back without any effect.

That is so for a fork, which has another entity's past, and for an entity that is taken up again,
which has its own. The messages come from the record. What the turns did to a sandbox comes from
running them again in a fresh one, where each gate call is answered from the record: no gate is
called, and no child is spawned (``LOOM-13``).
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, replace
from typing import NamedTuple, Protocol

from ..sandbox.execution import clip
from ..sandbox.wire import Sealed
from .errors import ForkError, MalformedReply, RuntimeFault
from .llm import Heard
from .loom import ContextRef, EntityView, Folded, Given, Resumed, Step, Uttered
from .loom.values import Strategy
from .media import Act, Medium
from .recorded import Deviation, RecordedDesk, difference, without_notes

ERROR_CHARS = 500
"""Length of what is told of a turn that was cut off when it was run again."""
_READS_DIFFER = "turn {} read clocks or random bytes otherwise when it was run again"


@dataclass(frozen=True)
class Past:
    """What an entity was, up to where it goes on.

    Attributes:
        node: Id of the node that it goes on from; None where there is none.
        steps: What was given and said up to there, in order.
        seed: What the random numbers began with; None where that isn't on record.
        heard: What its model has said by then; None where it has another model.
        origin: Where its state comes from.
        own: The entity itself, where it is taken up again; None for a fork.
        rest: Its last utterance, where its cast has not ended, to be carried out again; and what
            was told since.
        fault: What is raised where the past can't be lived again.
    """

    node: str | None
    steps: tuple[Step, ...]
    seed: int | None
    heard: Heard | None
    origin: Source
    own: EntityView | None = None
    rest: tuple[Step, ...] = ()
    fault: type[RuntimeFault] = ForkError


class Begun(NamedTuple):
    """How an entity came by the state that its past led to.

    Attributes:
        strategy: ``snapshot``: it is a copy of its original's. ``replay``: its turns were run
            again, by it or by another fork that it is a copy of.
        difference: What they first showed differently then, or None.
    """

    strategy: Strategy
    difference: str | None = None


class Source(Protocol):
    """Where an entity's state comes from."""

    async def begin(self, entity: Reliving, medium: Medium, past: Past) -> Begun:
        """Give an entity its past.

        Args:
            entity: The entity.
            medium: Its medium, fresh.
            past: Its past.

        Raises:
            RuntimeFault: The past can't be lived again; of the class that it names.
        """


class Reliving(Protocol):
    """What a past needs of the entity that it becomes the past of."""

    def fetch(self, ref: ContextRef) -> Sealed:
        """A context that is on record."""

    async def hear(
        self, intent: str, context: Sealed | None, difference: str | None, is_there: bool
    ) -> None:
        """Take in an intent; ``is_there``: the medium's state has its context already."""

    def fold(self, folded: Folded) -> None:
        """Take in that turns were folded."""

    def remember(self, turn: Uttered) -> None:
        """Take in an utterance and what was observed of it."""

    def note(self, difference: str) -> None:
        """Take in what its past showed differently when it was lived again before."""


class Settled(NamedTuple):
    """The steps of a past that need not be taken again, for a medium's state has them behind it.

    Attributes:
        steps: How many of the first.
        lacking: What that state lacks, in words; None where it is whole.
    """

    steps: int = 0
    lacking: str | None = None


NOTHING_SETTLED = Settled()


async def relive(
    entity: Reliving, medium: Medium, past: Past, settled: Settled = NOTHING_SETTLED
) -> str | None:
    """Live a past again.

    Args:
        entity: Whose past it becomes.
        medium: Its medium: fresh, or with the state that the first steps led to.
        past: The past.
        settled: The first steps that the medium's state has behind it: they are told of and not
            run again. Default: none.

    Returns:
        What the state lacks, and what showed something else than the first time, the first of
        it; None where all was the same.

    Raises:
        RuntimeFault: A turn can't be run again, or calls its gates otherwise than on record; of
            the class that the past names.
    """
    differing: str | None = None
    for place, step in enumerate(past.steps):
        is_settled = place < settled.steps
        match step:
            case Given(intent, told):
                context = None if intent.context is None else entity.fetch(intent.context)
                await entity.hear(intent.text, context, told, is_settled)
            case Folded():
                entity.fold(step)
            case Resumed(told):
                entity.note(told)
            case Uttered():
                if medium.has_state and not is_settled:
                    differing = await _live_turn(medium, step, past, settled, differing)
                entity.remember(step)
    return "; ".join(filter(None, (settled.lacking, differing))) or None


async def _live_turn(
    medium: Medium, step: Uttered, past: Past, settled: Settled, differing: str | None
) -> str | None:
    """Carry out an utterance again; gives what first showed something else, up to its end."""
    last = step.parts[-1]
    if last.replayable and last.state == "rolled_back":  # nothing of it is left
        medium.pass_over()
        return differing
    act = await _run_again(medium, step, past, settled)
    if act is None or differing is not None:
        return differing
    shown = replace(last.observation, text=act.text, before=act.before)
    before, now = without_notes(last.observation), without_notes(shown)
    return difference(step.turn, before, now) or (
        _READS_DIFFER.format(step.turn) if act.reads_differ else None
    )


async def _run_again(medium: Medium, step: Uttered, past: Past, settled: Settled) -> Act | None:
    """Carry out an utterance again; None where nothing of it is carried out.

    Raises:
        RuntimeFault: It can't be, or does something else.
    """
    if step.reply.is_cut_off:
        return None
    desk = RecordedDesk(step)
    try:
        act = await medium.act(step.reply, desk)
        desk.check_all_made()
    except MalformedReply:
        return None
    except Deviation as deviation:
        why = f"{deviation}; {settled.lacking}" if settled.lacking else str(deviation)
        raise past.fault(f"turn {step.turn} can't be run again: {why}") from None
    if act is not None and not act.replayable:
        why = clip(act.text, ERROR_CHARS)
        raise past.fault(f"turn {step.turn} can't be run again: this time it was cut off: {why}")
    return act


def obstacle(turn: Uttered, gates: Collection[str]) -> str | None:
    """Why a turn can't be run again, as what follows ``for``; None where it can.

    Args:
        turn: The turn.
        gates: Names of the gates that there are for it.
    """
    last = turn.parts[-1]
    if not last.replayable:
        if last.state == "kept":
            return "it was cut off"
        return "it was cut off, and what it had done was undone"
    for call in (call for part in turn.parts for call in part.calls):
        if call.asked is not None and call.gate not in gates:
            return (
                f"it called the gate {call.gate!r}, which the cantrip's circle lacks: add one of "
                "that name; it is not called, for its answers are on record"
            )
    return None
