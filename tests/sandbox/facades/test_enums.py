"""Enums: as in CPython, and the functional form makes no class that a statement could not."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

IMPORTS = (
    "from enum import (CONFORM, CONTINUOUS, EJECT, KEEP, NAMED_FLAGS, STRICT, UNIQUE, Enum, "
    "EnumMeta, EnumType, Flag, FlagBoundary, IntEnum, IntFlag, ReprEnum, StrEnum, auto, member, "
    "nonmember, property as enum_property, unique, verify)\n"
)

HONEST = {
    "members": """
class Colour(Enum):
    RED = 1
    GREEN = auto()
    CRIMSON = RED
    def describe(self): return f"{self.name}={self.value}"
(list(Colour) == [Colour.RED, Colour.GREEN], Colour(2).name, Colour["RED"].value, len(Colour),
 Colour.CRIMSON is Colour.RED, Colour.GREEN.describe(), repr(Colour.RED), str(Colour.RED),
 Colour.RED in Colour, isinstance(Colour.RED, Colour), {Colour.RED: 1}[Colour.CRIMSON])
""",
    "kinds": """
class N(IntEnum):
    ONE = 1
    TWO = 2
class S(StrEnum):
    A = auto()
    LONG_NAME = auto()
class M(str, Enum):
    X = "x"
(N.ONE + N.TWO, sorted([N.TWO, N.ONE])[0].name, S.A.upper(), S.LONG_NAME.value, f"{S.A} {N.ONE}",
 M.X == "x", M("x").name, isinstance(N, EnumMeta), isinstance(int, EnumType), EnumMeta is EnumType)
""",
    "flags": """
