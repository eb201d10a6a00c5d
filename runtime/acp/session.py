"""A session: one lasting entity, and the prompts that it works on one after the other."""

from __future__ import annotations

import contextlib
from collections.abc import Awaitable, Callable, Iterable
from typing import Any

import anyio
from anyio.streams.memory import MemoryObjectReceiveStream, MemoryObjectSendStream

from ..cantrip import Cantrip
from ..cast import Cast
from ..errors import CantripError
from ..events import Event
from ..texts import RESULT_CHARS, as_text
from .updates import Narrator, Update

Show = Callable[[str, Update], Awaitable[None]]
"""Shows a client an update of a session, which is named by its id."""


class Session:
    """One lasting entity (``PROD-7``, ``ENTITY-5``).

    Args:
        spell: What it is an entity of.
        session_id: Its id, and the entity's.
        show: Shows the client an update.
    """

    def __init__(self, spell: Cantrip, session_id: str, show: Show) -> None:
        self.id = session_id
        self._show = show
        self._entity = spell.summon(entity_id=session_id, on_event=self._take)
        self._narrator = Narrator(spell.loom)
        self._queue: MemoryObjectSendStream[Iterable[Update]] | None = None
        self._work: anyio.CancelScope | None = None
        self._idle = anyio.Event()
        self._idle.set()

    @property
    def is_busy(self) -> bool:
        """Whether it is at work on a prompt."""
        return not self._idle.is_set()

    async def prompt(self, intent: str, context: Any) -> Cast | None:
        """Work on a prompt; gives what it came to, None where it was cancelled.

        All that the client is to be shown of it has been shown by then.

        Args:
            intent: What to do.
            context: Data for it, or ``...`` for none.

        Raises:
            CantripError: ``intent is required``; or it is at work on another prompt.
            CircletError: The work failed.
        """
        if self.is_busy:
            raise CantripError(
                f"session {self.id} is at work on another prompt: wait for its answer, or cancel it"
            )
        self._idle = anyio.Event()
        send, receive = anyio.create_memory_object_stream[Iterable[Update]](float("inf"))
        self._queue = send
        cast: Cast | Exception | None = None
        try:
            async with anyio.create_task_group() as group:
                group.start_soon(self._tell, receive)
                with send, anyio.CancelScope() as self._work:
                    # Kept in hand, for a group would wrap it.
                    try:
                        cast = await self._entity.asend(intent, context)
                        send.send_nowait(self._narrator.conclude(closing_text(cast)))
                    except Exception as error:
                        cast = error
        finally:
            self._queue = self._work = None
            self._idle.set()
        if isinstance(cast, Exception):
            raise cast
        return cast

    def cancel(self) -> None:
        """Stop the work on a prompt, if there is any, down to the last grandchild."""
        if self._work is not None:
            self._work.cancel()

    async def aclose(self) -> None:
        """Stop its work, and let its sandbox go."""
        self.cancel()
        await self._idle.wait()
        await self._entity.aclose()

    def _take(self, event: Event) -> None:
        if self._queue is None:
            return
        updates = list(self._narrator.tell(event))
        with contextlib.suppress(anyio.BrokenResourceError):  # the client is gone
            self._queue.send_nowait(updates)

    async def _tell(self, receive: MemoryObjectReceiveStream[Iterable[Update]]) -> None:
        """Show the client all that comes, in order."""
        async with receive:
            async for updates in receive:
                for update in updates:
                    await self._show(self.id, update)


def closing_text(cast: Cast) -> str:
    """What a cast came to, for a reader: its answer, or what a truncated one had done."""
    if not cast.terminated:
        return cast.summary or ""
    return as_text(cast.result, RESULT_CHARS)
