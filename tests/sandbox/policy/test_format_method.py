"""``str.format``: allowed; the attributes that its text names are checked."""

from __future__ import annotations

import string
from typing import Any

import pytest
from circlet.sandbox import Sandbox
from circlet.sandbox.guards import attribute
from hypothesis import example, given, settings
from hypothesis import strategies as st

CASES = [
    "'{} {}'.format(1, 'a'), '{1} {0}'.format(1, 'a'), '{a} {b}'.format(a=1, b=2)",
    "'{:>5}|{:<5}|{:^5}|{:*^7}'.format(1, 2, 3, 4)",
    "'{:,} {:.2f} {:e} {:%}'.format(1234, 3.14159, 5, .5)",
    "'{0!r} {0!s} {0!a} {0!r:>6}'.format('é')",
    "'{:{}}|{:{w}.{p}}'.format('a', 5, 3.14159, w=8, p=3)",
    "'{0[a]} {0[b][1]} {1[0]}'.format({'a': 1, 'b': [2, 3]}, [4])",
    "'{{}} {{{}}}'.format(1)",
    "'{a[x y]} {a[0]}'.format(a={'x y': 1, 0: 2})",
    "'{0}{1}'.format(*'ab'), '{x}'.format(**{'x': 1})",
    "'{a}'.format_map({'a': 1})",
    "str.format('{}-{:>3}', 1, 2), [f('x') for f in ['{}!'.format, '{}?'.format]]",
    "list(map('{:02d}'.format, range(3))), '{}'.join('ab')",
    "'{:b} {:x} {:#o} {:c}'.format(5, 255, 8, 97), '{:+} {: }'.format(1, 2)",
    "'{}'.format(), '{1}'.format(0)",
    "'{a}'.format()",
    "'{0} {}'.format(1, 2)",
    "'{} {0}'.format(1, 2)",
    "'{'.format()",
    "'}'.format()",
    "'{!x}'.format(1)",
    "'{!}'.format(1)",
    "'{:zz}'.format(1)",
    "'{0[}'.format([1])",
    "'{0[]}'.format([1])",
    "'{0.}'.format(1)",
    "'{0.nope}'.format(1)",
    "'{0[k]}'.format({})",
    "'{0[5]}'.format([])",
    "'{:{:{}}}'.format(1, 2, 3)",
    "'{}'.format(1, 2, 3)",
]

PROGRAMS = [
    "class A:\n    n = [1, 2]\n    def __format__(self, spec): return f'<{spec}>'\n"
    "'{0:x} {0.n[1]} {0.n!r}'.format(A())",
    "class D(dict):\n    def __missing__(self, k): return f'<{k}>'\n'{a} {b}'.format_map(D(a=1))",
    "class T(str): pass\nT('{}!').format(1), type(T('{}').format('a')) is str",
    "from datetime import datetime\n'{:%H:%M}'.format(datetime(2024, 1, 2, 3, 4))",
    "class L:\n    def format(self, x): return x * 2\nL().format(4)",
    "class A:\n    _x = 1\n'{0._x} {0.__class__.__name__} {0.__doc__}'.format(A())",
    "from string import Formatter, Template\n"
    "Formatter().format('{0} {a.real}', 1, a=2), Template('$x ${y}').substitute(x=1, y=2)",
]


@pytest.mark.parametrize("source", [*CASES, *PROGRAMS])
def test_format_is_cpythons(same, source):
    """Fields, numbering, conversions, paths and errors are CPython's."""
    same(source)


