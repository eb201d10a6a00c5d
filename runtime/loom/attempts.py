"""Attempts at one task, side by side: what a loom is good for once it is judged.

An attempt is one cast. A group is the attempts at one and the same task: one intent, with the
same context, at the same level, and with the same past. So forks of one turn that were given the
same intent form a group, and so do the casts of one cantrip.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from . import ranking
from .index import EntityEntry, Index
from .records import EndRecord, EntityRecord, IntentRecord, NodeRecord, RewardRecord
from .turn import result_of
from .values import Ending


@dataclass(frozen=True)
class Attempt:
    """One cast, as it is compared with others.

    Attributes:
        entity_id: Who worked on it.
        cast: Ordinal of the cast within the entity, from 1.
        depth: The entity's level; 0 for a root.
        model: Name of its LLM.
        intent: What it was to do.
        turns: Its utterances, by their ordinals within the entity; an empty range for none.
        node: Id of its last node, by which it is judged; None where it came to none.
        end: How it ended; None where it has not.
        judged: Its last node's newest reward; None where it has none.
    """

    entity_id: str
    cast: int
    depth: int
    model: str
    intent: str
    turns: range
    node: str | None
    end: EndRecord | None
    judged: RewardRecord | None

    @property
    def name(self) -> str:
        """What tells it from the others of the loom: ``ENTITY/CAST``."""
        return f"{self.entity_id}/{self.cast}"

    @property
    def outcome(self) -> Ending | None:
        """How it ended (``LOOM-7``); None where it has not."""
        return None if self.end is None else self.end.outcome

    @property
    def reason(self) -> str | None:
        """Why it ended; None where it has not."""
        return None if self.end is None else self.end.reason

    @property
    def result(self) -> Any:
        """What it came to, with its type (``CIRCLE-8``); None where it came to nothing.

        Raises:
            CodecError: The recorded bytes are damaged.
        """
        return result_of(self.end)

    @property
    def reward(self) -> float | None:
        """The newest reward, or None."""
        return None if self.judged is None else self.judged.value

    @property
    def passed(self) -> bool | None:
        """Whether it was found good; None where it is not judged.

        A verifier's verdict says so; a reward that a person or a program gave passes above 0.
        """
        if self.judged is None:
            return None
        verdict = self.judged.verdict
        return self.judged.value > 0 if verdict is None else verdict.passed


@dataclass(frozen=True)
class Group:
    """The attempts at one task, in the order in which they began.

    What is not judged has no rank and no advantage, and counts for nothing.

    Attributes:
        attempts: All of them.
    """

    attempts: tuple[Attempt, ...]

    @property
    def name(self) -> str:
        """The name of its first attempt."""
        return self.attempts[0].name

    @property
    def intent(self) -> str:
        """What all were to do."""
        return self.attempts[0].intent

    @cached_property
    def judged(self) -> tuple[Attempt, ...]:
        """Those that have a reward."""
        return tuple(attempt for attempt in self.attempts if attempt.judged is not None)

    @property
    def rewards(self) -> list[float]:
        """The rewards of those that are judged."""
        return [attempt.judged.value for attempt in self.judged if attempt.judged is not None]

    @property
    def ranks(self) -> dict[str, int]:
        """The rank of each judged attempt by its name: 1 for the highest reward, ties sharing."""
        return self._by_name(ranking.ranks(self.rewards))

    @property
    def tied(self) -> frozenset[str]:
        """Names of those that share their rank with another."""
        ranks = self.ranks
        shared = [*ranks.values()]
        return frozenset(name for name, rank in ranks.items() if shared.count(rank) > 1)

    @property
    def advantages(self) -> dict[str, float]:
        """The advantage of each judged attempt by its name, as in GRPO (``ranking.advantages``)."""
        return self._by_name(ranking.advantages(self.rewards))

    @property
    def leave_one_out(self) -> dict[str, float]:
        """The same as in RLOO (``ranking.leave_one_out``)."""
        return self._by_name(ranking.leave_one_out(self.rewards))

    @property
    def passes(self) -> int:
        """How many of those that are judged were found good."""
        return sum(bool(attempt.passed) for attempt in self.judged)

    def pass_at_k(self, k: int) -> float:
        """The chance that of ``k`` attempts one passes at least (``ranking.pass_at_k``).

        Raises:
            LoomError: ``k`` is below 1, or more than are judged.
        """
        return ranking.pass_at_k(len(self.judged), self.passes, k)

    def pass_hat_k(self, k: int) -> float:
        """The chance that of ``k`` attempts all pass (``ranking.pass_hat_k``).

        Raises:
            LoomError: ``k`` is below 1, or more than are judged.
        """
        return ranking.pass_hat_k(len(self.judged), self.passes, k)

    def _by_name(self, figures: list[Any]) -> dict[str, Any]:
        names = (attempt.name for attempt in self.judged)
        return dict(zip(names, figures, strict=True))


def groups(index: Index) -> list[Group]:
    """All attempts of a loom by their task, each group where its first one began."""
    found: dict[tuple[Any, ...], list[Attempt]] = {}
    for entry in list(index.entities.values()):
        for attempt, intent in _of_entity(index, entry):
            found.setdefault(_task(attempt, intent), []).append(attempt)
    return [Group(tuple(attempts)) for attempts in found.values()]


def attempts(index: Index, entity_id: str) -> list[Attempt]:
    """The attempts of one entity, in order.

    Raises:
        LoomError: There is no such entity.
    """
    return [attempt for attempt, _ in _of_entity(index, index.entity(entity_id))]


def _task(attempt: Attempt, intent: IntentRecord) -> tuple[Any, ...]:
    """What attempts at the same task have in common."""
    context = intent.context and (intent.context.digest, intent.context.data)
    return intent.text, context, attempt.depth, intent.after


def _of_entity(index: Index, entry: EntityEntry) -> Iterator[tuple[Attempt, IntentRecord]]:
    """The attempts of an entity, each with its intent."""
    entity = index.load(entry.n, EntityRecord)
    ends = {end.cast: end for end in (index.load(n, EndRecord) for n in entry.ends)}
    numbers = list(entry.intents)
    if not numbers and ends:  # it never began
        intent = IntentRecord(entry.id, 1, entity.intent, entity.context)
        yield _attempt(index, entity, intent, range(0), None, ends.get(1)), intent
    for cast, n in enumerate(numbers, 1):
        until = numbers[cast] if cast < len(numbers) else None
        turns = _turns(entry, n, until)
        end = ends.get(cast)
        node = _last_node(index, entry, turns) if end is None else end.node
        intent = index.load(n, IntentRecord)
        yield _attempt(index, entity, intent, turns, node, end), intent


def _attempt(
    index: Index,
    entity: EntityRecord,
    intent: IntentRecord,
    turns: range,
    node: str | None,
    end: EndRecord | None,
) -> Attempt:
    return Attempt(
        entity_id=entity.id,
        cast=intent.cast,
        depth=entity.depth,
        model=entity.model,
        intent=intent.text,
        turns=turns,
        node=node,
        end=end,
        judged=_judged(index, node),
    )


def _turns(entry: EntityEntry, after: int, until: int | None) -> range:
    """The utterances that were recorded between two records."""
    turns = [
        turn for turn, n in entry.replies.items() if n > after and (until is None or n < until)
    ]
    return range(turns[0], turns[-1] + 1) if turns else range(0)


def _last_node(index: Index, entry: EntityEntry, turns: range) -> str | None:
    """The newest node of some turns."""
    if not entry.nodes:
        return None
    node = index.load(index.nodes[entry.nodes[-1]].n, NodeRecord)
    return node.id if node.turn in turns else None


def _judged(index: Index, node: str | None) -> RewardRecord | None:
    rewards = index.rewards.get(node or "", ())
    return index.load(rewards[-1], RewardRecord) if rewards else None
