"""Calls: allowed with every kind of argument."""

import pytest

PROGRAMS = {
    "each kind of argument": """
def f(*args, **named): return args, named
f(), f(1, a=2), f(*[1, 2], 3, *'x'), f(**{'a': 1}, b=2, **{'c': 3}), f(1, *[], b=1, **{})
""",
    "trailing commas and a generator": "def f(*a): return [list(x) for x in a]\n"
    "f((i for i in 'ab'),), sum(i for i in range(4))",
    "order of evaluation": """
log = []
def v(x):
    log.append(x)
    return x
def f(*a, **k): return a, k
f(v(1), *v([2]), a=v(3), **v({'b': 4})), log
""",
    "keywords that are no identifiers": "def f(**k): return k\nf(**{'a b': 1, 'class': 2})",
    "special keywords": "dict(__class__=1, __globals__=2)",
    "private keywords": "def f(_a, *, __b=2): return _a, __b\nf(_a=1), f(1, __b=5)",
    "what is called": "[len, max][1](3, 5), (lambda: print)()('x'), {'f': str}['f'](1)",
    "a chain": "'  a,b '.strip().split(',')[0].upper().center(5, '*').join('xy')",
    "bound and unbound methods": "'a'.upper(), str.upper('b'), list(map(str.upper, 'cd'))",
    "a class": "class A:\n    def __init__(self, x): self.x = x\n    def __call__(self, y): "
    "return self.x, y\nA(1)(2)",
    "a partial": "from functools import partial\npartial(int, base=2)('101')",
    "too few": "def f(a, b): ...\nf(1)",
    "too many": "def f(a): ...\nf(1, 2, 3)",
    "unknown keyword": "def f(a): ...\nf(b=1)",
    "twice": "def f(a): ...\nf(1, a=2)",
    "twice by stars": "def f(**k): ...\nf(**{'a': 1}, **{'a': 2})",
    "not callable": "x = 5\nx()",
    "stars of what is none": "len(*5)",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_call_is_cpythons(same, what):
    """Arguments arrive as in CPython, in its order, with its errors."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "form", ["f({})", "f(a={})", "f(*{})", "f(**{})", "{}()", "f(x for x in {})", "f(1)({})"]
)
def test_each_argument_is_checked(refusal, form):
    """What is called and what it is given is checked."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message
