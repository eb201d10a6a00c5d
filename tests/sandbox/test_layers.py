"""What stands of the kernel's wall on machines that lack something, and what is said of it."""

from __future__ import annotations

import errno
import json
from collections.abc import Mapping
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox, jail
from circlet.sandbox.testing import KERNEL_LAYERS, SandboxOf, zygote_without

EPERM, ENOSYS = errno.EPERM, errno.ENOSYS

USE = """
import json, os
from circlet.sandbox import Limits, Sandbox
from circlet.sandbox.errors import BackendUnavailable
try:
    box = Sandbox(limits=Limits(eval_ms=300), backend="kernel")
except BackendUnavailable as error:
    print(json.dumps({"refusal": str(error)}))
else:
    with box:
        box.run("x = 1")
        lost = box.run("sum(range(10**12))")
        print(json.dumps({
            "user": os.getuid(), "layers": dict(box.layers), "state": lost.state,
            "x": box.run("x").value, "fork": box.checkpoint().fork().run("x").value,
        }))
"""


def used(hosts: Any, **settings: Any) -> dict[str, Any]:
    done = hosts.host(USE, **settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def missing(found: Mapping[str, Any]) -> dict[str, str]:
    return {name: why for name, why in found["layers"].items() if why}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("lacking", "name", "why"),
    [
        ({"UNSHARE": EPERM}, "namespaces", "unshare: Operation not permitted"),
        ({"LANDLOCK": ENOSYS}, "landlock", "landlock: Function not implemented"),
        ({"CAPSET": EPERM}, "no_capabilities", "capset: Operation not permitted"),
    ],
)
def test_an_extra_that_cannot_be_had_is_named(
    hosts: Any, lacking: dict[str, int], name: str, why: str
) -> None:
    """The session works, goes back, forks; and it says which layer is missing, and why."""
    refused = {getattr(hosts, call): error for call, error in lacking.items()}
    here, there = used(hosts), used(hosts, refused=refused)
    assert (there["state"], there["x"], there["fork"]) == ("rolled_back", 1, 1)
    assert missing(there) == {**missing(here), name: why}


@pytest.mark.kernel
@pytest.mark.parametrize(
    ("lacking", "why"),
    [
        ({"SECCOMP": EPERM}, "the layer seccomp can't be had: "),
        ({"PRCTL": EPERM}, "the layer no_new_privs can't be had: "),
        ({"CLOSE_RANGE": ENOSYS}, "the layer closed_fds can't be had: "),
        ({"PRLIMIT64": EPERM}, "the zygote can't get ready: not allowed to raise maximum limit"),
    ],
)
def test_a_required_layer_that_cannot_be_had_is_an_error(
    hosts: Any, lacking: dict[str, int], why: str
) -> None:
    """There is no kernel back end without it, and no other one is taken in its place."""
    refused = {getattr(hosts, call): error for call, error in lacking.items()}
    assert used(hosts, refused=refused)["refusal"].startswith(why)


@pytest.mark.kernel
@pytest.mark.root
@pytest.mark.parametrize(
    "lacking", [{}, {"UNSHARE": EPERM}, {"UNSHARE": EPERM, "LANDLOCK": ENOSYS}]
)
def test_another_user_than_root_has_the_same(hosts: Any, lacking: dict[str, int]) -> None:
    """As nobody, with and without namespaces and Landlock, a session works, goes back and forks."""
    refused = {getattr(hosts, call): error for call, error in lacking.items()}
    found = used(hosts, refused=refused, as_nobody=True)
    assert (found["user"], found["state"], found["x"], found["fork"]) == (
        *(hosts.NOBODY, "rolled_back", 1, 1),
    )
    assert not set(missing(found)) & set(jail.REQUIRED)
    names = {"UNSHARE": "namespaces", "LANDLOCK": "landlock"}
    assert {names[call] for call in lacking} <= set(missing(found))


@pytest.mark.kernel
def test_a_session_names_its_layers() -> None:
    """``layers`` has each by its name; no caller can write to it."""
    with Sandbox(backend="kernel") as session:
        assert set(session.layers) == set(KERNEL_LAYERS)
        assert all(session.layers[name] == "" for name in jail.REQUIRED)
        with pytest.raises(TypeError):
            session.layers["seccomp"] = "off"  # type: ignore[index]
        assert session.checkpoint().fork().layers == session.layers


def test_a_portable_session_claims_no_layer() -> None:
    """Under ``portable`` every layer is named, with why it does not stand."""
    with Sandbox(backend="portable") as session:
        assert set(session.layers) == set(KERNEL_LAYERS)
        assert all("language's wall alone" in why for why in session.layers.values())


PEER = """
import ctypes, errno
libc = ctypes.CDLL(None, use_errno=True)
libc.syscall.restype = ctypes.c_long
def call(*arguments):
    return errno.errorcode[ctypes.get_errno()] if libc.syscall(*arguments) < 0 else 'done'
room = ctypes.create_string_buffer(64)
[call(62, PID, 0), call(62, PID, 9), call(234, PID, PID, 9), call(101, 16, PID, 0, 0),
 call(310, PID, room, 1, room, 1, 0), call(434, PID, 0), call(62, -1, 9), call(62, 0, 9),
 call(57), call(58), call(56, 17, 0, 0, 0, 0)]
"""


@pytest.mark.kernel
@pytest.mark.parametrize("off", [(), ("namespaces", "landlock")])
def test_a_worker_reaches_no_other_and_has_no_children(off: tuple[str, ...]) -> None:
    """It can't signal, trace or read another one of its user, nor fork, namespaces or not."""
    with (
        zygote_without("language", *off) as zygote,
        SandboxOf(zygote, limits=Limits(memory_mb=256, eval_ms=2_000)) as attacker,
        SandboxOf(zygote) as victim,
    ):
        assert victim.run("1").value == 1
        before = victim.pid
        # By the number that the host knows it by, and those that it may have in there.
        for pid in (before, *range(1, 8)):
            run = attacker.run(PEER.replace("PID", str(pid)))
            assert set(run.value) == {"EPERM"}, str(run)
        assert (victim.run("1").value, victim.pid) == (1, before)


COPY = """
import ctypes
libc = ctypes.CDLL(None, use_errno=True)
print(libc.syscall(56, 0x8011, 0, 0, 0, 0) + 1)
"""


@pytest.mark.kernel
def test_a_copy_that_the_host_did_not_ask_for_is_never_made() -> None:
    """The one kind of fork that may be waits for its host, and its turn ends as any that waits."""
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, limits=Limits(eval_ms=300)) as session,
    ):
        session.run("kept = 1")
        run = session.run(COPY)
        assert (run.status, run.stdout) == ("timeout", "")
        assert session.run("kept").value == 1
