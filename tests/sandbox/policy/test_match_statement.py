"""``match``: allowed with every kind of pattern; what a class pattern reads is checked."""

import pytest

PROGRAMS = {
    "values and singletons": """
import math
def f(x):
    match x:
        case 0 | 1 as n: return ('small', n)
        case -2.5 | 3+4j: return 'number'
        case 'a' | b'b': return 'text'
        case None: return 'none'
        case True | False: return 'bool'
        case math.pi: return 'pi'
        case _: return 'other'
[f(x) for x in (0, 1, -2.5, 3 + 4j, 'a', b'b', None, False, math.pi, [])]
""",
    "sequences": """
def f(x):
    match x:
        case []: return 'empty'
        case [x]: return ('one', x)
        case (1, *rest): return ('starts', rest)
        case [*front, 9]: return ('ends', front)
        case [a, [b, *_], _]: return (a, b)
        case [_, *_]: return 'some'
        case _: return 'none'
[f(x) for x in ([], [5], (1, 2, 3), [2, 9], [2, [3, 4], 5], range(2), 'ab', {1})]
""",
    "mappings": """
def f(x):
    match x:
        case {'type': 'circle', 'r': r}: return 3 * r
        case {'type': str(t), **rest} if rest: return (t, rest)
        case {'a': {'b': [x, *_]}}: return x
        case {}: return 'any'
[f(x) for x in ({'type': 'circle', 'r': 2}, {'type': 'q', 'z': 1}, {'a': {'b': [7]}}, {})]
""",
    "classes by keyword": """
class P:
    def __init__(self, x, y): self.x, self.y = x, y
def f(v):
    match v:
        case P(x=0, y=0): return 'origin'
        case P(x=0, y=y): return ('axis', y)
        case P(x=x, y=P(x=1)): return ('nested', x)
        case P(): return 'point'
        case int() | float() as n if n > 5: return ('big', n)
        case str(): return 'text'
[f(v) for v in (P(0, 0), P(0, 3), P(2, P(1, 0)), P(5, 5), 7, 'a', 1)]
""",
    "classes by place": """
from dataclasses import dataclass
from collections import namedtuple
@dataclass
class D:
    a: int
    b: list
N = namedtuple('N', 'p q')
class M:
    __match_args__ = ('x', 'y')
    def __init__(self, x, y): self.x, self.y = x, y
def f(v):
    match v:
        case D(1, [first, *_]): return ('D', first)
        case D(a, b=b): return ('D', a, b)
        case N(p, N(q)): return ('NN', p, q)
        case N(p): return ('N', p)
        case M(x, M(1 | 2 as y)): return ('MM', x, y)
        case M(x): return ('M', x)
        case int(n) | str(n) | bool(n): return n
        case dict({'k': k}): return k
[f(v) for v in (D(1, [9]), D(2, []), N(1, N(5, 6)), N(3, 4), M(1, M(2, 0)), M(7, 8), 5, {'k': 1})]
""",
    "match args inherited and changed": """
class A:
    __match_args__ = ('x',)
    x, y = 1, 2
class B(A): pass
class C(A): __match_args__ = ('y', 'x')
r = []
for v in (B(), C()):
    match v:
        case C(first, second): r.append((first, second))
        case A(only): r.append(only)
r
""",
    "guards": """
def f(p):
    match p:
        case (x, y) if x == y: return 'same'
        case (x, y) if (s := x + y) > 5: return s
        case (x, _): return x
f((1, 1)), f((3, 4)), f((1, 2))
""",
    "no case": "r = 0\nmatch 5:\n    case 6: r = 1\n    case 7: r = 2\nr",
    "names stay bound": "match [1, 2]:\n    case [a, 3]: ...\n    case [a, b]: ...\na, b",
    "a subject is evaluated once": """
def get():
    print('once')
    return 3
match get():
    case 1: ...
    case 2: ...
    case 3: print('three')
""",
    "a tuple of subjects": "match 1, 2:\n    case x, y: r = x + y\nr",
    "private captures": "match [1, 2]:\n    case [_a, *_rest]: r = _a, _rest\nr",
    "match as a name": "match = case = _ = 1\nmatch + case + _",
    "in a loop and a function": """
def run(commands):
    for c in commands:
        match c.split():
            case ['go', ('north' | 'south') as d]: yield d
            case ['stop']: return
            case [word, *_]: yield f'? {word}'
list(run(['go north', 'fly high', 'stop', 'go south']))
""",
    "too many by place": "class A: ...\nmatch A():\n    case A(1): ...",
    "not a class": "x = 5\nmatch 1:\n    case x(): ...",
    "match args of a wrong kind": "class A:\n    __match_args__ = ['x']\nmatch A():\n"
    "    case A(1): ...",
    "match args that are no texts": "class A:\n    __match_args__ = (1,)\nmatch A():\n"
    "    case A(1): ...",
    "a name twice": "match 1:\n    case [a, a]: ...",
    "unreachable": "match 1:\n    case x: ...\n    case 2: ...",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_match_is_cpythons(same, what):
    """Every kind of pattern matches, binds and fails as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__"])
@pytest.mark.parametrize(
    "pattern",
    [
        "{}",
        "int() as {}",
        "[*{}]",
        "{{**{}}}",
        "int({})",
        "int(real={})",
        "[1, {}]",
        "{{'a': {}}}",
        "1 | 2 as {}",
    ],
)
def test_captures_are_checked(refusal, pattern, name):
    """Each way to capture binds a name."""
    assert name in refusal(f"match x:\n    case {pattern.format(name)}: pass").message


@pytest.mark.parametrize(
    "pattern",
    [
        "object({}=x)",
        "[object({}=_)]",
        "print.{}",
        "int(print.{})",
        "{{'a': object({}=x)}}",
        "{{print.{}: 1}}",
        "object() | print.{}",
        "x if print.{}",
        "print.{}()",
    ],
)
@pytest.mark.parametrize("name", ["__globals__", "__code__", "gi_frame", "tb_frame", "f_globals"])
def test_what_a_pattern_reads_is_checked(refusal, pattern, name):
    """Attributes, values and guards in patterns are checked as elsewhere."""
    assert name in refusal(f"match x:\n    case {pattern.format(name)}: pass").message


@pytest.mark.parametrize("name", ["format", "format_map", "_x", "__x", "__class__", "__dict__"])
def test_what_needs_a_guard_is_not_matched(refusal, name):
    """A pattern reads without a guard: it says to read the attribute instead."""
    error = refusal(f"match x:\n    case object({name}=y): pass")
    assert name in error.message


@pytest.mark.parametrize(
    "name", ["__globals__", "__class__", "__code__", "gi_frame", "format", "_randbelow", "__dict__"]
)
@pytest.mark.parametrize(
    "body",
    [
        "__match_args__ = ('{}',)",
        "__match_args__ = ('a', '{}')",
        "__match_args__: tuple = ('{}',)",
        "__match_args__ = tuple(['{}'])",
        "__match_args__ = ('x',) * 0 + ('{}',)",
    ],
)
def test_what_match_args_name_is_checked(box, body, name):
    """The names that a positional pattern reads are checked as the pattern comes up."""
    source = f"""
from abc import ABC
class P(ABC):
    {body.format(name)}
class Q(P): ...
@P.register
class R:
    a = 1
escaped = []
for v in (Q(), R()):
    match v:
        case [P(x), _] | P(x): escaped.append(x)
        case P(_, x): escaped.append(x)
"""
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("TypeError", "Refused")
    assert name in run.error.message


def test_match_args_that_are_computed_are_refused(box):
    """The interpreter reads the names once more, so they may not be others the second time."""
    source = """
class Flip:
    n = 0
    def __get__(self, instance, owner):
        Flip.n += 1
        return ('x',) if Flip.n % 2 else ('__globals__',)
class P:
    __match_args__ = Flip()
    x = 1
match P():
    case P(x): x
"""
    run = box.run(source)
    assert run.error is not None
    assert (run.error.type, run.error.line) == ("TypeError", 11)
    assert run.error.message == "P.__match_args__ must be a tuple (got Flip)"


def test_the_class_that_was_checked_is_the_class_that_is_matched(box):
    """What stands for the class is evaluated once."""
    source = """
class Good:
    __match_args__ = ('x',)
    x = 1
class Bad:
    __match_args__ = ('__class__',)
class Holder:
    n = 0
    @property
    def kind(self):
        self.n += 1
        return [Good, Bad][(self.n - 1) % 2]
h = Holder()
match Good():
    case h.kind(v): r = v
r, h.n
"""
    assert box.run(source).value == (1, 1)


@pytest.mark.parametrize("where", ["names, {}", "names", "names, names", "names, M()"])
def test_a_text_that_runs_on_given_names_matches_too(box, where):
    """Nothing of the check is left in, or looked up in, what a program hands to ``exec``."""
    source = f"""
class P:
    __match_args__ = ('x',)
    x = 1
class M(dict):
    def __setitem__(self, name, value):
        assert name.isidentifier(), name
        super().__setitem__(name, value)
names = {{'P': P, 'p': P()}}
exec('match p:\\n    case P(x): print(x)', {where})
[name for name in names if name[0] == '<']
"""
    run = box.run(source)
    assert (run.value, run.stdout) == ([], "1\n"), str(run)


def test_a_class_body_keeps_nothing_of_the_check(same):
    """A class has the names that its body binds, and no others."""
    same("""
class P:
    __match_args__ = ('x',)
    x = 1
class C:
    match P():
        case P(x): r = x
sorted(n for n in C.__dict__ if n[0] != '_'), C.r
""")
