"""Metaclasses: refused; a class comes into being by a class statement only."""

import pytest

PROGRAMS = {
    "ABCMeta by name": """
from abc import ABCMeta, abstractmethod
class A(metaclass=ABCMeta):
    @abstractmethod
    def f(self): ...
class B(A):
    def f(self): return 'f'
try: A()
except TypeError as e: print(e)
B().f()
""",
    "ABCMeta by its module": "import abc\nclass A(metaclass=abc.ABCMeta): x = 1\nA().x",
    "type by name": "class A(metaclass=type): x = 1\nA().x, type(A) is type",
    "isinstance of types": """
from abc import ABC
from enum import Enum
class A: pass
class B(ABC): pass
class C(Enum): X = 1
[isinstance(x, type) for x in (A, B, C, int, type, 3, A())]
""",
    "type of a type": "type(int) is type, type(type) is type, issubclass(type, object)",
    "type as a key and in a table": "{int: 'i', str: 's'}[type('a')], {type: 1}[type(int)]",
    "type tells one class from another": "[type(x).__name__ for x in (1, 'a', [], None, len, int)]",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_what_metaclasses_are_used_for_is_there(same, what):
    """Abstract classes and ``type`` of one argument work as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "class M(type): pass",
        "class M(type(int)): pass",
        "from abc import ABCMeta\nclass M(ABCMeta): pass",
        "from enum import EnumMeta\nclass M(EnumMeta): pass",
        "import typing\nclass M(typing.Type): pass",
        "import typing\nclass M(typing.Type[int]): pass",
        "class A(metaclass=lambda *a: 1): pass",
        "def m(*a, **k): return 1\nclass A(metaclass=m): pass",
        "class A(**{'metaclass': print}): pass",
        "k = {'metaclass': print}\nclass A(**k): pass",
        "class B: pass\nclass A(metaclass=B): pass",
        "class A(B := 1, metaclass=print): pass",
    ],
)
def test_no_metaclass_is_made_or_named(box, source):
    """A class statement's metaclass is Python's own or an abstract class's."""
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("Refused", "TypeError")


@pytest.mark.parametrize(
    "source",
    [
        "type('X', (), {})",
        "type(int)('X', (), {})",
        "int.__class__('X', (), {})",
        "type('X', (int,), {'__reduce__': 1})",
        "type(*('X', (), {}))",
        "from abc import ABCMeta\nABCMeta('X', (), {})",
        "from enum import EnumMeta\nEnumMeta('X', (), {})",
        "from abc import ABC\ntype(ABC)('X', (), {})",
        "list(map(type, ['X'], [()], [{}]))",
        "from functools import partial\npartial(type, 'X')((), {})",
        "import types\ntypes.new_class('X')",
        "type.__call__(type, 'X', (), {})",
        "type.__new__(type, 'X', (), {})",
        "object.__new__(type)",
        "type.mro(int)",
        "type.__subclasses__(object)",
    ],
)
def test_no_call_makes_a_class(box, source):
    """``type`` tells the class of an object and nothing more."""
    run = box.run(source)
    assert run.status == "error", str(run)


def test_the_error_says_what_to_write(box):
    """Whoever wants a class is told to write the statement; or which base to take."""
    assert "class statement" in str(box.run("type('X', (), {})"))
    message = str(box.run("def m(*a): ...\nclass A(metaclass=m): pass"))
    assert "metaclass" in message
    assert "ABC" in message


@pytest.mark.parametrize(
    "name", ["__instancecheck__", "__subclasscheck__", "__prepare__", "__mro_entries__"]
)
def test_a_metaclasss_methods_are_refused(refusal, name):
    """They would do nothing on a class, or change what a class statement makes."""
    error = refusal(f"class A:\n    def {name}(self, *a): return True")
    assert name in error.message
    assert error.line == 3
