"""Durable images: what is kept, what is named, who is trusted, and what outlives the process."""

import os
import signal
import stat
import subprocess
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import AsyncSandbox, Limits, Sandbox
from circlet.sandbox.errors import (
    CannotDump,
    ImageError,
    ImageMismatch,
    SandboxClosed,
    UntrustedImage,
)
from circlet.sandbox.images import envelope
from hypothesis import given, settings
from hypothesis import strategies as st


@pytest.fixture(scope="module", autouse=True)
def key(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """A key of the tests' own."""
    path: Path = tmp_path_factory.mktemp("key") / "image.key"
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv(envelope.KEY_FILE, str(path))
        yield path


Again = Callable[..., Any]


@pytest.fixture(scope="module")
def again(backend: Any) -> Again:
    """What turns give in a session that was loaded from the image of one that ran others."""

    def run(*turns: str, asked: str, **options: Any) -> Any:
        with Sandbox(backend=backend, **options) as box:
            for turn in turns:
                ran = box.run(turn)
                assert ran.status == "ok", ran
            image = box.dump()
        with Sandbox.load(image, trust=backend == "portable", backend=backend, **options) as twin:
            ran = twin.run(asked)
            assert ran.status == "ok", ran
            return ran.value

    return run


# -- what is kept --------------------------------------------------------------------------------

CLASSES = """
from abc import ABC, abstractmethod
from dataclasses import dataclass, field
from enum import Enum, Flag, auto
from typing import Generic, NamedTuple, Optional, Protocol, TypedDict, TypeVar, runtime_checkable
import collections, contextlib, functools
class Level(Enum):
    LOW = 1
    HIGH = 2
    BIG = 2
    def up(self): return Level(self.value + 1)
class Planet(Enum):
    EARTH = (1, 2)
    def __init__(self, mass, radius):
        self.mass = mass
        self._radius = radius
    @property
    def both(self): return self.mass, self._radius
class Mode(Flag):
    R = auto()
    W = auto()
@dataclass
class Node:
    name: str
    kids: list = field(default_factory=list)
    weight: int = 5
    @property
    def size(self): return 1 + sum(kid.size for kid in self.kids)
class Leaf(Node):
    pass
class Loud(Leaf):
    def __repr__(self): return super().__repr__().upper()
@dataclass(frozen=True, order=True)
class Point:
    x: int
    note: "Optional[Node]" = field(default=None, compare=False)
@dataclass(slots=True)
class Slim:
    a: int
    b: int = 3
class Pair(NamedTuple):
    a: int
    b: str = "q"
    def swapped(self): return self.b, self.a
T = TypeVar("T")
class Box(Generic[T]):
    def __init__(self, value: T): self._value = value
    def get(self) -> T: return self._value
class Shape(ABC):
    @abstractmethod
    def area(self): ...
    @classmethod
    def unit(cls): return cls()
class Square(Shape):
    __slots__ = ("_side",)
    def __init__(self, side=1): self._side = side
    def area(self): return self._side ** 2
    @staticmethod
    def name(): return "square"
@runtime_checkable
class HasArea(Protocol):
    def area(self): ...
class Options(TypedDict, total=False):
    depth: int
class Registered:
    names = []
    def __init_subclass__(cls, **keywords): Registered.names.append(cls.__name__)
class One(Registered):
    pass
class Temperature:
    def __init__(self): self.__degrees = 20
    @property
    def degrees(self): return self.__degrees
    @degrees.setter
    def degrees(self, value): self.__degrees = value
    @functools.cached_property
    def half(self): return self.__degrees / 2
@functools.total_ordering
class Ranked:
    def __init__(self, rank): self.rank = rank
    def __eq__(self, other): return self.rank == other.rank
    def __lt__(self, other): return self.rank < other.rank
class Failure(ValueError):
    def __init__(self, code):
        super().__init__(f"failed with {code}")
        self.code = code
class Defaults(dict):
    def __missing__(self, key): return f"no {key}"
class Items(list):
    pass
"""


@pytest.mark.parametrize(
    ("turn", "asked", "value"),
    [
        ("x = [1]; y = {'x': x}; z = y", "z['x'].append(2); x, y is z", ([1, 2], True)),
        ("x = []; x.append(x); t = (x,)", "x[0] is x, t[0] is x", (True, True)),
        (
            "tree = Node('r', [Leaf('a'), Node('b', [Loud('c')])]); tree.kids[0].up = tree",
            "tree.size, repr(tree.kids[1].kids[0])[:4], tree.kids[0].up is tree, Node('z').weight",
            (4, "LOUD", True, 5),
        ),
        (
            "level = Level.HIGH; mode = Mode.R | Mode.W",
            "level is Level.BIG, Level.LOW.up() is level, mode == Mode(3), Planet.EARTH.both",
            (True, True, True, (1, 2)),
        ),
        (
            "found = {Point(1): 'one'}; seen = {Point(2)}",
            "found[Point(1)], Point(2) in seen, Point(1) < Point(2), repr(Point(3))",
            ("one", True, True, "Point(x=3, note=None)"),
        ),
        ("s = Slim(1)", "s.b, Slim(2).a, hasattr(s, '__dict__')", (3, 2, False)),
        ("p = Pair(3)", "p.swapped(), Pair(1)._replace(b='c').b, p.b", (("q", 3), "c", "q")),
        ("b: Box[int] = Box(3)", "b.get(), str(Box[int]), __annotations__ != {}", None),
        (
            "sq = Square(3)",
            "sq.area(), Square.unit().area(), sq.name(), isinstance(sq, HasArea), "
            "isinstance(1, HasArea)",
            (9, 1, "square", True, False),
        ),
        ("o = Options(depth=1)", "o, Options.__total__", ({"depth": 1}, False)),
        ("", "class Two(Registered): pass\nRegistered.names", ["One", "Two"]),
        (
            "t = Temperature(); h = t.half; t.degrees = 30",
            "t.degrees, t.half, Temperature().half",
            (30, 10, 10),
        ),
        ("", "Ranked(1) <= Ranked(1), Ranked(1) >= Ranked(2)", (True, False)),
        (
            "try:\n    raise Failure(3) from KeyError('k')\nexcept Failure as error:\n"
            "    error.add_note('n'); kept = error",
            "str(kept), kept.code, repr(kept.__cause__), kept.__notes__",
            ("failed with 3", 3, "KeyError('k')", ["n"]),
        ),
        (
            "d = Defaults(a=1); i = Items([1]); i.tag = 't'; i.append(i)",
            "d['a'], d['b'], i.tag, i[1] is i",
            (1, "no b", "t", True),
        ),
        ("sentinel = object(); also = sentinel", "also is sentinel", True),
        (
            "def make(): return Local\nclass Local: pass\nlocal = Local()",
            "type(local) is make()",
            True,
        ),
    ],
)
def test_classes_and_their_objects_are_kept(
    again: Again, turn: str, asked: str, value: Any
) -> None:
    """Objects come back with their classes, identities, private state and methods."""
    got = again(CLASSES, turn, asked=asked)
    assert got == value if value is not None else got


FUNCTIONS = """
import contextlib, functools, math as m
from operator import attrgetter, itemgetter
base = 10
def counter(step=1, *, start=0):
    n = start
    def bump():
        nonlocal n
        n += step
        return n
    def peek(): return n
    return bump, peek
def fact(n): return 1 if n < 2 else n * fact(n - 1)
@functools.lru_cache(maxsize=3)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
@functools.lru_cache(typed=True)
def same(v): return v
@contextlib.contextmanager
def tag(name, log=[]):
    log.append(name); yield log; log.append("/" + name)
@functools.singledispatch
def kind(x): return "any"
@kind.register
def _(x: int): return "int"
def annotated(a: int, *rest: str, b: "float" = 2.5) -> list[int]:
    "What it does."
    return [a, b]
annotated.calls = 3
"""


@pytest.mark.parametrize(
    ("turn", "asked", "value"),
    [
        ("bump, peek = counter(2, start=1); bump()", "bump(), bump(), peek()", (5, 7, 7)),
        ("", "fact(5), fib(30), fib.cache_parameters()['maxsize'], same(1)", (120, 832040, 3, 1)),
        ("with tag('x') as log: pass", "with tag('y') as log: pass\nlog", ["x", "/x", "y", "/y"]),
        ("", "kind(1), kind('')", ("int", "any")),
        ("fs = [lambda v: v + 1, lambda v: v + 2]", "[f(base) for f in fs]", [11, 12]),
        ("f = lambda: base", "base = 100\nf()", 100),
        (
            "",
            "annotated(1), annotated.__doc__, annotated.calls, annotated.__annotations__['b']",
            ([1, 2.5], "What it does.", 3, "float"),
        ),
        ("half = functools.partial(pow, exp=2)", "half(3), m.sqrt(81)", (9, 9.0)),
        ("up = 'a'.upper; add = [].append; m2 = str.lower", "up(), m2('B')", ("A", "b")),
        ("get = itemgetter(1); name = attrgetter('real')", "get('ab'), name(3)", ("b", 3)),
        ("exec('def texted(a): return a * 2')", "texted(4)", 8),
        ("", "import inspect\ninspect.getsource(fact)[:8]", "def fact"),
        (
            "alias = len; Kind = int; e = KeyError",
            "alias('ab'), Kind('3'), e.__name__",
            (2, 3, "KeyError"),
        ),
        (
            "class A:\n    def __init__(self): self._v = 3\n    def get(self): "
            "return (lambda: self._v)\ng = A().get()",
            "g()",
            3,
        ),
    ],
)
def test_functions_are_kept(again: Again, turn: str, asked: str, value: Any) -> None:
    """Functions come back with closures that they share, defaults, caches' sizes and sources."""
    assert again(FUNCTIONS, turn, asked=asked) == value


IMPORTS = """
import re
from array import array
from collections import ChainMap, Counter, OrderedDict, defaultdict, deque
from collections.abc import Callable
from datetime import datetime, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from http import HTTPStatus
from ipaddress import ip_network
from pathlib import Path
from types import SimpleNamespace
from typing import Optional
from urllib.parse import urlsplit
from uuid import UUID
"""


@pytest.mark.parametrize(
    "made",
    [
        "Decimal('1.10')",
        "Fraction(1, 3)",
        "datetime(2024, 1, 2, 3, tzinfo=timezone.utc)",
        "datetime(2024, 1, 2, 3, fold=1)",
        "timedelta(3)",
        "Counter('abca')",
        "OrderedDict(b=1, a=2)",
        "defaultdict(list, {1: [2]})",
        "deque([1, 2], 3)",
        "ChainMap({1: 2}, {3: 4})",
        "array('d', [1.5])",
        "re.compile('a+', re.I)",
        "Path('a/b')",
        "UUID(int=5)",
        "ip_network('10.0.0.0/8')",
        "complex(1, 2)",
        "bytearray(b'x')",
        "range(1, 9, 2)",
        "slice(1, 2)",
        "frozenset({1})",
        "re.I | re.M",
        "HTTPStatus.OK",
        "urlsplit('http://a/b?c')",
        "SimpleNamespace(a=1)",
        "Optional[int]",
        "list[int] | None",
        "Callable[[int], str]",
        "NotImplemented",
        "type(None)",
    ],
)
def test_values_of_the_library_are_kept(again: Again, made: str) -> None:
    """What the library's classes hold comes back equal, with its type."""
    asked = f"fresh = {made}\nvalue == fresh and type(value) is type(fresh)"
    assert again(IMPORTS + f"value = {made}", asked=asked) is True


def test_iterators_and_generators_of_numbers_go_on(again: Again) -> None:
    """What an iterator has left, and what random numbers come next, is kept; so is precision."""
    turn = (
        "import random, itertools, decimal\nit = iter([1, 2, 3]); next(it)\n"
        "rest = map(str, iter((4, 5))); n = itertools.count(7)\nown = random.Random(1)\n"
        "decimal.getcontext().prec = 5\nrandom.seed(2); own_state = own.getstate()\n"
        "before = random.getstate()"
    )
    asked = (
        "list(it), list(rest), next(n), own.getstate() == own_state, "
        "random.getstate() == before, str(decimal.Decimal(1) / 3)"
    )
    assert again(turn, asked=asked) == ([2, 3], ["4", "5"], 7, True, True, "0.33333")


def test_an_object_is_a_key_by_what_its_hash_uses(again: Again) -> None:
    """Classes, functions and earlier variables are there before an object is put into a dict."""
    turn = (
        "SALT = 3\ndef helper(v, s): return (v, s)\nclass K:\n"
        "    def __init__(self, v): self.v = v\n"
        "    def __hash__(self): return hash(helper(self.v, SALT))\n"
        "    def __eq__(self, other): return self.v == other.v\nkept = {K(1): 'one'}"
    )
    assert again(turn, asked="kept[K(1)]") == "one"


def test_a_long_chain_of_objects_is_kept(again: Again) -> None:
    """Objects that refer to one another in a long chain don't count as nesting."""
    turn = (
        "class N:\n    def __init__(self, next): self.next = next\nhead = None\n"
        "for _ in range(20_000): head = N(head)"
    )
    asked = "n, at = 0, head\nwhile at: n, at = n + 1, at.next\nn"
    assert again(turn, asked=asked) == 20_000


def test_an_image_of_an_image() -> None:
    """A session that was loaded can be kept again, its functions too."""
    with Sandbox() as box:
        box.run("exec('def f(): return 1')\ndef g(): return f() + 1")
        first = box.dump()
    trust = box.backend == "portable"
    with Sandbox.load(first, trust=trust) as box:
        box.run("exec('def h(): return g() + 1')")
        second = box.dump()
    with Sandbox.load(second, trust=trust) as box:
        assert box.run("f(), g(), h()").value == (1, 2, 3)


PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats(allow_nan=False)
    | st.text()
    | st.binary(),
    lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner) | st.tuples(inner, inner),
    max_leaves=20,
)


