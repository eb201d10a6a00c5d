"""Messages and tools as other programs write them, without secrets."""

from __future__ import annotations

import json
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from ...llm.base import Message, Request, Tool, ToolCall
from ...llm.chat import chat_messages, chat_settings
from ...redaction import Secrets

_SURROGATE = re.compile("[\ud800-\udfff]")


class Writer:
    """Writes messages and tools.

    Args:
        secrets: What is withheld; None: nothing.
    """

    def __init__(self, secrets: Secrets | None) -> None:
        self._secrets = secrets

    def text(self, text: str | None) -> str | None:
        """A text; half of a surrogate pair has no place in one."""
        redacted: str | None = self.redacted(text)
        return redacted and _SURROGATE.sub("\ufffd", redacted)

    def tools(self, tools: Sequence[Tool]) -> list[Any]:
        """Tools, as Chat Completions takes them."""
        shown = [
            Tool(tool.name, self.redacted(tool.description), self.redacted(tool.parameters))
            for tool in tools
        ]
        return list(chat_settings(Request((), shown)).get("tools", ()))

    def chat(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Messages, as Chat Completions takes them: the arguments of calls are texts."""
        return chat_messages(Request([self._message(message) for message in messages]))

    def template(self, messages: Sequence[Message]) -> list[dict[str, Any]]:
        """Messages, as chat templates take them: arguments are objects, tools give their names."""
        names: dict[str, str] = {}
        made = []
        for message in self.chat(messages):
            for call in message.get("tool_calls", ()):
                function = call["function"]
                names[call["id"]] = function["name"]
                function["arguments"] = _clean(json.loads(function["arguments"]))
            if message["role"] == "tool" and message["tool_call_id"] in names:
                message["name"] = names[message["tool_call_id"]]
            made.append(message)
        return made

    def _message(self, message: Message) -> Message:
        calls = [
            ToolCall(
                call.id,
                self.redacted(call.name),
                self.redacted(call.arguments),
                self.redacted(call.malformed),
            )
            for call in message.tool_calls
        ]
        return replace(message, content=self.redacted(message.content), tool_calls=calls)

    def redacted(self, value: Any) -> Any:
        """A value without secrets."""
        return value if self._secrets is None else self._secrets.redact(value)


def _clean(value: Any) -> Any:
    """A value of JSON's types without halves of surrogate pairs."""
    if isinstance(value, str):
        return _SURROGATE.sub("\ufffd", value)
    if isinstance(value, list):
        return [_clean(item) for item in value]
    if isinstance(value, dict):
        return {_clean(name): _clean(item) for name, item in value.items()}
    return value
