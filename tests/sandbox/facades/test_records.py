"""Dataclasses: as in CPython, and no way to read or write what a program can't by itself."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

IMPORTS = (
    "from dataclasses import (FrozenInstanceError, InitVar, KW_ONLY, MISSING, asdict, astuple, "
    "dataclass, field, fields, is_dataclass, make_dataclass, replace)\n"
    "from collections import namedtuple\nfrom typing import ClassVar\n"
)

HONEST = {
    "options": """
@dataclass(order=True, frozen=True, slots=True)
class P:
    x: int
    y: int = 2
try:
    P(1).x = 5
except FrozenInstanceError as error:
    frozen = str(error)
(sorted([P(2), P(1, 9), P(1)]) == [P(1), P(1, 9), P(2)], hash(P(1)) == hash(P(1)), frozen,
 repr(P(1)), P(1) <= P(1, 2), P(1) == (1, 2))
""",
    "keywords, init variables, class variables": """
@dataclass
class Q:
    seen: ClassVar[list] = []
    a: int
    scale: InitVar[int] = 3
    _: KW_ONLY
    b: str = field(default="b", repr=False, metadata={"unit": "m"})
    total: int = field(init=False)
    def __post_init__(self, scale):
        self.total = self.a * scale
q = Q(2, 5, b="c")
(q.total, repr(q), [f.name for f in fields(Q)], fields(q)[1].metadata["unit"], is_dataclass(Q),
 is_dataclass(q), is_dataclass(3), fields(Q)[0].default is MISSING)
""",
    "nested records become plain": """
N = namedtuple("N", "p q")
@dataclass
class Leaf:
    v: object
@dataclass
class Tree:
    leaf: Leaf
    many: list
    by: dict
tree = Tree(Leaf(1), [Leaf(2), (Leaf(3),), N(Leaf(4), 5)], {"k": Leaf({6})})
plain = asdict(tree)
plain["many"].append(7)
(asdict(tree), astuple(tree), asdict(tree, dict_factory=lambda pairs: sorted(pairs)[0][0]),
 len(tree.many), asdict(Leaf(N(1, {2: Leaf(3)}))))
""",
    "replace": """
@dataclass
class R:
    a: int
    b: int = 2
    c: int = field(default=0, init=False)
errors = []
for change in ({"c": 1}, {"z": 1}):
    try:
        replace(R(1), **change)
    except (TypeError, ValueError) as error:
        errors.append("c" in str(error) or "z" in str(error))
try:
    replace(R, a=1)
except TypeError as error:
    errors.append(str(error))
(repr(replace(R(1), b=5)), errors)
""",
    "inheritance": """
@dataclass
class A:
    x: int = 1
    def double(self): return self.x * 2
@dataclass
class B(A):
    y: int = 2
    def __post_init__(self): self.z = self.x + self.y
class C(B):
    pass
(repr(B(3)), B(3).double(), C(1).z, C(1) == B(1), [f.name for f in fields(C)])
""",
    "made of names": """
C = make_dataclass("C", ["a", ("b", int), ("c", list, field(default_factory=list))],
                   namespace={"sum": lambda self: self.a + self.b}, order=True)
D = make_dataclass("D", [("d", int, 4)], bases=(C,))
errors = []
for names in (["x", "x"], ["class"], ["1a"]):
    try:
        make_dataclass("E", names)
    except TypeError as error:
        errors.append(str(error))
(repr(C(1, 2)), C(1, 2).sum(), C(1, 2) < C(1, 3), D(1, 2, []).d, isinstance(D(1, 2), C), errors)
""",
    "private fields": """
@dataclass(order=True)
class S:
    name: str
    _cache: dict = field(default_factory=dict, compare=False)
    __deep: int = 3
@dataclass(frozen=True)
class F:
    _x: int
    def x(self): return self._x
a, b = S("a"), S("b")
a._cache["k"] = 1
(repr(a), a < b, a == S("a"), a == b, asdict(a), replace(a, name="z").name, F(2).x(), F(1) == F(1))
""",
    "a field by the name of a method of texts": """
@dataclass
class Book:
    title: str
    format: str = "paper"
book = Book("T")
(repr(book), book == Book("T"), asdict(book), astuple(book), replace(book, format="disc").format)
""",
    "copies": """
import copy
@dataclass(frozen=True, slots=True)
class P:
    x: list
