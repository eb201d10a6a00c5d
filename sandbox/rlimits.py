"""Resource limits that a worker puts on itself, where the platform has them."""

from __future__ import annotations

import ctypes
import os
import sys
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
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
"""Bytes of memory for the runner, to take a turn and to report it, where a program has all of its
own in use."""
HAS_MEMORY_LIMIT = sys.platform == "linux"
"""Whether a process's memory can be bounded reliably: elsewhere RLIMIT_AS is not kept to."""


def limit_resources() -> None:
    """No files, no core, no locked memory, no queues."""
    if resource is None:
        return
    for name in ("CORE", "FSIZE", "MEMLOCK", "MSGQUEUE"):
        if hasattr(resource, f"RLIMIT_{name}"):
            resource.setrlimit(getattr(resource, f"RLIMIT_{name}"), (0, 0))


def reserve_stack() -> None:
    """Take machine stack for calls that nest deep, for this process and all that it forks.

    A stack grows as it is used, and counts as memory: where a program has none left, the next
    deep call would be the end of its process. So it is as large as it gets from the beginning.
    Where the system refuses that, it grows as ever.
    """
    if resource is None:
        return
    hard = resource.getrlimit(resource.RLIMIT_STACK)[1]
    size = STACK if hard < 0 else min(STACK, hard)
    resource.setrlimit(resource.RLIMIT_STACK, (size, size))
    if HAS_MEMORY_LIMIT:
        with suppress(OSError):
            _reach(_top_of_stack() - size + resource.getpagesize())


def _top_of_stack() -> int:
    """Where this process's stack begins; it grows downwards.

    Raises:
        OSError: That can't be told.
    """
    for line in Path("/proc/self/maps").read_text().splitlines():
        if line.endswith("[stack]"):
            return int(line.split()[0].partition("-")[2], 16)
    raise OSError("/proc/self/maps names no stack")


def _reach(address: int) -> None:
    """Have the kernel read a byte at an address, so that the stack is grown as far as that.

    The kernel tells by an error that it won't, where reading it here would end the process.

    Raises:
        OSError: The kernel can't read there.
    """
    reader, writer = os.pipe()
    try:
        os.write(writer, ctypes.c_char.from_address(address))
    finally:
        os.close(reader)
        os.close(writer)


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


@dataclass(frozen=True)
class Reserve:
    """Memory that is held back from the program while that runs, for the runner.

    Both are calls of C alone: they take no memory, of which there may be none, and no interrupt
    comes between them.

    Attributes:
        hold: Holds it back.
        open: Gives it free.
    """

    hold: Callable[[], object] = int
    open: Callable[[], object] = int


def limit_memory(base: int, memory_mb: int) -> Reserve:
    """Let this process's address space grow by ``memory_mb`` MiB past ``base`` bytes.

    Returns:
        What comes on top of that, open.
    """
    if resource is None or not HAS_MEMORY_LIMIT:
        return Reserve()
    most = base + (memory_mb << 20) + RESERVE
    hard = resource.getrlimit(resource.RLIMIT_AS)[1]
    bound = most if hard < 0 else min(most, hard)
    set_limit = partial(resource.setrlimit, resource.RLIMIT_AS)
    set_limit((bound, bound))
    return Reserve(partial(set_limit, (bound - RESERVE, bound)), partial(set_limit, (bound, bound)))
