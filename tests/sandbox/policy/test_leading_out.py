"""Names and calls that lead out: refused by every way to write them, and nothing is shown."""

import pytest
from circlet.sandbox import Sandbox

ATTRIBUTES = [
    *("__globals__", "__code__", "__closure__", "__builtins__", "__subclasses__", "__del__"),
    *("__reduce_ex__", "__getattribute__", "__loader__", "__spec__"),
    *("tb_frame", "tb_next", "f_back", "f_globals", "f_locals", "f_builtins", "f_code", "f_trace"),
    *("gi_frame", "gi_code", "cr_frame", "cr_code", "cr_origin", "ag_frame", "ag_code", "co_code"),
]


FORMS = [
    "x.{}",
    "x.{} = 1",
    "del x.{}",
    "x.{} += 1",
    "x.{}: int = 1",
    "match x:\n    case object({}=y): pass",
    "for x.{} in [1]: pass",
    "with x as y.{}: pass",
    "[1 for x.{} in [1]]",
    "f'{{x.{}}}'",
    "(lambda: x.{})",
    "@x.{}\ndef f(): ...",
    "class A(x.{}): ...",
]


@pytest.mark.parametrize("attribute", ATTRIBUTES)
def test_such_an_attribute_is_refused_wherever_it_stands(refusal, attribute):
    """The name is refused in every construct that an attribute can stand in."""
    for form in FORMS:
        assert attribute in refusal(form.format(attribute)).message, form


@pytest.mark.parametrize("name", ["__globals__", "__code__", "gi_frame", "__subclasses__"])
def test_the_same_names_are_closed_at_run_time(box: Sandbox, name: str) -> None:
    """What is refused in the source can't be had by ``getattr`` or ``format`` either."""
    head = "def f(): yield\n"
    for source in (f"getattr(f(), '{name[:3]}' + '{name[3:]}')", f"'{{0.{name}}}'.format(f)"):
        run = box.run(head + source)
        assert run.error is not None
        assert run.error.type == "AttributeError"
        assert name in run.error.message


@pytest.mark.parametrize(
    "source",
    [
        "print('{0.__class__.__mro__}'.format(1))",
        "print(done.__globals__, echo.__closure__)",
        "try:\n    1 / 0\nexcept ZeroDivisionError as e:\n"
        "    print(e.__traceback__.tb_frame.f_back.f_globals)",
        "print((lambda: (yield))().gi_frame.f_back, getattr([], '__cl' + 'ass__'))",
        "import random\nprint(random._os.environ)",
        "getattr([], '__cl' + 'ass__').__subclasses__()",
        "().__class__.__base__.__subclasses__()",
        "getattr(print, '__glo' + 'bals__')",
        "setattr(int, 'x', 1)",
        "setattr(print, '__globals__', {})",
        "class N(str): pass\ngetattr(print, N('__globals__'))",
        "class N(str): pass\nhasattr(print, N('x'))",
        "int.x = 1",
        "done._call",
        "echo._seal",
        "class G(type(echo)): pass",
        "import re\nclass F(type(re)): pass",
        "import re, typing\nclass F(typing.Annotated[type(re), 1]): pass",
        "import typing\nclass F(typing.Annotated[typing.Type, 1]): pass",
        "import ast\nclass N(ast.Name): pass",
        "import ast\nast.Name(_fields=('__globals__',))",
        "import ast\nlist(ast.iter_fields(print))",
        "from enum import Enum\n"
        "class Two:\n"
        "    def __getitem__(self, i): return ('a', 1)[i]\n"
        "    def __iter__(self): return iter(('__reduce_ex__', 1))\n"
        "Enum('E', [Two()])",
        "open('/etc/passwd')",
        "input()",
        "breakpoint()",
        "help(print)",
        "__import__('os')",
        "import ctypes",
        "from os import system",
        "import sys\nsys.modules",
        "exec('import ctypes')",
        "eval('print.__globals__')",
        "from operator import attrgetter\nattrgetter('__globals__')(len)",
        "from functools import reduce\nreduce(getattr, ['__class__', '__subclasses__'], 1)()",
        "list(map(getattr, [print], ['__globals__']))",
        "from typing import get_type_hints\ndef f(a: 'print.__globals__'): ...\n"
        "get_type_hints(f)['a'].__globals__",
        "from functools import update_wrapper\ndef f(): ...\nupdate_wrapper(f, print).__globals__",
        "type(lambda: 1)(1, {})",
        "(lambda: 1).__class__((lambda: 2).__code__, {})",
        "async def f(): ...\nf().cr_frame",
        "class A:\n    def __getattr__(self, n): return n\nA().__globals__",
        "class A(Exception): ...\nA.__reduce__(A())",
        "print(vars(print), vars(type(print)))",
        "memoryview(b'').__class__.__subclasses__()",
    ],
)
def test_ways_out_end_in_an_error(box: Sandbox, source: str) -> None:
    """Each of them ends in an error observation that shows nothing of the host."""
    run = box.run(source)
    assert run.status == "error", str(run)
    for leak in ("/work", "/usr", "site-packages", "0x7", "circlet", "PATH", "/root", "/home"):
        assert leak not in str(run)
