"""A session that nothing can lose: roll-back, checkpoints, forks."""

import asyncio
import contextlib
import gc
import os
import random
import select
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Execution, Limits, Sandbox, base, pool
from circlet.sandbox.errors import BadVariable, CheckpointUnavailable, SandboxClosed
from circlet.sandbox.record import Played, played
from circlet.sandbox.threads import MAX_STARTS
from circlet.sandbox.wire import Op, dumps, frame

STUCK = "sum(range(10**12))"
"""One operation that no signal interrupts: its process has to be killed."""
QUICK = Limits(eval_ms=300)

Make = Callable[..., Sandbox]


def until(condition: Callable[[], Any]) -> None:
    """Wait until it holds; half a minute is the watchdog's."""
    for _ in range(30_000):
        if condition():
            return
        threading.Event().wait(0.001)
    raise AssertionError("it never came true")


def kill(session: Sandbox) -> None:
    """Kill a session's worker from outside, and wait for its end."""
    handle = os.pidfd_open(session.pid or 0)
    signal.pidfd_send_signal(handle, signal.SIGKILL)
    ended = select.poll()
    ended.register(handle, select.POLLIN)
    assert ended.poll(30_000)
    os.close(handle)


@pytest.fixture
def make(backend: Any) -> Iterator[Make]:
    """Makes sessions of each back end that are closed with the test."""
    sessions: list[Sandbox] = []

    def new(**settings: Any) -> Sandbox:
        sessions.append(Sandbox(**{"limits": QUICK, "backend": backend, **settings}))
        return sessions[-1]

    yield new
    for session in sessions:
        session.close()


@pytest.fixture
def unread(monkeypatch: pytest.MonkeyPatch) -> None:
    """Turns that are run again read other times than before, as they do other addresses."""

    def forgetting(*args: Any) -> Played:
        return replace(played(*args), reads=None)

    monkeypatch.setattr(base, "played", forgetting)


@pytest.fixture
def kernel() -> Iterator[Make]:
    """Makes sessions of the kernel back end."""
    sessions: list[Sandbox] = []

    def new(**settings: Any) -> Sandbox:
        sessions.append(Sandbox(**{"limits": QUICK, "backend": "kernel", **settings}))
        return sessions[-1]

    yield new
    for session in sessions:
        session.close()


STATE = """
import random, itertools
from dataclasses import dataclass
@dataclass
class Point:
    x: int
def counter():
    n = 0
    def bump():
        nonlocal n
        n += 1
        return n
    return bump
bump = counter()
bump()
shared = [Point(1)]
alias = shared
numbers = itertools.count(5)
next(numbers)
letters = (c for c in "abc")
next(letters)
random.seed(7)
first = random.random()
"""
SEEN = "bump(), shared, alias is shared, next(numbers), next(letters), random.random()"


def expected() -> tuple[Any, ...]:
    source = random.Random(7)
    source.random()
    return 2, True, 6, "b", source.random()


@pytest.mark.parametrize("checkpoints", [0, 1, 3])
def test_state_survives_a_kill(make: Make, checkpoints: int) -> None:
    """Whatever a turn does, the session goes on with the state at the end of the last one."""
    session = make(checkpoints=checkpoints)
    session.run(STATE)
    run = session.run(f"print('here')\nshared.append(2)\nbump()\nnext(letters)\n{STUCK}")
    assert (run.status, run.state, run.rolled_back_to) == ("timeout", "rolled_back", 1)
    assert run.stdout == "here\n"
    assert "rolled back to the end of turn 1: what turn 2 changed is undone" in str(run)
    seen = session.run(f"[{SEEN}]")
    bumped, points, same, *others = seen.value
    assert (bumped, same, *others) == expected()
    assert "Point(x=1)" in points[0].text
    assert seen.turn == 3


@pytest.mark.kernel
def test_a_checkpoint_is_made_while_nobody_waits(kernel: Make) -> None:
    """After each turn a copy of the worker is parked once the session is idle."""
    session = kernel()
    session.run("x = 1")
    until(lambda: session.checkpoints)
    assert session.checkpoints[-1].turn == 1
    session.run("x = 2")
    until(lambda: session.checkpoints and session.checkpoints[-1].turn == 2)
    assert len(session.checkpoints) == 1
    calls: list[int] = []
    other = kernel(gates={"note": lambda: calls.append(1)})
    other.run("x = note()")
    until(lambda: other.checkpoints)
    assert other.run(f"y = note()\n{STUCK}").rolled_back_to == 1
    assert len(calls) == 2  # the parked copy was taken: nothing was run again


