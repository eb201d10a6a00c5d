"""Programs of several turns, as a model writes them: the language and the state, to the word."""

from __future__ import annotations

from circlet import ScriptedLLM


def result_of(make, *turns, **fields):
    """What a cast comes to whose model writes these turns, each of which must be accepted."""
    cast = make([{"code": turn} for turn in turns], **fields).cast("go")
    for turn in cast.thread:
        assert not turn.observation.is_error, turn.observation.text
    assert (cast.terminated, cast.turns) == (True, len(turns))
    return cast.result


def test_generators(code):
    """MEDIUM-3: a generator that is half consumed goes on in the next turn (cases 1)."""
    first = """
def pairs(limit):
    seen = yield "ready"
    for n in range(limit):
        yield n, seen
def chain():
    yield from pairs(2)
    yield from (c for c in "ab")
stream = chain()
first = next(stream)
"""
    second = """
rest = [stream.send("ping"), *stream]
done([first, rest])
"""
    assert result_of(code, first, second) == ["ready", [(0, "ping"), (1, "ping"), "a", "b"]]


def test_an_endless_generator(code):
    """MEDIUM-3: laziness is kept, over an infinite counter too (cases 1)."""
    first = """
from itertools import count
squares = (n * n for n in count())
"""
    second = "done([next(squares), next(squares), next(squares)])"
    assert result_of(code, first, second) == [0, 1, 4]


def test_classes(code):
    """MEDIUM-3: Enum, dataclass, inheritance, property, super and ``pass`` bodies (cases 2)."""
    first = """
from enum import Enum
from dataclasses import dataclass, field
class Level(Enum):
    LOW = 1
    HIGH = 2
@dataclass
class Node:
    name: str
    kids: list = field(default_factory=list)
    @property
    def size(self):
        return 1 + sum(k.size for k in self.kids)
class Leaf(Node):
    pass
class Loud(Leaf):
    def __repr__(self):
        return super().__repr__().upper()
tree = Node("root", [Leaf("a"), Node("b", [Loud("c")])])
"""
    second = """
done({"size": tree.size, "level": Level(2).name, "isa": isinstance(tree.kids[0], Node), \
"loud": repr(tree.kids[1].kids[0])[:4]})
"""
    expected = {"size": 4, "level": "HIGH", "isa": True, "loud": "LOUD"}
    assert result_of(code, first, second) == expected


def test_scopes(code):
    """MEDIUM-3: turn-level names are one scope: functions see what later turns bind (cases 4)."""
    first = """
def even(n): return True if n == 0 else odd(n - 1)
def odd(n): return False if n == 0 else even(n - 1)
base = 10
grid = {r: [base * r + c for c in range(2) if c != r] for r in range(2)}
class Holder:
    values = [base + k for k in range(2)]
def counter():
    n = 0
    def bump():
        nonlocal n
        n += base
        return n
    return bump
bump = counter()
"""
    second = """
base = 100
done([even(7), grid, Holder.values, bump(), bump(), (lambda: base)()])
"""
    expected = [False, {0: [1], 1: [10]}, [10, 11], 100, 200, 100]
    assert result_of(code, first, second) == expected


def test_everyday_syntax(code):
    """MEDIUM-3: what a model writes every day, in one turn (cases 5)."""
    program = """
import contextlib
@contextlib.contextmanager
def tag(name, log=[]):
    log.append(name); yield log; log.append("/" + name)
d: dict[str, int] = {"a": 1, "b": 2}
d["a"] += 5
d |= {"c": 3}
del d["b"]
first, *others = sorted(d.items())
with tag("x") as log:
    match d:
        case {"a": n, **more} if n > 5:
            kind = f"{n=:>3} {sorted(more)}"
        case _:
            kind = "no"
if (m := max(d.values())) and __name__ == "__main__":
    out = [first, others, log, kind, m]
assert out
done(out)
"""
    expected = [("a", 6), [("c", 3)], ["x", "/x"], "n=  6 ['c']", 6]
    assert result_of(code, program) == expected


def test_a_refusal_costs_one_turn(code):
    """CIRCLE-5: what is refused is named with its line, and the cast goes on (cases 5)."""
    refused = "a = 1\nb = a.__globals__"
    cast = code([{"code": refused}, {"code": "done('a' in globals())"}]).cast("go")
    observation = cast.thread[0].observation
    assert observation.is_error
    assert "line 2" in observation.text
    assert "__globals__" in observation.text
    assert (cast.terminated, cast.turns, cast.result) == (True, 2, False)


def test_functions_and_aliases_survive(code):
    """MEDIUM-3: functions, lambdas, modules and the identity of objects survive (cases 7)."""
    first = """
import math as m
half = lambda v: v / 2
ops = {"half": half, "root": m.sqrt}
alias = ops
"""
    second = """
ops["inc"] = lambda v: v + 1
done([alias["inc"](half(8)), alias["root"](81), alias is ops])
"""
    assert result_of(code, first, second) == [5.0, 9.0, True]


def test_clobbered_names(deep):
    """CIRCLE-6: rebinding a gate fails by its name, and the next turn has it whole (cases 8)."""
    first = """
call_entity = lambda *_: "hijacked"
def done(x): return "not done"
__builtins__ = {}
print("still here")
"""
    second = """
print(call_entity({"intent": "say real"}))
done(len([1, 2, 3]))
"""
    child = ScriptedLLM([{"code": 'done("real")'}])
    cast = deep([{"code": first}, {"code": second}], child_llm=child).cast("go")
    assert (cast.terminated, cast.result) == (True, 3)
    told = cast.thread[0].observation
    assert told.is_error
    assert '"call_entity" is a gate here' in told.text
    assert told.printed == ""
    assert any("real" in turn.observation.printed for turn in cast.thread)


def test_each_clobbered_name_is_named(code):
    """CIRCLE-6: each of the reserved names is refused on its own, in one clear line (cases 8)."""
    programs = ["def done(x): return 'not done'", "__builtins__ = {}", "done(len([1, 2, 3]))"]
    cast = code([{"code": program} for program in programs]).cast("go")
    first, second, _ = (turn.observation for turn in cast.thread)
    assert '"done" is a gate here' in first.text
    assert "__builtins__" in second.text
    assert cast.result == 3
