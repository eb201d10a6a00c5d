"""What stands in the records of a loom: places in its tree, observations, verdicts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal, NamedTuple

Ending = Literal["terminated", "truncated", "failed", "not_started"]
"""How a cast ended (``LOOM-7``): by itself, by a ward, by an error, or before it began."""
State = Literal["kept", "rolled_back", "lost"]
"""What became of the sandbox's state in a node."""
Strategy = Literal["snapshot", "replay"]
"""How a fork came by its state (``LOOM-13``): a copy of the original's, or its turns run again."""
MORE_CALLS = "..."
"""What stands for a gate's name where an observation says how many more calls there were."""


class SpawnPoint(NamedTuple):
    """Where a child was spawned (``COMP-5``).

    Attributes:
        node: Id of the node that the child's turns hang under.
        call: ``k`` of the delegating call within its utterance.
        position: Place in the batch, from 0; 0 for a single child.
    """

    node: str
    call: int
    position: int = 0


class ForkPoint(NamedTuple):
    """Where a fork left the original (``LOOM-4``).

    Attributes:
        node: Id of the last node that both have.
        strategy: How its state was made again (``LOOM-13``).
    """

    node: str
    strategy: Strategy


@dataclass(frozen=True, slots=True)
class ContextRef:
    """A context that an entity was given; ``Loom.keep`` makes one, ``Loom.fetch`` reads it.

    Attributes:
        digest: SHA-256 of the codec's bytes in the store's blobs; None when they are in ``data``.
        data: The codec's bytes when they are few; else None.
        size: How many bytes they are.
        text: Type, size and a preview.
    """

    digest: str | None
    data: bytes | None
    size: int
    text: str


@dataclass(frozen=True, slots=True)
class Sent:
    """What a model was sent for a reply, told by what was not yet sent for the reply before.

    Attributes:
        kept: How many messages it begins with that stood at the beginning for the reply before.
        messages: The codec's bytes of the messages that follow them, as plain values.
        tools: The codec's bytes of the tools, as plain values; None where they are as before.
    """

    kept: int
    messages: bytes
    tools: bytes | None = None


@dataclass(frozen=True, slots=True)
class ObservedCall:
    """One gate call as an observation tells of it.

    Attributes:
        gate: The gate's name.
        arguments: The arguments as text: JSON where they can be written so.
        result: The result as text, or the error.
        is_error: Whether the call failed (``CIRCLE-5``).
    """

    gate: str
    arguments: str
    result: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class Observation:
    """What the circle answered to an utterance, or to a part of one.

    Attributes:
        records: The gate calls, in order (``CIRCLE-7``).
        printed: What the program printed.
        value: The last expression's value as shown, or None.
        error: The program's error as shown, or None.
        text: The observation as the model was shown it.
        is_error: Whether it tells of an error.
        told: What each message told the model, in order; None where ``text`` is the only one.
        before: What ``text`` tells of the session before the turn's programs ran: not what they
            showed, and nothing that they would show again.
    """

    records: tuple[ObservedCall, ...]
    printed: str
    value: str | None
    error: str | None
    text: str
    is_error: bool
    told: tuple[str, ...] | None = None
    before: str = ""


class Verdict(NamedTuple):
    """What a verifier said of an entity's work.

    Attributes:
        criterion: What was asked of it, in a few words.
        oracle: What said so: a function's name, or the command.
        passed: Whether it was met.
        exit_code: The command's exit code; None where it is a function, or never ended.
    """

    criterion: str
    oracle: str
    passed: bool
    exit_code: int | None = None
