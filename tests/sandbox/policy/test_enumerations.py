"""Enums: allowed with all that a class of them may define."""

import pytest

PROGRAMS = {
    "members": """
from enum import Enum
class Color(Enum):
    RED = 1
    GREEN = 2
    CRIMSON = 1
(Color.RED.name, Color.RED.value, Color(2).name, Color['RED'] is Color.RED, repr(Color.GREEN),
 [c.name for c in Color], len(Color), Color.CRIMSON is Color.RED, Color.RED in Color,
 list(Color.__members__), isinstance(Color.RED, Color), Color.RED == Color.GREEN, str(Color.RED))
""",
    "methods and fields": """
from enum import Enum
class Planet(Enum):
    EARTH = (5.97, 6.37)
    MARS = (0.64, 3.39)
    def __init__(self, mass, radius):
        self.mass, self._radius = mass, radius
    @property
    def size(self): return self._radius * 2
    @classmethod
    def biggest(cls): return max(cls, key=lambda p: p.mass)
    def __str__(self): return self.name.title()
Planet.EARTH.mass, Planet.MARS.size, Planet.biggest().name, str(Planet.MARS)
""",
    "auto, unique": """
from enum import Enum, auto, unique
class S(Enum):
    A = auto()
    B = auto()
    def _generate_next_value_(name, start, count, last): return name
@unique
class T(Enum):
    X = auto()
    Y = auto()
[s.value for s in S], [t.value for t in T]
""",
    "generated values": """
from enum import Enum, auto
class Low(Enum):
    def _generate_next_value_(name, start, count, last_values): return name.lower()
    A = auto()
    B = auto()
[m.value for m in Low]
""",
    "a missing value": """
from enum import Enum
class S(Enum):
    ON = 'on'
    OFF = 'off'
    @classmethod
    def _missing_(cls, value):
        for m in cls:
            if m.value == str(value).lower(): return m
        return None
try: S('x')
except ValueError as e: print(e)
S('ON').name
""",
    "values set by __new__": """
from enum import Enum
class Coord(bytes, Enum):
    def __new__(cls, value, label):
        made = bytes.__new__(cls, [value])
        made._value_ = value
        made.label = label
        return made
    X = (1, 'across')
    Y = (2, 'up')
Coord(1).label, Coord.Y.value
""",
    "by object.__new__": """
from enum import Enum
class Unit(Enum):
    def __new__(cls, code, factor):
        made = object.__new__(cls)
        made._value_ = code
        made.factor = factor
        return made
    KM = ('km', 1000)
    M = ('m', 1)
Unit('km').factor, Unit.M._value_, Unit.M._name_
""",
    "ints and texts": """
from enum import IntEnum, StrEnum
class P(IntEnum):
    LOW = 1
    HIGH = 2
class S(StrEnum):
    A = 'a'
sorted([P.HIGH, P.LOW])[0].name, P.LOW + 1, P.HIGH > P.LOW, S.A + 'b', f'{S.A}', str(P.LOW)
""",
    "flags": """
from enum import Flag, IntFlag, auto
class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
p = Perm.R | Perm.X
(repr(p), Perm.R in p, Perm.W in p, (p & Perm.R).name, (~Perm.R).value, Perm.RW.value,
 [f.name for f in p], bool(Perm(0)))
""",
    "ignored names": """
from enum import Enum
class P(Enum):
    _ignore_ = ['P', 'i']
    P = vars()
    for i in range(2): P[f'N{i}'] = i
[m.name for m in P]
""",
    "by a call": """
from enum import Enum
A = Enum('A', 'X Y')
B = Enum('B', {'P': 1, 'Q': 2})
C = Enum('C', [('M', 'm')])
[m.name for m in A], B.Q.value, C.M.value
""",
    "no such member": "from enum import Enum\nclass E(Enum): A = 1\nE(5)",
    "a member is not set": "from enum import Enum\nclass E(Enum): A = 1\nE.A = 2",
    "not to be extended": "from enum import Enum\nclass E(Enum): A = 1\nclass F(E): B = 2",
    "matched": """
from enum import Enum
class E(Enum):
    A = 1
    B = 2
def f(x):
    match x:
        case E.A: return 'a'
        case E.B: return 'b'
f(E.A), f(E.B), f(3)
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_enums_are_cpythons(same, what):
    """Members, values, flags and the names that Enum gives meaning to work as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "from enum import Enum\nEnum('E', {'__reduce_ex__': 1})",
        "from enum import Enum\nEnum('E', ['__class__'])",
        "from enum import Enum\nEnum('E', 'A', type=type)",
        "from enum import Enum\nclass E(Enum):\n    __reduce__ = 1",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE.__dict__['_new_member_']",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nvars(E)['_member_map_']",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE._member_map_",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE._create_('X', 'Y')",
        "from enum import Enum\nclass E(Enum): ...\nE._convert_('X', 'os', lambda n: n == 'sys')",
        "from enum import Enum\nclass E(Enum):\n    A = 1\ntry: E.A._convert_\n"
        "except AttributeError: pass\nE._convert_",
        "from enum import Enum\nclass E(Enum):\n    A = 1\ngetattr(E, '_conv' + 'ert_')",
        "from enum import Enum\nclass E(Enum):\n    @classmethod\n    def f(cls): "
        "return cls._convert_\nE.f()",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE.__class__('X', (), {})",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE.__prepare__",
    ],
)
def test_what_enum_keeps_to_itself_is_closed(box, source):
    """Special names are no members, and an Enum's own tables are not shown."""
    assert box.run(source).status == "error"
