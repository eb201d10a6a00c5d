"""What a model is told on each query: the layers of messages, in order.

Identity first, then what the circle can do, then the intent and the turns since. The first
two never change; turns are only added.
"""

from __future__ import annotations

from .identity import Identity
from .llm import Message, Reply, Request, Tool


class Context:
    """The messages of one entity (``LOOP-5``).

    Args:
        identity: Whose system prompt comes first (``IDENTITY-2``).
        capabilities: What comes between identity and intent, or None (``CIRCLE-11``).
        tools: What the model may call.
    """

    def __init__(
        self, identity: Identity, capabilities: str | None, tools: tuple[Tool, ...]
    ) -> None:
        self._identity = identity
        self._tools = tools
        self._messages: list[Message] = []
        for text in (identity.system_prompt, capabilities):
            if text is not None:
                self._messages.append(Message("system", text))

    def add_intent(self, text: str) -> None:
        """Add an intent as a user message (``INTENT-2``)."""
        self._messages.append(Message("user", text))

    def add_turn(self, reply: Reply, observed: tuple[Message, ...]) -> None:
        """Add an utterance and what was observed of it (``LOOP-1``)."""
        self._messages.append(Message("assistant", reply.content, tool_calls=reply.tool_calls))
        self._messages.extend(observed)

    def request(self) -> Request:
        """What goes to the model now."""
        return Request(
            self._messages,
            self._tools,
            self._identity.tool_choice,
            self._identity.hyperparameters,
        )
