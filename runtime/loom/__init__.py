"""The loom: an append-only log of facts, and the tree of turns that is read from it."""

from __future__ import annotations

from .attempts import Attempt, Group
from .entities import EntityView
from .formats import StoreFormat, format_in
from .history import History
from .jsonl import JSONLStore
from .lineage import Folded, Given, Resumed, Step, Uttered
from .lines import Redaction
from .loom import Loom
from .records import (
    KINDS,
    CallRecord,
    DecisionRecord,
    EndRecord,
    EntityRecord,
    FoldRecord,
    IdentityRecord,
    ImageRecord,
    IntentRecord,
    NodeRecord,
    Record,
    ReplyRecord,
    ResumeRecord,
    RewardRecord,
)
from .sqlite import SQLiteStore
from .store import LoomStore, MemoryStore, Row
from .turn import Metadata, Thread, Turn
from .values import (
    MORE_CALLS,
    ContextRef,
    ForkPoint,
    Observation,
    ObservedCall,
    Sent,
    SpawnPoint,
    Verdict,
)
from .verify import Fault, Verification, verify

__all__ = [
    "KINDS",
    "MORE_CALLS",
    "Attempt",
    "CallRecord",
    "ContextRef",
    "DecisionRecord",
    "EndRecord",
    "EntityRecord",
    "EntityView",
    "Fault",
    "FoldRecord",
    "Folded",
    "ForkPoint",
    "Given",
    "Group",
    "History",
    "IdentityRecord",
    "ImageRecord",
    "IntentRecord",
    "JSONLStore",
    "Loom",
    "LoomStore",
    "MemoryStore",
    "Metadata",
    "NodeRecord",
    "Observation",
    "ObservedCall",
    "Record",
    "Redaction",
    "ReplyRecord",
    "ResumeRecord",
    "Resumed",
    "RewardRecord",
    "Row",
    "SQLiteStore",
    "Sent",
    "SpawnPoint",
    "Step",
    "StoreFormat",
    "Thread",
    "Turn",
    "Uttered",
    "Verdict",
    "Verification",
    "format_in",
    "verify",
]
