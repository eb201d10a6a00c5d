"""The facts that a loom is made of, one dataclass a kind.

Records are immutable and refer to each other by id. An entity's own values (arguments,
results, context) stand in them as the codec's bytes beside a bounded text, so that nobody
has to decode them to show a loom. ``n`` and ``at`` are not in here: the loom gives them on
append. A field that is added later needs a default, so that older looms stay readable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

from ..errors import LoomError
from ..llm.base import Reply

Ending = Literal["terminated", "truncated", "failed", "not_started"]
"""How a cast ended (``LOOM-7``): by itself, by a ward, by an error, or before it began."""
State = Literal["kept", "rolled_back", "lost"]
"""What became of the sandbox's state in a node."""


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
    strategy: Literal["snapshot", "replay"]


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
class IdentityRecord:
    """An identity: the root of what follows (``IDENTITY-4``).

    Attributes:
        id: Unique in the loom.
        cantrip_id: The cantrip that has it.
        system_prompt: The prompt, or None.
        hyperparameters: By name.
        tools_digest: SHA-256 of the tool definitions that went with it, in hex.
        tool_choice: Which tools the model had to call (``LLM-5``), or None.
    """

    id: str
    cantrip_id: str
    system_prompt: str | None
    hyperparameters: dict[str, Any]
    tools_digest: str
    tool_choice: str | None = None


@dataclass(frozen=True, slots=True)
class EntityRecord:
    """An entity came into being.

    Attributes:
        id: Unique in the loom (``ENTITY-2``).
        cantrip_id: Its cantrip.
        identity_id: Its identity, recorded before.
        spawned_by: Where its parent spawned it; None for a root.
        depth: 0 for a root, one more a level.
        wards: The resolved wards, by name.
        medium: Name of the medium.
        model: Name of the LLM.
        intent: The first intent.
        context: The context it was given, or None.
        forked_from: Where it left another entity's path; None when it is no fork.
    """

    id: str
    cantrip_id: str
    identity_id: str
    spawned_by: SpawnPoint | None
    depth: int
    wards: dict[str, Any]
    medium: str
    model: str
    intent: str
    context: ContextRef | None = None
    forked_from: ForkPoint | None = None


@dataclass(frozen=True, slots=True)
class IntentRecord:
    """An intent was given; a cast begins.

    Attributes:
        entity: Who got it.
        cast: Ordinal of the cast within the entity, from 1.
        text: The intent.
        context: A context that came with it, or None.
        after: Id of the node that it follows; None when it is the first thing.
    """

    entity: str
    cast: int
    text: str
    context: ContextRef | None = None
    after: str | None = None


@dataclass(frozen=True, slots=True)
class ReplyRecord:
    """The model replied; written before anything in the reply is carried out.

    Attributes:
        entity: Whose utterance it is.
        turn: Ordinal of the utterance within the entity, over all its casts, from 1.
        reply: What the model said, and the tokens that it took.
    """

    entity: str
    turn: int
    reply: Reply


@dataclass(frozen=True, slots=True)
class CallRecord:
    """A gate call began, or ended. An idempotent gate's call has no beginning on record.

    Attributes:
        entity: Who called.
        turn: Ordinal of the utterance.
        k: Ordinal of the call within the utterance, from 1, over all parts of the turn.
        gate: The gate's name.
        arguments: The codec's bytes of the arguments by name.
        arguments_text: A bounded text of them.
        state: ``begun`` or ``ended``.
        result: The codec's bytes of the result, for replay; None while there is none.
        text: A bounded text of the result or the error.
        is_error: Whether the call failed.
        duration_ms: How long it took; None when it only began.
    """

    entity: str
    turn: int
    k: int
    gate: str
    arguments: bytes
    arguments_text: str
    state: Literal["begun", "ended"]
    result: bytes | None = None
    text: str = ""
    is_error: bool = False
    duration_ms: float | None = None


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
    """

    records: tuple[ObservedCall, ...]
    printed: str
    value: str | None
    error: str | None
    text: str
    is_error: bool


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A turn, or one part of a turn that delegated.

    Attributes:
        id: Unique in the loom (``LOOM-2``).
        parent: The entity's node before; for its first, the node that it hangs under; None
            for the first node of a root.
        entity: Whose node it is.
        sequence: Ordinal of the node within the entity, from 1.
        turn: Ordinal of the utterance within the entity, from 1.
        part: Ordinal of the part within the turn, from 1.
        last: Whether it is the turn's last part.
        observation: What was observed in this part.
        calls: ``k`` of each call in this part, in order.
        delegated: Ids of the entities that the call which ended this part spawned.
        state: What became of the sandbox's state.
        duration_ms: How long the part took, in milliseconds; above 0 (``LOOM-9``).

    Raises:
        LoomError: The duration is not above 0.
    """

    id: str
    parent: str | None
    entity: str
    sequence: int
    turn: int
    part: int
    last: bool
    observation: Observation
    calls: tuple[int, ...]
    delegated: tuple[str, ...]
    state: State
    duration_ms: float

    def __post_init__(self) -> None:
        if not self.duration_ms > 0:
            raise LoomError(f"node {self.id!r} took {self.duration_ms!r} ms: it must be above 0")


@dataclass(frozen=True, slots=True)
class EndRecord:
    """A cast ended.

    Attributes:
        entity: Whose cast it was.
        cast: Ordinal of the cast within the entity, from 1.
        node: Id of the cast's last node; None when it came to none.
        outcome: How it ended (``LOOM-7``).
        reason: One word for why, such as ``done`` or ``max_turns``, or the error.
        result: The codec's bytes of the result; None when there is none.
        result_text: A bounded text of it.
        summary: What a truncated cast had done (``LOOP-4``), or None.
    """

    entity: str
    cast: int
    node: str | None
    outcome: Ending
    reason: str
    result: bytes | None = None
    result_text: str = ""
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class RewardRecord:
    """A node was judged. The newest reward of a node counts; all of them stay (``LOOM-3``).

    Attributes:
        node: Id of the node.
        value: The reward, a finite number.
        by: Who gave it.

    Raises:
        LoomError: The value is not finite.
    """

    node: str
    value: float
    by: str

    def __post_init__(self) -> None:
        if not math.isfinite(self.value):
            raise LoomError(f"a reward must be a finite number, not {self.value!r}")


Record = (
    IdentityRecord
    | EntityRecord
    | IntentRecord
    | ReplyRecord
    | CallRecord
    | NodeRecord
    | EndRecord
    | RewardRecord
)

KINDS: dict[str, type[Record]] = {
    "identity": IdentityRecord,
    "entity": EntityRecord,
    "intent": IntentRecord,
    "reply": ReplyRecord,
    "call": CallRecord,
    "node": NodeRecord,
    "end": EndRecord,
    "reward": RewardRecord,
}
"""Every kind of record, by the name that a store knows it by."""
