"""Literals and displays: allowed without restriction."""

import pytest

EXPRESSIONS = [
    "1_000_000, 0x_ff, 0b1_0, 0o17, 1e3, 1_0.5e-3, .5, 5., 3j, 1e400, -0.0",
    "'a\\n\\x41\\u00e9\\N{GREEK SMALL LETTER ALPHA}' \"it's\" r'\\n' '''x\ny'''",
    "b'a\\x00\\xff', rb'\\x', b'a' b'b'",
    "'one' 'two' f'{3}' 'four'",
    "True, False, None, Ellipsis is ..., NotImplemented is NotImplemented, None is ...",
    "(), (1,), (1, 2), 1, 2",
    "[], [1, [2, [3]]], [*range(3), *'ab']",
    "{1, 2, 1} == {2, 1}, {*[1], *(2,)} == {1, 2}, set() == {*()}",
    "{}, {'a': 1, 'b': {'c': 2}}, {**{'a': 1}, 'b': 2, **{'a': 3}}",
    "*[1], *'bc'",
    "9 ** 99, -7 // 2, 0.1 + 0.2",
    "'\\ud800'",
    "__debug__",
    "'%s %05.1f %r %%' % ('a', 3.14159, 'q')",
    "'%(a)s' % {'a': 1}",
    "[1, 2, 3][-1], [1, 2, 3][::-1], 'abc'[1:], {'a': {'b': 2}}['a']['b'], 'abcdef'[1:5:2]",
    "(1, 2, 3)[slice(0, 2)]",
    "{(1, 2): 'tuple', None: 'none', 1.5: 'float', b'b': 'bytes'}",
]


@pytest.mark.parametrize("expression", EXPRESSIONS)
def test_a_literal_is_cpythons(same, expression):
    """Each literal, display and item has the value that it has in CPython."""
    same(expression)


@pytest.mark.parametrize(
    "source",
    [
        "class A:\n    def __getitem__(self, i): return i\na = A()\n"
        "a[1], a[1, 2], a[1:2] == slice(1, 2), a[..., None] == (..., None), a[(1,)], "
        "a[*[1, 2]], a[1:2, ::3][1] == slice(None, None, 3)",
        "def f(): 'the docstring'\nclass A: '''of the class'''\nf.__doc__, A.__doc__",
        "{[]: 1}",
        "{1: 2}[3]",
        "[1][5]",
        "5[0]",
    ],
)
def test_items_are_cpythons(same, source):
    """Items and slices reach the class's method as in CPython, and fail as there."""
    same(source)


@pytest.mark.parametrize(
    "display", ["[{}]", "({},)", "{{{}}}", "{{1: {}}}", "{{{}: 1}}", "[*{}]", "{{**{}}}", "a[{}]"]
)
def test_what_stands_inside_is_checked(refusal, display):
    """A display hides nothing from the check."""
    assert "__globals__" in refusal(display.format("print.__globals__")).message
