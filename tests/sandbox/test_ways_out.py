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
    "a generator's frame by a registered class's pattern": """
from abc import ABC
from collections import namedtuple
class C(namedtuple("N", "gi_frame"), ABC):
    pass
def generator():
    yield
one = generator()
C.register(type(one))
match one:
    case C(frame):
        escaped = frame
""",
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
    "globals by a pattern of the program's own names": """
from abc import ABC
import json
class C(ABC):
    __match_args__ = ("__globals__",)
C.register(type(json.dumps))
match json.dumps:
    case C(found):
        escaped = found
""",
    "globals by a nested pattern": """
from abc import ABC
import json
class C(ABC):
    __match_args__ = ("__globals__",)
C.register(type(json.dumps))
match [{"k": json.dumps}]:
    case [{"k": (C(found) | str(found))}]:
        escaped = found
""",
    "a pattern's class that changes between two looks": """
from abc import ABC
import json
class Good(ABC):
    __match_args__ = ("real",)
class Bad(ABC):
    __match_args__ = ("__globals__",)
Bad.register(type(json.dumps))
class Changing:
    looks = 0
    def __getattr__(self, name):
        Changing.looks += 1
        return Good if Changing.looks == 1 else Bad
one = Changing()
match json.dumps:
    case one.kind(found):
        escaped = found
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
    "a kept class of another match": """
from abc import ABC
import json
class P(ABC):
    __match_args__ = ("__globals__",)
P.register(type(json.dumps))
class Good:
    __match_args__ = ("x",)
out = []
try:
    match json.dumps:
        case P(g):
            pass
except TypeError:
    pass
def f():
    exec("match json.dumps:\n case Good(g):\n  out.append(g)")
f()
escaped = out or None
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
}


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
