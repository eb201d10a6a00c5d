"""circlet: a code medium for recursive entities.

A language model acts by writing Python. Its code runs in a namespace of its own, in a process
of its own, and persists from turn to turn; ``done``, ``call_entity`` and ``call_entity_batch``
are functions in it; a child is a whole new entity; every turn is a node of one tree, the Loom.

The names are loaded when they are first used, for a sandbox's processes import this package
too and are to hold nothing but what they need.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from .gates import Gate, gate
    from .runtime.cantrip import Cantrip
    from .runtime.cast import Cast
    from .runtime.circle import Circle
    from .runtime.folding import Folding
    from .runtime.identity import Identity
    from .runtime.llm import LLM, Retry, ScriptedLLM, llm
    from .runtime.loom import Loom
    from .sandbox import (
        AsyncSandbox,
        ChildFailed,
        ErrorInfo,
        Execution,
        GateCall,
        GateInterrupted,
        Limits,
        Sandbox,
        Truncated,
    )
    from .sandbox.errors import CircletError

_HOMES = {
    "LLM": "runtime.llm",
    "AsyncSandbox": "sandbox",
    "Cantrip": "runtime.cantrip",
    "Cast": "runtime.cast",
    "ChildFailed": "sandbox",
    "Circle": "runtime.circle",
    "CircletError": "sandbox.errors",
    "ErrorInfo": "sandbox",
    "Execution": "sandbox",
    "Folding": "runtime.folding",
    "Gate": "gates",
    "GateCall": "sandbox",
    "GateInterrupted": "sandbox",
    "Identity": "runtime.identity",
    "Limits": "sandbox",
    "Loom": "runtime.loom",
    "Retry": "runtime.llm",
    "Sandbox": "sandbox",
    "ScriptedLLM": "runtime.llm",
    "Truncated": "sandbox",
    "gate": "gates",
    "llm": "runtime.llm",
}

__all__ = [
    "LLM",
    "AsyncSandbox",
    "Cantrip",
    "Cast",
    "ChildFailed",
    "Circle",
    "CircletError",
    "ErrorInfo",
    "Execution",
    "Folding",
    "Gate",
    "GateCall",
    "GateInterrupted",
    "Identity",
    "Limits",
    "Loom",
    "Retry",
    "Sandbox",
    "ScriptedLLM",
    "Truncated",
    "gate",
    "llm",
]


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return getattr(import_module(f".{_HOMES[name]}", __name__), name)


def __dir__() -> list[str]:
    return sorted([*globals(), *__all__])
