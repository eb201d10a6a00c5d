"""``__new__``: may be defined and reached through ``super()`` and ``object``."""

import pytest

PROGRAMS = {
    "a singleton": """
class One:
    _it = None
    def __new__(cls):
        if cls._it is None: cls._it = super().__new__(cls)
        return cls._it
One() is One()
""",
    "by object": """
class A:
    def __new__(cls, n):
        made = object.__new__(cls)
        made.n = n
        return made
A(3).n
""",
    "by two-argument super": """
class A:
    def __new__(cls, *a): return super(A, cls).__new__(cls)
isinstance(A(1), A)
""",
    "of values": """
class Upper(str):
    def __new__(cls, text): return super().__new__(cls, text.upper())
class Point(tuple):
    def __new__(cls, x, y): return tuple.__new__(cls, (x, y))
    x = property(lambda self: self[0])
class Even(int):
    def __new__(cls, n): return int.__new__(cls, n // 2 * 2)
str(Upper('abc')), tuple(Point(1, 2)), Point(3, 4).x, int(Even(7))
""",
    "of another kind": "class A:\n    def __new__(cls): return 'text'\nA()",
    "with __init__": """
class A:
    def __new__(cls, *a, **k):
        self = super().__new__(cls)
        self.log = ['new', a]
        return self
    def __init__(self, *a, **k): self.log.append('init')
A(1, k=2).log
""",
    "without __init__": """
class A:
    def __init__(self): self.x = 1
a = object.__new__(A)
hasattr(a, 'x'), A.__new__(A).__class__ is A
""",
    "a cache": """
class Color:
    _all = {}
    def __new__(cls, name):
        return cls._all.setdefault(name, super().__new__(cls))
Color('red') is Color('red'), len(Color._all)
""",
    "of a named tuple": """
from collections import namedtuple
class P(namedtuple('P', 'x y')):
    __slots__ = ()
    def __new__(cls, x, y=0): return super().__new__(cls, x, y)
tuple(P(1)), P(1)._replace(x=5).x
""",
    "an abstract class": """
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
object.__new__(A)
""",
    "the wrong class": "class A: ...\nobject.__new__(5)",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_making_objects_is_cpythons(same, what):
    """``__new__`` makes objects, values and none, as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "type.__new__(type, 'X', (), {})",
        "object.__new__(type(lambda: 1))",
        "import types\nobject.__new__(types.FunctionType)",
        "import types\nobject.__new__(types.CodeType)",
        "import types\nobject.__new__(types.ModuleType)",
        "def f(): yield\nobject.__new__(type(f()))",
        "object.__new__(type(globals()))",
        "object.__new__(type(done))",
        "import json\nobject.__new__(json)",
        "import json\ntype(json).__new__(type(json), 'X', (), {})",
        "from abc import ABCMeta\nABCMeta.__new__(ABCMeta, 'X', (), {})",
        "from enum import EnumMeta\nEnumMeta.__new__(EnumMeta, 'X', (), {})",
        "object.__new__(type(compile('1', '', 'eval')))",
        "super(type, type).__new__(type)",
        "class A:\n    def f(self): return super().__new__(type, 'X', (), {})\nA().f()",
        "list(map(object.__new__, [type(print)]))",
    ],
)
def test_nothing_of_the_interpreters_is_made(box, source):
    """No function, code, module, frame, class or part of the runner is made by it."""
    assert box.run(source).status == "error"
