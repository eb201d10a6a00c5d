"""Operators, comparisons, conditions: allowed without restriction."""

import pytest

EXPRESSIONS = [
    "7 + 3, 7 - 3, 7 * 3, 7 / 2, 7 // 2, 7 % 3, 7 ** 3, 7 << 2, 7 >> 1, 7 & 3, 7 | 8, 7 ^ 2",
    "-3, +3, ~3, not 3, not not []",
    "1 < 2 < 3, 1 < 3 < 2, 1 == 1.0 != 2 is not None, 3 > 2 >= 2",
    "'a' in 'cat', 'z' not in 'cat', [] is [], None is None",
    "0 or 'x', 1 and 'y', 0 or [] or {}, 1 and 0 and 2",
    "'yes' if 3 else 'no', 'a' if 0 else 'b' if 0 else 'c'",
    "1 + 2 * 3 ** 2 // 4 - -5, (1 + 2) * 3, 2 ** -1, -2 ** 2",
    "'ab' * 2 + 'c', [1] * 2 + [2], (1,) + (2,), {1} | {2}, {1, 2} & {2}, {'a': 1} | {'b': 2}",
    "1 / 0",
    "1 + 'a'",
    "'a' < 1",
    "[] + ()",
]

PROGRAMS = {
    "a chain evaluates once and stops": """
log = []
def v(x):
    log.append(x)
    return x
v(1) < v(5) < v(3) < v(9), log
""",
    "and, or stop": """
log = []
def v(x):
    log.append(x)
    return x
(v(0) and v(1)), (v(2) or v(3)), log
""",
    "the class's methods": """
class N:
    def __init__(self, n): self.n = n
    def __add__(self, o): return N(self.n + getattr(o, 'n', o))
    __radd__ = __add__
    def __matmul__(self, o): return 'matrix'
    def __rsub__(self, o): return ('rsub', o)
    def __neg__(self): return N(-self.n)
    def __invert__(self): return '~'
    def __pow__(self, o, mod=None): return ('pow', o, mod)
    def __eq__(self, o): return self.n == getattr(o, 'n', o)
    def __lt__(self, o): return 'lt'
    def __contains__(self, o): return o == self.n
    __hash__ = None
a = N(1)
(a + 2).n, (2 + a).n, a @ a, 5 - a, (-a).n, ~a, a ** 2, pow(a, 2, 3), a == 1, a < 2, a > a, 1 in a
""",
    "NotImplemented goes to the other side": """
class A:
    def __add__(self, o): return NotImplemented
class B:
    def __radd__(self, o): return 'B'
A() + B()
""",
    "neither side can": "class A:\n    def __add__(self, o): return NotImplemented\nA() + 1",
    "called by name": "(3).__add__(4), 'a'.__len__(), [1, 2].__contains__(2), (5).__eq__(5)",
    "a method as a value": "list(map((10).__rsub__, [11, 12])), sorted([3, 1], key=(0).__add__)",
    "truth": """
class A:
    def __bool__(self): return False
class B:
    def __len__(self): return 0
[bool(x) for x in (A(), B(), object())]
""",
}


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_an_operator_is_cpythons(same, expression):
    """Each operator has CPython's value, or its error."""
    same(expression)


@pytest.mark.parametrize("what", PROGRAMS)
def test_operators_call_methods_as_in_cpython(same, what):
    """Order, short circuits and the methods of classes are CPython's."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "form",
    ["1 + {}", "{} < 1", "1 < 2 < {}", "not {}", "0 or {}", "{} if 1 else 2", "1 if 0 else {}"],
)
def test_each_operand_is_checked(refusal, form):
    """An operand is checked wherever it stands."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message
