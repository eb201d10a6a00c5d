"""What goes to a language model, what comes back, and the seam that every model fits.

An LLM is a stateless function (LLM-1): a ``Request`` with the whole context in, a ``Reply``
out. Both are plain values in words of our own; a provider's module translates.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, NamedTuple

from ..errors import MalformedReply

Role = Literal["system", "user", "assistant", "tool"]
StopReason = Literal["stop", "tool_calls", "length", "refusal"]


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call that the model asks for.

    Attributes:
        id: Unique within the reply (LLM-4); its result carries the same id (LLM-7).
        name: The tool's name.
        arguments: By name; JSON values. Empty when ``malformed`` is set.
        malformed: What the model wrote, when that was no JSON object; else None.
    """

    id: str
    name: str
    arguments: dict[str, Any]
    malformed: str | None = None

    def neutral(self) -> dict[str, Any]:
        """The call in plain JSON values; ``malformed`` only when it is set."""
        plain = {"id": self.id, "name": self.name, "arguments": self.arguments}
        return plain if self.malformed is None else plain | {"malformed": self.malformed}


@dataclass(frozen=True, slots=True)
class Message:
    """One message of the context.

    Attributes:
        role: ``system``, ``user``, ``assistant`` or ``tool``.
        content: The text; None when an assistant only called tools.
        tool_calls: What an assistant called; a list is taken too and becomes a tuple.
        tool_call_id: The call that a ``tool`` message answers (LLM-7).
    """

    role: Role
    content: str | None = None
    tool_calls: Sequence[ToolCall] = ()
    tool_call_id: str | None = None

    def __post_init__(self) -> None:
        object.__setattr__(self, "tool_calls", tuple(self.tool_calls))

    def neutral(self) -> dict[str, Any]:
        """The message in plain JSON values: role and content always, the rest when set."""
        plain: dict[str, Any] = {"role": self.role, "content": self.content}
        if self.tool_calls:
            plain["tool_calls"] = [call.neutral() for call in self.tool_calls]
        if self.tool_call_id is not None:
            plain["tool_call_id"] = self.tool_call_id
        return plain


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool that the model may call.

    Attributes:
        name: Its name.
        description: What it does, for the model.
        parameters: JSON schema of its arguments, an object's.
    """

    name: str
    description: str
    parameters: dict[str, Any]

    def neutral(self) -> dict[str, Any]:
        """The tool in plain JSON values."""
        return {
            "name": self.name,
            "description": self.description,
            "parameters": self.parameters,
        }


@dataclass(frozen=True, slots=True)
class Request:
    """All that a model is told for one query; it knows nothing else (LLM-1).

    Attributes:
        messages: The whole context, oldest first. Lists are taken and become tuples.
        tools: What it may call, in the circle's order (IDENTITY-3).
        tool_choice: ``auto``, ``none``, ``required`` (LLM-5) or a tool's name; None leaves
            it to the provider.
        hyperparameters: ``temperature``, ``max_tokens`` and whatever else the provider knows.
    """

    messages: Sequence[Message]
    tools: Sequence[Tool] = ()
    tool_choice: str | None = None
    hyperparameters: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "messages", tuple(self.messages))
        object.__setattr__(self, "tools", tuple(self.tools))
        object.__setattr__(self, "hyperparameters", dict(self.hyperparameters))

    def neutral(self) -> dict[str, Any]:
        """The request in plain JSON values, the same whichever provider it goes to."""
        return {
            "messages": [message.neutral() for message in self.messages],
            "tools": [tool.neutral() for tool in self.tools],
            "tool_choice": self.tool_choice,
            "hyperparameters": dict(self.hyperparameters),
        }


@dataclass(frozen=True, slots=True)
class Usage:
    """Tokens that a query took; usages add up (PROD-3).

    Attributes:
        prompt_tokens: Tokens in, cached ones included.
        completion_tokens: Tokens out, reasoning included.
        cached_tokens: How many of ``prompt_tokens`` came from the provider's cache.
    """

    prompt_tokens: int = 0
    completion_tokens: int = 0
    cached_tokens: int = 0

    @property
    def total_tokens(self) -> int:
        """Tokens in and out."""
        return self.prompt_tokens + self.completion_tokens

    def __sub__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens - other.prompt_tokens,
            self.completion_tokens - other.completion_tokens,
            self.cached_tokens - other.cached_tokens,
        )

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            self.prompt_tokens + other.prompt_tokens,
            self.completion_tokens + other.completion_tokens,
            self.cached_tokens + other.cached_tokens,
        )


@dataclass(frozen=True, slots=True)
class Reply:
    """What a model answered, the same whichever provider it came from (LLM-6).

    Attributes:
        content: The text; None when there is none.
        tool_calls: What it calls, in its order.
        usage: Tokens that the query took.
        thinking: Reasoning that the provider showed, as text.
        stop_reason: ``stop``, ``tool_calls``, ``length`` (cut off at its token limit) or
            ``refusal`` (the model or the provider's filter declined).
        model: The model that answered, as the provider names it.
    """

    content: str | None = None
    tool_calls: tuple[ToolCall, ...] = ()
    usage: Usage = Usage()
    thinking: str | None = None
    stop_reason: StopReason = "stop"
    model: str | None = None

    @property
    def is_cut_off(self) -> bool:
        """Whether it is text that was cut off at its token limit: nothing in it counts."""
        return self.stop_reason == "length" and not self.tool_calls


class Claimed(NamedTuple):
    """A reply that an entity has claimed.

    Attributes:
        entity: Whose it is, by its id.
        reply: The reply; None where it was only claimed, when the entity was spawned (COMP-3).
    """

    entity: str
    reply: Reply | None


@dataclass(frozen=True, slots=True)
class Heard:
    """What has been heard of a model by the time that one of its entities goes on.

    Attributes:
        of_it: The first intent of the entity, and of those that it is a fork of, the oldest
            first, each with its replies that the entity has behind it.
        claims: Gives the replies that all entities of the loom have claimed of models of its
            name, in order.
        entity: Id of the entity where it is taken up again itself; None for a fork.
    """

    of_it: tuple[tuple[str, int], ...]
    claims: Callable[[], Iterable[Claimed]]
    entity: str | None = None


class LLM(ABC):
    """A language model: messages in, a reply out, nothing kept in between (LLM-1).

    A new provider derives from this, sets ``name`` and writes ``query``.

    Attributes:
        name: How records and messages call it, such as ``openai:gpt-5.1``.
        window: Tokens of messages that it takes; None where that isn't known.
    """

    name: str
    window: int | None = None

    @property
    def secrets(self) -> Mapping[str, str]:
        """The keys that it asks with, by name, for none of them to be shown to anybody."""
        return {}

    @abstractmethod
    async def query(self, request: Request) -> Reply:
        """Ask once. No retry happens here; ``with_retry`` does that (PROD-2).

        Raises:
            ProviderError: The provider answered with an error, or couldn't be reached.
            ContextLimit: The messages are longer than the model can take (LLM-2).
            MalformedReply: The reply, or the linkage of the request's calls and results,
                breaks the contract (LLM-3, LLM-4, LLM-7).
        """

    def bind(self, intent: str, *, child: bool) -> LLM:  # noqa: ARG002 - for those that need it
        """The handle that one entity queries through, made when the entity is.

        Args:
            intent: What the entity is to do.
            child: Whether another entity spawned it. A batch binds all its children, in
                request order, before the first of them starts (COMP-3).

        Returns:
            The model itself, unless it has something to keep for each entity.
        """
        return self

    def go_on(self, intent: str, heard: Heard) -> LLM:  # noqa: ARG002 - for those that need it
        """The handle of an entity with a past: a fork (``LOOM-4``), or one that is taken up again.

        Args:
            intent: What a fork is to do; the first intent of one that is taken up again.
            heard: What the model has said by then.

        Returns:
            What ``bind`` does, unless the model is one that keeps count.
        """
        return self.bind(intent, child=False)

    async def aclose(self) -> None:  # noqa: B027 - most have nothing to give up
        """Give up what the model holds, such as connections. It can be queried again."""


def check_reply(reply: Reply) -> Reply:
    """Pass on a reply that keeps the contract.

    A reply that was cut off or refused before anything came is told apart from an empty one.

    Raises:
        MalformedReply: It has neither content nor tool calls (LLM-3), or two calls of the
            same id (LLM-4).
    """
    if not reply.content and not reply.tool_calls:
        raise MalformedReply(_EMPTY.get(reply.stop_reason, _NOTHING))
    seen: set[str] = set()
    for call in reply.tool_calls:
        if call.id in seen:
            raise MalformedReply(f"duplicate tool call ID: {call.id!r} stands twice in one reply")
        seen.add(call.id)
    return reply


_NOTHING = "llm returned neither content nor tool_calls"
_EMPTY: dict[str, str] = {
    "length": "the reply was cut off at its token limit before anything came: raise max_tokens",
    "refusal": "the llm refused to answer, and gave no reason",
}


def check_linkage(messages: Iterable[Message]) -> None:
    """Check that each tool call is answered once, right after it, and nothing else is (LLM-7).

    Raises:
        MalformedReply: A result answers no call that is open, or a call has no result.
    """
    unanswered: list[str] = []
    for message in messages:
        if message.role != "tool":
            _refuse_unanswered(unanswered)
            unanswered = [call.id for call in message.tool_calls]
        elif message.tool_call_id in unanswered:
            unanswered.remove(message.tool_call_id)
        else:
            raise MalformedReply(
                f"tool result without matching tool call: {message.tool_call_id!r} answers none"
            )
    _refuse_unanswered(unanswered)


def _refuse_unanswered(unanswered: list[str]) -> None:
    if unanswered:
        raise MalformedReply(f"tool call without a result: {unanswered[0]!r}")