@given(value=PLAIN)
@settings(max_examples=25)
def test_plain_values_are_kept_with_their_types(value: Any) -> None:
    """Whatever plain value the host sets is there again, of the same type throughout."""
    with Sandbox(checkpoints=0) as box:
        box["value"] = value
        image = box.dump()
    with Sandbox.load(image, trust=box.backend == "portable", checkpoints=0) as twin:
        assert repr(twin["value"]) == repr(value)


# -- what can't be kept ----------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("made", "reason"),
    [
        ("(n for n in [1])", "the class generator can't be kept; keep a list"),
        ("[{1: (n for n in [1])}]", "the class generator can't be kept"),
        ("nothing()", "await it first"),
        ("asyncio.Lock()", "the class Lock can't be kept"),
        ("{}.keys()", "keep a list of it"),
        ("memoryview(b'')", "keep bytes(...)"),
        ("re.match('a', 'a')", "keep its groups"),
        ("holder", "the class generator can't be kept"),
        ("space['f']", "define it in a turn"),
        ("deep", "nests too deep"),
    ],
)
def test_what_cannot_be_kept_is_named(
    new_box: Callable[..., Sandbox], made: str, reason: str
) -> None:
    """The error names each variable and the reason; the session goes on; ``skip`` leaves it out."""
    box = new_box()
    box.run(
        "import asyncio, re\nasync def nothing(): pass\ndef holding():\n"
        "    hidden = (n for n in [1])\n    return lambda: hidden\n"
        "holder = holding()\nspace = {}\nexec('def f(): pass', space)\ndeep = []\n"
        f"for _ in range(50_000): deep = [deep]\nkept = 1\nbad = {made}\n"
        "for name in ('holder', 'space', 'deep'):\n    if name != 'bad': del globals()[name]"
    )
    with pytest.raises(CannotDump) as caught:
        box.dump()
    assert list(caught.value.reasons) == ["bad"]
    assert reason in caught.value.reasons["bad"]
    assert f"- bad: {caught.value.reasons['bad']}" in str(caught.value)
    image = box.dump(skip=True)
    assert box.run("kept, 'bad' in globals()").value == (1, True)
    options: Any = {"trust": box.backend == "portable", "backend": box.backend}
    with Sandbox.load(image, gates=box._settings.gates, **options) as twin:
        assert list(twin.left_out) == ["bad"]
        assert "- bad: " in str(twin.run("kept"))
        assert twin.run("kept").value == 1


