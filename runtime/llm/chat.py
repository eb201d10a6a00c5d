"""The Chat Completions form of requests and replies, as pure functions of plain values.

OpenAI's endpoint speaks it, and so do OpenRouter and most local servers, each with small
liberties; reading takes them all. Nothing here imports a provider's SDK.
"""

from __future__ import annotations

import json
import re
from collections.abc import Mapping
from typing import Any

from ..errors import ContextLimit, LLMError, MalformedReply, ProviderError
from .base import Message, Reply, Request, StopReason, Tool, ToolCall, Usage

_STOP_REASONS: dict[str, StopReason] = {"length": "length", "content_filter": "refusal"}
_OURS = frozenset({"model", "messages", "tools", "tool_choice", "stream", "n"})
_SURROGATE = re.compile("[\ud800-\udfff]")
_TOO_LONG = re.compile(
    r"context[ _](length|window|size)|maximum context|prompt is too long", re.IGNORECASE
)


def chat_messages(request: Request) -> list[Any]:
    """The messages of a request as Chat Completions takes them; thinking is not sent back."""
    return [_message(message) for message in request.messages]


def chat_settings(request: Request) -> dict[str, Any]:
    """The rest of the request's body: hyperparameters, tools, and the choice among them.

    Hyperparameters go through as they are; the provider judges them. A choice is left out
    where there are no tools, for it would be refused.

    Raises:
        LLMError: A hyperparameter would overwrite what the request itself says.
    """
    taken = sorted(_OURS & request.hyperparameters.keys())
    if taken:
        raise LLMError(f"hyperparameter {taken[0]!r} is set by the request itself: leave it out")
    body = dict(request.hyperparameters)
    if request.tools:
        body["tools"] = [_function(tool) for tool in request.tools]
        if request.tool_choice is not None:
            body["tool_choice"] = _choice(request.tool_choice)
    return body


def _message(message: Message) -> dict[str, Any]:
    # An observation may hold half a surrogate pair, which has no place in UTF-8.
    content = message.content and _SURROGATE.sub("\ufffd", message.content)
    plain: dict[str, Any] = {"role": message.role, "content": content}
    if message.role == "tool":
        plain |= {"content": content or "", "tool_call_id": message.tool_call_id}
    if message.tool_calls:
        plain["tool_calls"] = [
            {
                "id": call.id,
                "type": "function",
                "function": {"name": call.name, "arguments": _arguments_text(call)},
            }
            for call in message.tool_calls
        ]
    return plain


def _arguments_text(call: ToolCall) -> str:
    # Some servers parse the arguments of past calls and fail on what isn't a JSON object.
    shown = call.arguments if call.malformed is None else {"malformed": call.malformed}
    return json.dumps(shown)


def _function(tool: Tool) -> dict[str, Any]:
    return {"type": "function", "function": tool.neutral()}


def _choice(choice: str) -> Any:
    if choice in ("auto", "none", "required"):
        return choice
    return {"type": "function", "function": {"name": choice}}


def normalise(raw: Mapping[str, Any]) -> Reply:
    """Read a Chat Completions response, decoded from JSON, as a reply (LLM-6).

    Arguments that are no JSON object are kept as ``ToolCall.malformed``. A call without an id
    gets ``call_`` and its place, from 1. A refusal's text is the content. The reply is not
    checked: ``check_reply`` does that.

    Raises:
        ProviderError: The response is an error, as some endpoints send with status 200.
        ContextLimit: That error is about the length of the messages (LLM-2).
        MalformedReply: The response isn't in the Chat Completions form.
    """
    choices = raw.get("choices")
    if not choices and raw.get("error"):
        raise _error_in(raw["error"])
    try:
        choice = choices[0]  # type: ignore[index]
        message = choice["message"]
        refusal = message.get("refusal")
        calls = tuple(
            _call(item, place) for place, item in enumerate(message.get("tool_calls") or (), 1)
        )
        return Reply(
            content=_text(message.get("content")) or refusal or None,
            tool_calls=calls,
            usage=_usage(raw.get("usage") or {}),
            thinking=_text(message.get("reasoning_content")) or _text(message.get("reasoning")),
            stop_reason="refusal" if refusal else _stop_reason(choice, calls),
            model=raw["model"] if isinstance(raw.get("model"), str) else None,
        )
    except (LookupError, TypeError, AttributeError, ValueError, OverflowError) as error:
        raise MalformedReply(
            f"the response is not in the Chat Completions form: {type(error).__name__}: {error}"
        ) from None


def is_context_limit(code: Any, text: str) -> bool:
    """Whether an error's code or text says that the messages are too long for the model."""
    return code == "context_length_exceeded" or _TOO_LONG.search(text) is not None


def _error_in(error: Any) -> ProviderError:
    fields = error if isinstance(error, Mapping) else {"message": str(error)}
    text, code = str(fields.get("message") or "no reason given"), fields.get("code")
    status = code if isinstance(code, int) else 200
    kind = ContextLimit if is_context_limit(code, text) else ProviderError
    return kind(f"the response is an error: {text}", status)


def _text(content: Any) -> str | None:
    """The text of a content, which may come in parts."""
    if isinstance(content, list):
        content = "".join(part.get("text") or "" for part in content)
    if content is not None and not isinstance(content, str):
        raise TypeError(f"content is a {type(content).__name__}")
    return content or None


def _call(item: Mapping[str, Any], place: int) -> ToolCall:
    function = item["function"]
    name, written = function["name"], function.get("arguments")
    if not isinstance(name, str):
        raise TypeError("a tool's name is not a string")
    call_id = str(item.get("id") or f"call_{place}")
    if isinstance(written, Mapping):
        return ToolCall(call_id, name, dict(written))
    text = written if isinstance(written, str) else json.dumps(written or {})
    arguments = _object(text) if text.strip() else {}
    if arguments is None:
        return ToolCall(call_id, name, {}, malformed=text)
    return ToolCall(call_id, name, arguments)


def _object(text: str) -> dict[str, Any] | None:
    """The JSON object that the text is, or None."""
    try:
        value = json.loads(text, parse_constant=_refuse_constant)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict) else None


def _refuse_constant(name: str) -> None:
    raise ValueError(f"{name} is not JSON")


def _usage(usage: Mapping[str, Any]) -> Usage:
    details = usage.get("prompt_tokens_details") or {}
    return Usage(
        prompt_tokens=_count(usage, "prompt_tokens"),
        completion_tokens=_count(usage, "completion_tokens"),
        cached_tokens=_count(details, "cached_tokens"),
    )


def _count(counts: Mapping[str, Any], name: str) -> int:
    # A negative count would give back what a ward has counted as spent.
    return max(int(counts.get(name) or 0), 0)


def _stop_reason(choice: Mapping[str, Any], calls: tuple[ToolCall, ...]) -> StopReason:
    """Why the reply ended; endpoints differ in what they say of one with tool calls."""
    ended = "tool_calls" if calls else "stop"
    return _STOP_REASONS.get(choice.get("finish_reason") or "", ended)  # type: ignore[arg-type]