p = P([1])
(copy.copy(p) == p, copy.deepcopy(p).x is p.x)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_dataclasses_are_those_of_cpython(
    same_as_cpython: Callable[[str], None], name: str
) -> None:
    """Options, fields, conversions and inheritance give what CPython gives."""
    same_as_cpython(IMPORTS + HONEST[name])


REFUSED = {
    "a field renamed": """
@dataclass(init=False)
class S(str):
    x: object = 1
fields(S)[0].name = "format"
""",
    "a field renamed by a frozen class's initialiser": """
@dataclass(frozen=True)
class W:
    name: object
@dataclass
class S:
    x: object = 1
W.__init__(fields(S)[0], "format")
""",
    "a field used twice": """
one = field(default=1)
@dataclass
class A:
    x: int = one
@dataclass
class B:
    y: int = one
""",
    "a field whose name is worked out": """
class F(type(field())):
    @property
    def name(self): return "format"
""",
    "a library object's private attribute set by an initialiser": """
import typing
@dataclass
class W:
    _inst: object
alias = typing.Type[int]
W.__init__(alias, True)
""",
    "a library object's private attribute read by a comparison": """
import random
@dataclass(init=False)
class W:
    _randbelow: object
W.__eq__(random.Random(1), random.Random(2))
""",
    "a library object's private attribute shown": """
import random
@dataclass(init=False)
class W:
    _randbelow: object
W.__repr__(random.Random(1))
""",
    "a private attribute of a base, by inheritance after the fact": """
import random
@dataclass(init=False)
class W:
    _randbelow: object
class R(W, random.Random):
    pass
asdict(R())
""",
    "a special name in a namespace": (
        "make_dataclass('C', ['x'], namespace={'__getattribute__': print})"
    ),
    "a special name for a field": "make_dataclass('C', ['__class__'])",
    "a text that is more than it seems": """
class Name(str):
    def isidentifier(self): return True
make_dataclass("C", [Name("x=print")])
""",
    "a closed base": "import ast\nmake_dataclass('C', ['x'], bases=(ast.Name,))",
    "a metaclass for a base": "make_dataclass('C', ['x'], bases=(type,))",
    "a class of the library's": "import random\ndataclass(random.Random)",
    "a private attribute of a base, by a copy": """
import copy, textwrap
@dataclass(frozen=True, slots=True)
class W:
    _wrap_chunks: object
class R(textwrap.TextWrapper, W):
    def __init__(self): pass
copy.deepcopy(R(), {})
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_dataclass_reads_or_writes_what_a_program_cannot(box: Sandbox, name: str) -> None:
    """Names of fields are fixed, and the methods that are generated keep to the guards."""
    run = box.run(IMPORTS + REFUSED[name])
    assert run.status == "error", str(run)
    assert run.error is not None
    assert run.error.type in ("TypeError", "ValueError", "AttributeError", "Refused"), str(run)


SHOWS_ITS_FIELDS = """
class S(B, str):
    def __new__(cls, text="", **fields):
        seen.append(fields)
        return super().__new__(cls, text)
    def __init__(self, *args, **fields): pass
seen = []
"""

FORMATS = {
    "by asdict": "class S(B, str): pass\ngot = asdict(S(TEXT))['format']",
    "by astuple": "class S(B, str): pass\ngot = astuple(S(TEXT))[0]",
    "by a comparison": """
class S(str): pass
class Own:
    def __eq__(self, other): seen.append(other)
seen = []
one, two = S(TEXT), S("x")
two.format = Own()
B.__eq__(one, two)
got = seen[0]
""",
    "by replace": f"{SHOWS_ITS_FIELDS}replace(S(TEXT))\ngot = seen[-1]['format']",
    "by a copy with changes": f"""
import copy
{SHOWS_ITS_FIELDS}
getattr(copy, "replace", replace)(S(TEXT))
got = seen[-1]["format"]
""",
}


@pytest.mark.parametrize("name", FORMATS)
def test_a_field_called_format_gives_no_unguarded_format(box: Sandbox, name: str) -> None:
    """A class that is a text as well has ``str.format`` for that field: the checked one."""
    begin = "@dataclass(init=False)\nclass B:\n    format: object\nTEXT = '{0.__globals__}'\n"
    run = box.run(f"{IMPORTS}{begin}{FORMATS[name]}\nimport json\ngot(json.dumps)")
    assert run.error is not None
    assert '"__globals__" is not available' in run.error.message.replace("'", '"'), str(run)
