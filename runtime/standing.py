"""Where the entities of a tree stood when the process that they lived in was over."""

from __future__ import annotations

import datetime as dt
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from .errors import ResumeError
from .hearing import heard
from .images import Images
from .llm import Usage
from .loom import (
    CallRecord,
    EntityRecord,
    EntityView,
    Given,
    IdentityRecord,
    IntentRecord,
    Loom,
    ReplyRecord,
    ResumeRecord,
    RewardRecord,
    Step,
    Uttered,
)
from .origin import Origin
from .replay import Past, obstacle
from .spawn import ChildSpec, open_and_closed


@dataclass
class Standing:
    """What one entity had come to.

    Attributes:
        usage: Tokens of it and all below it.
        cast_usage: Those since its newest intent.
        entities: Entities below it.
        spent_s: Seconds that its newest cast was worked on.
    """

    usage: Usage = field(default_factory=Usage)
    cast_usage: Usage = field(default_factory=Usage)
    entities: int = 0
    spent_s: float = 0.0
    _seen: dt.datetime | None = None

    def given(self, at: dt.datetime) -> None:
        """A cast of its own begins."""
        self.cast_usage, self.spent_s, self._seen = Usage(), 0.0, at

    def spend(self, usage: Usage) -> None:
        """Count a query's tokens."""
        self.usage += usage
        self.cast_usage += usage

    def seen(self, at: dt.datetime, is_back: bool) -> None:
        """Something of it or below it was recorded; the time that nobody lived doesn't count."""
        if self._seen is not None and not is_back:
            self.spent_s += max((at - self._seen).total_seconds(), 0.0)
        self._seen = at


class Standings:
    """Where the entities of a root's tree stood, and their pasts.

    Args:
        loom: The loom.
        root: The root.
        trust: Whether to load images that this user's key has not signed.

    Attributes:
        turns: Utterances of the whole tree.
        deepest: The deepest level that was reached.
        count: Entities of the tree that have begun.

    Raises:
        LoomError: A record can't be read.
    """

    def __init__(self, loom: Loom, root: EntityView, trust: bool = False) -> None:
        self._loom = loom
        self._trust = trust
        self._above: dict[str, tuple[str, ...]] = {}  # an entity, and those that it is below
        self._of: dict[str, Standing] = {}
        self.turns = self.deepest = self.count = 0
        for _, at, record in loom.records():
            if isinstance(record, EntityRecord):
                self._enter(record, root.id)
            elif not isinstance(record, IdentityRecord | RewardRecord):
                for standing in self._standings(record.entity):
                    is_back = isinstance(record, ResumeRecord)
                    standing.seen(dt.datetime.fromisoformat(at), is_back)
            if isinstance(record, ReplyRecord):
                self._count_reply(record)
            elif isinstance(record, IntentRecord):
                self._count_intent(record, dt.datetime.fromisoformat(at))

    def of(self, entity_id: str) -> Standing:
        """Where one entity stood."""
        return self._of[entity_id]

    def past(self, own: EntityView, spec: ChildSpec) -> Past:
        """What an entity that is taken up again was.

        Args:
            own: The entity.
            spec: What it is made of.

        Raises:
            ResumeError: One that is made so can't have that past, or goes on from no such turn.
        """
        if own.medium != spec.medium:
            raise ResumeError(
                f"entity {own.id!r} lived in a {own.medium} circle, and the cantrip's is "
                f"{spec.medium}: take it up with a cantrip of its own medium"
            )
        steps = self._loom.lineage(own.id)
        opened, closed = open_and_closed(spec)
        gates = {*opened, *closed}
        begun = _unfinished(steps, own, gates)
        point = own.forked_from or own.spawned_by
        return Past(
            node=None if point is None else point.node,
            steps=tuple(steps[:begun]),
            seed=own.seed,
            heard=heard(self._loom, spec.llm.name, steps, own),
            origin=Origin(None, Images(self._loom, gates, self._trust), 1),
            own=own,
            rest=tuple(steps[begun:]),
            fault=ResumeError,
        )

    def _enter(self, record: EntityRecord, root: str) -> None:
        point = record.spawned_by
        parent = "" if point is None else self._loom.turn(point.node).entity_id
        if record.id == root or parent in self._above:
            self._above[record.id] = (record.id, *self._above.get(parent, ()))
            self._of[record.id] = Standing()

    def _standings(self, entity_id: str) -> Iterator[Standing]:
        """Those of an entity of the tree and of those that it is below."""
        return (self._of[one] for one in self._above.get(entity_id, ()))

    def _count_reply(self, record: ReplyRecord) -> None:
        for standing in self._standings(record.entity):
            standing.spend(record.reply.usage)
        self.turns += record.entity in self._above

    def _count_intent(self, record: IntentRecord, at: dt.datetime) -> None:
        if record.entity not in self._above:
            return
        own, *above = self._standings(record.entity)
        own.given(at)
        if record.cast == 1:
            self.count += 1
            self.deepest = max(self.deepest, len(above))
            for standing in above:
                standing.entities += 1


def _unfinished(steps: Sequence[Step], own: EntityView, gates: set[str]) -> int:
    """The place of the utterance that has to be carried out again; past the end where none has.

    It is the last one of a cast that has not ended, be it that only the end is missing, unless
    nothing can come of it any more.

    Raises:
        ResumeError: It has done its work, and what it handed in can't be had any more.
    """
    places = [place for place, step in enumerate(steps) if isinstance(step, Given | Uttered)]
    last = places[-1] if places else 0
    step = steps[last] if places else None
    if not own.is_at_work or not isinstance(step, Uttered) or step.entity_id != own.id:
        return len(steps)
    if not step.is_whole:
        return last
    final = step.parts[-1]
    is_undone = final.replayable and final.state == "rolled_back"
    if not is_undone and obstacle(step, gates) is None:
        return last
    if any(map(_is_answer, (call for part in step.parts for call in part.calls))):
        raise ResumeError(
            f"turn {step.turn} of {own.id!r} handed in an answer and was cut off; the answer is "
            f"not on record: fork from turn {step.turn - 1}"
        )
    return len(steps)


def _is_answer(call: CallRecord) -> bool:
    """Whether a call handed in the answer, which stands only in the end of its cast."""
    return call.state == "ended" and call.result is None and call.failure is None
