"""Both strategies give the same state: variable by variable, whatever the variables hold."""

import json
import subprocess
import sys
import textwrap

import pytest
from circlet import ScriptedLLM, gate
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

pytestmark = pytest.mark.kernel
LOOK = '''
def tell_all(left_out):
    """All that the variables hold: what only its use can show is used, aliases are told."""
    import asyncio, contextlib, contextvars, datetime, decimal, fractions, inspect, io
    import random, re, types
    from collections.abc import AsyncIterator, Coroutine, Iterator, Mapping, Set
    from enum import Enum
    from functools import partial
    from itertools import islice

    known = []

    def tell(value):
        if value is None or isinstance(value, (bool, int, float, complex, str, bytes)):
            return [type(value).__name__, repr(value)]
        for place, other in enumerate(known):
            if other is value:
                return ["known", place]
        known.append(value)
        return [type(value).__name__, *parts(value)]

    def parts(value):
        if isinstance(value, Mapping):
            yield [[tell(key), tell(item)] for key, item in value.items()]
            yield tell(getattr(value, "default_factory", None))
        elif isinstance(value, Set):
            yield sorted(repr(item) for item in value)
        elif isinstance(value, (io.StringIO, io.BytesIO)):
            yield [value.tell(), value.read(), value.closed]
        elif isinstance(value, random.Random):
            yield [value.random() for _ in range(3)]
        elif isinstance(value, re.Match):
            yield [value.span(), value.groups()]
        elif isinstance(value, Enum):
            yield [value.name, tell(value.value)]
        elif isinstance(value, BaseException):
            yield [tell(value.args), tell(value.__cause__), tell(value.__context__)]
            yield tell(getattr(value, "__notes__", []))
        elif isinstance(value, contextvars.ContextVar):
            yield tell(value.get(None))
        elif isinstance(value, contextlib.AbstractContextManager):
            yield told_of(lambda: value.__exit__(None, None, None))
        elif isinstance(value, Coroutine):
            yield told_of(lambda: asyncio.run(value))
        elif isinstance(value, AsyncIterator):
            yield told_of(lambda: asyncio.run(all_of(value)))
        elif isinstance(value, Iterator):
            yield told_of(lambda: list(islice(value, 30)))
        elif isinstance(value, type):
            yield value.__name__
            if value.__module__ == "__main__":
                names = [name for name in vars(value) if not name.startswith("_")]
                yield [[name, tell(getattr(value, name))] for name in names]
        elif isinstance(value, (types.FunctionType, types.MethodType, partial)):
            wanted = inspect.signature(value).parameters.values()
            count = sum(one.default is one.empty and one.kind <= 1 for one in wanted)
            yield told_of(lambda: value(*[2] * count))
        elif isinstance(value, types.ModuleType):
            yield value.__name__
        elif isinstance(value, (datetime.date, datetime.time, datetime.timedelta)):
            yield repr(value)
        elif isinstance(value, (decimal.Decimal, fractions.Fraction, range, slice)):
            yield repr(value)
        elif hasattr(value, "__iter__"):
            yield [tell(item) for item in value]
        else:
            yield told_of(lambda: vars(value))

    async def all_of(values):
        return [value async for value in values]

    def told_of(look):
        try:
            found = look()
        except Exception as error:
            return ["raised", type(error).__name__, str(error)]
        return tell(found)

    own = {name: value for name, value in globals().items() if name not in left_out}
    told = {name: tell(value) for name, value in own.items()}
    return {**told, "the next random number": random.random()}
'''
LEFT_OUT = ("tell_all", "done", "loom", "Truncated", "ChildFailed", "GateInterrupted")


def run(source):
    return {"code": textwrap.dedent(source)}


def look(*gates):
    """The program that looks at all variables; these gates are there beside ``done``."""
    return run(f"{LOOK}\ndone(tell_all({(*LEFT_OUT, *gates)!r}))")


def looks(spell, turns, *gates):
    """What a state is found to be: in the original, in a copy, and where it was lived again."""
    at_it = {"llm": ScriptedLLM({"": [look(*gates)]})}
    with spell.summon() as entity:
        entity.send("work")
        copied = spell.fork(entity.entity_id, turns, "look", **at_it)
        own = entity.send("look")
    lived = spell.fork(entity.entity_id, turns, "look", **at_it)
    assert (copied.forked_from.strategy, lived.forked_from.strategy) == ("snapshot", "replay")
    assert (copied.difference, lived.difference) == (None, None)
    return own.result, copied.result, lived.result


