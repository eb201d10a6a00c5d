"""``types``: what tells objects apart is there, what makes code, frames or classes is not."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox


def test_types_tell_objects_apart(same_as_cpython: Callable[[str], None]) -> None:
    """Each type is good for ``isinstance`` and for annotations, those that make nothing too."""
    same_as_cpython("""
import types, sys
def f(): yield 1
async def c(): pass
co = c()
co.close()
try:
    1 / 0
except ZeroDivisionError:
    traceback = sys.exc_info()[2]
g = f()
def of(kind: types.CodeType | None = None) -> "types.FrameType": return kind
(
    isinstance(f, types.FunctionType), isinstance(lambda: 0, types.LambdaType), isinstance(g,
    types.GeneratorType),
    isinstance(co, types.CoroutineType), isinstance([].append, types.BuiltinMethodType),
    isinstance(len, types.BuiltinFunctionType), isinstance("".__len__, types.MethodWrapperType),
    isinstance(str.join, types.MethodDescriptorType), isinstance(None, types.NoneType),
    isinstance(..., types.EllipsisType), isinstance(int | str, types.UnionType),
    isinstance(list[int], types.GenericAlias), types.GenericAlias(list, (int,)) == list[int],
    isinstance(traceback, types.TracebackType), isinstance(sys, types.ModuleType),
    isinstance(f, types.CodeType), isinstance(f, types.FrameType), isinstance(1, types.ModuleType),
    issubclass(types.FunctionType, types.ModuleType), type(f) is types.FunctionType,
    types.MappingProxyType({"a": 1})["a"], types.MethodType(lambda self, n: (self, n), 1)(2), of(),
    {types.NoneType: 1}[type(None)], repr(types.CodeType), types.ModuleType.__name__,
)
""")


@pytest.mark.parametrize(
    "source",
    [
        "types.CodeType(0, 0, 0, 0, 0, 0, b'', (), (), (), '', '', '', 0, b'', b'')",
        "types.ModuleType('m')",
        "types.TracebackType(None, None, 0, 0)",
        "types.FrameType()",
        "class C(types.CodeType): pass",
        "types.new_class('C')",
        "types.coroutine(heapq.merge)",
        "types.coroutine(len)",
        "types.FunctionType((lambda: 0).__code__, {})",
        "types.FunctionType(compile('1', '', 'exec'), {})",
    ],
)
def test_types_make_no_code_and_no_classes(box: Sandbox, source: str) -> None:
    """Neither code, frames, tracebacks, modules nor classes come out of ``types``."""
    assert box.run(f"import heapq, types\n{source}").status == "error"


def test_generator_functions_become_coroutines(same_as_cpython: Callable[[str], None]) -> None:
    """``types.coroutine`` makes what ``await`` takes of a generator function of one's own."""
    same_as_cpython("""
import types
@types.coroutine
def step(n):
    got = yield n
    return got * 2
async def main(): return await step(1) + await step(2)
c = main()
said = [c.send(None), c.send(10)]
try:
    c.send(20)
except StopIteration as end:
    said.append(end.value)
said
""")


@pytest.mark.parametrize(
    "source",
    [
        "class S(super): pass\nS(random.SystemRandom, random.SystemRandom())._randbelow",
        "class G(type(list[int])): pass\nG(random.Random(1), int)._randbelow",
        "class G(types.GenericAlias): pass\nG(random.Random(1), int)._randbelow",
        "class M(types.MethodType): pass\nM(random.randint, 1)._randbelow",
        "class P(types.MappingProxyType): pass",
    ],
)
def test_no_own_class_answers_for_other_objects(box: Sandbox, source: str) -> None:
    """A class whose instances hand on reads of attributes can't be a base.

    Private names of a program's own objects are read freely, so those would be another's.
    """
    assert box.run(f"import random, types\n{source}").status == "error"


def test_simple_namespaces_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """They are made, read, written, compared, shown and inherited from."""
    same_as_cpython("""
from types import SimpleNamespace
import types
import json
n = SimpleNamespace(a=1, b=[2])
n.c = 3
del n.a
private = SimpleNamespace(_id=5)
private.__dict__["x"] = 6
loop = SimpleNamespace()
loop.me = loop
class Own(SimpleNamespace):
    def total(self): return self.b[0] + self.c
    def hidden(self): self._x = 1; return self._x
try:
    n.a
except AttributeError as error:
    said = error.name
try:
    hash(n)
except TypeError as error:
    no = type(error).__name__
o = Own(b=[2], c=3)
(
    vars(n), private._id, private.__dict__, json.dumps([n, private], default=vars), private.x,
    repr(n), n == SimpleNamespace(b=[2], c=3), n == 1, n != SimpleNamespace(), repr(loop), said, no,
    o.total(), o == n, repr(o), o.hidden(), isinstance(n, types.SimpleNamespace), n.b,
    repr(SimpleNamespace()),
)
""")


@pytest.mark.parametrize(
    "source",
    [
        "SimpleNamespace(**{'__class__': int})",
        "SimpleNamespace(**{'__reduce_ex__': len})",
        "SimpleNamespace({'__deepcopy__': len})",
        "SimpleNamespace().__dict__['__class__'] = int",
        "SimpleNamespace.__init__ = len",
        "SimpleNamespace.__init__(random.Random(), _x=1)",
        "SimpleNamespace.__init__(random.Random(), seed=1)",
        "SimpleNamespace.__repr__(random.Random())",
        "SimpleNamespace.__eq__(random.Random(), random.Random())",
        "super(SimpleNamespace, SimpleNamespace()).__init__(**{'__class__': int})",
        "class R(SimpleNamespace, random.Random): pass\nR(_randbelow=len)",
    ],
)
def test_simple_namespaces_take_plain_names_only(box: Sandbox, source: str) -> None:
    """No special name comes in, and no other object's variables are read or set."""
    run = box.run(f"import random\nfrom types import SimpleNamespace\n{source}")
    assert run.status == "error", str(run)
