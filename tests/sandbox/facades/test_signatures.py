"""``inspect`` and ``importlib``, as far as they go: harmless facts, and imports by name."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox

HONEST = {
    "signatures": """
import functools, inspect
from dataclasses import dataclass, field
from typing import NamedTuple
def f(a, /, b: int, c=3, *args, d: "str" = "x", **kw) -> float: ...
class C:
    def __init__(self, x, y=2): ...
    def method(self, z): ...
    @classmethod
    def made(cls, q): ...
    @staticmethod
    def still(s): ...
    def __call__(self, w): ...
class Plain: pass
class Child(C): pass
@dataclass
class D:
    x: int
    y: list = field(default_factory=list)
    z: tuple = (1, 2)
class N(NamedTuple):
    a: int
    b: tuple = ()
@functools.wraps(f)
def wrapped(*args): ...
@functools.lru_cache
def cached(n): ...
things = [f, C, C.method, C(1).method, C.made, C.still, C(1), Plain, Child, N, wrapped, cached,
          functools.partial(f, 1), functools.partial(f, 1, c=5), lambda x, *y: x, len, "".join]
[str(inspect.signature(thing)) for thing in things] + [
    str(inspect.signature(wrapped, follow_wrapped=False)), list(inspect.signature(D).parameters),
    D.__doc__]
""",
    "parameters and bindings": """
import inspect
def f(a, b: int = 2, *rest, c, **kw) -> str: ...
signature = inspect.signature(f)
bound = signature.bind(1, c=3, z=4)
bound.apply_defaults()
errors = []
for args in ((), (1,)):
    try:
        signature.bind(*args)
    except TypeError as error:
        errors.append(str(error))
try:
    inspect.signature(3)
except TypeError as error:
    errors.append(str(error))
parameters = signature.parameters.values()
(bound.args, bound.kwargs, dict(bound.arguments), errors,
 [(p.name, p.kind.name, p.default is inspect.Parameter.empty) for p in parameters],
 signature.return_annotation is str, signature.parameters["b"].annotation is int,
 str(signature.replace(parameters=[])), str(inspect.Parameter("q", signature.parameters["c"].kind)))
""",
    "what a thing is": """
import inspect
from abc import ABC, abstractmethod
class A(ABC):
    @abstractmethod
    def f(self): ...
class B:
    "Doc of B."
    x = 1
    def m(self): "Doc of m."
class C(B): pass
def gen(): yield
async def co(): ...
async def agen(): yield
g = gen()
states = [inspect.getgeneratorstate(g)]
next(g)
states.append(inspect.getgeneratorstate(g))
g.close()
states.append(inspect.getgeneratorstate(g) == inspect.GEN_CLOSED)
def doc():
    '''First.

        Indented.
    '''
(inspect.isabstract(A), inspect.isclass(B), inspect.isclass(3), inspect.isfunction(gen),
 inspect.ismethod(B().m), inspect.isbuiltin(len), inspect.isroutine(len), inspect.isgenerator(g),
 inspect.isgeneratorfunction(gen), inspect.iscoroutinefunction(co),
 inspect.isasyncgenfunction(agen), inspect.ismodule(inspect), inspect.ismodule(3),
 states, inspect.getdoc(C), inspect.getdoc(B.m),
 inspect.getdoc(doc), inspect.cleandoc(" a\\n  b"),
 [name for name, _ in inspect.getmembers(B(), inspect.ismethod)],
 [m for m in inspect.getmembers(C) if m[0] == "x"])
""",
    "imports by name": """
import importlib
names = []
try:
    importlib.import_module("no_such_module")
except ModuleNotFoundError as error:
    names.append(error.name)
(importlib.import_module("math").sqrt(9), importlib.import_module("collections.abc").Sized.__name__,
 [importlib.import_module(name).__name__ for name in ("json", "re")], names)
