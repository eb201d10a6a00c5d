Data classes and enums.

# === dataclass_basics
from dataclasses import dataclass, field
@dataclass
class Item:
    name: str
    price: float = 1.0
    tags: list[str] = field(default_factory=list)
    def total(self, n: int) -> float:
        return self.price * n
a, b = Item("pen"), Item("pen", 1.0, [])
a.tags.append("x")
print(a, b, a == b, a.total(3), Item(name="book", price=9.5))
try:
    Item()
except TypeError as error:
    print(error)

# === dataclass_options
from dataclasses import dataclass, FrozenInstanceError, field
@dataclass(frozen=True, order=True)
class Version:
    major: int
    minor: int = 0
    label: str = field(default="", compare=False, repr=False)
v = Version(1, 2, "beta")
print(v, v < Version(1, 10), sorted([Version(2), Version(1, 5)]), hash(v) == hash(Version(1, 2)), {v: "ok"}[Version(1, 2)])
try:
    v.major = 3
except FrozenInstanceError as error:
    print(type(error).__name__, error)
@dataclass(slots=True, kw_only=True, eq=False)
class Opt:
    a: int
    b: int = 2
o = Opt(a=1)
print(o, o == Opt(a=1))
try:
    o.c = 1
except AttributeError:
    print("slots")

# === post_init_and_initvar
from dataclasses import dataclass, field, InitVar
@dataclass
class Circle:
    radius: float
    scale: InitVar[float] = 1.0
    area: float = field(init=False)
    def __post_init__(self, scale):
        self.radius *= scale
        self.area = round(3.14159 * self.radius ** 2, 2)
        if self.radius < 0:
            raise ValueError("negative radius")
print(Circle(2), Circle(1, scale=3))
try:
    Circle(-1)
except ValueError as error:
    print(error)

# === dataclass_inheritance
from dataclasses import dataclass
@dataclass
class Person:
    name: str
    age: int = 0
    def greet(self): return f"I am {self.name}"
@dataclass
class Student(Person):
    school: str = "none"
    def greet(self): return super().greet() + f" at {self.school}"
s = Student("Ann", 20, "MIT")
print(s, s.greet(), isinstance(s, Person), s == Student("Ann", 20, "MIT"), Person("Ann", 20) == s)

# === dataclass_helpers
from dataclasses import dataclass, asdict, astuple, replace, fields, is_dataclass
@dataclass
class Inner:
    n: int
@dataclass
class Outer:
    inner: Inner
    items: list
o = Outer(Inner(1), [Inner(2), {"k": Inner(3)}])
print(asdict(o), astuple(o), replace(o, items=[]), [f.name for f in fields(o)], is_dataclass(o), is_dataclass(Outer), is_dataclass(3))
print([(f.name, f.type.__name__) for f in fields(Inner)], fields(Outer)[0].default is not None)

# === make_dataclass
from dataclasses import make_dataclass, field
Point = make_dataclass("Point", [("x", int), ("y", int, 0), ("tags", list, field(default_factory=list))])
print(Point(1), Point(1, 2) == Point(1, 2), Point.__name__)

# === dataclass_with_property_and_class_var
from dataclasses import dataclass
from typing import ClassVar, Optional
@dataclass
class Node:
    count: ClassVar[int] = 0
    value: int
    next: Optional["Node"] = None
    def __post_init__(self):
        Node.count += 1
    @property
    def last(self):
        return self if self.next is None else self.next.last
    @classmethod
    def chain(cls, *values):
        head = None
        for v in reversed(values):
            head = cls(v, head)
        return head
n = Node.chain(1, 2, 3)
print(n, n.last.value, Node.count)

# === mutable_default_refused
from dataclasses import dataclass
try:
    @dataclass
    class Bad:
        items: list = []
except ValueError as error:
    print(error)

# === dataclass_hash_and_unsafe
from dataclasses import dataclass
@dataclass
class Plain:
    x: int
@dataclass(unsafe_hash=True)
class Hashable:
    x: int
try:
    hash(Plain(1))
except TypeError as error:
    print(error)
print(len({Hashable(1), Hashable(1), Hashable(2)}))

# === dataclass_metadata_and_kw_only_marker
from dataclasses import dataclass, field, fields, KW_ONLY
@dataclass
class Setting:
    name: str = field(metadata={"help": "the name"})
    _: KW_ONLY
    level: int = field(default=1, metadata={"min": 0})
print(Setting("a", level=2), [dict(f.metadata) for f in fields(Setting)])

# === enum_basics
from enum import Enum
class Colour(Enum):
    RED = 1
    GREEN = 2
    BLUE = 3
    CRIMSON = 1
print(Colour.RED, repr(Colour.RED), Colour(2), Colour["BLUE"], Colour.RED.name, Colour.RED.value, Colour.CRIMSON is Colour.RED)
print(list(Colour), len(Colour), Colour.RED in Colour, [c.name for c in Colour], Colour.RED == 1, {Colour.RED: "x"}[Colour.RED])
try:
    Colour(9)
except ValueError as error:
    print(error)
try:
    Colour["PINK"]
except KeyError as error:
    print("KeyError", error)

# === enum_auto_and_str
from enum import Enum, IntEnum, StrEnum, auto
class Priority(IntEnum):
    LOW = auto()
    HIGH = auto()
class Mode(StrEnum):
    READ = auto()
    WRITE = "w"
class Planet(str, Enum):
    EARTH = "earth"
print(Priority.LOW < Priority.HIGH, Priority.HIGH + 1, sorted([Priority.HIGH, Priority.LOW]), Priority.HIGH == 2, f"{Priority.LOW}")
print(Mode.READ, Mode.WRITE == "w", f"mode {Mode.READ}", Mode("read") is Mode.READ, Planet.EARTH == "earth", Planet("earth").name, Mode.READ.upper())

