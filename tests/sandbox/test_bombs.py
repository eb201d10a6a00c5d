"""Programs that go on for ever, or take all that there is: bounded, told, and survived.

Each is run in a session that has something to keep. What is promised of all of them: the turn
ends, what happened is told with the limit and what to do, and the next turn finds the state of
the last whole one.
"""

import os
import signal
import threading
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from circlet.sandbox import Execution, Limits, Sandbox
from circlet.sandbox.errors import CodecError
from circlet.sandbox.testing import SandboxOf, zygote_without

NewBox = Callable[..., Sandbox]

EVAL_MS, MEMORY_MB = 60, 64

_OF_C = "class C:\n  def {0}:\n    while True: pass\n"

HIDDEN = {
    "__repr__": _OF_C.format("__repr__(s)") + "repr([C()])",
    "__str__": _OF_C.format("__str__(s)") + "print(C())",
    "__format__": _OF_C.format("__format__(s, spec)") + "f'{C()}'",
    "__eq__": _OF_C.format("__eq__(s, o)") + "C() in [C()]",
    "__hash__": _OF_C.format("__hash__(s)") + "{C(): 1}",
    "__bool__": _OF_C.format("__bool__(s)") + "assert C()",
    "__len__": _OF_C.format("__len__(s)") + "len(C())",
    "__getattr__": _OF_C.format("__getattr__(s, n)") + "C().x",
    "__setattr__": _OF_C.format("__setattr__(s, n, v)") + "C().x = 1",
    "__set_name__": _OF_C.format("__set_name__(s, o, n)") + "class D:\n  x = C()",
    "__init_subclass__": _OF_C.format("__init_subclass__(c)") + "class D(C): pass",
    "__next__": "class C:\n  def __iter__(s): return s\n  def __next__(s): return 1\nlist(C())",
    "a property": "class C:\n  @property\n  def x(s):\n    while True: pass\nC().x",
    "a class body": "class C:\n  while True: pass",
    "a default": "f = lambda x=[0 for _ in iter(int, 1) if 0]: x",
    "a decorator": "def d(f):\n  while True: pass\n@d\ndef f(): pass",
    "a text": "exec('while True: pass')",
    "a pattern": (
        "class C:\n  __match_args__ = ('x',)\n  @property\n  def x(s):\n    while True: pass\n"
        "match C():\n  case C(1): pass"
    ),
    "__deepcopy__": "import copy\n" + _OF_C.format("__deepcopy__(s, m)") + "copy.deepcopy(C())",
    "__subclasshook__": (
        "import abc\nclass C(abc.ABC):\n  @classmethod\n  def __subclasshook__(c, k):\n"
        "    while True: pass\nisinstance(1, C)"
    ),
    "a comparison in a sort": (
        "class C:\n  def __lt__(s, o):\n    try:\n      while True: pass\n"
        "    except BaseException: return True\nsorted([C() for _ in range(10_000)])"
    ),
    "map": (
        "def f(x):\n  try:\n    while True: pass\n  finally: return 1\nlist(map(f, range(10**6)))"
    ),
    "filter": (
        "def f(x):\n  try:\n    while True: pass\n  finally: return 1\n"
        "list(filter(f, range(10**6)))"
    ),
    "reduce": (
        "import functools\ndef f(x, y):\n  try:\n    while True: pass\n  finally: return 1\n"
        "functools.reduce(f, range(10**6))"
    ),
    "re.sub": (
        "import re\ndef f(m):\n  try:\n    while True: pass\n  finally: return 'x'\n"
        "re.sub('a', f, 'a' * 10**6)"
    ),
    "a JSON default": (
        "import json\nclass C: pass\ndef f(x):\n  try:\n    while True: pass\n  finally: return 1\n"
        "json.dumps([C() for _ in range(10**4)], default=f)"
    ),
    "a JSON hook": (
        "import json\ndef f(x):\n  try:\n    while True: pass\n  finally: return 1\n"
        "json.loads('[' + '{},' * 10**4 + '{}]', object_hook=f)"
    ),
    "a heap": (
        "import heapq\nclass C:\n  def __lt__(s, o):\n    try:\n      while True: pass\n"
        "    finally: return True\nheapq.heapify([C() for _ in range(10_000)])"
    ),
    "suppress": (
        "import contextlib\nwhile True:\n  with contextlib.suppress(BaseException):\n"
        "    while True: pass"
    ),
    "an ExitStack": (
        "import contextlib\nwhile True:\n  with contextlib.ExitStack() as s:\n"
        "    s.push(lambda *_: True)\n    while True: pass"
    ),
    "a context manager": (
        "import contextlib\n@contextlib.contextmanager\ndef c():\n  try: yield\n  finally: return\n"
        "while True:\n  with c():\n    while True: pass"
    ),
    "nested finally": (
        "def f(n):\n  try:\n    while True: pass\n  finally:\n    if n: f(n - 1)\nf(50)"
    ),
    "return in finally": (
        "def f():\n  try:\n    while True: pass\n  finally: return 1\nwhile True: f()"
    ),
    "SystemExit": (
        "while True:\n  try:\n    while True: pass\n  finally:\n    try: raise SystemExit\n"
        "    except SystemExit: continue"
    ),
    "a generator's finally": (
        "def g():\n  try: yield\n  finally:\n    while True: pass\nh = g()\nnext(h)\ndel h"
    ),
    "a generator that is thrown at": (
        "def g():\n  while True:\n    try: yield\n    except BaseException: pass\n"
        "h = g()\nnext(h)\nwhile True: h.throw(ValueError)"
    ),
    "a weak reference's callback": (
        "import weakref\nclass C: pass\ndef f(r):\n  while True: pass\n"
        "c = C()\nr = weakref.ref(c, f)\ndel c"
    ),
    "weakref.finalize": (
        "import weakref\nclass C: pass\ndef f():\n  while True: pass\n"
        "c = C()\nr = weakref.finalize(c, f)\ndel c"
    ),
    "a coroutine": "async def f():\n  while True: pass\nf().send(None)",
    "a task": (
        "import asyncio\nasync def f():\n  while True:\n    try: await asyncio.sleep(0)\n"
        "    except BaseException: pass\nasyncio.run(f())"
    ),
    "tasks that sleep": (
        "import asyncio\nasync def f():\n  while True:\n    try: await asyncio.sleep(3600)\n"
        "    except BaseException: pass\nasync def m():\n"
        "  await asyncio.gather(*(f() for _ in range(10)))\nasyncio.run(m())"
    ),
    "a cache": ("import functools\n@functools.lru_cache\ndef f(x):\n  while True: pass\nf(1)"),
    "zip": "import itertools\nfor _ in zip(itertools.count(), itertools.count()): pass",
}
"""Loops in what Python calls by itself, and in what swallows an exception."""

