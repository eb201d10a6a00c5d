"""Abstract classes, protocols and generics: allowed."""

import pytest

PROGRAMS = {
    "abstract methods": """
from abc import ABC, abstractmethod
class Shape(ABC):
    @property
    @abstractmethod
    def area(self): ...
    @classmethod
    @abstractmethod
    def make(cls): ...
    def twice(self): return 2 * self.area
class Square(Shape):
    area = property(lambda self: 4)
    @classmethod
    def make(cls): return cls()
try: Shape()
except TypeError as e: print(e)
Square.make().twice()
""",
    "registered": """
from abc import ABC
class Duck(ABC): pass
class Robot: pass
@Duck.register
class Toy: pass
Duck.register(Robot)
isinstance(Robot(), Duck), issubclass(Toy, Duck), isinstance(3, Duck)
""",
    "collections' own": """
from collections.abc import Mapping, Sequence, MutableMapping, Iterator, Iterable, Hashable
class Seq(Sequence):
    def __init__(self, *items): self._items = items
    def __getitem__(self, i): return self._items[i]
    def __len__(self): return len(self._items)
class Lower(MutableMapping):
    def __init__(self): self._d = {}
    def __getitem__(self, k): return self._d[k.lower()]
    def __setitem__(self, k, v): self._d[k.lower()] = v
    def __delitem__(self, k): del self._d[k.lower()]
    def __iter__(self): return iter(self._d)
    def __len__(self): return len(self._d)
s, l = Seq(1, 2, 2), Lower()
l['A'] = 1
l.update(B=2)
(s.index(2), s.count(2), 1 in s, list(reversed(s)), isinstance(s, Iterable), dict(l), l.pop('a'),
 l.get('z'), isinstance({}, Mapping), isinstance([], Hashable))
""",
    "protocols": """
from typing import Protocol, runtime_checkable
@runtime_checkable
class Closes(Protocol):
    def close(self) -> None: ...
class File:
    def close(self): pass
def shut(x: Closes): x.close()
isinstance(File(), Closes), isinstance(3, Closes), shut(File())
""",
    "a protocol is not made": "from typing import Protocol\nclass P(Protocol): ...\nP()",
    "generics": """
from typing import Generic, TypeVar
T = TypeVar('T')
K = TypeVar('K', bound=int)
class Stack(Generic[T]):
    def __init__(self) -> None: self._items: list[T] = []
    def push(self, item: T) -> 'Stack[T]':
        self._items.append(item)
        return self
    def pop(self) -> T: return self._items.pop()
class Ints(Stack[int]): pass
Stack[int]().push(3).pop(), Ints().push(1).pop(), Stack.__name__
""",
    "generic over two": """
from typing import Generic, TypeVar
K, V = TypeVar('K'), TypeVar('V')
class Pair(Generic[K, V]):
    def __init__(self, k: K, v: V): self.k, self.v = k, v
class Named(Pair[str, V]): pass
p = Named[int]('a', 1)
p.k, p.v, str(Pair[int, str]), str(Named[int])
""",
    "aliases": "from typing import Union, Optional\nv = list[int]\nx: Optional[v] = [1]\n"
    "str(v), str(Optional[int]), str(int | None), str(Union[int, str]), v([1, 2])",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_abstract_and_generic_classes_are_cpythons(same, what):
    """What ABC, Protocol and Generic do for a class is done."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "source",
    [
        "from collections.abc import Mapping\nclass A: ...\nMapping.register(A)",
        "from abc import ABC\nABC.register(int)",
        "from abc import ABC\nclass A(ABC): ...\nA._abc_impl",
        "from abc import ABC\nclass A(ABC): ...\nA._dump_registry",
        "from abc import ABC\nclass A(ABC): ...\ntry: A()._abc_caches_clear\n"
        "except AttributeError: pass\nA._abc_caches_clear",
        "from typing import Protocol\nclass A(Protocol): ...\nA._is_protocol = False",
        "from typing import Protocol\nclass A(Protocol): ...\nA.__protocol_attrs__",
        "from typing import Generic, TypeVar\nT = TypeVar('T')\nclass A(Generic[T]): ...\n"
        "A[int].__origin__.__subclasses__",
        "list[int].__origin__.__subclasses__",
        "import typing\ntyping.List[int].__getattr__('__globals__')",
    ],
)
def test_what_they_keep_to_themselves_is_closed(box, source):
    """The library's classes take no registrations, and their tables are not shown."""
    assert box.run(source).status == "error"
