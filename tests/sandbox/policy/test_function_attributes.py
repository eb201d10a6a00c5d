"""Attributes of functions: the program's own ones have them as in CPython."""

import pytest

PROGRAMS = {
    "set and read": "def f(): f.calls += 1\nf.calls = 0\nf(); f()\nf.calls",
    "private": "def f(): ...\nf._cache = {}\nf._cache['a'] = 1\nf._cache",
    "deleted": "def f(): ...\nf.x = 1\ndel f.x\nhasattr(f, 'x')",
    "all of them": "def f(): ...\nf.a, f.b = 1, 2\nf.__dict__, vars(f)",
    "the name": "def f(): ...\nf.__name__ = 'g'\nf.__qualname__ = 'A.g'\n"
    "f.__name__, f.__qualname__",
    "the docstring": "def f(): 'old'\nf.__doc__ = (f.__doc__ or '') + ' and new'\nf.__doc__",
    "what it wraps": "def f(): return 1\ndef g(): ...\ng.__wrapped__ = f\ng.__wrapped__()",
    "defaults": "def f(a, b=1, *, c=[2]): ...\nf.__defaults__, f.__kwdefaults__",
    "no defaults": "def f(a): ...\nf.__defaults__, f.__kwdefaults__",
    "of a lambda": "f = lambda: 1\nf.tag = 'x'\nf.__name__, f.tag",
    "names": """
class A:
    def m(self): 'doc'
    @staticmethod
    def s(): ...
    @classmethod
    def c(cls): ...
def f():
    def inner(): ...
    return inner
[(g.__name__, g.__qualname__, g.__module__) for g in (A.m, A().m, A.s, A.c, f, f(), lambda: 1)]
""",
    "a bound method's": """
class A:
    def m(self): return 'm'
a = A()
a.m.__self__ is a, a.m.__func__(a), a.m.__doc__, A.m is a.m.__func__
""",
    "an own decorator by hand": """
def named(f):
    def inner(*a): return f(*a)
    inner.__name__ = f.__name__
    inner.__doc__ = f.__doc__
    inner.__qualname__ = f.__qualname__
    return inner
@named
def g(): 'what g does'
g.__name__, g.__doc__, g.__qualname__, g.__module__
""",
    "of a builtin": "len.__name__, len.__doc__ is not None, str.upper.__name__, 'a'.upper.__name__",
    "a builtin takes none": "len.x = 1",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_attributes_of_functions_are_cpythons(same, what):
    """Own functions have attributes, a name, a docstring, defaults and what they wrap."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "name",
    ["__globals__", "__code__", "__closure__", "__builtins__", "__getattribute__"],
)
def test_what_leads_out_of_a_function_is_refused(refusal, name):
    """A function's code and variables are never shown, nor set."""
    for form in ("{0}.{1}", "{0}.{1} = 1", "del {0}.{1}"):
        assert name in refusal("def f(): ...\n" + form.format("f", name)).message


@pytest.mark.parametrize("name", ["__globals__", "__code__", "__closure__", "__builtins__"])
def test_nor_is_it_by_a_text(box, name):
    """Nor by ``getattr``, ``setattr``, ``format`` or the function's variables."""
    head = "def f(): ...\n"
    for source in (
        f"getattr(f, '{name}')",
        f"setattr(f, '{name}', 1)",
        f"'{{0.{name}}}'.format(f)",
        f"f.__dict__['{name}'] = 1\nf.__dict__.update({{'{name}': 1}})\nf.{name[2:-2]}",
    ):
        assert box.run(head + source).status == "error", source


@pytest.mark.parametrize(
    "source",
    [
        "import textwrap\ntextwrap.dedent._x = 1",
        "import textwrap\ntextwrap.dedent.__name__ = 'x'",
        "import textwrap\ntextwrap.dedent.__doc__ = 'x'",
        "import textwrap\ntextwrap.dedent.__wrapped__ = 1",
        "import textwrap\ntextwrap.dedent.__dict__",
        "import textwrap\ntextwrap.wrap.__defaults__",
        "import statistics\nstatistics.mean.__kwdefaults__",
        "import random\nrandom.random.__self__",
        "import random\nrandom.randint.__func__",
        "[].append.__self__.clear",
        "print.__self__",
    ],
)
def test_functions_of_the_library_show_and_take_none(box, source):
    """The functions of modules are not the program's: nothing of them is shown or set."""
    run = box.run(source)
    assert run.status == "error", str(run)


def test_what_is_shown_of_defaults_is_a_copy(same):
    """Changing the dictionary that was read changes no function."""
    same("def f(*, a=1): return a\nf.__kwdefaults__['b'] = 2\nf()")


def test_writing_to_a_functions_variables_sets_its_attributes(same):
    """``f.__dict__`` is the attributes themselves."""
    same("def f(): ...\nf.__dict__['x'] = 1\nf.__dict__.update(y=2)\nf.x, f.y")