PROGRAMS = {
    "generators": [
        """
        def pairs(limit):
            seen = yield "ready"
            for n in range(limit):
                seen = (yield n, seen) or seen
        def chain():
            yield from pairs(4)
            yield from (c for c in "ab")
        stream, endless = chain(), (n * n for n in iter(int, 1))
        first = next(stream)
        """,
        "second = stream.send('ping'), next(stream), next(endless)",
        """
        def closing():
            try:
                yield 1
                yield 2
            finally:
                left.append("closed")
        left = []
        over, open_still = closing(), closing()
        next(over); over.close()
        next(open_still)
        done(0)
        """,
    ],
    "closures": [
        """
        def counter():
            n = 0
            def bump(by=1):
                nonlocal n
                n += by
                return n
            return bump, lambda: n
        bump, peek = counter()
        late = [lambda: i for i in range(3)]
        early = [lambda i=i: i for i in range(3)]
        """,
        "bump(); bump(10)\nalias = bump\nlate_now = [each() for each in late]",
        "from functools import partial\nadd = partial(bump, by=5)\nadd()\ndone(peek())",
    ],
    "iterators": [
        """
        import itertools, re
        lines = iter("a b c d e f g".split())
        numbered = enumerate(lines, 7)
        both = zip(lines, itertools.count(3))
        doubled = map(lambda text: text * 2, lines)
        kept = filter(str.isalpha, lines)
        one, two = next(numbered), next(both)
        """,
        """
        a, b = itertools.tee(iter(range(9)), 2)
        next(a), next(a)
        grouped = itertools.groupby("aabbbc")
        key, group = next(grouped)
        next(group)
        pairs = itertools.pairwise(iter([1, 2, 3, 4])); next(pairs)
        cycle = itertools.islice(itertools.cycle("xyz"), 2, 9); next(cycle)
        sums = itertools.accumulate([1, 2, 3, 4]); next(sums)
        backwards = reversed([1, 2, 3]); next(backwards)
        """,
        """
        found = re.finditer("a(.)", "ab ac ad ae")
        next(found)
        match = re.match("(?P<word>[a-z]+)", "word 1")
        three = next(doubled)
        keys = iter({"p": 1, "q": 2}); next(keys)
        done(0)
        """,
    ],
    "files in memory": [
        """
        import csv, io
        text = io.StringIO("name,size\\na,1\\nb,2\\nc,3\\n")
        rows = csv.DictReader(text)
        first = next(rows)
        """,
        """
        out = io.StringIO()
        writer = csv.writer(out)
        writer.writerow(first.values())
        data = io.BytesIO(b"0123456789")
        head = data.read(4)
        """,
        "second = next(rows)\nout.seek(2)\nrest = io.StringIO(data.read().decode())\ndone(0)",
    ],
    "collections": [
        """
        from collections import ChainMap, Counter, OrderedDict, defaultdict, deque, namedtuple
        ring = deque([1, 2, 3, 4], maxlen=3)
        words = defaultdict(list)
        for word in "the old the new".split():
            words[len(word)].append(word)
        """,
        """
        count = Counter("banana")
        ordered = OrderedDict(b=1, a=2)
        ordered.move_to_end("b")
        layers = ChainMap({"x": 1}, {"x": 2, "y": 3})
        Point = namedtuple("Point", "x y")
        point = Point(1, [2])
        """,
        """
        shared = [1]
        nested = {"one": shared, "two": [shared, {"three": shared}]}
        loop = []
        loop.append(loop)
        shared.append(len(nested))
        ring.rotate(1)
        names = {"%d-%d" % (n, n % 7) for n in range(40)}
        done([*names][:3])
        """,
    ],
    "classes": [
        """
        from dataclasses import dataclass, field
        from enum import Enum, Flag, auto
        class Level(Enum):
            LOW = 1
            HIGH = 2
        class Mode(Flag):
            READ = auto()
            WRITE = auto()
        @dataclass
        class Node:
            name: str
            kids: list = field(default_factory=list)
            made = 0
            def __post_init__(self):
                Node.made += 1
        class Leaf(Node):
            @property
            def size(self):
                return len(self.kids) + Node.made
            def grow(self):
                self.kids.append(Node.made)
                return self.size
        """,
        """
        tree = Node("root", [Leaf("a"), Node("b")])
        tree.kids[0].parent = tree
        level, mode = Level(2), Mode.READ | Mode.WRITE
        grow = tree.kids[0].grow
        grow()
        """,
        """
        Leaf.grow_twice = lambda self: (self.grow(), self.grow())
        tree.kids[0].grow_twice()
        class Slotted:
            __slots__ = ("x",)
        done(0)
        """,
    ],
    "errors": [
        """
        kept = []
        def fail(depth):
            if depth:
                return fail(depth - 1)
            raise KeyError("deep")
        try:
            try:
                fail(3)
            except KeyError as error:
                raise ValueError("outer") from error
        except ValueError as error:
            error.add_note("a note")
            kept.append(error)
        half = [1]
        half.append(1 / 0)
        """,
        """
        class Own(Exception):
            def __init__(self, code):
                super().__init__("own", code)
                self.code = code
        kept.append(Own(7))
        group = ExceptionGroup("several", [TypeError("t"), Own(8)])
        undefined_name
        """,
        "half.append(2)\ndone(len(kept))",
    ],
    "coroutines": [
        """
        import asyncio
        steps = []
        async def ticking(limit):
            for n in range(limit):
                steps.append(n)
                yield n
        async def work(name):
            await asyncio.sleep(0)
            steps.append(name)
            return name * 2
        ticks, waiting = ticking(4), work("late")
        first = asyncio.run(anext(ticks))
        """,
        """
        async def both():
            return await asyncio.gather(work("a"), work("b"))
        pair = asyncio.run(both())
        second = asyncio.run(anext(ticks))
        """,
        "done(steps)",
    ],
    "contexts": [
        """
        import contextlib, contextvars, decimal
        log = []
        @contextlib.contextmanager
        def tag(name):
            log.append(name)
            yield name
            log.append("/" + name)
        stack = contextlib.ExitStack()
        inner = stack.enter_context(tag("inner"))
        stack.callback(log.append, "last")
        decimal.getcontext().prec = 5
        """,
        """
        var = contextvars.ContextVar("var", default=0)
        token = var.set(4)
        opened = tag("open")
        name = opened.__enter__()
        third = decimal.Decimal(1) / 3
        """,
        "var.set(5)\nseen = var.get()\nquotient = decimal.Decimal(2) / 7\ndone(0)",
    ],
    "random numbers": [
        "import random\ndrawn = [random.random() for _ in range(3)]\nown = random.Random(5)",
        "own.random(); random.gauss(0, 1)\nwords = random.sample('abcdefgh', 4)",
        "random.seed(9)\nrandom.random()\nstate = random.getstate()[0]\ndone(words)",
    ],
    "clocks and chance": [
        """
        import datetime, time, uuid, secrets, random
        began = datetime.datetime.now(), time.time(), time.monotonic()
        token, mark = secrets.token_hex(8), uuid.uuid4().hex
        """,
        "unseeded = random.Random()\nunseeded.random()\nday = datetime.date.today()",
        "took = time.time() - began[1]\nprint(token, took)\ndone(mark)",
    ],
    "names that come and go": [
        "x = 1\ndef f(): return x\nimport math as m\nroot = m.sqrt",
        "del x\nglobal_now = sorted(globals())[:3]",
        "x = 2\nfor i in range(3): pass\nprint(f(), i)\n_private = [i]\ndone(0)",
    ],
}


