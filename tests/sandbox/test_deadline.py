"""A turn always ends, and says in its result what became of the state."""

import os
import select
import signal
from collections.abc import Callable
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox
from circlet.sandbox.errors import CodecError
from circlet.sandbox.testing import SandboxOf, zygote_without

NewBox = Callable[..., Sandbox]

STUBBORN = {
    "a plain loop": "while True: pass",
    "a bare except": "while True:\n  try:\n    while True: pass\n  except: pass",
    "except BaseException": (
        "while True:\n  try:\n    while True: pass\n  except BaseException: pass"
    ),
    "a body of one call": "while True:\n  try:\n    x = [1] * 1000\n  except BaseException: pass",
    "nested handlers": (
        "while True:\n  try:\n    while True:\n      try:\n        while True: pass\n"
        "      except BaseException: pass\n  except BaseException: pass"
    ),
    "finally: continue": "while True:\n  try:\n    while True: pass\n  finally: continue",
    "__exit__ that swallows": (
        "class C:\n  def __enter__(s): return s\n  def __exit__(s, *a): return True\n"
        "while True:\n  with C():\n    while True: pass"
    ),
    "recursion in a handler": (
        "def f():\n  try:\n    while True: pass\n  except BaseException: f()\nf()"
    ),
    "a loop inside the handler": (
        "def f():\n  while True:\n    try:\n      while True: pass\n"
        "    except BaseException:\n      while True: pass\n"
        "while True:\n  try: f()\n  except BaseException: pass"
    ),
    "a generator that swallows": (
        "def g():\n  while True:\n    try: yield 1\n    except BaseException: pass\n"
        "h = g()\nwhile True:\n  try:\n    for _ in h: pass\n  except BaseException: pass"
    ),
    "__eq__ called from C": (
        "class E:\n  def __eq__(s, o):\n    try:\n      while True: pass\n"
        "    except BaseException: return False\nl = [E()] * 1000000\nwhile True:\n"
        "  try: 1 in l\n  except BaseException: pass"
    ),
    "a sort key that swallows": (
        "def k(x):\n  try:\n    for i in range(10**9): pass\n  except BaseException: return 1\n"
        "sorted(range(10**6), key=k)"
    ),
    "sleep": "import time\ntime.sleep(100)",
    "a C loop that looks for signals": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "print": "while True: print('x')",
    "gate calls": "while True:\n  try: echo()\n  except BaseException: pass",
    "raises something else": (
        "try:\n  while True: pass\nexcept BaseException: raise ValueError('not my fault')"
    ),
    "finally that raises": "try:\n  while True: pass\nfinally: raise ValueError('not me')",
    "__exit__ that swallows, then the end": (
        "class C:\n  def __enter__(s): return s\n  def __exit__(s, *a): return True\n"
        "with C():\n  while True: pass"
    ),
    "ends quietly": "try:\n  while True: pass\nexcept BaseException: late = 1",
}


@pytest.fixture(scope="module")
def hasty(backend: Any) -> Any:
    """A session whose turns have 150 ms."""
    with Sandbox(
        gates={"echo": lambda: None}, limits=Limits(eval_ms=150), backend=backend
    ) as session:
        yield session


@pytest.mark.parametrize("name", STUBBORN)
def test_no_program_outlives_its_time(hasty: Sandbox, name: str) -> None:
    """Case 10: whatever a program catches, its turn is stopped and its state is kept."""
    hasty.run("keep = [1, 2, 3]")
    run = hasty.run("print('about to spin')\n" + STUBBORN[name])
    assert (run.status, run.state) == ("timeout", "kept")
    assert run.error is not None
    assert run.error.type == "TurnTimeout"
    assert "150 ms" in run.error.message
    assert run.stdout.startswith("about to spin\n")
    assert hasty.run("keep.append(4)\nkeep").value == [1, 2, 3, 4]


def test_the_interrupt_never_lands_in_a_later_turn(new_box: NewBox) -> None:
    """Turns that end about when their time is up are whole or stopped, and the next is clean."""
    session = new_box(eval_ms=10)
    for number in range(100):
        run = session.run(
            "import time\nend = time.monotonic() + 0.0098\nwhile time.monotonic() < end: pass"
        )
        assert run.status in ("ok", "timeout")
        assert (run.error is None) == (run.status == "ok")
        run = session.run(f"{number}")
        had_its_time = run.status == "timeout" and run.duration_ms >= session.limits.eval_ms
        assert run.value == number or had_its_time  # the machine may be busy with others


def test_the_shortest_limit_ends_a_turn_too(new_box: NewBox) -> None:
    """A timer that has run out before the program begins is not lost."""
    session = new_box(eval_ms=1)
    for _ in range(30):
        assert session.run("while True: pass").state == "kept"


_TRIPPED = """
import signal, sys, _thread
class Trip:
    __getitem__ = _thread.interrupt_main
trip = Trip()
def trip_at(number):
    seen = 0
    def look(frame, event, _):
        nonlocal seen
        frame.f_trace_opcodes = True
        if event == "opcode":
            seen += 1
            if seen == number:
                sys.settrace(None)
                tripped.append(number)
                trip[signal.SIGALRM]
                return None
        return look
    sys.settrace(look)
class Thing:
    def __repr__(self):
        return "thing"
"""
"""Has the timer's signal come before a given step of the interpreter, the runner's own included."""
_STRIDE = 23


