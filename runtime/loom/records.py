"""The facts that a loom is made of, one dataclass a kind.

Records are immutable and refer to each other by id. An entity's own values (arguments,
results, context) stand in them as the codec's bytes beside a bounded text, so that nobody
has to decode them to show a loom. ``n`` and ``at`` are not in here: the loom gives them on
append. A field that is added later needs a default, so that older looms stay readable.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

from ..errors import LoomError
from ..llm.base import Reply
from .values import (
    ContextRef,
    Ending,
    ForkPoint,
    Observation,
    Sent,
    SpawnPoint,
    State,
    Verdict,
)


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
        seed: What its session's random numbers begin with, for its turns to be run again.
        difference: What a fork's past first showed differently when it was run again, or None.
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
    seed: int | None = None
    difference: str | None = None


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
        turn: Ordinal of the utterance within the entity, over all its casts, from 1; a fork
            counts on from the turn that it was forked from.
        reply: What the model said, and the tokens that it took.
        sent: What it was sent; None in looms that don't say.
    """

    entity: str
    turn: int
    reply: Reply
    sent: Sent | None = None


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
        asked: Digest of the arguments as the program gave them, by which the call is known
            again; None for one that never reached its gate, and for one that ends the work.
        failure: The codec's bytes of the error, for replay; None when it did not fail.
        reads: The codec's bytes of what the program had read of clocks and chance since the call
            before, for replay; None where it had read none.
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
    asked: bytes | None = None
    failure: bytes | None = None
    reads: bytes | None = None


@dataclass(frozen=True, slots=True)
class NodeRecord:
    """A turn, or one part of a turn that delegated.

    Attributes:
        id: Unique in the loom (``LOOM-2``).
        parent: The entity's node before; for its first, the node that it hangs under; None
            for the first node of a root.
        entity: Whose node it is.
        sequence: Ordinal of the node within the entity, from 1.
        turn: Ordinal of the utterance within the entity, as in its reply.
        part: Ordinal of the part within the turn, from 1.
        last: Whether it is the turn's last part.
        observation: What was observed in this part.
        calls: ``k`` of each call in this part, in order.
        delegated: Ids of the entities that the call which ended this part spawned.
        state: What became of the sandbox's state.
        duration_ms: How long the part took, in milliseconds; above 0 (``LOOM-9``).
        replayable: Whether the turn would do the same again: one that was cut off would not.
        reads: The codec's bytes of what the turn's programs read of clocks and chance after its
            last call, for replay; None where they read none, or it is not the last part.
        exits: How each of the turn's programs ended, as a command's exit code: 0, 1 with an
            error, 124 at its time limit, 137 killed. Only in the last part.

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
    replayable: bool = True
    reads: bytes | None = None
    exits: tuple[int, ...] = ()

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
class FoldRecord:
    """Turns were folded in what the model is told from then on; all of them stay (``LOOM-5``).

    Attributes:
        entity: Whose turns.
        first: The first of them: utterances from 1.
        last: The last of them.
        text: What stands for them, its marker included.
    """

    entity: str
    first: int
    last: int
    text: str


@dataclass(frozen=True, slots=True)
class DecisionRecord:
    """A person decided about a gate call.

    Attributes:
        entity: Whose call it is.
        turn: Ordinal of the utterance.
        k: Ordinal of the call within the utterance, as in its own record.
        gate: The gate's name.
        answer: Whether the call was ``allowed`` or ``refused``.
        by: Who decided.
        note: What they said to it, or None.
    """

    entity: str
    turn: int
    k: int
    gate: str
    answer: Literal["allowed", "refused"]
    by: str
    note: str | None = None


@dataclass(frozen=True, slots=True)
class ImageRecord:
    """The state of an entity's sandbox was written down, for its turns not to be run again.

    Attributes:
        entity: Whose state.
        node: Id of the node at whose end it is.
        digest: SHA-256 of the image in the store's blobs, in hex.
        size: How many bytes it is.
        versions: What it is bound to, by name: ``python``, ``circlet``, ``policy``.
        left_out: Variables that it lacks, each with the reason.
    """

    entity: str
    node: str
    digest: str
    size: int
    versions: dict[str, Any]
    left_out: dict[str, Any]


@dataclass(frozen=True, slots=True)
class ResumeRecord:
    """An entity was taken up again: the process that it had lived in was over.

    Attributes:
        entity: Which.
        difference: What its past first showed differently when it was lived again, which its
            model is told; None where all was the same.
    """

    entity: str
    difference: str | None = None


@dataclass(frozen=True, slots=True)
class RewardRecord:
    """A node was judged. The newest reward of a node counts; all of them stay (``LOOM-3``).

    Attributes:
        node: Id of the node.
        value: The reward, a finite number.
        by: Who gave it.
        verdict: What a verifier said; None where a person or a program gave it.

    Raises:
        LoomError: The value is not finite.
    """

    node: str
    value: float
    by: str
    verdict: Verdict | None = None

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
    | DecisionRecord
    | FoldRecord
    | ImageRecord
    | ResumeRecord
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
    "decision": DecisionRecord,
    "fold": FoldRecord,
    "image": ImageRecord,
    "resume": ResumeRecord,
    "reward": RewardRecord,
}
"""Every kind of record, by the name that a store knows it by."""
