"""The entity: a running instance of a cantrip, and its loop."""

from __future__ import annotations

import hashlib
import json
import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import anyio
from pydantic import TypeAdapter, ValidationError

from ..gates import ChildRequest, Gate
from ..gates.arguments import explain
from ..sandbox.execution import clip
from ..sandbox.wire import Sealed, seal
from . import events
from .children import Children
from .context import Context
from .desk import TurnDesk
from .errors import CantripError, MalformedReply
from .identity import Identity
from .llm import LLM, Message, Reply, Retry, Tool, with_retry
from .loom import (
    ContextRef,
    EndRecord,
    EntityRecord,
    IdentityRecord,
    IntentRecord,
    Record,
    ReplyRecord,
    SpawnPoint,
)
from .loom.records import Ending
from .media import MAKERS, Act, Medium, Surroundings
from .spawn import ChildSpec, Spawn
from .tree import Branch, Tree

_GO_ON = "That was text alone. Go on; call done with the result when you have it."
_CUT_OFF = "Your reply was cut off at its token limit before it was whole. Write a shorter one."


@dataclass(frozen=True)
class Family:
    """What all entities of one cantrip are made with.

    Attributes:
        cantrip_id: The cantrip.
        child_llm: Model of children that name none, or None.
        llms: Models that a request may name.
        registry: Gates that a child may ask for.
        spawn: The spawn function.
        retry: How failed queries are repeated (``PROD-2``).
    """

    cantrip_id: str
    child_llm: LLM | None
    llms: Mapping[str, LLM]
    registry: Mapping[str, Gate]
    spawn: Spawn
    retry: Retry


