"""Special attributes: harmless ones are read, those of own objects by a guard, others refused."""

import pytest

PROGRAMS = {
    "names": "int.__name__, 'a'.__class__.__name__, str.upper.__name__, (lambda: 1).__name__",
    "qualified names": "class A:\n    def f(self): ...\n"
    "A.__qualname__, A.f.__qualname__, int.__qualname__",
    "docstrings": "class A: 'of A'\ndef f(): 'of f'\n"
    "A.__doc__, A().__doc__, f.__doc__, len.__doc__[:6]",
    "modules": "class A: ...\nA.__module__, A().__module__, (lambda: 1).__module__, int.__module__",
    "classes": """
class A: ...
a = A()
a.__class__ is A, (3).__class__ is int, [].__class__.__name__, A.__class__ is type
""",
    "an object's attributes": """
class A:
    def __init__(self, **k): self.__dict__.update(k)
a = A(x=1, y=2)
a.__dict__['z'] = 3
del a.__dict__['x']
(a.__dict__, a.y, a.z, hasattr(a, 'x'), vars(a) == a.__dict__, sorted(a.__dict__), len(a.__dict__),
 'y' in a.__dict__, list(a.__dict__.items()), a.__dict__.get('q', 'none'))
""",
    "compared and shown by attributes": """
class P:
    def __init__(self, x, y): self.x, self.y = x, y
    def __eq__(self, o): return self.__dict__ == o.__dict__
    def __repr__(self): return ', '.join(f'{k}={v!r}' for k, v in self.__dict__.items())
    def __hash__(self): return hash(tuple(self.__dict__.values()))
P(1, 2) == P(1, 2), repr(P(1, 'a')), len({P(1, 2), P(1, 2)})
""",
    "attributes as a text": """
class A: ...
a = A()
a.x, a.y = 1, 'two'
print(a.__dict__, vars(a))
str(a.__dict__), repr(vars(a)), f'{a.__dict__}', isinstance(a.__dict__, dict), {**a.__dict__}
""",
    "attributes as JSON": """
import json
class A:
    def __init__(self): self.x = [1]
json.dumps(A().__dict__), json.dumps([A(), A()], default=lambda o: o.__dict__), dict(vars(A()))
""",
    "shared attributes (Borg)": """
class Borg:
    _state = {}
    def __init__(self): self.__dict__.update(self._state)
    def set(self, **k):
        self.__dict__.update(k)
        self._state.update(k)
a = Borg(); a.set(x=1)
Borg().x
""",
    "setdefault, pop, clear": """
class A: ...
a = A()
r = [a.__dict__.setdefault('n', 5), a.n, a.__dict__.pop('n'), a.__dict__.pop('n', 'gone')]
a.x = a.y = 1
a.__dict__.popitem()
a.__dict__.clear()
r, vars(a)
""",
    "copied attributes": """
class A: ...
a, b = A(), A()
a.x, a._y = 1, [2]
b.__dict__.update(a.__dict__)
b.x, b._y is a._y, dict(a.__dict__), {**b.__dict__}
""",
    "no attributes": "class A: __slots__ = ('x',)\nA().__dict__",
    "the order of classes": "class A: ...\nclass B(A): ...\n"
    "[k.__name__ for k in B.__mro__], B.__bases__ == (A,)",
    "of an exception": """
try:
    try: 1 / 0
    except ZeroDivisionError as e: raise KeyError('k') from e
except KeyError as e:
    e.add_note('n')
    r = repr(e.__cause__), repr(e.__context__), e.__suppress_context__, e.__notes__
r
""",
    "an enum's members": "from enum import Enum\nclass E(Enum): A = 1\n"
    "list(E.__members__), E.A.__class__ is E",
    "by getattr": """
class A: 'doc'
a = A()
a.x = 1
(getattr(A, '__name__'), getattr(a, '__class__') is A, getattr(a, '__dict__'),
 getattr(A, '__doc__'),
 hasattr(a, '__dict__'), [k.__name__ for k in getattr(A, '__mro__')], getattr(a, '__nope__', 1))
""",
    "operators by name": "(3).__add__(4), [1].__len__(), {}.__contains__(1), (5).__bool__()",
    "type(x).__name__ in an error": """
def check(x):
    if not isinstance(x, int): raise TypeError(f'not {type(x).__name__}, {x.__class__.__name__}')
check('a')
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_special_reads_are_cpythons(same, what):
    """Names, docstrings, classes and the attributes of own objects read as in CPython."""
    same(PROGRAMS[what])


REFUSED = {
    "__globals__": "globals()",
    "__builtins__": "",
    "__subclasses__": "__init_subclass__",
    "__import__": "import",
    "__code__": "",
    "__closure__": "",
    "__getattribute__": "__getattr__",
    "__reduce__": "",
    "__reduce_ex__": "",
    "__getstate__": "",
    "__setstate__": "",
    "__del__": "__exit__",
    "__instancecheck__": "",
    "__loader__": "",
    "__spec__": "",
    "__weakref__": "weakref",
    "__objclass__": "",
    "__thisclass__": "",
    "__self_class__": "",
    "__origin__": "get_origin",
    "__args__": "get_args",
    "__dataclass_fields__": "",
    "__text_signature__": "",
    "__signature__": "",
    "__unheard_of__": "",
}


@pytest.mark.parametrize("name", REFUSED)
def test_others_are_refused_by_name(refusal, name):
    """What leads out is refused in the source, with what to write instead, if anything."""
    for form in ("x.{}", "x.y.{}", "x().{}", "x[0].{}", "'a'.{}", "x.{}.y", "x.{}()"):
        error = refusal(form.format(name))
        assert name in error.message
        assert REFUSED[name] in error.message
        assert error.line == 2


@pytest.mark.parametrize("name", REFUSED)
def test_nor_are_they_read_by_a_text(box, name):
    """``getattr``, ``hasattr``, ``format`` and the getters of the library agree with the source."""
    head = "class A: ...\na = A()\ndef f(): ...\n"
    for source in (
        f"getattr(a, '{name[:3]}' + '{name[3:]}')",
        f"getattr(f, '{name}')",
        f"'{{0.{name}}}'.format(f)",
        f"from operator import attrgetter\nattrgetter('{name}')(f)",
        f"from operator import methodcaller\nmethodcaller('{name}')(f)",
        f"1 if hasattr(f, '{name}') else x.nope",
    ):
        assert box.run(head + source).status == "error", source


NAMES = ["__builtins__", "__loader__", "__spec__", "__file__", "__import__", "__build_class__"]


@pytest.mark.parametrize("name", [*NAMES, "__package__", "__path__", "__cached__", "__dict__"])
@pytest.mark.parametrize("form", ["{}", "print({})", "def f(): return {}", "class A:\n    {}"])
def test_names_of_the_runner_are_refused(refusal, form, name):
    """What a module's globals hold beside the program's own is not shown."""
    assert name in refusal(form.format(name)).message


@pytest.mark.parametrize(
    "source",
    [
        "int.__mro__",
        "int.__bases__",
        "[].__dict__",
        "len.__self__",
        "''.join.__self__",
        "import json\njson.loads.__defaults__",
        "import json\njson.__dict__",
        "import functools\nfunctools.partial(len).__dict__",
        "from collections import Counter\nCounter().__dict__",
        "from collections import Counter\nCounter.__annotations__",
        "import datetime\ndatetime.date.today.__self__",
        "done.__dict__",
        "echo.__self__",
        "echo.__wrapped__",
        "globals().__dict__",
        "print.__dict__",
        "print.__kwdefaults__",
        "import random\nrandom.Random(1).__dict__",
        "import logging\nlogging.getLogger('x').__dict__",
        "import textwrap\ntextwrap.TextWrapper.__dict__",
        "import textwrap\nvars(textwrap.TextWrapper)",
        "import textwrap\nvars(textwrap)",
        "vars(print)",
        "vars(int)",
        "super.__mro__",
        "property.__dict__",
        "class A:\n    @property\n    def x(self): ...\nvars(A)['x'].__dict__",
    ],
)
def test_what_is_not_the_programs_shows_nothing_of_itself(box, source):
    """Only own objects, classes and functions show what they are made of."""
    run = box.run(source)
    assert run.status == "error", str(run)


@pytest.mark.parametrize(
    "source",
    [
        "a.__dict__['__class__'] = int",
        "a.__dict__.update({'__class__': int})",
        "a.__dict__.update(__dict__={})",
        "a.__dict__.setdefault('__class__', int)",
        "a.__dict__ |= {'__class__': int}",
        "a.__dict__[N('x')] = 1",
        "a.__dict__[1] = 1",
        "vars(a)['__class__'] = int",
    ],
)
def test_special_names_dont_enter_by_the_attributes(box, source):
    """What can't be set by its name can't be set through ``__dict__``."""
    run = box.run(f"class A: ...\nclass N(str): ...\na = A()\n{source}")
    assert run.error is not None
    assert run.error.type in ("Refused", "AttributeError", "TypeError")


def test_the_attributes_are_the_objects_own(box):
    """Nothing of the view itself leads to the real dictionary, or to another object's."""
    source = """
import random
class A: ...
a, r = A(), random.Random(1)
view = a.__dict__
attempts = ('view.__init__(r)', 'type(view)(r)', 'view._object',
            'type(view).update(view, {"__class__": int})')
for attempt in attempts:
    try: print(eval(attempt) or view)
    except (AttributeError, TypeError) as e: print(type(e).__name__)
a.__class__ is A
"""
    run = box.run(source)
    assert run.value is True
    assert run.stdout.split() == ["AttributeError"] * 4


@pytest.mark.parametrize(
    "thing",
    ["a.__dict__", "A.__dict__", "globals()", "type", "print", "compile('1', '', 'eval')", "echo"],
)
def test_what_stands_for_pythons_own_shows_nothing_of_ours(box, thing):
    """No observation names a module of the sandbox's own."""
    for source in (f"type({thing})", f"type({thing}).__module__", f"type({thing}).__qualname__"):
        assert "circlet" not in str(box.run(f"class A: ...\na = A()\na.x = 1\n{source}"))


def test_an_objects_attributes_are_shown_as_a_dictionary(box):
    """As a turn's value they look as in CPython."""
    assert str(box.run("class A: ...\na = A()\na.x = 1\na.__dict__")) == "{'x': 1}"