def test_a_lying_object_is_not_asked(new_box: Callable[..., Sandbox]) -> None:
    """Writing an image runs none of the program's code."""
    box = new_box()
    box.run(
        "class Loud:\n"
        "    def __getattr__(self, name): print(name); raise AttributeError(name)\n"
        "    def __iter__(self): print('iter'); return iter(())\n"
        "    def __eq__(self, other): print('eq'); return True\n"
        "    def __hash__(self): print('hash'); return ran.append(1) or 1\n"
        "    def __copy__(self): print('copy'); return self\n"
        "class Listed(Loud, list): pass\nran = []\nkept = {Loud(): Listed()}; ran.clear()"
    )
    box.dump()
    assert box.run("ran").value == []


def test_an_image_has_a_largest_size(new_box: Callable[..., Sandbox]) -> None:
    """A state that takes more memory to write than there is, is refused; the session goes on."""
    box = new_box(memory_mb=64)
    assert box.run("data = bytes(60_000_000)").status == "ok"
    with pytest.raises(CannotDump, match="memory"):
        box.dump()
    assert box.run("len(data)").value == 60_000_000


# -- the session afterwards ------------------------------------------------------------------------


def test_a_loaded_session_goes_on_like_any_other(new_box: Callable[..., Sandbox]) -> None:
    """Gates are the new session's, turns are counted on, and limits and modules are kept."""
    box = new_box(eval_ms=5_000)
    box.run("kept = echo\nn = 1")
    image = box.dump()
    heard: list[Any] = []
    options: Any = {"trust": box.backend == "portable", "backend": box.backend}
    gates = {"echo": lambda value: heard.append(value), "fail": print}
    with Sandbox.load(image, gates=gates, **options) as twin:
        assert twin.run("kept(n); 1 / 0").error is not None
        assert heard == [1]
        assert "<turn 3>" in str(twin.run("1 / 0"))
        assert twin.limits == Limits(eval_ms=5_000)


