"""The agent's end of a connection: lines of JSON-RPC, made strict before the library has them."""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
from acp import RequestError
from anyio.abc import ObjectReceiveStream

from .loose import (
    CANCEL,
    INVALID_REQUEST,
    expects_answer,
    id_of,
    parse,
    strict,
)

Write = Callable[[bytes], Awaitable[None]]
"""Writes a line, its end included.

Raises:
    ConnectionError: Nobody reads any more.
"""
_log = logging.getLogger("circlet")


class Gateway:
    """A transport for the library's connection.

    What can't be understood is answered here, and the connection goes on.

    Args:
        lines: What the client sends, line by line.
        write: Writes a line to the client.
        last_session: Gives the id of the newest session, or None.
    """

    def __init__(
        self,
        lines: ObjectReceiveStream[bytes],
        write: Write,
        last_session: Callable[[], str | None],
    ) -> None:
        self._lines = lines
        self._write = write
        self._last_session = last_session
        self._unanswered: set[str] = set()  # ids as JSON
        self._answered = anyio.Event()

    async def receive(self) -> dict[str, Any] | None:
        """The client's next message, strict; None at its end."""
        while True:
            try:
                line = await self._lines.receive()
            except anyio.EndOfStream:
                return None
            if not line.strip():
                continue
            message = await self._understood(line)
            if message is not None:
                return message

    async def _understood(self, line: bytes) -> dict[str, Any] | None:
        """A line as a message; what can't be one is answered, and None."""
        said: Any = None
        try:
            said = parse(line)
            message = strict(said, self._last_session())
            if "method" in message and "id" in message:
                self._take(message)
            elif "method" in message and message["method"] != CANCEL:
                _log.warning("acp: %s needs an id: it is no notification", message["method"])
                return None
        except RequestError as error:
            if isinstance(said, dict) and not expects_answer(said):
                _log.warning("acp: %s", error)
            else:
                await self._send({"jsonrpc": "2.0", "id": id_of(said), "error": _plain(error)})
            return None
        return message

    def _take(self, request: dict[str, Any]) -> None:
        key = json.dumps(request["id"])
        if key in self._unanswered:
            raise RequestError(INVALID_REQUEST, f"the id {key} is that of a request at work")
        self._unanswered.add(key)

    async def send(self, message: dict[str, Any]) -> None:
        """Write a message; where nobody reads any more, that is all the same to who sends it."""
        try:
            await self._send(message)
        finally:
            if "method" not in message:
                self._unanswered.discard(json.dumps(message["id"]))
                self._answered.set()
                self._answered = anyio.Event()

    async def _send(self, message: dict[str, Any]) -> None:
        # The end of the input is on its way, and is what ends the connection.
        with contextlib.suppress(ConnectionError):
            await self._write(json.dumps(message, default=str).encode() + b"\n")

    async def settled(self) -> None:
        """Wait until every request is answered."""
        while self._unanswered:
            await self._answered.wait()

    async def close(self) -> None:
        """Read no more."""
        await self._lines.aclose()


def _plain(error: RequestError) -> dict[str, Any]:
    return {"code": error.code, "message": str(error)}