@pytest.mark.parametrize(
    "name",
    ["__globals__", "__code__", "__subclasses__", "__class__.__mro__", "__init__.__globals__"],
)
@pytest.mark.parametrize(
    "form",
    [
        "'{{0.{}}}'.format(x)",
        "'{{a.{}}}'.format(a=x)",
        "'{{a.{}}}'.format_map({{'a': x}})",
        "'{{0:{{0.{}}}}}'.format(x)",
        "'{{0[0].{}}}'.format([x])",
        "'{{0.{}!r:>5}}'.format(x)",
        "str.format('{{0.{}}}', x)",
        "list(map(str.format, ['{{0.{}}}'], [x]))",
        "list(map('{{0.{}}}'.format, [x]))",
        "class S(str): pass\nS('{{0.{}}}').format(x)",
        "class S(str):\n    def go(self, *a): return super().format(*a)\nS('{{0.{}}}').go(x)",
        "getattr('', 'format')('{{0.{}}}')\ngetattr('{{0.{}}}', 'for' + 'mat')(x)",
        "from functools import partial\npartial(str.format, '{{0.{}}}')(x)",
        "from operator import methodcaller\nmethodcaller('format', x)('{{0.{}}}')",
        "from string import Formatter\nFormatter().format('{{0.{}}}', x)",
        "from string import Formatter\nFormatter().get_field('0.{}', (x,), {{}})",
        "[f(x) for f in ['{{0.{}}}'.format]]",
        "type('').format('{{0.{}}}', x)",
        "str.__dict__['format']('{{0.{}}}', x)",
        "vars(str)['format']('{{0.{}}}', x)",
    ],
)
def test_no_text_leads_out(box: Sandbox, form: str, name: str) -> None:
    """By no way to the method does a text name what the source may not."""
    run = box.run("def x(): ...\n" + form.format(*[name] * form.count("{}")))
    assert run.status == "error", str(run)


# -- any format text -------------------------------------------------------------------------


class Point:
    """Something with attributes and items, which the test's own texts name."""

    x = 3
    row = (1, {"k": "deep", "0": "zero"}, [2.5])
    name = "né"

    def __format__(self, spec: str) -> str:
        return f"<{spec}>"


VALUES: list[Any] = [0, -7, 3.25, "text", "né", b"b", None, True, [1, [2]], {"k": 1}, (1, 2), Point]

names = st.sampled_from(["", "", "0", "1", "2", "7", "a", "b", "zz", "00", "-1", " a", "0a"])
steps = st.sampled_from(
    ["", "", ".x", ".row", ".real", ".name", ".nope", ".", "[0]", "[1]", "[k]", "[-1]", "[9]", "[]"]
)
paths = st.builds(lambda name, *parts: name + "".join(parts), names, steps, steps, steps)
conversions = st.sampled_from(["", "", "", "!r", "!s", "!a", "!x", "!"])
plain_specs = st.sampled_from(
    ["", "", ":", ":>8", ":*^9", ":5", ":.2f", ":d", ":s", ":,", ":+", ":#x", ":zz", ":<", ": "]
)
nested_specs = st.builds(lambda name: f":{{{name}}}", names)
fields = st.builds(
    lambda path, conversion, spec: f"{{{path}{conversion}{spec}}}",
    paths,
    conversions,
    st.one_of(plain_specs, plain_specs, nested_specs),
)
literals = st.sampled_from(["", " ", "a", "{{", "}}", "é", "{", "}", "!", ":", "["])
texts = st.lists(st.one_of(fields, fields, literals), max_size=5).map("".join)
values = st.sampled_from([*VALUES, Point()])


def _outcome(run: Any, *args: Any, **kwargs: Any) -> tuple[str, str]:
    try:
        return "value", run(*args, **kwargs)
    except Exception as error:
        return type(error).__name__, str(error)


@settings(max_examples=300)
@given(texts, st.lists(values, max_size=3), st.fixed_dictionaries({}, optional={"a": values}))
@example("{0.x:{1}}", [Point(), "5"], {})
@example("{a[k]!r:>8}{}{}", [1, 2], {"a": {"k": 1}})
def test_any_honest_text_is_formatted_as_in_cpython(
    text: str, args: list[Any], named: dict[str, Any]
) -> None:
    """The guard's ``format`` gives what ``str.format`` gives, or its error, word for word."""
    guarded = attribute(text, "format")
    assert _outcome(guarded, *args, **named) == _outcome(text.format, *args, **named)
    mapped = attribute(text, "format_map")
    assert _outcome(mapped, named) == _outcome(text.format_map, named)


def test_the_texts_that_are_tried_are_of_all_kinds() -> None:
    """The range above holds nesting, numbering of both kinds, and paths: none is left out."""
    parsed = list(string.Formatter().parse("{0.x[0]!r:{1}}{}"))
    assert parsed[0][1:] == ("0.x[0]", "{1}", "r")