def test_a_loaded_session_survives_its_worker(new_box: Callable[..., Sandbox]) -> None:
    """A loaded state is part of the session's past: it is there again after a crash."""
    box = new_box()
    box.run("n = [1]")
    options: Any = {"trust": box.backend == "portable", "backend": box.backend}
    with Sandbox.load(box.dump(), gates=box._settings.gates, **options) as twin:
        assert twin.pid
        os.kill(twin.pid, signal.SIGKILL)
        assert twin.run("n").state != "lost"
        assert twin.run("n").value == [1]


def test_what_an_image_needs_is_named(new_box: Callable[..., Sandbox]) -> None:
    """A gate or a module that the new session lacks, or a clash of names, is named."""
    box = new_box()
    box.run("import json\nmine = 1")
    image = box.dump()
    options: Any = {"trust": True, "backend": box.backend}
    with pytest.raises(ImageMismatch, match="'echo'"):
        Sandbox.load(image, **options)
    with pytest.raises(ImageError, match="'json'"):
        Sandbox.load(image, gates=box._settings.gates, modules=("re",), **options)
    with pytest.raises(ImageError, match="'mine', which is a gate"):
        Sandbox.load(image, gates={**box._settings.gates, "mine": print}, **options)


@pytest.mark.anyio
async def test_an_async_session_dumps_and_loads(backend: Any) -> None:
    """Both kinds of session take the same images."""
    async with AsyncSandbox(backend=backend) as box:
        await box.run("x = {1: [2]}")
        image = await box.dump()
    async with await AsyncSandbox.load(image, backend == "portable", backend=backend) as twin:
        assert await twin.get("x") == {1: [2]}


