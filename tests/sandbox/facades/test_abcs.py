"""``abc`` and the collections: as in CPython, and no metaclass makes a class."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HONEST = {
    "abstract classes": """
from abc import ABC, ABCMeta, abstractmethod
class Shape(ABC):
    @property
    @abstractmethod
    def area(self): ...
    @classmethod
    @abstractmethod
    def unit(cls): ...
    def double(self): return self.area * 2
class Square(Shape):
    def __init__(self, n): self.n = n
    @property
    def area(self): return self.n ** 2
    @classmethod
    def unit(cls): return cls(1)
errors = []
for kind in (Shape, ABCMeta):
    try:
        kind()
    except TypeError as error:
        errors.append(type(error).__name__)
(Square(3).double(), Square.unit().area, isinstance(Shape, ABCMeta), isinstance(int, ABCMeta),
 issubclass(Square, Shape), errors)
""",
    "registered classes": """
from abc import ABC
class Duck(ABC):
    @classmethod
    def __subclasshook__(cls, kind):
        return True if hasattr(kind, "quack") else NotImplemented
class Loud:
    def quack(self): return "quack"
class Odd(ABC): pass
@Odd.register
class Other: pass
(isinstance(Loud(), Duck), isinstance(3, Duck), isinstance(Other(), Odd), issubclass(Other, Odd))
""",
    "a metaclass by its name": """
from abc import ABCMeta, abstractmethod
class Base(metaclass=ABCMeta):
    @abstractmethod
    def f(self): ...
class Child(Base):
    def f(self): return 1
try:
    Base()
except TypeError:
    abstract = True
abstract, Child().f()
""",
    "namedtuples": """
from collections import namedtuple
P = namedtuple("P", "x, y", defaults=[0])
Q = namedtuple("Q", ["a", "class", "_b", "a"], rename=True)
class Sub(P):
    __slots__ = ()
    def norm(self): return (self.x ** 2 + self.y ** 2) ** 0.5
errors = []
for names in ("a a", "class", "_a", "1"):
    try:
        namedtuple("N", names)
    except ValueError as error:
        errors.append(str(error))
p = P(1)
match Sub(3, 4):
    case Sub(x, y):
        matched = x, y
(p, p._asdict(), p._replace(y=5), P._fields, P._field_defaults, P._make([1, 2]), Q._fields,
 Sub(3, 4).norm(), repr(p), P.__doc__, P.x.__doc__, errors, matched, sorted([P(2), P(1)]))
""",
    "user classes": """
from collections import UserDict, UserList, UserString
class Lower(UserDict):
    def __setitem__(self, key, value): super().__setitem__(key.lower(), value)
class Total(UserList):
    def total(self): return sum(self.data)
s = UserString("Hello")
d = Lower(A=1)
d["B"] = 2
(dict(d), "a" in d, len(d), Total([1, 2]).total(), list(Total([1]) + [2]),
 s.upper() == "HELLO", s[1:3] == "el", s + "!" == "Hello!", s.data, s == "Hello",
 "ell" in s, len(s), str(s), UserString("{}-{x}").format(1, x=2),
 UserString("{a}").format_map({"a": 1}), s.center(9, "*").data)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_abc_and_collections_are_those_of_cpython(
    same_as_cpython: Callable[[str], None], name: str
) -> None:
    """Abstract classes, namedtuples and the user's containers give what CPython gives."""
    same_as_cpython(HONEST[name])


@pytest.mark.parametrize(
    "source",
    [
        'ABCMeta("X", (), {})',
        "class M(ABCMeta): pass",
        'ABCMeta.__call__("X", (), {})',
        'class X(metaclass=ABCMeta("Y", (), {})): pass',
        'type(ABC)("X", (), {})',
        'import collections\ncollections.UserString("{0.__globals__}").format(isinstance)',
        'import collections\ncollections.UserString("{a.__globals__}").format_map({"a": print})',
    ],
)
def test_nothing_makes_a_class_or_reads_an_attribute_that_a_text_names(
    box: Sandbox, source: str
) -> None:
    """A metaclass's stand-in tells instances only, and a text's formatting is the checked one."""
    run = box.run(f"from abc import ABC, ABCMeta\n{source}")
    assert run.status == "error", str(run)
    assert run.error is not None
    assert run.error.type in ("TypeError", "AttributeError", "Refused"), str(run)
