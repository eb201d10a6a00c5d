"""What models have said by the record, for one that keeps count to go on after it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence

from .llm import Claimed, Heard
from .loom import EntityView, Loom, NodeRecord, ReplyRecord, Step, Uttered


def heard(loom: Loom, name: str, steps: Sequence[Step], own: EntityView | None = None) -> Heard:
    """What has been heard of a model.

    Args:
        loom: The loom.
        name: The model's name.
        steps: What the entity that goes on has lived through.
        own: The entity itself, where it is on record; None for a fork.
    """
    entities = loom.entities
    replies = Counter(step.entity_id for step in steps if isinstance(step, Uttered))
    if own is not None:
        replies[own.id] += 0  # it may have said nothing yet
    of_it = [
        (entities[entity_id].intent, count)
        for entity_id, count in replies.items()
        if entities[entity_id].model == name
    ]
    return Heard(tuple(of_it), lambda: _claims(loom, name), None if own is None else own.id)


def _claims(loom: Loom, name: str) -> Iterator[Claimed]:
    """Who claimed its first reply when it was spawned, and who said one, in order.

    A child that never began has claimed none by the record: it claims one when it begins.
    """
    entities = loom.entities
    for *_, record in loom.records():
        if isinstance(record, NodeRecord):
            begun = [child for child in record.delegated if child in entities]
            yield from (Claimed(one, None) for one in begun if entities[one].model == name)
        elif isinstance(record, ReplyRecord) and entities[record.entity].model == name:
            yield Claimed(record.entity, record.reply)
