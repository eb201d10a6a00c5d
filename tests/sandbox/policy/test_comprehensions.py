"""Comprehensions: allowed; their targets are their own."""

import pytest

PROGRAMS = [
    "[x * x for x in range(5) if x % 2 if x > 1]",
    "{x: y for x, y in zip('ab', [1, 2])}, {x % 3 for x in range(9)}",
    "[(x, y) for x in range(3) for y in range(x)]",
    "[[x * y for x in range(3)] for y in range(2)]",
    "{r: [10 * r + c for c in range(2) if c != r] for r in range(2)}",
    "x = 'kept'\n[x for x in range(3)], x",
    "[a + b for a, (b, *_) in [(1, (2, 3)), (4, (5,))]]",
    "[f(2) for f in (lambda x: x + 1, lambda x: x * 10)]",
    "[f() for f in [lambda: i for i in range(3)]]",
    "class A:\n    n = 3\n    row = [i for i in range(n)]\nA.row",
    "class A:\n    n = 3\n    row = [n for _ in range(2)]",
    "def f(n):\n    return [[n + i for i in range(2)] for n in range(n)]\nf(2)",
    "d = {}\n[0 for d['k'] in [1, 2]]\nd",
    "[i for i in range(3)][i]",
    "sorted({w: len(w) for w in 'the cat sat'.split()}.items(), key=lambda kv: (-kv[1], kv[0]))",
    "(lambda xs: [x for x in xs if x not in xs[:xs.index(x)]])([3, 1, 3, 2, 1])",
    "[y := 1, y ** 2], [z for z in [y]]",
]


@pytest.mark.parametrize("source", PROGRAMS)
def test_comprehensions_are_cpythons(same, source):
    """Order, filters, nesting and scopes are CPython's."""
    same(source)


@pytest.mark.parametrize("around", ["[{}]", "{{{}}}", "list({})", "sum([{}], 0)"])
@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__"])
@pytest.mark.parametrize(
    "targets", ["for {} in x", "for (a, {}) in x", "for *{}, a in x", "for a in x for {} in a"]
)
def test_their_targets_are_checked(refusal, around, targets, name):
    """A comprehension's own names can't be those that Python relies on."""
    assert name in refusal(around.format(f"1 {targets.format(name)}")).message


@pytest.mark.parametrize(
    "source",
    [
        "[{} for a in x]",
        "[1 for a in {}]",
        "[1 for a in x if {}]",
        "[1 for {} in x]",
        "[1 for a in x for b in {}]",
        "{{{}: 1 for a in x}}",
        "{{1: {} for a in x}}",
        "{{{} for a in x}}",
        "({} for a in x)",
    ],
)
def test_each_part_is_checked(refusal, source):
    """Element, iterable, condition and target are checked."""
    assert "__globals__" in refusal(source.format("print.__globals__")).message
