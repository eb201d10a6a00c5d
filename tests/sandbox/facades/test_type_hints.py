"""``typing``: as in CPython, but that texts are read as types and never evaluated."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HONEST = {
    "origins and arguments": """
from typing import (Annotated, Any, Callable, Dict, Generic, List, Literal, Optional, TypeVar,
                    Union, get_args, get_origin)
T = TypeVar("T")
class Box(Generic[T]): pass
[(str(get_origin(t)), str(get_args(t))) for t in (
    list[int], List[int], Dict[str, int], Optional[int], Union[int, str, None], int | str,
    Callable[[int], str], Literal["a", 1], Annotated[int, "unit"], Box[int], int, Any,
    tuple[int, ...])]
""",
    "hints of functions and classes": """
from typing import Annotated, ClassVar, Dict, List, Optional, get_type_hints, no_type_check
class Node:
    value: int
    next: "Optional[Node]"
    kids: List["Node"]
    table: "dict[str, Node]"
    seen: ClassVar["list[int]"]
    def add(self, other: "Node", n: None = None) -> "Node | None": ...
class Leaf(Node):
    extra: Annotated["int", "unit"]
def f(a: "int", b: list["Node"], c: "Dict[str, 'Node']", *args: "float", **kw: str) -> None: ...
def h(b: list["Item"]): ...
@no_type_check
def g(a: "nothing at all") -> 3: ...
class Plain: pass
[str(get_type_hints(t)) for t in (Node, Leaf, f, Node.add, g, Plain, len)] + [
    str(get_type_hints(Leaf, include_extras=True)["extra"]),
    str(get_type_hints(h, localns={"Item": int})["b"])]
""",
    "hints that name nothing": """
from typing import get_type_hints
def f(a: "Nowhere"): ...
try:
    get_type_hints(f)
except NameError as error:
    said = str(error), error.name
try:
    get_type_hints(3)
except TypeError as error:
    said += (str(error),)
said
""",
    "protocols": """
from typing import Protocol, runtime_checkable
@runtime_checkable
class Sized(Protocol):
    size: int
    def area(self) -> float: ...
class Square:
    def __init__(self, size): self.size = size
    def area(self): return self.size ** 2
class Shape(Protocol):
    def area(self) -> float: ...
class Round(Shape):
    def area(self): return 3.0
try:
    isinstance(3, Shape)
except TypeError as error:
    said = "runtime" in str(error)
(isinstance(Square(2), Sized), isinstance(3, Sized), Round().area(), said)
""",
    "typed dicts and named tuples": """
from typing import NamedTuple, NotRequired, Required, TypedDict, is_typeddict
class Movie(TypedDict, total=False):
    title: Required[str]
    year: int
Point = TypedDict("Point", {"x": int, "in-between": NotRequired[str]})
class Emp(NamedTuple):
    name: str
    id: int = 3
    def shout(self): return self.name.upper()
Pair = NamedTuple("Pair", [("a", int), ("b", str)])
e = Emp("ann")
(Movie(title="m"), is_typeddict(Movie), Point(x=1), e, e.shout(), e._replace(id=5), e._asdict(),
 Emp._fields, Emp._field_defaults, Pair(1, "b"), Pair._make([2, "c"]).b, isinstance(e, tuple))
""",
    "generics": """
from typing import Generic, List, NewType, ParamSpec, Callable, TypeVar, TypeVarTuple, Unpack, Self
T = TypeVar("T", bound=int)
K, V = TypeVar("K"), TypeVar("V")
P = ParamSpec("P")
class Stack(Generic[K]):
    def __init__(self): self.items: List[K] = []
    def push(self, item: K) -> Self:
        self.items.append(item)
        return self
class Pair(Generic[K, V]): pass
class IntStack(Stack[int]): pass
def twice(f: Callable[P, K]) -> Callable[P, K]:
    def inner(*args: P.args, **kwargs: P.kwargs) -> K:
        f(*args, **kwargs)
        return f(*args, **kwargs)
    return inner
UserId = NewType("UserId", int)
(Stack[int]().push(3).items, IntStack().push(1).push(2).items, twice(lambda x: x + 1)(2),
 UserId(5) + 1, UserId.__name__, T.__name__, str(Pair[int, str]), repr(K))
""",
    "overloads and marks": """
from typing import (assert_never, assert_type, cast, dataclass_transform, final, get_overloads,
                    overload, clear_overloads)
@overload
def f(x: int) -> int: ...
@overload
def f(x: str) -> str: ...
def f(x): return x
@final
class A:
    @final
    def m(self): return 1
@dataclass_transform()
def model(cls): return cls
try:
    assert_never(3)
except AssertionError:
    never = True