LONG = {
    "pow": "7 ** (10 ** 9)",
    "pow modulo": "pow(3, 10**7, 10**(10**6) + 1)",
    "factorial": "import math\nmath.factorial(10**7)",
    "comb": "import math\nmath.comb(10**8, 5 * 10**7)",
    "gcd": "import math\nmath.gcd(3**(2 * 10**6), 2**(4 * 10**6) + 1)",
    "a constant": "x = 9 ** 9 ** 9",
    "int to Decimal": "import decimal\nstr(decimal.Decimal(7 ** 10**7))",
    "Fraction": "from fractions import Fraction\nFraction('1e1000000000')",
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
    "another": "import re\nre.search('(.*)*x', 'a' * 10**5)",
    "its compilation": "import re\nre.compile('|'.join(f'abc{n}' for n in range(10**6)))",
    "strptime": "import datetime\ndatetime.datetime.strptime('1' * 10**6, '%d' * 10**5)",
    "keys of one hash": "d = {}\nfor n in range(10**6): d[n * ((1 << 61) - 1)] = 1",
    "print": "while True: print('x' * 1_000)",
    "print nothing": "while True: print(end='')",
    "logging": "import logging\nwhile True: logging.warning('x' * 1_000)",
}
"""Single operations of C and floods that the deadline reaches."""

