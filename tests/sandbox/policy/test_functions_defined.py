"""``def``, ``lambda``, decorators: allowed; the names that they bind are checked."""

import pytest

PROGRAMS = {
    "each kind of parameter": """
def f(a, b=2, /, c=3, *args, d, e=5, **rest): return a, b, c, args, d, e, rest
f(1, d=4), f(1, 9, 8, 7, 6, d=0, z=1)
""",
    "positional only": "def f(a, /): return a\nf(a=1)",
    "keyword only": "def f(*, a): return a\nf(1)",
    "defaults are evaluated once": "def f(x, seen=[]):\n    seen.append(x)\n    return seen\n"
    "f(1), f(2)",
    "defaults of the scope around": "n = 1\ndef f(a=n, *, b=n + 1): return a, b\nn = 9\nf()",
    "lambdas": "(lambda: 1)(), (lambda a, /, b=2, *c, d=4, **e: (a, b, c, d, e))(1, 3, 5, z=6)",
    "a lambda in a lambda": "(lambda x: lambda y: x + y)(1)(2)",
    "no return": "def f(): pass\ndef g(): return\nf(), g()",
    "return of a tuple": "def f(): return 1, *[2, 3]\nf()",
    "a docstring": "def f():\n    '''First.\n\n    More.\n    '''\nf.__doc__",
    "a decorator": """
def twice(f):
    def inner(*args, **named): return f(*args, **named) * 2
    return inner
@twice
def f(x): return x + 1
f(3)
""",
    "decorators with arguments, stacked": """
def add(n): return lambda f: lambda x: f(x) + n
@add(1)
@add(n=10)
def f(x): return x
f(100)
""",
    "any expression decorates": """
table = {'a': [lambda f: ('first', f(1))]}
@table['a'][0]
def f(x): return x
@(lambda g: g() if True else None)
def g(): return 'called'
f, g
""",
    "wraps": """
from functools import wraps
def traced(f):
    @wraps(f)
    def inner(*args):
        return f(*args)
    return inner
@traced
def area(w, h):
    'The area.'
    return w * h
area(2, 3), area.__name__, area.__doc__, area.__wrapped__(2, 2)
""",
    "closures over loops": "fs = []\nfor i in range(3):\n    def f(i=i): return i\n"
    "    fs.append(f)\n"
    "[f() for f in fs]",
    "redefined": ("def f(): return 1\ng = f", "def f(): return 2\nf(), g()"),
    "nested deep": """
def a():
    def b():
        def c():
            def d(): return 'd'
            return d
        return c
    return b
a()()()()
""",
    "recursion": "def fact(n): return 1 if n < 2 else n * fact(n - 1)\nfact(20)",
    "endless recursion": "def f(): return f()\ntry: f()\nexcept RecursionError as e: print(e)",
    "private names": "def _helper(_x, __y): return _x + __y\n_helper(1, 2)",
    "a parameter twice": "def f(a, a): ...",
    "a default before none": "def f(a=1, b): ...",
    "return outside": "return 5",
    "functions are compared and hashed": "def f(): ...\nf == f, f in {f}, callable(f)",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_functions_are_cpythons(same, what):
    """Parameters, defaults, closures and decorators work as in CPython."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


@pytest.mark.parametrize(
    "name", ["__getattr__", "__init__", "__import__", "__builtins__", "__build_class__", "__dir__"]
)
def test_no_function_of_the_turn_has_a_special_name(refusal, name):
    """A module's hooks, and what Python looks up itself, are not the program's to define."""
    assert name in refusal(f"def {name}(*a): pass").message
    assert name in refusal(f"async def {name}(*a): pass").message
    assert name in refusal(f"def f():\n    def {name}(*a): pass").message
    assert name in refusal(f"class A:\n    def f(self):\n        def {name}(*a): pass").message


@pytest.mark.parametrize(
    "form",
    [
        "@{}\ndef f(): ...",
        "@x({})\ndef f(): ...",
        "def f(a={}): ...",
        "def f(a=1, /, b={}): ...",
        "def f(*, a={}): ...",
        "def f():\n    return {}",
        "def f():\n    def g():\n        {}",
        "lambda: {}",
        "lambda a={}: 1",
    ],
)
def test_what_stands_in_a_function_is_checked(refusal, form):
    """Decorators, defaults and bodies are checked when the turn is compiled."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message