@pytest.mark.parametrize("kind", PROGRAMS)
def test_both_strategies_give_the_same(code, kind):
    """LOOM-4, LOOM-13: a copy and a past lived again hold the same, and so does the original."""
    turns = [run(source) for source in PROGRAMS[kind]]
    own, copied, lived = looks(code([*turns, look()]), len(turns))
    assert copied == own
    assert lived == own


def test_what_came_from_outside(deep):
    """LOOM-13: answers of gates, what children came to, contexts and reads of the loom."""
    made = []

    @gate
    def make(what: str) -> dict:
        """Make something."""
        made.append(what)
        if what == "nothing":
            raise ValueError("there is nothing")
        return {"what": what, "parts": (1, {2, 3}), "n": len(made)}

    turns = [
        """
        one = make('a')
        try: make('nothing')
        except ValueError as error: why = error
        size = len(context['rows'])
        """,
        """
        child = call_entity('child', context=one)
        several = call_entity_batch(['child', 'fails', 'endless'])
        earlier = loom.turn(1).code[:10], len(loom)
        """,
        "answers = iter(several)\nfirst = next(answers)\ndone(0)",
    ]
    outside = ("make", "call_entity", "call_entity_batch")
    replies = {
        "^work": [*map(run, turns), look(*outside)],
        "child": [run("done([context, 'seen'])")],
        "fails": [{"error": {"status": 400, "message": "no"}}],
        "endless": [run("1")] * 9,
    }
    spell = deep(replies, make, wards=[{"max_turns": 4}])
    at_it = {"llm": ScriptedLLM({"": [look(*outside)]})}
    with spell.summon() as entity:
        entity.send("work", context={"rows": [1, 2, 3]})
        count = len(spell.loom.entities)
        copied = spell.fork(entity.entity_id, 3, "look", **at_it)
    lived = spell.fork(entity.entity_id, 3, "look", **at_it)
    assert (copied.forked_from.strategy, lived.forked_from.strategy) == ("snapshot", "replay")
    assert copied.result == lived.result
    assert {"one", "why", "child", "several", "answers"} <= set(lived.result)
    assert (made, len(spell.loom.entities)) == (["a", "nothing"], count + 2)


