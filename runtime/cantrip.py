"""The cantrip: a model, an identity and a circle, as a value that is cast."""

from __future__ import annotations

import asyncio
import re
import uuid
from collections.abc import AsyncIterator, Callable, Mapping
from functools import partial
from types import TracebackType
from typing import Any, Self

import anyio
from pydantic import Field, PrivateAttr, field_validator

from ..gates import Gate
from ..gates.frozen import FrozenDict
from ..sandbox.wire import Sealed, seal
from . import portal
from .chronicle import Ended
from .circle import Circle, resolve_gates
from .entity import Entity
from .errors import CantripError
from .events import Event, FinalResponse, Sink, ignore
from .family import Family
from .identity import Identity
from .llm import LLM, Retry, Usage
from .llm import llm as named_llm
from .loom import Loom, Thread
from .spawn import ChildSpec, Spawn, spawn
from .tree import Branch, Tree
from .value import Value


class Cast:
    """What one intent came to.

    Attributes:
        entity_id: Who worked on it.
        terminated: Whether it ended by itself (``LOOM-7``).
        truncated: Whether a ward ended it.
        reason: Why: ``done``, or the ward.
        summary: What a truncated cast had done (``LOOP-4``), or None.
        turns: Its utterances.
        usage: Tokens that it took, children included (``PROD-3``).
        entities: Entities of the tree so far, the root included.
        tree_turns: Utterances of the whole tree so far.
        max_depth: Deepest level reached; the root is 0.
        loom: Where all of it is recorded.
    """

    def __init__(self, entity: Entity, ended: Ended, usage: Usage, result_type: Any) -> None:
        self.entity_id = entity.entity_id
        self.terminated = ended.outcome == "terminated"
        self.truncated = ended.outcome == "truncated"
        self.reason = ended.reason
        self.summary = ended.summary
        self.turns = ended.turns
        self.usage = usage
        self.loom = entity.tree.loom
        self.entities = entity.tree.count
        self.tree_turns = entity.tree.turns
        self.max_depth = entity.tree.deepest
        self._answer = ended.answer
        self._read = entity.read_answer if result_type is not None else None

    @property
    def result(self) -> Any:
        """The answer, with its type (``CIRCLE-8``); None where there is none."""
        if self._answer is None:
            return None
        return self._read(self._answer) if self._read else self._answer.open()

    @property
    def thread(self) -> Thread:
        """The entity's path through the loom (``LOOM-10``)."""
        return self.loom.thread(self.entity_id)

    def __repr__(self) -> str:
        how = "terminated" if self.terminated else f"truncated by {self.reason}"
        text = self._answer.text if self._answer else "no result"
        return f"<Cast of {self.entity_id}: {how} after {self.turns} turns: {text}>"


