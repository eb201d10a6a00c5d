"""How many workers a host may have: one error that names the bound, before the machine starves."""

from __future__ import annotations

import json
import threading
from typing import Any

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Sandbox, capacity, checkpoints, pool
from circlet.sandbox.errors import NoCapacity

FILL = """
import json, os, resource, sys, threading
from contextlib import suppress
from circlet.sandbox import Limits, Sandbox, capacity
from circlet.sandbox.errors import SandboxError

def open_descriptors():
    return len(os.listdir("/proc/self/fd"))

backend, most = sys.argv[1], int(sys.argv[2])
boxes, refusal = [], ""
first = Sandbox(backend=backend)  # with what a process opens once for all
first.run("1")
first.close()
before = open_descriptors()
try:
    for number in range(most):
        boxes.append(Sandbox(backend=backend))
        boxes[-1].run(f"x = {number}")
        boxes[-1].run(sys.argv[3])
except SandboxError as error:
    refusal = f"{type(error).__name__}: {error}"
states = [box.run("x").value for box in boxes]
opened = len(boxes)
for box in boxes[opened // 2 :]:
    box.close()
with Sandbox(backend=backend) as late:
    afresh = late.run("6 * 7").value
for box in boxes:
    box.close()
if boxes[0].backend == "kernel":
    from circlet.sandbox import pool
    pool.shared().let_go_of_ready()
print(json.dumps({
    "opened": opened, "refusal": refusal, "states": states, "afresh": afresh,
    "left": open_descriptors() - before, "count": capacity.count(),
    "soft": resource.getrlimit(resource.RLIMIT_NOFILE)[0],
}))
"""


def filled(hosts: Any, backend: str, most: int, turn: str = "1", **settings: Any) -> dict[str, Any]:
    """What came of opening so many sessions, each with a turn."""
    done = hosts.host(settings.pop("before", "") + FILL, backend, str(most), turn, **settings)
    assert done.returncode == 0, done.stderr
    found: dict[str, Any] = json.loads(done.stdout)
    assert found["states"] == list(range(found["opened"]))  # those that live go on
    assert found["afresh"] == 42  # and where some are closed there is room again
    assert found["left"] <= 0  # nothing is leaked
    assert found["count"] == 0
    return found


def test_a_session_past_the_bound_is_refused(backend: str, hosts: Any) -> None:
    """The error names the bound, what is in use, and how to raise it; checkpoints give way."""
    found = filled(hosts, backend, 9, environment={capacity.WORKERS_VARIABLE: "6"})
    assert found["opened"] == 6
    assert found["refusal"].startswith("NoCapacity: there is no room for another worker: 6 are in")
    assert "there may be 6 (" in found["refusal"]
    assert capacity.WORKERS_VARIABLE in found["refusal"]


@pytest.mark.kernel
def test_memory_in_use_is_bounded(hosts: Any) -> None:
    """Once workers take up what they may, no further session is opened."""
    found = filled(
        hosts,
        "kernel",
        9,
        turn="data = bytearray(40_000_000); data[::4096] = b'x' * len(data[::4096])",
        environment={capacity.MEMORY_VARIABLE: "100"},
        before="from circlet.sandbox import capacity as always\n"
        "always._LOOK_SECONDS = always._LOOK_SHARE = 0\n",
    )
    assert found["opened"] == 3
    assert found["refusal"].startswith("NoCapacity: there is no memory for another worker: ")
    assert " and may take 100; " in found["refusal"]
    assert capacity.MEMORY_VARIABLE in found["refusal"]


@pytest.mark.parametrize("backend", ["auto", pytest.param("kernel", marks=pytest.mark.kernel)])
def test_descriptors_that_run_out_are_one_clear_error(backend: str, hosts: Any) -> None:
    """It is said what is lacking, and ``auto`` takes no weaker back end for it."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 64))\n"
    found = filled(hosts, backend, 50, before=limit)
    assert 8 < found["opened"] < 50
    assert "no file descriptors for another worker: this process may have 64" in found["refusal"]


@pytest.mark.kernel
def test_the_limit_of_descriptors_is_raised_where_it_may_be(hosts: Any) -> None:
    """Where the process may have more of them than it has allowed itself, many sessions fit."""
    limit = "import resource; resource.setrlimit(resource.RLIMIT_NOFILE, (64, 4096))\n"
    found = filled(hosts, "kernel", 50, before=limit)
    assert (found["opened"], found["refusal"]) == (50, "")
    assert 64 < found["soft"] <= 1024  # no further than needed: who uses select() can't have more


THREADS = """
import sys
from concurrent.futures import ThreadPoolExecutor
from circlet.sandbox import AsyncSandbox, Sandbox, capacity, checkpoints
from circlet.sandbox.errors import NoCapacity

def use(number):
    try:
        box = Sandbox(backend=sys.argv[1])
    except NoCapacity:
        return None
    assert capacity.count() <= 5
    boxes.append(box)
    return box.run(str(number)).value

boxes = []
with ThreadPoolExecutor(12) as threads:
    values = list(threads.map(use, range(24)))
print(len(boxes), len([value for value in values if value is not None]))
"""


def test_threads_do_not_get_past_the_bound_together(backend: str, hosts: Any) -> None:
    """However many are opened at the same time, there are never more than there may be."""
    done = hosts.host(THREADS, backend, environment={capacity.WORKERS_VARIABLE: "5"})
    assert done.stdout == "5 5\n", done.stderr


@pytest.mark.kernel
def test_a_session_gets_its_own_worker_again_at_the_bound(hosts: Any) -> None:
    """One that loses its worker where there may be no more goes back all the same."""
    script = """
