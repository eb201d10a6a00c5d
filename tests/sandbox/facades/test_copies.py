"""Copies: as the standard library makes them, and nothing is seen that its owner hides."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HONEST = {
    "containers": """
import copy
a = {"l": [1, (2, [3])], "s": {4}, "f": frozenset({5}), "b": bytearray(b"6")}
c, d = copy.copy(a), copy.deepcopy(a)
d["l"][1][1].append(9)
(c == a, c is a, c["l"] is a["l"], d, a, copy.copy([1]), copy.copy((1,)), copy.deepcopy((1, "a")))
""",
    "what holds itself": """
import copy
a = [1]
a.append(a)
t = ([],)
t[0].append(t)
b, u = copy.deepcopy(a), copy.deepcopy(t)
(b[1] is b, b is not a, u[0][0] is u, u is not t)
""",
    "one object twice": """
import copy
x = [1]
a, b = copy.deepcopy([x, x])
(a is b, a is not x)
""",
    "the program's own classes": """
import copy
class Node:
    kind = "n"
    def __init__(self, name): self.name, self._next = name, None
class Slots:
    __slots__ = ("a", "_b", "__c")
    def __init__(self): self.a, self._b, self.__c = [1], 2, 3
    def all(self): return (self.a, self._b, self.__c)
class Both(Slots): pass
n = Node(["x"])
n._next = n
m, c = copy.deepcopy(n), copy.copy(n)
s = Both()
s.more = [s]
t = copy.deepcopy(s)
(m.name, m._next is m, m.name is n.name, c.name is n.name, t.all(), t.more[0] is t, t.a is s.a,
 copy.copy(s).all())
""",
    "subclasses of builtins": """
import copy
class L(list): pass
class D(dict): pass
class S(str): pass
class T(tuple): pass
class I(int): pass
class E(Exception):
    def __init__(self, code): super().__init__(code); self.code = code
made = [L([1, [2]]), D(a=[1]), S("x"), T((1, [2])), I(5), E(7)]
for each in made:
    each.tag = ["t"]
twins = copy.deepcopy(made)
[(type(a).__name__, repr(a), a.tag, a.tag is b.tag) for a, b in zip(twins, made)], twins[5].code
""",
    "__copy__ and __deepcopy__": """
import copy
class C:
    def __init__(self, x): self.x = x
    def __copy__(self): return C("copied")
    def __deepcopy__(self, memo):
        made = C(copy.deepcopy(self.x, memo))
        memo[id(self)] = made
        return made
c = C([1])
(copy.copy(c).x, copy.deepcopy(c).x, copy.deepcopy([c, c])[0].x is not c.x)
""",
    "__deepcopy__ by way of the variables": """
import copy
class C:
    def __init__(self): self.x, self.y = [1], {"a": 2}
    def __deepcopy__(self, memo):
        made = C()
        made.__dict__.update(copy.deepcopy(self.__dict__, memo))
        return made
c = C()
d = copy.deepcopy(c)
(d.x, d.y, d.x is c.x, copy.copy(c.__dict__) == {"x": [1], "y": {"a": 2}})
""",
    "library objects": """
import copy, random, io, uuid, datetime, decimal, fractions, ipaddress, pathlib, array, re, string
from collections import ChainMap, Counter, OrderedDict, UserDict, UserList, defaultdict, deque
from functools import partial
from types import SimpleNamespace
from enum import Enum
from dataclasses import dataclass, field
from collections import namedtuple
from typing import NamedTuple
class Colour(Enum):
    RED = 1
@dataclass
class Point:
    xs: list = field(default_factory=list)
@dataclass(frozen=True, slots=True)
class Frozen:
    xs: tuple
P = namedtuple("P", "x y")
r = random.Random(3)
twin = copy.deepcopy(r)
s = io.StringIO("abc")
s.read(1)
things = [
    deque([[1]], maxlen=3), OrderedDict(a=[1]), Counter("aab"), defaultdict(list, a=[1]),
    ChainMap({1: 2}),
    UserDict(a=1), UserList([1]), datetime.datetime(2024, 1, 2), datetime.timedelta(3),
    datetime.timezone.utc, decimal.Decimal("1.5"), fractions.Fraction(1, 2), uuid.UUID(int=5),
    ipaddress.ip_address("1.2.3.4"), ipaddress.ip_network("10.0.0.0/8"), array.array("i", [1]),
    pathlib.PurePosixPath("a/b"), range(3), slice(1), SimpleNamespace(a=[1]), Point([1]), P(1, [2]),
    Frozen((1,)), ValueError("x"), Colour.RED, 1 + 2j, b"x", ..., None, NotImplemented,
]
same = [repr(a) == repr(b) for a, b in zip(copy.deepcopy(things), things)]
(
    same, [repr(a) == repr(b) for a, b in zip([copy.copy(t) for t in things], things)],
    twin.random() == r.random(), copy.copy(s).read(), copy.deepcopy(partial(int, base=2))("11"),
    copy.deepcopy(Colour.RED) is Colour.RED, copy.deepcopy(things[19]).a is things[19].a,
    copy.copy(re.compile("a")).pattern, copy.deepcopy(len) is len, copy.deepcopy(Point) is Point,
    copy.copy(string.Template("$a")).template, copy.deepcopy(list[int]) == list[int],
)
""",
    "trees": """
