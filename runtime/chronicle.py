"""The chronicle: an entity's birth, intents, utterances and ends, as the loom is told of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..sandbox.wire import Sealed
from .errors import LoomError, RuntimeFault
from .family import Family
from .identity import Identity
from .llm import Reply, Tool, ToolCall
from .loom import (
    ContextRef,
    EndRecord,
    EntityRecord,
    EntityView,
    ForkPoint,
    IdentityRecord,
    IntentRecord,
    Record,
    ReplyRecord,
    ResumeRecord,
    Sent,
    SpawnPoint,
)
from .loom.values import Ending
from .spawn import ChildSpec
from .tree import Tree


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


def ended_of(end: EndRecord, turns: int) -> Ended:
    """How a cast ended, by its record.

    Args:
        end: The record.
        turns: Utterances of the cast.
    """
    if end.outcome == "failed":
        reason, _, message = end.reason.partition(": ")
        return Ended("failed", reason, turns=turns, error=RuntimeFault(message))
    answer = None if end.result is None else Sealed(end.result, end.result_text)
    return Ended(end.outcome, end.reason, answer, end.summary, turns)


class Chronicle:
    """Records one entity's life.

    Args:
        tree: Its tree, for it to be recorded.
        entity_id: The entity.
        spec: What it is made of.
        family: What it shares with its kin.
        depth: Its level; 0 for the root.

    Attributes:
        spawned_by: Where its parent spawned it; None for a root.
        forked_from: Where it left another entity's path; None when it is no fork.
        difference: What a fork's past first showed differently, or None.
        seed: What its session's random numbers begin with.
        casts: How many intents it was given.
        differing: What its past first showed differently when it was taken up again, or None.
    """

    def __init__(
        self, tree: Tree, entity_id: str, spec: ChildSpec, family: Family, depth: int
    ) -> None:
        self._tree = tree
        self._loom = tree.loom
        self._entity_id = entity_id
        self._spec = spec
        self._family = family
        self._depth = depth
        self.spawned_by: SpawnPoint | None = None
        self.forked_from: ForkPoint | None = None
        self.difference: str | None = None
        self.seed: int | None = None
        self.casts = 0
        self.differing: str | None = None
        self._is_born = self._is_back = False

    def take_up(self, own: EntityView) -> None:
        """Go on with the record of an entity that is taken up again."""
        self.spawned_by, self.forked_from = own.spawned_by, own.forked_from
        self.difference = own.difference
        self.casts = len(own.intents)
        self._is_born = self._is_back = True
        self._show_circle()

    def record(self, record: Record) -> None:
        """Record a fact; before the first one, that the entity is back, if it is."""
        is_back, self._is_back = self._is_back, False
        if is_back:
            self._tree.record(ResumeRecord(self._entity_id, self.differing))
        self._tree.record(record)

    def begin(
        self, intent: str, context: Sealed | None, tools: Sequence[Tool], after: str | None
    ) -> None:
        """Record that a cast begins; the first one is the entity's birth too."""
        kept = self._tree.keep(context)
        if not self.casts:
            self._birth(intent, kept, tools)
            after = None if self.forked_from is None else after
        self.casts += 1
        self._show_circle()
        self.record(IntentRecord(self._entity_id, self.casts, intent, kept, after))

    def _show_circle(self) -> None:
        if self._loom.trajectory is not None and self.spawned_by is None:
            self._loom.trajectory.begin(self._entity_id, self._spec.plain())

    def reply(self, turn: int, reply: Reply, sent: Sent) -> Reply:
        """Record an utterance before anything in it is carried out, and what it answers.

        Gives it as it was recorded: a call whose arguments nest too deep to be kept is marked
        as malformed, for the model to be told.
        """
        calls = tuple(map(_recordable, reply.tool_calls))
        reply = reply if calls == reply.tool_calls else replace(reply, tool_calls=calls)
        self.record(ReplyRecord(self._entity_id, turn, reply, sent))
        return reply

    def end(self, ended: Ended, node: str | None) -> None:
        """Record how the cast ended, ``node`` being its last one."""
        self.record(
            EndRecord(
                entity=self._entity_id,
                cast=max(self.casts, 1),
                node=node,
                outcome=ended.outcome,
                reason=reason_of(ended),
                result=ended.answer.data if ended.answer else None,
                result_text=ended.answer.text if ended.answer else "",
                summary=ended.summary,
            )
        )

    def not_started(
        self, intent: str, context: Sealed | None, tools: Sequence[Tool], ended: Ended
    ) -> None:
        """Record an entity that was asked for and never began."""
        self._birth(intent, self._tree.keep(context), tools)
        self.end(ended, None)

    def _birth(self, intent: str, context: ContextRef | None, tools: Sequence[Tool]) -> None:
        if self._is_born:
            return
        spec, loom = self._spec, self._loom
        if self._entity_id in loom.entities:
            raise LoomError(
                f"there is an entity {self._entity_id!r} in the loom already: ids are unique"
            )
        identity = _identity_record(spec.identity, self._family, tools)
        if identity.id not in loom.identities:
            self.record(identity)
        self._is_born = True
        self.record(
            EntityRecord(
                id=self._entity_id,
                cantrip_id=self._family.cantrip_id,
                identity_id=identity.id,
                spawned_by=self.spawned_by,
                depth=self._depth,
                wards=spec.wards.in_force(),
                medium=spec.medium,
                model=spec.llm.name,
                intent=intent,
                context=context,
                forked_from=self.forked_from,
                seed=self.seed,
                difference=self.difference,
            )
        )


def reason_of(ended: Ended) -> str:
    """Why a cast ended, with the error where one ended it."""
    return ended.reason if ended.error is None else f"{ended.reason}: {ended.error}"


MAX_ARGUMENT_DEPTH = 100
"""How deep the arguments of a model's call may nest."""


def _recordable(call: ToolCall) -> ToolCall:
    if _nests_within(call.arguments, MAX_ARGUMENT_DEPTH):
        return call
    wrong = f"they nest deeper than {MAX_ARGUMENT_DEPTH} levels"
    return replace(call, arguments={}, malformed=wrong)


def _nests_within(value: Any, levels: int) -> bool:
    layer = [value]
    while layer and levels:
        inner: list[Any] = []
        for item in layer:
            if isinstance(item, dict):
                inner.extend(item.values())
            elif isinstance(item, list):
                inner.extend(item)
        layer, levels = inner, levels - 1
    return not layer


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
        tool_choice=identity.tool_choice,
    )


def _digest(content: Any) -> str:
    text = json.dumps(content, sort_keys=True, ensure_ascii=True)
    return hashlib.sha256(text.encode()).hexdigest()
