"""The language is ordinary Python: what a model writes every day runs as CPython runs it."""

import ast
import sys
import types
from typing import Any

import pytest
from circlet.sandbox import Sandbox

PROGRAMS: dict[str, tuple[list[str], Any]] = {
    "generators across turns": (
        [
            "def pairs(limit):\n"
            "    seen = yield 'ready'\n"
            "    for n in range(limit):\n"
            "        yield n, seen\n"
            "def chain():\n"
            "    yield from pairs(2)\n"
            "    yield from (c for c in 'ab')\n"
            "stream = chain()\n"
            "first = next(stream)",
            "[first, [stream.send('ping'), *stream]]",
        ],
        ["ready", [(0, "ping"), (1, "ping"), "a", "b"]],
    ),
    "laziness": (
        ["from itertools import count\nendless = (n * n for n in count())", "next(endless)"],
        0,
    ),
    "classes": (
        [
            "from enum import Enum\n"
            "from dataclasses import dataclass, field\n"
            "class Level(Enum):\n"
            "    LOW = 1\n"
            "    HIGH = 2\n"
            "@dataclass\n"
            "class Node:\n"
            "    name: str\n"
            "    kids: list = field(default_factory=list)\n"
            "    @property\n"
            "    def size(self):\n"
            "        return 1 + sum(k.size for k in self.kids)\n"
            "class Leaf(Node):\n"
            "    pass\n"
            "class Loud(Leaf):\n"
            "    def __repr__(self):\n"
            "        return super().__repr__().upper()\n"
            "tree = Node('root', [Leaf('a'), Node('b', [Loud('c')])])",
            "{'size': tree.size, 'level': Level(2).name,\n"
            " 'isa': isinstance(tree.kids[0], Node), 'loud': repr(tree.kids[1].kids[0])[:4]}",
        ],
        {"size": 4, "level": "HIGH", "isa": True, "loud": "LOUD"},
    ),
    "scopes": (
        [
            "def even(n): return True if n == 0 else odd(n - 1)\n"
            "def odd(n): return False if n == 0 else even(n - 1)\n"
            "base = 10\n"
            "grid = {r: [base * r + c for c in range(2) if c != r] for r in range(2)}\n"
            "class Holder:\n"
            "    values = [base + k for k in range(2)]\n"
            "def counter():\n"
            "    n = 0\n"
            "    def bump():\n"
            "        nonlocal n\n"
            "        n += base\n"
            "        return n\n"
            "    return bump\n"
            "bump = counter()",
            "base = 100\n[even(7), grid, Holder.values, bump(), bump(), (lambda: base)()]",
        ],
        [False, {0: [1], 1: [10]}, [10, 11], 100, 200, 100],
    ),
    "everyday syntax": (
        [
            "class Tag:\n"
            "    def __init__(self, name, log=[]):\n"
            "        self.name, self.log = name, log\n"
            "    def __enter__(self):\n"
            "        self.log.append(self.name)\n"
            "        return self.log\n"
            "    def __exit__(self, *error):\n"
            "        self.log.append('/' + self.name)\n"
            "d: dict[str, int] = {'a': 1, 'b': 2}\n"
            "d['a'] += 5\n"
            "d |= {'c': 3}\n"
            "del d['b']\n"
            "first, *others = sorted(d.items())\n"
            "with Tag('x') as log:\n"
            "    match d:\n"
            "        case {'a': n, **more} if n > 5:\n"
            "            kind = f'{n=:>3} {sorted(more)}'\n"
            "        case _:\n"
            "            kind = 'no'\n"
            "if (m := max(d.values())) and __name__ == '__main__':\n"
            "    out = [first, others, log, kind, m]\n"
            "assert out\n"
            "out",
        ],
        [("a", 6), [("c", 3)], ["x", "/x"], "n=  6 ['c']", 6],
    ),
    "functions, modules and aliases survive": (
        [
            "import math as m\n"
            "half = lambda v: v / 2\n"
            "ops = {'half': half, 'root': m.sqrt}\n"
            "alias = ops",
            "ops['inc'] = lambda v: v + 1\n"
            "[alias['inc'](half(8)), alias['root'](81), alias is ops]",
        ],
        [5.0, 9.0, True],
    ),
    "private attributes of one's own": (
        [
            "class Account:\n"
            "    _rate = 2\n"
            "    def __init__(self): self._sum, self.__secret = 1, 5\n"
            "    def add(self, n):\n"
            "        self._sum += n * self._rate\n"
            "        self.__secret += 1\n"
            "        return self\n"
            "    def both(self): return self._sum, self.__secret\n"
            "Account().add(3).both()"
        ],
        (7, 6),
    ),
    "augmented assignment to attributes and items": (
        [
            "class Box: pass\n"
            "b = Box()\n"
            "b.n = 1\n"
            "b.n += 2\n"
            "b.items = [0]\n"
            "b.items[0] -= 4\n"
            "(b.n, b.items)"
        ],
        (3, [-4]),
    ),
    "operators": (
        [
            "class V:\n"
            "    __slots__ = ('x',)\n"
            "    def __init__(self, x): self.x = x\n"
            "    def __add__(self, o): return V(self.x + o.x)\n"
            "    def __eq__(self, o): return self.x == o.x\n"
            "    def __hash__(self): return hash(self.x)\n"
            "    def __getitem__(self, i): return self.x * i\n"
            "    def __contains__(self, i): return i == self.x\n"
            "    def __call__(self): return 'called'\n"
            "    def __bool__(self): return False\n"
            "v = V(1) + V(2)\n"
            "(v.x, v == V(3), len({v, V(3)}), v[5], 3 in v, v(), not v)"
        ],
        (3, True, 1, 15, True, "called", True),
    ),
    "descriptors and hooks": (
        [
            "class Upper:\n"
            "    def __set_name__(self, owner, name): self.name = name\n"
            "    def __get__(self, obj, kind): return self.name.upper()\n"
            "class Base:\n"
            "    kinds = []\n"
            "    def __init_subclass__(cls, **kw):\n"
            "        super().__init_subclass__(**kw)\n"
            "        Base.kinds.append(cls.__name__)\n"
            "    def __getattr__(self, name): return name + '?'\n"
            "class Child(Base):\n"
            "    word = Upper()\n"
            "    def __new__(cls): return super().__new__(cls)\n"
            "(Child().word, Base.kinds, Child().other)"
        ],
        ("WORD", ["Child"], "other?"),
    ),
    "async": (
        [
            "class Gate:\n"
            "    def __await__(self):\n"
            "        got = yield 'asks'\n"
            "        return got\n"
            "async def work(): return await Gate()\n"
            "coroutine = work()\n"
            "asked = coroutine.send(None)\n"
            "try:\n"
            "    coroutine.send(42)\n"
            "except StopIteration as stop:\n"
            "    answer = stop.value\n"
            "(asked, answer)"
        ],
        ("asks", 42),
    ),
    "exception groups": (
        [
            "try:\n"
            "    raise ExceptionGroup('g', [ValueError('v'), KeyError('k')])\n"
            "except ExceptionGroup as group:\n"
            "    caught = [type(e).__name__ for e in group.exceptions]\n"
            "caught"
        ],
        ["ValueError", "KeyError"],
    ),
    "match": (
        [
            "class P:\n"
            "    def __init__(self, x): self.x = x\n"
            "def what(v):\n"
            "    match v:\n"
            "        case P(x=1 | 2 as n): return ('point', n)\n"
            "        case [1, *rest]: return ('list', rest)\n"
            "        case str(): return 'text'\n"
            "        case None | True: return 'single'\n"
            "[what(P(2)), what([1, 2, 3]), what('a'), what(None)]"
        ],
        [("point", 2), ("list", [2, 3]), "text", "single"],
    ),
    "format": (
        [
            "class T:\n    a = [1, 2]\n"
            "('{0.a[1]:>3}|{x!r}'.format(T(), x='y'), '{a}'.format_map({'a': 1}), f'{T.a!r:>8}')"
        ],
        ("  2|'y'", "1", "  [1, 2]"),
    ),
    "getattr and friends": (
        [
            "class T: pass\n"
            "t = T()\n"
            "setattr(t, 'a', 1)\n"
            "t._b = 2\n"
            "(getattr(t, 'a'), getattr(t, 'zz', 'none'), hasattr(t, '_b'), sorted(vars(t)), "
            "type(t) is T, type(3) is int, isinstance(T, type), t.__class__ is T)"
        ],
        (1, "none", True, ["_b", "a"], True, True, True, True),
    ),
    "bare except": (
        ["try:\n    1 / 0\nexcept:\n    got = 'caught'\ngot"],
        "caught",
    ),
    "namedtuple": (
        [
            "from collections import namedtuple\n"
            "p = namedtuple('P', 'x y')(1, 2)\n"
            "(p._replace(x=5)._asdict(), p._fields)"
        ],
        ({"x": 5, "y": 2}, ("x", "y")),
    ),
    "abstract classes": (
        [
            "from abc import ABC, abstractmethod\n"
            "class A(ABC):\n"
            "    @abstractmethod\n"
            "    def f(self): ...\n"
            "try:\n"
            "    A()\n"
            "except TypeError:\n"
            "    got = 'abstract'\n"
            "got"
        ],
        "abstract",
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_programs_run_as_in_cpython(box: Sandbox, name: str) -> None:
    """Turn by turn, a program gives what CPython gives, and its names live on."""
    turns, expected = PROGRAMS[name]
    for source in turns[:-1]:
        assert box.run(source).status == "ok"
    run = box.run(turns[-1])
    assert (run.status, run.value) == ("ok", expected), str(run)


@pytest.mark.parametrize("name", PROGRAMS)
def test_the_tables_values_are_cpythons(name: str) -> None:
    """The expected values above are those of bare CPython, not of the sandbox."""
    turns, expected = PROGRAMS[name]
    tree = ast.parse("\n".join(turns))
    assert isinstance(tree.body[-1], ast.Expr)
    tree.body[-1] = ast.copy_location(
        ast.Assign([ast.Name("value", ast.Store())], tree.body[-1].value), tree.body[-1]
    )
    module = types.ModuleType("__main__")
    real = sys.modules["__main__"]
    sys.modules["__main__"] = module
    try:
        exec(compile(ast.fix_missing_locations(tree), "<cpython>", "exec"), vars(module))
    finally:
        sys.modules["__main__"] = real
    assert vars(module)["value"] == expected
