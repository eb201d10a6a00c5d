"""One entity's own past, turn by turn, as the loom has it."""

from __future__ import annotations

from ..errors import LoomError
from .index import EntityEntry, Index
from .lineage import Uttered
from .records import EntityRecord, NodeRecord, ReplyRecord
from .turn import Turn


class History:
    """The turns of one entity, those that it is forked from included.

    Each is read from the store when it is looked at. A parent's turns and its kin's are not among
    them (``COMP-4``).

    Args:
        index: The loom's index.
        entity_id: The entity; it need not be on record yet.
        origin: Id of the node that it is forked from. Default: what the record says.
    """

    def __init__(self, index: Index, entity_id: str, origin: str | None = None) -> None:
        self._index = index
        self._entity_id = entity_id
        self._origin = origin

    def turn(self, number: int) -> Uttered:
        """One utterance, and what was observed of it.

        Args:
            number: Its ordinal, from 1; a fork counts on from what it is forked from.

        Raises:
            LoomError: The entity has no such turn.
        """
        entry = self._entry_of(number)
        if entry is None:
            raise LoomError(f"entity {self._entity_id!r} has no turn {number}")
        reply = self._index.load(entry.replies[number], ReplyRecord).reply
        nodes = (self._index.nodes[node] for node in entry.parts.get(number, ()))
        return Uttered(entry.id, number, reply, tuple(Turn(self._index, node) for node in nodes))

    def children(self, before: int | None = None) -> list[str]:
        """Ids of the entities that its turns spawned, in order.

        Args:
            before: The first turn whose children don't count any more. Default: all count.
        """
        own = self._index.entities.get(self._entity_id)
        entries = [] if own is None else [own]
        origin = self._origin if own is None else self._origin_of(own)
        while origin is not None:
            entries.append(self._index.entities[self._index.node(origin).entity])
            origin = self._origin_of(entries[-1])
        return [
            child
            for entry in reversed(entries)
            for child in entry.children
            if self._spawned(self._index.entities[child], before)
        ]

    def is_ancestor_of(self, entity_id: str, before: int | None = None) -> bool:
        """Whether an entity was spawned by one of its turns, or by its children's.

        Args:
            entity_id: The entity.
            before: The first turn whose children don't count any more. Default: all count.
        """
        entry = self._index.entities.get(entity_id)
        while entry is not None:
            if self._spawned(entry, before):
                return True
            point = self._index.load(entry.n, EntityRecord).spawned_by
            entry = point and self._index.entities[self._index.node(point.node).entity]
        return False

    def _spawned(self, child: EntityEntry, before: int | None) -> bool:
        """Whether one of its own turns spawned a child."""
        point = self._index.load(child.n, EntityRecord).spawned_by
        if point is None:
            return False
        node = self._index.node(point.node)
        turn = self._index.load(node.n, NodeRecord).turn
        maker = self._entry_of(turn)
        return maker is self._index.entities[node.entity] and (before is None or turn < before)

    def _entry_of(self, number: int) -> EntityEntry | None:
        """The entity that the turn was made by: this one, or one that it is forked from."""
        entry = self._index.entities.get(self._entity_id)
        origin = self._origin
        if entry is not None:
            if number in entry.replies:
                return entry
            origin = self._origin_of(entry)
        while origin is not None:
            node = self._index.node(origin)
            if number > self._index.load(node.n, NodeRecord).turn:
                return None
            entry = self._index.entities[node.entity]
            if number in entry.replies:
                return entry
            origin = self._origin_of(entry)
        return None

    def _origin_of(self, entry: EntityEntry) -> str | None:
        if not entry.is_fork:
            return None
        point = self._index.load(entry.n, EntityRecord).forked_from
        return None if point is None else point.node
