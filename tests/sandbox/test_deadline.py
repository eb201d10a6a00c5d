"""A turn always ends, and says in its result what became of the state."""

import os
import select
import signal
from collections.abc import Callable
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox
from circlet.sandbox.errors import CodecError, SandboxClosed

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
        assert session.run(f"{number}").value == number


def test_the_shortest_limit_ends_a_turn_too(new_box: NewBox) -> None:
    """A timer that has run out before the program begins is not lost."""
    session = new_box(eval_ms=1)
    for _ in range(30):
        assert session.run("while True: pass").state == "kept"


def test_one_long_operation_costs_the_state_and_the_result_says_so(new_box: NewBox) -> None:
    """Case 11: what no signal reaches is killed; the session goes on with the host's variables."""
    session = new_box(eval_ms=100)
    session["given"] = [1]
    session.run("own = 1")
    run = session.run("print('begun')\nsum(range(10**12))")
    assert (run.status, run.state, run.stdout) == ("timeout", "lost", "begun\n")
    assert "100 ms" in str(run)
    assert "state of this session was lost" in str(run)
    run = session.run("given, 'own' in globals()")
    assert run.value == ([1], False)


def test_work_that_is_done_stays_done_whatever_follows(new_box: NewBox) -> None:
    """LOOP-3: an answer counts though the program's last steps cost its process."""
    session = new_box(eval_ms=100)
    run = session.run("try:\n    done([1])\nfinally:\n    sum(range(10**12))")
    assert (run.status, run.answer, run.state, run.error) == ("done", [1], "lost", None)
    assert "state of this session was lost" in str(run)
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
        run = session.run("print('before')\ndie()\nwhile True: pass")
        assert (run.status, run.state, run.stdout) == ("crashed", "lost", "before\n")
        assert [call.gate for call in run.gate_calls] == ["die"]
        assert session.run("given").value == 1


def test_a_worker_that_died_between_turns_is_told(backend: Any) -> None:
    """A variable that a dead worker can't take is an error; a fresh worker is given it."""
    with Sandbox(backend=backend) as session:
        assert session.pid is not None
        handle = os.pidfd_open(session.pid)
        os.kill(session.pid, signal.SIGKILL)
        select.select([handle], [], [])
        os.close(handle)
        with pytest.raises(SandboxClosed, match="state of the session is lost"):
            session["x"] = b"1" * 1_000_000
        assert session.run("len(x)").value == 1_000_000