""",
}


@pytest.mark.parametrize("name", HONEST)
def test_what_is_looked_at_is_told_as_by_cpython(
    same_as_cpython: Callable[[str], None], name: str
) -> None:
    """Signatures, kinds, texts and imports are those of CPython."""
    same_as_cpython(HONEST[name])


def test_the_source_of_ones_own_functions_is_there(box: Sandbox) -> None:
    """``getsource`` gives a function of any turn, as it was written there; no other."""
    box.run("def outer():\n    # says so\n    def inner(x):\n        return x\n    return inner\n")
    run = box.run("import inspect\ninspect.getsource(outer()), inspect.getsource(outer)")
    assert run.value == (
        "    def inner(x):\n        return x\n",
        "def outer():\n    # says so\n    def inner(x):\n        return x\n    return inner\n",
    ), str(run)
    assert box.run("import json\ninspect.getsource(json.dumps)").error.type == "OSError"
    assert box.run("inspect.getsource(3)").error.type == "TypeError"


REFUSED = {
    "a signature in a text": """
class Crafted:
    def __get__(self, obj, kind): ...
    def __getattr__(self, name):
        return "(a=__import__('os'))" if name == "__text_signature__" else None
inspect.signature(Crafted())
""",
    "a signature in a text, by the class of signatures": """
class Crafted:
    def __get__(self, obj, kind): ...
    def __getattr__(self, name):
        return "(a=__import__('os'))" if name == "__text_signature__" else None
inspect.Signature.from_callable(Crafted())
""",
    "a signature in a text, by what a function wraps": """
import functools
class Crafted:
    def __get__(self, obj, kind): ...
    def __getattr__(self, name):
        return "(a=__import__('os'))" if name == "__text_signature__" else None
inspect.signature(functools.wraps(Crafted())(lambda: 0))
""",
    "annotations evaluated": 'def f(a: "print(1)"): ...\ninspect.signature(f, eval_str=True)',
    "special members": "dict(inspect.getmembers(len))['__self__']",
    "private members": "import random\ndict(inspect.getmembers(random.Random()))['_randbelow']",
    "frames": "inspect.currentframe()",
    "a module that is none here": "importlib.import_module('os.sys')",
    "a module that is none here, by a library function": (
        "import re\nre.sub('subprocess', lambda m: importlib.import_module(m[0]), 'subprocess')"
    ),
    "a raw module, by a caller of the library's": (
        "class Name(str): pass\nimport functools\n"
        "functools.singledispatch(importlib.import_module)('subprocess')"
    ),
    "a module relative to another": "importlib.import_module('.abc', 'collections')",
    "reload": "importlib.reload(inspect)",
}


@pytest.mark.parametrize("name", REFUSED)
def test_nothing_is_evaluated_or_imported_past_the_facades(box: Sandbox, name: str) -> None:
    """A text that an object gives is not evaluated, and imports are the program's own."""
    run = box.run(f"import importlib, inspect\n{REFUSED[name]}")
    assert run.status == "error", str(run)


def test_what_library_functions_take_for_granted_is_not_shown(box: Sandbox) -> None:
    """A library function's defaults are shown where they are plain values."""
    run = box.run(
        "import inspect, json, string\n"
        "found = [p.default for f in (json.dumps, json.JSONDecoder.decode, "
        "string.Template.substitute, inspect.cleandoc) "
        "for p in inspect.signature(f).parameters.values()]\n"
        "sorted({type(d).__name__ for d in found if d is not inspect.Parameter.empty})"
    )
    assert run.value == ["NoneType", "bool", "ellipsis"], str(run)


def test_imports_by_name_keep_to_the_modules_that_a_session_has() -> None:
    """``modules`` narrows what ``import_module`` finds as well."""
    with Sandbox(modules=("importlib", "math")) as box:
        assert box.run("import importlib\nimportlib.import_module('math').pi > 3").value is True
        assert "no module 'json'" in str(box.run("importlib.import_module('json')"))


def test_a_future_import_stands_first_as_in_cpython(box: Sandbox) -> None:
    """``__future__`` has its names, and one that it lacks is an error."""
    assert box.run("from __future__ import annotations, division\n1 / 2").value == 0.5
    assert box.run("from __future__ import nothing").status == "error"
    assert box.run("x = 1\nfrom __future__ import annotations").error.type == "SyntaxError"
