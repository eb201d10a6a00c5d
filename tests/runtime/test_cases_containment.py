"""Programs that hang, take too much, or look for a way out: each costs a turn, never the cast."""

from __future__ import annotations

import os
import re
import sys
import threading

import pytest
from circlet import ScriptedLLM, gate

ONE_SECOND = [{"max_turns": 10}, {"max_eval_ms": 1000}]
SHORT = [{"max_turns": 10}, {"max_eval_ms": 100}, {"max_memory_mb": 64}]


def turns_of(cast):
    """What each turn of a cast came to: its observation and its state."""
    return [(turn.observation, turn.state) for turn in cast.thread]


# -- one turn is stopped, the next finds what was there (cases 10) -------------------------------


def test_an_endless_loop_in_a_function(code):
    """WARD-2: a turn that never ends is stopped; output up to it and variables are there."""
    first = """
kept = "before"
print("about to spin")
def spin():
    while True:
        pass
spin()
"""
    cast = code([{"code": first}, {"code": "done(kept)"}], wards=ONE_SECOND).cast("go")
    (stopped, state), _ = turns_of(cast)
    assert stopped.is_error
    assert "1,000 ms" in stopped.text
    assert "about to spin" in stopped.text
    assert (cast.terminated, cast.turns, state, cast.result) == (True, 2, "kept", "before")


LOOPS = {
    "in a finally": "try:\n    1 / 0\nfinally:\n    while True: pass",
    "in an except": (
        "while True:\n    try:\n        while True: pass\n    except BaseException: pass"
    ),
    "in a generator": "def g():\n    while True: yield\nfor _ in g(): pass",
    "in a sort key": "def key(x):\n    while True: pass\nsorted([2, 1], key=key)",
    "in a method that Python calls": (
        "class C:\n    def __eq__(self, other):\n        while True: pass\nC() in [C()]"
    ),
    "in a coroutine": (
        "import asyncio\nasync def f():\n    while True: await asyncio.sleep(0)\nasyncio.run(f())"
    ),
    "in a sleep": "import time\ntime.sleep(3600)",
    "that prints": "while True: print('again')",
}


@pytest.mark.parametrize("name", LOOPS)
def test_a_loop_wherever_it_hides(code, name):
    """WARD-2: what was bound before a turn was stopped is kept, wherever it was stopped."""
    first = f"kept = 'before'\nprint('begun')\n{LOOPS[name]}"
    cast = code([{"code": first}, {"code": "done(kept)"}], wards=SHORT).cast("go")
    (stopped, state), _ = turns_of(cast)
    assert stopped.is_error
    assert "100 ms" in stopped.text
    assert "begun" in stopped.text
    assert (cast.turns, state, cast.result) == (2, "kept", "before")


# -- one operation of C (cases 11) ---------------------------------------------------------------

OPERATIONS = {
    "a power": ("x = 7 ** (10 ** 9)", "100 ms"),
    "a sum": ("sum(range(10**12))", "100 ms"),
    "a text": ("'ab' * 10**11", "64 MiB"),
    "a regular expression": ("import re\nre.match('(a+)+$', 'a' * 60 + 'b')", "100 ms"),
    "an endless iterator": ("import itertools\nmax(itertools.count())", "100 ms"),
    "a list": ("x = []\nwhile True: x.append(bytes(1 << 20))", "64 MiB"),
    "keys of one hash": (
        "dict.fromkeys([n * ((1 << 61) - 1) for n in range(60_000)])",
        "100 ms",
    ),
}


@pytest.mark.parametrize("name", OPERATIONS)
def test_one_operation_that_takes_too_much(code, name):
    """WARD-2: the ward is named; what the turns before it left is there, or said to be undone."""
    source, limit = OPERATIONS[name]
    replies = [
        {"code": "kept = ['turn one']"},
        {"code": f"kept.append('turn two')\n{source}"},
        {"code": "done(kept)"},
    ]
    cast = code(replies, wards=SHORT).cast("go")
    _, (stopped, state), _ = turns_of(cast)
    assert stopped.is_error
    assert limit in stopped.text
    assert (cast.terminated, cast.turns) == (True, 3)
    if state == "kept":
        assert cast.result == ["turn one", "turn two"]
    else:
        assert state == "rolled_back"
        assert "rolled back to the end of turn 1: what turn 2 changed is undone" in stopped.text
        assert cast.result == ["turn one"]


def test_what_was_called_in_a_turn_that_is_undone_is_named(code):
    """WARD-2: the calls of a turn that was rolled back stand, and are told with their results."""
    paid = []

    @gate
    def pay(amount: int) -> str:
        """Pay."""
        paid.append(amount)
        return f"receipt {amount}"

    replies = [
        {"code": "kept = 1"},
        {"code": "receipt = pay(7)\nsum(range(10**12))"},
        {"code": "done([kept, 'receipt' in globals()])"},
    ]
    cast = code(replies, pay, wards=SHORT).cast("go")
    _, (stopped, state), _ = turns_of(cast)
    assert (paid, state, cast.result) == ([7], "rolled_back", [1, False])
    told = next(line for line in stopped.text.splitlines() if "pay(7) gave" in line)
    assert "receipt 7" in told


