"""The loom: an append-only log of facts, and the tree of turns that is read from it."""

from __future__ import annotations

from .entities import EntityView
from .loom import Loom
from .records import (
    KINDS,
    CallRecord,
    ContextRef,
    EndRecord,
    EntityRecord,
    ForkPoint,
    IdentityRecord,
    IntentRecord,
    NodeRecord,
    Observation,
    ObservedCall,
    Record,
    ReplyRecord,
    RewardRecord,
    SpawnPoint,
)
from .sqlite import SQLiteStore
from .store import LoomStore, MemoryStore
from .turn import Metadata, Thread, Turn

__all__ = [
    "KINDS",
    "CallRecord",
    "ContextRef",
    "EndRecord",
    "EntityRecord",
    "EntityView",
    "ForkPoint",
    "IdentityRecord",
    "IntentRecord",
    "Loom",
    "LoomStore",
    "MemoryStore",
    "Metadata",
    "NodeRecord",
    "Observation",
    "ObservedCall",
    "Record",
    "ReplyRecord",
    "RewardRecord",
    "SQLiteStore",
    "SpawnPoint",
    "Thread",
    "Turn",
]
