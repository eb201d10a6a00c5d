"""The tree of entities that one root grows: what they share, and what bounds them together."""

from __future__ import annotations

import logging
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import anyio

from ..sandbox.wire import Sealed
from .errors import StoreError
from .events import Event, Sink, ignore, redacted
from .llm import Usage
from .logs import log
from .loom import ContextRef, Loom, Record
from .wards import Wards

if TYPE_CHECKING:
    from .standing import Standing, Standings


@dataclass(eq=False)
class Branch:
    """One entity's place in the tree: its counts include all below it.

    Attributes:
        wards: The entity's wards.
        parent: The branch above, or None at the root.
        usage: Tokens of the entity and all below it.
        entities: Entities below it, over its life.
        depth: 0 for the root, one more a level.
        root: The branch of the tree's root.
    """

    wards: Wards
    parent: Branch | None = None
    usage: Usage = field(default_factory=Usage)
    entities: int = 0
    depth: int = field(init=False)
    root: Branch = field(init=False, repr=False)

    def __post_init__(self) -> None:
        self.depth = 0 if self.parent is None else self.parent.depth + 1
        self.root = self if self.parent is None else self.parent.root

    def go_on(self, standing: Standing) -> None:
        """Count from where the entity stood when it was taken up again."""
        self.usage, self.entities = standing.usage, standing.entities

    def upward(self) -> Iterator[Branch]:
        """This branch and those above it, the root last."""
        branch: Branch | None = self
        while branch is not None:
            yield branch
            branch = branch.parent

    def spend(self, usage: Usage) -> None:
        """Count a query's tokens here and above."""
        for branch in self.upward():
            branch.usage += usage

    def spent_out(self) -> str | None:
        """The ward that lets no further query start, or None (``PROD-3``)."""
        for branch in self.upward():
            cap = branch.wards.max_tokens
            if cap is not None and branch.usage.total_tokens >= cap:
                return "max_tokens"
        return None

    def kept_out(self) -> str | None:
        """The ward that lets this entity, a child, not begin; None for a root."""
        if self.parent is None:
            return None
        for branch in self._above():
            cap = branch.wards.max_entities
            if cap is not None and branch.entities >= cap:
                return "max_entities"
        return self.spent_out()

    def count(self) -> None:
        """Count this entity in every branch above."""
        for branch in self._above():
            branch.entities += 1

    def _above(self) -> Iterator[Branch]:
        return iter(()) if self.parent is None else self.parent.upward()


class Tree:
    """What all entities of one tree share.

    An entity holds a slot while it works and gives it up while it waits for its children. So
    no more than ``max_concurrent`` work at a time, and a parent that waits keeps none from a
    child: no combination of widths and depths can come to a standstill.

    Args:
        loom: Where all that happens is recorded.
        wards: The root's wards.
        sink: Takes the events. Default: nobody watches.
        slots: Slots that it shares with other trees. Default: its own, ``max_concurrent``.

    Attributes:
        standings: Where its entities stood when it was taken up again; None where it was not.
    """

    def __init__(
        self,
        loom: Loom,
        wards: Wards,
        sink: Sink = ignore,
        slots: anyio.CapacityLimiter | None = None,
    ) -> None:
        self.loom = loom
        self._sink = sink
        self.turns = 0
        self.deepest = 0
        self.count = 0
        self._fault: Exception | None = None
        self.standings: Standings | None = None
        self._slots = slots or anyio.CapacityLimiter(wards.max_concurrent)
        self._holding: set[object] = set()

    def emit(self, event: Event) -> None:
        """Tell who watches; a sink that fails is told nothing more, and the work goes on."""
        if self._sink is ignore and not log.isEnabledFor(logging.DEBUG):
            return
        event = redacted(event, self.loom.secrets)
        log.debug("%s", event)
        try:
            self._sink(event)
        except (Exception, SystemExit):
            self._sink = ignore
            log.exception("on_event raised an error: the rest of this cast's events are not told")

    def go_on(self, standings: Standings) -> None:
        """Count from where its entities stood when it was taken up again."""
        self.standings = standings
        self.turns, self.deepest = standings.turns, standings.deepest
        self.count = standings.count

    def record(self, record: Record) -> None:
        """Record a fact.

        Raises:
            LoomError: It can't be kept. From then on nothing of this tree is recorded, for what
                comes after would stand on what is not there; it can be taken up from the loom.
        """
        self._check()
        try:
            self.loom.append(record)
        except StoreError as error:
            raise self.stop(error) from None

    def put(self, data: bytes) -> str:
        """Keep a blob; see ``record``."""
        self._check()
        try:
            return self.loom.put(data)
        except StoreError as error:
            raise self.stop(error) from None

    def keep(self, context: Sealed | None) -> ContextRef | None:
        """Keep a context, where there is one; see ``record``."""
        self._check()
        try:
            return None if context is None else self.loom.keep(context)
        except StoreError as error:
            raise self.stop(error) from None

    def stop(self, fault: Exception) -> Exception:
        """Have nothing recorded of this tree any more; gives what that is for, the first of it."""
        self._fault = self._fault or fault
        return self._fault

    def _check(self) -> None:
        if self._fault is not None:
            raise self._fault

    def joined(self, depth: int) -> None:
        """Count an entity that begins at a depth."""
        self.count += 1
        self.deepest = max(self.deepest, depth)

    @asynccontextmanager
    async def working(self, entity: object) -> AsyncIterator[None]:
        """Hold a slot for ``entity``."""
        await self._take(entity)
        try:
            yield
        finally:
            self._give_back(entity)

    @asynccontextmanager
    async def waiting(self, entity: object) -> AsyncIterator[None]:
        """Give the slot of ``entity`` up, and take one back before it goes on."""
        self._give_back(entity)
        yield
        await self._take(entity)

    async def _take(self, entity: object) -> None:
        await self._slots.acquire_on_behalf_of(entity)
        self._holding.add(entity)

    def _give_back(self, entity: object) -> None:
        # An entity that is cancelled while it waits for its children holds none.
        if entity in self._holding:
            self._holding.remove(entity)
            self._slots.release_on_behalf_of(entity)
