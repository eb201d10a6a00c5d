"""``grpo`` and ``dpo``: casts at one task side by side, for learning from the better ones."""

from __future__ import annotations

import json
from collections.abc import Iterator
from itertools import combinations
from typing import Any, Literal, NamedTuple

from ..attempts import Attempt, Group
from ..index import Index
from ..ranking import finite
from .chat import facts
from .conversations import Story, story
from .messages import Writer

Pairs = Literal["best", "all"]
"""Which pairs of a group there are: the best against the worst, or each two that differ."""


class Told(NamedTuple):
    """A judged cast and its story."""

    attempt: Attempt
    story: Story


class Peers:
    """Judged casts that had the same prompt and tools, ranked among themselves.

    Args:
        told: Them, at least two.
        writer: Writes messages.
    """

    def __init__(self, told: list[Told], writer: Writer) -> None:
        self._told = told
        self._writer = writer
        self._group = Group(tuple(one.attempt for one in told))

    def group_line(self) -> dict[str, Any]:
        """All of them (``schema.GroupLine``)."""
        advantages = self._group.advantages
        return {
            **self._asked(),
            "completions": [self._writer.template(one.story.completion) for one in self._told],
            "rewards": self._group.rewards,
            "advantages": [advantages[one.attempt.name] for one in self._told],
            **self._tools(),
            "metadata": {
                "group": self._group.name,
                "attempts": [self._facts(one) for one in self._told],
            },
        }

    def pair_lines(self, pairs: Pairs, margin: float) -> Iterator[dict[str, Any]]:
        """Pairs of them (``schema.PairLine``).

        Args:
            pairs: Which ones.
            margin: How far apart two rewards are at least.
        """
        ordered = sorted(self._told, key=_reward, reverse=True)  # of equal ones the first is first
        found = [(ordered[0], ordered[-1])] if pairs == "best" else combinations(ordered, 2)
        for better, worse in found:
            apart = finite(_reward(better) - _reward(worse))
            if apart > 0 and apart >= margin:
                yield self._pair(better, worse, apart)

    def _pair(self, chosen: Told, rejected: Told, margin: float) -> dict[str, Any]:
        return {
            **self._asked(),
            "chosen": self._writer.template(chosen.story.completion),
            "rejected": self._writer.template(rejected.story.completion),
            **self._tools(),
            "metadata": {
                "group": self._group.name,
                "margin": margin,
                "chosen": self._facts(chosen),
                "rejected": self._facts(rejected),
            },
        }

    def _asked(self) -> dict[str, Any]:
        return {"prompt": self._writer.template(self._told[0].story.prompt)}

    def _tools(self) -> dict[str, Any]:
        tools = self._writer.tools(self._told[0].story.tools)
        return {"tools": tools} if tools else {}

    def _facts(self, one: Told) -> dict[str, Any]:
        return {
            **facts(one.attempt, self._writer),
            "rank": self._group.ranks[one.attempt.name],
            "folded": one.story.is_folded,
        }


def peers(index: Index, group: Group, writer: Writer) -> Iterator[Peers]:
    """The judged casts of a group, those of one prompt together; one alone is left out.

    Casts at one task had different prompts where their identities, gates or wards differed.

    Raises:
        LoomError: The loom doesn't say what its models were sent, or is damaged.
    """
    if len(group.judged) < 2:
        return
    by_prompt: dict[str, list[Told]] = {}
    for attempt in group.judged:
        found = story(index, attempt)
        if found is not None:
            by_prompt.setdefault(_prompt_of(found), []).append(Told(attempt, found))
    for told in by_prompt.values():
        if len(told) > 1:
            yield Peers(told, writer)


def _prompt_of(one: Story) -> str:
    neutral = [[part.neutral() for part in parts] for parts in (one.prompt, one.tools)]
    return json.dumps(neutral, sort_keys=True)


def _reward(one: Told) -> float:
    assert one.attempt.reward is not None  # it is judged
    return one.attempt.reward
