"""What a client is shown of an entity's work: events as the protocol's session updates.

The root's texts are messages, its thinking is thoughts. A program, a gate call and a child are
tool calls; what a child does bears the id of the child's own call, for a client to nest it.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from acp import text_block, tool_content
from acp.schema import (
    AgentMessageChunk,
    AgentThoughtChunk,
    ToolCallProgress,
    ToolCallStart,
    ToolCallStatus,
    ToolKind,
)

from .. import events
from ..errors import MalformedReply
from ..events import Event
from ..llm import Reply
from ..loom import Loom
from ..media.code import TOOL
from ..media.fences import last_block
from ..redaction import redact

META = "circlet"
"""The key of ``_meta`` under which all of ours stands."""
TITLE_CHARS = 100
"""Length of a tool call's title, in characters."""

Update = AgentMessageChunk | AgentThoughtChunk | ToolCallStart | ToolCallProgress
_KINDS: dict[str, ToolKind] = {
    "read": "read",
    "list_dir": "read",
    "write": "edit",
    "search": "search",
    "fetch": "fetch",
}


@dataclass
class _Entity:
    """What is known of an entity at work.

    Attributes:
        id: Its id.
        depth: Its level.
        call: Id of the tool call that stands for it; None for the root.
        open: Its gate calls that have no result yet, by id, the newest last.
        program: Id of its running program's call, or None.
    """

    id: str
    depth: int
    call: str | None
    open: list[tuple[str, str]] = field(default_factory=list)
    program: str | None = None

    @property
    def innermost(self) -> str | None:
        """Id of the call that what it does now stands under."""
        return self.open[-1][0] if self.open else self.program or self.call


class Narrator:
    """Tells a client of one session's work.

    Args:
        loom: Where the work is recorded; what a model wrote is read there.
    """

    def __init__(self, loom: Loom) -> None:
        self._loom = loom
        self._entities: dict[str, _Entity] = {}
        self._count = 0
        self._last_text = ""

    def tell(self, event: Event) -> Iterator[Update]:
        """The updates that an event comes to, in order."""
        if isinstance(event, events.EntityStarted):
            yield from self._started(event)
            return
        entity = self._entities.get(event.entity_id)
        if entity is None:
            return
        match event:
            case events.Thinking() if entity.call is None:
                yield _thought(event.text, self._fresh("thought"))
            case events.Text() if entity.call is None:
                self._last_text = event.text
                yield _message(event.text, self._fresh("message"))
            case events.MessageCompleted():
                yield from self._program(entity, event.turn)
            case events.ToolCalled():
                yield from self._called(entity, event)
            case events.ToolResult():
                yield from self._answered(entity, event)
            case events.StepCompleted():
                yield from self._observed(entity, event)
            case events.EntityEnded():
                yield from self._ended(entity, event)

    def conclude(self, text: str) -> Iterator[Update]:
        """The last message of a prompt's work, unless it was said just so before.

        It is a view, and bears no secret; the answer itself goes out with the response.
        """
        shown = redact(text)
        if shown and shown != self._last_text:
            yield _message(shown, self._fresh("message"))

    def _started(self, event: events.EntityStarted) -> Iterator[Update]:
        if event.parent_id is None:
            self._entities[event.entity_id] = _Entity(event.entity_id, event.depth, None)
            self._last_text = ""
            return
        call = self._fresh("child")
        child = _Entity(event.entity_id, event.depth, call)
        self._entities[event.entity_id] = child
        given = {"intent": event.intent, "model": event.model}
        parent = self._entities[event.parent_id]
        yield self._start(call, event.intent, "other", given, child, parent.innermost)

    def _program(self, entity: _Entity, turn: int) -> Iterator[Update]:
        """The start of what a reply's code does, if it holds any."""
        view = self._loom.entities[entity.id]
        reply = view.reply(turn) if view.medium == "code" else None
        source = _source(reply) if reply else None
        if source is None:
            return
        source = redact(source)  # it comes from the loom, which keeps it whole
        entity.program = self._fresh("program")
        title = next((line for line in source.splitlines() if line.strip()), "python")
        yield self._start(entity.program, title, "execute", {"code": source}, entity, entity.call)

    def _called(self, entity: _Entity, event: events.ToolCalled) -> Iterator[Update]:
        call, under = self._fresh("gate"), entity.innermost
        entity.open.append((call, event.name))
        if event.name == "done":
            return  # the answer is a message of its own
        title, kind = f"{event.name} {event.arguments}", _KINDS.get(event.name, "other")
        yield self._start(call, title, kind, event.arguments, entity, under)

    def _answered(self, entity: _Entity, event: events.ToolResult) -> Iterator[Update]:
        if not entity.open:
            return
        call, name = entity.open.pop()
        if name == "done":
            if not event.is_error:
                return
            yield self._start(call, name, "other", None, entity, entity.innermost)
        yield _end(call, event.text, event.is_error)

    def _observed(self, entity: _Entity, event: events.StepCompleted) -> Iterator[Update]:
        if entity.program is not None:
            yield _end(entity.program, event.observation, event.is_error)
        entity.program = None

    def _ended(self, entity: _Entity, event: events.EntityEnded) -> Iterator[Update]:
        entity.open.clear()
        if entity.call is not None:
            del self._entities[entity.id]
            text = f"{event.outcome}: {event.reason}"
            yield _end(entity.call, text, event.outcome != "terminated")

    def _fresh(self, what: str) -> str:
        self._count += 1
        return f"{what}-{self._count}"

    def _start(
        self, call: str, title: str, kind: ToolKind, given: Any, entity: _Entity, under: str | None
    ) -> ToolCallStart:
        """The start of a tool call, marked with whose it is and the call that it stands under."""
        marks: dict[str, Any] = {"entityId": entity.id, "depth": entity.depth}
        if under is not None:
            marks["parentToolCallId"] = under
        return ToolCallStart(
            session_update="tool_call",
            tool_call_id=call,
            title="> " * entity.depth + _short(title),
            kind=kind,
            status="in_progress",
            raw_input=given,
            field_meta={META: marks},
        )


def _end(call: str, text: str, is_error: bool) -> ToolCallProgress:
    status: ToolCallStatus = "failed" if is_error else "completed"
    return ToolCallProgress(
        session_update="tool_call_update",
        tool_call_id=call,
        status=status,
        content=[tool_content(text_block(text))],
    )


def _message(text: str, message_id: str) -> AgentMessageChunk:
    return AgentMessageChunk(
        session_update="agent_message_chunk", content=text_block(text), message_id=message_id
    )


def _thought(text: str, message_id: str) -> AgentThoughtChunk:
    return AgentThoughtChunk(
        session_update="agent_thought_chunk", content=text_block(text), message_id=message_id
    )


def _source(reply: Reply) -> str | None:
    """The programs of a reply as one text; None where it has none."""
    if reply.tool_calls:
        codes = [call.arguments.get("code") for call in reply.tool_calls if call.name == TOOL.name]
        return "\n\n".join(code for code in codes if isinstance(code, str)) or None
    try:
        return last_block(reply.content or "")
    except MalformedReply:
        return None


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= TITLE_CHARS else line[: TITLE_CHARS - 3] + "..."
