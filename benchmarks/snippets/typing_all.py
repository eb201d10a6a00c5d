Annotations: generics, protocols, typed dicts, and what they mean when a program runs.

# === annotations_everywhere
from typing import Optional, Union, Any, Callable, Iterable
x: int = 5
name: str
values: list[int] = [1, 2]
def f(a: int, b: Optional[str] = None, *args: float, key: "str | None" = None, **kw: Any) -> dict[str, list[int]]:
    total: int = a
    return {"r": [total]}
callback: Callable[[int], str] = lambda n: str(n)
def g(items: Iterable[Union[int, str]]) -> int | None: return len(list(items)) or None
print(f(3), callback(5), g([1]), g([]), x, values)

# === annotation_values
class P:
    x: int
    y: "str" = "a"
print(sorted(P.__annotations__), P.__annotations__["x"] is int)
def f(a: int, b: str = "") -> bool: ...
print(f.__annotations__["return"].__name__, list(f.__annotations__))

# === generic_class
from typing import Generic, TypeVar
T = TypeVar("T")
K = TypeVar("K")
class Stack(Generic[T]):
    def __init__(self) -> None: self._items: list[T] = []
    def push(self, item: T) -> None: self._items.append(item)
    def pop(self) -> T: return self._items.pop()
    def __len__(self) -> int: return len(self._items)
class Pair(Generic[K, T]):
    def __init__(self, a: K, b: T): self.a, self.b = a, b
s = Stack[int]()
s.push(1); s.push(2)
print(s.pop(), len(s), Pair[str, int]("a", 1).b, isinstance(s, Stack))

# === protocol
from typing import Protocol, runtime_checkable
@runtime_checkable
class Drawable(Protocol):
    def draw(self) -> str: ...
class Sq:
    def draw(self): return "[]"
class No: pass
def render(items: list[Drawable]) -> str: return "".join(i.draw() for i in items)
print(render([Sq(), Sq()]), isinstance(Sq(), Drawable), isinstance(No(), Drawable))
class Base(Protocol):
    size: int
    def grow(self) -> int: return self.size + 1
class Impl(Base):
    size = 4
print(Impl().grow())

# === typed_dict
from typing import TypedDict, NotRequired, Required
class Movie(TypedDict):
    title: str
    year: NotRequired[int]
class More(Movie, total=False):
    rating: float
m: Movie = {"title": "Alien", "year": 1979}
n = Movie(title="Up")
print(m["title"], n, n.get("year"), More(title="Up", rating=4.5), type(n) is dict)
Options = TypedDict("Options", {"a": int, "b": str})
print(Options(a=1, b="x"))

# === literal_final_newtype
from typing import Literal, Final, NewType, ClassVar, Annotated, TypeAlias, cast, TYPE_CHECKING
Mode = Literal["r", "w"]
MAX: Final = 10
UserId = NewType("UserId", int)
Vector: TypeAlias = list[float]
Positive = Annotated[int, "gt 0"]
def open_it(mode: Mode) -> str: return mode
if TYPE_CHECKING:
    import nothing_real
print(open_it("r"), MAX, UserId(5) + 1, cast(str, 5), Vector([1.0]))

# === type_text
from typing import Optional, Union, List, Dict, Tuple, Callable, Any
print(Optional[int], Union[int, str], List[int], Dict[str, Any], Tuple[int, ...], Callable[[int], str], int | None, list[dict[str, int]], tuple[()])
print(Union[int, int] == int, Optional[None] is type(None), int | str == Union[int, str])

# === isinstance_unions
print(isinstance(3, int | str), isinstance(2.5, int | str), isinstance(None, int | None), issubclass(bool, int | str))
def describe(v: int | str | None) -> str:
    if isinstance(v, (int, float)): return "number"
    return "text" if isinstance(v, str) else "nothing"
print([describe(v) for v in (1, "a", None)])

# === overload_and_self
from typing import overload, Self
class Builder:
    def __init__(self) -> None: self.parts: list[str] = []
    def add(self, part: str) -> Self:
        self.parts.append(part)
        return self
@overload
def double(x: int) -> int: ...
@overload
def double(x: str) -> str: ...
def double(x): return x * 2
print(Builder().add("a").add("b").parts, double(2), double("ab"))

# === get_args_and_origin
from typing import get_args, get_origin, Optional, Literal
print(get_origin(list[int]) is list, get_args(dict[str, int]), get_args(Optional[int])[0], get_args(Literal["a", 1]))

# === type_checks_by_annotation
def check(**types):
    def decorate(f):
        def wrapper(**kwargs):
            for name, kind in types.items():
                if not isinstance(kwargs[name], kind):
                    raise TypeError(f"{name} must be {kind.__name__}, got {type(kwargs[name]).__name__}")
            return f(**kwargs)
        return wrapper
    return decorate
@check(a=int, b=str)
def f(a, b): return b * a
print(f(a=2, b="x"))
try:
    f(a="2", b="x")
except TypeError as e: print(e)

# === future_annotations
from __future__ import annotations
class Node:
    def __init__(self, value: int, next: Node | None = None): self.value, self.next = value, next
    def last(self) -> Node: return self.next.last() if self.next else self
print(Node(1, Node(2)).last().value)

# === param_spec
from typing import ParamSpec, TypeVar, Callable, Concatenate
P = ParamSpec("P")
R = TypeVar("R")
def twice(f: Callable[P, R]) -> Callable[P, tuple[R, R]]:
    def inner(*args: P.args, **kwargs: P.kwargs) -> tuple[R, R]:
        return f(*args, **kwargs), f(*args, **kwargs)
    return inner
print(twice(lambda a, b=1: a + b)(1, b=2))

# === generic_functions_bound
from typing import TypeVar, Sequence, Iterator
from numbers import Number
N = TypeVar("N", int, float)
S = TypeVar("S", bound="Sequence")
def total(xs: Sequence[N]) -> N: return sum(xs)
def halves(s: S) -> tuple[S, S]: return s[:len(s) // 2], s[len(s) // 2:]
print(total([1, 2.5]), halves("abcd"), halves([1, 2, 3]), N.__name__)

# === abstract_collections
from collections.abc import Mapping, MutableSequence, Iterable, Iterator, Hashable, Sized, Callable, Sequence
class Frozen(Mapping):
    def __init__(self, d): self._d = dict(d)
    def __getitem__(self, k): return self._d[k]
    def __iter__(self): return iter(self._d)
    def __len__(self): return len(self._d)
f = Frozen({"a": 1})
print(f.get("a"), f.get("b", 0), list(f.items()), "a" in f, f == {"a": 1}, isinstance(f, Mapping))
print(isinstance([], Iterable), isinstance(3, Hashable), isinstance({}, Sized), isinstance(len, Callable), isinstance("a", Sequence))
class Ints(MutableSequence):
    def __init__(self): self._x = []
    def __getitem__(self, i): return self._x[i]
    def __setitem__(self, i, v): self._x[i] = int(v)
    def __delitem__(self, i): del self._x[i]
    def __len__(self): return len(self._x)
    def insert(self, i, v): self._x.insert(i, int(v))
n = Ints()
n.extend(["1", "2"]); n.append("3"); n.reverse(); n += ["9"]
print(list(n), n.pop(), n.index(2))
