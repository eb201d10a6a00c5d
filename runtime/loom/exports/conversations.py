"""What a model was sent and what it said, put together again from the records of its replies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from ....sandbox import wire
from ....sandbox.errors import CodecError
from ...errors import LoomError
from ...llm.base import Message, Reply, Tool, ToolCall
from ..attempts import Attempt
from ..history import History
from ..index import EntityEntry, Index
from ..records import ReplyRecord
from ..values import Sent


@dataclass(frozen=True)
class Conversation:
    """A stretch of one cast in which each query went on from the one before.

    Where something was folded or shortened in what the model was told, another one begins.

    Attributes:
        part: Its ordinal within the cast, from 1.
        messages: The last query of it, and what was said to that.
        given: How many of the messages went before the first thing that was said in it.
        tools: What the model could call.
    """

    part: int
    messages: tuple[Message, ...]
    given: int
    tools: tuple[Tool, ...]


@dataclass(frozen=True)
class Story:
    """A cast as one prompt and one completion.

    Attributes:
        prompt: Its first query.
        completion: All that was said and observed since, in full, up to the last thing said.
        tools: What the model could call.
        is_folded: Whether the model was told less than that, for something was folded.
    """

    prompt: tuple[Message, ...]
    completion: tuple[Message, ...]
    tools: tuple[Tool, ...]
    is_folded: bool


def conversations(index: Index, attempt: Attempt) -> Iterator[Conversation]:
    """The conversations of a cast, in order; none where nothing was said.

    Raises:
        LoomError: The loom doesn't say what its models were sent, or is damaged.
    """
    sent: list[Message] = []
    said: list[Message] = []
    tools: tuple[Tool, ...] = ()
    given: int | None = None
    part = 1
    for turn, asked, reply in _queries(index, index.entity(attempt.entity_id), attempt.turns):
        new, kept = _messages(asked.messages), asked.kept
        goes_on = sent[kept:] == new[: len(sent) - kept]
        if given is not None and not goes_on:
            yield Conversation(part, (*sent, *said), given, tools)
            given, part = None, part + 1
        sent[kept:] = new
        said = [Message("assistant", reply.content, tool_calls=reply.tool_calls)]
        tools = tools if asked.tools is None else _tools(asked.tools)
        if given is None and turn in attempt.turns:
            given = len(sent)
    if given is not None:
        yield Conversation(part, (*sent, *said), given, tools)


def story(index: Index, attempt: Attempt) -> Story | None:
    """A cast as prompt and completion; None where nothing was said.

    Raises:
        LoomError: The loom doesn't say what its models were sent, or is damaged.
    """
    found = conversations(index, attempt)
    first = next(found, None)
    if first is None:
        return None
    prompt, completion = first.messages[: first.given], first.messages[first.given :]
    is_folded = next(found, None) is not None
    if is_folded:
        completion = tuple(_all_of(index, attempt))
    return Story(prompt, completion, first.tools, is_folded)


def _all_of(index: Index, attempt: Attempt) -> Iterator[Message]:
    """All that was said and observed in a cast, up to the last thing said."""
    history = History(index, attempt.entity_id)
    for number in attempt.turns:
        uttered = history.turn(number)
        reply = uttered.reply
        yield Message("assistant", reply.content, tool_calls=reply.tool_calls)
        if number < attempt.turns[-1]:
            yield from uttered.told


def _queries(index: Index, entry: EntityEntry, turns: range) -> Iterator[tuple[int, Sent, Reply]]:
    """An entity's queries up to the last of some turns."""
    for turn, n in list(entry.replies.items()):
        if turn >= turns.stop:
            return
        record = index.load(n, ReplyRecord)
        if record.sent is None:
            raise LoomError(
                f"the loom doesn't say what the model of {entry.id!r} was sent, for it is of an "
                "older circlet: export it as jsonl or parquet"
            )
        yield turn, record.sent, record.reply


def _messages(data: bytes) -> list[Message]:
    return [
        Message(
            plain["role"],
            plain["content"],
            tool_calls=[ToolCall(**call) for call in plain.get("tool_calls", ())],
            tool_call_id=plain.get("tool_call_id"),
        )
        for plain in _opened(data)
    ]


def _tools(data: bytes) -> tuple[Tool, ...]:
    return tuple(Tool(**plain) for plain in _opened(data))


def _opened(data: bytes) -> Any:
    try:
        return wire.loads(data)
    except CodecError as error:
        raise LoomError(
            f"the loom is damaged: what a model was sent can't be read: {error}"
        ) from None
