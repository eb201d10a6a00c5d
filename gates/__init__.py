"""Gates: host functions with a schema, through which an entity reaches what is outside."""

from .delegation import ChildRequest, call_entity, call_entity_batch, parse_batch, parse_request
from .done import done
from .echo import echo
from .errors import GateArgumentError, GateFault, GateTimeout, UnknownGate
from .fetch import fetch
from .files import list_dir, read, write
from .gate import Gate, gate
from .registry import STANDARD, find
from .search import search

__all__ = [
    "STANDARD",
    "ChildRequest",
    "Gate",
    "GateArgumentError",
    "GateFault",
    "GateTimeout",
    "UnknownGate",
    "call_entity",
    "call_entity_batch",
    "done",
    "echo",
    "fetch",
    "find",
    "gate",
    "list_dir",
    "parse_batch",
    "parse_request",
    "read",
    "search",
    "write",
]
