"""Unique identifiers: none of them says which machine it was made on."""

from __future__ import annotations

import secrets
import uuid
from functools import cache
from typing import Any

_MULTICAST = 1 << 40  # marks a node that is no network card's address (RFC 9562, 6.10)


def mend() -> dict[str, Any]:
    """``uuid1`` takes a random node instead of the machine's address."""
    setattr(uuid, "_generate_time_safe", None)  # noqa: B010 - typed as final
    uuid.getnode = _node
    return {}


@cache
def _node() -> int:
    """A random node, the same for all of a session."""
    return secrets.randbits(48) | _MULTICAST
