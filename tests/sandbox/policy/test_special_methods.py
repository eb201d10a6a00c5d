"""Special methods: those of the data model may be defined and called; hooks are refused."""

import pytest

PROGRAMS = {
    "a container": """
class Grid:
    def __init__(self): self.d = {}
    def __getitem__(self, k): return self.d[k]
    def __setitem__(self, k, v): self.d[k] = v
    def __delitem__(self, k): del self.d[k]
    def __contains__(self, k): return k in self.d
    def __iter__(self): return iter(self.d)
    def __reversed__(self): return reversed(self.d)
    def __len__(self): return len(self.d)
    def __length_hint__(self): return 7
g = Grid()
g[1, 2] = 'a'; g[3] = 'b'
del g[3]
g[1, 2], (1, 2) in g, 3 in g, list(g), list(reversed(g)), len(g), bool(g)
""",
    "by getitem alone": "class A:\n    def __getitem__(self, i):\n"
    "        if i > 2: raise IndexError\n"
    "        return i * i\nlist(A()), 4 in A(), [*A()]",
    "missing": "class D(dict):\n    def __missing__(self, k): return k * 2\nD()[4], D().get(4)",
    "an iterator": """
class Down:
    def __init__(self, n): self.n = n
    def __iter__(self): return self
    def __next__(self):
        if not self.n: raise StopIteration
        self.n -= 1
        return self.n
list(Down(3)), sum(Down(4)), next(Down(9)), [a for a, b in zip(Down(2), Down(5))]
""",
    "texts": """
class A:
    def __repr__(self): return 'A()'
    def __str__(self): return 'an A'
    def __bytes__(self): return b'A'
    def __format__(self, spec): return f'A:{spec}'
a = A()
repr(a), str(a), bytes(a), f'{a:x} {a!r} {a}', '{:y}'.format(a), [a].__repr__(), '%s %r' % (a, a)
""",
    "numbers": """
class N:
    def __init__(self, v): self.v = v
    def __int__(self): return int(self.v)
    def __float__(self): return float(self.v)
    def __complex__(self): return complex(self.v)
    def __index__(self): return int(self.v)
    def __round__(self, n=0): return ('round', n)
    def __trunc__(self): return 'trunc'
    def __floor__(self): return 'floor'
    def __ceil__(self): return 'ceil'
    def __abs__(self): return 'abs'
    def __neg__(self): return 'neg'
    def __pos__(self): return 'pos'
    def __invert__(self): return 'invert'
    def __divmod__(self, o): return 'divmod'
    def __rdivmod__(self, o): return 'rdivmod'
    def __pow__(self, o, m=None): return ('pow', o, m)
import math
n = N(3)
(int(n), float(n), complex(n), [0, 1, 2, 'x'][n], hex(n), round(n), round(n, 2), math.trunc(n),
 math.floor(n), math.ceil(n), abs(n), -n, +n, ~n, divmod(n, 1), divmod(1, n), n ** 2, pow(n, 2, 5))
""",
    "every operator, both sides, in place": """
ops = {'+': 'add', '-': 'sub', '*': 'mul', '/': 'truediv', '//': 'floordiv', '%': 'mod',
       '@': 'matmul', '&': 'and', '|': 'or', '^': 'xor', '<<': 'lshift', '>>': 'rshift'}
class N:
    def __add__(s, o): return 'add'
    def __radd__(s, o): return 'radd'
    def __iadd__(s, o): return 'iadd'
    def __sub__(s, o): return 'sub'
    def __rsub__(s, o): return 'rsub'
    def __isub__(s, o): return 'isub'
    def __mul__(s, o): return 'mul'
    def __rmul__(s, o): return 'rmul'
    def __imul__(s, o): return 'imul'
    def __truediv__(s, o): return 'truediv'
    def __rtruediv__(s, o): return 'rtruediv'
    def __itruediv__(s, o): return 'itruediv'
    def __floordiv__(s, o): return 'floordiv'
    def __rfloordiv__(s, o): return 'rfloordiv'
    def __ifloordiv__(s, o): return 'ifloordiv'
    def __mod__(s, o): return 'mod'
    def __rmod__(s, o): return 'rmod'
    def __imod__(s, o): return 'imod'
    def __matmul__(s, o): return 'matmul'
    def __rmatmul__(s, o): return 'rmatmul'
    def __imatmul__(s, o): return 'imatmul'
    def __and__(s, o): return 'and'
    def __rand__(s, o): return 'rand'
    def __iand__(s, o): return 'iand'
    def __or__(s, o): return 'or'
    def __ror__(s, o): return 'ror'
    def __ior__(s, o): return 'ior'
    def __xor__(s, o): return 'xor'
    def __rxor__(s, o): return 'rxor'
    def __ixor__(s, o): return 'ixor'
    def __lshift__(s, o): return 'lshift'
    def __rlshift__(s, o): return 'rlshift'
    def __ilshift__(s, o): return 'ilshift'
    def __rshift__(s, o): return 'rshift'
    def __rrshift__(s, o): return 'rrshift'
    def __irshift__(s, o): return 'irshift'
    def __rpow__(s, o): return 'rpow'
    def __ipow__(s, o): return 'ipow'
found = {}
for op in ops:
    names = {'n': N()}
    exec(f'a = n {op} 1; b = 1 {op} n; n {op}= 1', names)
    found[op] = names['a'], names['b'], names['n']
n = N()
p = 2 ** n
n **= 2
found, p, n
""",
    "comparisons": """
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __ne__(self, o): return self.n != o.n
    def __lt__(self, o): return self.n < o.n
    def __le__(self, o): return self.n <= o.n
    def __gt__(self, o): return self.n > o.n
    def __ge__(self, o): return self.n >= o.n
    def __hash__(self): return hash(self.n)
a, b = V(1), V(2)
(a == b, a != b, a < b, a <= b, a > b, a >= b, len({a, V(1)}), [v.n for v in sorted([b, a])],
 max(a, b).n)
""",
    "total ordering": """
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, o): return self.n == o.n
    def __lt__(self, o): return self.n < o.n
V(1) <= V(1), V(2) > V(1), V(1) >= V(2)
""",
    "called": "class F:\n    def __call__(self, *a, **k): return a, k\nF()(1, b=2), callable(F())",
    "a context": """
class C:
    def __enter__(self): return 'in'
    def __exit__(self, kind, error, trace): return kind is KeyError
with C() as c: raise KeyError
c
""",
    "attributes that are not there": """
class Open:
    def __init__(self): self.known = 1
    def __getattr__(self, name): return name.upper()
o = Open()
o.known, o.other, getattr(o, 'third'), hasattr(o, 'any')
""",
    "copies": """
import copy
class A:
    def __init__(self, n): self.n = n
    def __copy__(self): return A('copied')
    def __deepcopy__(self, memo): return A('deep')
copy.copy(A(1)).n, copy.deepcopy([A(1)])[0].n
""",
    "dir, size, path": """
import os
class A:
    def __dir__(self): return ['b', 'a']
    def __sizeof__(self): return 1
    def __fspath__(self): return 'a/b'
dir(A()), os.fspath(A()), os.path.join(A(), 'c')
""",
    "generic by hand": """
class Box:
    def __class_getitem__(cls, kind): return (cls.__name__, kind.__name__)
Box[int]
""",
    "subclasshook": """
from abc import ABC
class Sized(ABC):
    @classmethod
    def __subclasshook__(cls, other): return hasattr(other, 'size')
class A: size = 1
isinstance(A(), Sized), issubclass(int, Sized)
""",
    "hash and truth": """
class A:
    def __hash__(self): return 7
    def __bool__(self): return False
hash(A()), bool(A()), not A()
""",
    "called by name": """
class A:
    def __len__(self): return 3
    def __eq__(self, o): return True
    def __getitem__(self, i): return i
    def __iter__(self): return iter([1])
    def __call__(self): return 'called'
a = A()
(a.__len__(), a.__eq__(1), a.__getitem__(2), list(a.__iter__()), A.__len__(a), a.__call__(),
 [1, 2].__len__(), (5).__add__(3), 'a'.__contains__('a'), {}.__iter__().__next__ is not None)
""",
    "init called by name": """
class A:
    def __init__(self, n): self.n = n
class B(A):
    def __init__(self, n):
        A.__init__(self, n + 1)
        self.m = n
b = B(1)
b.__init__(5)
b.n, b.m
""",
    "reused under another name": """
class A:
    def __add__(self, o): return 'sum'
    __radd__ = __add__
    def __str__(self): return 'text'
    __repr__ = __str__
A() + 1, 1 + A(), repr(A())
""",
    "None closes one": "class A:\n    __hash__ = None\n    __iter__ = None\nhash(A())",
    "a wrong result": "class A:\n    def __len__(self): return -1\nlen(A())",
    "a wrong kind of result": "class A:\n    def __str__(self): return 1\nstr(A())",
    "an error inside": "class A:\n    def __getitem__(self, i): raise KeyError(i)\nA()['k']",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_the_data_model_is_cpythons(same, what):
    """What a data type, container, number, iterator or callable defines works as in CPython."""
    same(PROGRAMS[what])


CLOSED = [
    *("__getattribute__", "__del__", "__reduce__", "__reduce_ex__", "__getstate__"),
    *("__setstate__", "__getnewargs__", "__getnewargs_ex__", "__instancecheck__"),
    *("__subclasscheck__", "__prepare__", "__mro_entries__", "__class__", "__subclasses__"),
    *("__buffer__", "__unheard_of__", "__globals__", "__import__"),
]


@pytest.mark.parametrize("name", CLOSED)
def test_the_hooks_are_refused(refusal, name):
    """What would run unseen or change how others are read is refused by name, in any form."""
    for form in (
        "class A:\n    def {}(self): pass",
        "class A:\n    async def {}(self): pass",
        "class A:\n    {} = 1",
        "class A:\n    {}: int = 1",
        "class A:\n    for {} in [1]: pass",
        "class A:\n    import json as {}",
        "class A:\n    class {}: pass",
        "class A:\n    ({} := 1)",
    ):
        error = refusal(form.format(name))
        assert name in error.message
        assert error.line == 3


@pytest.mark.parametrize("name", CLOSED)
def test_nor_can_they_be_set_later(box, name):
    """Nor by an assignment to the class, nor by a text."""
    for form in ("A.{} = f", "setattr(A, '{}', f)", "A.__dict__['{}'] = f"):
        run = box.run(f"class A: ...\ndef f(*a): ...\n{form.format(name)}")
        assert run.status == "error", form


@pytest.mark.parametrize(
    "name", ["__getattribute__", "__reduce_ex__", "__subclasses__", "__init_subclass__.__self__"]
)
@pytest.mark.parametrize("of", ["a", "A", "object", "super(A, a)", "int", "(5)", "print"])
def test_those_that_lead_out_are_not_to_be_called(box, of, name):
    """What every object inherits from ``object`` and ``type`` stays closed."""
    assert box.run(f"class A: ...\na = A()\n{of}.{name}").status == "error"
