"""The chronicle: an entity's birth, intents, utterances and ends, as the loom is told of them."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from ..sandbox.wire import Sealed
from .errors import LoomError
from .family import Family
from .identity import Identity
from .llm import Reply, Tool, ToolCall
from .loom import (
    ContextRef,
    EndRecord,
    EntityRecord,
    IdentityRecord,
    IntentRecord,
    Loom,
    ReplyRecord,
    SpawnPoint,
)
from .loom.records import Ending
from .spawn import ChildSpec


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


class Chronicle:
    """Records one entity's life.

    Args:
        loom: Where it is recorded.
        entity_id: The entity.
        spec: What it is made of.
        family: What it shares with its kin.
        depth: Its level; 0 for the root.

    Attributes:
        spawned_by: Where its parent spawned it; None for a root.
        casts: How many intents it was given.
    """

    def __init__(
        self, loom: Loom, entity_id: str, spec: ChildSpec, family: Family, depth: int
    ) -> None:
        self._loom = loom
        self._entity_id = entity_id
        self._spec = spec
        self._family = family
        self._depth = depth
        self.spawned_by: SpawnPoint | None = None
        self.casts = 0

    def begin(
        self, intent: str, context: Sealed | None, tools: Sequence[Tool], after: str | None
    ) -> None:
        """Record that a cast begins; the first one is the entity's birth too."""
        kept = None if context is None else self._loom.keep(context)
        if not self.casts:
            self._birth(intent, kept, tools)
            after = None
        self.casts += 1
        self._loom.append(IntentRecord(self._entity_id, self.casts, intent, kept, after))

    def reply(self, turn: int, reply: Reply) -> Reply:
        """Record an utterance before anything in it is carried out.

        Gives it as it was recorded: a call whose arguments nest too deep to be kept is marked
        as malformed, for the model to be told.
        """
        calls = tuple(map(_recordable, reply.tool_calls))
        reply = reply if calls == reply.tool_calls else replace(reply, tool_calls=calls)
        self._loom.append(ReplyRecord(self._entity_id, turn, reply))
        return reply

    def end(self, ended: Ended, node: str | None) -> None:
        """Record how the cast ended, ``node`` being its last one."""
        self._loom.append(
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
        self._birth(intent, None if context is None else self._loom.keep(context), tools)
        self.end(ended, None)

    def _birth(self, intent: str, context: ContextRef | None, tools: Sequence[Tool]) -> None:
        spec, loom = self._spec, self._loom
        if self._entity_id in loom.entities:
            raise LoomError(
                f"there is an entity {self._entity_id!r} in the loom already: ids are unique"
            )
        identity = _identity_record(spec.identity, self._family, tools)
        if identity.id not in loom.identities:
            loom.append(identity)
        loom.append(
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
