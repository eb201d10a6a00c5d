"""The control group that bounds all workers of a host, where there is one to be had."""

from __future__ import annotations

import os
import signal
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import Sandbox, capacity, cgroups


def folders(host: str) -> list[Path]:
    """The groups of the host with this process id that are there."""
    homes = cgroups.homes().values()
    return [group for home in homes for group in home.glob(f"circlet-{host}-*")]


IN_GROUP = """
import os, sys
from circlet.sandbox import Sandbox, pool
with Sandbox(backend="kernel") as box:
    box.run("1")
    point = box.checkpoint()
    pids = [box.pid, pool.shared()._process.pid]
    groups = [open(f"/proc/{pid}/cgroup").read().split() for pid in pids]
    print(len({name for lines in groups for line in lines for name in line.split("/")
               if name.startswith("circlet-")}),
          f"circlet-{os.getpid()}-" in str(groups), os.getpid(), flush=True)
    if len(sys.argv) > 1:
        os.kill(os.getpid(), 9)
"""


@pytest.mark.cgroup
def test_all_processes_of_a_host_are_in_one_group_that_goes_with_it(hosts: Any) -> None:
    """Zygote, workers and checkpoints; nothing is left of the group when the host has ended."""
    done = hosts.host(IN_GROUP)
    *found, pid = done.stdout.split()
    assert found == ["1", "True"], done.stderr
    assert folders(pid) == []


@pytest.mark.cgroup
def test_what_a_killed_host_leaves_is_cleared_away_by_the_next(hosts: Any) -> None:
    """The group of a host that is gone is removed, and none of one that lives."""
    with Sandbox(backend="kernel"):
        ours = folders(str(os.getpid()))
        killed = hosts.host(IN_GROUP, "kill")
        assert killed.returncode == -signal.SIGKILL
        pid = killed.stdout.split()[-1]
        for folder in folders(pid):
            with suppress(FileNotFoundError):  # where another host has cleared it by now
                while (folder / "cgroup.procs").read_text():  # its processes are on their way
                    pass
        assert hosts.host(IN_GROUP).returncode == 0
        assert folders(pid) == []
        assert ours == folders(str(os.getpid())) != []


FULL = """
from circlet.sandbox import Limits, Sandbox, capacity
capacity.check = lambda: None  # so that the group alone is what holds
boxes = [Sandbox(backend="kernel", limits=Limits(memory_mb=512)) for _ in range(4)]
for box in boxes:
    box.run("x = 1")
pids = [box.pid for box in boxes]
for box in boxes:
    box.run("data = bytearray(150 << 20)\\nfor at in range(0, len(data), 4096): data[at] = 1")
print([box.run("x").value for box in boxes], [box.pid for box in boxes] != pids)
"""


@pytest.mark.cgroup
def test_workers_that_take_up_too_much_together_are_ended(hosts: Any) -> None:
    """Each keeps to its own limit; past the common one the kernel ends some, which go back."""
    done = hosts.host(FULL, environment={capacity.MEMORY_VARIABLE: "300"})
    assert done.stdout == "[1, 1, 1, 1] True\n", done.stdout + done.stderr


@pytest.mark.cgroup
def test_processes_are_bounded_together() -> None:
    """The group holds no more processes than there may be workers, and a few for zygotes."""
    with Sandbox(backend="kernel"):
        (folder,) = (one for one in folders(str(os.getpid())) if (one / "pids.max").exists())
        most = capacity.max_workers()
        assert most < int((folder / "pids.max").read_text()) < most + 100


# -- finding a place, on machines that this one is not ----------------------------------------


def machine(folder: Path, mounts: str, own: str, files: dict[str, str]) -> Path:
    """What the kernel would tell of a machine, in a folder; gives its /proc."""
    proc = folder / "proc"
    (proc / "self").mkdir(parents=True)
    (proc / "self/mountinfo").write_text(mounts.replace("TOP", str(folder / "sys")))
    (proc / "self/cgroup").write_text(own)
    for name, text in files.items():
        file = folder / "sys" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return proc