UNREACHABLE = {
    "sum": "sum(range(10**12))",
    "keys of one hash": "dict.fromkeys([n * ((1 << 61) - 1) for n in range(60_000)])",
    "an iterator into a deque": (
        "import collections, itertools\n"
        "collections.deque(itertools.product(range(1_000), repeat=6), maxlen=0)"
    ),
    "a search": "import itertools\n'x' in itertools.count()",
    "Decimal": (
        "import decimal\ndecimal.getcontext().prec = 10**6\n"
        "decimal.Decimal(2) ** decimal.Decimal('0.5')"
    ),
    "Unicode": "import unicodedata\nunicodedata.normalize('NFC', 'a' + '\\u0300\\u0316' * 10**6)",
    "a finalizer": "def g():\n  try: yield\n  finally: sum(range(10**12))\nh = g()\nnext(h)\ndel h",
}
"""Single operations of C that no signal reaches."""

HUNGRY = {
    "a text": "'ab' * 10**11",
    "a list": "[0] * 10**10",
    "bytes": "bytes(10**12)",
    "a range": "list(range(10**12))",
    "a set": "set(range(10**9))",
    "a constant": "x = 1 << 10**10",
    "large pieces": "x = []\nwhile True: x.append(bytes(1 << 20))",
    "an array that grows": "x = bytearray()\nwhile True: x.extend(bytes(1 << 20))",
    "small pieces": "x = []\nwhile True: x.extend([[] for _ in range(10_000)])",
    "dictionaries": "x = []\nwhile True: x.extend([{1: [n]} for n in range(10_000)])",
    "a list in a list": "x = []\nwhile True:\n  for _ in range(10_000): x = [x]",
    "joined": "import itertools\n''.join(itertools.repeat(''))",
    "an argument list": "def f(*a): pass\nf(*iter(int, 1))",
    "a starred target": "a, *b = iter(int, 1)",
    "replace": "('a' * 10**4).replace('a', 'b' * 10**6)",
    "translate": "('a' * 10**6).translate({97: 'b' * 10**6})",
    "a format's width": "f'{1:{10**10}}'",
    "%'s width": "'%10000000000d' % 1",
    "struct": "import struct\nstruct.pack('1000000000x')",
    "Decimal": "import decimal\nint(decimal.Decimal('1e1000000000'))",
    "JSON": "import json\njson.dumps([1.5] * 10**7)",
    "zlib": (
        "import zlib\nc = zlib.compressobj()\n"
        "packed = b''.join([*(c.compress(bytes(10**6)) for _ in range(100)), c.flush()])\n"
        "zlib.decompress(packed)"
    ),
    "gzip": "import gzip\ngzip.decompress(gzip.compress(bytes(10**7)) * 50)",
    "lzma": "import lzma\nlzma.compress(b'x' * 10**6, preset=9)",
    "a dictionary of lzma": (
        "import lzma\nfilters = [{'id': lzma.FILTER_LZMA2, 'dict_size': 1 << 30}]\n"
        "lzma.LZMACompressor(filters=filters).compress(b'x')"
    ),
    "a generator kept by a traceback": (
        "def f():\n  big = bytearray(40 << 20)\n  bytearray(40 << 20)\nf()"
    ),
}
"""More memory than there is: at once, bit by bit, unpacked."""

