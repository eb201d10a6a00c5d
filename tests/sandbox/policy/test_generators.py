"""Generators: allowed in all forms; their frames are closed."""

import pytest

PROGRAMS = {
    "yield, send, return": """
def pairs(limit):
    seen = yield 'ready'
    for n in range(limit): yield n, seen
    return 'end'
g = pairs(2)
r = [next(g), g.send('ping'), next(g)]
try: next(g)
except StopIteration as e: r.append(e.value)
r
""",
    "yield from": """
def inner():
    got = yield 1
    return got * 2
def outer():
    result = yield from inner()
    yield result
    yield from (c for c in 'ab')
    yield from range(2)
g = outer()
[next(g), g.send(21), *g]
""",
    "throw and close": """
def f():
    try: yield 1
    except ValueError as e: yield f'caught {e}'
    finally: print('closed')
g = f()
next(g)
r = g.throw(ValueError('x'))
g.close()
r, list(g)
""",
    "half consumed across turns": (
        "def chain():\n    yield from 'ab'\n    yield 3\nstream = chain()\nfirst = next(stream)",
        "[first, *stream]",
    ),
    "endless": "from itertools import count, islice\ng = (n * n for n in count())\n"
    "list(islice(g, 3)), next(g)",
    "expressions": "sum(x * y for x in range(3) for y in range(2) if x), list(x for x in 'ab')",
    "an expression's first iterable is evaluated at once": "g = (x for x in nowhere_bound)",
    "a lambda": "f = lambda: (yield 1)\nlist(f())",
    "a recursive walk": """
def walk(tree):
    for x in tree:
        if isinstance(x, list): yield from walk(x)
        else: yield x
list(walk([1, [2, [3, [4]]], 5]))
""",
    "a generator in a class": """
class Tree:
    def __init__(self, v, *kids): self.v, self._kids = v, kids
    def __iter__(self):
        yield self.v
        for k in self._kids: yield from k
list(Tree(1, Tree(2), Tree(3, Tree(4))))
""",
    "StopIteration inside": """
def f():
    yield 1
    raise StopIteration('inside')
try: list(f())
except RuntimeError as e: print(e, repr(e.__cause__))
""",
    "running already": "def f():\n    next(g)\n    yield\ng = f()\nnext(g)",
    "assigned and parenthesised": "def f():\n    x = (yield) or 'none'\n    yield x\n"
    "g = f()\nnext(g), next(g)",
    "yield in an f-string and a call": "def f():\n    print(f'{(yield 1)}', (yield 2))\nlist(f())",
    "yield outside": "yield 1",
    "yield in a class body": "class A:\n    yield 1",
    "state": "def f(): yield\ng = f()\ng.gi_running, iter(g) is g, g.__name__, g.__qualname__",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_generators_are_cpythons(same, what):
    """A generator is lazy, takes values and errors, and delegates as in CPython."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


@pytest.mark.parametrize("name", ["gi_frame", "gi_code", "gi_yieldfrom"])
def test_a_generators_frame_is_closed(box, refusal, name):
    """It leads to the variables of all code that runs; a text doesn't name it either."""
    assert name in refusal(f"g = (x for x in 'a')\ng.{name}").message
    for source in (f"getattr(g, '{name}')", f"'{{0.{name}}}'.format(g)"):
        assert box.run(f"g = (x for x in 'a')\n{source}").status == "error"


@pytest.mark.parametrize("form", ["yield {}", "yield from {}", "x = yield {}", "(a for a in {})"])
def test_what_is_yielded_is_checked(refusal, form):
    """An expression under ``yield`` is an expression."""
    assert "__globals__" in refusal(f"def f():\n    {form.format('print.__globals__')}").message
