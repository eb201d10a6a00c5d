"""Many turns of many sessions, whose processes are killed at random moments."""

import os
import random
import signal
import threading
from contextlib import ExitStack, suppress
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox, pool

pytestmark = pytest.mark.kernel

SESSIONS, TURNS = 50, 1_000
SOURCE = """
n += 1
log.append(n)
paid = note(n)
sum(range(20_000))
(n, len(log), paid)
"""


class Killer(threading.Thread):
    """Kills a worker, or a parked copy of one, every few milliseconds."""

    def __init__(self, sessions: list[Sandbox], seed: int) -> None:
        super().__init__(daemon=True)
        self._sessions = sessions
        self._random = random.Random(seed)
        self.over = threading.Event()
        self.kills = 0

    def run(self) -> None:
        while not self.over.wait(self._random.uniform(0, 0.01)):
            session = self._random.choice(self._sessions)
            workers: list[Any] = [session._worker]
            workers += [parked.worker for parked in session._past.parked]
            worker = self._random.choice(workers)
            with suppress(OSError, AttributeError):
                signal.pidfd_send_signal(worker._pidfd, signal.SIGKILL)
                self.kills += 1


def processes() -> int:
    """How many processes the zygote has forked that still run, itself counted."""
    zygote = pool.shared()._process.pid
    count = 0
    for entry in os.scandir("/proc"):
        with suppress(OSError, IndexError):  # no process, or one that has just ended
            status = Path(entry.path, "stat").read_text().rpartition(")")[2].split()
            count += int(status[3]) == zygote and status[0] not in "ZX"  # its session, its state
    return count


def test_every_session_has_the_state_of_its_last_whole_turn() -> None:
    """1,000 turns over 50 sessions, random kills: each answers with what its last turn left.

    A turn that is lost is undone whole, no gate is called again for it, and in the end there
    is no process, descriptor or thread that was not there before.
    """
    chance = random.Random(4)
    with Sandbox(backend="kernel") as first:
        first.run("1")
    before = processes()
    threads, descriptors = threading.active_count(), len(os.listdir("/proc/self/fd"))
    whole = [0] * SESSIONS
    notes = 0
    outcomes: dict[str, int] = {}

    def note(n: int) -> int:
        nonlocal notes
        notes += 1
        return n

    with ExitStack() as stack:
        sessions = [
            stack.enter_context(
                Sandbox({"note": note}, Limits(eval_ms=10_000, memory_mb=64), backend="kernel")
            )
            for _ in range(SESSIONS)
        ]
        for session in sessions:
            session["n"], session["log"] = 0, []
        killer = Killer(sessions, seed=5)
        killer.start()
        for _ in range(TURNS):
            which = chance.randrange(SESSIONS)
            run = sessions[which].run(SOURCE)
            outcomes[run.state] = outcomes.get(run.state, 0) + 1
            if run.state == "kept":
                whole[which] += 1
                assert run.value == (whole[which],) * 3, run
            else:
                assert run.status == "crashed", run
        killer.over.set()
        killer.join()
        for session, count in zip(sessions, whole, strict=True):
            assert session.run("n, log").value == (count, list(range(1, count + 1)))
    assert killer.kills > TURNS / 10
    assert set(outcomes) == {"kept", "rolled_back"}
    assert sum(whole) <= notes <= TURNS
    for _ in range(3_000):  # half a minute is the watchdog's: who was killed last may not be gone
        if processes() <= before + pool.READY:
            break
        threading.Event().wait(0.01)
    assert processes() <= before + pool.READY
    assert threading.active_count() <= threads
    assert len(os.listdir("/proc/self/fd")) <= descriptors + 3 * pool.READY
