"""The jail tries itself as a zygote starts: with a hole there is no kernel back end."""

from __future__ import annotations

import json
from typing import Any

import pytest
from circlet.sandbox import selftest
from circlet.sandbox.errors import BackendUnavailable
from circlet.sandbox.testing import SandboxOf, zygote_without

pytestmark = pytest.mark.kernel


@pytest.mark.parametrize(
    "name", ["openat", "vfork", "kill", "mmap PROT_EXEC", "clone3", "x32", "i386"]
)
def test_a_hole_in_the_jail_refuses_the_back_end(name: str) -> None:
    """A call that the filter lets through is named, with the layer that should have refused it."""
    with (
        pytest.raises(BackendUnavailable, match="self-test was not stopped") as refusal,
        zygote_without(f"seccomp:{name}"),
    ):
        pass
    got_through = str(refusal.value).partition("jail: ")[2]
    if name == "vfork":  # its child writes into the memory of the worker that reports
        assert got_through in ("vfork (seccomp)", f"{selftest._BROKEN_OFF} (seccomp)")
    else:
        assert got_through == f"{name} (seccomp)"


HOLES = """
import json, os, socket
from circlet.sandbox import jail, selftest

def answers(hole):
    ours, theirs = socket.socketpair()
    if os.fork() == 0:
        ours.close()
        trial = selftest.Trial(selftest.CALLS)
        jail.no_new_privs()
        jail.install_seccomp(jail.build_filter([hole]))
        trial.run(theirs)
        os._exit(0)
    theirs.close()
    with ours:
        return selftest.holes([ours], ["closed_fds", "rlimits"])

print(json.dumps({
    name: answers(number) for name, number in selftest.NUMBERS.items() if name != "i386"
}))
"""


def test_every_hole_is_found(hosts: Any) -> None:
    """Each call that is tried is found where it is let through, and no other is."""
    done = hosts.host(HOLES)
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)
    found.pop("vfork")
    assert len(found.pop("prlimit64 of another process")) == 1  # by that name, or by the layer's
    assert found == {name: [f"{name} (seccomp)"] for name in found}


def test_some_thirty_calls_are_tried() -> None:
    """Files, network, processes, memory that can be run, the kernel's wider surface, rights."""
    tried = set(selftest.NUMBERS)
    assert len(tried) > 30
    assert tried >= {
        *("open", "openat", "openat2", "socket", "connect", "execve", "execveat", "fork", "vfork"),
        *("clone", "clone3", "kill", "tgkill", "pidfd_open", "pidfd_send_signal", "ptrace"),
        *("process_vm_readv", "process_vm_writev", "mmap PROT_EXEC", "mprotect PROT_EXEC"),
        *("memfd_create", "io_uring_setup", "bpf", "perf_event_open", "userfaultfd", "keyctl"),
        *("mount", "unshare", "setns", "prctl", "prlimit64 of another process", "setuid"),
        *("chroot", "x32", "i386"),
    }


def test_a_layer_that_is_left_off_is_not_tried() -> None:
    """A jail without seccomp is for tests, and starts; so is one that keeps its descriptors."""
    for layer in ("seccomp", "closed_fds", "rlimits"):
        with zygote_without(layer) as zygote, SandboxOf(zygote) as session:
            assert session.run("1").value == 1


def test_a_descriptor_that_is_left_open_is_found(monkeypatch: pytest.MonkeyPatch) -> None:
    """What is expected of closed descriptors is expected of each by its number."""
    with zygote_without("closed_fds") as zygote:
        trial = zygote._request(30, selftest.CALLS)
        trial.greet()
        found = selftest.holes([trial.sock])
    assert found
    assert all(line.endswith(" (closed_fds)") for line in found)
