"""Forks: entities that go on from a turn of another one, in another direction (``LOOM-4``)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

import anyio

from ..sandbox.wire import Sealed
from . import living
from .cast import Cast
from .chronicle import Ended
from .entity import Entity
from .errors import ForkError, LoomError
from .events import FinalResponse, Sink
from .family import Family
from .hearing import heard
from .images import Images
from .llm import LLM
from .loom import EntityView, Loom, Step, Thread, Uttered
from .origin import Origin
from .replay import Past
from .spawn import ChildSpec, open_and_closed
from .specs import Specs
from .tree import Branch, Tree


@dataclass(frozen=True)
class Forks:
    """Makes the forks of one cantrip.

    Attributes:
        loom: Where the originals are recorded, and the forks will be.
        family: What the cantrip's entities share.
        spec: What its roots are made of.
        result_type: A type that a root's answer has to fit, or None.
    """

    loom: Loom
    family: Family
    spec: ChildSpec
    result_type: Any

    async def run(
        self,
        thread: Thread | str,
        from_turn: int,
        intent: str,
        context: Sealed | None,
        llm: LLM | None,
        count: int,
        sink: Sink,
    ) -> list[Cast]:
        """Fork one turn so many times, and give each fork the intent, at the same time.

        Args:
            thread: The original: a thread, or an entity's id.
            from_turn: The turn that they go on after, from 1.
            intent: What each is to do.
            context: Data for it; None: they have the original's.
            llm: Their model; None: the cantrip's, which goes on after what the loom has of it.
            count: How many.
            sink: Takes their events.

        Returns:
            What each came to, in order; one that failed says so in ``Cast.error``.

        Raises:
            ForkError: There is no such turn, or none that a fork can go on from.
            LoomError: There is no such entity.
        """
        steps = self._steps(thread, from_turn)
        specs = Specs(self.loom, self.family, self.spec)
        original = specs.first(self.loom.entities[_last_of(steps).entity_id])
        spec = specs.of(original)
        _check(steps, original, spec)
        origin = await self._origin(steps, spec, count)
        past = Past(
            node=_last_of(steps).parts[-1].id,
            steps=tuple(steps),
            seed=original.seed,
            heard=heard(self.loom, spec.llm.name, steps) if llm is None else None,
            origin=origin,
        )
        spec = spec if llm is None else replace(spec, llm=llm)
        result_type = self.result_type if original.spawned_by is None else None
        slots = anyio.CapacityLimiter(spec.wards.max_concurrent)
        casts: list[Cast | None] = [None] * count

        async def run(place: int, fork: Entity) -> None:
            casts[place] = await _live(fork, intent, context, result_type)

        def fork() -> Entity:
            tree, branch = Tree(self.loom, spec.wards, sink, slots), Branch(spec.wards)
            return Entity(spec, self.family, tree, branch, intent, result=result_type, past=past)

        try:
            async with anyio.create_task_group() as group:
                for place, one in enumerate([fork() for _ in range(count)]):
                    group.start_soon(run, place, one)
        finally:
            origin.close()
        return [cast for cast in casts if cast is not None]

    async def _origin(self, steps: Sequence[Step], spec: ChildSpec, count: int) -> Origin:
        """Where the forks have their state from."""
        last = _last_of(steps)
        alive = living.find(self.loom, last.entity_id)
        point = None if alive is None else await alive.checkpoint(last.turn)
        gates, closed = open_and_closed(spec)
        return Origin(point, Images(self.loom, {*gates, *closed}), count)

    def _steps(self, thread: Thread | str, from_turn: int) -> list[Step]:
        """What a fork has behind it: all up to the end of a turn.

        Raises:
            ForkError: There is no such turn.
            LoomError: There is no such entity, or its thread is of another loom.
        """
        steps = self._lineage(thread)
        ends = [place for place, step in enumerate(steps, 1) if isinstance(step, Uttered)]
        if not ends:
            raise ForkError("the thread has no turns: there is none to fork from")
        if type(from_turn) is not int or not 1 <= from_turn <= len(ends):
            raise ForkError(
                f"from_turn must be a number from 1 to {len(ends)}, for so many turns the thread "
                f"has; not {from_turn!r}"
            )
        return steps[: ends[from_turn - 1]]

    def _lineage(self, thread: Thread | str) -> list[Step]:
        if isinstance(thread, str):
            return self.loom.lineage(thread)
        if not isinstance(thread, Thread):
            raise ForkError(f"fork a Thread or an entity's id, not a {type(thread).__name__}")
        if not thread:
            return []
        try:
            return self.loom.lineage(thread[-1].id)
        except LoomError as error:
            raise LoomError(f"{error}: the thread is of another loom than the cantrip's") from None


def _last_of(steps: Sequence[Step]) -> Uttered:
    """The turn that a fork goes on after."""
    step = steps[-1]
    assert isinstance(step, Uttered)
    return step


def _check(steps: Sequence[Step], original: EntityView, spec: ChildSpec) -> None:
    """Check that these steps can be the past of an entity that is made so.

    Raises:
        ForkError: They can't; the text names the turn.
    """
    if original.medium != spec.medium:
        raise ForkError(
            f"the thread is of a {original.medium} circle, and the cantrip's is {spec.medium}: "
            "fork it with a cantrip of its own medium"
        )
    for step in steps:
        if isinstance(step, Uttered) and not step.is_whole:
            raise ForkError(f"turn {step.turn} has not come to its end: fork from an earlier one")


async def _live(fork: Entity, intent: str, context: Sealed | None, result_type: Any) -> Cast:
    """A fork's life: one cast, then its medium is let go."""
    try:
        ended = await fork.cast(intent, context)
    except Exception as error:
        ended = Ended("failed", type(error).__name__, error=error)
    finally:
        with anyio.CancelScope(shield=True):
            await fork.aclose()
    if ended.error is None:
        text = ended.answer.text if ended.answer else ""
        fork.emit(FinalResponse(fork.entity_id, 0, text))
    return Cast(fork, ended, fork.branch.usage, result_type)
