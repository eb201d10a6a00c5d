"""Unique identifiers: none of them says which machine it was made on."""

from __future__ import annotations

import random
import uuid
from functools import cache
from typing import Any

from ..world import WORLD

_MULTICAST = 1 << 40  # marks a node that is no network card's address (RFC 9562, 6.10)
_FIRST_TICK = 0x01B21DD213814000  # of 100 ns since 15 October 1582, at the beginning of 1970
_TICK_NS = 100
_last_tick = 0


def mend() -> dict[str, Any]:
    """``uuid1`` takes a random node instead of the machine's address."""
    setattr(uuid, "_generate_time_safe", None)  # noqa: B010 - typed as final
    uuid.getnode = _node
    return {"uuid.uuid1": _uuid1, "uuid.uuid4": _uuid4}


@cache
def _node() -> int:
    """A random node, the same for all of a session."""
    return random.SystemRandom().getrandbits(48) | _MULTICAST


def _uuid1(node: int | None = None, clock_seq: int | None = None) -> uuid.UUID:
    """An identifier of the time, of a node, and of a number that tells two of one moment apart."""
    global _last_tick
    now = int(WORLD.clocks["time_ns"].read()) // _TICK_NS + _FIRST_TICK
    _last_tick = tick = max(now, _last_tick + 1)
    if node is None:
        node = _node()
    if clock_seq is None:
        clock_seq = random.getrandbits(14)
    low, middle, high = tick & 0xFFFF_FFFF, (tick >> 32) & 0xFFFF, (tick >> 48) & 0x0FFF
    clock = ((clock_seq >> 8) & 0x3F, clock_seq & 0xFF)
    return uuid.UUID(fields=(low, middle, high, *clock, node), version=1)


def _uuid4() -> uuid.UUID:
    """A random identifier."""
    return uuid.UUID(bytes=WORLD.chance.read(16), version=4)
