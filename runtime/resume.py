"""Resuming: entities go on from where their loom left them, with the loom as the only source."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from typing import Any

import anyio

from ..sandbox.execution import clip
from .cast import Cast
from .chronicle import Ended, ended_of
from .entity import Entity
from .errors import ResumeError, RuntimeFault
from .events import FinalResponse, Sink
from .family import Family
from .loom import EntityView, Given, Loom, Uttered
from .spawn import ChildSpec
from .specs import Specs
from .standing import Standings
from .tree import Branch, Tree

LISTED = 10
"""Entities that an error names."""
INTENT_CHARS = 60
"""Length of an intent as an error quotes it."""


@dataclass(frozen=True)
class Resumes:
    """Takes up the roots of one loom again.

    Attributes:
        loom: Where they are recorded.
        family: What the cantrip's entities share.
        spec: What its roots are made of.
        result_type: A type that a root's answer has to fit, or None.
        trust: Whether to load images that this user's key has not signed.
    """

    loom: Loom
    family: Family
    spec: ChildSpec
    result_type: Any
    trust: bool = False

    async def run(self, entity_id: str | None, sink: Sink) -> Cast:
        """Go on with a root's unfinished cast, to its end.

        Args:
            entity_id: The root. Default: the one that has an unfinished cast, or the only one.
            sink: Takes the events.

        Returns:
            What the cast came to; where the last one has ended, that, and nothing is run.

        Raises:
            ResumeError: There is nothing to go on with, or no way to.
            RuntimeFault: The last cast has ended, and failed.
            LLMError: A query failed for good.
        """
        own = self._newest() if entity_id is None else self._root(entity_id)
        end = None if own.is_at_work else own.end
        standings = Standings(self.loom, own, self.trust)
        root = self._entity(own, standings, sink)
        try:
            ended = await root.resume() if end is None else self._ended(own)
        finally:
            with anyio.CancelScope(shield=True):
                await root.aclose()
        if ended.error is not None:
            raise ended.error
        stood = standings.of(own.id)
        usage = stood.cast_usage + (root.branch.usage - stood.usage)
        root.emit(FinalResponse(own.id, 0, ended.answer.text if ended.answer else ""))
        return Cast(root, ended, usage, self._result_type(own))

    def entity(self, entity_id: str | None, sink: Sink) -> Entity:
        """A lasting entity, ready for its next intent.

        Args:
            entity_id: The entity; it has to be named.
            sink: Takes its events.

        Raises:
            ResumeError: There is none, or its last cast has not ended.
        """
        if entity_id is None:
            raise ResumeError("resume=True needs the entity_id of the entity to take up")
        own = self._root(entity_id)
        if own.is_at_work:
            raise ResumeError(
                f"the last cast of {entity_id!r} has not ended: bring it to its end first, with "
                f"resume(entity_id={entity_id!r})"
            )
        return self._entity(own, Standings(self.loom, own, self.trust), sink)

    def _entity(self, own: EntityView, standings: Standings, sink: Sink) -> Entity:
        """An entity that goes on with the past of one on record, which it is."""
        spec = self._spec_of(own)
        tree, branch = Tree(self.loom, spec.wards, sink), Branch(spec.wards)
        tree.go_on(standings)
        branch.go_on(standings.of(own.id))
        return Entity(
            spec,
            replace(self.family, cantrip_id=own.cantrip_id),
            tree,
            branch,
            own.intent,
            result=self._result_type(own),
            past=standings.past(own, spec),
        )

    def _spec_of(self, own: EntityView) -> ChildSpec:
        """What it is made of. A fork may have another model than the cantrip's roots.

        Raises:
            ResumeError: It had another identity than the cantrip has now.
        """
        family = self.family
        spec = Specs(self.loom, family, self.spec).of(own)
        if own.identity.system_prompt != spec.identity.system_prompt:
            raise ResumeError(
                f"{own.id!r} had another system prompt than the cantrip has now, and an identity "
                "never changes: take it up with a cantrip of its own, or fork it"
            )
        models = () if own.forked_from is None else (family.child_llm, *family.llms.values())
        named = (llm for llm in models if llm is not None and llm.name == own.model)
        return spec if own.model == spec.llm.name else replace(spec, llm=next(named, spec.llm))

    def _result_type(self, own: EntityView) -> Any:
        is_child_s = Specs(self.loom, self.family, self.spec).first(own).spawned_by is not None
        return None if is_child_s else self.result_type

    def _ended(self, own: EntityView) -> Ended:
        """What its last cast came to.

        Raises:
            RuntimeFault: It has failed.
        """
        assert own.end is not None
        turns = 0
        for step in self.loom.lineage(own.id):
            if isinstance(step, Given):
                turns = 0
            turns += isinstance(step, Uttered)
        ended = ended_of(own.end, turns)
        if ended.error is not None:
            raise RuntimeFault(
                f"the last cast of {own.id!r} has failed, with {own.end.reason}; there is nothing "
                "of it to go on with: fork from one of its turns"
            )
        return ended

    # -- which one ---------------------------------------------------------------------------------

    def _newest(self) -> EntityView:
        """The root that can only be meant.

        Raises:
            ResumeError: There is none, or there are several.
        """
        roots = [one for one in self.loom.entities.values() if one.spawned_by is None]
        at_work = [root for root in roots if root.is_at_work]
        if not roots:
            raise ResumeError("the loom is empty: there is nothing to resume")
        if len(at_work) > 1:
            raise ResumeError(
                f"{len(at_work)} casts have not ended, give the entity_id of one:{_listed(at_work)}"
            )
        if not at_work and len(roots) > 1:
            raise ResumeError(
                f"all {len(roots)} casts have ended, give the entity_id of one for what it came "
                f"to:{_listed(roots)}"
            )
        return (at_work or roots)[0]

    def _root(self, entity_id: str) -> EntityView:
        roots = [one for one in self.loom.entities.values() if one.spawned_by is None]
        own = self.loom.entities.get(entity_id)
        if own is None:
            there = f"; there are:{_listed(roots)}" if roots else ": it is empty"
            raise ResumeError(f"the loom has no entity {entity_id!r}{there}")
        if own.spawned_by is not None:
            parent = own
            while parent.spawned_by is not None:
                parent = self.loom.entities[self.loom.turn(parent.spawned_by.node).entity_id]
            raise ResumeError(
                f"{entity_id!r} is a child, and goes on with its root: resume {parent.id!r}"
            )
        return own


def _listed(entities: Iterable[EntityView]) -> str:
    lines = [f"{one.id}: {clip(one.intent, INTENT_CHARS)!r}" for one in entities]
    more = [f"and {len(lines) - LISTED:,} more"] if len(lines) > LISTED else []
    return "".join(f"\n- {line}" for line in [*lines[:LISTED], *more])
