"""Runs Python for anybody: a namespace in a process of its own, behind two walls.

The names are loaded when they are first used: a zygote imports this package and is to hold
nothing but what its workers need.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .checkpoint import AsyncCheckpoint, Checkpoint
    from .execution import ErrorInfo, Execution, GateCall, RollBack
    from .limits import Limits
    from .outcomes import ChildFailed, GateInterrupted, Truncated
    from .session import AsyncSandbox, Sandbox

_HOMES = {
    "AsyncCheckpoint": "checkpoint",
    "AsyncSandbox": "session",
    "Checkpoint": "checkpoint",
    "ChildFailed": "outcomes",
    "ErrorInfo": "execution",
    "Execution": "execution",
    "GateCall": "execution",
    "GateInterrupted": "outcomes",
    "Limits": "limits",
    "RollBack": "execution",
    "Sandbox": "session",
    "Truncated": "outcomes",
}

__all__ = [
    "AsyncCheckpoint",
    "AsyncSandbox",
    "Checkpoint",
    "ChildFailed",
    "ErrorInfo",
    "Execution",
    "GateCall",
    "GateInterrupted",
    "Limits",
    "RollBack",
    "Sandbox",
    "Truncated",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(f".{_HOMES[name]}", __name__), name)
