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
HAS_MEMORY_LIMIT = sys.platform == "linux"
"""Whether a process's memory can be bounded reliably: elsewhere RLIMIT_AS is not kept to."""


def limit_resources() -> None:
    """No files, no core, no locked memory, no queues, a handful of descriptors."""
    if resource is None:
        return
    for name in ("CORE", "FSIZE", "MEMLOCK", "MSGQUEUE"):
        if hasattr(resource, f"RLIMIT_{name}"):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (0, 0))
    resource.setrlimit(resource.RLIMIT_NOFILE, (NOFILE, NOFILE))


def address_space() -> int:
    """Bytes of address space that this process takes up now; 0 where that can't be told."""
    if resource is None or not HAS_MEMORY_LIMIT:
        return 0
    return int(Path("/proc/self/statm").read_text().split()[0]) * resource.getpagesize()


def limit_memory(base: int, memory_mb: int) -> None:
    """Let this process's address space grow by ``memory_mb`` MiB past ``base`` bytes, for good."""
    if resource is None or not HAS_MEMORY_LIMIT:
        return
    most = base + (memory_mb << 20)
    for kind in (resource.RLIMIT_AS, resource.RLIMIT_DATA):
        hard = resource.getrlimit(kind)[1]
        bound = most if hard == resource.RLIM_INFINITY else min(most, hard)
        resource.setrlimit(kind, (bound, bound))
