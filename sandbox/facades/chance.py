"""Chance that follows from no seed: a program reads it from its world, where reads are noted."""

from __future__ import annotations

import random
from typing import Any

from ..world import WORLD

_SEED_BYTES = 32
_seed = random.Random.seed


def mend() -> dict[str, Any]:
    """Generators are mended in place: others in the library make some, and ``secrets`` has one."""
    random.Random.seed = _seed_of_now  # type: ignore[method-assign]
    random._urandom = WORLD.chance.read  # type: ignore[attr-defined]
    return {
        "os.urandom": _urandom,
        "random.seed": random._inst.seed,
    }


def _urandom(size: int, /) -> bytes:
    """So many random bytes."""
    return WORLD.chance.read(size)


def _seed_of_now(self: random.Random, a: Any = None, version: int = 2) -> None:
    """Begin anew from a seed; without one, from chance."""
    _seed(self, int.from_bytes(WORLD.chance.read(_SEED_BYTES)) if a is None else a, version)


_seed_of_now.__name__ = _seed_of_now.__qualname__ = "seed"
