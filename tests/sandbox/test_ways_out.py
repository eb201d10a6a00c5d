"""Ways out of the namespace that were once open: each is a program that must get nowhere."""

from __future__ import annotations

import pytest
from circlet.sandbox import Sandbox

REFUSED = {
    "the builtins through globals()": 'globals()["__builtins__"]',
    "a private attribute by a registered class's pattern": """
from abc import ABC
from dataclasses import dataclass
import random
@dataclass
class P(ABC):
    _randbelow: object
P.register(random.Random)
match random.Random(1):
    case P(x):
        escaped = x
""",
    "str.format by a registered namedtuple's pattern": """
from abc import ABC
from collections import namedtuple
class Q(namedtuple("Q", "format"), ABC):
    pass
Q.register(str)
match "{0.f.__globals__}":
    case Q(f):
        escaped = f
""",
    "str.format by a typing.NamedTuple's pattern": """
from abc import ABC
from typing import NamedTuple
class N(NamedTuple):
    format: object
class Q(N, ABC):
    pass
Q.register(str)
match "{0.f.__globals__}":
    case Q(f):
        escaped = f
""",
    "str.format by a dataclass's pattern": """
from dataclasses import dataclass, field
@dataclass
class S(str):
    format: object = field(init=False)
match S():
    case S(f):
        escaped = f
""",
    "a base that changes between two looks": """
import ast
class Base:
    def __init__(self):
        self.looks = 0
    def __getattr__(self, name):
        self.looks += 1
        return lambda bases: (object,) if self.looks < 2 else (ast.Name,)
class X(Base()):
    _fields = ("__class__",)
escaped = X
""",
    "a field renamed to a special name": """
from dataclasses import asdict, dataclass, field, fields
@dataclass
class C:
    x: int = 1
fields(C)[0].name = "__class__"
escaped = asdict(C())
""",
    "annotations brought by wraps": """
import functools
class Source:
    def __getattr__(self, name):
        return {"x=print": int}
@functools.wraps(Source())
class D:
    pass
escaped = D
""",
}


@pytest.mark.parametrize("way", REFUSED)
def test_a_way_out_is_closed(way):
    """The program ends in an error, or at least without what it was after."""
    with Sandbox() as box:
        run = box.run(f"escaped = None\n{REFUSED[way]}\nescaped")
        assert run.status == "error" or run.value is None


def test_gates_and_modules_cannot_be_made_anew():
    """``__init__`` can be called on anything: it changes neither a gate nor a module."""
    with Sandbox(gates={"echo": lambda x: x}) as box:
        box.run('echo.__init__("x", None, {"signature": "", "parameters": [], "seal": []})')
        box.run('done.__init__("x", None, {"signature": "", "parameters": [], "seal": []})')
        box.run('import re\nre.__init__("re", {"search": 5})')
        assert box.run("echo(7)").value == 7
        assert box.run('re.search("b", "abc").start()').value == 1
        assert box.run("done(3)").answer == 3


@pytest.mark.parametrize(
    "source",
    [
        "[done := 1 for _ in range(1)]",
        "def f(a=(done := 1)): pass",
        "f = lambda a=(done := 1): a",
        "class A((done := object)): pass",
        "@(done := (lambda f: f))\ndef f(): pass",
    ],
)
def test_a_gate_cannot_be_rebound_in_the_turns_own_scope(source):
    """A walrus in a comprehension, and what stands in a signature, bind in the scope around it."""
    with Sandbox() as box:
        assert "is a gate here" in str(box.run(source))
        assert box.run("def g():\n    done = 2\n    return done\ng()").value == 2


def test_a_narrowed_package_shows_its_listed_parts_only():
    """``modules`` narrows: a package that is not listed has only those of its parts that are."""
    with Sandbox(modules=("collections.abc",)) as box:
        assert box.run("import collections.abc\ncollections.abc.Sized.__name__").value == "Sized"
        assert "no 'Counter'" in str(box.run("collections.Counter"))
        assert box.run("import collections").status == "error"
    with Sandbox(modules=("collections",)) as box:
        assert "no 'abc'" in str(box.run("import collections\ncollections.abc"))
