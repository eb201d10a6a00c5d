"""Class statements: bodies, inheritance, keywords, slots, properties, class attributes."""

import pytest

PROGRAMS = {
    "a body runs as code": """
class A:
    'The docstring.'
    n = 1
    for i in range(3): n += i
    if n > 3: big = True
    table = {k: k * 2 for k in range(2)}
    del i
A.n, A.big, A.table, A.__doc__, hasattr(A, 'i')
""",
    "inheritance": """
class A:
    kind = 'a'
    def hello(self): return 'hello ' + self.kind
class B(A): kind = 'b'
class C(B):
    def hello(self): return 'C: ' + super().hello()
C().hello(), isinstance(C(), A), issubclass(C, B), [k.__name__ for k in C.__mro__]
""",
    "several bases": """
class A:
    def who(self): return ['A']
class B(A):
    def who(self): return ['B'] + super().who()
class C(A):
    def who(self): return ['C'] + super().who()
class D(B, C):
    def who(self): return ['D'] + super().who()
D().who(), [k.__name__ for k in D.__bases__]
""",
    "bases that disagree": "class A: pass\nclass B(A): pass\nclass C(A, B): pass",
    "of builtins": """
class Stack(list):
    def push(self, x): self.append(x)
class Names(dict):
    def __missing__(self, key): return key.upper()
class Celsius(float):
    def fahrenheit(self): return self * 9 / 5 + 32
class Word(str):
    @property
    def shout(self): return self.upper() + '!'
s = Stack([1]); s.push(2)
list(s), Names(a=1)['b'], Celsius(100).fahrenheit(), Word('hi').shout, Word('a') + 'b'
""",
    "of exceptions": """
class AppError(Exception):
    def __init__(self, message, code=1):
        super().__init__(message)
        self.code = code
        self._detail = 'kept'
class NotFound(AppError, KeyError): pass
try: raise NotFound('gone', 404)
except AppError as e: r = (e.code, e.args, e._detail, isinstance(e, LookupError))
r
""",
    "keywords": """
class Plugin:
    found = {}
    def __init_subclass__(cls, /, name=None, **rest):
        super().__init_subclass__(**rest)
        cls.found[name or cls.__name__] = cls
class A(Plugin): pass
class B(Plugin, name='bee'): pass
list(Plugin.found), Plugin.found['bee'] is B
""",
    "keywords by stars": """
class P:
    def __init_subclass__(cls, **named): cls.named = named
options = {'a': 1}
class A(P, **options, b=2): pass
A.named
""",
    "bases by a star": "bases = (list,)\nclass A(*bases): pass\nissubclass(A, list)",
    "an unknown keyword": "class A: pass\nclass B(A, size=1): pass",
    "slots": """
class P:
    __slots__ = ('x', '_y')
    def __init__(self): self.x, self._y = 1, 2
p = P()
try: p.z = 1
except AttributeError as e: print(e)
p.x, p._y
""",
    "slots and a private name": """
class P:
    __slots__ = ['__secret']
    def __init__(self): self.__secret = 5
    def get(self): return self.__secret
P().get()
""",
    "class and static methods": """
class A:
    made = 0
    def __init__(self): type(self).made += 1
    @classmethod
    def new(cls, n): return [cls() for _ in range(n)]
    @staticmethod
    def add(a, b): return a + b
A.new(3)
A.made, A.add(1, 2), A().add(3, 4), A.new(1)[0].made
""",
    "properties": """
class T:
    def __init__(self, c): self._c = c
    @property
    def c(self):
        'In degrees.'
        return self._c
    @c.setter
    def c(self, value):
        if value < -273: raise ValueError('too cold')
        self._c = value
    @c.deleter
    def c(self): self._c = None
    f = property(lambda self: self._c * 9 / 5 + 32)
t = T(20)
t.c += 5
a = t.c, t.f, T.c.__doc__
try: t.c = -300
except ValueError as e: print(e)
del t.c
try: t.f = 1
except AttributeError: print('read-only')
a, t.c
""",
    "nested classes": """
class Outer:
    class Inner:
        value = 3
        class Deep: pass
    def make(self): return self.Inner()
Outer().make().value, Outer.Inner.Deep.__qualname__
""",
    "decorated": """
def register(cls):
    seen.append(cls.__name__)
    cls.extra = 1
    return cls
seen = []
@register
class A: pass
A.extra, seen
""",
    "made in a function": """
def make(name):
    class Made: label = name
    Made.__name__ = Made.__qualname__ = name
    return Made
X = make('X')
X.__name__, X.__qualname__, X.label, X().__class__.__name__, repr(X)
""",
    "attributes set later": """
class A: pass
A.n = 1
A.get = lambda self: self.n
A._hidden = 2
a = A()
a.n = 5
a.get(), A.n, A._hidden, a._hidden, a.__dict__
""",
    "types": """
class A: pass
a = A()
type(a) is A, a.__class__ is A, type(a).__name__, A.__module__, type(A) is type, isinstance(A, type)
""",
    "the default repr": "class A: pass\nrepr(A), repr(A()).startswith('<__main__.A object at ')",
    "a method by a lambda and by assignment": """
class A:
    size = lambda self: 3
    __len__ = size
    __str__ = lambda self: 'an A'
len(A()), str(A())
""",
    "methods that call each other": """
class Shape:
    def area(self): raise NotImplementedError
    def twice(self): return 2 * self.area()
class Square(Shape):
    def __init__(self, side): self.side = side
    def area(self): return self.side ** 2
print(Square(3).twice())
Shape().twice()
""",
    "not hashable": "class A:\n    def __eq__(self, o): return True\n{A()}",
    "an attribute that is not there": "class A: pass\nA().nope",
    "a class attribute that is not there": "class A: pass\nA.nope",
    "an argument too many": "class A: pass\nA(1)",
    "inherits from bool": "class A(bool): pass",
    "through __mro_entries__ of the library's": "class A(list[int]): pass\n"
    "A([1]), A.__mro__[1]([2])",
    "its own variables": "class A:\n    x, _y = 1, 2\n    def m(self): ...\n"
    "[n for n in A.__dict__ if n[:2] != '__'], [n for n in vars(A) if n[:2] != '__']",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_class_is_cpythons(same, what):
    """Bodies, bases, keywords, slots and properties work as in CPython."""
    same(PROGRAMS[what])


def test_a_class_lives_on(same):
    """A class and its objects of one turn are used, and changed, in the next."""
    same(
        "class A:\n    n = 1\n    def get(self): return self.n\na = A()",
        "A.n = 5\nclass B(A): pass\na.get(), B().get()",
    )


@pytest.mark.parametrize("name", ["__class__", "__dict__", "__mro__", "__bases__", "__qualname_"])
def test_a_class_body_binds_no_other_special_name(box, name):
    """A class body assigns the special names that a class may have, and no others."""
    run = box.run(f"class A:\n    {name} = 1\nA()")
    assert (run.status == "error") is name.endswith("__")


@pytest.mark.parametrize("name", ["__class__", "__getattribute__", "__reduce_ex__", "__del__"])
@pytest.mark.parametrize(
    "slots", ["('{}',)", "['x', '{}']", "'{}'", "{{'{}': 'doc'}}", "tuple(['{}'])"]
)
def test_no_slot_has_a_special_name(box, slots, name):
    """A slot is an attribute of the class: its name is checked as one."""
    run = box.run(f"class A:\n    __slots__ = {slots.format(name)}\nA()")
    assert run.error is not None
    assert name in run.error.message


def test_the_special_slots_that_there_are(same):
    """``__dict__`` and ``__weakref__`` are slots as in CPython."""
    same(
        "class A:\n    __slots__ = ('x', '__dict__', '__weakref__')\n"
        "a = A()\na.x, a.y = 1, 2\nvars(a), a.x"
    )


@pytest.mark.parametrize(
    "form",
    [
        "class A({}): ...",
        "class A(x={}): ...",
        "class A(*{}): ...",
        "@{}\nclass A: ...",
        "class A:\n    x = {}",
        "class A:\n    {}",
        "class A:\n    def f(self): {}",
        "class A:\n    class B: {}",
    ],
)
def test_what_stands_in_a_class_is_checked(refusal, form):
    """Bases, keywords, decorators and bodies are checked."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message


@pytest.mark.parametrize(
    "source",
    [
        "class A: ...\nA().__class__ = int",
        "class A: ...\nA.__bases__ = (int,)",
        "class A: ...\nA.__mro__ = ()",
        "class A: ...\nA.__dict__ = {}",
        "class A: ...\nsetattr(A(), '__class__', int)",
        "class A: ...\nA.__dict__['__getattribute__'] = 1",
        "class A: ...\nA().__dict__['__class__'] = int",
        "class A: ...\nA().__dict__ = {'__class__': int}",
        "class A: ...\nvars(A())['__class__'] = int\nA().__dict__.update(__class__=int)",
        "A = int\nA.x = 1",
        "class A: ...\nA.__subclasses__()",
        "int.__mro__",
        "int.__bases__",
        "int.__dict__",
        "[].__dict__",
        "import json\njson.__dict__",
        "from collections import Counter\nCounter.__bases__",
        "class A: ...\nA.__mro__[1].__subclasses__()",
        "class A: ...\nA.__mro__[1].__getattribute__(A(), '__class__')",
        "class A: ...\nA.__init_subclass__.__self__.__subclasses__()",
    ],
)
def test_classes_lead_nowhere(box, source):
    """What a class is made of can't be changed, and no class tells of others than its own bases."""
    run = box.run(source)
    assert run.status == "error", str(run)


@pytest.mark.parametrize("base", ["5", "len", "[]", "A()", "print"])
def test_what_is_no_class_is_no_base(box, base):
    """What Python itself takes for bases, once it has asked for them, has to be classes."""
    assert "can't inherit from" in str(box.run(f"class A: pass\nclass B({base}): pass"))
