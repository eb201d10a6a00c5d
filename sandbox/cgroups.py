"""Control groups: what bounds all workers of a host together, where Linux lets it have one.

A host makes one group and puts its zygotes into it, and with them all that they fork. The group is
removed at the host's exit; what a host leaves that was killed, the next one clears away. Both
versions are served. In the first each controller has a tree of its own, and the group is made
beneath the host's. In the second no group that holds processes has controlled ones beneath it, so
that it is made beside the host's, as a rule.
"""

from __future__ import annotations

import os
import re
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import suppress
from functools import cache
from pathlib import Path

_NAME = "circlet-{}-{}"  # the host's process id, and when that process began
_OURS = re.compile(_NAME.format(r"(\d+)", r"(\d+)"))
_LIMITS = {
    # By controller, in the order in which they are set; "" is the second version's tree.
    "memory": ("memory.limit_in_bytes", "memory.memsw.limit_in_bytes"),
    "pids": ("pids.max",),
    "": ("memory.max", "memory.swap.max", "pids.max"),
}
_OPTIONAL = {"memory.memsw.limit_in_bytes", "memory.swap.max"}  # for kernels that count no swap
_REMOVE_SECONDS = 1.0


class Group:
    """A group of processes that are bounded together.

    Args:
        homes: The folder that it is made in, for each controller.

    Raises:
        OSError: It can't be made.
    """

    def __init__(self, homes: Mapping[str, Path]) -> None:
        name = _NAME.format(os.getpid(), _beginning(os.getpid()))
        self._folders = {controller: home / name for controller, home in homes.items()}
        for home in homes.values():
            _clear_leftovers(home)
        for folder in self._folders.values():
            folder.mkdir(exist_ok=True)

    def bound(self, memory: int, processes: int) -> None:
        """Set how many bytes of memory, swap included, and how many processes it may have.

        Raises:
            OSError: It can't be bounded.
        """
        for controller, folder in self._folders.items():
            for file in _LIMITS[controller]:
                value = processes if file == "pids.max" else memory
                if file == "memory.swap.max":
                    value = 0  # on top of the memory, and not included in it
                if file not in _OPTIONAL or (folder / file).exists():
                    (folder / file).write_text(str(value))

    def add(self, pid: int) -> None:
        """Put a process into it, and so all that it is going to fork.

        Raises:
            OSError: It can't be put there.
        """
        for folder in self._folders.values():
            (folder / "cgroup.procs").write_text(str(pid))

    def remove(self) -> None:
        """Remove it; waits a moment for its last process to be gone."""
        until = time.monotonic() + _REMOVE_SECONDS
        for folder in self._folders.values():
            while not _is_removed(folder) and time.monotonic() < until:
                time.sleep(0.005)


def _is_removed(folder: Path) -> bool:
    try:
        folder.rmdir()
    except FileNotFoundError:
        return True
    except OSError:  # not empty yet
        return False
    return True


def _clear_leftovers(home: Path) -> None:
    """Remove groups of hosts that are gone, beneath this one and beneath those beside it."""
    for folder in (*home.iterdir(), *home.parent.glob("*/" + _NAME.format("*", "*"))):
        if (found := _OURS.fullmatch(folder.name)) and _beginning(int(found[1])) != int(found[2]):
            _is_removed(folder)  # one that another container's host still uses is not empty


def _beginning(pid: int) -> int:
    """When a process began, in the kernel's ticks; -1 where there is none."""
    try:
        return int(Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[19])
    except (OSError, IndexError):
        return -1


# -- where a host's group is made ------------------------------------------------------------


def homes(proc: Path = Path("/proc")) -> dict[str, Path]:
    """Where this process may have a group that bounds memory and processes, by controller.

    Args:
        proc: Where the kernel tells of processes.

    Raises:
        OSError: Nowhere; the text says why.
    """
    own = _own_groups(proc)
    if "memory" in own and "pids" in own:
        return {controller: own[controller][0] for controller in ("memory", "pids")}
    if "" not in own:
        raise OSError("no control groups for memory and processes are mounted")
    folder, top = own[""]
    for home in (folder, folder.parent):
        if home.is_relative_to(top):
            passed_on = (home / "cgroup.subtree_control").read_text().split()
            if {"memory", "pids"} <= set(passed_on):
                return {"": home}
    raise OSError("no control group passes the controllers of memory and processes on to others")


def _own_groups(proc: Path) -> dict[str, tuple[Path, Path]]:
    """This process's group in each tree, by controller, with the top of the tree as seen here."""
    mounts = dict(_mounts(proc))
    groups = {}
    for line in (proc / "self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        for name in names.split(","):
            if name in mounts:
                top, root = mounts[name]
                if Path(path).is_relative_to(root):
                    groups[name] = top / Path(path).relative_to(root), top
    return groups


def _mounts(proc: Path) -> Iterator[tuple[str, tuple[Path, Path]]]:
    """The controllers, each with where its tree is mounted, and which group is mounted there."""
    for line in (proc / "self/mountinfo").read_text().splitlines():
        before, _, after = line.partition(" - ")
        root, top = before.split()[3:5]
        kind, _, options = after.split(" ", 2)
        if kind == "cgroup2":
            yield "", (Path(top), Path(root))
        elif kind == "cgroup":
            for name in options.split(","):
                yield name, (Path(top), Path(root))


@cache
def memory_limit(proc: Path = Path("/proc")) -> int | None:
    """Bytes of memory that the groups of this process let it use; None where they don't say."""
    limits = []
    with suppress(OSError):
        own = _own_groups(proc)
        for controller, file in (("memory", "memory.limit_in_bytes"), ("", "memory.max")):
            if controller in own:
                folder, top = own[controller]
                chain = [folder, *folder.parents]
                for group in chain[: chain.index(top) + 1]:
                    with suppress(OSError, ValueError):  # the word max, too
                        limits.append(int((group / file).read_text()))
    return min(limits, default=None)


# -- the group of this host ------------------------------------------------------------------


class _Own:
    """The one group of this process."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._group: Group | None = None

    def join(self, pid: int, memory: int, processes: int) -> None:
        with self._lock:
            if self._group is None:
                group = Group(homes())
                try:
                    group.bound(memory, processes)
                except OSError:
                    group.remove()
                    raise
                self._group = group
            self._group.add(pid)

    def remove(self) -> None:
        with self._lock:
            if self._group is not None:
                self._group.remove()
                self._group = None


_own = _Own()


def join(pid: int, memory: int, processes: int) -> str:
    """Put a process into this host's group.

    Args:
        pid: Its process id.
        memory: Bytes of memory that all processes of the group may take up together.
        processes: How many there may be.

    Returns:
        The empty string, or why there is no group.
    """
    try:
        _own.join(pid, memory, processes)
    except OSError as error:
        return ": ".join(filter(None, (error.filename, error.strerror or str(error))))
    return ""


def remove() -> None:
    """Remove this host's group, whose processes have been ended."""
    _own.remove()


def _anew_in_child() -> None:
    """A forked child has a group of its own, and the parent may have held the lock."""
    global _own
    _own = _Own()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew_in_child)
