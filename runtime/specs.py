"""What the entities of a loom are made of, for others like them to be made."""

from __future__ import annotations

from dataclasses import dataclass

from ..gates import ChildRequest
from ..sandbox.wire import loads
from .family import Family
from .loom import EntityView, Loom, SpawnPoint
from .spawn import ChildSpec


@dataclass(frozen=True)
class Specs:
    """Grants again what was granted to entities that are on record.

    Attributes:
        loom: Where they are recorded.
        family: What the cantrip's entities share.
        root: What its roots are made of.
    """

    loom: Loom
    family: Family
    root: ChildSpec

    def first(self, entity: EntityView) -> EntityView:
        """What a fork, or a fork of forks, is forked from; an entity that is no fork itself."""
        while entity.forked_from is not None:
            entity = self.loom.entities[self.loom.turn(entity.forked_from.node).entity_id]
        return entity

    def of(self, entity: EntityView) -> ChildSpec:
        """What an entity is made of; a child is granted anew what it was, a fork what that was.

        Raises:
            CantripError, WardError: The cantrip can't grant it any more.
        """
        entity = self.first(entity)
        where = entity.spawned_by
        if where is None:
            return self.root
        turn = self.loom.turn(where.node)
        parent = self.loom.entities[turn.entity_id]
        request = self._request(parent, turn.turn, where, entity)
        return self.family.spawn(request, self.family.describe(self.of(parent), parent.depth))

    def _request(
        self, parent: EntityView, turn: int, where: SpawnPoint, child: EntityView
    ) -> ChildRequest:
        """What a parent's code asked for; the context stands with the child."""
        asked = loads(parent.call(turn, where.call).arguments)
        fields = asked["requests"][where.position] if "requests" in asked else asked
        if child.context is not None:
            fields["context"] = self.loom.fetch(child.context)
        return ChildRequest(**fields)