@pytest.mark.kernel
@pytest.mark.parametrize(
    "source",
    [
        "print('a', 1)\nprint('b' * 30_000)",
        "got.append(echo([1, 'x']))\ngot.append(echo(2))",
        "[Thing(), {'a': (1, 2)}, b'x' * 30_000]",
        "1 / 0",
        "fresh = [1]",
        "exec('x = 1')",
        "done([1, 2])",
    ],
)
def test_the_interrupt_never_lands_in_the_runners_own_work(source: str) -> None:
    """Whenever time is up, the turn is told as one thing or the other, and the next is right.

    The deadline's signal is tripped at one step of the interpreter after another, from the
    program's first to the last of the report, in a worker without the language wall.
    """
    limits = Limits(eval_ms=60_000)
    gates = {"echo": lambda value=None: value}
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, gates=gates, limits=limits) as session,
    ):
        assert session.run(_TRIPPED).status == "ok"
        session.run("keep = 1")
        session.run("tripped = []\ntrip_at(1)")  # CPython 3.12 traces from the second time on
        whole = session.run(f"got = []\n{source}")
        step, is_over = 1, False
        while not is_over:
            run = session.run(f"tripped, got = [], []\ntrip_at({step})\n{source}")
            assert run.state == "kept"
            assert run.status in (whole.status, "timeout")
            assert (run.error is None) == (run.status in ("ok", "done"))
            assert whole.stdout.startswith(run.stdout)
            after = session.run("sys.settrace(None)\nkeep, tripped, len(got)")
            if after.status == "timeout":
                break  # past the turn's end: the trip came in this one
            assert after.value is not None
            keep, tripped, got = after.value
            assert keep == 1
            assert got <= len(run.gate_calls) <= len(whole.gate_calls)
            step, is_over = step + _STRIDE, not tripped
        assert step > 50 * _STRIDE
        assert session.run("echo(keep)").value == 1


def test_an_interrupt_at_the_limit_of_recursion_is_not_lost(hasty: Sandbox) -> None:
    """A gate or ``print`` that has no room for its calls leaves the deadline as it was."""
    hasty.run("keep = 1")
    source = """
def at(depth, act):
    if depth:
        return at(depth - 1, act)
    act()
for act in echo, print:
    for depth in range(880, 1000):
        try:
            at(depth, act)
        except (RecursionError, ValueError):
            pass
while True:
    pass
"""
    run = hasty.run(source)
    assert (run.status, run.state) == ("timeout", "kept")
    assert hasty.run("keep").value == 1


def test_what_a_stopped_turn_leaves_takes_no_time_of_the_next(hasty: Sandbox) -> None:
    """A coroutine that does not want to end ends with its own turn, not when it is found."""
    source = """
import asyncio
async def stay():
    while True:
        try:
            await asyncio.sleep(3600)
        except BaseException:
            pass
async def main():
    await asyncio.gather(*(stay() for _ in range(5)))
asyncio.run(main())
"""
    for _ in range(10):
        assert hasty.run(f"print('begun')\n{source}").stdout == "begun\n"
        assert hasty.run("len([[] for _ in range(2_000)])").value == 2_000


def test_finalizers_are_stopped_one_after_the_other(hasty: Sandbox) -> None:
    """What runs while things are let go of is the program's too, in its turn and after it."""
    finalizer = """
def g():
    try:
        yield
    finally:
        while True:
            pass
"""
    for held in ("held = [g() for _ in range(1_000)]", "held = [g()]"):
        for last in ("del held, one", "held = one = None\n1 / 0", "done(1)"):
            hasty.run("keep = 1")
            run = hasty.run(f"{finalizer}\n{held}\nfor one in held: next(one)\n{last}")
            assert run.state == "kept"
            assert hasty.run("held = one = None\nkeep").state == "kept"
            assert hasty.run("keep").value == 1


def test_too_many_finalizers_to_be_stopped_end_with_the_process(new_box: NewBox) -> None:
    """Each takes an interrupt of its own, and Python goes on with the next: the host kills."""
    session = new_box(eval_ms=400)
    session.run("keep = 1")
    source = """
def g():
    try:
        yield
    finally:
        while True:
            pass
held = []
while True:
    held.extend(g() for _ in range(1_000))
    for one in held[-1_000:]:
        next(one)
"""
    run = session.run(f"try:\n    exec({source!r})\nfinally:\n    held = one = None")
    assert run.status == "timeout"
    assert run.state in ("kept", "rolled_back")
    assert session.run("keep").value == 1


def test_one_long_operation_is_killed_and_the_result_says_so(new_box: NewBox) -> None:
    """Case 11: what no signal reaches is killed; the session goes on from its last whole turn."""
    session = new_box(eval_ms=100)
    session["given"] = [1]
    session.run("own = 1")
    run = session.run("print('begun')\nown = 2\nsum(range(10**12))")
    assert (run.status, run.state, run.stdout) == ("timeout", "rolled_back", "begun\n")
    assert "100 ms" in str(run)
    assert "rolled back to the end of turn 1" in str(run)
    assert session.run("given, own").value == ([1], 1)