@pytest.mark.kernel
@pytest.mark.parametrize("keep", [1, 3])
def test_the_last_few_are_kept(kernel: Make, keep: int) -> None:
    """``checkpoints`` is how many a session keeps; the older ones are let go of."""
    session = kernel(checkpoints=keep)
    for n in range(5):
        session.run(f"x = {n}")
        until(lambda n=n: session.checkpoints and session.checkpoints[-1].turn == n + 1)
    assert [point.turn for point in session.checkpoints] == list(range(6 - keep, 6))
    session.restore(session.checkpoints[0])
    assert session.run("x").value == 5 - keep


@pytest.mark.parametrize("wrong", [-1, 101, "1", True])
def test_how_many_are_kept_is_a_number(wrong: Any) -> None:
    """A count that is none is refused with its range."""
    with pytest.raises(ValueError, match="checkpoints must be 0 to 100"):
        Sandbox(checkpoints=wrong)


# -- turns that are run again ------------------------------------------------------------------


def test_turns_are_run_again_without_calling_their_gates(make: Make) -> None:
    """Without a checkpoint turns are run again, and their gates answered from the record."""
    calls: list[Any] = []

    def pay(what: Any) -> str:
        calls.append(what)
        if what == "bad":
            raise KeyError("no such thing")
        return f"receipt {len(calls)}"

    session = make(gates={"pay": pay}, checkpoints=0)
    session.run("first = pay('a')")
    session.run("try:\n    pay('bad')\nexcept KeyError as e:\n    second = str(e)")
    session.run("pay('b'); 1 / 0")
    run = session.run(f"third = pay('c')\n{STUCK}")
    assert calls == ["a", "bad", "b", "c"]
    assert session.run("first, second, 'third' in globals()").value == (
        "receipt 1",
        "'no such thing'",
        False,
    )
    assert calls == ["a", "bad", "b", "c"]
    assert run.rolled_back_to == 3


def test_the_gates_of_an_undone_turn_are_named_with_their_results(make: Make) -> None:
    """What a lost turn has called stands, and is told: nothing is paid for twice."""

    def buy(what: str, count: int = 1) -> str:
        if count > 5:
            raise ValueError("too many")
        return f"{count} {what} bought"

    session = make(gates={"buy": buy})
    run = session.run(f"buy('tea', count=2)\ntry: buy('rum', 9)\nexcept ValueError: pass\n{STUCK}")
    told = str(run)
    assert "buy('tea', count=2) gave '2 tea bought'" in told
    assert "buy('rum', 9) failed: ValueError: too many" in told
    assert "rolled back to its beginning" in told


def test_many_calls_are_told_in_short(make: Make) -> None:
    """A turn of many calls is told of with the first of them and a count."""
    session = make(gates={"note": lambda text: text}, limits=Limits(eval_ms=1_000))
    run = session.run(f"for n in range(500): note('x' * 5_000)\n{STUCK}")
    assert "... 480 more ..." in str(run)
    assert len(str(run)) <= session.limits.output_chars
    small = make(gates={"note": lambda n: n}, limits=Limits(eval_ms=1_000, output_chars=300))
    run = small.run(f"for n in range(100): note(n)\n{STUCK}")
    assert "rolled back to its beginning" in str(run)
    assert "note(99) gave 99" in run.observation(2_000)


def test_a_session_that_is_closed_from_elsewhere_ends_its_turn(make: Make) -> None:
    """Another thread may close a session in the middle of a turn, which is told why it ended."""
    started = threading.Event()
    session = make(gates={"start": started.set}, limits=Limits(eval_ms=60_000))

    def close() -> None:
        started.wait(30)
        session.close()

    closing = threading.Thread(target=close)
    closing.start()
    run = session.run("start()\nwhile True: pass")
    closing.join()
    assert run.error is not None
    assert (run.status, run.state) == ("crashed", "lost")
    assert "closed while the turn ran" in run.error.message
    with pytest.raises(SandboxClosed):
        session.run("1")


