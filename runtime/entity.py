"""The entity: a running instance of a cantrip, and its loop."""

from __future__ import annotations

import uuid
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

import anyio
from pydantic import TypeAdapter, ValidationError

from ..gates import STANDARD, ChildRequest, Gate
from ..gates.arguments import explain
from ..sandbox.execution import clip
from ..sandbox.wire import Sealed, seal
from . import events
from .children import Children
from .chronicle import Chronicle, Ended, reason_of
from .context import Context
from .desk import TurnDesk
from .errors import CantripError, MalformedReply
from .family import Family
from .llm import Message, Reply, with_retry
from .loom import Record, SpawnPoint
from .media import MAKERS, Act, Medium, Surroundings
from .media.conversation import Answered, act_of, result_message
from .spawn import ChildSpec
from .texts import RESULT_CHARS
from .tree import Branch, Tree

_GO_ON = "That was text alone. Go on; call done with the result when you have it."
_CUT_OFF = "Your reply was cut off at its token limit before it was whole. Write a shorter one."


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
        self._result = None if result is None else TypeAdapter(result)
        self.gates, self.closed = _open_and_closed(spec)
        self._medium: Medium = MAKERS[spec.medium](
            Surroundings(
                self.gates,
                self.closed,
                spec.wards,
                tuple(family.llms),
                family.registry,
                spec.packages,
            )
        )
        self._chronicle = Chronicle(tree.loom, self.entity_id, spec, family, self.depth)
        self._context: Context | None = None
        self._children = Children(self)
        self._turns = self._errors_in_a_row = 0
        self._tally: Counter[str] = Counter()
        # Last, for nothing may claim a reply for an entity that can't be made.
        self._llm = spec.llm.bind(intent, child=branch.parent is not None)

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

    @property
    def begun(self) -> bool:
        """Whether it was given an intent and is on record."""
        return self._chronicle.casts > 0

    async def cast(self, intent: str, context: Sealed | None = None) -> Ended:
        """Work on one intent until ``done``, a ward, or an error ends it.

        Once it has begun, how it ended is recorded whatever happens; a cancelled cast is
        truncated. It begins when it has a slot of its tree's, unless a ward above keeps it out.

        Args:
            intent: What to do (``INTENT-1``).
            context: Data for it, or None.

        Raises:
            CantripError: ``intent is required``.
            LoomError: It can't be recorded.
        """
        if not intent or not intent.strip():
            raise CantripError("intent is required")
        async with self.tree.working(self):
            kept_out = None if self.begun else self.branch.kept_out()
            if kept_out:
                return self.never_started(intent, context, kept_out)
            self._begin(intent, context)
            return await self._work(intent, context)

    def _begin(self, intent: str, context: Sealed | None) -> None:
        newborn = not self.begun
        self._chronicle.begin(intent, context, self._medium.tools(), self.tip)
        if newborn:
            self.branch.count()
            self.tree.joined(self.depth)
        self._tally.clear()
        self._errors_in_a_row = 0

    async def _work(self, intent: str, context: Sealed | None) -> Ended:
        turns_before, tip_before = self._turns, self.tip
        # What holds if the cast is cancelled from above (``COMP-9``).
        ended = Ended("truncated", "cancelled" if self.parent_id is None else "parent_terminated")
        try:
            with anyio.move_on_after(self.spec.wards.timeout_s) as time_left:
                await self._take_in(intent, context)
                ended = await self._loop()
            if time_left.cancelled_caught:
                ended = Ended("truncated", "timeout_s")
        except Exception as error:
            ended = Ended("failed", type(error).__name__, error=error)
        finally:
            ended = self._close(ended, self._turns - turns_before, tip_before)
        return ended

    async def _take_in(self, intent: str, context: Sealed | None) -> None:
        """Put the intent and its context where the entity finds them."""
        self.emit(
            events.EntityStarted(self.entity_id, self.depth, self.parent_id, intent, self._llm.name)
        )
        await self._medium.give(context)
        if self._context is None:
            self._context = Context(
                self.spec.identity, self._medium.capabilities(), self._medium.tools()
            )
        self._context.add_intent(self._medium.first_message(intent))

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
        desk = TurnDesk(self, number)
        try:
            act = await self._act(reply, desk)
        except BaseException as error:
            limit = self.spec.wards.max_output_chars or RESULT_CHARS
            self._note(reply, _answering(reply, desk.cut_off(error), limit), desk)
            raise
        desk.finish(act)
        self._note(reply, act, desk)
        return act.answer

    async def _query(self, number: int) -> Reply:
        """Ask the model; what it says is on record before anybody is told (``LOOM-1``)."""
        assert self._context is not None  # an intent was added before
        self.emit(events.MessageStarted(self.entity_id, self.depth, number))
        reply = await with_retry(self._llm, self._context.request(), self.family.retry)
        self.branch.spend(reply.usage)
        reply = self._chronicle.reply(number, reply)
        self._turns = number
        self.tree.turns += 1
        if reply.thinking:
            self.emit(events.Thinking(self.entity_id, self.depth, reply.thinking))
        if reply.content:
            self.emit(events.Text(self.entity_id, self.depth, reply.content))
        self.emit(events.MessageCompleted(self.entity_id, self.depth, number))
        total = self.branch.root.usage
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
        return _told(_GO_ON) if self.spec.wards.require_done_tool else self._answer(reply)

    def _answer(self, reply: Reply) -> Act:
        """Text alone as the answer (``LOOP-6``), if it fits the circle's result type."""
        answer = seal(reply.content)
        try:
            self.check_answer(answer)
        except ValueError as error:
            return _told(str(error), is_error=True)
        return Act((), reply.content or "", answer=answer)

    def _note(self, reply: Reply, act: Act, desk: TurnDesk) -> None:
        assert self._context is not None
        self._context.add_turn(reply, act.messages)
        self._errors_in_a_row = self._errors_in_a_row + 1 if act.is_error else 0
        self._tally.update(desk.called)
        self.last_text = act.text
        self.emit(
            events.StepCompleted(self.entity_id, self.depth, desk.turn, act.text, act.is_error)
        )

    # -- the end ---------------------------------------------------------------------------------

    def _close(self, ended: Ended, turns: int, tip_before: str | None) -> Ended:
        """Record how a cast ended."""
        summary = self._summary(ended.reason, turns) if ended.outcome == "truncated" else None
        ended = replace(ended, summary=summary, turns=turns)
        self._chronicle.end(ended, self.tip if self.sequence and self.tip != tip_before else None)
        self._emit_end(ended)
        return ended

    def _emit_end(self, ended: Ended) -> None:
        reason = reason_of(ended)
        self.emit(events.EntityEnded(self.entity_id, self.depth, ended.outcome, reason))

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

    async def run_children(self, ids: Sequence[str], where: SpawnPoint) -> list[Any]:
        """See ``Children.run``."""
        return await self._children.run(ids, where)

    def spawn(self, spec: ChildSpec, intent: str) -> Entity:
        """Make a child; it begins when it is cast."""
        branch = Branch(spec.wards, self.branch)
        return Entity(spec, self.family, self.tree, branch, intent, parent_id=self.entity_id)


def _told(text: str, is_error: bool = False) -> Act:
    return Act((Message("user", text),), text, is_error=is_error)


def _answering(reply: Reply, act: Act, limit: int) -> Act:
    """An act that tells its text in answer to all that the reply asked for (``LLM-7``)."""
    if not reply.tool_calls:
        return replace(act, messages=(Message("user", clip(act.text, limit)),))
    results = [Answered(result_message(call, act.text)) for call in reply.tool_calls]
    return replace(act, messages=act_of(results, limit).messages)


def _open_and_closed(spec: ChildSpec) -> tuple[dict[str, Gate], dict[str, str]]:
    """The gates that an entity has, and those that it can't have at its depth (``COMP-6``)."""
    if spec.wards.max_depth > 0:
        return {gate.name: gate for gate in spec.gates}, {}
    opened = {gate.name: gate for gate in spec.gates if not gate.delegates}
    closed = [gate.name for gate in (*spec.gates, *STANDARD.values()) if gate.delegates]
    why = "{} is not available at this depth (max_depth is 0): do the work in your own code"
    return opened, {name: why.format(name) for name in closed if name not in opened}
