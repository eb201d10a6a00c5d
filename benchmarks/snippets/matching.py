The match statement, in all its patterns.

# === literals_and_wildcard
def http(status):
    match status:
        case 200:
            return "ok"
        case 301 | 302:
            return "moved"
        case 400 | 401 | 403 as code:
            return f"client {code}"
        case None:
            return "none"
        case True:
            return "true"
        case "text" | b"bytes" | -1 | 2.5 | 1j:
            return "literal"
        case _:
            return "?"
print([http(s) for s in (200, 302, 401, None, True, "text", b"bytes", -1, 2.5, 1j, 999)])

# === sequences
def shape(value):
    match value:
        case []:
            return "empty"
        case [x]:
            return f"one {x}"
        case [x, y]:
            return f"two {x} {y}"
        case [first, *rest] if first == "head":
            return f"head then {rest}"
        case (1, *_, 9):
            return "1..9"
        case [[a, b], *others]:
            return f"nested {a} {b} {len(others)}"
        case [*everything]:
            return f"{len(everything)} things"
        case _:
            return "no sequence"
for v in ([], (1,), [1, 2], ["head", 1, 2, 3], [1, 5, 5, 9], [[1, 2], 3, 4], [0, 0, 0], "abc", 7, {1, 2}):
    print(shape(v))

# === mappings
def handle(event):
    match event:
        case {"type": "click", "pos": (x, y)}:
            return f"click at {x},{y}"
        case {"type": "key", "key": str(k), **rest}:
            return f"key {k} {rest}"
        case {"type": ("load" | "unload") as kind}:
            return kind
        case {}:
            return "some dict"
        case _:
            return "not a dict"
for e in ({"type": "click", "pos": (1, 2)}, {"type": "key", "key": "a", "shift": True}, {"type": "unload"}, {"x": 1}, {}, []):
    print(handle(e))

# === class_patterns
from dataclasses import dataclass
@dataclass
class Point:
    x: int
    y: int
@dataclass
class Circle:
    centre: Point
    radius: float
def where(s):
    match s:
        case Point(0, 0):
            return "origin"
        case Point(x=0, y=y):
            return f"on y at {y}"
        case Point(x, 0):
            return f"on x at {x}"
        case Point(x, y) if x == y:
            return f"diagonal {x}"
        case Circle(centre=Point(x=cx), radius=r) if r > 1:
            return f"big circle at {cx}"
        case Circle():
            return "small circle"
        case Point():
            return "somewhere"
for s in (Point(0, 0), Point(0, 3), Point(4, 0), Point(5, 5), Point(1, 2), Circle(Point(9, 0), 2), Circle(Point(0, 0), 1)):
    print(where(s))

# === builtin_class_patterns
def kind(v):
    match v:
        case bool(b):
            return f"bool {b}"
        case int(n) | float(n):
            return f"number {n}"
        case str() as s if len(s) > 3:
            return f"long text {s}"
        case str(s):
            return f"text {s}"
        case list([int(), *_]):
            return "list of int"
        case dict() | set():
            return "container"
        case tuple(t):
            return f"tuple {len(t)}"
        case bytes():
            return "bytes"
print([kind(v) for v in (True, 3, 2.5, "abcd", "ab", [1, "x"], {}, {1}, (1, 2), b"", None)])

# === value_patterns
from enum import Enum
import math
class Colour(Enum):
    RED = 1
    BLUE = 2
class Config:
    LIMIT = 10
def name(v):
    match v:
        case Colour.RED:
            return "red"
        case Colour.BLUE:
            return "blue"
        case Config.LIMIT:
            return "limit"
        case math.pi:
            return "pi"
        case other:
            return f"other {other}"
print([name(v) for v in (Colour.RED, Colour.BLUE, 10, math.pi, "x")])

# === match_args_class
class Interval:
    __match_args__ = ("low", "high")
    def __init__(self, low, high): self.low, self.high = low, high
def describe(i):
    match i:
        case Interval(a, b) if a > b:
            return "reversed"
        case Interval(0, high):
            return f"from zero to {high}"
        case Interval(low, high=h):
            return f"{low}..{h}"
print([describe(Interval(*p)) for p in ((3, 1), (0, 5), (2, 4))])

# === command_parser
def run(command, state):
    match command.split():
        case ["go", ("north" | "south" | "east" | "west") as direction]:
            return f"going {direction}"
        case ["get", item] if item in state:
            return f"got {item}"
        case ["get", item]:
            return f"no {item}"
        case ["drop", *items]:
            return f"dropped {', '.join(items)}"
        case ["quit" | "exit"]:
            return "bye"
        case []:
            return "say something"
        case [verb, *_]:
            return f"can't {verb}"
for c in ("go north", "go up", "get lamp", "get sword", "drop a b", "exit", "", "dance now"):
    print(run(c, {"lamp"}))

# === expression_tree
def evaluate(node):
    match node:
        case int() | float():
            return node
        case ("+", *args):
            return sum(map(evaluate, args))
        case ("*", a, b):
            return evaluate(a) * evaluate(b)
        case ("neg", a):
            return -evaluate(a)
        case ("if", cond, then, other):
            return evaluate(then) if evaluate(cond) else evaluate(other)
        case _:
            raise ValueError(f"unknown node {node!r}")
print(evaluate(("+", 1, ("*", 2, 3), ("neg", 4))), evaluate(("if", 0, 1, ("+", 2, 2))))
try:
    evaluate(("?",))
except ValueError as error:
    print(error)

# === named_tuple_patterns
from collections import namedtuple
from typing import NamedTuple
Pair = namedtuple("Pair", "left right")
class Move(NamedTuple):
    dx: int
    dy: int = 0
for v in (Pair(1, 2), Pair("a", "a"), Move(3), Move(0, 4)):
    match v:
        case Pair(left=l, right=r) if l == r:
            print("twins", l)
        case Pair(l, r):
            print("pair", l, r)
        case Move(0, dy):
            print("vertical", dy)
        case Move(dx):
            print("dx", dx)

# === guards_and_binding
def classify(n):
    match n:
        case x if x < 0:
            return "negative"
        case 0:
            return "zero"
        case x if x % 2 == 0 and (half := x // 2) > 10:
            return f"big even, half {half}"
        case int(x):
            return f"positive {x}"
print([classify(n) for n in (-3, 0, 50, 7)])
match (1, 2, 3):
    case (a, b, 4): pass
    case (a, *b): pass
print(a, b)

# === json_dispatch
import json
data = json.loads('[{"op": "add", "args": [1, 2]}, {"op": "cat", "args": ["a", "b"]}, {"op": "nop"}, {"bad": true}]')
for item in data:
    match item:
        case {"op": "add", "args": [int(a), int(b)]}:
            print(a + b)
        case {"op": "cat", "args": [str(), *_] as parts}:
            print("".join(parts))
        case {"op": op}:
            print("op", op)
        case _:
            print("invalid", item)

# === soft_keywords
match = {"case": 1}
case = match["case"]
type = "soft"
_ = 5
print(match, case, type, _)
match case:
    case 1:
        print("still a statement")