@pytest.fixture
def anyio_backend() -> str:
    """The loop that sessions run on."""
    return "asyncio"


# -- trust -----------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def image() -> bytes:
    """A signed image of ``x = 1``."""
    return envelope.pack(envelope.unpack(_image("kernel"), trust=True))


def _image(backend: Any) -> bytes:
    with Sandbox(backend="portable") as box:
        box.run("x = 1")
        unsigned = envelope.unpack(box.dump(), trust=True)
    return envelope.pack(envelope.Image(**{**vars(unsigned), "backend": backend}))


def test_a_signed_image_is_loaded_and_a_changed_one_is_not(image: bytes) -> None:
    """Any change is noticed: of the signed part as untrusted, of the rest as damage."""
    with Sandbox.load(image) as box:
        assert box["x"] == 1
    for place in (len(envelope.MAGIC) + 10, len(image) - 3):
        changed = bytearray(image)
        changed[place] ^= 1
        with pytest.raises(ImageError):
            Sandbox.load(bytes(changed))
    body = bytearray(image)
    body[-3] ^= 1
    with pytest.raises(ImageError, match="damaged"):
        Sandbox.load(bytes(body), trust=True)


@pytest.mark.parametrize("data", [b"", b"PK", envelope.MAGIC, envelope.MAGIC + b"\xff" * 40])
def test_what_is_no_image_is_refused(data: bytes) -> None:
    """Bytes that are no image, or the beginning of one, are an error of their own."""
    with pytest.raises(ImageError):
        Sandbox.load(data, trust=True)