V1 = (
    "30 20 0:1 / TOP/memory rw,relatime shared:9 - cgroup cgroup rw,memory\n"
    "31 20 0:2 / TOP/pids rw,relatime - cgroup cgroup rw,pids\n"
    "32 20 0:3 / TOP/unified rw,relatime - cgroup2 cgroup2 rw\n"
    "33 20 0:4 / /proc rw,relatime - proc proc rw\n"
)
V2 = "30 20 0:1 /outer TOP rw,relatime shared:9 - cgroup2 cgroup2 rw,nsdelegate\n"
CONTROL = "cgroup.subtree_control"


def test_in_the_first_version_it_is_beneath_the_hosts_own(tmp_path: Path) -> None:
    """In each controller's tree by itself."""
    proc = machine(tmp_path, V1, "5:memory:/a/b\n4:pids:/c\n0::/d\n", {})
    sys = tmp_path / "sys"
    assert cgroups.homes(proc) == {"memory": sys / "memory/a/b", "pids": sys / "pids/c"}


@pytest.mark.parametrize(
    ("files", "home"),
    [
        ({f"a/b/{CONTROL}": "memory pids\n", f"a/{CONTROL}": "memory pids\n"}, "a/b"),
        ({f"a/b/{CONTROL}": "\n", f"a/{CONTROL}": "cpu memory pids\n"}, "a"),
    ],
)
def test_in_the_second_version_it_is_where_controllers_are_passed_on(
    tmp_path: Path, files: dict[str, str], home: str
) -> None:
    """Beneath the host's own group if it passes them on, or else beside it."""
    proc = machine(tmp_path, V2, "0::/outer/a/b\n", files)
    assert cgroups.homes(proc) == {"": tmp_path / "sys" / home}


@pytest.mark.parametrize(
    ("mounts", "own", "files", "why"),
    [
        ("", "0::/\n", {}, "are mounted"),
        (V1, "5:memory:/a\n", {}, "are mounted|Memory|memory"),
        (V2, "0::/outer/a\n", {f"a/{CONTROL}": "", CONTROL: "cpu"}, "passes the controllers"),
        (V2, "0::/outer\n", {CONTROL: ""}, "passes the controllers"),  # nothing above is seen
        (V2, "0::/elsewhere\n", {}, "are mounted"),  # a namespace that is not this one's
    ],
)
def test_where_there_is_no_place_it_is_said_why(
    tmp_path: Path, mounts: str, own: str, files: dict[str, str], why: str
) -> None:
    """No tree, no controller, or none that is passed on."""
    with pytest.raises(OSError, match=why):
        cgroups.homes(machine(tmp_path, mounts, own, files))


def test_the_limits_of_the_second_version(tmp_path: Path) -> None:
    """Memory without swap on top, and processes; a process is put there by its number."""
    files = {f"{CONTROL}": "memory pids", "cgroup.procs": ""}
    home = cgroups.homes(machine(tmp_path, V2, "0::/outer\n", files))
    group = cgroups.Group(home)
    (folder,) = group._folders.values()
    (folder / "memory.swap.max").write_text("max\n")
    group.bound(300 << 20, 12)
    group.add(4711)
    limits = [(folder / name).read_text() for name in ("memory.max", "memory.swap.max", "pids.max")]
    assert limits == [str(300 << 20), "0", "12"]
    assert (folder / "cgroup.procs").read_text() == "4711"
    assert folder.parent == home[""]


@pytest.mark.parametrize(
    ("mounts", "own", "files", "limit"),
    [
        (V2, "0::/outer/a/b\n", {"a/b/memory.max": "max\n", "a/memory.max": "1000\n"}, 1000),
        (V2, "0::/outer/a\n", {"a/memory.max": "max\n"}, None),
        (
            V1,
            "5:memory:/a\n",
            {"memory/a/memory.limit_in_bytes": "700\n", "memory/memory.limit_in_bytes": "900\n"},
            700,
        ),
    ],
)
def test_the_memory_of_a_container_is_its_limit(
    tmp_path: Path, mounts: str, own: str, files: dict[str, str], limit: int | None
) -> None:
    """The least that any group above allows, as far as this process sees."""
    assert cgroups.memory_limit(machine(tmp_path, mounts, own, files)) == limit
