"""Descriptors of the program's own: allowed; those of the library keep what they guard."""

import pytest

PROGRAMS = {
    "get, set, delete, set_name": """
class Positive:
    def __set_name__(self, owner, name): self.slot = '_' + name
    def __get__(self, obj, owner=None):
        return self if obj is None else getattr(obj, self.slot, 0)
    def __set__(self, obj, value):
        if value < 0: raise ValueError(f'{self.slot[1:]} must be positive')
        setattr(obj, self.slot, value)
    def __delete__(self, obj): delattr(obj, self.slot)
class Item:
    price = Positive()
    count = Positive()
    def __init__(self, price): self.price = price
i = Item(5)
i.count += 3
try: i.price = -1
except ValueError as e: print(e)
del i.price
i.price, i.count, isinstance(Item.price, Positive)
""",
    "lazy": """
class lazy:
    def __init__(self, f): self.f, self.name = f, f.__name__
    def __get__(self, obj, owner=None):
        value = self.f(obj)
        obj.__dict__[self.name] = value
        return value
class A:
    @lazy
    def x(self):
        print('computed')
        return 42
a = A()
a.x, a.x
""",
    "a class property": """
class classproperty:
    def __init__(self, f): self.f = f
    def __get__(self, obj, owner): return self.f(owner)
class A:
    @classproperty
    def name(cls): return cls.__name__
class B(A): pass
A.name, B().name
""",
    "cached_property": """
from functools import cached_property
class A:
    @cached_property
    def x(self):
        print('once')
        return 3
a = A()
a.x, a.x, a.__dict__
""",
    "a validated base": """
from abc import ABC, abstractmethod
class Validator(ABC):
    def __set_name__(self, owner, name): self.private_name = '_' + name
    def __get__(self, obj, objtype=None): return getattr(obj, self.private_name)
    def __set__(self, obj, value):
        self.validate(value)
        setattr(obj, self.private_name, value)
    @abstractmethod
    def validate(self, value): ...
class OneOf(Validator):
    def __init__(self, *options): self.options = set(options)
    def validate(self, value):
        if value not in self.options: raise ValueError(f'not {value!r}')
class C:
    kind = OneOf('wood', 'metal')
    def __init__(self, kind): self.kind = kind
try: C('glass')
except ValueError as e: print(e)
C('wood').kind
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_descriptors_are_cpythons(same, what):
    """A class may say what its attributes do."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("name", ["__get__", "__set__", "__delete__"])
@pytest.mark.parametrize("of", ["print", "property(len)", "int.real", "A.f", "A().f", "super()"])
def test_a_descriptors_methods_are_not_called_by_name(box, of, name):
    """A library's descriptor binds to any object: its methods are Python's to call."""
    source = f"class A:\n    def f(self): ...\n    def g(self): return {of}.{name}\nA().g()"
    run = box.run(source)
    assert run.error is not None
    assert name in run.error.message
