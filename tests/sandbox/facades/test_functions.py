"""``functools``: as in CPython, with nothing copied or compared that a program could not see."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HONEST = {
    "wraps": """
from functools import wraps, update_wrapper, partial, WRAPPER_ASSIGNMENTS
from typing import get_type_hints
def loud(f):
    @wraps(f)
    def inner(*args: int): return f(*args).upper()
    return inner
def name(x: str) -> str:
    "Says a name."
    return x
name.tag = "t"
wrapped = loud(name)
class Counted:
    def __init__(self, f):
        update_wrapper(self, f)
        self.f, self.n = f, 0
    def __call__(self, *args):
        self.n += 1
        return self.f(*args)
counted = Counted(name)
counted("a")
two = update_wrapper(partial(name, "p"), name)
only = wraps(name, assigned=("__doc__", "tag"), updated=())(lambda: 0)
(wrapped("x"), wrapped.__name__, wrapped.__doc__, wrapped.tag, str(get_type_hints(wrapped)),
 counted.__name__, counted.n, two(), two.__doc__, only.__name__, only.__doc__, only.tag,
 "__name__" in WRAPPER_ASSIGNMENTS)
""",
    "lru_cache": """
from functools import lru_cache, cache
@lru_cache(maxsize=2)
def fib(n): return n if n < 2 else fib(n - 1) + fib(n - 2)
@cache
def square(n):
    "Squares."
    return n * n
first = fib(20), tuple(fib.cache_info()), fib.cache_parameters()
fib.cache_clear()
(first, fib.cache_info().currsize, square(3), square.__name__, square.__doc__)
""",
    "cached_property": """
from functools import cached_property
class Data:
    def __init__(self, n): self.n, self.runs = n, 0
    @cached_property
    def total(self):
        "Adds up."
        self.runs += 1
        return sum(range(self.n))
    @cached_property
    def _hidden(self): return self.total + 1
d = Data(4)
seen = [d.total, d.total, d._hidden, d.runs]
del d.total
class Slotted:
    __slots__ = ()
    @cached_property
    def x(self): return 1
try:
    Slotted().x
except TypeError:
    seen.append("no variables")
(seen, d.total, d.runs, Data.total.__doc__, Data.total.func.__name__, Data.total.attrname)
""",
    "cached_property of a frozen dataclass": """
from dataclasses import dataclass
from functools import cached_property
@dataclass(frozen=True)
class P:
    x: int
    @cached_property
    def twice(self): return self.x * 2
(P(2).twice, P(2) == P(2))
""",
    "partials": """
from functools import partial, partialmethod, reduce, cmp_to_key
class Cell:
    def __init__(self): self.alive = False
    def set_state(self, state): self.alive = state
    set_alive = partialmethod(set_state, True)
cell = Cell()
cell.set_alive()
base2 = partial(int, base=2)
(cell.alive, base2("101"), base2.keywords, reduce(lambda a, b: a * b, [1, 2, 3], 2),
 sorted([3, 1, 2], key=cmp_to_key(lambda a, b: b - a)))
""",
    "total_ordering": """
from functools import total_ordering
@total_ordering
class V:
    def __init__(self, n): self.n = n
    def __eq__(self, other): return self.n == other.n
    def __lt__(self, other): return self.n < other.n
(V(1) <= V(1), V(2) > V(1), V(1) >= V(2), max([V(1), V(5), V(3)]).n)
""",
    "singledispatch": """
from functools import singledispatch
from collections.abc import Mapping
from typing import Union
@singledispatch
def show(value):
    "Shows."
    return "any"
@show.register
def _(value: int): return "int"
@show.register(list)
def show_list(value): return "list"
@show.register
def _(value: "dict"): return "dict"
@show.register
def _(value: float | complex): return "number"
show.register(Mapping, lambda value: "mapping")
@show.register(type(None))
def _(value): return "none"
class Sub(list): pass
try:
    show.register(3)
except TypeError:
    refused = True
([show(v) for v in (1, True, [], Sub(), {}, 1.5, 2j, None, "x")], show.__name__, show.__doc__,
 show.dispatch(bool) is show.dispatch(int), len(show.registry), show_list([]), refused)
""",
    "singledispatchmethod": """
from functools import singledispatchmethod
class Writer:
    @singledispatchmethod
    def write(self, value): return "any"
    @write.register
    def _(self, value: int): return f"int {value}"
    @write.register(str)
    def _(self, value): return "str"
    @singledispatchmethod
    @classmethod
    def make(cls, value): return cls.__name__
    @make.register
    @classmethod
    def _(cls, value: int): return value
([Writer().write(v) for v in (1, "a", [])], Writer.make("x"), Writer.make(4))
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_functools_is_that_of_cpython(same_as_cpython: Callable[[str], None], name: str) -> None:
    """Decorators, caches and dispatchers give what CPython gives."""
    same_as_cpython(HONEST[name])


CHANGING_BASES = """
import ast
looks = []
class Source:
    __slots__ = ()
    def __call__(self): pass
    def __getattr__(self, name):
        if name == "__dict__":
            return {"__mro_entries__": entries}
        raise AttributeError(name)
def entries(bases):
    looks.append(1)
    return (object,) if len(looks) < 2 else (ast.Name,)
"""

REFUSED = {
    "bases that change, by wraps": (
        f"{CHANGING_BASES}import functools\n"
        "@functools.wraps(Source())\ndef f(): pass\nclass X(f): pass"
    ),
    "bases that change, by lru_cache": (
        f"{CHANGING_BASES}import functools\nf = functools.lru_cache(Source())\nclass X(f): pass"
    ),
    "bases that change, by singledispatch": (
        f"{CHANGING_BASES}import functools\n"
        "f = functools.singledispatch(Source())\nclass X(f): pass"
    ),
    "special names among the assigned": (
        "import functools, json\n"
        "@functools.wraps(json.dumps, assigned=('__globals__',))\ndef f(): pass\n"
        "f.__globals__"
    ),
    "the names of a dispatcher's argument": (
        "import functools\nf = functools.singledispatch(len)\nf.dispatch(object())"
    ),
    "a special variable of an object, by cached_property": """
from functools import cached_property
class P:
    x = cached_property(lambda self: {})
P.x.attrname = "__dataclass_fields__"
P().x
""",
    "a private variable of a base, by cached_property": """
from functools import cached_property
import random
class P(random.Random):
    x = cached_property(lambda self: 1)
P.x.attrname = "_randbelow"
P().x
""",
    "a cached_property with two names": """
from functools import cached_property
class P:
    x = cached_property(lambda self: 1)
    y = x
P().y
""",
}


@pytest.mark.parametrize("name", REFUSED)
def test_no_function_takes_over_what_a_program_cannot_write(box: Sandbox, name: str) -> None:
    """What is copied is harmless, whatever an object says of itself."""
    run = box.run(REFUSED[name])
    assert run.status == "error", str(run)
    assert box.run("import ast\nisinstance(globals().get('X'), type)").value is False


def test_no_class_is_shown_to_what_says_that_it_has_bases(box: Sandbox) -> None:
    """To choose a function, ``singledispatch`` compares all classes: with those of a class only."""
    run = box.run("""
import functools
class Looks:
    def __hash__(self): return hash(int)
    def __eq__(self, other): seen.append(other)
class Based:
    def __getattr__(self, name):
        if name in ("__mro__", "__bases__"):
            return (object,) if name == "__bases__" else (Looks(),)
        raise AttributeError(name)
seen = []
try:
    functools.singledispatch(len).dispatch(Based())
except (AttributeError, TypeError):
    pass
len(seen)
""")
    assert run.value == 0, str(run)
