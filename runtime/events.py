"""What a run tells while it runs: one small value a thing that happens, in order."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from typing import Any

from .llm import Usage
from .redaction import Secrets


@dataclass(frozen=True, slots=True)
class Event:
    """Something that happened to one entity.

    Attributes:
        entity_id: Whom it happened to.
        depth: Its level in the tree; 0 for the root.
    """

    entity_id: str
    depth: int


@dataclass(frozen=True, slots=True)
class EntityStarted(Event):
    """An entity begins with an intent.

    Attributes:
        parent_id: Who spawned it, or None.
        intent: What it is to do.
        model: Name of its model.
    """

    parent_id: str | None
    intent: str
    model: str


@dataclass(frozen=True, slots=True)
class EntityResumed(EntityStarted):
    """An entity goes on with its intent, from where its loom left it.

    Attributes:
        turns: Utterances that it has made.
        usage: Tokens that it and those below it have used up.
    """

    turns: int
    usage: Usage


@dataclass(frozen=True, slots=True)
class StepStarted(Event):
    """A turn begins. ``turn`` is its ordinal, from 1."""

    turn: int


@dataclass(frozen=True, slots=True)
class MessageStarted(Event):
    """The model is asked."""

    turn: int


@dataclass(frozen=True, slots=True)
class QueryRetried(Event):
    """The model can't be asked now, and is asked again after a while (``PROD-2``).

    Attributes:
        turn: Ordinal of the turn.
        retry: Which retry it will be, from 1.
        wait_s: Seconds until then.
        reason: What went wrong.
    """

    turn: int
    retry: int
    wait_s: float
    reason: str


@dataclass(frozen=True, slots=True)
class TurnsFolded(Event):
    """Old turns are told in one message from now on; the loom keeps them whole (``LOOM-5``).

    Attributes:
        last: The last of them; the first is 1.
        text: What stands for them.
    """

    last: int
    text: str


@dataclass(frozen=True, slots=True)
class Thinking(Event):
    """The model's reasoning, as far as the provider shows it."""

    text: str


@dataclass(frozen=True, slots=True)
class Text(Event):
    """Text of the model."""

    text: str


@dataclass(frozen=True, slots=True)
class ToolCalled(Event):
    """The model, or its code, calls a gate.

    Attributes:
        name: The gate's name.
        arguments: A bounded text of the arguments.
    """

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class MessageCompleted(Event):
    """The model's message is whole."""

    turn: int


@dataclass(frozen=True, slots=True)
class ToolResult(Event):
    """What a gate answered.

    Attributes:
        name: The gate's name.
        text: A bounded text of the answer or the error.
        is_error: Whether it failed.
    """

    name: str
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class UsageReported(Event):
    """Tokens of one query, and of the whole tree so far."""

    usage: Usage
    total: Usage


@dataclass(frozen=True, slots=True)
class StepCompleted(Event):
    """A turn is over and recorded.

    Attributes:
        turn: Its ordinal, from 1.
        observation: The observation as the model is shown it.
        is_error: Whether it tells of an error.
    """

    turn: int
    observation: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class EntityEnded(Event):
    """An entity's cast is over.

    Attributes:
        outcome: ``terminated``, ``truncated``, ``failed`` or ``not_started``.
        reason: Why.
    """

    outcome: str
    reason: str


@dataclass(frozen=True, slots=True)
class FinalResponse(Event):
    """The root's cast has a result. ``text`` is a bounded text of it."""

    text: str


Sink = Callable[[Event], None]
"""Takes events as they happen. It must be quick and must not raise."""


def redacted(event: Event, secrets: Secrets) -> Event:
    """An event without the secrets in its texts (``PROD-8``): the same one where there are none."""
    texts: dict[str, Any] = {}
    for field in fields(event):
        value = getattr(event, field.name)
        if isinstance(value, str) and not field.name.endswith("_id"):
            shown = secrets.redact(value)
            if shown != value:
                texts[field.name] = shown
    return replace(event, **texts) if texts else event


def ignore(_: Event) -> None:
    """The sink of a run that nobody watches."""
