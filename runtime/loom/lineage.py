"""What an entity has lived through: its intents and utterances, and those that it is forked from.

A path through the tree is not that: a child's runs through nodes of its parent, which the child
must not see (``COMP-4``).
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

from ..llm.base import Message, Reply
from .index import EntityEntry, Index
from .records import EntityRecord, FoldRecord, IntentRecord, NodeRecord, ReplyRecord, ResumeRecord
from .turn import Turn


class Given(NamedTuple):
    """An intent that an entity was given.

    Attributes:
        intent: Its record.
        difference: What the entity was told beside it of a past that was run again, or None.
    """

    intent: IntentRecord
    difference: str | None


class Uttered(NamedTuple):
    """An utterance, and what was observed of it.

    Attributes:
        entity_id: Whose it is.
        turn: Ordinal of the utterance.
        reply: What the model said.
        parts: Its nodes, in order; none where it never came to one.
    """

    entity_id: str
    turn: int
    reply: Reply
    parts: tuple[Turn, ...]

    @property
    def is_whole(self) -> bool:
        """Whether its last part is on record."""
        return bool(self.parts) and self.parts[-1].last

    @property
    def told(self) -> tuple[Message, ...]:
        """The messages that told the model what was observed of it."""
        observation = self.parts[-1].observation
        told = (observation.text,) if observation.told is None else observation.told
        calls = self.reply.tool_calls
        if not calls:
            return tuple(Message("user", text) for text in told)
        if observation.told is None:
            told *= len(calls)
        return tuple(
            Message("tool", text, tool_call_id=call.id)
            for call, text in zip(calls, told, strict=True)
        )


class Resumed(NamedTuple):
    """What an entity was told of its past when it was taken up again and that was not the same.

    Attributes:
        difference: What it first showed differently.
    """

    difference: str


class Folded(NamedTuple):
    """Turns of an entity were folded in what its model is told from then on.

    Attributes:
        entity_id: Whose they are.
        last: The last of them.
    """

    entity_id: str
    last: int


Step = Given | Uttered | Folded | Resumed


def lineage(index: Index, entity_id: str, last: int | None = None) -> list[Step]:
    """What an entity was given and said, in order, what it is forked from included.

    Args:
        index: The loom's index.
        entity_id: The entity.
        last: Its last turn that counts. Default: all of them, and what came after.
    """
    spans: list[tuple[EntityEntry, int | None]] = []
    entry = index.entity(entity_id)
    while True:
        spans.append((entry, last))
        origin = index.load(entry.n, EntityRecord).forked_from
        if origin is None:
            return [step for span in reversed(spans) for step in _own(index, *span)]
        node = index.node(origin.node)
        last = index.load(node.n, NodeRecord).turn
        entry = index.entities[node.entity]


def _own(index: Index, entry: EntityEntry, last: int | None) -> Iterator[Step]:
    """One entity's own steps, to the end of a turn."""
    difference = index.load(entry.n, EntityRecord).difference
    parts: dict[int, list[Turn]] = {}
    for node in entry.nodes:
        turn = Turn(index, index.nodes[node])
        parts.setdefault(turn.turn, []).append(turn)
    turns = {n: turn for turn, n in entry.replies.items() if last is None or turn <= last}
    end = index.last if last is None else max(turns, default=0)
    intents, folds = set(entry.intents), set(entry.folds)
    for n in sorted([*intents, *turns, *folds, *entry.resumes]):
        if n > end:
            return
        if n in intents:
            yield Given(index.load(n, IntentRecord), difference)
        elif n in turns:
            reply = index.load(n, ReplyRecord).reply
            yield Uttered(entry.id, turns[n], reply, tuple(parts.get(turns[n], ())))
        elif n in folds:
            yield Folded(entry.id, index.load(n, FoldRecord).last)
        elif told := index.load(n, ResumeRecord).difference:
            yield Resumed(told)