def test_work_that_is_done_stays_done_whatever_follows(new_box: NewBox) -> None:
    """LOOP-3: an answer counts though the program's last steps cost its process."""
    session = new_box(eval_ms=100)
    session.run("keep = 1")
    run = session.run("try:\n    done([1])\nfinally:\n    sum(range(10**12))")
    assert (run.status, run.answer, run.state, run.error) == ("done", [1], "rolled_back", None)
    assert "rolled back to the end of turn 1" in str(run)
    assert session.run("keep").value == 1
    run = session.run("try:\n    done([2])\nfinally:\n    1 / 0")
    assert (run.status, run.answer, run.state) == ("done", [2], "kept")


def test_time_inside_a_gate_is_not_the_programs(backend: Any) -> None:
    """Case 13: a gate that takes longer than ``eval_ms`` costs the program nothing."""
    never = os.pipe()

    def slow() -> str:
        select.select([never[0]], [], [], 0.4)  # nothing comes: it waits its time out
        return "rested"

    with Sandbox(gates={"slow": slow}, limits=Limits(eval_ms=100), backend=backend) as session:
        run = session.run("slow()")
        assert (run.status, run.value) == ("ok", "rested")
        assert session.run("slow()\nwhile True: pass").status == "timeout"
    for end in never:
        os.close(end)


@pytest.mark.parametrize(
    "source",
    ["'ab' * 10**11", "x = []\nwhile True: x.append(bytes(1 << 20))", "[0] * 10**10"],
)
def test_memory_is_bounded_and_state_is_kept(new_box: NewBox, source: str) -> None:
    """Case 11: a program that wants more than its memory gets an error; its state is kept."""
    session = new_box(memory_mb=64)
    session.run("keep = 1")
    run = session.run(source)
    assert (run.status, run.state) == ("memory", "kept")
    assert run.error is not None
    assert run.error.type == "MemoryError"
    assert "64 MiB" in run.error.message
    session.run("x = None")
    assert session.run("keep").value == 1
    assert session.run(source).status == "memory"


def test_a_value_that_there_is_no_room_to_send_is_an_error(new_box: NewBox) -> None:
    """A value that fits into the program but not twice is told, and the state is kept."""
    session = new_box(memory_mb=64)
    run = session.run("big = b'x' * (40 << 20)\nbig")
    assert run.state == "kept"
    with pytest.raises(CodecError, match="MemoryError"):
        _ = run.value
    assert session.run("len(big)").value == 40 << 20


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    big = bytearray(40 << 20)\n    bytearray(40 << 20)\nf()",
        "def f():\n    big = bytearray(40 << 20)\n    1 / 0\nf()",
        "bytearray(40 << 20)",
        "class R:\n    def __init__(self): self.big = bytearray(40 << 20)\n"
        "    def __repr__(self):\n        mine = self.big\n        while True: pass\nR()",
    ],
)
def test_a_failed_turns_memory_is_free_for_the_next(new_box: NewBox, source: str) -> None:
    """What only a failed turn's frames or its last value held is there for the next turn."""
    session = new_box(memory_mb=64)
    session.run(source)
    run = session.run("len(bytearray(40 << 20))")
    assert (run.value, run.state) == (40 << 20, "kept")


def test_deep_recursion_is_an_error(new_box: NewBox) -> None:
    """Recursion without end is a RecursionError, not a crash."""
    session = new_box()
    run = session.run("def f(): return f()\nf()")
    assert run.error is not None
    assert (run.error.type, run.state) == ("RecursionError", "kept")
    run = session.run("class A:\n    def __repr__(s): return repr([s])\nA()")
    assert (run.status, run.state) == ("ok", "kept")


def test_a_worker_that_dies_is_told_and_replaced(backend: Any) -> None:
    """A crash ends the turn with status ``crashed``; output and calls up to it are kept."""

    def die() -> None:
        assert session.pid is not None
        os.kill(session.pid, signal.SIGKILL)

    with Sandbox(gates={"die": die}, backend=backend) as session:
        session["given"] = 1
        session.run("own = 2")
        run = session.run("print('before')\ndie()\nwhile True: pass")
        assert (run.status, run.state, run.stdout) == ("crashed", "rolled_back", "before\n")
        assert [call.gate for call in run.gate_calls] == ["die"]
        assert session.run("given, own").value == (1, 2)


def test_a_worker_that_died_between_turns_is_replaced(backend: Any) -> None:
    """A variable is set, and the state is there, though the worker has died meanwhile."""
    with Sandbox(backend=backend) as session:
        session.run("own = 2")
        assert session.pid is not None
        handle = os.pidfd_open(session.pid)
        os.kill(session.pid, signal.SIGKILL)
        select.select([handle], [], [])
        os.close(handle)
        session["x"] = b"1" * 1_000_000
        assert session.run("len(x), own").value == (1_000_000, 2)
