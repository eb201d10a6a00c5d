"""Nothing of a program's runs between turns, and what one turn leaves can't speak for the next."""

from __future__ import annotations

import pytest
from circlet.sandbox import Limits, Sandbox

LEFT: dict[str, str] = {
    "a generator's finally": """
def g():
    try:
        yield
    finally:
        {do}
def f():
    one = g()
    next(one)
    1 / 0
f()
""",
    "a weak reference's callback": """
import weakref
class A: pass
def f():
    a = A()
    keep.append(weakref.ref(a, lambda _: ({do})))
    1 / 0
keep = []
f()
""",
    "an object in a cycle": """
import weakref
class A: pass
a = A()
a.me = a
r = weakref.ref(a, lambda _: ({do}))
del a
""",
    "what sys.stdout was turned to": """
import sys, weakref
class W:
    def write(self, text): pass
w = W()
r = weakref.ref(w, lambda _: ({do}))
sys.stdout = w
del w
""",
    "a rebound builtin": """
import weakref
class W: pass
w = W()
r = weakref.ref(w, lambda _: ({do}))
globals()["len"] = w
del w, globals()["len"]
""",
}


@pytest.fixture(scope="module")
def session():
    """A session with a gate that notes its calls."""
    calls: list[str] = []

    def tell(what: str) -> str:
        calls.append(what)
        return "told"

    with Sandbox(gates={"tell": tell}, limits=Limits(eval_ms=2_000)) as box:
        box.calls = calls
        yield box


@pytest.mark.parametrize("what", LEFT)
def test_a_call_from_what_a_turn_leaves_is_no_part_of_the_next(session, what):
    """A gate that is called when the turn's rest is dropped is called in that turn, or never."""
    first = session.run(LEFT[what].format(do="tell('left')"))
    assert first.state == "kept"
    second = session.run("print('innocent')\n1 + 1")
    assert (second.status, second.stdout, second.value) == ("ok", "innocent\n", 2)
    assert [call.gate for call in second.gate_calls] == []


@pytest.mark.parametrize("what", LEFT)
def test_what_a_turn_leaves_has_no_time_of_its_own(session, what):
    """An endless finalizer is stopped with its turn: the state is kept, the next turn is free."""
    session.run("def spin():\n    while True: pass\nkept = 'kept'")
    assert session.run(LEFT[what].format(do="spin()")).state == "kept"
    assert session.run("kept").value == "kept"


STUBBORN = {
    "a class's name": """
class S(str):
    def __getitem__(self, index):
        raise ValueError("x")
class X(Exception): pass
X.__name__ = S("X")
raise X("boo")
""",
    "a subclass of the loop": """
import asyncio
class L(type(asyncio.new_event_loop())):
    def leave(self): pass
    def abandon(self): raise ValueError
async def m(): pass
L().run_until_complete(m())
""",
    "an outcome that is none": "tell(Truncated(5))",
    "an unhashable member": (
        "class L(list): __hash__ = object.__hash__\ntell({L()})"
    ),
}  # fmt: skip


@pytest.mark.parametrize("what", STUBBORN)
def test_the_runner_outlives_it(session, what):
    """What the runner reads of a program's objects runs nothing of theirs, and can't break it."""
    session.run("kept = 'kept'")
    assert session.run(STUBBORN[what]).state == "kept"
    assert session.run("kept").value == "kept"


@pytest.mark.parametrize(
    "source",
    [
        'import sys\nsys.stdout.__init__("<stdout>", lambda text: None)',
        "import sys\nsys.stdout.name = 'mine'",
        "import typing\ntyping.List.__init__(int, 1)",
        "from fractions import Fraction\nFraction.numerator.__init__(lambda self: 5)",
        "import json\njson.JSONDecoder.__init__(json)",
    ],
)
def test_a_shared_object_is_not_set_up_anew(session, source):
    """``__init__`` is for the program's own objects."""
    assert session.run(source).status == "error"
    assert session.run("print('here')").stdout == "here\n"


def test_ones_own_objects_are_set_up_by_their_bases(session):
    """``Base.__init__(self)`` works as ever, and so do subclasses of the library's classes."""
    source = """
from collections import UserDict
class A:
    def __init__(self, x): self.x = x
class B(A):
    def __init__(self): A.__init__(self, 1)
class E(Exception):
    def __init__(self, m): Exception.__init__(self, m); self.m = m
class D(dict):
    def __init__(self): dict.__init__(self, a=1)
class U(UserDict):
    def __init__(self): UserDict.__init__(self, {"k": 1})
b = B()
b.__init__()
b.x, str(E("m")), dict(D()), dict(U())
"""
    assert session.run(source).value == (1, "m", {"a": 1}, {"k": 1})