ELSEWHERE = """
import json, sys
from pathlib import Path
from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate

home, turns, look = Path(sys.argv[1]), json.loads(sys.argv[2]), json.loads(sys.argv[3])

@gate
def count(what: str) -> int:
    "Count a call, in a file."
    with (home / "calls").open("a") as calls:
        print(what, file=calls)
    return len((home / "calls").read_text().splitlines())

with Loom(home) as loom:
    circle = Circle(medium="code", gates=["done", count], wards=[{"max_turns": 10}])
    spell = Cantrip(llm=ScriptedLLM(turns), circle=circle, loom=loom)
    at_it = {"llm": ScriptedLLM({"": [look]})}
    if not loom.entities:
        with spell.summon(entity_id="first") as entity:
            entity.send("work")
            fork = spell.fork("first", len(turns), "look", **at_it)
    else:
        fork = spell.fork("first", len(turns), "look", **at_it)
    print(json.dumps([fork.forked_from.strategy, fork.difference, repr(fork.result)]))
"""


def test_in_another_process(tmp_path):
    """LOOM-4, LOOM-13: with all closed and opened again no gate is called, and all is the same."""
    turns = [
        "squares = (n * n for n in range(count('a') + 9))\nnext(squares)",
        "def later(seen=[]):\n    seen.append(next(squares))\n    return seen\nlater(); later()",
        "names = {word: hash(word) for word in 'some words'.split()}\nn = count('b')\ndone(n)",
    ]
    given = [json.dumps([*map(run, turns)]), json.dumps(look("count"))]
    told = []
    for _ in range(2):
        command = [sys.executable, "-c", ELSEWHERE, str(tmp_path), *given]
        ended = subprocess.run(command, capture_output=True, text=True, check=True)
        told.append(json.loads(ended.stdout))
    assert [strategy for strategy, *_ in told] == ["snapshot", "replay"]
    assert told[0][1:] == told[1][1:]
    assert (tmp_path / "calls").read_text() == "a\nb\n"


# -- whatever the programs are -------------------------------------------------------------------

NAMES = "abcd"
VALUES = (
    "[1, 2]",
    "dict(k=[0])",
    "(n for n in range(20))",
    "iter('xyz')",
    "enumerate({0})",
    "zip({0}, {1})",
    "map(str, {0})",
    "counter()",
    "Box({0})",
    "{0}",
    "random.random()",
    "({0}, {1})",
    "deque({0}, maxlen=3)",
    "defaultdict(list, k={0})",
    "[*range(3)]",
)
STEPS = (
    "{0} = {value}",
    "{0}, {1} = {1}, {0}",
    "{0}.append({value})",
    "{0}['k'] = {value}",
    "{0}.kept = {value}",
    "next({0})",
    "{0}()",
    "{0} += [{1}]",
    "{0}.extend({1})",
    "del {0}",
    "for {0} in [{value}]: pass",
    "{0} = [each for each in {1}][:3]",
    "{0} = lambda: {1}",
    "try: {0}[0]\nexcept Exception as error: {1} = error",
    "random.seed(3)",
    "print({0})",
)
BEFORE = """
import random
from collections import defaultdict, deque
def counter():
    n = 0
    def up():
        nonlocal n
        n += 1
        return n
    return up
class Box:
    def __init__(self, held): self.held = held
    def __iter__(self): return iter([self.held])
a, b, c, d = [1], {'k': 2}, iter(range(9)), counter()
"""
names = st.sampled_from(NAMES)
values = st.builds(str.format, st.sampled_from(VALUES), names, names)
steps = st.builds(
    lambda step, one, other, value: step.format(one, other, value=value),
    st.sampled_from(STEPS),
    names,
    names,
    values,
)
programs = st.lists(st.lists(steps, min_size=1, max_size=6).map("\n".join), min_size=1, max_size=4)


@settings(
    max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(programs)
def test_whatever_the_programs_are(code, sources):
    """LOOM-4, LOOM-13: also where a turn fails half-way, and whatever shares or uses up what."""
    turns = [*map(run, [BEFORE, *sources, "done(0)"])]
    own, copied, lived = looks(code([*turns, look()]), len(turns))
    assert copied == own
    assert lived == own
