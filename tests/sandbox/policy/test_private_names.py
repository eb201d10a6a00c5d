"""Private names: free on what the program made itself, and closed on all else."""

import pytest

PROGRAMS = {
    "variables and functions": "_a, __b = 1, 2\ndef _f(_x=3, *, __y=4): return _x + __y\n"
    "_a + __b + _f()",
    "attributes": """
class Account:
    _rate = 2
    def __init__(self): self._sum, self.__secret = 1, 5
    def add(self, n):
        self._sum += n * self._rate
        self.__secret += 1
        return self
    def both(self): return self._sum, self.__secret
a = Account().add(3)
a.both(), a._sum, a._Account__secret, Account._rate, a._rate
""",
    "methods": """
class A:
    def _one(self): return 1
    def __two(self): return self._one() + 1
    @classmethod
    def _make(cls): return cls()
    @staticmethod
    def _static(x): return x
    @property
    def _prop(self): return 'p'
    def all(self): return self.__two(), A._make()._one(), self._static(3), self._prop
A().all(), A._make()._prop
""",
    "of another object of the class": """
class V:
    def __init__(self, x): self._x = x
    def __eq__(self, o): return isinstance(o, V) and self._x == o._x
    def __add__(self, o): return V(self._x + o._x)
(V(1) + V(2))._x, V(1) == V(1), V(1) == 5
""",
    "from outside": "class A: ...\na = A()\na._x = 1\nA._y = 2\na._x, a._y, hasattr(a, '_z')",
    "mangled names of nested classes": """
class Outer:
    __x = 1
    class Inner:
        __x = 2
        def get(self): return self.__x
    def get(self): return self.__x, Outer.Inner().get()
Outer().get(), Outer._Outer__x, Outer.Inner._Inner__x
""",
    "mangled in subclasses": """
class A:
    def __init__(self): self.__n = 'A'
    def a(self): return self.__n
class _B(A):
    def __init__(self):
        super().__init__()
        self.__n = 'B'
    def b(self): return self.__n
b = _B()
b.a(), b.b(), sorted(vars(b))
""",
    "mangled in functions and comprehensions": """
class A:
    __k = 3
    def f(self):
        g = lambda: self.__k
        return g(), [self.__k for _ in 'a'], (lambda s: s.__k)(self)
A().f()
""",
    "of a subclass of a builtin": """
class L(list):
    def __init__(self, *a):
        super().__init__(*a)
        self._log = []
    def append(self, x):
        self._log.append(x)
        super().append(x)
l = L([1])
l.append(2)
list(l), l._log
""",
    "of a subclass of a library's class": """
from collections import UserDict
class D(UserDict):
    def __init__(self):
        self._reads = 0
        super().__init__()
    def __getitem__(self, k):
        self._reads += 1
        return super().__getitem__(k)
d = D()
d['a'] = 1
d['a'], d._reads
""",
    "of own exceptions": "class E(Exception): ...\ne = E('x')\ne._detail = 1\ne._detail",
    "of own functions": "def f(): ...\nf._cache = {1: 2}\nf._cache[1]",
    "by text": """
class A: _x = 1
a = A()
setattr(a, '_y', 2)
delattr(a, '_y')
getattr(a, '_x'), getattr(a, '_y', 'none'), hasattr(a, '_x'), '{0._x}'.format(a)
""",
    "named tuples'": """
from collections import namedtuple
P = namedtuple('P', 'x y')
p = P._make([1, 2])
P._fields, tuple(p), p._asdict(), tuple(p._replace(y=3)), P._field_defaults
""",
    "not there": "class A: ...\nA()._nope",
    "the underscore": "_ = 5\nfor _ in range(3): pass\na, _ = 1, 2\n_",
    "a slot": "class A:\n    __slots__ = ('_x', '__y')\n"
    "    def __init__(self): self._x = self.__y = 1\n"
    "    def get(self): return self._x + self.__y\nA().get()",
    "a module's own style": "_CACHE = {}\ndef get(k):\n    if k not in _CACHE: _CACHE[k] = k * 2\n"
    "    return _CACHE[k]\nget(2), _CACHE",
    "the receiver under another name": """
class A:
    def __init__(this): this._x = 1
    def get(me, /): return me._x
    def bump(self):
        self, other = A(), self
        self._x += 5
        return self._x, other._x
    def inner(self):
        def f(self): return self._x
        return f(A())
A().get(), A().bump(), A().inner()
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_own_private_names_are_free(same, what):
    """One underscore or two: on own objects they are names like others, mangled as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "[]._x",
        "import json\njson._default_decoder",
        "import random\nrandom._inst",
        "import random\nrandom.Random(1)._randbelow",
        "import random\nrandom.Random(1)._x = 1",
        "import random\ndel random.Random(1)._x",
        "import random\nclass R(random.Random): ...\nR(1)._randbelow(3)",
        "import random\nclass R(random.Random):\n    def f(self): return self._randbelow(3)\n"
        "R(1).f()",
        "import random\nclass R(random.Random): ...\nR._randbelow = 1",
        "import random\nclass R(random.Random): ...\nR(1)._randbelow = 1",
        "import random\nclass R(random.Random):\n    def f(self): self._randbelow = 1\nR(1).f()",
        "import random\nclass R(random.Random):\n    def f(self):\n        del self._randbelow\n"
        "R(1).f()",
        "class A(list): ...\nA()._x",
        "import textwrap\ntextwrap.dedent._x",
        "from enum import Enum\nclass E(Enum): A = 1\nE._member_names_",
        "from enum import Enum\nclass E(Enum): A = 1\nE._create_",
        "import string\nclass T(string.Template): ...\nT('')._invalid",
        "done._call",
        "echo._seal",
        "print._x",
        "globals()._x",
        "getattr([], '_x')",
        "setattr([], '_x', 1)",
        "import random\ngetattr(random.Random(1), '_rand' + 'below')",
        "import random\n'{0._randbelow}'.format(random.Random(1))",
        "import random\nfrom operator import attrgetter\n"
        "attrgetter('_randbelow')(random.Random(1))",
    ],
)
def test_private_names_of_others_are_closed(box, source):
    """What the library keeps to itself is neither read, set nor deleted, also by a subclass."""
    run = box.run(source)
    assert run.error is not None, str(run)