@pytest.mark.usefixtures("unread")
def test_a_turn_that_shows_something_else_is_told_of(make: Make) -> None:
    """A turn that is run again and doesn't do the same is named, so that it can be checked."""
    session = make(checkpoints=0)
    session.run("import time\nnow = time.time_ns()\nnow")
    session.run("y = 1")
    run = session.run(STUCK)
    assert run.rolled_back_to == 2
    assert run.rollback is not None
    assert run.rollback.differing == (1,)
    assert "showed something else this time: 1" in str(run)


@pytest.mark.usefixtures("unread")
def test_a_turn_that_calls_other_gates_ends_the_way_back(make: Make) -> None:
    """A turn that takes another way when it is run again is not guessed at."""
    session = make(gates={"echo": lambda value: value}, checkpoints=0)
    session.run("x = 1")
    session.run("import time\necho(time.time_ns())\nx = 2")
    session.run("x = 3")
    run = session.run(STUCK)
    assert run.rolled_back_to == 1
    assert (
        "what turns 2 to 4 changed is undone, for turn 2 could not be run again as it was"
        in str(run)
    )
    assert session.run("x").value == 1


@pytest.mark.usefixtures("unread")
def test_the_gates_of_all_turns_that_are_undone_are_named(make: Make) -> None:
    """Where more than one turn is undone, each one's calls stand there, with its number."""
    session = make(gates={"echo": lambda value: value}, checkpoints=0)
    session.run("x = 1")
    session.run("import time\nn = echo(time.time_ns())\n[echo(n) for n in range(50)]")
    session.run("echo('b' * 50_000)")
    told = str(session.run(f"echo('c')\n{STUCK}"))
    assert "Gate calls of what is undone stand; do not repeat them without need:" in told
    assert "  turn 2: echo(" in told
    assert "  turn 2: ... 31 more ..." in told
    assert "  turn 2: echo(49) gave 49" in told
    assert "  turn 3: echo('bbb" in told
    assert "  turn 4: echo('c') gave 'c'" in told


def test_a_turn_that_was_cut_off_is_not_run_again(make: Make) -> None:
    """What a turn did until its time was up can't be repeated: it is told why it is undone."""
    session = make(gates={"echo": lambda value: value}, checkpoints=0)
    session.run("x = 1")
    assert session.run("x = echo(2)\nwhile True: pass").state == "kept"
    kill(session)
    run = session.run("x")
    assert run.value == 1
    assert "what turn 2 changed is undone, for turn 2 was cut off and can't be run" in run.before
    assert "echo(2) gave 2" in run.before


def test_a_turn_that_was_cut_off_is_not_lost(make: Make) -> None:
    """Without checkpoints the state is written down behind a turn that can't be run again."""
    session = make(checkpoints=0)
    session.run("x = 1")
    assert session.run("x = 2\nwhile True: pass").state == "kept"
    run = session.run(f"x = 3\n{STUCK}")
    assert (run.rolled_back_to, str(run).count("undone")) == (2, 1)
    session.run("y = x + 1")
    assert session.run(STUCK).rolled_back_to == 4
    assert session.run("x, y").value == (2, 3)


def test_what_could_not_be_written_down_is_named(make: Make) -> None:
    """A session that goes on from what was written down is told which variables are missing."""
    session = make(checkpoints=0)
    session.run("g = (n for n in range(3))\nx = 2\nwhile True: pass")
    run = session.run(STUCK)
    assert run.rolled_back_to == 1
    assert "- g: " in str(run)
    session.run("y = 1")
    kill(session)
    run = session.run("x, y, 'g' in globals()")
    assert run.value == (2, 1, False)
    assert "- g: " not in run.before  # which it was told


def test_a_checkpoint_that_the_session_keeps_is_the_sessions(make: Make) -> None:
    """To close one of ``checkpoints`` takes nothing from the session."""
    session = make()
    session.run("x = [1]")
    until(lambda: session.backend == "portable" or session.checkpoints)
    for point in session.checkpoints:
        point.close()
        with pytest.raises(CheckpointUnavailable, match="is closed"):
            session.restore(point)
    assert len(session.checkpoints) == (session.backend == "kernel")
    assert session.run(f"x.append(2)\n{STUCK}").rolled_back_to == 1
    assert session.run("x").value == [1]


