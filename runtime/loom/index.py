"""Where each fact of a loom stands, kept up record by record.

The index holds ids and ordinals, never what a record says: what is looked at is read from
the store then. So a node costs the same memory however much it printed, and a turn costs the
same time however many went before.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TypeVar

from ..errors import LoomError
from ..llm.base import Usage
from .codec import decode
from .records import (
    CallRecord,
    EndRecord,
    EntityRecord,
    IdentityRecord,
    NodeRecord,
    Record,
    ReplyRecord,
    RewardRecord,
)
from .store import LoomStore

R = TypeVar("R", bound=Record)


@dataclass(slots=True)
class NodeEntry:
    """What the index knows of a node.

    Attributes:
        n: Its record.
        id: Its id.
        parent: Its parent's id, or None.
        entity: Id of its entity.
        children: Ids of the nodes right under it, in order.
        end: The record of the end that it is the last node of, or None.
        reward: Its newest reward, or None.
    """

    n: int
    id: str
    parent: str | None
    entity: str
    children: list[str] = field(default_factory=list)
    end: int | None = None
    reward: float | None = None


@dataclass(slots=True)
class EntityEntry:
    """What the index knows of an entity.

    Attributes:
        n: Its record.
        id: Its id.
        tip: Id of the node that its next node hangs under, or None.
        nodes: Ids of its nodes, in order.
        children: Ids of the entities that it spawned, in order.
        replies: The reply's record by turn.
        calls: The call's newest record by turn and ``k``.
        end: The record of its newest end, or None.
        usage: Tokens of all its replies.
    """

    n: int
    id: str
    tip: str | None
    nodes: list[str] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    replies: dict[int, int] = field(default_factory=dict)
    calls: dict[tuple[int, int], int] = field(default_factory=dict)
    end: int | None = None
    usage: Usage = field(default_factory=Usage)


class Index:
    """The index of one store's records.

    Attributes:
        last: ``n`` of the newest record, 0 when there is none.
        identities: The identity's record by its id.
        entities: Entities by id, in the order in which they began.
        nodes: Nodes by id.
        order: Ids of all nodes, in order.
        usage: Tokens of all replies.
    """

    def __init__(self, store: LoomStore) -> None:
        self._store = store
        self.last = 0
        self.identities: dict[str, int] = {}
        self.entities: dict[str, EntityEntry] = {}
        self.nodes: dict[str, NodeEntry] = {}
        self.order: list[str] = []
        self.usage = Usage()

    def rebuild(self) -> None:
        """Take in the records that the store holds, in one pass.

        Raises:
            LoomError: A record is missing, damaged, or contradicts those before it.
        """
        for n, _, kind, body in self._store.read(self.last):
            if n != self.last + 1:
                raise LoomError(f"the loom is damaged: record {self.last + 1} is missing")
            record = _decoded(n, kind, body)
            self.check(record)
            self.add(n, record)

    def records(self) -> Iterator[tuple[int, str, Record]]:
        """Every record that the index has taken in, with its ``n`` and ``at``, in order.

        Raises:
            LoomError: A record is damaged.
        """
        for n, at, kind, body in self._store.read():
            if n > self.last:
                return
            yield n, at, _decoded(n, kind, body)

    def load(self, n: int, kind: type[R]) -> R:
        """Read one record, known to be of a kind."""
        record = self.stored(n)[1]
        assert isinstance(record, kind)
        return record

    def stored(self, n: int) -> tuple[str, Record]:
        """Read one record and its ``at``.

        Raises:
            LoomError: The store doesn't have it any more.
        """
        for number, at, kind, body in self._store.read(n - 1):
            if number == n:
                return at, _decoded(n, kind, body)
            break
        raise LoomError(f"the loom is damaged: record {n} is missing")

    def node(self, node_id: str) -> NodeEntry:
        """A node by its id.

        Raises:
            LoomError: There is none.
        """
        try:
            return self.nodes[node_id]
        except KeyError:
            raise LoomError(f"the loom has no turn {node_id!r}") from None

    def entity(self, entity_id: str) -> EntityEntry:
        """An entity by its id.

        Raises:
            LoomError: There is none.
        """
        try:
            return self.entities[entity_id]
        except KeyError:
            raise LoomError(f"the loom has no entity {entity_id!r}") from None

    def check(self, record: Record) -> None:
        """See that a record fits those before it.

        Raises:
            LoomError: An id is taken (``LOOM-2``), what it refers to is not recorded
                (``LOOM-1``), or a node doesn't follow its entity's last (``LOOM-8``).
        """
        match record:
            case IdentityRecord():
                self._check_new(record.id)
            case EntityRecord():
                self._check_entity(record)
            case NodeRecord():
                self._check_node(record)
            case EndRecord():
                self._check_end(record)
            case RewardRecord():
                self.node(record.node)
            case _:
                self.entity(record.entity)

    def add(self, n: int, record: Record) -> None:
        """Take in a record that has been checked and stored."""
        match record:
            case IdentityRecord():
                self.identities[record.id] = n
            case EntityRecord():
                self._add_entity(n, record)
            case ReplyRecord():
                entity = self.entities[record.entity]
                entity.replies[record.turn] = n
                entity.usage += record.reply.usage
                self.usage += record.reply.usage
            case CallRecord():
                self.entities[record.entity].calls[record.turn, record.k] = n
            case NodeRecord():
                self._add_node(n, record)
            case EndRecord():
                self.entities[record.entity].end = n
                if record.node is not None:
                    self.nodes[record.node].end = n
            case RewardRecord():
                self.nodes[record.node].reward = record.value
        self.last = n

    def _check_new(self, new_id: str) -> None:
        if new_id in self.identities or new_id in self.entities or new_id in self.nodes:
            raise LoomError(f"the id {new_id!r} is in the loom already: ids are unique")

    def _check_entity(self, record: EntityRecord) -> None:
        self._check_new(record.id)
        if record.identity_id not in self.identities:
            raise LoomError(f"the loom has no identity {record.identity_id!r}: record it first")
        for point in (record.spawned_by, record.forked_from):
            if point is not None:
                self.node(point.node)

    def _check_node(self, record: NodeRecord) -> None:
        self._check_new(record.id)
        entity = self.entity(record.entity)
        if record.parent != entity.tip:
            raise LoomError(
                f"node {record.id!r} must follow {entity.tip!r}, the last of entity "
                f"{record.entity!r}, not {record.parent!r}"
            )
        if record.sequence != len(entity.nodes) + 1:
            raise LoomError(
                f"node {record.id!r} is number {len(entity.nodes) + 1} of entity "
                f"{record.entity!r}, not {record.sequence}"
            )

    def _check_end(self, record: EndRecord) -> None:
        nodes = self.entity(record.entity).nodes
        if record.node is not None and record.node not in nodes[-1:]:
            raise LoomError(f"{record.node!r} is not the last node of entity {record.entity!r}")

    def _add_entity(self, n: int, record: EntityRecord) -> None:
        origin = record.forked_from or record.spawned_by
        self.entities[record.id] = EntityEntry(n, record.id, origin.node if origin else None)
        if record.spawned_by is not None:
            parent = self.nodes[record.spawned_by.node].entity
            self.entities[parent].children.append(record.id)

    def _add_node(self, n: int, record: NodeRecord) -> None:
        self.nodes[record.id] = NodeEntry(n, record.id, record.parent, record.entity)
        self.order.append(record.id)
        if record.parent is not None:
            self.nodes[record.parent].children.append(record.id)
        entity = self.entities[record.entity]
        entity.nodes.append(record.id)
        entity.tip = record.id


def _decoded(n: int, kind: str, body: bytes) -> Record:
    try:
        return decode(kind, body)
    except LoomError as error:
        raise LoomError(f"the loom is damaged at record {n}: {error}") from None