DEEP = {
    "a function": "def f(n): return f(n + 1)\nf(0)",
    "a sort key": "def f(n): return sorted([1], key=lambda v: f(n + 1))\nf(0)",
    "__getattr__": "class C:\n  def __getattr__(s, n): return getattr(s, n + 'x')\nC().a",
    "__eq__": "class C:\n  def __eq__(s, o): return [s] == [o]\nC() == C()",
    "__hash__": "class C:\n  def __hash__(s): return hash((s,))\nhash(C())",
    "__repr__": "class C:\n  def __repr__(s): return repr({1: [s]})\nrepr(C())",
    "__str__": "class C:\n  def __str__(s): return '%s' % (s,)\nstr(C())",
    "__format__": "class C:\n  def __format__(s, spec): return f'{s}'\nf'{C()}'",
    "yield from": "def g(n): yield from g(n + 1)\nlist(g(0))",
    "await": "import asyncio\nasync def f(): await f()\nasyncio.run(f())",
    "exec": "text = 'exec(text)'\nexec(text)",
    "re.sub": "import re\ndef f(m): return re.sub('a', f, 'a')\nf(0)",
    "json.dumps": "import json\nclass C: pass\ndef f(o): return json.dumps(o, default=f)\nf(C())",
    "reduce": "import functools\ndef f(a, b): return functools.reduce(f, [1, 2])\nf(1, 2)",
    "with": "import contextlib\ndef f():\n  with contextlib.suppress(ValueError): f()\nf()",
    "class": (
        "class M:\n  def __init_subclass__(c): make()\ndef make():\n  class D(M): pass\nmake()"
    ),
    "lists that hold themselves": "a, b = [], []\na.append(a)\nb.append(b)\na == b",
}
"""Calls inside calls, by Python and through C."""

NESTED = {
    "repr": "repr(x)",
    "json": "import json\njson.dumps(x)",
    "deepcopy": "import copy\ncopy.deepcopy(x)",
    "==": "x == [[x]]",
    "the value": "x",
    "a gate": "echo(x)",
    "done": "done(x)",
    "an error": "raise ValueError(x)",
    "deleting it": "del x",
}
"""What is done with a list 100,000 deep."""

SOURCES = {
    "statements": "x = 1\n" * 1_600_000,
    "parentheses": "(" * 10**6 + ")" * 10**6,
    "minuses": "-" * 10**6 + "1",
    "a sum": "x = " + "+".join(["1"] * 10**6),
    "comparisons": "1" + "<2" * 10**6,
    "attributes": "x = 1\nx" + ".a" * 10**5,
    "calls": "f" + "()" * 10**5,
    "branches": "if 0: pass\n" + "elif 0: pass\n" * 10**5,
    "lambdas": "x = " + "lambda: " * 10**5 + "1",
    "decorators": "@f\n" * 10**5 + "def f(): pass",
    "parameters": "def f(" + ",".join(f"a{n}" for n in range(10**5)) + "): pass",
    "constants": "x = [" + ",".join(map(str, range(10**6))) + "]",
    "pairs": "x = {" + ",".join(f"{n}: {n}" for n in range(3 * 10**5)) + "}",
    "names": "\n".join(f"v{n} = {n}" for n in range(3 * 10**5)),
    "an identifier": "a" * 10**7 + " = 1",
    "a text": "x = '" + "a" * 10**7 + "'",
    "wide characters": "x = '" + "\U0001f600" * 2 * 10**6 + "'",
    "an int": "x = " + "9" * 10**6,
    "a comment": "#" * 10**7,
    "lines": "\n" * 10**7,
    "an indent": "if 1:\n" + " " * 10**7 + "pass",
    "an error at the end": "x = 1\n" * 10**5 + "y = (",
}
"""Sources that are huge, or nest deep."""


@pytest.fixture(scope="module")
def tight(backend: Any) -> Iterator[Sandbox]:
    """A session that has little time and little memory."""
    with Sandbox(
        gates={"echo": lambda value=None: value},
        limits=Limits(eval_ms=EVAL_MS, memory_mb=MEMORY_MB),
        backend=backend,
    ) as session:
        yield session


@pytest.fixture(scope="module")
def narrow(backend: Any) -> Iterator[Sandbox]:
    """A session that has little memory."""
    with Sandbox(limits=Limits(eval_ms=5_000, memory_mb=MEMORY_MB), backend=backend) as session:
        yield session


