"""``string.Formatter``: as in CPython, under the rules that ``str.format`` has here."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HEAD = "from string import Formatter\nf = Formatter()\n"


def test_formatters_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Fields by place, by name and without either, nested formats, and each error."""
    same_as_cpython(
        HEAD
        + """
class P:
    x = 1
    d = {"k": [7, 8]}
errors = []
for text, args in [
    ("{}{0}", (1,)), ("{0}{}", (1,)), ("{", ()), ("{0!x}", (1,)), ("{a}", ()), ("{1}", (1,)),
    ("{0:{0:{0:{0}}}}", (1,)), ("{0.nothing}", (1,)),
]:
    try:
        f.format(text, *args)
    except Exception as error:
        errors.append((type(error).__name__, str(error)))
(
    f.format("{0} {b!r} {0:>{w}} {{}}", "a", b="c", w=4), f.format("{} {:03d} {}", 1, 2, "x"),
    errors,
    f.vformat("{0}-{k}", ("a",), {"k": 1}), f.format("{0.x} {0.d[k][1]}", P()),
    list(f.parse("a{b!r:>{c}}d{{")), f.get_field("0.d[k]", (P(),), {}), f.format("{!s:>3}", 1),
    f.format(""),
    f.convert_field(1, "s"), f.format_field(2, "03"), f.get_value(0, [5], {}), f.format("{a[0]}",
    a=[4]),
)
"""
    )


def test_a_formatters_methods_can_be_replaced(same_as_cpython: Callable[[str], None]) -> None:
    """A subclass says what a field, a value, a format and a conversion mean; ``super()`` works."""
    same_as_cpython("""
from string import Formatter
class Lenient(Formatter):
    def __init__(self): self.unused = []
    def get_value(self, key, args, kwargs):
        try:
            return super().get_value(key, args, kwargs)
        except (KeyError, IndexError):
            return f"<{key}>"
    def get_field(self, name, args, kwargs):
        value, key = super().get_field(name, args, kwargs)
        return value, key
    def format_field(self, value, spec):
        return value.upper() if spec == "u" else super().format_field(value, spec)
    def convert_field(self, value, conversion):
        return value[::-1] if conversion == "x" else super().convert_field(value, conversion)
    def check_unused_args(self, used, args, kwargs):
        self.unused = sorted(set(kwargs) - used)
f = Lenient()
(f.format("{a} {b:u} {c!x} {0}", b="b", c="cd", e=1), f.unused, f.vformat("{x}", (), {"x": 1}))
""")


@pytest.mark.parametrize(
    "source",
    [
        'f.format("{0.__class__.__mro__}", 1)',
        'f.vformat("{a.__globals__}", (), {"a": lambda: 0})',
        'f.get_field("0.__class__.__bases__", ([],), {})',
        'f.get_field("0._randbelow", (random.Random(),), {})',
        'class F(Formatter): pass\nF().format("{0.gi_frame}", (i for i in []))',
        "class F(Formatter):\n    def get_value(self, *a): return super().get_value(*a)\n"
        'F().format("{0.__subclasses__}", object)',
        'Formatter.format(f, "{0.__dict__}", random)',
        'Formatter.get_field(None, "0.__class__.__mro__", ([],), {})',
        'super(Formatter, f).get_field("0.__class__.__mro__", (1,), {})',
        'getattr(f, "format")("{0.__class__.__mro__}", 1)',
        "class F(Formatter):\n    def get_field(self, name, args, kwargs):\n"
        '        return super().get_field("0.__class__.__mro__", args, kwargs)\n'
        'F().format("{0}", 1)',
        'f.get_field("0.format", ("{0.__class__.__mro__}",), {})[0](1)',
    ],
)
def test_a_formatter_reads_what_the_program_may_read(box: Sandbox, source: str) -> None:
    """What can't be read as an attribute can't be named in a format either, in no spelling."""
    run = box.run(f"import random\n{HEAD}{source}")
    assert run.status == "error", str(run)