import ast, copy
tree = ast.parse("def f(a): return a + 1")
twin = copy.deepcopy(tree)
twin.body[0].name = "g"
(ast.unparse(tree), ast.unparse(twin))
""",
    "elements": """
import copy
import xml.etree.ElementTree as ET
e = ET.XML("<a x='1'><b>t</b></a>")
twin, flat = copy.deepcopy(e), copy.copy(e)
twin[0].text = "u"
(ET.tostring(e), ET.tostring(twin), flat[0] is e[0])
""",
    "dataclasses.asdict": """
from dataclasses import dataclass, asdict
@dataclass
class A:
    xs: list
    inner: object = None
a = A([1, {"b": {2}}], A([3]))
d = asdict(a)
d["xs"].append(4)
(a.xs, d)
""",
    "bound methods": """
import copy
class C:
    def __init__(self): self.n = [0]
    def up(self): self.n[0] += 1; return self.n[0]
c = C()
up = copy.deepcopy(c.up)
(up(), up(), c.n)
""",
}


@pytest.mark.parametrize("things", HONEST)
def test_copies_are_as_in_cpython(same_as_cpython: Callable[[str], None], things: str) -> None:
    """``copy`` and ``deepcopy`` give what the standard library's give."""
    same_as_cpython(HONEST[things])


@pytest.mark.parametrize(
    "thing", ["(i for i in [])", "iter(map(len, []))", "print.__self__", "hashlib.md5()"]
)
def test_what_has_no_copy_is_a_type_error(box: Sandbox, thing: str) -> None:
    """As in CPython, an object that can't be taken apart is a TypeError, or not to be had."""
    run = box.run(f"import copy, hashlib\ncopy.deepcopy([{thing}])")
    assert run.status == "error"
    assert run.error is not None
    assert run.error.type in ("TypeError", "AttributeError", "Refused")


def test_gates_and_modules_are_their_own_copies(box: Sandbox) -> None:
    """Variables that hold a gate, a module or ``print`` can be copied with what is beside them."""
    run = box.run(
        "import copy, math\na = copy.deepcopy([echo, math, print, [1]])\n"
        "(a[0] is echo, a[1] is math, a[2] is print, a[3])"
    )
    assert run.value == (True, True, True, [1])


INSIDES = """
import copy
memo = {}
def look(thing):
    try:
        copy.deepcopy(thing, memo)
    except TypeError:
        pass
    return [v for v in memo.values() if isinstance(v, dict)]
"""

REFUSED = {
    "the insides of a builtin in the memo": f"{INSIDES}\nescaped = look([print, dir, exec])",
    "the insides of the library in the memo": f"""{INSIDES}
import logging, random, warnings
escaped = look([random.randint]) + look(warnings.warn) + look(logging.getLogger())
""",
    "a name that __slots__ has later": """
import copy
names = ["a"]
class S(str):
    __slots__ = names
names.append("format")
class T(S):
    pass
t = T("{0.__class__}")
t.x = 1
escaped = [v for v in vars(copy.copy(t)).values() if callable(v)]
""",
    "a private name of a base": """
import copy, string
names = ["a"]
class Mixin:
    __slots__ = names
names.append("_invalid")
class Q(string.Template, Mixin):
    pass
escaped = [v for v in vars(copy.copy(Q("x"))).values() if callable(v)]
""",
    "the state of another object": """
import copy, pprint
other = pprint.PrettyPrinter()
escaped = []
class Catch:
    def write(self, text): escaped.append(text)
class C:
    def __new__(cls, *args): return other
c = object.__new__(C)
c._stream = Catch()
try:
    copy.copy(c)
except TypeError:
    pass
other.pprint(1)
""",
}


@pytest.mark.parametrize("way", REFUSED)
def test_copying_shows_nothing_hidden(box: Sandbox, way: str) -> None:
    """The program ends in an error, or at least without what it was after."""
    run = box.run(f"escaped = None\n{REFUSED[way]}\nescaped")
    assert run.status == "ok", str(run)
    assert not run.value, str(run)
