"""Resource limits that a worker puts on itself, where the platform has them."""

from __future__ import annotations

import sys
from pathlib import Path

if sys.platform == "win32":
    resource = None
else:
    import resource

NOFILE = 16
"""Descriptors that a worker may hold."""
STACK = 64 << 20
"""Bytes of machine stack: calls nest as deep as a program may set, 20,000, on CPython 3.11 too."""
RESERVE = 16 << 20
"""Bytes of memory for the report of a turn that ran out of it."""
HAS_MEMORY_LIMIT = sys.platform == "linux"
"""Whether a process's memory can be bounded reliably: elsewhere RLIMIT_AS is not kept to."""


def limit_resources() -> None:
    """No files, no core, no locked memory, no queues; stack for calls that nest deep."""
    if resource is None:
        return
    for name in ("CORE", "FSIZE", "MEMLOCK", "MSGQUEUE"):
        if hasattr(resource, f"RLIMIT_{name}"):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (0, 0))
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    stack = STACK if hard < 0 else min(STACK, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (stack, stack))


def limit_descriptors() -> None:
    """Hold a handful of descriptors.

    Linux also refuses to pass a descriptor on once the user has more on their way than this.
    """
    if resource is not None:
        resource.setrlimit(resource.RLIMIT_NOFILE, (NOFILE, NOFILE))


def address_space() -> int:
    """Bytes of address space that this process takes up now; 0 where that can't be told."""
    if resource is None or not HAS_MEMORY_LIMIT:
        return 0
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limit_memory(base: int, memory_mb: int) -> None:
    """Let this process's address space grow by ``memory_mb`` MiB past ``base`` bytes.

    ``RESERVE`` comes on top, but is held back until ``open_reserve`` gives it free.
    """
    most = base + (memory_mb << 20) + RESERVE
    for kind, hard in _memory_limits():
        bound = most if hard < 0 else min(most, hard)
        resource.setrlimit(kind, (bound - RESERVE, bound))


def open_reserve() -> None:
    """Give free what was held back: for the report of a turn that ran out of memory."""
    for kind, hard in _memory_limits():
        resource.setrlimit(kind, (hard, hard))


def close_reserve() -> None:
    """Hold the reserve back again."""
    for kind, hard in _memory_limits():
        resource.setrlimit(kind, (hard - RESERVE, hard))


def _memory_limits() -> list[tuple[int, int]]:
    """What bounds this process's memory, each with its hard limit; negative where there is none."""
    if resource is None or not HAS_MEMORY_LIMIT:
        return []
    return [
        (kind, resource.getrlimit(kind)[1]) for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA)
    ]
