"""An entity's children: made in request order, run at the same time, handed back in order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import anyio

from ..gates import ChildRequest
from ..sandbox.execution import clip
from ..sandbox.outcomes import ChildFailed, Truncated
from ..sandbox.wire import Sealed, seal
from .loom import SpawnPoint
from .spawn import Parent

if TYPE_CHECKING:
    from .chronicle import Ended
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
        self._prepared: dict[str, tuple[Entity, str, Sealed | None]] = {}

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
        described = self._described()
        granted = [
            (
                parent.family.spawn(request, described),
                request.intent,
                seal(request.context) if request.has_context else None,
            )
            for request in requests
        ]
        prepared = [
            (parent.spawn(spec, intent), intent, context) for spec, intent, context in granted
        ]
        self._prepared = {each[0].entity_id: each for each in prepared}
        return list(self._prepared)

    def _described(self) -> Parent:
        parent, family = self._parent, self._parent.family
        return Parent(
            gates=parent.gates,
            wards=parent.spec.wards,
            medium=parent.spec.medium,
            llm=parent.spec.llm,
            depth=parent.depth,
            child_llm=family.child_llm,
            llms=family.llms,
            registry=family.registry,
            packages=parent.spec.packages,
        )

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

        async def run(position: int, child: Entity, intent: str, context: Sealed | None) -> None:
            child.hang_under(where._replace(position=position))
            results[position] = await _live(child, intent, context, width)

        async with self._parent.tree.waiting(self._parent), anyio.create_task_group() as group:
            for position, child_id in enumerate(ids):
                group.start_soon(run, position, *self._prepared.pop(child_id))
        return results


async def _live(
    child: Entity, intent: str, context: Sealed | None, width: anyio.Semaphore
) -> Sealed | Truncated | ChildFailed | None:
    """A child's life: one cast, then its medium is let go. Gives what its parent gets."""
    try:
        async with width:
            return _handed_back(child, await child.cast(intent, context))
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


def _handed_back(child: Entity, ended: Ended) -> Sealed | Truncated | ChildFailed | None:
    if ended.outcome == "terminated":
        return ended.answer
    if ended.outcome in ("truncated", "not_started"):
        partial = clip(child.last_text, PARTIAL_CHARS) or None
        return Truncated(ended.reason, partial, ended.summary or "")
    return ChildFailed(ended.reason, str(ended.error), child.entity_id)
