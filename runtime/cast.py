"""What one intent came to."""

from __future__ import annotations

from typing import Any

from .chronicle import Ended
from .entity import Entity
from .llm import Usage
from .loom import ForkPoint, Thread


class Cast:
    """What one intent came to.

    Attributes:
        entity_id: Who worked on it.
        number: Ordinal of the cast within its entity, from 1.
        terminated: Whether it ended by itself (``LOOM-7``).
        truncated: Whether a ward ended it.
        reason: Why: ``done``, or the ward.
        summary: What a truncated cast had done (``LOOP-4``), or None.
        turns: Its utterances.
        usage: Tokens that it took, children included (``PROD-3``).
        entities: Entities of the tree so far, the root included.
        tree_turns: Utterances of the whole tree so far.
        max_depth: Deepest level reached; the root is 0.
        loom: Where all of it is recorded.
        error: What ended it where it failed. Only one of several forks is given back so: a
            single cast that fails is raised.
        forked_from: Where its entity left another's path, and by which strategy (``LOOM-4``,
            ``LOOM-13``); None where it is no fork.
        difference: What its past first showed differently when it was run again, or None.
    """

    def __init__(self, entity: Entity, ended: Ended, usage: Usage, result_type: Any = None) -> None:
        self.entity_id = entity.entity_id
        self.number = max(entity.casts, 1)
        self.terminated = ended.outcome == "terminated"
        self.truncated = ended.outcome == "truncated"
        self.reason = ended.reason
        self.summary = ended.summary
        self.turns = ended.turns
        self.usage = usage
        self.loom = entity.tree.loom
        self.entities = entity.tree.count
        self.tree_turns = entity.tree.turns
        self.max_depth = entity.tree.deepest
        self.error = ended.error
        self.forked_from: ForkPoint | None = entity.forked_from
        self.difference = entity.difference
        self._answer = ended.answer
        self._read = entity.read_answer if result_type is not None else None

    @property
    def result(self) -> Any:
        """The answer, with its type (``CIRCLE-8``); None where there is none."""
        if self._answer is None:
            return None
        return self._read(self._answer) if self._read else self._answer.open()

    @property
    def thread(self) -> Thread:
        """The entity's path through the loom (``LOOM-10``)."""
        return self.loom.thread(self.entity_id)

    def __repr__(self) -> str:
        how = "terminated" if self.terminated else f"truncated by {self.reason}"
        if self.error is not None:
            how = f"failed with {self.reason}"
        text = self.loom.secrets.redact(self._answer.text) if self._answer else "no result"
        return f"<Cast of {self.entity_id}: {how} after {self.turns} turns: {text}>"
