"""Scopes: ``global``, ``nonlocal``, closures, and the turn as one scope."""

import pytest

PROGRAMS = {
    "recursion and mutual recursion": """
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
even(7), odd(7)
""",
    "functions see what later turns bind": (
        "base = 10\ndef get(): return base\nbump = lambda: base + 1",
        "base = 100\nget(), bump()",
    ),
    "a closure keeps its cells across turns": (
        "def counter():\n    n = 0\n    def up():\n        nonlocal n\n        n += 1\n"
        "        return n\n    return up\nup = counter()\nup()",
        "up(), up()",
    ),
    "nonlocal through levels": """
def a():
    x = 1
    def b():
        def c():
            nonlocal x
            x += 1
        c()
    b()
    return x
a()
""",
    "global inside a nested function": """
def a():
    def b():
        global made, also
        made = also = 5
    b()
a()
made, also
""",
    "global of a private name": "def f():\n    global _seen\n    _seen = 1\nf()\n_seen",
    "global at turn level": "global g\ng = 1\ng",
    "late binding in a loop": "[f() for f in [lambda: i for i in range(3)]]",
    "early binding by a default": "[f() for f in [lambda i=i: i for i in range(3)]]",
    "a comprehension's own variable": "x = 5\n[x for x in range(3)], x",
    "a class body is no scope for its methods": """
class A:
    n = 1
    def get(self): return n
n = 2
A().get()
""",
    "a class body sees the turn": """
base = 10
class A:
    values = [base + k for k in range(2)]
    base = 3
    more = base
A.values, A.more
""",
    "a class body in a function": """
def make(n):
    class A:
        m = n
        def get(self): return n
    return A
make(3).m, make(4)().get()
""",
    "global and nonlocal in a class body": """
def f():
    x = 1
    class A:
        nonlocal x
        global y
        x, y = 2, 3
    return x, y
f()
""",
    "locals are not seen before they are bound": "x = 1\ndef f():\n    print(x)\n    x = 2\nf()",
    "nonlocal without one": "def f():\n    nonlocal nowhere\n",
    "nonlocal at turn level": "nonlocal x",
    "global after use": "def f():\n    x = 1\n    global x\n",
    "hiding a builtin in a function": "def f(list): return len(list)\nf([1, 2]), list('ab')",
    "a name of the turn hides a builtin": "sum = 3\nprint(sum)\ndel sum\nsum([1])",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_scopes_are_cpythons(same, what):
    """Names are looked up and bound where CPython does it; the turns are one module."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


@pytest.mark.parametrize("name", ["super", "__builtins__", "__class__"])
@pytest.mark.parametrize("word", ["global", "nonlocal"])
def test_no_declaration_names_what_python_relies_on(refusal, word, name):
    """``global`` and ``nonlocal`` make their names ones that the function binds."""
    source = f"def f():\n    def g():\n        {word} {name}\n"
    assert name in refusal(source).message


@pytest.mark.parametrize(
    "source",
    [
        "def f():\n    global echo\n    echo = 1",
        "def f():\n    global a, echo",
        "class A:\n    global echo\n    echo = 1",
        "global echo",
    ],
)
def test_no_function_makes_a_gate_global(refusal, source):
    """A gate can't be rebound from inside a function either."""
    assert '"echo" is a gate here' in refusal(source).message