class P(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
class Q(IntFlag, boundary=KEEP):
    A = 1
    B = 2
class T(Flag, boundary=STRICT):
    A = 1
try:
    T(4)
except ValueError:
    strict = True
(P.RW.value, P.R in P.RW, (P.R | P.X).name, [f.name for f in P.RW], bool(P(0)), ~P.R == P.W | P.X,
 Q(5).value, Q.A | 8, strict, (P.RW & P.W).name, (P.R ^ P.RW).name)
""",
    "the functional form": """
A = Enum("A", "X Y")
B = Enum("B", ["X", "Y"], start=5)
C = Enum("C", {"X": 1, "Y": 4})
D = IntEnum("D", [("X", 2), ("Y", 3)])
E = Enum("E", "P Q", type=str)
F = Flag("F", "R W X")
G = StrEnum("G", "ONE TWO")
([m.value for m in A], [m.value for m in B], C.Y.value, D.Y + 1, isinstance(E.P, str),
 F.X.value, G.ONE.value, A.X is A(1), A.__name__)
""",
    "hooks": """
class Level(Enum):
    LOW = 1
    HIGH = 2
    @classmethod
    def _missing_(cls, value):
        return cls.HIGH if value > 2 else None
class Named(Enum):
    def _generate_next_value_(name, start, count, last_values):
        return name.lower() + str(count)
    A = auto()
    B = auto()
class Ordered(Enum):
    _order_ = "A B"
    _ignore_ = ["helper"]
    helper = 3
    A = 1
    B = helper
    def raw(self): return self._value_, self._name_
class Planet(Enum):
    EARTH = (5.97, 6.37)
    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius
    @property
    def density(self): return round(self.mass / self.radius, 2)
try:
    Level(0)
except ValueError as error:
    missing = str(error)
(Level(9).name, Named.B.value, Ordered.B.raw(), hasattr(Ordered, "helper"), Planet.EARTH.density,
 Planet.EARTH.value, missing)
""",
    "checks": """
errors = []
def made(body):
    try:
        body()
    except ValueError as error:
        errors.append(type(error).__name__)
def twice():
    @unique
    class A(Enum):
        X = 1
        Y = 1
def gap():
    @verify(CONTINUOUS)
    class A(Enum):
        X = 1
        Y = 3
def unnamed():
    @verify(NAMED_FLAGS)
    class A(Flag):
        X = 1
        Y = 6
for body in (twice, gap, unnamed):
    made(body)
@verify(UNIQUE, CONTINUOUS)
class Fine(Enum):
    X = 1
    Y = 2
errors, len(Fine), STRICT is FlagBoundary.STRICT, CONFORM.name, EJECT.name
""",
    "members and properties": """
class E(Enum):
    A = 1
    other = nonmember(5)
    @member
    def B(): return "called"
    @enum_property
    def shown(self): return f"<{self.name}>"
class Mixed(float, ReprEnum):
    HALF = 0.5
class Methods:
    def twice(self): return self.value * 2
class K(Methods, Enum):
    A = 4
(E.other, [m.name for m in E], E.A.shown, E.B.value(), K.A.twice(), str(Mixed.HALF),
 issubclass(IntEnum, ReprEnum))
""",
    "frozen": """
class E(Enum):
    A = 1
errors = []
def attempt(action):
    try:
        action()
    except (AttributeError, TypeError) as error:
        errors.append(type(error).__name__)
def assign(): E.A = 2
def extend():
    class F(E): B = 2
def delete(): del E.A
for action in (assign, extend, delete):
    attempt(action)
errors, E.A.value
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_enums_are_those_of_cpython(same_as_cpython: Callable[[str], None], name: str) -> None:
    """Members, flags, hooks and checks give what CPython gives."""
    same_as_cpython(IMPORTS + HONEST[name])


REFUSED = {
    "a special name": 'Enum("E", ["__class__"])',
    "a name that is more than a text": (
        'class N(str): pass\nEnum("E", [N("A")])\nEnum("E", [(N("A"), 1)])'
    ),
    "a closed class to mix in": 'import ast\nEnum("E", "A", type=ast.Name)',
    "a metaclass to mix in": 'Enum("E", "A", type=type)',
    "what passes for a type to mix in": """
class T:
    def __eq__(self, other): return True
Enum("E", "A", type=T())
""",
    "a class by the metaclass": 'EnumMeta("E", (Enum,), {})',
    "a metaclass of one's own": "class M(EnumMeta): pass",
    "a property that takes another name": """
class E(str, Enum):
    count = "{0.__globals__}"
p = enum_property(lambda self: 1)
class F(Enum):
    A = 1
    shown = p
p.name = "format"
""",
    "a property by another's initialiser": """
from dataclasses import dataclass
@dataclass(frozen=True)
class W:
    name: object
p = enum_property(lambda self: 1)
class F(Enum):
    A = 1
    shown = p
W.__init__(p, "__reduce_ex__")
""",
    "the members of the library's own, by a comparison": """
import re
class Looks:
    def __eq__(self, other): other["HIDDEN"] = 1
re.RegexFlag.__members__ == Looks()
re.RegexFlag["HIDDEN"]
""",
    "a private attribute of a member's value, by a member of that name": """
import random
class Mixed:
    def _randbelow(self): ...
class E(Mixed, Enum):
    _randbelow = 1
    def aim(self, value): self._value_ = value
E["_randbelow"].aim(random.Random(1))
E["_randbelow"]._randbelow(3)
""",
    "what a member's value keeps, by a property found among the variables": """
import json
class E(str, Enum):
    count = "x"
    def aim(self, value): self._value_ = value
found = vars(E)["count"]
E.count.aim(json.dumps)
found.name = "__globals__"
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_enum_reaches_what_a_program_cannot(box: Sandbox, name: str) -> None:
    """Names and bases are checked, and a property keeps its name."""
    run = box.run(IMPORTS + REFUSED[name])
    assert run.status == "error", str(run)
    assert run.error is not None
    assert run.error.type in ("TypeError", "ValueError", "AttributeError", "KeyError"), str(run)
