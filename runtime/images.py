"""Images of a sandbox's state in the loom: written after a turn that can't be run again.

With one of them such a turn is no end of the way: what an entity was is taken up from there.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from ..sandbox.errors import SandboxError
from ..sandbox.images import envelope
from .errors import LoomError
from .logs import log
from .loom import ImageRecord, Loom, Step, Uttered
from .media import Medium
from .replay import NOTHING_SETTLED, Past, Settled, obstacle
from .tree import Tree

LISTED = 10
"""Variables that are named of those which an image lacks."""


async def written(tree: Tree, medium: Medium, entity_id: str, node: str) -> ImageRecord | None:
    """Keep an image of a medium's state; gives its record, which is not recorded yet.

    Args:
        tree: The entity's tree.
        medium: The medium.
        entity_id: The entity.
        node: Id of the node at whose end this is.

    Returns:
        None where there can be no image: that is in the log, and the turn stays one that can't
        be run again.

    Raises:
        LoomError: It can't be kept.
    """
    try:
        image = await medium.dump()
        left_out = dict(envelope.unpack(image, trust=True).left_out)
    except SandboxError as error:
        log.warning("no image of %s at %s: %s", entity_id, node, error)
        return None
    digest = tree.put(image)
    versions = dict(envelope.versions())
    return ImageRecord(entity_id, node, digest, len(image), versions, left_out)


class Images:
    """Takes up the state of an image, where a past can't be lived again from its beginning.

    Args:
        loom: The loom.
        gates: Names of the gates that there are for turns that are run again.
        trust: Whether to load images that this user's key has not signed.
    """

    def __init__(self, loom: Loom, gates: Collection[str], trust: bool = False) -> None:
        self._loom = loom
        self._gates = gates
        self._trust = trust

    async def load(self, medium: Medium, past: Past) -> Settled:
        """Have a medium take up the newest image that can be had, if one is needed.

        Args:
            medium: The medium, fresh.
            past: The past that it is to have.

        Returns:
            The steps that its state has behind it; none where it is as it was.

        Raises:
            RuntimeFault: A turn can't be run again, and no image of a later state can be loaded;
                of the class that the past names.
        """
        why = ""
        blocked = self._blocked(past.steps) if medium.has_state else None
        if blocked is None:
            return NOTHING_SETTLED
        for place, image in self._images(past.steps):
            if place < blocked[0]:
                break
            try:
                await medium.load(self._loom.get(image.digest), self._trust)
            except (SandboxError, LoomError) as error:
                why = why or f"; the image of its state can't be loaded: {error}"
                continue
            return Settled(place + 1, _lacking(past.steps[place], image))
        place, turn, reason = blocked
        before = f"fork from turn {turn - 1}" if turn > 1 else "begin anew"
        raise past.fault(f"turn {turn} can't be run again, for {reason}{why or _NONE}; {before}")

    def _blocked(self, steps: Sequence[Step]) -> tuple[int, int, str] | None:
        """The last step that can't be taken again, its turn and why; None where all can."""
        for place in range(len(steps) - 1, -1, -1):
            step = steps[place]
            if isinstance(step, Uttered) and (why := obstacle(step, self._gates)):
                return place, step.turn, why
        return None

    def _images(self, steps: Sequence[Step]) -> Iterator[tuple[int, ImageRecord]]:
        """The images of states that steps led to, the newest first, each with the step's place."""
        places = {
            step.parts[-1].id: place
            for place, step in enumerate(steps)
            if isinstance(step, Uttered)
        }
        owners = {step.entity_id for step in steps if isinstance(step, Uttered)}
        images = [
            (places[image.node], image)
            for owner in owners
            for image in self._loom.entities[owner].images
            if image.node in places
        ]
        yield from sorted(images, key=lambda found: found[0], reverse=True)


def _lacking(step: Step, image: ImageRecord) -> str | None:
    """Which variables an image lacks that there were after a step; None where it has all."""
    names = list(image.left_out)
    if not names or not isinstance(step, Uttered):
        return None
    named = ", ".join(names[:LISTED])
    more = f" and {len(names) - LISTED:,} more" if len(names) > LISTED else ""
    return f"the state after turn {step.turn} is from an image, which can't hold {named}{more}"


_NONE = ", and there is no image of its state"
