"""The cantrip: a model, an identity and a circle, as a value that is cast."""

from __future__ import annotations

import asyncio
import uuid
from collections.abc import AsyncIterator, Mapping
from functools import partial
from typing import Any, overload

import anyio
from pydantic import Field, PrivateAttr, field_validator

from ..gates import Gate
from ..gates.frozen import FrozenDict
from ..sandbox.wire import seal
from . import portal
from .cast import Cast
from .circle import Circle, resolve_gates
from .closing import Closing
from .entity import Entity
from .errors import CantripError, ForkError
from .events import Event, Sink, ignore
from .family import Family, withheld
from .folding import Folding
from .fork import Forks
from .identity import Identity
from .llm import LLM, Retry
from .llm import llm as named_llm
from .loom import Loom, Thread
from .redaction import Secrets
from .resume import Resumes
from .spawn import ChildSpec, Spawn, spawn
from .summoned import Summoned, check_id, check_intent
from .tree import Branch, Tree
from .value import Value


class Cantrip(Closing, Value):
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
        folding: When old turns are folded (``PROD-4``). Default: at 80% of the model's window,
            where that is known.
        secrets: Values to be withheld, as a list or by name: programs and models get a mask in
            their place where a gate answers with one, and so does whoever reads events, logs and
            exports (``PROD-8``). The keys of its models, those in the environment, and what a
            gate was bound to under a secret's name, such as ``api_key``, are withheld anyway.
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
    folding: Folding = Folding()
    secrets: Secrets = Secrets()
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

    @field_validator("secrets", mode="before")
    @classmethod
    def _read_secrets(cls, secrets: Any) -> Secrets:
        return secrets if isinstance(secrets, Secrets) else Secrets(secrets)

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
        check_intent(intent)
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

    def summon(
        self,
        *,
        entity_id: str | None = None,
        resume: bool = False,
        trust: bool = False,
        on_event: Sink = ignore,
    ) -> Summoned:
        """An entity that lasts, and takes intents one after the other (``ENTITY-5``).

        Args:
            entity_id: Its id: letters, digits, ``-`` and ``_``. Default: a fresh one.
            resume: Whether to take up the entity of that id where its loom left it, with its
                variables and all that it was told; the next intent is its next cast. It lives its
                past again when that comes: see ``resume``. Default False: a new one.
            trust: See ``resume``.
            on_event: Takes events while it runs.

        Raises:
            CantripError: The id won't do, or the loom has it already (``ENTITY-2``).
            ResumeError: The loom has no such entity, or its last cast has not ended.
        """
        there = self._resumes(trust).entity(entity_id, on_event) if resume else None
        if entity_id is not None and not resume:
            check_id(entity_id, self.loom)
        return Summoned(partial(self._make, entity_id, on_event), self.circle.result, there)

    def _make(self, entity_id: str | None, on_event: Sink, intent: str) -> Entity:
        wards = self.circle.wards
        return Entity(
            self._spec(),
            self._family(),
            Tree(self.loom, wards, on_event),
            Branch(wards),
            intent,
            entity_id=entity_id,
            result=self.circle.result,
        )

    def _spec(self) -> ChildSpec:
        """What a root is made of."""
        circle = self.circle
        return ChildSpec(
            self.llm,
            self.identity,
            str(circle.medium),
            circle.gates,
            circle.wards,
            circle.packages,
        )

    def _family(self) -> Family:
        return Family(
            self._id,
            self.child_llm,
            self.llms,
            {gate.name: gate for gate in self.registry},
            self.spawn,
            self.retry,
            self.llm,
            self.folding,
            secrets=withheld(
                self.secrets,
                (*self.circle.gates, *self.registry),
                (self.llm, self.child_llm, *self.llms.values()),
            ),
        )

    # -- from where the loom left it ---------------------------------------------------------------

    def resume(
        self,
        loom: Loom | None = None,
        *,
        entity_id: str | None = None,
        trust: bool = False,
        on_event: Sink = ignore,
    ) -> Cast:
        """Go on with a cast whose process has died, to its end, with the loom as the only source.

        Nothing is done again: the programs of finished turns are run in a fresh sandbox, with the
        answers of gates from the loom, or its state is loaded from an image; children that have
        ended are not run, and the others go on. The turn that was cut short goes on where its
        record ends. A gate that was called and had not answered is called again only if it is
        idempotent; else the program gets ``GateInterrupted``. Turns, tokens, time and entities
        count on. A program that shows something else this time is told of to the model, in the
        loom and in ``Cast.difference``.

        Args:
            loom: The loom. Default: the cantrip's.
            entity_id: The root. Default: the one whose cast has not ended, or the only one.
            trust: Whether to load images that this user's key has not signed, as none is that
                the portable back end made.
            on_event: Takes events while it runs; called from another thread.

        Returns:
            What the cast came to; where it has ended already, that, and nothing is run.

        Raises:
            ResumeError: There is nothing to go on with, the cantrip is another one than it was, or
                a turn can't be lived again; the text says which and what can be done.
            RuntimeFault: The last cast has ended, and failed.
            LoomError: The loom can't be written.
            LLMError: A query failed for good.
        """
        made = partial(self.aresume, loom, entity_id=entity_id, trust=trust, on_event=on_event)
        return portal.run(made, "cantrip.aresume(...)")

    async def aresume(
        self,
        loom: Loom | None = None,
        *,
        entity_id: str | None = None,
        trust: bool = False,
        on_event: Sink = ignore,
    ) -> Cast:
        """``resume`` for code that awaits."""
        return await self._resumes(trust, loom).run(entity_id, on_event)

    def _resumes(self, trust: bool, loom: Loom | None = None) -> Resumes:
        where = self.loom if loom is None else loom
        return Resumes(where, self._family(), self._spec(), self.circle.result, trust)

    # -- forks -----------------------------------------------------------------------------------

    @overload
    def fork(
        self,
        thread: Thread | str,
        from_turn: int,
        intent: str,
        context: Any = ...,
        *,
        llm: LLM | str | None = ...,
        n: None = ...,
        on_event: Sink = ...,
    ) -> Cast: ...
    @overload
    def fork(
        self,
        thread: Thread | str,
        from_turn: int,
        intent: str,
        context: Any = ...,
        *,
        llm: LLM | str | None = ...,
        n: int,
        on_event: Sink = ...,
    ) -> list[Cast]: ...
    def fork(
        self,
        thread: Thread | str,
        from_turn: int,
        intent: str,
        context: Any = ...,
        *,
        llm: LLM | str | None = None,
        n: int | None = None,
        on_event: Sink = ignore,
    ) -> Cast | list[Cast]:
        """Go on from a turn of another entity with a fresh one, which has its past (``LOOM-4``).

        Its messages come from the loom. Its sandbox is a copy of the original's (``snapshot``)
        where that is alive in this process, has that turn's state parked, and the circle is of
        the same limits, modules, packages and gates. Else the past is lived again (``replay``):
        programs are run again in a fresh sandbox, with the answers of gates from the loom.
        ``Cast.forked_from`` and the loom say which (``LOOM-13``). Either way no gate is called
        and no child spawned, the original is untouched, and the wards, ``max_turns`` among
        them, count afresh. A program that shows something else when it is run again is told of,
        in ``Cast.difference``, in the loom and to the fork.

        Args:
            thread: The original: a thread, or an entity's id. A child's will do; the fork is
                what the child was, without its parent.
            from_turn: The turn that it goes on after: utterances from 1, those that the
                original was forked from itself counted.
            intent: What to do; it follows that turn, and the old intent stays first.
            context: Data for it. Default: it has the original's.
            llm: Its model, or ``provider:model``. Default: the cantrip's, and a script goes on
                after the replies that the loom has.
            n: How many forks to make of that turn; they work at the same time, as many as
                ``max_concurrent``. The past is lived once, and each has a copy of what came of
                it, so that all draw the same random numbers. Default: one.
            on_event: Takes events while it runs; called from another thread.

        Returns:
            What the fork came to; with ``n`` a list, where one that failed says so in
            ``Cast.error`` and takes nothing from the others.

        Raises:
            CantripError: ``intent is required``.
            ForkError: There is no such turn, or it or one before it can't be run again.
            LoomError: There is no such entity.
            LLMError: A query failed for good.
        """
        made = partial(
            self.afork, thread, from_turn, intent, context, llm=llm, n=n, on_event=on_event
        )
        return portal.run(made, "cantrip.afork(...)")

    async def afork(
        self,
        thread: Thread | str,
        from_turn: int,
        intent: str,
        context: Any = ...,
        *,
        llm: LLM | str | None = None,
        n: int | None = None,
        on_event: Sink = ignore,
    ) -> Cast | list[Cast]:
        """``fork`` for code that awaits."""
        check_intent(intent)
        if n is not None and (type(n) is not int or n < 1):
            raise ForkError(f"n must be a number of forks, from 1, not {n!r}")
        casts = await Forks(self.loom, self._family(), self._spec(), self.circle.result).run(
            thread,
            from_turn,
            intent,
            None if context is ... else seal(context),
            self._by_name(llm),
            n or 1,
            on_event,
        )
        if n is None and casts[0].error is not None:
            raise casts[0].error
        return casts[0] if n is None else casts
