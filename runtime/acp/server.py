"""Serving a cantrip: to a client over lines of bytes, or to a list of messages in this process."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any, cast

import anyio
from acp.core import AgentSideConnection
from acp.interfaces import Agent
from anyio.abc import ObjectReceiveStream

from ..cantrip import Cantrip
from .agent import SpellAgent
from .gateway import Gateway, Write
from .loose import expects_answer

LAST_ANSWERS_S = 0.5
"""How long a client that is gone, or reads nothing, may keep the last answers waiting."""


async def serve(spell: Cantrip, lines: ObjectReceiveStream[bytes], write: Write) -> None:
    """Answer a client until it has no more to say.

    At its end all work is cancelled, down to the last grandchild, and no sandbox is left.

    Args:
        spell: Whose entities answer.
        lines: What the client sends, line by line.
        write: Writes a line to the client.
    """
    agent = SpellAgent(spell)
    gateway = Gateway(lines, write, lambda: agent.last_session)
    connection = AgentSideConnection(
        cast(Agent, agent),  # the methods of the protocol that it lacks, the gateway keeps out
        gateway,
        listening=False,
        use_unstable_protocol=True,  # for session/close
    )
    try:
        await connection.listen()
    finally:
        with anyio.CancelScope(shield=True):
            await agent.aclose()
            with anyio.move_on_after(LAST_ANSWERS_S):
                await gateway.settled()
            await connection.close()


async def exchange(spell: Cantrip, messages: Iterable[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Talk to the agent in this process: the one that is served over stdio, over streams in memory.

    Each request is answered before the next message is sent.

    Args:
        spell: Whose entities answer.
        messages: JSON-RPC messages, as loose as ``runtime.acp.loose.strict`` takes them.

    Returns:
        The responses, in order, each with the id that its request was sent with. A
        notification has none.
    """
    sent = [(json.dumps(message).encode(), expects_answer(message)) for message in messages]
    to_agent, lines = anyio.create_memory_object_stream[bytes](1)
    to_client, answers = anyio.create_memory_object_stream[dict[str, Any]](float("inf"))
    responses: list[dict[str, Any]] = []

    async def write(line: bytes) -> None:
        message = json.loads(line)
        if "method" not in message:
            to_client.send_nowait(message)

    async with to_agent, lines, to_client, answers, anyio.create_task_group() as group:
        group.start_soon(serve, spell, lines, write)
        for line, is_answered in sent:
            await to_agent.send(line)
            if is_answered:
                responses.append(await answers.receive())
        await to_agent.aclose()
    return responses
