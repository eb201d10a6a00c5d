"""Entities as they are read from the log."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from ..llm.base import Usage
from .index import EntityEntry, Index
from .records import (
    ContextRef,
    Ending,
    EndRecord,
    EntityRecord,
    ForkPoint,
    IdentityRecord,
    SpawnPoint,
)
from .turn import Turn, outcome_of, reason_of, result_of


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
    def children(self) -> list[EntityView]:
        """The entities that it spawned, in order."""
        entities = self._index.entities
        return [EntityView(self._index, entities[child]) for child in self._entry.children]

    @property
    def turns(self) -> list[Turn]:
        """Its own nodes, in order; a child's are not among them."""
        nodes = self._index.nodes
        return [Turn(self._index, nodes[node]) for node in self._entry.nodes]

    @property
    def utterance_count(self) -> int:
        """How many utterances it made; a turn that delegated is one."""
        return len(self._entry.replies)

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