def test_others_make_progress_meanwhile(deep):
    """COMP-3: one child's operation keeps neither its sibling nor its parent from working."""
    events = []
    sibling_is_done = threading.Event()

    @gate
    def note(what: str) -> None:
        """Note that something has happened."""
        events.append(what)
        if what == "sibling":
            sibling_is_done.set()

    @gate
    def wait() -> bool:
        """Wait until the sibling is done."""
        return sibling_is_done.wait(60)

    children = ScriptedLLM(
        {
            "busy": [
                {"code": "note('begun')\nsum(range(10**12))"},
                {"code": "wait()\nnote('busy')\ndone('alive')"},
            ],
            "quick": [{"code": "note('sibling')\ndone('quick')"}],
        }
    )
    parent = "done(call_entity_batch([{'intent': 'busy'}, {'intent': 'quick'}]))"
    spell = deep([{"code": parent}], note, wait, wards=SHORT, child_llm=children)
    assert spell.cast("go").result == ["alive", "quick"]
    assert sorted(events) == ["begun", "busy", "sibling"]


# -- whose clock runs (cases 13) -----------------------------------------------------------------


def test_a_gate_and_a_child_take_their_own_time(deep):
    """WARD-2: time inside a gate is not the program's, a child's model's included."""
    go_on = threading.Event()
    threading.Timer(0.4, go_on.set).start()

    @gate
    def slow() -> str:
        """Take longer than a program may."""
        go_on.wait(60)
        return "slow"

    child = ScriptedLLM([{"code": "done('rested')", "delay_ms": 400}])
    replies = [{"code": "r = [slow(), call_entity({'intent': 'nap'})]\ndone(r)"}]
    cast = deep(replies, slow, wards=SHORT, child_llm=child).cast("go")
    assert cast.result == ["slow", "rested"]


def test_a_gate_that_hangs_is_cut_by_its_own_time(code):
    """CIRCLE-5: past its ``timeout_s`` a gate is an error observation; the cast goes on."""
    never = threading.Event()

    @gate(timeout_s=0.3)
    def hang() -> None:
        """Hang until the test is over."""
        never.wait(60)

    replies = [
        {"code": "kept = 1\nprint('before')\nhang()"},
        {"code": "try:\n    hang()\nexcept TimeoutError as error:\n    done([kept, str(error)])"},
    ]
    cast = code(replies, hang, wards=SHORT).cast("go")
    never.set()
    (stopped, state), _ = turns_of(cast)
    assert stopped.is_error
    assert "before" in stopped.text
    assert "hang" in stopped.text
    assert "0.3" in stopped.text
    assert (state, cast.result[0]) == ("kept", 1)
    assert "0.3" in cast.result[1]


def test_time_in_gates_does_not_add_to_the_program_s(code):
    """WARD-2: what a program has left of its time after a gate is what it had before it."""

    @gate
    def noop() -> None:
        """Return."""

    looping = "noop()\n" * 20 + "while True: pass"
    replies = [{"code": looping}, {"code": "done('next')"}]
    cast = code(replies, noop, wards=SHORT).cast("go")
    (stopped, state), _ = turns_of(cast)
    assert "100 ms" in stopped.text
    assert (state, cast.result) == ("kept", "next")


# -- ways out (cases 27) -------------------------------------------------------------------------

WAYS_OUT = [
    'print("{0.__class__.__mro__}".format(1))',
    "print(done.__globals__, call_entity.__closure__)",
    """
try:
    1 / 0
except ZeroDivisionError as e:
    print(e.__traceback__.tb_frame.f_back.f_globals)
""",
    'print((lambda: (yield))().gi_frame.f_back, getattr([], "__cl" + "ass__"))',
    "import random\nprint(random._os.environ)",
    # and of their kinds
    'print("{0.__globals__}".format(done))',
    'print("{d.__self__}".format_map({"d": print}))',
    'f"{done.__init__.__globals__}"',
    "import string\nprint(string.Formatter().format('{0.__globals__}', done))",
    "print(done.__call__.__func__.__globals__)",
    "print(type(done).__call__.__globals__)",
    "print(getattr(done, '__glo' + 'bals__'))",
    "import operator\nprint(operator.attrgetter('__globals__')(done))",
    "def f(): pass\nprint(f.__globals__['__builtins__'])",
    "def f():\n    yield g.gi_frame.f_back\ng = f()\nprint(next(g))",
    "async def f(): pass\nprint(f().cr_frame)",
    "try:\n    done()\nexcept TypeError as e:\n    print(e.__traceback__.tb_next.tb_frame)",
    "print(().__class__.__base__.__subclasses__())",
    "class A: pass\nprint(A.__mro__[1].__subclasses__())",
    "print(__import__('os').environ)",
    "import json\nprint(json.codecs.builtins)",
    "import re\nprint(re.enum.sys.modules)",
    "import collections\nprint(collections._sys.path)",
    "from random import _os",
    "print(open('/etc/passwd').read())",
    "import sys\nprint(sys.modules)",
    "import sys\nprint(sys._getframe(1).f_globals)",
    "import inspect\nprint(inspect.stack())",
    "import traceback\nprint(traceback.walk_stack(None).gi_frame)",
    "match done:\n    case object(__class__=c): print(c)",
]

HOST = [sys.prefix, sys.base_prefix, os.path.dirname(os.__file__), "site-packages", "sandbox/"]
"""Texts that would tell a program where it runs."""


@pytest.mark.parametrize("program", WAYS_OUT)
def test_a_way_out_of_the_box_is_an_error(deep, monkeypatch, program):
    """CIRCLE-6: no object, path, address or variable of the host's is in any observation."""
    monkeypatch.setenv("CASTLE_KEY", "portcullis-4711")
    cast = deep([{"code": program}, {"code": "done('still here')"}]).cast("go")
    told = cast.thread[0].observation
    assert told.is_error
    assert (cast.terminated, cast.turns, cast.result) == (True, 2, "still here")
    assert not re.search(r"0x[0-9a-f]{6,}", told.text)
    for text in ("portcullis-4711", "CASTLE_KEY", "HOME", *HOST):
        assert text not in told.text
    assert told.printed == ""