@pytest.mark.parametrize(
    "rebind",
    [
        "self = other",
        "(self := other)",
        "[self := other for _ in 'a']",
        "for self in [other]: pass",
        "with nullcontext(other) as self: pass",
        "import random as self\n        self = other",
        "self, x = other, 1",
        "x, *(self,) = 1, other",
        "match other:\n            case self: pass",
        "match other:\n            case object() as self: pass",
        "match [other]:\n            case [*_, self]: pass",
        "def g():\n            nonlocal self\n            self = other\n        g()",
        "del self\n        self = other",
        "try: raise Carrier(other)\n"
        "        except Carrier as self: self = keep = self.args[0]; return keep._randbelow",
        "self = other if other else self",
    ],
)
def test_a_receiver_that_is_rebound_is_looked_at_again(box, rebind):
    """What a method's first argument was tells nothing of what stands there later."""
    source = f"""
import random
from contextlib import nullcontext
class Carrier(Exception): ...
class A:
    _x = 1
    def f(self, other):
        self._x
        {rebind}
        return self._randbelow
A().f(random.Random(1))
"""
    run = box.run(source)
    assert run.error is not None
    assert "_randbelow" in run.error.message


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def f(self): return [self._randbelow for self in [r]]\nA().f()",
        "class A:\n    def f(self): return (lambda self: self._x, self._randbelow)[0](r)\nA().f()",
        "class A:\n    _x = 1\n    def f(self):\n        def g(self): return self._randbelow\n"
        "        return self._x, g(r)\nA().f()",
        "class A:\n    _x = 1\n    def f(self):\n        class B:\n"
        "            def g(me): return me._x, self._randbelow\n"
        "        return self._x\nA.f(r)",
        "class A:\n    def f(self): return self._randbelow\nA.f(r)",
        "class A:\n    def f(self):\n        self = self\n        return self._randbelow\nA.f(r)",
        "class A:\n    def f(self, *a): return self._randbelow\nA().f.__func__(r)",
        "class A:\n    def f(*a): return a[0]._randbelow\nA.f(r)",
        "def f(self): return self._randbelow\nclass A: g = f\nA.g(r)",
        "class A:\n    def f(self):\n        yield\n        yield self._randbelow\nlist(A.f(r))",
        "class A:\n    async def f(self): return self._randbelow\nimport asyncio\n"
        "asyncio.run(A.f(r))",
        "class A:\n    def f(self): return exec('self = r; print(self._randbelow)')\nA().f()",
        "class A:\n    def f(self): return eval('self._randbelow')\nA.f(r)",
    ],
)
def test_a_method_called_with_anything_reads_nothing_more(box, source):
    """Whoever stands as the first argument, its private names are its own."""
    run = box.run(f"import random\nr = random.Random(1)\n{source}")
    assert run.error is not None, str(run)
    assert run.error.type == "AttributeError"


@pytest.mark.parametrize("source", ["x._randbelow", "x._randbelow = 1"])
def test_a_name_that_changes_between_two_reads_is_no_way_round(box, source):
    """A variable may be looked up in a mapping of the program's own: it is looked up once."""
    program = f"""
import random
class A: ...
theirs = random.Random(1)
class M(dict):
    def __init__(self, count):
        self.count = count
    def __getitem__(self, name):
        if name != 'x': raise KeyError(name)
        self.count += 1
        ours = A()
        ours._randbelow = 5
        return ours if self.count % 2 else theirs
refused = 0
for count in range(2):
    names = M(count)
    try: exec({source!r}, {{}}, names)
    except AttributeError: refused += 1
refused
"""
    assert box.run(program).value == 1
