"""Where each fact of a loom stands, kept up record by record.

The index holds ids and ordinals, never what a record says: what is looked at is read from
the store then. So a node costs the same memory however much it printed, and a turn costs the
same time however many went before.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from typing import Any, NoReturn, TypeVar

from ..errors import LoomError
from ..llm.base import Usage
from .brief import Brief, unknown_kind
from .codec import decode
from .records import Record
from .store import LoomStore, Row

R = TypeVar("R", bound=Record)
_MAX_LEAP = 1_000
"""How far the ``k`` of a call may be ahead of the last one's."""


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
    children: list[str] | tuple[()] = ()
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
        parts: Ids of the nodes of each of its turns, in order.
        folds: The records of its folds, in order.
        images: The records of the images of its state, in order.
        resumes: The records of its being taken up again, in order.
        children: Ids of the entities that it spawned, in order.
        intents: The records of its intents, in order.
        is_fork: Whether it left another entity's path.
        replies: The reply's record by turn.
        calls: The newest record of each call of a turn, by ``k`` from 1 on; 0 where there is none.
        ends: The records of its ends, in order.
        tokens: Tokens of all its replies: prompt, completion, cached.
    """

    n: int
    id: str
    tip: str | None
    nodes: list[str] = field(default_factory=list)
    parts: dict[int, list[str]] = field(default_factory=dict)
    folds: list[int] = field(default_factory=list)
    images: list[int] = field(default_factory=list)
    resumes: list[int] = field(default_factory=list)
    children: list[str] = field(default_factory=list)
    intents: list[int] = field(default_factory=list)
    is_fork: bool = False
    replies: dict[int, int] = field(default_factory=dict)
    calls: dict[int, list[int]] = field(default_factory=dict)
    ends: list[int] = field(default_factory=list)
    tokens: list[int] = field(default_factory=lambda: [0, 0, 0])

    @property
    def end(self) -> int | None:
        """The record of its newest end, or None."""
        return self.ends[-1] if self.ends else None

    @property
    def usage(self) -> Usage:
        """Tokens of all its replies."""
        return Usage(*self.tokens)

    def call(self, turn: int, k: int) -> int | None:
        """The newest record of a call, or None."""
        calls = self.calls.get(turn, ())
        return (calls[k - 1] or None) if 0 < k <= len(calls) else None


def _join(above: NodeEntry, child: str) -> None:
    """Hang a node under another. A list for each leaf would take a tenth of the memory."""
    if above.children:
        above.children.append(child)
    else:
        above.children = [child]


class Index:
    """The index of one store's records.

    Attributes:
        last: ``n`` of the newest record, 0 when there is none.
        chain: Its chain, empty when there is none.
        identities: The identity's record by its id.
        entities: Entities by id, in the order in which they began.
        nodes: Nodes by id.
        order: Ids of all nodes, in order.
        rewards: The records of each node's rewards, in order, by its id.
    """

    def __init__(self, store: LoomStore) -> None:
        self._store = store
        self.last = 0
        self.chain = b""
        self.identities: dict[str, int] = {}
        self.entities: dict[str, EntityEntry] = {}
        self.nodes: dict[str, NodeEntry] = {}
        self.order: list[str] = []
        self.rewards: dict[str, list[int]] = {}

    @property
    def usage(self) -> Usage:
        """Tokens of all replies."""
        return sum((entity.usage for entity in list(self.entities.values())), Usage())

    def rebuild(self) -> None:
        """Take in the records that the store holds and the index does not, in one pass.

        Raises:
            LoomError: A record is missing or unknown, or contradicts those before it.
        """
        before = self.last
        for n, kind, brief in self._store.scan(before):
            if n != self.last + 1:
                raise LoomError(f"the loom is damaged: record {self.last + 1} is missing")
            try:
                check, add = _KINDS[kind]
                check(self, *brief)
                add(self, n, *brief)
                self.last = n
            except LoomError as error:
                raise LoomError(f"the loom is damaged at record {n}: {error}") from None
            except (LookupError, TypeError, ValueError) as error:
                raise LoomError(f"the loom is damaged at record {n}: {error!r}") from None
        if self.last > before:
            self.chain = self._stored(self.last).chain

    def take(self, row: Row) -> None:
        """Take in a record that has been checked and stored."""
        self.add(row.n, row.kind, row.brief)
        self.chain = row.chain

    def records(self) -> Iterator[tuple[int, str, Record]]:
        """Every record that the index has taken in, with its ``n`` and ``at``, in order.

        Raises:
            LoomError: A record is damaged.
        """
        return ((row.n, row.at, decoded(row)) for row in self.rows())

    def rows(self) -> Iterator[Row]:
        """The same as the store has them."""
        for row in self._store.read():
            if row.n > self.last:
                return
            yield row

    def load(self, n: int, kind: type[R]) -> R:
        """Read one record, known to be of a kind."""
        record = self.stored(n)[1]
        assert isinstance(record, kind)
        return record

    def stored(self, n: int) -> tuple[str, Record]:
        """Read one record and its ``at``.

        Raises:
            LoomError: The store doesn't have it any more, or it is damaged.
        """
        row = self._stored(n)
        return row.at, decoded(row)

    def _stored(self, n: int) -> Row:
        row = next(self._store.read(n - 1), None)
        if row is None or row.n != n:
            raise LoomError(f"the loom is damaged: record {n} is missing")
        return row

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

    def check(self, kind: str, brief: Brief) -> None:
        """See that a record fits those before it.

        Raises:
            LoomError: An id is taken (``LOOM-2``), what it refers to is not recorded
                (``LOOM-1``), or a node doesn't follow its entity's last (``LOOM-8``).
        """
        _KINDS[kind][0](self, *brief)

    def add(self, n: int, kind: str, brief: Brief) -> None:
        """Take in a record that has been checked and stored."""
        _KINDS[kind][1](self, n, *brief)
        self.last = n

    def _check_new(self, new_id: str) -> None:
        if new_id in self.identities or new_id in self.entities or new_id in self.nodes:
            raise LoomError(f"the id {new_id!r} is in the loom already: ids are unique")

    def _check_of(self, entity: str, *_: Any) -> None:
        self.entity(entity)

    def _check_call(self, entity: str, turn: int, k: int) -> None:
        known = self.entity(entity).calls.get(turn, ())
        if not 0 < k <= len(known) + _MAX_LEAP:
            raise LoomError(f"call {k} of turn {turn} doesn't follow call {len(known)}")

    def _check_entity(
        self, new_id: str, identity: str, spawned: str | None, forked: str | None
    ) -> None:
        self._check_new(new_id)
        if identity not in self.identities:
            raise LoomError(f"the loom has no identity {identity!r}: record it first")
        for node in (spawned, forked):
            if node is not None:
                self.node(node)

    def _check_node(
        self, new_id: str, parent: str | None, entity_id: str, sequence: int, _: int
    ) -> None:
        self._check_new(new_id)
        entity = self.entity(entity_id)
        if parent != entity.tip:
            raise LoomError(
                f"node {new_id!r} must follow {entity.tip!r}, the last of entity "
                f"{entity_id!r}, not {parent!r}"
            )
        if sequence != len(entity.nodes) + 1:
            raise LoomError(
                f"node {new_id!r} is number {len(entity.nodes) + 1} of entity "
                f"{entity_id!r}, not {sequence}"
            )

    def _check_end(self, entity: str, node: str | None) -> None:
        if node is None:
            self.entity(entity)
        else:
            self._check_last(entity, node)

    def _check_last(self, entity: str, node: str) -> None:
        if node not in self.entity(entity).nodes[-1:]:
            raise LoomError(f"{node!r} is not the last node of entity {entity!r}")

    def _check_reward(self, node: str, _: float) -> None:
        self.node(node)

    def _add_identity(self, n: int, new_id: str) -> None:
        self.identities[new_id] = n

    def _add_entity(
        self, n: int, new_id: str, _: str, spawned: str | None, forked: str | None
    ) -> None:
        self.entities[new_id] = EntityEntry(
            n, new_id, spawned if forked is None else forked, is_fork=forked is not None
        )
        if spawned is not None:
            parent = self.nodes[spawned].entity
            self.entities[parent].children.append(new_id)

    def _add_intent(self, n: int, entity: str) -> None:
        self.entities[entity].intents.append(n)

    def _add_reply(self, n: int, entity: str, turn: int, *tokens: int) -> None:
        entry = self.entities[entity]
        entry.replies[turn] = n
        for place, count in enumerate(tokens):
            entry.tokens[place] += count

    def _add_call(self, n: int, entity: str, turn: int, k: int) -> None:
        calls = self.entities[entity].calls
        known = calls.get(turn)
        if known is None:
            known = calls[turn] = []
        if k > len(known):
            known.extend([0] * (k - len(known)))
        known[k - 1] = n

    def _add_node(
        self, n: int, new_id: str, parent: str | None, entity_id: str, _: int, turn: int
    ) -> None:
        entity = self.entities[entity_id]
        # The ids that are in the index already are taken from there, to be held once.
        self.nodes[new_id] = NodeEntry(n, new_id, entity.tip, entity.id)
        self.order.append(new_id)
        if parent is not None:
            _join(self.nodes[parent], new_id)
        entity.nodes.append(new_id)
        parts = entity.parts.get(turn)
        if parts is None:
            entity.parts[turn] = [new_id]
        else:
            parts.append(new_id)
        entity.tip = new_id

    def _add_fold(self, n: int, entity: str) -> None:
        self.entities[entity].folds.append(n)

    def _add_resume(self, n: int, entity: str) -> None:
        self.entities[entity].resumes.append(n)

    def _add_image(self, n: int, entity: str, _: str) -> None:
        self.entities[entity].images.append(n)

    def _add_end(self, n: int, entity: str, node: str | None) -> None:
        self.entities[entity].ends.append(n)
        if node is not None:
            self.nodes[node].end = n

    def _add_reward(self, n: int, node: str, value: float) -> None:
        self.nodes[node].reward = value
        self.rewards.setdefault(node, []).append(n)

    def _add_nothing(self, n: int, *brief: Any) -> None:
        """A record that is only read in its place."""


class _Kinds(dict[str, tuple[Callable[..., None], Callable[..., None]]]):
    """How each kind of record is checked, and how it is added."""

    def __missing__(self, kind: str) -> NoReturn:
        raise unknown_kind(kind)


_KINDS = _Kinds(
    {
        "identity": (Index._check_new, Index._add_identity),
        "entity": (Index._check_entity, Index._add_entity),
        "intent": (Index._check_of, Index._add_intent),
        "reply": (Index._check_of, Index._add_reply),
        "call": (Index._check_call, Index._add_call),
        "node": (Index._check_node, Index._add_node),
        "end": (Index._check_end, Index._add_end),
        "decision": (Index._check_of, Index._add_nothing),
        "fold": (Index._check_of, Index._add_fold),
        "resume": (Index._check_of, Index._add_resume),
        "image": (Index._check_last, Index._add_image),
        "reward": (Index._check_reward, Index._add_reward),
    }
)


def decoded(row: Row) -> Record:
    """A stored record.

    Raises:
        LoomError: It is damaged; the text tells its ``n``.
    """
    try:
        return decode(row.kind, row.body)
    except LoomError as error:
        raise LoomError(f"the loom is damaged at record {row.n}: {error}") from None
