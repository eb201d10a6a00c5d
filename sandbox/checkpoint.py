"""A checkpoint as its holder has it: to go back to, or to make another session of."""

from __future__ import annotations

import os
from types import TracebackType
from typing import TYPE_CHECKING, Self

from .errors import CheckpointUnavailable, SandboxClosed
from .past import Past
from .threads import to_its_end

if TYPE_CHECKING:
    from .base import Session
    from .session import AsyncSandbox, Sandbox


class _Point:
    """What both kinds of checkpoints have in common."""

    def __init__(self, session: Session, past: Past, is_own: bool = True) -> None:
        self._session = session
        self._past = past
        self._is_own = is_own  # else its process is its session's, which lets go of it
        self._closed = False
        self._owner = os.getpid()

    @property
    def turn(self) -> int:
        """The turn at whose end it was made; 0 before the first."""
        return self._past.turn

    @property
    def state_id(self) -> int:
        """The number of its state; its session's ``state_id`` was that when it was made."""
        return self._past.state_id

    def _past_for(self, session: Session) -> Past:
        """What leads to it, for a session to take up.

        Raises:
            CheckpointUnavailable: It is closed, or is another kind of session's.
            SandboxClosed: It is the parent's, in a process that was forked.
        """
        if os.getpid() != self._owner:
            raise SandboxClosed(
                "this checkpoint belongs to the process that this one was forked from"
            )
        if self._closed:
            raise CheckpointUnavailable("this checkpoint is closed")
        if not session._settings.agree(self._session._settings):
            raise CheckpointUnavailable("the checkpoint is of a session with other settings")
        return self._past

    def close(self) -> None:
        """Let go of it and, unless it is one that its session keeps, of its process."""
        self._closed = True
        if self._is_own:
            self._past.close()

    def __repr__(self) -> str:
        return f"<checkpoint at the end of turn {self.turn}>"


class Checkpoint(_Point):
    """A session's state at the end of a turn. It takes up memory until it is closed.

    Attributes:
        turn: The turn at whose end it was made; 0 before the first.
    """

    _session: Sandbox

    def fork(self) -> Sandbox:
        """A second session with this state, and with the settings and gates of the first.

        Raises:
            CheckpointUnavailable: It is closed, or can't be had any more.
            BackendUnavailable: There is no process to be had for it.
        """
        twin = self._session._twin()
        twin._go_back(self._past_for(twin))
        return twin

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()


class AsyncCheckpoint(_Point):
    """A session's state at the end of a turn. See ``Checkpoint``."""

    _session: AsyncSandbox

    async def fork(self) -> AsyncSandbox:
        """A second session with this state. See ``Checkpoint.fork``."""
        twin = self._session._twin()
        past = self._past_for(twin)
        await to_its_end(lambda: twin._go_back(past))
        return twin

    async def aclose(self) -> None:
        """Let go of it and of its process."""
        self.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self.close()
