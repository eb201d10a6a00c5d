"""Entities as they are read from the log."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..errors import LoomError
from ..llm.base import Reply, Usage
from .index import EntityEntry, Index
from .records import (
    CallRecord,
    EndRecord,
    EntityRecord,
    FoldRecord,
    IdentityRecord,
    ImageRecord,
    IntentRecord,
    ReplyRecord,
    ResumeRecord,
)
from .turn import Turn, outcome_of, reason_of, result_of
from .values import ContextRef, Ending, ForkPoint, SpawnPoint


class EntityView:
    """One entity of a loom: what it was given, what it did, what came of it.

    Attributes:
        id: Unique in the loom (``ENTITY-2``).
    """

    def __init__(self, index: Index, entry: EntityEntry) -> None:
        self._index = index
        self._entry = entry
        self.id = entry.id

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, EntityView):
            return NotImplemented
        return self.id == other.id and self._index is other._index

    def __hash__(self) -> int:
        return hash(self.id)

    def __repr__(self) -> str:
        return f"<EntityView {self.id}: depth {self.depth}, {self.outcome or 'not ended'}>"

    @property
    def cantrip_id(self) -> str:
        """Id of the cantrip that it is an instance of."""
        return self._record.cantrip_id

    @property
    def identity(self) -> IdentityRecord:
        """Its identity."""
        number = self._index.identities[self._record.identity_id]
        return self._index.load(number, IdentityRecord)

    @property
    def depth(self) -> int:
        """0 for a root, one more a level."""
        return self._record.depth

    @property
    def intent(self) -> str:
        """Its first intent."""
        return self._record.intent

    @property
    def context(self) -> ContextRef | None:
        """The context that it was given, or None."""
        return self._record.context

    @property
    def model(self) -> str:
        """Name of its LLM."""
        return self._record.model

    @property
    def medium(self) -> str:
        """Name of its medium."""
        return self._record.medium

    @property
    def wards(self) -> dict[str, Any]:
        """Its resolved wards, by name."""
        return self._record.wards

    @property
    def spawned_by(self) -> SpawnPoint | None:
        """Where its parent spawned it; None for a root."""
        return self._record.spawned_by

    @property
    def forked_from(self) -> ForkPoint | None:
        """Where it left another entity's path; None when it is no fork."""
        return self._record.forked_from

    @property
    def difference(self) -> str | None:
        """What a fork's past first showed differently when it was run again, or None."""
        return self._record.difference

    @property
    def seed(self) -> int | None:
        """What its session's random numbers began with; None in looms that don't say."""
        return self._record.seed

    @property
    def intents(self) -> list[IntentRecord]:
        """The intents that it was given, in order (``ENTITY-5``)."""
        return [self._index.load(n, IntentRecord) for n in self._entry.intents]

    @property
    def folds(self) -> list[FoldRecord]:
        """What was folded of its turns in what its model was told, in order (``LOOM-5``)."""
        return [self._index.load(n, FoldRecord) for n in self._entry.folds]

    @property
    def images(self) -> list[ImageRecord]:
        """What was written down of its sandbox's state, in order."""
        return [self._index.load(n, ImageRecord) for n in self._entry.images]

    @property
    def resumes(self) -> list[ResumeRecord]:
        """Its being taken up again, time after time."""
        return [self._index.load(n, ResumeRecord) for n in self._entry.resumes]

    @property
    def children(self) -> list[EntityView]:
        """The entities that it spawned, in order."""
        entities = self._index.entities
        return [EntityView(self._index, entities[child]) for child in self._entry.children]

    @property
    def turns(self) -> list[Turn]:
        """Its own nodes, in order; a child's are not among them."""
        nodes = self._index.nodes
        return [Turn(self._index, nodes[node]) for node in self._entry.nodes]

    def call(self, turn: int, k: int) -> CallRecord:
        """A gate call by its utterance and its place in it; as it began where it never ended.

        Raises:
            LoomError: There is none.
        """
        n = self._entry.call(turn, k)
        if n is None:
            raise LoomError(f"entity {self.id!r} has no call {k} in turn {turn}")
        return self._index.load(n, CallRecord)

    def calls(self, turn: int) -> list[CallRecord]:
        """The gate calls of an utterance, in order, also where it is still carried out."""
        numbers = self._entry.calls.get(turn, ())
        return [self._index.load(n, CallRecord) for n in numbers if n]

    def reply(self, turn: int) -> Reply | None:
        """What it said in a turn, which may still be carried out; None where it said nothing."""
        n = self._entry.replies.get(turn)
        return None if n is None else self._index.load(n, ReplyRecord).reply

    @property
    def utterance_count(self) -> int:
        """How many utterances it made; a turn that delegated is one."""
        return len(self._entry.replies)

    @property
    def last_turn(self) -> int:
        """Ordinal of its last utterance; 0 where it made none. A fork counts on."""
        return next(reversed(self._entry.replies), 0)

    @property
    def usage(self) -> Usage:
        """Tokens of its own queries, added up (``PROD-3``)."""
        return self._entry.usage

    @property
    def end(self) -> EndRecord | None:
        """How its newest ended cast ended; None when none has."""
        n = self._entry.end
        return None if n is None else self._index.load(n, EndRecord)

    @property
    def is_at_work(self) -> bool:
        """Whether its newest cast has not ended, be it that nobody is left to work on it."""
        end = self.end
        return end is None or end.cast < len(self._entry.intents)

    @property
    def outcome(self) -> Ending | None:
        """How its newest ended cast ended (``LOOM-7``); None when none has."""
        return outcome_of(self.end)

    @property
    def reason(self) -> str | None:
        """Why; None when no cast has ended."""
        return reason_of(self.end)

    @property
    def result(self) -> Any:
        """The newest result, with its type (``CIRCLE-8``); None when there is none.

        Raises:
            CodecError: The recorded bytes are damaged.
        """
        return result_of(self.end)

    @cached_property
    def _record(self) -> EntityRecord:
        return self._index.load(self._entry.n, EntityRecord)