@pytest.mark.kernel
def test_after_a_turn_that_was_cut_off_a_checkpoint_is_waited_for(kernel: Make) -> None:
    """With checkpoints nothing is lost behind a turn that can't be run again, however soon."""
    session = kernel()
    assert session.run("x = 2\nwhile True: pass").state == "kept"
    assert session.run(f"x = 3\n{STUCK}").rolled_back_to == 1
    assert session.run("x").value == 2


@pytest.mark.usefixtures("unread")
def test_what_the_host_set_is_never_undone(make: Make) -> None:
    """Variables of the host's are set again, those too that it set after a lost turn."""
    session = make(gates={"echo": lambda value: value}, checkpoints=0)
    session["before"] = 1
    session.run("import time\nx = echo(time.time_ns())")
    session["after"] = [2]
    assert session.run(STUCK).rolled_back_to == 0
    assert session.run("before, after, 'x' in globals()").value == (1, [2], False)
    assert session.run(STUCK).rolled_back_to == 3
    assert session.run("before, after").value == (1, [2])


def test_a_crash_repeated_at_once_loses_nothing(make: Make) -> None:
    """A program that crashes its process again and again goes back to the same state."""
    session = make()
    session.run("x = [1]")
    for n in range(3):
        run = session.run(f"x.append({n})\n{STUCK}")
        assert run.rolled_back_to == 1
    assert session.run("x").value == [1]


def test_done_stands_though_its_process_dies(make: Make) -> None:
    """LOOP-3: work that has been ended is ended, whatever becomes of the process after it."""
    session = make()
    session.run("x = 1")
    run = session.run(f"try:\n    done(x)\nfinally:\n    {STUCK}")
    assert (run.status, run.answer, run.rolled_back_to) == ("done", 1, 1)
    assert session.run("x").value == 1


# -- between turns -----------------------------------------------------------------------------


def test_a_worker_that_died_between_turns_is_no_loss(make: Make) -> None:
    """The next turn finds the state as it was, and has nothing to be told."""
    session = make()
    session.run("x = 5")
    kill(session)
    run = session.run("x")
    assert (run.value, run.state, run.before) == (5, "kept", "")


def test_an_interrupted_turn_is_told_of_in_the_next(make: Make) -> None:
    """A turn that its host broke off is undone, and the next observation begins with that."""

    def interrupted() -> None:
        raise KeyboardInterrupt

    session = make(gates={"pay": lambda n: f"receipt {n}", "interrupted": interrupted})
    session.run("x = 1")
    with pytest.raises(KeyboardInterrupt):
        session.run("x = pay(7); interrupted()")
    run = session.run("x")
    assert run.value == 1
    assert str(run).startswith("The session was rolled back to the end of turn 1")
    assert "pay(7) gave 'receipt 7'" in run.before
    assert str(run).endswith("1")
    assert session.run("x").before == ""


def test_a_gate_that_closes_its_session_ends_it(make: Make) -> None:
    """A session that is closed in the middle of a turn stays closed, and no process is left."""
    sessions: list[Sandbox] = []
    session = make(gates={"close": lambda: sessions[0].close()})
    sessions.append(session)
    session.run("x = 1")
    run = session.run("close()")
    assert (run.status, run.state) == ("crashed", "lost")
    assert run.error is not None
    assert "closed while the turn ran" in run.error.message
    assert session.pid is None
    with pytest.raises(SandboxClosed):
        session.run("x")


@pytest.mark.usefixtures("unread")
def test_a_turn_that_dawdles_when_it_is_run_again_is_stopped(make: Make) -> None:
    """A turn that is run again has little more time than it took; there the way back ends."""
    session = make(limits=Limits(eval_ms=86_400_000), checkpoints=0)
    session["late"] = late = time.time() + 1.5
    session.run("import time\nx = 1")
    session.run("while time.time() > late: pass\nx = 2")
    until(lambda: time.time() > late)
    kill(session)
    runs: list[Execution] = []
    turn = threading.Thread(target=lambda: runs.append(session.run("x")), daemon=True)
    turn.start()
    turn.join(30)  # the watchdog's; without the bound it would take a day
    assert [run.value for run in runs] == [1]
    assert "rolled back to the end of turn 1: what turn 2 changed is undone" in runs[0].before