def survive(session: Sandbox, source: str, *, begin: bool = True) -> Execution:
    """Run a program; its turn has ended, and the next finds the state of the last whole one."""
    session.run("for name in [n for n in globals() if len(n) < 5]: del globals()[name]")
    session.run("keep = [1]")
    run = session.run(f"print('begun')\n{source}" if begin else source)
    assert run.state in ("kept", "rolled_back")
    if begin:
        assert run.stdout.startswith("begun\n")
    after = session.run("keep")
    assert (after.status, after.value) == ("ok", [1])
    return run


@pytest.mark.parametrize("name", HIDDEN)
def test_a_loop_is_stopped_wherever_it_hides(tight: Sandbox, name: str) -> None:
    """Time: the turn is stopped, its state is kept, and the limit is told."""
    run = survive(tight, HIDDEN[name])
    assert (run.status, run.state) == ("timeout", "kept")
    assert f"stopped after {EVAL_MS} ms, its limit" in str(run)
    assert "smaller steps" in str(run)


@pytest.mark.parametrize("name", LONG)
def test_a_long_operation_is_stopped(tight: Sandbox, name: str) -> None:
    """Time: what C code asks for signals in is stopped as a loop is."""
    run = survive(tight, LONG[name])
    assert (run.status, run.state) == ("timeout", "kept")
    assert f"stopped after {EVAL_MS} ms, its limit" in str(run)


@pytest.mark.parametrize("name", UNREACHABLE)
def test_an_operation_that_no_signal_reaches_is_killed(tight: Sandbox, name: str) -> None:
    """Time: the process is killed, which is told, and the session goes back to its last turn."""
    run = survive(tight, UNREACHABLE[name])
    assert (run.status, run.state) == ("timeout", "rolled_back")
    assert f"longer than {EVAL_MS} ms in one operation that can't be interrupted" in str(run)
    assert "rolled back to the end of turn" in str(run)


@pytest.mark.parametrize("name", HUNGRY)
def test_memory_that_is_not_there_is_an_error(narrow: Sandbox, name: str) -> None:
    """Memory: the program gets MemoryError, the limit is told, and its state is kept."""
    run = survive(narrow, HUNGRY[name])
    assert (run.status, run.state) == ("memory", "kept")
    assert f"the limit is {MEMORY_MB} MiB for all that is kept: hold less" in str(run)


FULL = """
held = []
for size in (1 << 16, 1 << 10, 1 << 5):
    try:
        while True:
            held.append(bytearray(size))
    except MemoryError:
        pass
"""


@pytest.mark.parametrize("deep", ["sorted([1], key=lambda v: f(n + 1))", "f(n + 1)"])
def test_with_its_memory_full_a_program_may_still_call_deep(new_box: NewBox, deep: str) -> None:
    """Memory: the stack that calls take is there from the beginning, and is not the program's."""
    session = new_box(memory_mb=MEMORY_MB)
    session.run(f"import sys\nsys.setrecursionlimit(20_000)\ndef f(n): return {deep}")
    session.run(FULL)
    run = session.run("f(0)")
    assert run.state == "kept"
    assert run.status in ("error", "memory")
    assert session.run("len(held) > 100").value is True


@pytest.mark.parametrize("piece", ["bytearray(size)", "{size: [size] * (size // 64)}"])
def test_a_session_whose_memory_is_full_goes_on(new_box: NewBox, piece: str) -> None:
    """Memory: the runner has some of its own, so that the program can let go of what it holds."""
    session = new_box(memory_mb=MEMORY_MB)
    session.run("keep = [1]")
    session.run(FULL.replace("bytearray(size)", piece))
    for _ in range(20):
        # One that fails can't be run again: an image is written after it where nothing is parked.
        for source in ("more = bytearray(1 << 20)", "x = 1", "'word ' * 1_000"):
            run = session.run(source)
            assert run.state == "kept"
            assert run.status in ("ok", "memory")
    with pytest.raises(CodecError, match=f"{MEMORY_MB} MiB"):
        session["given"] = "g" * 20_000_000
    assert session.run("held.clear()").status == "ok"
    assert session.run("len([bytearray(1 << 20) for _ in range(40)])").value == 40
    assert session["keep"] == [1]


