"""``super``: in all forms; it can't be rebound, and leads to no closed name."""

import pytest

PROGRAMS = {
    "without arguments": """
class A:
    def f(self): return 'A'
class B(A):
    def f(self): return 'B' + super().f()
B().f()
""",
    "with two": """
class A:
    def f(self): return 'A'
class B(A):
    def f(self): return 'B' + super(B, self).f()
B().f(), super(B, B()).f()
""",
    "in a class method": """
class A:
    @classmethod
    def make(cls, x): return cls.__name__, x
class B(A):
    @classmethod
    def make(cls, x): return super().make(x + 1)
B.make(1), super(B, B).make(5)
""",
    "in a static method": """
class A:
    @staticmethod
    def f(): return 'A'
class B(A):
    @staticmethod
    def f(): return super(B, B).f()
B.f()
""",
    "in a property": """
class A:
    @property
    def x(self): return 1
class B(A):
    @property
    def x(self): return super().x + 1
B().x
""",
    "in a nested function": """
class A:
    def f(self): return 'A'
class B(A):
    def f(self):
        def inner(self): return super().f()
        return inner(self), [super(B, self).f() for _ in 'ab']
B().f()
""",
    "in __init__, __new__ and __init_subclass__": """
class A:
    def __init__(self, a): self.a = a
    def __init_subclass__(cls, tag='', **rest):
        super().__init_subclass__(**rest)
        cls.tag = tag
class B(A, tag='t'):
    def __new__(cls, *args): return super().__new__(cls)
    def __init__(self, a, b):
        super().__init__(a)
        self.b = b
b = B(1, 2)
b.a, b.b, B.tag
""",
    "special methods": """
class L(list):
    def __getitem__(self, i): return super().__getitem__(i) * 10
    def __setitem__(self, i, v): super().__setitem__(i, v + 1)
    def __repr__(self): return 'L' + super().__repr__()
    def __eq__(self, o): return super().__eq__(o)
    def __len__(self): return super().__len__() + 100
    def __iter__(self): return super().__iter__()
    __hash__ = None
l = L([1, 2])
l[0] = 5
l[0], repr(l), len(l), l == [6, 2], list(iter(l))
""",
    "of a dict": """
class D(dict):
    def __getitem__(self, k): return super().__getitem__(k.lower())
    def __contains__(self, k): return super().__contains__(k.lower())
    def __setitem__(self, k, v): return super().__setitem__(k.lower(), v)
    def __delitem__(self, k): super().__delitem__(k.lower())
d = D()
d['A'] = 1
d['a'], 'A' in d, d['A']
""",
    "format, str and class_getitem": """
class F(float):
    def __format__(self, spec): return '~' + super().__format__(spec)
    def __str__(self): return 'F' + super().__str__()
class B:
    def __class_getitem__(cls, k): return [k]
class C(B):
    def __class_getitem__(cls, k): return super().__class_getitem__(k) + [2]
f'{F(1.25):.1f}', str(F(2)), C[1]
""",
    "of an exception": """
class E(Exception):
    def __init__(self, *a):
        super().__init__(*a)
        self.n = len(a)
    def __str__(self): return 'E: ' + super().__str__()
try: raise E('x')
except E as e: r = str(e), e.n
r
""",
    "attributes of the classes": """
class A: n = 1
class B(A):
    n = 2
    def get(self): return super().n
B().get()
""",
    "private methods": """
class A:
    def _f(self): return 'A'
    def __g(self): return 'g'
    def g(self): return self.__g()
class B(A):
    def _f(self): return 'B' + super()._f()
    def g(self): return super().g()
B()._f(), B().g()
""",
    "what is not there": "class A:\n    def f(self): return super().f()\nA().f()",
    "outside a class": "super().f",
    "of a strange object": "class A: ...\nsuper(A, 5).f",
    "its class": "class A:\n    def f(self): return __class__ is A\nA().f()",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_super_is_cpythons(same, what):
    """The next class's methods and attributes are found as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "name",
    ["__getattribute__", "__reduce_ex__", "__subclasses__", "__globals__", "__get__", "__code__"],
)
@pytest.mark.parametrize("form", ["super()", "super(A, self)", "super(A, A)", "super"])
def test_it_leads_to_no_closed_name(refusal, form, name):
    """What is refused on an object is refused on what its bases have."""
    source = f"class A:\n    def f(self): return {form}.{name}"
    assert name in refusal(source).message


@pytest.mark.parametrize(
    "source",
    [
        "class P(property):\n    def f(self, o): return super().__get__(o, None)",
        "class P(property):\n    def f(self, o): return super().__set__(o, None)",
        "class P(property):\n    def f(self, o): return super().__delete__(o)",
        "class P:\n    def f(self, o): return super().__getattr__(o)",
    ],
)
def test_a_descriptors_own_methods_are_refused(refusal, source):
    """A library's descriptor would read and write what other objects keep to themselves."""
    assert "__" in refusal(source).message


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def f(self): return getattr(super(), '__getattr' + 'ibute__')\nA().f()",
        "class A: ...\n'{0.__self_class__.__subclasses__}'.format(super(A, A()))",
        "class A: ...\ngetattr(super(A, A()), '__thisclass__').__subclasses__",
        "class S(super): ...\nS",
        "class A:\n    def f(self): return super().__self__.__subclasses__\nA().f()",
        "class A:\n    def f(self): return super().__thisclass__\nA().f()",
        "class A:\n    def f(self): return super().__class__.__subclasses__\nA().f()",
    ],
)
def test_nor_by_a_text_or_a_subclass(box, source):
    """Nor by ``getattr``, ``format``, or a class of the program's own."""
    assert box.run(source).status == "error"


@pytest.mark.parametrize(
    "source",
    [
        "globals()['super'] = fake\nsuper().__subclasshook__",
        "globals().update(super=fake)\nsuper().__subclasshook__",
        "globals().setdefault('super', fake)\nsuper().__subclasshook__",
        "vars()['super'] = fake\nsuper().__subclasshook__",
        "locals()['super'] = fake\nsuper().__subclasshook__",
        "exec('r = super().__subclasshook__', {'super': fake})",
        "exec('r = super().__subclasshook__', {}, {'super': fake})",
        "exec('def f(): return super().__subclasshook__', d := {'super': fake})\nd['f']()",
        "eval('super().__subclasshook__', {}, M())",
    ],
)
def test_no_table_of_names_rebinds_it(box, source):
    """Variables that are set, or handed over, by their names are none that Python relies on."""
    head = """
def fake(*args): return int
class M(dict):
    def __getitem__(self, name): return fake
"""
    run = box.run(head + source)
    box.run("globals().pop('super', None)")
    assert run.error is not None, str(run)