def test_portable_images_are_never_signed() -> None:
    """What the portable back end made is loaded only where the caller trusts it."""
    unsigned = _image("portable")
    with pytest.raises(UntrustedImage, match="trust=True"):
        Sandbox.load(unsigned)
    with Sandbox.load(unsigned, trust=True) as box:
        assert box["x"] == 1


def test_another_users_image_is_not_trusted(
    image: bytes, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """An image that another key has signed is untrusted, and loaded where the caller says so."""
    monkeypatch.setenv(envelope.KEY_FILE, str(tmp_path / "other.key"))
    with pytest.raises(UntrustedImage, match="this user's key"):
        Sandbox.load(image)
    with Sandbox.load(image, trust=True) as box:
        assert box["x"] == 1


def test_other_versions_are_named(image: bytes, monkeypatch: pytest.MonkeyPatch) -> None:
    """An image of another version is refused, with both versions."""
    versions = {**envelope._versions(), "Python": "CPython 3.9"}
    monkeypatch.setattr(envelope, "_versions", lambda: versions)
    with pytest.raises(ImageMismatch, match=r"Python CPython 3\.1\d.*Python CPython 3\.9"):
        Sandbox.load(image)


def test_the_key_is_the_users_alone(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is made once, for its owner's eyes; one that others can read is refused."""
    monkeypatch.delenv(envelope.KEY_FILE)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    first = _image("kernel")
    path = tmp_path / "circlet" / "image.key"
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert [one.name for one in path.parent.iterdir()] == ["image.key"]
    made = path.read_bytes()
    with Sandbox.load(first) as box:
        assert box["x"] == 1
    assert path.read_bytes() == made
    path.chmod(0o644)
    with pytest.raises(ImageError, match="chmod 600"):
        Sandbox.load(first)
    path.unlink()
    path.symlink_to(tmp_path / "elsewhere")
    (tmp_path / "elsewhere").write_bytes(made)
    with pytest.raises(ImageError, match="can't be had"):
        Sandbox.load(first)


def test_an_image_outlives_its_process(tmp_path: Path) -> None:
    """Another process of the same user takes the image up."""
    source = (
        "import sys, pathlib\nfrom circlet.sandbox import Sandbox\n"
        "with Sandbox(backend='portable') as box:\n    box.run('def f(): return [1]')\n"
        "    pathlib.Path(sys.argv[1]).write_bytes(box.dump())\n"
    )
    path = tmp_path / "image"
    subprocess.run([sys.executable, "-c", source, str(path)], check=True)
    with Sandbox.load(path.read_bytes(), trust=True) as box:
        assert box.run("f()").value == [1]


def test_a_closed_session_makes_no_image() -> None:
    """As for any use of a closed session, the error says so."""
    box = Sandbox()
    box.close()
    with pytest.raises(SandboxClosed):
        box.dump()