from circlet.sandbox import Limits, Sandbox
boxes = [Sandbox(backend="kernel", limits=Limits(eval_ms=300)) for _ in range(3)]
for number, box in enumerate(boxes):
    box.run(f"x = {number}")
for box in boxes:
    print(box.run("sum(range(10**12))").state, box.run("x").value)
"""
    done = hosts.host(script, environment={capacity.WORKERS_VARIABLE: "3"})
    assert done.stdout.splitlines() == [f"rolled_back {n}" for n in range(3)], done.stderr


def test_checkpoints_that_were_asked_for_do_not_give_way(hosts: Any) -> None:
    """A caller's own checkpoint is refused or kept, never dropped for another session."""
    script = """
from circlet.sandbox import Sandbox
from circlet.sandbox.errors import CheckpointUnavailable, NoCapacity
box = Sandbox(backend="kernel", checkpoints=0)
box.run("x = 1")
points = [box.checkpoint(), box.checkpoint()]
for attempt in (box.checkpoint, lambda: Sandbox(backend="kernel")):
    try:
        attempt()
    except (CheckpointUnavailable, NoCapacity) as error:
        print(type(error).__name__, "there may be 3" in str(error))
print(box.run("x").value, points[0].turn, box.pid is not None)
box.restore(points[0])
"""
    done = hosts.host(script, environment={capacity.WORKERS_VARIABLE: "3"})
    assert done.stdout.splitlines() == [
        *("CheckpointUnavailable True", "NoCapacity True", "1 1 True"),
    ], done.stderr


@pytest.mark.parametrize("variable", [capacity.WORKERS_VARIABLE, capacity.MEMORY_VARIABLE])
def test_a_bound_that_is_no_number_is_an_error(
    variable: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """It names the variable and what stands there."""
    monkeypatch.setenv(variable, "many")
    with pytest.raises(ValueError, match=f"{variable} must be a whole number, not 'many'"):
        Sandbox(backend="portable")


def test_nothing_is_opened_where_nothing_may_be(monkeypatch: pytest.MonkeyPatch) -> None:
    """A bound of 0 is kept to, whatever else is open."""
    monkeypatch.setenv(capacity.WORKERS_VARIABLE, "0")
    with pytest.raises(NoCapacity, match="may be 0"):
        Sandbox(backend="portable")


def test_by_default_a_thousand_sessions_fit() -> None:
    """Each with its checkpoint, where a machine has 12 GiB; there is always room for one."""
    assert capacity.max_workers() >= 1
    if capacity.machine_memory() >= 12 << 30:
        assert capacity.max_workers() > 2_000


def test_an_async_session_that_finds_no_room_can_be_used_later(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """The refusal comes from its first use, and the next one tries again."""

    async def main() -> Any:
        async with AsyncSandbox(backend="portable") as session:
            with monkeypatch.context() as now:
                now.setenv(capacity.WORKERS_VARIABLE, "0")
                with pytest.raises(NoCapacity, match="may be 0"):
                    await session.run("1")
            return (await session.run("6 * 7")).value

    assert anyio.run(main) == 42


def test_a_checkpoint_that_is_being_made_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the bound a new session is not refused for a checkpoint that gives way once it is made."""
    begun, go_on = threading.Event(), threading.Event()
    changed = checkpoints._making._changed
    wait = changed.wait

    def make() -> None:
        with checkpoints.being_made():
            assert not checkpoints.wait_for_one()  # not for its own
            begun.set()
            go_on.wait(30)

    def seen(seconds: float) -> bool:
        go_on.set()  # not made before somebody waits, for that needs what is held here
        return wait(seconds)

    monkeypatch.setattr(changed, "wait", seen)
    maker = threading.Thread(target=make)
    maker.start()
    assert begun.wait(30)
    assert checkpoints.wait_for_one()
    maker.join(30)
    assert not checkpoints.wait_for_one()  # none is being made


@pytest.mark.kernel
def test_an_event_loop_does_not_wait_for_a_checkpoint(monkeypatch: pytest.MonkeyPatch) -> None:
    """At the bound a session's first turn waits for one that is being made, and in a thread."""
    begun, go_on = threading.Event(), threading.Event()
    changed = checkpoints._making._changed
    wait = changed.wait
    waited: list[int] = []

    def make() -> None:
        with checkpoints.being_made():
            begun.set()
            go_on.wait(30)

    def seen(seconds: float) -> bool:
        waited.append(threading.get_ident())
        monkeypatch.delenv(capacity.MEMORY_VARIABLE)
        go_on.set()
        return wait(seconds)

    async def main() -> Any:
        pool.refill()
        pool.shared()._ready[0].greet()  # once it has come, it stands ready
        assert pool.has_ready()
        monkeypatch.setattr(changed, "wait", seen)
        monkeypatch.setenv(capacity.MEMORY_VARIABLE, "0")
        async with AsyncSandbox(backend="kernel") as session:
            return (await session.run("6 * 7")).value

    maker = threading.Thread(target=make)
    maker.start()
    assert begun.wait(30)
    try:
        assert anyio.run(main) == 42
    finally:
        go_on.set()
        maker.join(30)
    assert waited
    assert threading.get_ident() not in waited