@pytest.mark.usefixtures("unread")
def test_a_variable_that_fits_no_more_is_named(make: Make) -> None:
    """A host's variable for which there is no room after a roll-back is told of, not dropped."""
    gates = {"echo": lambda value: value}
    session = make(gates=gates, limits=Limits(eval_ms=1_000, memory_mb=64), checkpoints=0)
    session["big"] = "x" * 28_000_000
    session.run("import time\necho(time.time_ns())\ndel big")
    session["late"] = "y" * 25_000_000
    run = session.run(STUCK)
    assert run.state == "rolled_back"
    assert "no room left for variables that it was given, so they are gone: 'late'" in str(run)
    assert session.run("len(big), 'late' in globals()").value == (28_000_000, False)


@pytest.mark.kernel
def test_a_forked_host_leaves_its_parents_checkpoints_alone(kernel: Make) -> None:
    """In a forked child a checkpoint can't be used, and to close it there harms nobody."""
    session = kernel()
    session.run("x = 1")
    point = session.checkpoint()
    read, write = os.pipe()
    child = os.fork()
    if not child:
        try:
            point.fork()
        except SandboxClosed as error:
            os.write(write, str(error).encode())
        point.close()
        os._exit(0)
    os.waitpid(child, 0)
    assert b"belongs to the process that this one was forked from" in os.read(read, 1_000)
    os.close(read)
    os.close(write)
    with point.fork() as twin:
        assert twin.run("x").value == 1
    point.close()


def test_a_budget_that_is_no_number_is_told_of_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    """A mistake in the environment is an error where a session is made."""
    monkeypatch.setenv("CIRCLET_CHECKPOINT_MB", "lots")
    with pytest.raises(BadVariable, match="CIRCLET_CHECKPOINT_MB must be a whole number"):
        Sandbox()


@pytest.mark.parametrize(
    ("settings", "word"),
    [({"limits": {"eval_ms": 1}}, "Limits"), ({"gates": {"a": 5}}, "must be a function")],
)
def test_settings_of_another_type_are_refused(settings: Any, word: str) -> None:
    """What is no gate and what are no limits is told of where a session is made."""
    with pytest.raises(TypeError, match=word):
        Sandbox(**settings)


@pytest.mark.kernel
def test_a_parked_copy_that_died_is_done_without(kernel: Make) -> None:
    """Where a checkpoint's process is gone, turns are run again."""
    session = kernel()
    session.run("x = 5")
    until(lambda: session.checkpoints)
    (one,) = session._past.parked
    os.kill(one.worker.pid, signal.SIGKILL)
    until(one.worker.has_ended)
    assert session.run(STUCK).rolled_back_to == 1
    assert session.run("x").value == 5


# -- points, forks -----------------------------------------------------------------------------


def test_a_fork_is_a_session_of_its_own(make: Make) -> None:
    """``fork`` gives a second session with the same state, gates and settings."""
    session = make(gates={"echo": lambda value: value})
    session["given"] = "g"
    session.run(STATE)
    with session.checkpoint() as point:
        assert point.turn == 1
        session.run("shared.append('mine')")
        with point.fork() as twin, point.fork() as other:
            twin.run("shared.append('its')")
            assert twin.run("len(alias), echo(given)").value == (2, "g")
            assert twin.run("shared[1]").value == "its"
            assert other.run("len(shared)").value == 1
            assert twin.backend == session.backend
            assert twin.run(STUCK).rolled_back_to == 4
            assert twin.run("shared[1]").value == "its"
        assert session.run("shared[1]").value == "mine"


def test_a_fork_outlives_its_point_and_its_session(make: Make) -> None:
    """What was forked hangs on nothing."""
    session = make()
    session.run("x = 1")
    point = session.checkpoint()
    twin = point.fork()
    point.close()
    session.close()
    assert twin.run("x").value == 1
    assert twin.run(STUCK).rolled_back_to == 2
    assert twin.run("x").value == 1
    twin.close()


