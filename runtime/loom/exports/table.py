"""``parquet``: a row a turn, typed, for reckoning with."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Iterator
from typing import IO, Any

from ...errors import LoomError
from ...jsonable import to_json
from ...llm.base import Message
from ..attempts import Attempt, attempts
from ..entities import EntityView
from ..history import History
from ..index import Index
from ..lineage import Uttered
from ..lines import opened
from ..values import ObservedCall
from .messages import Writer

ROWS = 1_000
"""Rows that are written at once."""
CHARS = 16_000_000
"""Characters of their texts after which fewer are."""

_CALL = "list<struct<gate: string, arguments: string, result: string, is_error: bool>>"
_TOOL_CALL = "list<struct<id: string, name: string, arguments: string>>"
COLUMNS: dict[str, tuple[str, str]] = {
    "entity": ("string", "Id of the entity."),
    "cast": ("int32", "Ordinal of the cast within the entity, from 1."),
    "turn": ("int32", "Ordinal of the utterance within the entity, from 1; a fork counts on."),
    "is_last": ("bool", "Whether it is the cast's last."),
    "node": ("string", "Id of its last node; null where the turn came to none."),
    "parts": ("int32", "How many nodes it has: more than one where it delegated."),
    "at": ("timestamp[us, tz=UTC]", "When the model's reply was recorded."),
    "depth": ("int32", "The entity's level; 0 for a root."),
    "cantrip": ("string", "Id of the cantrip."),
    "model": ("string", "Name of the model."),
    "medium": ("string", "Name of the medium."),
    "intent": ("string", "The cast's intent."),
    "spawned_by": ("string", "Id of the node that the entity was spawned under, or null."),
    "forked_from": ("string", "Id of the node that the entity is forked from, or null."),
    "utterance": ("string", "What the model said, or null where it only called tools."),
    "thinking": ("string", "Reasoning that the provider showed, or null."),
    "tool_calls": (_TOOL_CALL, "Its calls of tools; arguments as JSON."),
    "stop_reason": ("string", "`stop`, `tool_calls`, `length` or `refusal`."),
    "observation": ("string", "What the model was told of it, or null where nothing was."),
    "is_error": ("bool", "Whether that tells of an error."),
    "gate_calls": (_CALL, "Calls of gates as the observation tells them."),
    "delegated": ("list<string>", "Ids of the entities that it spawned."),
    "state": ("string", "What became of the sandbox: `kept`, `rolled_back` or `lost`."),
    "prompt_tokens": ("int64", "Tokens in, cached ones included."),
    "completion_tokens": ("int64", "Tokens out."),
    "cached_tokens": ("int64", "How many of those in came from the provider's cache."),
    "duration_ms": ("float64", "How long it was carried out, in milliseconds."),
    "reward": ("float64", "The newest reward of its last node, or null."),
    "passed": ("bool", "On a cast's last turn that is judged: whether it passed."),
    "outcome": (
        "string",
        "How the cast ended: `terminated`, `truncated`, `failed`; null where it has not.",
    ),
    "reason": ("string", "Why: `done`, the ward, or the error."),
    "result": ("string", "On the last turn: what the cast came to, as JSON, or null."),
}
"""The columns by name: their type, and what stands in them."""


def write_table(index: Index, writer: Writer, target: str | IO[bytes]) -> None:
    """Write the table, some rows at a time.

    Raises:
        LoomError: pyarrow is not installed, or the loom is damaged.
    """
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        raise LoomError(
            "an export as parquet needs pyarrow: pip install 'circlet[parquet]'"
        ) from None
    schema = _schema(pyarrow)
    with parquet.ParquetWriter(target, schema) as out:
        for rows in _batches(_rows(index, writer)):
            out.write_table(pyarrow.Table.from_pylist(rows, schema))


def _schema(arrow: Any) -> Any:
    def struct(*names: str, **others: Any) -> Any:
        texts = [(name, arrow.string()) for name in names]
        return arrow.list_(arrow.struct([*texts, *others.items()]))

    kinds = {
        "string": arrow.string(),
        "int32": arrow.int32(),
        "int64": arrow.int64(),
        "float64": arrow.float64(),
        "bool": arrow.bool_(),
        "timestamp[us, tz=UTC]": arrow.timestamp("us", "UTC"),
        "list<string>": arrow.list_(arrow.string()),
        _TOOL_CALL: struct("id", "name", "arguments"),
        _CALL: struct("gate", "arguments", "result", is_error=arrow.bool_()),
    }
    return arrow.schema([(name, kinds[kind]) for name, (kind, _) in COLUMNS.items()])


def _batches(rows: Iterator[dict[str, Any]]) -> Iterator[list[dict[str, Any]]]:
    batch: list[dict[str, Any]] = []
    chars = 0
    for row in rows:
        batch.append(row)
        chars += sum(len(value) for value in row.values() if isinstance(value, str))
        if len(batch) >= ROWS or chars >= CHARS:
            yield batch
            batch, chars = [], 0
    if batch:
        yield batch


def _rows(index: Index, writer: Writer) -> Iterator[dict[str, Any]]:
    for entry in list(index.entities.values()):
        entity, history = EntityView(index, entry), History(index, entry.id)
        for attempt in attempts(index, entry.id):
            for number in attempt.turns:
                at, _ = index.stored(entry.replies[number])
                yield {
                    **_of_entity(entity),
                    **_of_attempt(attempt, number, writer),
                    **_of_turn(history.turn(number), writer),
                    "at": dt.datetime.fromisoformat(at),
                }


def _of_entity(entity: EntityView) -> dict[str, Any]:
    spawned, forked = entity.spawned_by, entity.forked_from
    return {
        "entity": entity.id,
        "depth": entity.depth,
        "cantrip": entity.cantrip_id,
        "model": entity.model,
        "medium": entity.medium,
        "spawned_by": None if spawned is None else spawned.node,
        "forked_from": None if forked is None else forked.node,
    }


def _of_attempt(attempt: Attempt, turn: int, writer: Writer) -> dict[str, Any]:
    is_last = turn == attempt.turns[-1]
    return {
        "cast": attempt.cast,
        "intent": writer.text(attempt.intent),
        "is_last": is_last,
        "passed": attempt.passed if is_last else None,
        "outcome": attempt.outcome,
        "reason": writer.text(attempt.reason),
        "result": _result(attempt, writer) if is_last else None,
    }


def _result(attempt: Attempt, writer: Writer) -> str | None:
    if attempt.end is None or attempt.end.result is None:
        return None
    return json.dumps(to_json(writer.redacted(opened(attempt.end.result))), allow_nan=False)


def _of_turn(uttered: Uttered, writer: Writer) -> dict[str, Any]:
    reply, parts = uttered.reply, uttered.parts
    [said] = writer.chat([Message("assistant", reply.content, tool_calls=reply.tool_calls)])
    row = {
        "turn": uttered.turn,
        "utterance": said["content"],
        "thinking": writer.text(reply.thinking),
        "tool_calls": [
            {"id": call["id"], **call["function"]} for call in said.get("tool_calls", ())
        ],
        "stop_reason": reply.stop_reason,
        "prompt_tokens": reply.usage.prompt_tokens,
        "completion_tokens": reply.usage.completion_tokens,
        "cached_tokens": reply.usage.cached_tokens,
        "parts": len(parts),
        "delegated": [child for part in parts for child in part.delegated],
        "gate_calls": [_call(call, writer) for part in parts for call in part.observation.records],
    }
    if parts:
        row |= {
            "node": parts[-1].id,
            "observation": writer.text(parts[-1].observation.text),
            "is_error": parts[-1].observation.is_error,
            "state": parts[-1].state,
            "duration_ms": sum(part.metadata.duration_ms for part in parts),
            "reward": parts[-1].reward,
        }
    return row


def _call(call: ObservedCall, writer: Writer) -> dict[str, Any]:
    return {
        "gate": writer.text(call.gate),
        "arguments": writer.text(call.arguments),
        "result": writer.text(call.result),
        "is_error": call.is_error,
    }
