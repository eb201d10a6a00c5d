"""What forks of one turn begin with: its state, made once and copied for each of them.

Where the original is alive and a copy of that state is parked, they take it up (``snapshot``).
Else the first of them lives its past again (``replay``), and the others take up copies of what it
has then, so that many forks cost about as much as one.
"""

from __future__ import annotations

import anyio

from ..sandbox.checkpoint import AsyncCheckpoint
from ..sandbox.errors import SandboxError
from .images import Images
from .media import Medium
from .replay import Begun, Past, Reliving, Settled, relive


class Origin:
    """One turn's state, for so many forks.

    Args:
        point: A copy of the original's state at the end of that turn, or None.
        images: The images that it can be taken up from where it can't be lived again.
        count: How many forks begin with it.
    """

    def __init__(self, point: AsyncCheckpoint | None, images: Images, count: int) -> None:
        self._point = point
        self._begun = Begun("snapshot")  # what holds for who takes the point up
        self._images = images
        self._is_first = anyio.Lock()
        self._is_to_share = count > 1
        self._left = count
        self._held: AsyncCheckpoint | None = None

    async def begin(self, entity: Reliving, medium: Medium, past: Past) -> Begun:
        """Give a fork its past.

        Args:
            entity: The fork.
            medium: Its medium, fresh.
            past: What it is forked from.

        Raises:
            RuntimeFault: The past can't be lived again, and there is no copy of its state.
        """
        try:
            async with self._is_first:
                if self._is_to_share:
                    begun = await self._begin(entity, medium, past)
                    await self._hold(medium, begun)
                    return begun
            return await self._begin(entity, medium, past)
        finally:
            self._left -= 1
            if not self._left:
                self.close()

    async def _begin(self, entity: Reliving, medium: Medium, past: Past) -> Begun:
        point, begun = self._point, self._begun
        if point is not None and await _take_up(medium, point):
            await relive(entity, medium, past, Settled(len(past.steps)))
            return begun
        settled = await self._images.load(medium, past)
        return Begun("replay", await relive(entity, medium, past, settled))

    async def _hold(self, medium: Medium, begun: Begun) -> None:
        """Have the others begin with a copy of the first one's state, where there can be one."""
        self._is_to_share = False
        try:
            self._point = self._held = await medium.keep()
        except SandboxError:
            return
        self._begun = begun

    def close(self) -> None:
        """Let go of the copy that was made for them."""
        if self._held is not None:
            self._held.close()


async def _take_up(medium: Medium, point: AsyncCheckpoint) -> bool:
    try:
        await medium.take_up(point)
    except SandboxError:  # it has given way meanwhile, or is of another kind of circle
        return False
    return True