def test_going_back_to_a_point(make: Make) -> None:
    """``restore`` takes the state of a point as often as one likes; turns are counted on."""
    session = make()
    session.run("x = [1]")
    point = session.checkpoint()
    for _ in range(2):
        session.run("x.append(2)")
        session.restore(point)
        assert session.run("x").value == [1]
    assert session.run("1").turn == 6
    assert session.run(STUCK).rolled_back_to == 6
    assert session.run("x").value == [1]
    point.close()
    with pytest.raises(CheckpointUnavailable, match="closed"):
        session.restore(point)
    with pytest.raises(CheckpointUnavailable, match="closed"):
        point.fork()
    with pytest.raises(TypeError, match="must be a Checkpoint"):
        session.restore(None)  # type: ignore[arg-type]
    assert session.run("x").value == [1]


def test_a_point_of_another_kind_of_session_is_refused(make: Make) -> None:
    """A state is bound to its gates and limits: another session says so and is unharmed."""
    session, other = make(), make(gates={"more": print})
    session.run("x = 1")
    other.run("x = 2")
    with session.checkpoint() as point:
        with pytest.raises(CheckpointUnavailable, match="other settings"):
            other.restore(point)
        assert other.run("x").value == 2


def test_a_closed_session_makes_none(make: Make) -> None:
    """A closed session says that it is."""
    session = make()
    session.close()
    with pytest.raises(SandboxClosed):
        session.checkpoint()


def test_what_can_not_be_kept_is_named() -> None:
    """Where no copy can be made and a turn can't be run again, the point is refused with both."""
    with Sandbox(limits=QUICK, backend="portable") as session:
        session.run("x = b'x' * 40_000_000")  # more than is written down between turns
        session.run("while True: pass")
        with pytest.raises(CheckpointUnavailable, match=r"no copies.*turn 2 was cut off"):
            session.checkpoint()
        assert session.run("len(x)").value == 40_000_000
        session.run("del x")
        session.run("while True: pass")
        with session.checkpoint() as point:
            session.run("y = 1")
            session.restore(point)
        assert session.run("'y' in globals()").value is False


# -- memory ------------------------------------------------------------------------------------


