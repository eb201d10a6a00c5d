"""Turns and threads as they are read from the log: views, made when they are looked at."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, overload

from ...sandbox import wire
from ..llm.base import Reply, Usage
from .index import Index, NodeEntry
from .records import CallRecord, EndRecord, EntityRecord, NodeRecord, ReplyRecord, RewardRecord
from .values import Ending, ForkPoint, Observation, State


@dataclass(frozen=True, slots=True)
class Metadata:
    """What a turn took (``LOOM-9``).

    Attributes:
        tokens_prompt: Tokens in; 0 on a turn's later parts, for they made no query.
        tokens_completion: Tokens out; 0 on a turn's later parts.
        tokens_cached: How many of ``tokens_prompt`` came from the provider's cache.
        duration_ms: How long it took, in milliseconds; above 0.
        timestamp: When it was recorded, RFC 3339 in UTC.
    """

    tokens_prompt: int
    tokens_completion: int
    tokens_cached: int
    duration_ms: float
    timestamp: str


class Turn:
    """One node of the loom: a turn, or a part of a turn that delegated.

    Attributes:
        id: Unique in the loom (``LOOM-2``).
        parent_id: Id of the node before, or of the one that a child hangs under; None at a root.
        entity_id: Whose turn it is.
        role: ``entity``.
    """

    role: Literal["entity"] = "entity"

    def __init__(self, index: Index, entry: NodeEntry) -> None:
        self._index = index
        self._entry = entry
        self.id = entry.id
        self.parent_id = entry.parent
        self.entity_id = entry.entity

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Turn):
            return NotImplemented
        return self.id == other.id and self._index is other._index

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        part = "" if self.part == 1 and self.last else f", part {self.part}"
        return f"<Turn {self.id}: entity {self.entity_id}, turn {self.turn}{part}>"

    @property
    def cantrip_id(self) -> str:
        """Id of the cantrip that the entity is an instance of."""
        entity = self._index.entities[self.entity_id]
        return self._index.load(entity.n, EntityRecord).cantrip_id

    @property
    def sequence(self) -> int:
        """Ordinal of the node within its entity, from 1."""
        return self._node.sequence

    @property
    def turn(self) -> int:
        """Ordinal of the utterance within its entity, from 1; a fork counts on."""
        return self._node.turn

    @property
    def part(self) -> int:
        """Ordinal of the part within the turn, from 1."""
        return self._node.part

    @property
    def last(self) -> bool:
        """Whether this is the turn's last part."""
        return self._node.last

    @property
    def state(self) -> State:
        """What became of the sandbox's state: ``kept``, ``rolled_back`` or ``lost``."""
        return self._node.state

    @property
    def replayable(self) -> bool:
        """Whether the turn would do the same again: one that was cut off would not."""
        return self._node.replayable

    @property
    def reads(self) -> bytes | None:
        """What the turn's programs read of clocks and chance after its last call, for replay."""
        return self._node.reads

    @property
    def delegated(self) -> tuple[str, ...]:
        """Ids of the entities spawned by the call that ended this part."""
        return self._node.delegated

    @property
    def observation(self) -> Observation:
        """What the circle answered."""
        return self._node.observation

    @cached_property
    def utterance(self) -> Reply | None:
        """What the model said; None on a turn's later parts, and when there was no query."""
        entity = self._index.entities[self.entity_id]
        n = entity.replies.get(self.turn)
        if n is None or self.part > 1:
            return None
        return self._index.load(n, ReplyRecord).reply

    @property
    def calls(self) -> list[CallRecord]:
        """The gate calls of this part, in order; one without an end is there as it began."""
        entity = self._index.entities[self.entity_id]
        numbers = [entity.call(self.turn, k) for k in self._node.calls]
        return [self._index.load(n, CallRecord) for n in numbers if n is not None]

    @property
    def call_numbers(self) -> tuple[int, ...]:
        """``k`` of each gate call of this part, in order."""
        return self._node.calls

    @property
    def call_count(self) -> int:
        """How many gate calls were made in this part."""
        return len(self._node.calls)

    @property
    def gate_calls(self) -> list[str]:
        """Names of the gates whose calls ended in this part, in order."""
        return [call.gate for call in self.calls if call.state == "ended"]

    @property
    def metadata(self) -> Metadata:
        """Tokens, duration and time (``LOOM-9``)."""
        usage = self.utterance.usage if self.utterance else Usage()
        at, _ = self._index.stored(self._entry.n)
        return Metadata(
            tokens_prompt=usage.prompt_tokens,
            tokens_completion=usage.completion_tokens,
            tokens_cached=usage.cached_tokens,
            duration_ms=self._node.duration_ms,
            timestamp=at,
        )

    @property
    def reward(self) -> float | None:
        """The newest reward, or None."""
        return self._entry.reward

    @property
    def rewards(self) -> list[RewardRecord]:
        """All that it was judged with, in order; the last one counts (``LOOM-3``)."""
        return [self._index.load(n, RewardRecord) for n in self._index.rewards.get(self.id, ())]

    @property
    def terminated(self) -> bool:
        """Whether a cast ended here by itself (``LOOM-7``)."""
        return outcome_of(self.end) == "terminated"

    @property
    def truncated(self) -> bool:
        """Whether a ward ended a cast here (``LOOM-7``)."""
        return outcome_of(self.end) == "truncated"

    @property
    def reason(self) -> str | None:
        """Why a cast ended here; None when none did."""
        return reason_of(self.end)

    @property
    def end(self) -> EndRecord | None:
        """The end of the cast whose last node this is, or None."""
        n = self._entry.end
        return None if n is None else self._index.load(n, EndRecord)

    @cached_property
    def _node(self) -> NodeRecord:
        return self._index.load(self._entry.n, NodeRecord)


