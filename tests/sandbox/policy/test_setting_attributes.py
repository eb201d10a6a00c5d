"""``__setattr__`` and ``__delattr__``: may be defined; what they call is checked."""

import pytest

PROGRAMS = {
    "checked fields": """
class Checked:
    def __setattr__(self, name, value):
        if name == 'age' and value < 0: raise ValueError('negative')
        super().__setattr__(name, value)
c = Checked()
c.age = 5
try: c.age = -1
except ValueError as e: print(e)
c.age, c.__dict__
""",
    "by object": """
class Logged:
    def __setattr__(self, name, value):
        print('set', name)
        object.__setattr__(self, name, value)
    def __delattr__(self, name):
        print('delete', name)
        object.__delattr__(self, name)
x = Logged()
x.a = 1
x.a += 1
del x.a
hasattr(x, 'a')
""",
    "by two-argument super": """
class A:
    def __setattr__(self, name, value): super(A, self).__setattr__(name, value * 2)
    def __delattr__(self, name): super(A, self).__delattr__(name)
a = A()
a.n = 4
n = a.n
del a.n
n, hasattr(a, 'n')
""",
    "frozen": """
class Frozen:
    def __init__(self, x): object.__setattr__(self, 'x', x)
    def __setattr__(self, name, value): raise AttributeError(f'{name} is fixed')
    def __delattr__(self, name): raise AttributeError(f'{name} stays')
f = Frozen(3)
for act in ('f.x = 1', 'del f.x'):
    try: exec(act)
    except AttributeError as e: print(e)
f.x
""",
    "a frozen dataclass": """
from dataclasses import dataclass, FrozenInstanceError
@dataclass(frozen=True)
class Line:
    a: int
    b: int
    length: int = 0
    def __post_init__(self): object.__setattr__(self, 'length', self.b - self.a)
line = Line(2, 7)
try: line.a = 1
except FrozenInstanceError as e: print(e)
line.length
""",
    "through the base's": """
class Base:
    def __setattr__(self, name, value):
        super().__setattr__(name.lower(), value)
class Sub(Base):
    def __setattr__(self, name, value):
        super().__setattr__(name, value + 1)
s = Sub()
s.ABC = 1
s.abc
""",
    "private names": """
class A:
    def __init__(self): self._n, self.__m = 1, 2
    def __setattr__(self, name, value): super().__setattr__(name, value * 10)
    def both(self): return self._n, self.__m
A().both()
""",
    "called by name": """
class A:
    def __setattr__(self, name, value): super().__setattr__(name, ('seen', value))
a = A()
a.__setattr__('x', 1)
A.__setattr__(a, 'y', 2)
a.x, a.y
""",
    "into a dictionary": """
class Namespace(dict):
    def __getattr__(self, name):
        try: return self[name]
        except KeyError: raise AttributeError(name) from None
    def __setattr__(self, name, value): self[name] = value
    def __delattr__(self, name): del self[name]
n = Namespace(a=1)
n.b = n.a + 1
del n.a
dict(n), hasattr(n, 'zz')
""",
    "into the variables": """
class A:
    def __setattr__(self, name, value): self.__dict__[name] = value * 2
a = A()
a.x = 4
a.x, a.__dict__
""",
    "setattr and delattr": """
class A:
    def __setattr__(self, name, value): super().__setattr__(name, str(value))
a = A()
setattr(a, 'n', 5)
delattr(a, 'n')
hasattr(a, 'n')
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_they_are_cpythons(same, what):
    """A class may say what setting and deleting its attributes does, as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "object.__setattr__(a, '__class__', int)",
        "object.__setattr__(a, '__dict__', {})",
        "object.__setattr__(A, 'x', 1)",
        "object.__setattr__(int, 'x', 1)",
        "object.__setattr__(print, 'x', 1)",
        "object.__setattr__(json, 'loads', 1)",
        "object.__setattr__(random.Random(1), '_randbelow', 1)",
        "object.__setattr__(f, '__globals__', {})",
        "object.__setattr__(f, '__code__', 1)",
        "object.__delattr__(a, '__class__')",
        "object.__delattr__(json, 'loads')",
        "object.__setattr__(a, N('__class__'), int)",
        "a.__setattr__('__class__', int)",
        "A.__setattr__(a, '__class__', int)",
        "A.__setattr__(A, '__getattribute__', 1)",
        "type.__setattr__(A, 'x', 1)",
        "super(A, a).__setattr__('__class__', int)",
        "super(A, A).__setattr__('__getattribute__', 1)",
        "B().set('__class__', int)",
        "B().set('__dict__', {})",
        "B().drop('__dict__')",
        "B.set(json, 'loads', 1)",
        "B.set(random.Random(1), '_randbelow', 1)",
        "list(map(object.__setattr__, [json], ['loads'], [1]))",
        "setter = object.__setattr__\nsetter(json, 'loads', 1)",
        "int.__setattr__(int, 'x', 1)",
        "json.__setattr__('loads', 1)",
        "type(json).__setattr__(json, 'loads', 1)",
        "f.__setattr__('__code__', 1)",
        "done.__setattr__('x', 1)",
        "ExceptionGroup.__setattr__(ValueError(), '__traceback__', 1)",
        "V.__setattr__(ValueError(), '__traceback__', None)",
    ],
)
def test_what_they_are_given_is_checked(box, source):
    """The name is checked, and so is whose object it is, by every way to the method."""
    head = """
import json, random
class A: ...
class N(str): ...
class V(ValueError): ...
class B:
    def set(self, name, value): super().__setattr__(name, value)
    def drop(self, name): super().__delattr__(name)
def f(): ...
a = A()
"""
    run = box.run(head + source)
    assert run.error is not None
    assert run.error.type in ("Refused", "AttributeError", "TypeError"), str(run)
    assert box.run("import json\njson.loads('[1]')").value == [1]
