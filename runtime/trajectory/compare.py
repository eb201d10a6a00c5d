"""Compares a trajectory with the loom of its run: what models said has to be the same."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import asdict
from typing import Any

from ..jsonable import to_json
from ..llm import Reply
from ..loom import EntityRecord, Loom, NodeRecord, ReplyRecord
from .plain import shown
from .verify import Fault, Report


def compare(report: Report, loom: Loom, root: str) -> Iterator[Fault]:
    """What the loom has otherwise than the trajectory.

    Args:
        report: What checking the trajectory came to.
        loom: The loom.
        root: Id of the run's root.

    Raises:
        LoomError: A record can't be read.
    """
    models: dict[str, str] = {}  # of the run's entities
    nodes: set[str] = set()
    if root not in loom.entities:
        yield Fault(None, "the loom", f"it has no entity {root}, whose trajectory this is")
    for n, _, record in loom.records():
        if isinstance(record, EntityRecord):
            spawned_by = record.spawned_by
            if record.id == root or (spawned_by is not None and spawned_by.node in nodes):
                models[record.id] = shown(record.model)
        elif isinstance(record, NodeRecord) and record.entity in models:
            nodes.add(record.id)
        elif isinstance(record, ReplyRecord) and record.entity in models:
            told = report.replies.get((record.entity, record.turn))
            what = _difference(told, models[record.entity], _plain(record.reply))
            if what is not None:
                place = f"turn {record.turn} of {record.entity}"
                yield Fault(None, f"the loom's record {n}", f"{place}: {what}")


def _difference(told: tuple[str, Any] | None, model: str, reply: Any) -> str | None:
    if told is None:
        return "the trajectory has no such reply"
    if told[0] != model:
        return f"the model is {model!r} here and {told[0]!r} in the trajectory"
    return None if told[1] == reply else "the reply is another one in the trajectory"


def _plain(reply: Reply) -> Any:
    """A reply as JSON has it."""
    calls = [
        {
            name: value
            for name, value in asdict(call).items()
            if name != "malformed" or value is not None
        }
        for call in reply.tool_calls
    ]
    return json.loads(json.dumps(to_json({**asdict(reply), "tool_calls": calls})))
