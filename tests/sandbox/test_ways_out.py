"""Ways out of the namespace that were once open: each is a program that must get nowhere."""

from __future__ import annotations

import pytest
from circlet.sandbox import Sandbox

REFUSED = {
    "the builtins through globals()": 'globals()["__builtins__"]',
    "another object's variables by cached_property": """
import json
from functools import cached_property
class P(cached_property):
    def hit(self, other):
        return super().__get__(other, None)
p = P(len)
p.attrname = "loads"
escaped = p.hit(json)
""",
    "type, by a method that takes a class for its object": """
from collections import Counter
escaped = Counter.copy(int)
""",
    "a class of any names, by a method that takes a class for its object": """
from collections import ChainMap
class A:
    maps = [(object,), {"__match_args__": ("__globals__",)}]
escaped = ChainMap.new_child(A, "X")
""",
    "type, by a property's function": """
from random import Random
from decimal import Decimal
from fractions import Fraction
from collections import ChainMap
escaped = ChainMap.parents.fget(type("", (), {}) if False else int)
""",
    "a loaded module by the name of a part": """
from json import scanner
escaped = scanner
""",
    "a loaded module by the name of a part, in a text": """
names = {}
exec("from asyncio import subprocess as s", names)
escaped = names["s"]
""",
    "type, handed to a hook of the program's own": """
from abc import ABC
found = []
class A(ABC):
    @classmethod
    def __subclasshook__(cls, other):
        found.append(other)
        return NotImplemented
isinstance(int, A)
isinstance(A, A)
escaped = [one for one in found if one not in (int, A)] or None
""",
    "a library object's variables by a memo": """
from copy import deepcopy
from functools import partialmethod
class D:
    def __get__(self, owner, kind):
        return len
class C:
    m = partialmethod(D())
kept = []
class Memo(dict):
    def setdefault(self, key, default):
        return kept
    def get(self, key, default=None):
        return dict.get(self, key, default)
deepcopy(C().m, Memo())
deepcopy(ValueError(1), memo := {})
escaped = kept or [one for one in memo.values() if isinstance(one, list)] or None
""",
    "private names by a variable that changes": """
import random
class A:
    _randbelow = None
class M(dict):
    looks = 0
    def __getitem__(self, key):
        if key != "x":
            raise KeyError(key)
        M.looks += 1
        return A() if M.looks % 2 else random.Random(1)
escaped = eval("x._randbelow", {}, M())
""",
    "private names of a metaclass": """
from enum import Enum
class E(Enum):
    A = 1
try:
    E.A._convert_
except AttributeError:
    pass
escaped = E._convert_
""",
    "super, by a table of names": """
globals()["super"] = lambda *_: int
escaped = super().__init_subclass__
""",
    "anything's variables by a logging format": """
import logging, types
got = []
class T:
    def __mod__(self, values):
        got.append(values)
        return ""
class F(logging.Formatter):
    def __init__(self):
        super().__init__()
        self._text, self._style = T(), "%"
try:
    F().formatMessage(types.FunctionType)
except AttributeError:
    logging.Formatter().formatMessage(types.FunctionType)
escaped = got or None
""",
    "a closed base, by a record that is asked twice": """
import logging, types
looks = []
def entries(bases):
    looks.append(1)
    return (object,) if len(looks) == 1 else (types.GenericAlias,)
class G(logging.makeLogRecord({"__mro_entries__": entries})):
    pass
escaped = G if issubclass(G, types.GenericAlias) else None
""",
    "a frame by an enum's property": """
import enum
class D:
    def __get__(self, owner, kind=None):
        return 5
class Mix:
    gi_frame = D()
class E(Mix, enum.Enum):
    gi_frame = 1
class X:
    pass
X.y = vars(E)["gi_frame"]
def generator():
    yield
x = X()
x._value_ = generator()
y = x.y
escaped = None if isinstance(y, E) else y
""",
    "str.format by asdict": """
from dataclasses import asdict, dataclass
@dataclass(init=False)
class S(str):
    format: object
escaped = asdict(S("{0.__globals__}"))["format"]
""",
    "a private attribute of a library object by astuple": """
from dataclasses import astuple, dataclass
import random
@dataclass(init=False)
class R(random.Random):
    _randbelow: object
escaped = astuple(R())
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
escaped = X if issubclass(X, ast.Name) else None
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
from dataclasses import dataclass, fields
escaped = fields(dataclass(D)) or None
""",
    "a special attribute by wraps, under a name that passes for another": """
from functools import update_wrapper
class Name(str):
    __eq__ = lambda self, other: other == "__name__"
    __hash__ = str.__hash__
class A:
    pass
class B:
    pass
update_wrapper(A, B, assigned=[Name("__module__")], updated=())
escaped = "copied"
""",
    "a frame by a task's stack": """
import asyncio
async def main():
    return asyncio.current_task().get_stack()
frames = asyncio.run(main())
escaped = None if all(isinstance(frame, tuple) for frame in frames) else frames
""",
}
READ_WHERE_IT_IS_SET = [
    *("__setattr__", "__delattr__", "__new__", "__init__", "__get__", "__set__", "__getattr__"),
    *("__init_subclass__", "__class_getitem__", "__subclasshook__", "__wrapped__", "format"),
]


@pytest.mark.parametrize("name", READ_WHERE_IT_IS_SET)
def test_augmented_assignment_reads_nothing_that_a_guard_would_keep(name):
    """It reads what it sets: only where both are free is it allowed."""
    with Sandbox() as box:
        run = box.run(
            "found = []\nclass Taker:\n    def __radd__(self, other):\n"
            "        found.append(other)\n        return other\n"
            f"class A(property): pass\nA.{name} += Taker()\n"
        )
        assert f'"{name}" can\'t be the target of an augmented assignment' in str(run)
        assert box.run("class B:\n    'a'\nB.__doc__ += 'b'\nB.__doc__").value == "ab"


@pytest.mark.parametrize("way", REFUSED)
def test_a_way_out_is_closed(way):
    """The program ends in an error, or at least without what it was after."""
    with Sandbox() as box:
        run = box.run(f"escaped = None\n{REFUSED[way]}\nescaped")
        assert run.status == "error" or run.value is None


OVERWRITE = """
from dataclasses import dataclass
@dataclass(frozen=True)
class Write:
    _call: object
    search: object
"""


def test_gates_and_modules_cannot_be_made_anew():
    """``__init__``, a dataclass's too, can be called on anything: no gate or module changes."""
    with Sandbox(gates={"echo": lambda x: x}) as box:
        box.run('echo.__init__("x", None, {"signature": "", "parameters": [], "seal": []})')
        box.run('done.__init__("x", None, {"signature": "", "parameters": [], "seal": []})')
        box.run('import re\nre.__init__("re", {"search": 5})')
        box.run(f"{OVERWRITE}\nWrite.__init__(echo, None, None)")
        box.run(f"{OVERWRITE}\nWrite.__init__(done, lambda *_: 'hijacked', 'x')")
        box.run(f"import re\n{OVERWRITE}\nWrite.__init__(re, 5, 5)")
        thawed = OVERWRITE.replace("frozen=True", "frozen=False")
        box.run(f"import re\n{thawed}\nWrite.__init__(re, 5, 5)")
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