def test_what_there_is_no_room_for_is_told(backend: Any) -> None:
    """Memory: a gate's answer, a source or a variable that does not fit costs nothing else."""
    with Sandbox(
        gates={"fetch": lambda: b"x" * (100 << 20)},
        limits=Limits(memory_mb=MEMORY_MB),
        backend=backend,
    ) as session:
        for source in ("fetch()", "#" * (100 << 20)):
            run = survive(session, source, begin=False)
            assert (run.status, run.state) == ("memory", "kept")
            assert f"the limit is {MEMORY_MB} MiB" in str(run)
        assert "nothing was run" in str(run)
        session.run("try:\n    fetch()\nexcept MemoryError:\n    caught = True")
        with pytest.raises(CodecError, match=f"{MEMORY_MB} MiB"):
            session["given"] = b"x" * (100 << 20)
        assert session.run("keep, caught").value == ([1], True)


@pytest.mark.parametrize("limit", [1_000, 20_000])
@pytest.mark.parametrize("name", DEEP)
def test_recursion_is_an_error(box: Sandbox, name: str, limit: int) -> None:
    """Recursion: an error that the program can act on, also where it has raised the limit."""
    run = survive(box, f"import sys\nsys.setrecursionlimit({limit})\n{DEEP[name]}")
    assert (run.status, run.state) == ("error", "kept")
    assert run.error is not None
    assert run.error.type == "RecursionError"


@pytest.mark.parametrize("name", NESTED)
def test_what_nests_deep_is_an_error_at_most(box: Sandbox, name: str) -> None:
    """Recursion: a value that nests 100,000 deep is shown in part, or is an error."""
    run = survive(box, f"x = []\nfor _ in range(100_000): x = [x]\n{NESTED[name]}")
    assert run.state == "kept"
    assert run.status in ("ok", "error")
    if run.error:
        assert run.error.type in ("RecursionError", "ValueError")
    assert len(str(run)) < 3_000


@pytest.mark.kernel
@pytest.mark.parametrize(
    "crash",
    [
        "import ctypes\nctypes.string_at(0)",
        "import os\nos.abort()",
        "import os\nos._exit(0)",
        "import sys\nsys.setrecursionlimit(10**9)\ndef f(n): return sorted([1], key=f)\nf(0)",
        "x = iter([1])\nfor _ in range(10**6): x = map(abs, x)\nnext(x)",
    ],
)
def test_a_crash_of_the_interpreter_is_survived(crash: str) -> None:
    """A fault in C, or a stack that overflows, is told, and the last turn's state is there."""
    limits = Limits(memory_mb=1_500)
    with (
        zygote_without("language") as zygote,
        SandboxOf(zygote, limits=limits) as session,
    ):
        run = survive(session, crash)
        assert run.status in ("crashed", "error")
        if run.status == "crashed":
            assert "the process died" in str(run)
            assert "rolled back to the end of turn" in str(run)


@pytest.mark.parametrize("name", SOURCES)
def test_a_huge_source_is_survived(narrow: Sandbox, name: str) -> None:
    """Source: it runs, or an error says what is too much for it; it never costs the state."""
    run = survive(narrow, SOURCES[name], begin=False)
    assert run.state == "kept" or run.status == "timeout"
    if run.status == "error":
        assert run.error is not None
        assert run.error.type in ("SyntaxError", "Refused")
    assert len(str(run)) < 3_000


def test_huge_sources_do_not_pile_up(new_box: NewBox) -> None:
    """Source: what is kept of sources for later tracebacks leaves the program its memory."""
    session = new_box(memory_mb=MEMORY_MB)
    for _ in range(20):
        assert session.run("#" * 4_000_000).status == "ok"


