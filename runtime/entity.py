"""The entity: a running instance of a cantrip, and its loop."""

from __future__ import annotations

import secrets
import uuid
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from functools import partial
from typing import Any

import anyio

from ..gates import ChildRequest
from ..sandbox.checkpoint import AsyncCheckpoint
from ..sandbox.wire import Sealed
from . import events, living
from .acting import Acting
from .asking import Asking
from .children import Children
from .chronicle import Chronicle, Ended, reason_of
from .errors import CantripError, TrajectoryError
from .experience import Experience
from .family import Family
from .loom import EntityView, Folded, ForkPoint, Record, Resumed, SpawnPoint, Step, Uttered
from .media import MAKERS, Medium, Surroundings
from .recall import Recall
from .redaction import Secrets
from .replay import Past
from .result import ResultType
from .spawn import ChildSpec, open_and_closed
from .tree import Branch, Tree


class Entity:
    """One entity. It is made ready, then given intents one after the other (``ENTITY-5``).

    Args:
        spec: What it is made of.
        family: What it shares with its kin.
        tree: The tree that it is part of.
        branch: Its place in the tree.
        intent: What it is to do first; a child's model claims its first reply by it.
        parent_id: Who spawns it; None for a root.
        entity_id: Its id. Default: a fresh one (``ENTITY-2``).
        result: A type that the answer has to fit, or None.
        past: What it was before, of a fork (``LOOM-4``) or of one that is taken up again; or None.

    Attributes:
        entity_id: Its id.
        depth: Its level; 0 for the root.
        gates: Its gates by name.
        closed: Gates of its circle that it may not use, and why.
        tip: Id of the node that its next one follows.
        sequence: How many nodes it has.
    """

    def __init__(
        self,
        spec: ChildSpec,
        family: Family,
        tree: Tree,
        branch: Branch,
        intent: str,
        parent_id: str | None = None,
        entity_id: str | None = None,
        result: Any = None,
        past: Past | None = None,
    ) -> None:
        own = None if past is None else past.own
        self.entity_id = own.id if own is not None else entity_id or uuid.uuid4().hex[:12]
        self.parent_id = parent_id
        self.depth = branch.depth
        self.tip: str | None = None if past is None else past.node
        self.sequence = 0
        self.spec = spec
        self.family = family
        self.tree = tree
        self.branch = branch
        self.secrets = family.secrets | Secrets.of_keys(spec.llm.secrets)
        tree.loom.withhold(self.secrets)
        self._result = ResultType(result)
        self.gates, self.closed = open_and_closed(spec)
        known = None if past is None else past.seed
        seed = secrets.randbits(63) if known is None else known
        recall = Recall(tree.loom, self.entity_id, self.tip)
        self._medium: Medium = MAKERS[spec.medium](
            Surroundings(
                self.gates,
                self.closed,
                spec.wards,
                tuple(family.llms),
                family.registry,
                spec.packages,
                seed,
                recall,
            )
        )
        self._chronicle = Chronicle(tree, self.entity_id, spec, family, self.depth)
        self._chronicle.seed = seed
        if own is not None:
            self._chronicle.take_up(own)
        elif past is not None and past.node is not None:
            self._chronicle.forked_from = ForkPoint(past.node, "replay")
        self._past = past
        self._experience = Experience(self, self._medium, recall.own)
        self._acting = Acting(self, self._medium, self._experience)
        self._children = Children(self)
        # Last, for nothing may claim a reply for an entity that can't be made.
        if past is not None and past.heard is not None:
            llm = spec.llm.go_on(intent, past.heard)
        else:
            llm = spec.llm.bind(intent, child=branch.parent is not None)
        self._asking = Asking(self, llm, self._chronicle, self._experience)

    # -- what the desk needs ---------------------------------------------------------------------

    def record(self, record: Record) -> None:
        """Record a fact."""
        self._chronicle.record(record)

    def emit(self, event: events.Event) -> None:
        """Tell who watches."""
        self.tree.emit(event)

    def check_answer(self, answer: Sealed) -> None:
        """Check that an answer fits the circle's result type.

        Raises:
            ValueError: It does not; the text says where.
        """
        self._result.check(answer)

    def read_answer(self, answer: Sealed) -> Any:
        """An answer as the circle's result type has it."""
        return self._result.read(answer)

    def differs(self, difference: str) -> None:
        """Take in what a turn shows that is on record otherwise; the first of it counts."""
        self._chronicle.differing = self._chronicle.differing or difference

    # -- the loop --------------------------------------------------------------------------------

    @property
    def forked_from(self) -> ForkPoint | None:
        """Where it left another entity's path; None when it is no fork."""
        return self._chronicle.forked_from

    @property
    def difference(self) -> str | None:
        """What its past first showed differently when it was run again, or None."""
        return self._chronicle.differing or self._chronicle.difference

    @property
    def casts(self) -> int:
        """How many intents it was given."""
        return self._chronicle.casts

    @property
    def last_text(self) -> str:
        """The last observation."""
        return self._experience.course.last_text

    @property
    def is_on_record(self) -> bool:
        """Whether the loom knows of it from before, and it has not been taken up yet."""
        return self._past is not None and self._past.own is not None

    @property
    def begun(self) -> bool:
        """Whether it was given an intent and is on record."""
        return self.casts > 0

    async def cast(self, intent: str, context: Sealed | None = None) -> Ended:
        """Work on one intent until ``done``, a ward, or an error ends it.

        Once it has begun, how it ended is recorded whatever happens; a cancelled cast is
        truncated. It begins when it has a slot of its tree's, unless a ward above keeps it out.

        Args:
            intent: What to do (``INTENT-1``).
            context: Data for it, or None.

        Raises:
            CantripError: ``intent is required``.
            ForkError, ResumeError: Its past can't be lived again.
            LoomError: It can't be recorded.
        """
        if not intent or not intent.strip():
            raise CantripError("intent is required")
        async with self.tree.working(self):
            kept_out = None if self.begun else self.branch.kept_out()
            if kept_out:
                return self.never_started(intent, context, kept_out)
            if self._past is not None:
                await self._live_again()
                self._tell_difference()
            tip_before = self.tip
            self._begin(intent, context)
            begin = partial(self._take_in, intent, context)
            return await self._work(begin, tip_before, self.spec.wards.timeout_s)

    async def resume(self) -> Ended:
        """Go on with the cast that has not ended, from where the loom left it.

        Raises:
            ResumeError: Its past can't be lived again.
            LoomError: It can't be recorded.
        """
        assert self._past is not None
        own, rest = self._past.own, self._past.rest
        assert own is not None
        if not self.begun:  # it was on record, and had no intent yet
            context = None if own.context is None else self.tree.loom.fetch(own.context)
            return await self.cast(own.intent, context)
        intent = own.intents[-1]
        async with self.tree.working(self):
            with self._nothing_recorded():
                await self._live_again()
            living.add(self)
            begin = partial(self._go_on, intent.text, rest)
            return await self._work(begin, intent.after, self._time_left(own))

    def _time_left(self, own: EntityView) -> float | None:
        """Seconds that its cast may still take; None for however long."""
        timeout_s, standings = self.spec.wards.timeout_s, self.tree.standings
        if timeout_s is None or standings is None:
            return timeout_s
        return max(timeout_s - standings.of(own.id).spent_s, 0.0)

    async def _live_again(self) -> None:
        """Live its past, which it then has."""
        past, self._past = self._past, None
        assert past is not None
        begun = await past.origin.begin(self._experience, self._medium, past)
        if past.own is not None:
            self._chronicle.differing = begun.difference
        elif past.node is not None:
            self._chronicle.forked_from = ForkPoint(past.node, begun.strategy)
            self._chronicle.difference = begun.difference

    def _begin(self, intent: str, context: Sealed | None) -> None:
        newborn = not self.begun
        self._chronicle.begin(intent, context, self._medium.tools(), self.tip)
        if newborn:
            self.branch.count()
            self.tree.joined(self.depth)
        living.add(self)

    async def _work(
        self,
        begin: Callable[[], Awaitable[Sealed | None]],
        tip_before: str | None,
        time_s: float | None,
    ) -> Ended:
        """Begin, and go on to the end of the cast, which is recorded."""
        # What holds if the cast is cancelled from above (``COMP-9``).
        ended = Ended("truncated", "cancelled" if self.parent_id is None else "parent_terminated")
        try:
            with anyio.move_on_after(time_s) as time_left:
                ended = await self._loop(await begin())
            if time_left.cancelled_caught:
                ended = Ended("truncated", "timeout_s")
        except TrajectoryError as error:
            raise self.tree.stop(error) from None
        except Exception as error:
            ended = Ended("failed", type(error).__name__, error=error)
        finally:
            ended = self._close(ended, tip_before)
        return ended

    async def _take_in(self, intent: str, context: Sealed | None) -> None:
        """Begin with an intent."""
        who = self.entity_id, self.depth, self.parent_id, intent, self._asking.model
        self.emit(events.EntityStarted(*who))
        await self._experience.hear(intent, context, self._chronicle.difference)

    async def _go_on(self, intent: str, rest: tuple[Step, ...]) -> Sealed | None:
        """Go on with an intent; gives the answer where its work was done.

        Args:
            intent: The intent.
            rest: Its last utterance, to be carried out again, and what was told since; or nothing.
        """
        who = self.entity_id, self.depth, self.parent_id, intent, self._asking.model
        turns, usage = self._experience.turns + bool(rest), self.branch.usage
        self.emit(events.EntityResumed(*who, turns, usage))
        answer = None
        for step in rest:
            if isinstance(step, Uttered):
                answer = (await self._acting.carry_out_again(step)).answer
            elif isinstance(step, Folded):
                self._experience.fold(step)
            elif isinstance(step, Resumed):
                self._experience.note(step.difference)
        self._tell_difference()
        return answer

    def _tell_difference(self) -> None:
        """Tell the model what its past showed differently this time."""
        if self._chronicle.differing is not None:
            self._experience.note(self._chronicle.differing)

    async def _loop(self, answer: Sealed | None) -> Ended:
        while answer is None:
            course = self._experience.course
            reached = course.ward_reached(self.spec.wards) or self.branch.spent_out()
            if reached:
                return Ended("truncated", reached)
            answer = await self._turn()
        return Ended("terminated", "done", answer)

    async def _turn(self) -> Sealed | None:
        """One utterance and one observation; gives the answer where the work is done."""
        number = self._experience.turns + 1
        self.emit(events.StepStarted(self.entity_id, self.depth, number))
        reply = await self._asking.ask(number)
        return (await self._acting.carry_out(reply, number)).answer

    @contextmanager
    def _nothing_recorded(self) -> Iterator[None]:
        """While it is taken up; an error leaves the whole tree's record as it is."""
        try:
            yield
        except Exception as error:
            raise self.tree.stop(error) from None

    # -- the end ---------------------------------------------------------------------------------

    def _close(self, ended: Ended, tip_before: str | None) -> Ended:
        """Record how a cast ended."""
        course = self._experience.course
        summary = course.summary(ended.reason) if ended.outcome == "truncated" else None
        ended = replace(ended, summary=summary, turns=course.turns)
        self._chronicle.end(ended, self.tip if self.sequence and self.tip != tip_before else None)
        self._emit_end(ended)
        return ended

    def _emit_end(self, ended: Ended) -> None:
        reason = reason_of(ended)
        self.emit(events.EntityEnded(self.entity_id, self.depth, ended.outcome, reason))

    async def checkpoint(self, turn: int) -> AsyncCheckpoint | None:
        """The state at the end of a turn of its own; see ``Medium.checkpoint``."""
        return await self._medium.checkpoint(turn)

    async def aclose(self) -> None:
        """Let go of the medium; what was recorded stays (``ENTITY-4``)."""
        living.drop(self)
        await self._medium.aclose()

    # -- as a child, and with children ---------------------------------------------------------

    def hang_under(self, where: SpawnPoint) -> None:
        """Take the place where the parent spawned this entity (``COMP-5``)."""
        self._chronicle.spawned_by, self.tip = where, where.node

    def never_started(self, intent: str, context: Sealed | None, reason: str) -> Ended:
        """Record that this entity was asked for and never began."""
        ended = Ended("not_started", reason, summary=f"Never started: {reason}")
        self._chronicle.not_started(intent, context, self._medium.tools(), ended)
        self._emit_end(ended)
        return ended

    def admit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """See ``Children.admit``."""
        self._children.admit(args, kwargs)

    def prepare(self, requests: Sequence[ChildRequest]) -> list[str]:
        """See ``Children.prepare``."""
        return self._children.prepare(requests)

    def take_up(self, requests: Sequence[ChildRequest], ids: Sequence[str]) -> None:
        """See ``Children.take_up``."""
        with self._nothing_recorded():
            self._children.take_up(requests, ids)

    async def run_children(self, ids: Sequence[str], where: SpawnPoint) -> list[Any]:
        """See ``Children.run``."""
        return await self._children.run(ids, where)

    def spawn(self, spec: ChildSpec, intent: str, entity_id: str | None = None) -> Entity:
        """Make a child; it begins when it is cast.

        Args:
            spec: What it is made of.
            intent: What it is to do.
            entity_id: Its id, where the loom knows of it already. Default: a fresh one.
        """
        tree, branch = self.tree, Branch(spec.wards, self.branch)
        own = tree.loom.entities.get(entity_id or "")
        past = None
        if own is not None and tree.standings is not None:
            past = tree.standings.past(own, spec)
            branch.go_on(tree.standings.of(own.id))
        parent = self.entity_id
        return Entity(spec, self.family, tree, branch, intent, parent, entity_id, past=past)