class Thread(Sequence[Turn]):
    """A path through the tree, from its root to one node (``LOOM-10``).

    Attributes:
        turns: Its nodes, the root's first.
        end: How the cast at its tip ended; None when it has not.
        forked_from: Where the entity at its tip left another's path, and by which strategy
            (``LOOM-4``, ``LOOM-13``); None where it is no fork.
    """

    def __init__(
        self, turns: list[Turn], end: EndRecord | None, forked_from: ForkPoint | None = None
    ) -> None:
        self.turns = turns
        self.end = end
        self.forked_from = forked_from

    @overload
    def __getitem__(self, place: int) -> Turn: ...
    @overload
    def __getitem__(self, place: slice) -> list[Turn]: ...
    def __getitem__(self, place: int | slice) -> Turn | list[Turn]:
        return self.turns[place]

    def __len__(self) -> int:
        return len(self.turns)

    def __repr__(self) -> str:
        return f"<Thread of {len(self)} nodes: {outcome_of(self.end) or 'not ended'}>"

    @property
    def result(self) -> Any:
        """What the cast at its tip came to, with its type (``CIRCLE-8``); else None.

        Raises:
            CodecError: The recorded bytes are damaged.
        """
        return result_of(self.end)

    @property
    def terminated(self) -> bool:
        """Whether the cast at its tip ended by itself (``LOOM-7``)."""
        return outcome_of(self.end) == "terminated"

    @property
    def truncated(self) -> bool:
        """Whether a ward ended the cast at its tip (``LOOM-7``)."""
        return outcome_of(self.end) == "truncated"

    @property
    def reason(self) -> str | None:
        """Why the cast at its tip ended; None when it has not."""
        return reason_of(self.end)


def outcome_of(end: EndRecord | None) -> Ending | None:
    """How the cast ended; None when it has not."""
    return None if end is None else end.outcome


def reason_of(end: EndRecord | None) -> str | None:
    """Why the cast ended; None when it has not."""
    return None if end is None else end.reason


def result_of(end: EndRecord | None) -> Any:
    """The result that an end holds, decoded; None when there is none."""
    if end is None or end.result is None:
        return None
    return wire.loads(end.result, unseal=True)