# === enum_flags
from enum import Flag, IntFlag, auto
class Perm(Flag):
    R = auto()
    W = auto()
    X = auto()
    RW = R | W
p = Perm.R | Perm.X
print(p, Perm.R in p, Perm.W in p, p & Perm.R, ~Perm.R & Perm.RW, bool(Perm.R & Perm.W), Perm.RW.value, Perm(3) is Perm.RW)
p ^= Perm.X
print(p, list(Perm.RW), len(Perm.RW))
class Bits(IntFlag):
    A = 1
    B = 2
print(Bits.A | Bits.B, (Bits.A | 4) & 4, Bits(3))

# === enum_methods
from enum import Enum
class Planet(Enum):
    EARTH = (5.97e24, 6.37e6)
    MARS = (6.42e23, 3.39e6)
    def __init__(self, mass, radius):
        self.mass, self.radius = mass, radius
    @property
    def gravity(self):
        return 6.67e-11 * self.mass / self.radius ** 2
    @classmethod
    def heaviest(cls):
        return max(cls, key=lambda p: p.mass)
    def __str__(self):
        return self.name.title()
for p in Planet:
    print(p, f"{p.gravity:.2f}")
print(Planet.heaviest())

# === enum_functional_and_unique
from enum import Enum, unique, IntEnum
Animal = Enum("Animal", "CAT DOG")
Shape = Enum("Shape", {"SQUARE": 4, "TRIANGLE": 3})
Size = IntEnum("Size", ["S", "M"], start=10)
print(list(Animal), Shape.SQUARE.value, Size.M + 0)
try:
    @unique
    class Dup(Enum):
        A = 1
        B = 1
except ValueError as error:
    print("duplicate" in str(error))

# === enum_missing_and_generate
from enum import Enum, auto
class Level(Enum):
    @staticmethod
    def _generate_next_value_(name, start, count, last):
        return name.lower()
    DEBUG = auto()
    INFO = auto()
    @classmethod
    def _missing_(cls, value):
        if isinstance(value, str):
            for member in cls:
                if member.value == value.lower():
                    return member
        return None
print(Level.DEBUG.value, Level("INFO"))
try:
    Level("nope")
except ValueError as error:
    print(error)

# === enum_state_machine
from enum import Enum, auto
class State(Enum):
    IDLE = auto()
    RUNNING = auto()
    STOPPED = auto()
transitions = {State.IDLE: {State.RUNNING}, State.RUNNING: {State.IDLE, State.STOPPED}, State.STOPPED: set()}
class Machine:
    def __init__(self): self.state = State.IDLE
    def to(self, new):
        if new not in transitions[self.state]:
            raise ValueError(f"{self.state.name} -> {new.name} is not allowed")
        self.state = new
m = Machine()
m.to(State.RUNNING)
m.to(State.STOPPED)
try:
    m.to(State.IDLE)
except ValueError as error:
    print(error)

# === enum_members_mapping
from enum import Enum
class Op(Enum):
    ADD = "+"
    SUB = "-"
    def __call__(self, a, b):
        return a + b if self is Op.ADD else a - b
print(Op("+")(2, 3), Op.SUB(2, 3), {op.value: op.name for op in Op}, isinstance(Op.ADD, Op), type(Op.ADD).__name__)
try:
    Op.ADD = 5
except AttributeError as error:
    print("can't reassign")

# === namedtuple_all
from collections import namedtuple
Point = namedtuple("Point", ["x", "y"], defaults=[0])
p = Point(1)
print(p, p.x, p[1], p._asdict(), p._replace(y=5), Point._fields, Point._make([7, 8]), p == (1, 0), len(p), Point._field_defaults)
x, y = p
class Named(namedtuple("Base", "a b")):
    __slots__ = ()
    @property
    def total(self): return self.a + self.b
print(x, y, Named(2, 3).total, sorted([Point(2, 1), Point(1, 2)]), hash(p) == hash((1, 0)))
try:
    p.x = 3
except AttributeError:
    print("immutable")

# === typing_namedtuple
from typing import NamedTuple
class Employee(NamedTuple):
    """An employee."""
    name: str
    id: int = 3
    def label(self) -> str:
        return f"{self.name}#{self.id}"
e = Employee("Ann")
print(e, e.label(), e._replace(id=9), Employee.__doc__, e._fields, isinstance(e, tuple), Employee("B", 1) < Employee("C"))

# === inventory_program
from dataclasses import dataclass, field
from collections import defaultdict
@dataclass
class Product:
    sku: str
    price: float
    stock: int = 0
@dataclass
class Inventory:
    products: dict[str, Product] = field(default_factory=dict)
    log: list[str] = field(default_factory=list, repr=False)
    def add(self, p: Product) -> None:
        self.products[p.sku] = p
        self.log.append(f"added {p.sku}")
    def sell(self, sku: str, n: int = 1) -> float:
        p = self.products[sku]
        if p.stock < n:
            raise ValueError(f"only {p.stock} of {sku}")
        p.stock -= n
        self.log.append(f"sold {n} {sku}")
        return n * p.price
    @property
    def value(self) -> float:
        return sum(p.price * p.stock for p in self.products.values())
inv = Inventory()
inv.add(Product("A1", 2.5, 10))
inv.add(Product("B2", 10, 1))
print(inv.sell("A1", 4), inv.value)
try:
    inv.sell("B2", 2)
except ValueError as e:
    print(e)
print(inv, inv.log)
