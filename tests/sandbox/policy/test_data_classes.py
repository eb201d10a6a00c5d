"""Dataclasses, named tuples, typed dictionaries: allowed in all their forms."""

import pytest

PROGRAMS = {
    "a dataclass": """
from dataclasses import dataclass, field, fields, asdict, astuple, replace
@dataclass
class P:
    x: int
    y: int = 2
    tags: list = field(default_factory=list, repr=False)
    def total(self): return self.x + self.y
p = P(1)
p.tags.append('a')
(repr(p), p == P(1, 2, ['a']), p.total(), asdict(p), astuple(p), replace(p, x=5).x,
 [f.name for f in fields(p)], P(1).tags)
""",
    "frozen and ordered": """
from dataclasses import dataclass
@dataclass(frozen=True, order=True)
class V:
    major: int
    minor: int = 0
    def bump(self): return V(self.major, self.minor + 1)
try: V(1).major = 2
except AttributeError as e: print(type(e).__name__, e)
V(1) < V(2), sorted([V(2), V(1, 5)])[0].minor, {V(1): 'x'}[V(1)], V(1).bump().minor
""",
    "slots and keywords only": """
from dataclasses import dataclass, KW_ONLY, InitVar
@dataclass(slots=True)
class A:
    x: int
    _: KW_ONLY
    y: int = 1
    scale: InitVar[int] = 1
    def __post_init__(self, scale): self.x *= scale
@dataclass(kw_only=True)
class B: z: int
a = A(2, y=5, scale=10)
try: a.nope = 1
except AttributeError: print('no such slot')
a.x, a.y, B(z=3).z
""",
    "inherited": """
from dataclasses import dataclass
@dataclass
class Base:
    a: int
    b: int = 2
@dataclass
class Sub(Base):
    c: int = 3
    def __post_init__(self):
        self._sum = self.a + self.b + self.c
Sub(1), Sub(1)._sum
repr(Sub(1)), Sub(1)._sum
""",
    "private fields": """
from dataclasses import dataclass, field
@dataclass
class Account:
    _balance: int = 0
    __pin: int = field(default=7, repr=False)
    def check(self): return self._balance, self.__pin
repr(Account(5)), Account(5).check()
""",
    "a mutable default": "from dataclasses import dataclass\n@dataclass\nclass A:\n"
    "    x: list = []",
    "an argument missing": "from dataclasses import dataclass\n@dataclass\nclass A:\n    x: int\n"
    "A()",
    "a namedtuple": """
from collections import namedtuple
P = namedtuple('P', 'x y', defaults=[0])
p = P(1)
x, y = p
repr(p), p.x, p[1], p._asdict(), tuple(p._replace(y=5)), P._fields, tuple(P._make([3, 4])), \\
    P._field_defaults, P(1) == (1, 0), P.__doc__
""",
    "a class of one": """
from collections import namedtuple
class P(namedtuple('P', ['x', 'y'])):
    __slots__ = ()
    @property
    def length(self): return (self.x ** 2 + self.y ** 2) ** .5
    def moved(self, dx): return self._replace(x=self.x + dx)
P(3, 4).length, tuple(P(1, 2).moved(5)), str(P(1, 2))
""",
    "a typed one": """
from typing import NamedTuple
class Row(NamedTuple):
    'A row.'
    name: str
    count: int = 0
    def label(self): return f'{self.name}:{self.count}'
r = Row('a')
repr(r), r.label(), r._asdict(), tuple(r._replace(count=3)), Row._fields, Row.__doc__, r == ('a', 0)
""",
    "typed by a call": """
from typing import NamedTuple
R = NamedTuple('R', [('a', int), ('b', str)])
repr(R(1, 'x')), R._fields
""",
    "a typed dictionary": """
from typing import TypedDict
class Movie(TypedDict, total=False):
    title: str
    year: int
T = TypedDict('T', {'a': int})
m: Movie = {'title': 'x'}
Movie(title='y', year=3), m, T(a=1)
""",
    "a simple namespace": "from types import SimpleNamespace\ns = SimpleNamespace(a=1)\ns.b = 2\n"
    "repr(s)",
    "made by a call": """
from dataclasses import make_dataclass, field
P = make_dataclass('P', ['x', ('y', int), ('z', int, field(default=5))])
repr(P(1, 2))
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_records_are_cpythons(same, what):
    """Records are made, compared, copied and shown as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "from collections import namedtuple\nnamedtuple('P', '__globals__')",
        "from collections import namedtuple\nnamedtuple('P', 'x', module='os')\nP.__globals__",
        "from typing import NamedTuple\nNamedTuple('P', [('__class__', int)])",
        "from typing import NamedTuple\nclass P(NamedTuple):\n    __code__: int",
        "from dataclasses import make_dataclass\nmake_dataclass('P', ['__class__'])",
        "from dataclasses import make_dataclass\nmake_dataclass('P', ['x'], bases=(type,))",
        "from dataclasses import make_dataclass\n"
        "make_dataclass('P', ['x'], namespace={'__getattribute__': 1})",
        "from dataclasses import dataclass\n@dataclass\nclass A:\n    __class__: int = 1",
        "from dataclasses import dataclass\ndataclass(int)",
        "from typing import TypedDict\nclass T(TypedDict):\n    __getattribute__: int",
    ],
)
def test_no_record_has_a_special_name(box, source):
    """The names of fields are checked by every way to name them."""
    assert box.run(source).status == "error"