@dataclass(frozen=True)
class Ended:
    """How a cast ended.

    Attributes:
        outcome: ``terminated``, ``truncated``, ``failed`` or ``not_started``.
        reason: One word for why.
        answer: The result, or None where there is none.
        summary: What a truncated cast had done (``LOOP-4``).
        turns: Utterances of the cast.
        error: What failed, or None.
    """

    outcome: Ending
    reason: str
    answer: Sealed | None = None
    summary: str | None = None
    turns: int = 0
    error: BaseException | None = None


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

    Attributes:
        entity_id: Its id.
        depth: Its level; 0 for the root.
        gates: Its gates by name.
        closed: Gates of its circle that it may not use, and why.
        tip: Id of the node that its next one follows.
        sequence: How many nodes it has.
        last_text: The last observation.
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
    ) -> None:
        self.entity_id = entity_id or uuid.uuid4().hex[:12]
        self.parent_id = parent_id
        self.depth = branch.depth
        self.tip: str | None = None
        self.sequence = 0
        self.last_text = ""
        self.spec = spec
        self.family = family
        self.tree = tree
        self.branch = branch
        self._llm = spec.llm.bind(intent, child=branch.parent is not None)
        self._result = None if result is None else TypeAdapter(result)
        self.gates, self.closed = _open_and_closed(spec)
        self._medium: Medium = MAKERS[spec.medium](
            Surroundings(self.gates, self.closed, spec.wards)
        )
        self._context: Context | None = None
        self._children = Children(self)
        self._spawned_by: SpawnPoint | None = None
        self._casts = self._turns = 0
        self._errors_in_a_row = 0
        self._tally: Counter[str] = Counter()

    # -- what the desk needs ---------------------------------------------------------------------

    def record(self, record: Record) -> None:
        """Record a fact."""
        self.tree.loom.append(record)

    def emit(self, event: events.Event) -> None:
        """Tell who watches."""
        self.tree.emit(event)

    def check_answer(self, answer: Sealed) -> None:
        """Check that an answer fits the circle's result type.

        Raises:
            ValueError: It does not; the text says where.
        """
        if self._result is None:
            return
        try:
            self._result.validate_python(answer.open())
        except ValidationError as error:
            raise ValueError(f"done: the answer does not fit: {explain(error)}") from None

    def read_answer(self, answer: Sealed) -> Any:
        """An answer as the circle's result type has it."""
        value = answer.open()
        return value if self._result is None else self._result.validate_python(value)

    # -- the loop --------------------------------------------------------------------------------

    async def cast(self, intent: str, context: Sealed | None = None) -> Ended:
        """Work on one intent until ``done``, a ward, or an error ends it.

        Whatever happens, how it ended is recorded; a cancelled cast is truncated.

        Args:
            intent: What to do (``INTENT-1``).
            context: Data for it, or None.

        Raises:
            CantripError: ``intent is required``.
        """
        if not intent or not intent.strip():
            raise CantripError("intent is required")
        await self._begin(intent, context)
        turns_before, tip_before = self._turns, self.tip
        # What holds if the cast is cancelled from above (``COMP-9``).
        ended = Ended("truncated", "cancelled" if self.parent_id is None else "parent_terminated")
        try:
            async with self.tree.working(self):
                with anyio.move_on_after(self.spec.wards.timeout_s) as time_left:
                    ended = await self._loop()
                if time_left.cancelled_caught:
                    ended = Ended("truncated", "timeout_s")
        except Exception as error:
            ended = Ended("failed", type(error).__name__, error=error)
        finally:
            ended = self._close(ended, self._turns - turns_before, tip_before)
        return ended

    async def _begin(self, intent: str, context: Sealed | None) -> None:
        kept = None if context is None else self.tree.loom.keep(context)
        if self._casts == 0:
            self._record_birth(intent, kept)
        self._casts += 1
        after = None if self._casts == 1 else self.tip
        self.record(IntentRecord(self.entity_id, self._casts, intent, kept, after))
        await self._medium.give(context)
        if self._context is None:
            self._context = Context(
                self.spec.identity, self._medium.capabilities(), self._medium.tools()
            )
        self._context.add_intent(self._medium.first_message(intent))
        self.emit(
            events.EntityStarted(self.entity_id, self.depth, self.parent_id, intent, self._llm.name)
        )

    def _record_birth(self, intent: str, context: ContextRef | None) -> None:
        identity = _identity_record(self.spec.identity, self.family, self._medium.tools())
        if identity.id not in self.tree.loom.identities:
            self.record(identity)
        self.record(
            EntityRecord(
                id=self.entity_id,
                cantrip_id=self.family.cantrip_id,
                identity_id=identity.id,
                spawned_by=self._spawned_by,
                depth=self.depth,
                wards=self.spec.wards.in_force(),
                medium=self.spec.medium,
                model=self._llm.name,
                intent=intent,
                context=context,
            )
        )
        self.tree.joined(self.depth)

    async def _loop(self) -> Ended:
        turns = 0
        while True:
            reached = self._ward_reached(turns)
            if reached:
                return Ended("truncated", reached)
            turns += 1
            answer = await self._turn()
            if answer is not None:
                return Ended("terminated", "done", answer)

    def _ward_reached(self, turns: int) -> str | None:
        """The ward that lets no further turn begin (``LOOP-4``), or None."""
        wards = self.spec.wards
        if wards.max_turns is not None and turns >= wards.max_turns:
            return "max_turns"
        if wards.max_errors_in_a_row and self._errors_in_a_row >= wards.max_errors_in_a_row:
            return "max_errors_in_a_row"
        return self.branch.spent_out()

    async def _turn(self) -> Sealed | None:
        """One utterance and one observation; gives the answer where the work is done."""
        number = self._turns + 1
        self.emit(events.StepStarted(self.entity_id, self.depth, number))
        reply = await self._query(number)
        self._turns = number
        self.tree.turns += 1
        self.record(ReplyRecord(self.entity_id, number, reply))
        desk = TurnDesk(self, number)
        try:
            act = await self._act(reply, desk)
        except BaseException as error:
            why = f"The turn was cut off: {str(error) or type(error).__name__}"
            desk.finish(Act((), why, is_error=True, error=why, state="lost"))
            raise
        desk.finish(act)
        self._note(reply, act, number)
        return act.answer

    async def _query(self, number: int) -> Reply:
        assert self._context is not None  # an intent was added before
        self.emit(events.MessageStarted(self.entity_id, self.depth, number))
        reply = await with_retry(self._llm, self._context.request(), self.family.retry)
        self.branch.spend(reply.usage)
        if reply.thinking:
            self.emit(events.Thinking(self.entity_id, self.depth, reply.thinking))
        if reply.content:
            self.emit(events.Text(self.entity_id, self.depth, reply.content))
        self.emit(events.MessageCompleted(self.entity_id, self.depth, number))
        total = list(self.branch.upward())[-1].usage
        self.emit(events.UsageReported(self.entity_id, self.depth, reply.usage, total))
        return reply

    async def _act(self, reply: Reply, desk: TurnDesk) -> Act:
        if reply.stop_reason == "length" and not reply.tool_calls:
            return _told(_CUT_OFF, is_error=True)
        try:
            act = await self._medium.act(reply, desk)
        except MalformedReply as error:
            return _told(str(error), is_error=True)
        if act is not None:
            return act
        if self.spec.wards.require_done_tool:
            return _told(_GO_ON)
        return Act((), reply.content or "", answer=seal(reply.content))

    def _note(self, reply: Reply, act: Act, number: int) -> None:
        assert self._context is not None
        self._context.add_turn(reply, act.messages)
        self._errors_in_a_row = self._errors_in_a_row + 1 if act.is_error else 0
        self._tally.update(call.name for call in reply.tool_calls)
        self.last_text = act.text
        self.emit(events.StepCompleted(self.entity_id, self.depth, number, act.text, act.is_error))

    # -- the end ---------------------------------------------------------------------------------

    def _close(self, ended: Ended, turns: int, tip_before: str | None) -> Ended:
        """Record how a cast ended."""
        summary = self._summary(ended.reason, turns) if ended.outcome == "truncated" else None
        ended = Ended(ended.outcome, ended.reason, ended.answer, summary, turns, ended.error)
        node = self.tip if self.sequence and self.tip != tip_before else None
        reason = ended.reason if ended.error is None else f"{ended.reason}: {ended.error}"
        self.record(
            EndRecord(
                entity=self.entity_id,
                cast=self._casts,
                node=node,
                outcome=ended.outcome,
                reason=reason,
                result=ended.answer.data if ended.answer else None,
                result_text=ended.answer.text if ended.answer else "",
                summary=summary,
            )
        )
        self.emit(events.EntityEnded(self.entity_id, self.depth, ended.outcome, reason))
        return ended

    def _summary(self, reason: str, turns: int) -> str:
        """What a truncated cast had done, from a template and never a query (``LOOP-4``)."""
        calls = ", ".join(f"{name} {count} times" for name, count in self._tally.items())
        last = f"; last observed: {clip(self.last_text, 200)}" if self.last_text else ""
        return f"Stopped by {reason} after {turns} turns; called: {calls or 'nothing'}{last}"

    async def aclose(self) -> None:
        """Let go of the medium; what was recorded stays (``ENTITY-4``)."""
        await self._medium.aclose()

    # -- as a child, and with children ---------------------------------------------------------

    def hang_under(self, where: SpawnPoint) -> None:
        """Take the place where the parent spawned this entity (``COMP-5``)."""
        self._spawned_by, self.tip = where, where.node

    def never_started(self, intent: str, context: Sealed | None, reason: str) -> str:
        """Record that a ward let this entity not begin; gives a summary."""
        self._record_birth(intent, None if context is None else self.tree.loom.keep(context))
        summary = f"Never started: {reason} was reached"
        self.record(
            EndRecord(
                entity=self.entity_id,
                cast=1,
                node=None,
                outcome="not_started",
                reason=reason,
                summary=summary,
            )
        )
        self.emit(events.EntityEnded(self.entity_id, self.depth, "not_started", reason))
        return summary

    def prepare(self, requests: Sequence[ChildRequest]) -> list[str]:
        """See ``Children.prepare``."""
        return self._children.prepare(requests)

    async def run_children(self, ids: Sequence[str], where: SpawnPoint) -> list[Any]:
        """See ``Children.run``."""
        return await self._children.run(ids, where)

    def spawn(self, spec: ChildSpec, intent: str) -> Entity:
        """Make a child; it begins when it is cast."""
        branch = Branch(spec.wards, self.branch)
        return Entity(spec, self.family, self.tree, branch, intent, parent_id=self.entity_id)


def _told(text: str, is_error: bool = False) -> Act:
    return Act((Message("user", text),), text, is_error=is_error)


def _open_and_closed(spec: ChildSpec) -> tuple[dict[str, Gate], dict[str, str]]:
    """The gates that an entity has, and those of its circle that it may not use (``COMP-6``)."""
    opened: dict[str, Gate] = {}
    closed: dict[str, str] = {}
    for gate in spec.gates:
        if gate.delegates and spec.wards.max_depth == 0:
            closed[gate.name] = (
                f"{gate.name} is not available at this depth (max_depth is 0): "
                "do the work in your own code"
            )
        else:
            opened[gate.name] = gate
    return opened, closed


def _identity_record(identity: Identity, family: Family, tools: Sequence[Tool]) -> IdentityRecord:
    """An identity as it is recorded: under one id wherever it is the same."""
    digest = _digest([tool.neutral() for tool in tools])
    content = [family.cantrip_id, identity.model_dump(mode="json"), digest]
    return IdentityRecord(
        id=f"identity-{_digest(content)[:16]}",
        cantrip_id=family.cantrip_id,
        system_prompt=identity.system_prompt,
        hyperparameters=identity.hyperparameters,
        tools_digest=digest,
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
