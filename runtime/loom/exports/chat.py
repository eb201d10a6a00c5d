"""``chat``: what each model was sent and said, a line a cast, for supervised fine-tuning."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from ..attempts import Attempt, attempts
from ..index import Index
from .conversations import Conversation, conversations
from .messages import Writer


def chat_lines(index: Index, writer: Writer) -> Iterator[dict[str, Any]]:
    """The lines, cast after cast; a cast whose turns were folded has one for each stretch.

    What a model said is to be learned where it said it: in the lines that it is context in, it
    has the weight 0.

    Raises:
        LoomError: The loom doesn't say what its models were sent, or is damaged.
    """
    for entity_id in list(index.entities):
        for attempt in attempts(index, entity_id):
            for conversation in conversations(index, attempt):
                yield _line(attempt, conversation, writer)


def _line(attempt: Attempt, conversation: Conversation, writer: Writer) -> dict[str, Any]:
    messages = writer.chat(conversation.messages)
    for message in messages[: conversation.given]:
        if message["role"] == "assistant":
            message["weight"] = 0
    tools = writer.tools(conversation.tools)
    return {
        "messages": messages,
        **({"tools": tools} if tools else {}),
        "metadata": {**facts(attempt, writer), "part": conversation.part},
    }


def facts(attempt: Attempt, writer: Writer) -> dict[str, Any]:
    """What is told of a cast beside its messages (``schema.Attempt``)."""
    return {
        "entity": attempt.entity_id,
        "cast": attempt.cast,
        "depth": attempt.depth,
        "model": attempt.model,
        "turns": len(attempt.turns),
        "outcome": attempt.outcome,
        "reason": writer.text(attempt.reason),
        "reward": attempt.reward,
        "passed": attempt.passed,
    }
