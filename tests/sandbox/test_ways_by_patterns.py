"""Ways out of the namespace by class patterns, which read the attributes that a class names."""

from __future__ import annotations

import pytest
from circlet.sandbox import Sandbox

REFUSED = {
    "a private attribute by a registered class's pattern": """
from abc import ABC
from dataclasses import dataclass
import random
@dataclass
class P(ABC):
    _randbelow: object
P.register(random.Random)
match random.Random(1):
    case P(x):
        escaped = x
""",
    "str.format by a registered namedtuple's pattern": """
from abc import ABC
from collections import namedtuple
class Q(namedtuple("Q", "format"), ABC):
    pass
Q.register(str)
match "{0.f.__globals__}":
    case Q(f):
        escaped = f
""",
    "str.format by a typing.NamedTuple's pattern": """
from abc import ABC
from typing import NamedTuple
class N(NamedTuple):
    format: object
class Q(N, ABC):
    pass
Q.register(str)
match "{0.f.__globals__}":
    case Q(f):
        escaped = f
""",
    "str.format by a dataclass's pattern": """
from dataclasses import dataclass, field
@dataclass
class S(str):
    format: object = field(init=False)
match S():
    case S(f):
        escaped = f
""",
    "a generator's frame by a registered class's pattern": """
from abc import ABC
from collections import namedtuple
class C(namedtuple("N", "gi_frame"), ABC):
    pass
def generator():
    yield
one = generator()
C.register(type(one))
match one:
    case C(frame):
        escaped = frame
""",
    "globals by a pattern of the program's own names": """
from abc import ABC
import json
class C(ABC):
    __match_args__ = ("__globals__",)
C.register(type(json.dumps))
match json.dumps:
    case C(found):
        escaped = found
""",
    "globals by a nested pattern": """
from abc import ABC
import json
class C(ABC):
    __match_args__ = ("__globals__",)
C.register(type(json.dumps))
match [{"k": json.dumps}]:
    case [{"k": (C(found) | str(found))}]:
        escaped = found
""",
    "a pattern's class that changes between two looks": """
from abc import ABC
import json
class Good(ABC):
    __match_args__ = ("real",)
class Bad(ABC):
    __match_args__ = ("__globals__",)
Bad.register(type(json.dumps))
class Changing:
    looks = 0
    def __getattr__(self, name):
        Changing.looks += 1
        return Good if Changing.looks == 1 else Bad
one = Changing()
match json.dumps:
    case one.kind(found):
        escaped = found
""",
    "a kept class of another match": """
from abc import ABC
import json
class P(ABC):
    __match_args__ = ("__globals__",)
P.register(type(json.dumps))
class Good:
    __match_args__ = ("x",)
out = []
try:
    match json.dumps:
        case P(g):
            pass
except TypeError:
    pass
def f():
    exec("match json.dumps:\n case Good(g):\n  out.append(g)")
f()
escaped = out or None
""",
    "globals by names that are computed when they are read": """
from abc import ABC
import json
class Flip:
    count = 0
    def __get__(self, instance, owner):
        Flip.count += 1
        return () if Flip.count % 2 else ("__globals__",)
class C(ABC):
    __match_args__ = Flip()
C.register(type(json.dumps))
match json.dumps:
    case C(found):
        escaped = found
""",
    "globals by names that come to be computed while a pattern is looked at": """
from abc import ABC
import json
class Names:
    pass
class C(ABC):
    __match_args__ = Names()
    @classmethod
    def __subclasshook__(cls, other):
        Names.__get__ = lambda *_: ("__globals__",)
        return True
match json.dumps:
    case C(found):
        escaped = found
""",
    "str.format by a class that becomes a dataclass while a pattern is looked at": """
from abc import ABC
from dataclasses import dataclass
class C(ABC):
    format: object = None
    @classmethod
    def __subclasshook__(cls, other):
        dataclass(C)
        return True
match "{0.__class__}":
    case C(found):
        escaped = found
""",
}


@pytest.mark.parametrize("way", REFUSED)
def test_a_way_out_is_closed(way: str) -> None:
    """The program ends in an error, or at least without what it was after."""
    with Sandbox() as box:
        run = box.run(f"escaped = None\n{REFUSED[way]}\nescaped")
        assert run.status == "error" or run.value is None