@pytest.mark.kernel
def test_all_checkpoints_share_a_budget(kernel: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the budget the oldest give way that nobody asked for; asked-for ones are refused."""
    first, second = kernel(), kernel()
    first.run("x = b'x' * 20_000_000")
    until(lambda: first.checkpoints)
    monkeypatch.setenv("CIRCLET_CHECKPOINT_MB", "24")
    second.run("y = b'y' * 20_000_000")
    until(lambda: second.checkpoints)
    assert first.checkpoints == ()
    monkeypatch.setenv("CIRCLET_CHECKPOINT_MB", "10")
    with pytest.raises(CheckpointUnavailable, match=r"10 MiB together.*CIRCLET_CHECKPOINT_MB"):
        first.checkpoint()
    assert second.checkpoints  # what could not help anyway has not given way
    assert first.run(STUCK).rolled_back_to == 1
    assert first.run("len(x)").value == 20_000_000


@pytest.mark.kernel
def test_the_only_way_back_gives_way_last(kernel: Make, monkeypatch: pytest.MonkeyPatch) -> None:
    """Over the budget those are let go of first whose sessions can run their turns again."""
    cut_off, plain, third = kernel(), kernel(), kernel()
    cut_off.run("x = b'x' * 20_000_000\nwhile True: pass")
    until(lambda: cut_off.checkpoints)
    plain.run("x = b'x' * 20_000_000")
    until(lambda: plain.checkpoints)
    monkeypatch.setenv("CIRCLET_CHECKPOINT_MB", "50")
    third.run("x = b'x' * 20_000_000")
    until(lambda: third.checkpoints)
    assert (len(cut_off.checkpoints), plain.checkpoints) == (1, ())


@pytest.mark.kernel
def test_nothing_is_left_behind(kernel: Make) -> None:
    """Closed sessions and points leave no process and no descriptor, nor do forgotten ones."""
    kernel().run("1")
    before = len(os.listdir("/proc/self/fd"))
    for n in range(6):
        session = Sandbox(limits=QUICK, backend="kernel")
        session.run("x = 1")
        until(lambda session=session: session.checkpoints)
        point = session.checkpoint()
        twin = point.fork()
        pids = [session.pid, twin.pid, *(one.worker.pid for one in session._past.parked)]
        handles = [os.pidfd_open(pid) for pid in pids]
        if n % 2:
            session.close()
            twin.close()
            point.close()
        del session, twin, point
        gc.collect()
        for handle in handles:
            until(lambda handle=handle: _ended(handle))
            os.close(handle)
    until(lambda: len(os.listdir("/proc/self/fd")) <= before + 3 * pool.READY)


def _ended(handle: int) -> bool:
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    return bool(poll.poll(0))


# -- awaiting ----------------------------------------------------------------------------------


def test_the_same_for_a_host_that_awaits(backend: Any) -> None:
    """AsyncSandbox rolls back, forks and restores alike."""

    async def main() -> list[Execution | Any]:
        async with AsyncSandbox(limits=QUICK, backend=backend) as session:
            await session.set("given", 1)
            await session.run("x = [given]")
            lost = await session.run(f"x.append(2)\n{STUCK}")
            point = await session.checkpoint()
            twin = await point.fork()
            await twin.run("x.append(3)")
            await session.run("x.append(4)")
            seen = [await twin.get("x"), await session.get("x")]
            await session.restore(point)
            seen.append(await session.get("x"))
            await point.aclose()
            await twin.aclose()
            return [lost, seen]

    lost, seen = anyio.run(main)
    assert (lost.state, lost.rolled_back_to) == ("rolled_back", 1)
    assert seen == [[1, 3], [1, 4], [1]]


def test_a_session_that_is_closed_while_it_starts_stays_closed(backend: Any) -> None:
    """``aclose`` while a worker is got ready: the turn is refused, and no process is left."""

    async def main() -> Any:
        session = AsyncSandbox(backend=backend)
        refused = None

        async def run() -> None:
            nonlocal refused
            with pytest.raises(SandboxClosed) as caught:
                await session.run("x = 1")
            refused = caught.value

        session._using.acquire()  # as a checkpoint would hold it
        async with anyio.create_task_group() as group:
            group.start_soon(run)
            await anyio.wait_all_tasks_blocked()
            session._closed = "this session is closed"
            session._using.release()
        return session.pid, refused

    pid, refused = anyio.run(main)
    assert pid is None
    assert "closed" in str(refused)


def test_a_cancelled_turn_is_undone(backend: Any) -> None:
    """A turn that is cancelled is undone, and the next one is told."""

    async def main() -> Execution:
        started = anyio.Event()

        async def hang() -> None:
            started.set()
            await anyio.sleep_forever()

        async with AsyncSandbox(gates={"hang": hang}, backend=backend) as session:
            await session.run("x = 1")
            async with anyio.create_task_group() as group:
                group.start_soon(session.run, "x = 2\nhang()")
                await started.wait()
                group.cancel_scope.cancel()
            return await session.run("x")

    run = anyio.run(main)
    assert run.value == 1
    assert "rolled back to the end of turn 1" in run.before


def test_a_turn_that_is_cancelled_before_it_begins_costs_nothing(backend: Any) -> None:
    """A worker that was sent nothing goes on, and the turn is not counted."""

    async def main() -> tuple[Any, ...]:
        async with AsyncSandbox(backend=backend) as session:
            await session.run("x = (n for n in range(3))")
            before = session.pid
            with anyio.CancelScope() as scope:
                scope.cancel()
                await session.run("x = 2")
            run = await session.run("next(x)")
            return before == session.pid, run.turn, run.value, run.before

    assert anyio.run(main) == (True, 2, 0, "")


def test_a_session_that_nobody_holds_ends_its_processes(make: Make) -> None:
    """A session that is dropped without being closed leaves no process, not even a busy one."""
    session = Sandbox(limits=Limits(eval_ms=60_000), backend=make().backend)
    session.run("x = 1")
    handle = os.pidfd_open(session.pid or 0)
    # Nothing reads its socket's end any more, so that it would not see that socket close.
    session._worker.sock.sendall(frame(Op.RUN, dumps(["while True: pass", 60_000, 2])))
    del session
    gc.collect()
    poll = select.poll()
    poll.register(handle, select.POLLIN)
    assert poll.poll(30_000)
    os.close(handle)


async def broken_off(session: AsyncSandbox, doing: Callable[[], Any], steps: int) -> None:
    """Cancel what is done with a session, as a task, after so many steps of its event loop."""
    task = asyncio.create_task(doing())
    for _ in range(steps):
        await asyncio.sleep(0)
    task.cancel()
    with contextlib.suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("checkpoints", [0, 1])
def test_cancelled_tasks_cost_no_state(backend: Any, checkpoints: int) -> None:
    """Whenever a use is cancelled, the next one finds the state of the last whole turn.

    Asked for natively, as ``asyncio.wait_for`` does it, so also in the middle of the way back
    from an earlier one. No thread and no process is left at work.
    """
    chance = random.Random(7)

    async def main() -> None:
        settings = {"backend": backend, "checkpoints": checkpoints}
        async with AsyncSandbox(gates={"hang": anyio.sleep_forever}, **settings) as session:
            await session.run("n = 1")
            for expected in range(1, 9):
                for _ in range(4):
                    steps = chance.choice([1, 3, 10, 100, 1_000])
                    await broken_off(session, lambda: session.run("n = -1\nhang()"), steps)
                run = await session.run("n")
                assert (run.value, run.status) == (expected, "ok"), run
                assert run.before.count("changed is undone") <= 1
                assert len(run.before) < 1_000
                assert (await session.run("n += 1\nn")).value == expected + 1

    before = threading.active_count()
    asyncio.run(main())
    assert threading.active_count() <= before + MAX_STARTS


def test_a_gate_that_was_at_work_when_its_turn_was_cancelled_is_named(backend: Any) -> None:
    """Whether it took effect nobody knows: the next observation says that it had begun."""

    async def main() -> Execution:
        started = anyio.Event()

        async def pay(amount: int) -> None:
            if amount > 1:
                started.set()
                await anyio.sleep_forever()

        async with AsyncSandbox(gates={"pay": pay}, backend=backend) as session:
            task = asyncio.create_task(session.run("pay(1)\npay(2)"))
            await started.wait()
            task.cancel()
            await asyncio.wait([task])
            return await session.run("1")

    run = asyncio.run(main())
    assert "pay(1) gave None" in run.before
    assert "pay(2) had begun when the turn was broken off" in run.before


def test_what_happens_again_before_anybody_is_told_is_told_once(backend: Any) -> None:
    """Turns that are cancelled one after the other are told of together, each call once."""

    async def main() -> Execution:
        async def hang(n: int) -> None:
            started.set()
            await anyio.sleep_forever()

        async with AsyncSandbox(gates={"hang": hang}, backend=backend) as session:
            await session.run("x = 1")
            for n in range(3):
                started = anyio.Event()
                task = asyncio.create_task(session.run(f"hang({n})"))
                await started.wait()
                task.cancel()
                await asyncio.wait([task])
            return await session.run("x")

    run = asyncio.run(main())
    assert run.value == 1
    assert run.before.count("rolled back to the end of turn 1: what turns 2 to 4 changed") == 1
    assert [run.before.count(f"turn {n + 2}: hang({n}) had begun") for n in range(3)] == [1] * 3


@pytest.mark.usefixtures("unread")
def test_what_a_silent_turn_bound_is_compared_too(make: Make) -> None:
    """A turn that is run again and binds something else than its model was shown is named."""
    session = make(checkpoints=0)
    session.run("import time\nx = time.time_ns()")
    kill(session)
    run = session.run("1")
    assert "showed something else this time: 1" in run.before


def test_a_cut_off_turn_is_written_down_while_nobody_waits(make: Make) -> None:
    """Without checkpoints, too: a worker that dies in a pause takes nothing with it."""
    session = make(checkpoints=0)
    session.run("x = [1]")
    session.run("x.append(2)\nwhile True: pass")
    until(lambda: not session._past.needs_image)
    kill(session)
    assert session.run("x").value == [1, 2]


def test_nothing_is_said_at_the_hosts_exit() -> None:
    """Sessions and checkpoints that are open when their host ends cause no complaint."""
    script = """
from circlet import Sandbox
boxes = [Sandbox(), Sandbox(backend="portable")]
points = [box.checkpoint() for box in boxes if not box.run("x = 1").error]
"""
    run = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, timeout=60)
    assert (run.returncode, run.stderr) == (0, "")
