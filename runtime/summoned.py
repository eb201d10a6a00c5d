"""The lasting entity: it takes intents one after the other."""

from __future__ import annotations

import re
from collections.abc import Callable
from functools import partial
from typing import Any

import anyio

from ..sandbox.wire import Sealed, seal
from . import portal
from .cast import Cast
from .closing import Closing
from .entity import Entity
from .errors import CantripError, ResumeError
from .events import FinalResponse
from .loom import Loom


class Summoned(Closing):
    """A lasting entity's handle. Its state adds up from intent to intent.

    Used by one caller at a time; closes its sandbox when it is closed.

    Args:
        make: Makes the entity, for its first intent.
        result_type: A type that its answers have to fit, or None.
        entity: The entity, where it is there already.
    """

    def __init__(
        self, make: Callable[[str], Entity], result_type: Any, entity: Entity | None = None
    ) -> None:
        self._make = make
        self._result_type = result_type
        self._entity = entity
        self._busy = self._closed = False

    @property
    def entity_id(self) -> str | None:
        """Its id; None before the first intent, unless it was taken up from its loom."""
        return self._entity.entity_id if self._entity else None

    def send(self, intent: str, context: Any = ...) -> Cast:
        """Give it an intent and wait for what it comes to. See ``Cantrip.cast``."""
        return portal.run(partial(self.asend, intent, context), "entity.asend(...)")

    async def asend(self, intent: str, context: Any = ...) -> Cast:
        """``send`` for code that awaits.

        Raises:
            CantripError: ``intent is required``; or the entity is closed, or at work.
        """
        check_intent(intent)
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
        try:
            ended = await entity.cast(intent, context)
        except ResumeError:
            await self.aclose()  # it has lived through a part of its past only
            raise
        if ended.error is not None:
            raise ended.error
        cast = Cast(entity, ended, entity.branch.usage - before, self._result_type)
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


def check_id(entity_id: str, loom: Loom) -> None:
    """Check that an entity can have this id (``ENTITY-2``).

    Raises:
        CantripError: It won't do, or the loom has it already.
    """
    if not re.fullmatch(r"[\w-]{1,64}", entity_id):
        raise CantripError(f"an entity's id is 1 to 64 letters, digits, - and _, not {entity_id!r}")
    if entity_id in loom.entities:
        raise CantripError(f"there is an entity {entity_id!r} already; give it another id")


def check_intent(intent: Any) -> None:
    """Check that there is something to do (``INTENT-1``).

    Raises:
        CantripError: ``intent is required``.
    """
    if not isinstance(intent, str) or not intent.strip():
        raise CantripError("intent is required")
