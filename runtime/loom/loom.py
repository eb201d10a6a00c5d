"""The loom itself: facts go in at one end, the tree of turns is read at the other."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from types import TracebackType
from typing import Generic, NoReturn, Self, TypeVar, overload

from ...sandbox import wire
from ..errors import LoomError
from ..llm.base import Usage
from .codec import encode, kind_of
from .entities import EntityView
from .index import Index
from .records import ContextRef, EndRecord, IdentityRecord, Record, RewardRecord
from .sqlite import Durability, SQLiteStore
from .store import LoomStore, MemoryStore
from .turn import Thread, Turn

INLINE_BYTES = 4096
"""A context of at most this many bytes stands in its record; a larger one is a blob."""

V = TypeVar("V")


class Loom:
    """An append-only log of facts, and the tree of turns in it (``LOOM-3``, ``LOOM-12``).

    Threads may share one. Turns, threads and entities are views: they read what they show
    from the store, so look at them before the loom is closed.

    Args:
        path: A run's directory, made when missing; its ``loom.db`` is taken up where it was
            left. None: a loom in memory.
        store: A store to use instead of a path's.
        durability: ``process`` (a record outlives this process's death) or ``power`` (a power
            cut too); see ``SQLiteStore``. Only with a path.
        read_only: Read the loom as it is now, also while another process writes it. Only with
            a path.

    Attributes:
        path: The run's directory, or None.

    Raises:
        LoomError: The loom can't be opened, is being written by another process, or is
            damaged; or the arguments contradict each other.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        store: LoomStore | None = None,
        durability: Durability = "process",
        read_only: bool = False,
    ) -> None:
        if path is not None and store is not None:
            raise LoomError("a loom has a path or a store, not both: leave one out")
        if path is None and (read_only or durability != "process"):
            raise LoomError("read_only and durability are for a loom on disk: give a path")
        self.path = None if path is None else Path(path)
        if self.path is not None:
            store = SQLiteStore(self.path, durability, read_only)
        self._store = MemoryStore() if store is None else store
        self._mutex = threading.Lock()
        self._index = Index(self._store)
        try:
            self._index.rebuild()
        except BaseException:
            self._store.close()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else f"at {self.path}"
        return f"<Loom {where}: {len(self.entities)} entities, {self.turn_count} nodes>"

    def close(self) -> None:
        """Close the store. Closing twice is fine."""
        self._store.close()

    def append(self, record: Record) -> int:
        """Record a fact, durably, before this returns (``LOOM-1``).

        Returns:
            Its ``n``: from 1, without a gap.

        Raises:
            LoomError: An id is taken, what the record refers to is not in the loom, a field
                is of the wrong type, or the store can't keep it. Nothing is recorded then.
        """
        kind, body = kind_of(record), encode(record)
        with self._mutex:
            self._index.check(record)
            n = self._index.last + 1
            self._store.append(n, _now(), kind, body)
            self._index.add(n, record)
        return n

    def records(self) -> Iterator[tuple[int, str, Record]]:
        """Every fact in order: its ``n``, its ``at`` (RFC 3339 in UTC), and the record.

        Raises:
            LoomError: A record can't be read.
        """
        return self._index.records()

    def keep(self, value: wire.Sealed) -> ContextRef:
        """Keep a context as it is, without decoding it, for a record to refer to."""
        size = len(value.data)
        if size <= INLINE_BYTES:
            return ContextRef(None, value.data, size, value.text)
        return ContextRef(self._store.put(value.data), None, size, value.text)

    def fetch(self, ref: ContextRef) -> wire.Sealed:
        """The context that ``keep`` kept.

        Raises:
            LoomError: Its blob is gone or damaged.
        """
        if ref.data is not None:
            return wire.Sealed(ref.data, ref.text)
        return wire.Sealed(self._store.get(ref.digest or ""), ref.text)

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

        They come in the order in which the entities at their leaves began.
        """
        entities = list(self._index.entities.values())
        tips = [self._index.nodes[entity.nodes[-1]] for entity in entities if entity.nodes]
        return [self.thread(tip.id) for tip in tips if not tip.children]

    def thread(self, of: str) -> Thread:
        """The path from the root to a node, or to an entity's last node (``LOOM-10``).

        Args:
            of: Id of a node or of an entity. An entity without a node has an empty thread.

        Raises:
            LoomError: There is no such node or entity.
        """
        if of in self._index.entities:
            entity = self._index.entities[of]
            tip, end = (entity.nodes[-1] if entity.nodes else None), entity.end
        else:
            tip, end = of, self._index.node(of).end
        turns = []
        while tip is not None:
            turns.append(self.turn(tip))
            tip = turns[-1].parent_id
        return Thread(turns[::-1], None if end is None else self._index.load(end, EndRecord))

    def annotate_reward(self, turn: int | str, reward: float, by: str = "user") -> None:
        """Judge a node. The newest reward counts; every one stays on record (``LOOM-3``).

        Args:
            turn: The node's place in ``turns``, from 0, or its id.
            reward: A finite number.
            by: Who judges.

        Raises:
            LoomError: There is no such node, or the reward is not finite.
        """
        node = self._node_id(turn)
        self.append(RewardRecord(node, float(reward), by))

    def delete_turn(self, turn: int | str) -> NoReturn:  # noqa: ARG002 - whichever turn it is
        """Refuse (``LOOM-3``).

        Raises:
            LoomError: Always: ``loom is append-only``.
        """
        raise LoomError("loom is append-only")

    def usage(self) -> Usage:
        """Tokens of all queries of all entities, added up (``PROD-3``)."""
        return self._index.usage

    def _node_id(self, turn: int | str) -> str:
        if isinstance(turn, str):
            return self._index.node(turn).id
        try:
            return self._index.order[turn]
        except IndexError:
            count = self.turn_count
            raise LoomError(f"the loom has no turn {turn}: it has {count}, from 0") from None


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


E = TypeVar("E")


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


def _now() -> str:
    """The time as RFC 3339 in UTC, with microseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
