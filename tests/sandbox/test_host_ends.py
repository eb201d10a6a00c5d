"""When a host is killed, nothing that it started outlives it, whatever that does at the moment."""

from __future__ import annotations

import errno
import os
import select
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox.errors import SandboxClosed
from circlet.sandbox.testing import SandboxOf, zygote_without

SECONDS = 10.0
"""The promise is one second; a watchdog has ten times that."""

HOST = """
import sys, threading, time
from circlet.sandbox import Limits, Sandbox, pool

backend, source = sys.argv[1:]
def gate():
    time.sleep(3600)
box = Sandbox(gates={"gate": gate}, backend=backend, limits=Limits(eval_ms=600_000))
box.run("x = 1")
pids = [box.pid]
if backend == "kernel":
    point = box.checkpoint()
    pids += [parked.worker.pid for parked in box._past.parked]
    pids += [worker.pid for worker in pool.shared()._ready if not worker.greet()]
    pids += [pool.shared()._process.pid]
threading.Thread(target=lambda: (time.sleep(0.2), print(*pids, flush=True))).start()
box.run(source)
"""
BUSY = [
    pytest.param("while True: pass", id="in a loop"),
    pytest.param("sum(range(10**12))", id="in one long call of C"),
    pytest.param("import time\ntime.sleep(3600)", id="asleep"),
    pytest.param("gate()", id="in a gate"),
]


def ended(pids: list[int]) -> list[int]:
    """Those of these processes that have not ended by themselves in time."""
    left = []
    for pid in pids:
        try:
            handle = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        if not select.select([handle], [], [], SECONDS)[0]:
            left.append(pid)
            os.kill(pid, signal.SIGKILL)
        os.close(handle)
    return left


def outliving(command: Any) -> list[int]:
    """Start a host, kill it in the middle of a turn, and give what is left of its processes."""
    host = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert host.stdout is not None
    with host.stdout:
        pids = [int(word) for word in host.stdout.readline().split()]
    assert pids
    assert all(Path(f"/proc/{pid}").exists() for pid in pids)
    host.kill()
    host.wait(30)
    return ended(pids)


@pytest.mark.kernel
@pytest.mark.parametrize("source", BUSY)
@pytest.mark.parametrize("namespaces", [True, False])
def test_workers_and_zygote_end_with_their_host(hosts: Any, source: str, namespaces: bool) -> None:
    """The zygote, those that stand ready, the checkpoints and the worker at work."""
    refused = {} if namespaces else {hosts.UNSHARE: errno.EPERM}
    assert outliving(hosts.command(HOST, "kernel", source, refused=refused)) == []


@pytest.mark.linux
@pytest.mark.parametrize("source", BUSY)
def test_portable_workers_end_with_their_host(hosts: Any, source: str) -> None:
    """Whatever it does: the kernel ends it."""
    assert outliving(hosts.command(HOST, "portable", source)) == []


THREAD = """
import sys, time
from circlet.sandbox import orphans
getattr(orphans, sys.argv[2])(int(sys.argv[1]))
print("ready", flush=True)
while True:
    if sys.argv[3] == "sleep":
        time.sleep(3600)
"""


@pytest.mark.parametrize("doing", ["loop", "sleep"])
@pytest.mark.parametrize(
    "way",
    [
        "by_thread",
        pytest.param("by_signal", marks=pytest.mark.linux),
    ],
)
@pytest.mark.posix
def test_each_way_to_learn_of_the_hosts_end(way: str, doing: str) -> None:
    """What watches a pipe ends its process when the other end is closed, and not before."""
    reader, writer = os.pipe()
    process = subprocess.Popen(
        [sys.executable, "-c", THREAD, str(reader), way, doing],
        stdout=subprocess.PIPE,
        pass_fds=[reader],
    )
    os.close(reader)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == b"ready\n"
        assert process.poll() is None
        os.close(writer)
        process.wait(SECONDS)
    finally:
        process.kill()
        process.wait()
        process.stdout.close()


def test_a_portable_worker_outlives_the_thread_that_started_it() -> None:
    """A host may open a session in a thread that ends, and use it in another one."""
    script = """
import threading
from circlet.sandbox import Sandbox
boxes = []
opening = threading.Thread(target=lambda: boxes.append(Sandbox(backend="portable")))
opening.start()
opening.join()
boxes[0].run("x = 1")
print(boxes[0].run("x").value)
"""
    done = subprocess.run(
        [sys.executable, "-c", script], capture_output=True, text=True, timeout=60
    )
    assert done.stdout == "1\n", done.stderr


@pytest.mark.kernel
@pytest.mark.parametrize("off", [(), ("namespaces",)])
@pytest.mark.parametrize("source", BUSY)
def test_a_killed_zygote_ends_its_sessions_with_a_clear_error(
    off: tuple[str, ...], source: str
) -> None:
    """A turn that was under way says that its worker has ended; the next use names the zygote."""
    with zygote_without(*off) as zygote:
        entered = threading.Event()

        def gate() -> None:
            entered.set()

        session = SandboxOf(zygote, gates={"note": gate, "gate": lambda: threading.Event().wait(1)})
        runs: list[Any] = []
        turn = threading.Thread(target=lambda: runs.append(session.run(f"note()\n{source}")))
        turn.start()
        assert entered.wait(30)
        zygote._process.kill()
        turn.join(30)
        assert [run.status for run in runs] == ["crashed"]
        with pytest.raises(SandboxClosed, match="the zygote is gone"):
            session.run("1")
        session.close()