(f(2), len(get_overloads(f)), A().m(), cast("int", "x"), assert_type(3, int), never,
 model(A) is A)
""",
    "the rest, as annotations": """
from typing import (AbstractSet, AsyncIterator, Awaitable, BinaryIO, ContextManager, Coroutine, IO,
                    ItemsView, KeysView, Match, MutableMapping, Pattern, SupportsBytes, TextIO,
                    Type, ValuesView, ChainMap, Concatenate, Final, TypeGuard, LiteralString)
LIMIT: Final[int] = 3
def f(a: Type[int], b: IO[str], c: TextIO, d: Pattern[str], e: ContextManager[int]) -> BinaryIO: ...
(str(Type[int]), str(AsyncIterator[int]), str(IO[str]), isinstance({}, MutableMapping), LIMIT)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_typing_is_that_of_cpython(same_as_cpython: Callable[[str], None], name: str) -> None:
    """Generics, protocols, hints and marks give what CPython gives."""
    same_as_cpython(HONEST[name])


def test_annotations_of_the_future_are_texts_that_hints_read(box: Sandbox) -> None:
    """``from __future__ import annotations`` holds for its turn, and hints resolve its texts."""
    run = box.run(
        "from __future__ import annotations\n"
        "from dataclasses import dataclass, fields\nfrom typing import ClassVar, get_type_hints\n"
        "@dataclass\nclass Node:\n"
        "    value: int\n    next: Node | None = None\n    made: ClassVar[int] = 0\n"
        "(fields(Node)[1].type, len(fields(Node)), str(get_type_hints(Node)['next']))"
    )
    assert run.value == ("Node | None", 2, "__main__.Node | None"), str(run)
    assert box.run("def f(x: nothing_of_the_sort): pass").status == "error"


REFUSED = {
    "a call in a hint": 'def f(a: "print(1)"): ...\nget_type_hints(f)',
    "a special attribute in a hint": 'def f(a: "f.__globals__"): ...\nget_type_hints(f)',
    "the builtins in a hint": 'def f(a: "__builtins__"): ...\nget_type_hints(f)',
    "an import in a hint": "def f(a: \"__import__('os')\"): ...\nget_type_hints(f)",
    "a module's own names, by what an object wraps": """
import json
class Wraps:
    def __getattr__(self, name):
        return {"__annotations__": {"a": "scanner"}, "__wrapped__": json.loads}[name]
    def __call__(self): ...
get_type_hints(Wraps())
""",
    "a hint that singledispatch reads": """
import functools
f = functools.singledispatch(len)
@f.register
def _(a: "f.__globals__"): ...
""",
    "a class by an alias of type": 'Type[int]("X", (), {})',
    "a class by what stands for type": 'get_origin(Type[int])("X", (), {})',
    "a class by an alias of a class that counts as one": ('Annotated[Type[int], 1]("X", (), {})'),
    "a special key": 'TypedDict("T", {"__class__": int})',
    "a special name for a field": 'NamedTuple("N", [("__class__", int)])',
    "a key that is more than a text": 'class K(str): pass\nTypedDict("T", {K("a"): int})',
    "an alias's attributes that are another object's": """
import random
class Alias(type(List[int]), _root=True):
    pass
Alias(random.Random(1), (int,))._randbelow
""",
    "an evaluated reference": ('next(iter(get_args(List["f"])))._evaluate({}, {}, frozenset())'),
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_text_is_evaluated_and_no_class_made(box: Sandbox, name: str) -> None:
    """Hints read the program's own names, and aliases call no metaclass."""
    run = box.run(
        "from typing import (Annotated, List, NamedTuple, Type, TypedDict, get_args, get_origin, "
        f"get_type_hints)\n{REFUSED[name]}"
    )
    assert run.status == "error", str(run)


def test_no_comparison_shows_what_makes_classes(box: Sandbox) -> None:
    """Aliases compare what they hold: of ``Type`` that is the ``type`` that makes no class."""
    run = box.run(
        "from typing import Annotated, Type\n"
        "class Looks:\n"
        "    def __call__(self): ...\n"
        "    def __hash__(self): return 1\n"
        "    def __eq__(self, other): seen.append(other)\n"
        "seen = []\nlooks = Annotated[Looks(), 1]\nseen.clear()\n"
        "Type[int] == looks\n"
        "[one is type for one in seen]"
    )
    assert run.value == [True], str(run)


def test_the_origin_of_type_is_the_type_that_makes_no_class(box: Sandbox) -> None:
    """``get_origin(Type[int])`` is what the program has as ``type``."""
    run = box.run("from typing import Type, get_origin\nget_origin(Type[int]) is type")
    assert run.value is True, str(run)