@pytest.mark.parametrize(
    ("source", "length"),
    [
        ("for _ in range(300_000): print('x' * 99)", 30_000_000),
        ("print('y' * 25_000_000)", 25_000_001),
        ("print('a')\nprint('y' * 9_000_000)\nprint('z' * 9_000_000)", 18_000_004),
        ("print('z' * 9_000_000)\nprint('y' * 9_000_000)\nprint('a')", 18_000_004),
        ("print('\\ud800' * 6_000_000)\nprint('\\ud800' * 6_000_000)", 12_000_002),
        ("print('\\x1b[31m\\x00' * 2_000_000)", 12_000_001),
    ],
)
def test_a_flood_of_output_is_bounded(new_box: NewBox, source: str, length: int) -> None:
    """Output: head and tail are kept, and exactly how much lies between them is told."""
    session = new_box(memory_mb=MEMORY_MB)
    run = survive(session, f"print(end='')\n{source}", begin=False)
    assert (run.status, run.state) == ("ok", "kept")
    head, mark, tail = run.stdout.partition("\n[... ")
    count, _, tail = tail.partition(" characters left out ...]\n")
    assert mark
    assert (len(head), len(tail)) == (5_000_000, 5_000_000)
    assert len(head) + int(count.replace(",", "")) + len(tail) == length
    assert len(str(run)) < 21_000


def test_control_characters_and_lone_surrogates_stay_as_they_are(new_box: NewBox) -> None:
    """Output: what is printed comes as it is, and does not cost the turn."""
    run = survive(new_box(), "print('\\x1b[31m\\x07\\x00\\x9b\\ud800')")
    assert run.stdout == "begun\n\x1b[31m\x07\x00\x9b\ud800\n"


COLLIDING = "{n * ((1 << 61) - 1): 1 for n in range(4_000)}"


def test_keys_of_one_hash_do_not_reach_the_host_unasked(box: Sandbox) -> None:
    """Hash flooding: the host decodes such keys where its caller asks for the value, only."""
    for gate in ("echo", "done"):
        run = survive(box, f"{gate}({COLLIDING})")
        assert run.status == "error"
        assert run.error is not None
        assert run.error.type == "ValueError"
        assert "keys" in run.error.message
        assert run.gate_calls == ()
    assert survive(box, COLLIDING).status == "ok"


MEANWHILE = {
    "a loop": "while True: pass",
    "one long operation": "sum(range(10**15))",
    "output": "while True: print('x' * 1_000)",
    "gate calls": "while True: echo()",
    "memory": (
        "x = []\nwhile True:\n  try: x.append(bytes(1 << 16))\n  except MemoryError: x.clear()"
    ),
    "a regular expression": "import re\nre.match('(a+)+$', 'a' * 60 + 'b')",
}


@pytest.mark.parametrize("name", MEANWHILE)
def test_another_session_is_answered_meanwhile(backend: Any, name: str) -> None:
    """A program that does its worst keeps nobody else from working: told by the order of events."""
    events: list[str] = []
    begun = threading.Event()

    def begin() -> None:
        events.append("begun")
        begun.set()

    def run() -> None:
        runs.append(busy.run(f"begin()\n{MEANWHILE[name]}"))
        events.append("ended")

    runs: list[Execution] = []
    gates = {"begin": begin, "echo": lambda: None}
    limits = Limits(eval_ms=600_000, memory_mb=MEMORY_MB)
    with (
        Sandbox(gates=gates, limits=limits, backend=backend) as busy,
        Sandbox(backend=backend) as other,
    ):
        busy.run("keep = 1")
        pid = busy.pid
        assert pid is not None
        thread = threading.Thread(target=run)
        thread.start()
        begun.wait()
        assert other.run("6 * 7").value == 42
        events.append("answered")
        os.kill(pid, signal.SIGKILL)
        thread.join()
        assert events == ["begun", "answered", "ended"]
        assert (runs[0].status, runs[0].state) == ("crashed", "rolled_back")
        assert busy.run("keep").value == 1
