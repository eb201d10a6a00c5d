"""The conversation medium: the model calls gates as its tools."""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any, NoReturn

from ...gates import Gate
from ...sandbox.checkpoint import AsyncCheckpoint
from ...sandbox.dialogue import Done
from ...sandbox.errors import CannotDump, CheckpointUnavailable, ImageError
from ...sandbox.execution import clip
from ...sandbox.wire import Sealed
from ..llm import Message, Reply, Tool, ToolCall
from ..texts import RESULT_CHARS, error_text, reference_text, shown, shown_unopened
from .base import Act, Desk, Surroundings

MIN_SHARE = 50
"""Characters of one call's result that are shown in any case."""
SKIPPED = "skipped"
"""What a call is answered with that stood after ``done`` (``LOOP-3``)."""
_ANY_ARGUMENTS = {"type": "object", "properties": {}, "additionalProperties": True}


@dataclass(frozen=True)
class Answered:
    """A tool call and what came of it.

    Attributes:
        message: What the model is told.
        is_error: Whether it failed.
        answer: What ``done`` was given, or None.
    """

    message: Message
    is_error: bool = False
    answer: Sealed | None = None


class Conversation:
    """Gates as tools; text alone is an answer (``LOOP-6``)."""

    name = "conversation"
    has_state = False  # all that there is to a conversation stands in its messages

    def __init__(self, surroundings: Surroundings) -> None:
        self._surroundings = surroundings
        self._limit = surroundings.wards.max_output_chars or RESULT_CHARS
        self._context: Sealed | None = None

    def tools(self) -> tuple[Tool, ...]:
        """The gates, in the circle's order (``IDENTITY-3``)."""
        return tuple(
            tool_of(gate, self._surroundings) for gate in self._surroundings.gates.values()
        )

    def capabilities(self) -> str | None:
        """None: the tool definitions say it all (``CIRCLE-11``)."""
        return None

    def first_message(self, intent: str) -> str:
        """The intent, with the context below it where there is one."""
        if self._context is None:
            return intent
        return f"{intent}\n\nContext:\n{shown_unopened(self._context, self._limit)}"

    async def give(self, context: Sealed | None, is_there: bool = False) -> None:  # noqa: ARG002
        """Keep the context for the message that gives the intent."""
        self._context = context

    async def act(self, reply: Reply, desk: Desk) -> Act | None:
        """Call the gates in order until one ends the work (``CIRCLE-7``, ``LOOP-3``)."""
        if not reply.tool_calls:
            return None
        answered: list[Answered] = []
        for call in reply.tool_calls:
            if any(one.answer is not None for one in answered):
                answered.append(Answered(result_message(call, SKIPPED)))
            else:
                answered.append(await answer_call(call, desk, self._surroundings, self._limit))
        return act_of(answered, self._limit)

    def pass_over(self) -> None:
        """Nothing is counted."""

    async def dump(self) -> NoReturn:
        """There is no state to be written down.

        Raises:
            CannotDump: Always.
        """
        raise CannotDump("a conversation has no state that could be written down")

    async def load(self, image: bytes, trust: bool) -> NoReturn:  # noqa: ARG002
        """There is no state to be loaded.

        Raises:
            ImageError: Always.
        """
        raise ImageError("a conversation has no state that could be loaded")

    async def checkpoint(self, turn: int) -> None:
        """None: what there is to a conversation is on record."""

    async def keep(self) -> NoReturn:
        """There is no state to be kept.

        Raises:
            CheckpointUnavailable: Always.
        """
        raise CheckpointUnavailable("a conversation has no state that could be kept")

    async def take_up(self, point: AsyncCheckpoint) -> NoReturn:  # noqa: ARG002
        """There is no state to be taken up.

        Raises:
            CheckpointUnavailable: Always.
        """
        raise CheckpointUnavailable("a conversation has no state that could be taken up")

    async def aclose(self) -> None:
        """Nothing to let go of."""


def tool_of(gate: Gate, surroundings: Surroundings) -> Tool:
    """A gate as a model is told of it; one that spawns, with what a child can be given."""
    told = [gate.description]
    if gate.delegates and surroundings.llms:
        told.append(f"A request may name one of these models: {', '.join(surroundings.llms)}.")
    if gate.delegates and surroundings.registry:
        names = ", ".join(surroundings.registry)
        told.append(f"A request may name these gates beside your own: {names}.")
    return Tool(gate.name, "\n\n".join(told), gate.parameters or _ANY_ARGUMENTS)


async def answer_call(
    call: ToolCall, desk: Desk, surroundings: Surroundings, limit: int
) -> Answered:
    """Make one tool call; what goes wrong is told to the model (``CIRCLE-5``)."""
    try:
        if call.malformed is not None:
            desk.refuse(call.name, f"the arguments can't be read as JSON: {call.malformed[:200]}")
        # A copy: what a gate does to its arguments must not change what the model is told it said.
        result = await desk.call(call.name, [], deepcopy(call.arguments))
    except Exception as error:
        return Answered(result_message(call, f"Error: {error_text(error, limit)}"), is_error=True)
    if isinstance(result, Done):
        answer: Sealed = result.answer
        return Answered(result_message(call, shown(answer, limit)), answer=answer)
    gate = surroundings.gates[call.name]
    if gate.ephemeral:
        return Answered(result_message(call, reference_text(gate.name, result, desk.turn)))
    show = shown_unopened if gate.delegates else shown
    return Answered(result_message(call, show(result, limit)))


def act_of(answered: list[Answered], limit: int, **fields: Any) -> Act:
    """What answered calls come to, as one observation of at most about ``limit`` characters."""
    messages = [one.message for one in answered]
    if sum(len(message.content or "") for message in messages) > limit:
        share = max(limit // len(messages), MIN_SHARE)
        messages = [replace(one, content=clip(one.content or "", share)) for one in messages]
    return Act(
        messages=tuple(messages),
        text="\n".join(message.content or "" for message in messages),
        is_error=any(one.is_error for one in answered),
        answer=next((one.answer for one in answered if one.answer is not None), None),
        **fields,
    )


def result_message(call: ToolCall, text: str) -> Message:
    """The message that answers a tool call (``LLM-7``)."""
    return Message("tool", text, tool_call_id=call.id)


def told_alone(text: str, is_error: bool = False) -> Act:
    """What is told of an utterance that nothing of was carried out."""
    return Act((Message("user", text),), text, is_error=is_error)


def answering(reply: Reply, act: Act, limit: int) -> Act:
    """An act that tells its text in answer to all that the reply asked for (``LLM-7``)."""
    if not reply.tool_calls:
        return replace(act, messages=(Message("user", clip(act.text, limit)),))
    results = [Answered(result_message(call, act.text)) for call in reply.tool_calls]
    return replace(act, messages=act_of(results, limit).messages)