class Cantrip(Value):
    """A model, an identity and a circle (``CANTRIP-1``).

    A value: it can be cast again and again, each time by an entity of its own (``CANTRIP-2``).

    Args:
        llm: The model, or ``provider:model``.
        identity: Who the entity is. Default: no system prompt.
        circle: Where it acts.
        llms: Models that a request for a child may name (``COMP-7``).
        child_llm: Model of children that name none. Default: the parent's.
        registry: Gates that children may ask for beyond their parent's (``COMP-1``).
        loom: Where all that happens is recorded. Default: a loom in memory.
        retry: How failed queries are repeated (``PROD-2``).
        spawn: What grants the requests for children. Default: ``runtime.spawn.spawn``.

    Raises:
        CantripError: Something is missing; the text says what (``LOOP-2``).
    """

    llm: LLM
    identity: Identity = Identity()
    circle: Circle
    llms: Mapping[str, LLM] = Field(default_factory=dict)
    child_llm: LLM | None = None
    registry: tuple[Gate, ...] = ()
    loom: Loom = Field(default_factory=Loom)
    retry: Retry = Retry()
    spawn: Spawn = spawn

    _id: str = PrivateAttr(default_factory=lambda: uuid.uuid4().hex[:12])

    def __init__(self, **fields: Any) -> None:
        if fields.get("llm") is None:
            raise CantripError("cantrip requires an llm")
        if fields.get("circle") is None:
            raise CantripError("cantrip requires a circle")
        super().__init__(**fields)
        self.circle.check()

    @field_validator("llm", "child_llm", mode="before")
    @classmethod
    def _by_name(cls, model: Any) -> Any:
        return named_llm(model) if isinstance(model, str) else model

    @field_validator("llms", mode="before")
    @classmethod
    def _all_by_name(cls, models: Any) -> Any:
        if not isinstance(models, Mapping):
            return models
        return {name: cls._by_name(model) for name, model in models.items()}

    @field_validator("llms")
    @classmethod
    def _freeze(cls, models: Mapping[str, LLM]) -> Mapping[str, LLM]:
        return FrozenDict(models)

    @field_validator("registry", mode="before")
    @classmethod
    def _read_registry(cls, gates: Any) -> tuple[Gate, ...]:
        return resolve_gates(gates)

    # -- one intent ------------------------------------------------------------------------------

    def cast(self, intent: str, context: Any = ..., *, on_event: Sink = ignore) -> Cast:
        """Work on one intent with a fresh entity, and wait for what it comes to.

        Args:
            intent: What to do.
            context: Data for it, of any type that crosses (see ``sandbox.wire.dumps``).
            on_event: Takes events while it runs; called from another thread.

        Raises:
            CantripError: ``intent is required`` (``INTENT-1``).
            LLMError: A query failed for good.
            RuntimeFault: An event loop runs in this thread: use ``acast``.
        """
        return portal.run(
            partial(self.acast, intent, context, on_event=on_event), "cantrip.acast(...)"
        )

    async def acast(self, intent: str, context: Any = ..., *, on_event: Sink = ignore) -> Cast:
        """``cast`` for code that awaits."""
        _check_intent(intent)
        async with self.summon(on_event=on_event) as entity:
            return await entity.asend(intent, context)

    async def stream(self, intent: str, context: Any = ...) -> AsyncIterator[Event]:
        """``cast``, as the events that happen; the last one is a ``FinalResponse``.

        Leaving the iteration early cancels the cast.
        """
        send, receive = anyio.create_memory_object_stream[Event](float("inf"))

        async def run() -> None:
            with send:
                await self.acast(intent, context, on_event=send.send_nowait)

        # A task of its own: a generator must not be suspended inside a task group.
        task = asyncio.create_task(run())
        with receive:  # to the end of the task, which goes on telling while it is cancelled
            try:
                async for event in receive:
                    yield event
                await task
            finally:
                task.cancel()
                with anyio.CancelScope(shield=True):
                    await asyncio.wait([task])

    async def aclose(self) -> None:
        """Give up what its models hold in this event loop; it can be cast again."""
        models = [self.llm, self.child_llm, *self.llms.values()]
        for model in {id(one): one for one in models if one is not None}.values():
            await model.aclose()

    def close(self) -> None:
        """``aclose`` for code that casts with ``cast``."""
        portal.run(self.aclose, "cantrip.aclose()")

    # -- a lasting entity --------------------------------------------------------------------------

    def summon(self, *, entity_id: str | None = None, on_event: Sink = ignore) -> Summoned:
        """An entity that lasts, and takes intents one after the other (``ENTITY-5``).

        Args:
            entity_id: Its id: letters, digits, ``-`` and ``_``. Default: a fresh one.
            on_event: Takes events while it runs.

        Raises:
            CantripError: The id won't do, or the loom has it already (``ENTITY-2``).
        """
        if entity_id is not None:
            self._check_id(entity_id)
        return Summoned(partial(self._make, entity_id, on_event), self.circle.result)

    def _check_id(self, entity_id: str) -> None:
        if not re.fullmatch(r"[\w-]{1,64}", entity_id):
            raise CantripError(
                f"an entity's id is 1 to 64 letters, digits, - and _, not {entity_id!r}"
            )
        if entity_id in self.loom.entities:
            raise CantripError(f"there is an entity {entity_id!r} already; give it another id")

    def _make(self, entity_id: str | None, on_event: Sink, intent: str) -> Entity:
        circle, wards = self.circle, self.circle.wards
        spec = ChildSpec(
            self.llm, self.identity, str(circle.medium), circle.gates, wards, circle.packages
        )
        family = Family(
            self._id,
            self.child_llm,
            self.llms,
            {gate.name: gate for gate in self.registry},
            self.spawn,
            self.retry,
        )
        tree = Tree(self.loom, wards, on_event)
        return Entity(
            spec,
            family,
            tree,
            Branch(wards),
            intent,
            entity_id=entity_id,
            result=self.circle.result,
        )


class Summoned:
    """A lasting entity's handle. Its state adds up from intent to intent.

    Used by one caller at a time; closes its sandbox when it is closed.
    """

    def __init__(self, make: Callable[[str], Entity], result_type: Any) -> None:
        self._make = make
        self._result_type = result_type
        self._entity: Entity | None = None
        self._busy = self._closed = False

    @property
    def entity_id(self) -> str | None:
        """Its id; None before the first intent."""
        return self._entity.entity_id if self._entity else None

    def send(self, intent: str, context: Any = ...) -> Cast:
        """Give it an intent and wait for what it comes to. See ``Cantrip.cast``."""
        return portal.run(partial(self.asend, intent, context), "entity.asend(...)")

    async def asend(self, intent: str, context: Any = ...) -> Cast:
        """``send`` for code that awaits.

        Raises:
            CantripError: ``intent is required``; or the entity is closed, or at work.
        """
        _check_intent(intent)
        sealed = None if context is ... else seal(context)
        if self._closed or self._busy:
            state = "closed" if self._closed else "at work on another intent"
            raise CantripError(f"this entity is {state}: summon another one")
        self._busy = True
        try:
            return await self._cast(intent, sealed)
        finally:
            self._busy = False

    async def _cast(self, intent: str, context: Sealed | None) -> Cast:
        if self._entity is None:
            self._entity = self._make(intent)
        entity = self._entity
        before = entity.branch.usage
        ended = await entity.cast(intent, context)
        if ended.error is not None:
            raise ended.error
        cast = Cast(entity, ended, _difference(entity.branch.usage, before), self._result_type)
        entity.emit(FinalResponse(entity.entity_id, 0, ended.answer.text if ended.answer else ""))
        return cast

    def close(self) -> None:
        """End it; what it did stays in the loom (``ENTITY-4``)."""
        portal.run(self.aclose, "entity.aclose()")

    async def aclose(self) -> None:
        """``close`` for code that awaits."""
        self._closed = True
        if self._entity is not None:
            with anyio.CancelScope(shield=True):
                await self._entity.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        await self.aclose()


def _check_intent(intent: Any) -> None:
    if not isinstance(intent, str) or not intent.strip():
        raise CantripError("intent is required")


def _difference(after: Usage, before: Usage) -> Usage:
    return Usage(
        after.prompt_tokens - before.prompt_tokens,
        after.completion_tokens - before.completion_tokens,
        after.cached_tokens - before.cached_tokens,
    )
