"""``operator.attrgetter`` and ``methodcaller``: as in CPython, under the policy's rules."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox


def test_getters_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Names, dotted names and several of them; methods with arguments; their texts."""
    same_as_cpython("""
from operator import attrgetter, methodcaller
class P:
    def __init__(self, x, inner=None): self.x, self.inner = x, inner
    def plus(self, n, times=1): return (self.x + n) * times
ps = [P(3, P(1)), P(2, P(5))]
try:
    attrgetter("y")(ps[0])
except AttributeError as error:
    said = str(error)
try:
    attrgetter(1)
except TypeError as error:
    no = str(error)
(
    [p.x for p in sorted(ps, key=attrgetter("x"))], attrgetter("x", "inner.x")(ps[0]), said, no,
    methodcaller("plus", 2, times=3)(ps[0]), methodcaller("upper")("a"), attrgetter("real")(3),
    repr(attrgetter("a", "b.c")), repr(methodcaller("m", 1, a=2)), methodcaller("split",
    ",")("a,b"),
    methodcaller("format", 1, a=2)("{} {a}"), methodcaller("__len__")("abc"),
)
""")


@pytest.mark.parametrize(
    "source",
    [
        'attrgetter("__globals__")(lambda: 0)',
        'attrgetter("a.__class__.__mro__")(types.SimpleNamespace(a=1))',
        'attrgetter("gi_frame")(i for i in [])',
        'attrgetter("_randbelow")(random)',
        'attrgetter("_randbelow")(random.Random())',
        'attrgetter("format")("{0.__class__.__mro__}")(1)',
        'methodcaller("format", 1)("{0.__class__.__mro__}")',
        'methodcaller("__reduce_ex__", 4)([])',
        'methodcaller("_randbelow", 4)(random.Random())',
        'attrgetter(type("a")("x"))(1)',
        "attrgetter.__init__(random.Random(), 'a')",
        "class N(str):\n    def split(self, *_): return ['_randbelow']\n"
        "attrgetter(N('x'))(random.Random())",
        "class G(attrgetter): pass\nG('x')._paths",
        "class G(attrgetter): pass\nG('x')._paths = (('__class__', '__mro__'),)",
    ],
)
def test_getters_read_what_the_program_may_read(box: Sandbox, source: str) -> None:
    """What can't be read as an attribute can't be read by a getter either."""
    head = "import random, types\nfrom operator import attrgetter, methodcaller\n"
    assert box.run(head + source).status == "error"
