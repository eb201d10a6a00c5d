"""What the index needs of each record: its ids and ordinals, without what it says.

A store gives them without the record, so that a large loom opens quickly.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import msgpack

from ..errors import LoomError

Brief = tuple[Any, ...]
"""A record's ids and ordinals; ``BRIEFS`` tells which and in which order."""


def brief_of(kind: str, fields: Mapping[str, Any]) -> Brief:
    """The brief of a record.

    Args:
        kind: Its kind's name.
        fields: Its fields as they are packed.

    Raises:
        LoomError: The kind is unknown, or a field that it needs is missing.
    """
    if kind not in BRIEFS:
        raise unknown_kind(kind)
    try:
        return BRIEFS[kind](fields)
    except (KeyError, TypeError) as error:
        raise LoomError(f"the {kind} record can't be read: {error} is missing") from None


def unknown_kind(kind: str) -> LoomError:
    """The error for a kind of record that this circlet doesn't know."""
    return LoomError(f"unknown kind of record: {kind!r}; a newer circlet may have written it")


def _node_of(point: Mapping[str, Any] | None) -> Any:
    return None if point is None else point["node"]


def _reply(it: Mapping[str, Any]) -> Brief:
    usage = it["reply"]["usage"]
    tokens = (usage["prompt_tokens"], usage["completion_tokens"], usage["cached_tokens"])
    return (it["entity"], it["turn"], *tokens)


BRIEFS: dict[str, Callable[[Mapping[str, Any]], Brief]] = {
    "identity": lambda it: (it["id"],),
    "entity": lambda it: (
        it["id"],
        it["identity_id"],
        _node_of(it["spawned_by"]),
        _node_of(it.get("forked_from")),
    ),
    "intent": lambda it: (it["entity"],),
    "reply": _reply,
    "call": lambda it: (it["entity"], it["turn"], it["k"]),
    "node": lambda it: (it["id"], it["parent"], it["entity"], it["sequence"], it["turn"]),
    "end": lambda it: (it["entity"], it["node"]),
    "decision": lambda it: (it["entity"],),
    "fold": lambda it: (it["entity"],),
    "image": lambda it: (it["entity"], it["node"]),
    "resume": lambda it: (it["entity"],),
    "reward": lambda it: (it["node"], it["value"]),
}
"""How the brief of each kind is taken from its fields."""


def pack_brief(brief: Brief) -> bytes:
    """A brief as bytes.

    Raises:
        LoomError: An ordinal in it is too large.
    """
    try:
        packed: bytes = msgpack.packb(brief, unicode_errors="surrogatepass")
    except (OverflowError, ValueError) as error:
        raise LoomError(f"a record can't be written: {error}") from None
    return packed


def unpack_brief(packed: bytes) -> Brief:
    """The brief that ``pack_brief`` made these bytes of.

    Raises:
        LoomError: They are damaged.
    """
    try:
        brief = msgpack.unpackb(packed, use_list=False, unicode_errors="surrogatepass")
    except (TypeError, ValueError, msgpack.UnpackException) as error:
        raise LoomError(f"a record's brief can't be read: {error}") from None
    if type(brief) is not tuple:
        raise LoomError("a record's brief can't be read: it is no list")
    return brief
