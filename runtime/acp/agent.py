"""The agent that the protocol's library drives: it opens sessions and answers prompts."""

from __future__ import annotations

import contextlib
import dataclasses
import logging
import uuid
from collections.abc import Sequence
from importlib.metadata import version
from typing import Any

import anyio
from acp import PROTOCOL_VERSION, RequestError
from acp.interfaces import Client
from acp.schema import (
    AgentCapabilities,
    CloseSessionResponse,
    Implementation,
    InitializeResponse,
    NewSessionResponse,
    PromptCapabilities,
    PromptResponse,
    SessionCapabilities,
    SessionCloseCapabilities,
    StopReason,
)

from ...sandbox.errors import CircletError
from ..cantrip import Cantrip
from ..cast import Cast
from ..errors import CantripError
from ..jsonable import to_json
from ..redaction import redact
from .loose import INVALID_PARAMS, NEW
from .prompts import Block, read_prompt
from .session import Session
from .updates import META, Update

INTERNAL_ERROR = -32603
_BY_TOKENS = ("max_tokens", "max_cost")
"""The wards that count what a model takes; the others count what an entity does."""
_log = logging.getLogger("circlet")


class SpellAgent:
    """Answers one client with the entities of a cantrip (``PROD-6``).

    Each session is an entity that lasts; several work side by side. What the client offers
    besides, its folder and its MCP servers, gives an entity nothing: its gates are its circle's.

    Args:
        spell: The cantrip.

    Attributes:
        last_session: Id of the newest session, or None.
    """

    def __init__(self, spell: Cantrip) -> None:
        self._spell = spell
        self._client: Client | None = None
        self._sessions: dict[str, Session] = {}
        self.last_session: str | None = None

    def on_connect(self, client: Client) -> None:
        """Take the connection that the client is shown updates through."""
        self._client = client

    async def initialize(self, protocol_version: int, **_: Any) -> InitializeResponse:  # noqa: ARG002
        """Say what this is and what it can do, in the one version of the protocol that it has."""
        return InitializeResponse(
            protocol_version=PROTOCOL_VERSION,
            agent_capabilities=AgentCapabilities(
                prompt_capabilities=PromptCapabilities(embedded_context=True),
                session_capabilities=SessionCapabilities(close=SessionCloseCapabilities()),
            ),
            agent_info=Implementation(name="circlet", title="circlet", version=version("circlet")),
        )

    async def new_session(
        self, cwd: str, mcp_servers: Sequence[Any] | None = None, **_: Any
    ) -> NewSessionResponse:
        """Summon an entity. ``cwd`` and ``mcp_servers`` give it nothing."""
        # Nothing is awaited here, for the next message may rest on this session already.
        session_id = f"session-{uuid.uuid4().hex[:12]}"
        self._sessions[session_id] = Session(self._spell, session_id, self._show)
        self.last_session = session_id
        _log.debug("acp: %s opened from %s", session_id, cwd)
        if mcp_servers:
            _log.warning(
                "acp: %s: %d MCP servers of the client are not used: an entity's gates are its "
                "circle's",
                session_id,
                len(mcp_servers),
            )
        return NewSessionResponse(session_id=session_id)

    async def prompt(self, session_id: str, prompt: Sequence[Block], **_: Any) -> PromptResponse:
        """Give a session's entity an intent, and answer when it has come to something.

        Raises:
            RequestError: The prompt can't be taken, or the work failed.
        """
        session = self._session(session_id)
        intent, context = read_prompt(prompt)
        try:
            cast = await session.prompt(intent, ... if context is None else context)
            return PromptResponse(
                stop_reason="cancelled" if cast is None else stop_reason(cast),
                field_meta={META: {"entityId": session_id, **told(cast)}},
            )
        except CantripError as error:
            raise RequestError(INVALID_PARAMS, redact(str(error))) from error
        except CircletError as error:
            kind = type(error).__name__
            data = {META: {"entityId": session_id, "error": kind}}
            raise RequestError(INTERNAL_ERROR, redact(str(error)) or kind, data) from error

    async def cancel(self, session_id: str, **_: Any) -> None:
        """Stop a session's work; its prompt answers ``cancelled``."""
        if session_id in self._sessions:
            self._sessions[session_id].cancel()
        else:
            _log.warning("acp: there is no session %.100r to cancel", session_id)

    async def close_session(self, session_id: str, **_: Any) -> CloseSessionResponse:
        """End a session and its entity; what it did stays in the loom."""
        session = self._session(session_id)
        del self._sessions[session_id]
        await session.aclose()
        return CloseSessionResponse()

    async def aclose(self) -> None:
        """End all sessions: their work is cancelled and their sandboxes are let go."""
        async with anyio.create_task_group() as group:
            for session in self._sessions.values():
                group.start_soon(session.aclose)
        self._sessions.clear()

    def _session(self, session_id: str) -> Session:
        try:
            return self._sessions[session_id]
        except KeyError:
            raise RequestError(
                INVALID_PARAMS, f"there is no session {session_id!r}: open one with {NEW}"
            ) from None

    async def _show(self, session_id: str, update: Update) -> None:
        assert self._client is not None  # a session is opened through a connection
        with contextlib.suppress(ConnectionError):  # it has hung up: only answers still go out
            await self._client.session_update(session_id, update)


def stop_reason(cast: Cast) -> StopReason:
    """Why a cast stopped, in the protocol's words; the ward's own name stands in ``_meta``."""
    if cast.terminated:
        return "end_turn"
    return "max_tokens" if cast.reason in _BY_TOKENS else "max_turn_requests"


def told(cast: Cast | None) -> dict[str, Any]:
    """What a cast came to, as it stands in a response's ``_meta``; None: it was cancelled."""
    if cast is None:
        return {"answer": None, "terminated": False, "truncated": True, "reason": "cancelled"}
    return {
        "answer": to_json(cast.result),
        "terminated": cast.terminated,
        "truncated": cast.truncated,
        "reason": cast.reason,
        "summary": cast.summary,
        "turns": cast.turns,
        "usage": dataclasses.asdict(cast.usage),
    }
