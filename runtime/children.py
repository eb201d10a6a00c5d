"""An entity's children: made in request order, run at the same time, handed back in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any, NamedTuple

import anyio

from ..gates import ChildRequest
from ..sandbox.execution import clip
from ..sandbox.outcomes import ChildFailed, Truncated
from ..sandbox.wire import Sealed, seal
from .chronicle import Ended, ended_of
from .loom import EndRecord, EntityView, SpawnPoint

if TYPE_CHECKING:
    from .entity import Entity

PARTIAL_CHARS = 2_000
"""Length of what a truncated child has to show, in characters."""


class Children:
    """The children of one entity.

    Args:
        parent: The entity.
    """

    def __init__(self, parent: Entity) -> None:
        self._parent = parent
        self._prepared: dict[str, _Prepared] = {}

    def admit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Refuse a batch that is too long, before any of its requests is read.

        Args:
            args: What a gate that delegates is given by position.
            kwargs: What it is given by name.

        Raises:
            ValueError: There are more than ``max_batch``.
        """
        requests = args[0] if args else kwargs.get("requests")
        most = self._parent.spec.wards.max_batch
        if isinstance(requests, list | tuple) and len(requests) > most:
            raise ValueError(
                f"{len(requests)} requests in one batch; the limit is {most} (max_batch): "
                "split it into several"
            )

    def prepare(self, requests: Sequence[ChildRequest]) -> list[str]:
        """Make a child for each request, none of them started; gives their ids.

        Their models claim their first replies here, in request order (``COMP-3``).

        All requests are granted before the first child is made, so that a batch that is
        refused leaves no trace.

        Raises:
            CantripError, WardError: A request asks for what can't be had.
            CodecError: A context can't be handed on.
        """
        parent = self._parent
        described = parent.family.describe(parent.spec, parent.depth)
        granted = [
            (
                parent.family.spawn(request, described),
                request.intent,
                seal(request.context) if request.has_context else None,
            )
            for request in requests
        ]
        prepared = [
            _Ready(parent.spawn(spec, intent), intent, context) for spec, intent, context in granted
        ]
        self._prepared = {each.child.entity_id: each for each in prepared}
        return list(self._prepared)

    def take_up(self, requests: Sequence[ChildRequest], ids: Sequence[str]) -> None:
        """Make the children ready that were spawned before, and whose parent is taken up again.

        What one that has ended came to is on record; the others go on, or begin.

        Args:
            requests: What is asked for, as it was then.
            ids: The children's ids, in the same order.

        Raises:
            CantripError, WardError: A request asks for what can't be had any more.
            ResumeError: A child can't be taken up.
        """
        parent = self._parent
        described = parent.family.describe(parent.spec, parent.depth)
        entities = parent.tree.loom.entities
        self._prepared = {}
        for child_id, request in zip(ids, requests, strict=True):
            own = entities.get(child_id)
            if own is not None and own.end is not None:
                self._prepared[child_id] = _Over(_came_to(own, own.end))
                continue
            child = parent.spawn(parent.family.spawn(request, described), request.intent, child_id)
            context = seal(request.context) if request.has_context else None
            self._prepared[child_id] = _Ready(child, request.intent, context)

    async def run(self, ids: Sequence[str], where: SpawnPoint) -> list[Any]:
        """Run prepared children at the same time; what each came to, in request order.

        No child can undo another: each position holds its own value (sealed), ``Truncated``
        or ``ChildFailed`` (``COMP-8``).
        """
        # What holds for a child whose task is cancelled by something in it, and by nobody here.
        results: list[Any] = [
            ChildFailed("cancelled", "the child's work was cancelled from within", child_id)
            for child_id in ids
        ]
        width = anyio.Semaphore(self._parent.spec.wards.max_concurrent)

        async def run(position: int, prepared: _Ready) -> None:
            prepared.child.hang_under(where._replace(position=position))
            results[position] = await _live(prepared, width)

        async with self._parent.tree.waiting(self._parent), anyio.create_task_group() as group:
            for position, child_id in enumerate(ids):
                prepared = self._prepared.pop(child_id)
                if isinstance(prepared, _Over):
                    results[position] = prepared.result
                else:
                    group.start_soon(run, position, prepared)
        return results


Result = Sealed | Truncated | ChildFailed | None
"""What a parent gets of a child."""


class _Ready(NamedTuple):
    """A child that begins, or goes on, when its parent waits for it."""

    child: Entity
    intent: str
    context: Sealed | None


class _Over(NamedTuple):
    """A child that had ended when its parent was taken up again."""

    result: Result


_Prepared = _Ready | _Over


async def _live(ready: _Ready, width: anyio.Semaphore) -> Result:
    """A child's life: one cast, then its medium is let go. Gives what its parent gets."""
    child, intent, context = ready
    try:
        async with width:
            work = child.resume() if child.is_on_record else child.cast(intent, context)
            return _handed_back(child.entity_id, await work, child.last_text)
    except Exception as error:
        # Its loop never got going; the parent decides what that means for it.
        return ChildFailed(type(error).__name__, str(error), child.entity_id)
    except BaseException:
        if not child.begun:
            child.never_started(intent, context, "parent_terminated")
        raise
    finally:
        with anyio.CancelScope(shield=True):
            await child.aclose()


def _came_to(own: EntityView, end: EndRecord) -> Result:
    """What a parent gets of a child that is over, by its record."""
    turns = own.turns
    last_text = turns[-1].observation.text if turns else ""
    return _handed_back(own.id, ended_of(end, own.utterance_count), last_text)


def _handed_back(child_id: str, ended: Ended, last_text: str) -> Result:
    if ended.outcome == "terminated":
        return ended.answer
    if ended.outcome in ("truncated", "not_started"):
        partial = clip(last_text, PARTIAL_CHARS) or None
        return Truncated(ended.reason, partial, ended.summary or "")
    return ChildFailed(ended.reason, str(ended.error), child_id)
