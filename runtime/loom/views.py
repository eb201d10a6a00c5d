"""What is read from a loom: its turns, threads, entities, and casts side by side."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Generic, TypeVar, overload

from ..llm.base import Usage
from .attempts import Attempt, Group, attempts, groups
from .entities import EntityView
from .history import History
from .index import Index
from .lineage import Step, lineage
from .records import EndRecord, EntityRecord, IdentityRecord
from .turn import Thread, Turn


class Views:
    """The views of a loom. They read what they show from its store, when it is looked at.

    Args:
        index: The loom's index.
    """

    def __init__(self, index: Index) -> None:
        self._index = index

    @property
    def turns(self) -> Sequence[Turn]:
        """All nodes in the order in which they were recorded."""
        return _Turns(self._index)

    @property
    def turn_count(self) -> int:
        """How many nodes there are; a turn that delegated is several."""
        return len(self._index.order)

    @property
    def utterance_count(self) -> int:
        """How many utterances all entities made."""
        return sum(len(entity.replies) for entity in list(self._index.entities.values()))

    @property
    def identity(self) -> IdentityRecord | None:
        """The loom's first identity, its root (``IDENTITY-4``); None while it is empty."""
        return next(iter(self.identities.values()), None)

    @property
    def identities(self) -> Mapping[str, IdentityRecord]:
        """The identities by id, in order."""
        index = self._index
        return _Views(index.identities, lambda n: index.load(n, IdentityRecord))

    @property
    def entities(self) -> Mapping[str, EntityView]:
        """The entities by id, in the order in which they began."""
        index = self._index
        return _Views(index.entities, lambda entry: EntityView(index, entry))

    def turn(self, node_id: str) -> Turn:
        """A node by its id.

        Raises:
            LoomError: There is none.
        """
        return Turn(self._index, self._index.node(node_id))

    def children_of(self, node_id: str) -> list[Turn]:
        """The nodes right under a node, in order (``LOOM-8``).

        They are its entity's next one, and the first of each child and fork.

        Raises:
            LoomError: There is no such node.
        """
        return [self.turn(child) for child in list(self._index.node(node_id).children)]

    def threads(self) -> list[Thread]:
        """All paths from a root to a leaf (``LOOM-10``).

        They come in the order in which the entities at their leaves began. An entity's last
        node that only forks go on from counts as a leaf, for the entity is untouched by them.
        """
        entities = list(self._index.entities.values())
        tips = [self._index.nodes[entity.nodes[-1]] for entity in entities if entity.nodes]
        return [self.thread(tip.id) for tip in tips if all(map(self._is_fork_s, tip.children))]

    def _is_fork_s(self, node_id: str) -> bool:
        return self._index.entities[self._index.nodes[node_id].entity].is_fork

    def thread(self, of: str) -> Thread:
        """The path from the root to a node, or to an entity's last node (``LOOM-10``).

        Args:
            of: Id of a node or of an entity. An entity without a node has an empty thread, a
                fork without one that of what it is forked from.

        Raises:
            LoomError: There is no such node or entity.
        """
        if of in self._index.entities:
            entity = self._index.entities[of]
            tip, end = (entity.tip if entity.nodes or entity.is_fork else None), entity.end
        else:
            tip, end = of, self._index.node(of).end
            entity = self._index.entities[self._index.node(of).entity]
        turns = []
        while tip is not None:
            turns.append(self.turn(tip))
            tip = turns[-1].parent_id
        ended = None if end is None else self._index.load(end, EndRecord)
        origin = self._index.load(entity.n, EntityRecord).forked_from
        return Thread(turns[::-1], ended, origin)

    def lineage(self, of: str) -> list[Step]:
        """What an entity was given and said, in order; what it is forked from included.

        Args:
            of: Id of an entity, or of the node that it ends with.

        Raises:
            LoomError: There is no such node or entity.
        """
        if of in self._index.entities:
            return lineage(self._index, of)
        turn = self.turn(of)
        return lineage(self._index, turn.entity_id, turn.turn)

    def history(self, entity_id: str, origin: str | None = None) -> History:
        """An entity's own turns, one by one.

        Args:
            entity_id: The entity; it need not be on record yet.
            origin: Id of the node that it is forked from. Default: what the record says.
        """
        return History(self._index, entity_id, origin)

    def attempts(self, entity_id: str) -> list[Attempt]:
        """The casts of an entity, as they are compared with others.

        Raises:
            LoomError: There is no such entity.
        """
        return attempts(self._index, entity_id)

    def groups(self) -> list[Group]:
        """All casts, those at one task together, to be ranked (see ``loom.attempts``).

        A task is an intent with its context, at one level and with one past: so forks of one
        turn that have the same intent form a group.
        """
        return groups(self._index)

    def usage(self) -> Usage:
        """Tokens of all queries of all entities, added up (``PROD-3``)."""
        return self._index.usage


E = TypeVar("E")
V = TypeVar("V")


class _Turns(Sequence[Turn]):
    """All nodes of an index, each made a view when it is reached."""

    def __init__(self, index: Index) -> None:
        self._index = index

    @overload
    def __getitem__(self, place: int) -> Turn: ...
    @overload
    def __getitem__(self, place: slice) -> list[Turn]: ...
    def __getitem__(self, place: int | slice) -> Turn | list[Turn]:
        found = self._index.order[place]
        if isinstance(found, str):
            return Turn(self._index, self._index.nodes[found])
        return [Turn(self._index, self._index.nodes[node]) for node in found]

    def __len__(self) -> int:
        return len(self._index.order)


class _Views(Mapping[str, V], Generic[E, V]):
    """The entries of an index by id, each made a view when it is looked up."""

    def __init__(self, entries: Mapping[str, E], view: Callable[[E], V]) -> None:
        self._entries = entries
        self._view = view

    def __getitem__(self, key: str) -> V:
        return self._view(self._entries[key])

    def __iter__(self) -> Iterator[str]:
        return iter(list(self._entries))

    def __len__(self) -> int:
        return len(self._entries)
