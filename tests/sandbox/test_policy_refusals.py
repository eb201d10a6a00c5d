"""What the language wall refuses: each family of constructs, by every way in."""

import ast

import pytest
from circlet.sandbox import Sandbox
from circlet.sandbox.policy import Policy

BINDERS = {
    "assignment": "{} = 1",
    "annotation": "{}: int = 1",
    "augmented": "{} += 1",
    "walrus": "({} := 1)",
    "for": "for {} in [1]: pass",
    "with": "with x as {}: pass",
    "except": "try: pass\nexcept Exception as {}: pass",
    "import as": "import math as {}",
    "from import as": "from math import pi as {}",
    "def": "def {}(): pass",
    "async def": "async def {}(): pass",
    "class": "class {}: pass",
    "argument": "def f({}): pass",
    "keyword argument": "def f(*, {}=1): pass",
    "star argument": "def f(*{}): pass",
    "star star argument": "def f(**{}): pass",
    "lambda argument": "lambda {}: 1",
    "comprehension": "[1 for {} in [1]]",
    "match capture": "match 1:\n    case {}: pass",
    "match as": "match 1:\n    case int() as {}: pass",
    "match star": "match [1]:\n    case [*{}]: pass",
    "match rest": "match {{}}:\n    case {{**{}}}: pass",
    "global": "def f():\n    global {}",
    "delete": "del {}",
    "star target": "a, *{} = [1]",
}
LOCAL = {"argument", "keyword argument", "star argument", "star star argument", "lambda argument"}


def refusal(box: Sandbox, source: str) -> str:
    """The one line that a refused source gets; nothing of it may have run."""
    run = box.run(f"{source}\nran_on = True")
    assert run.status == "error", source
    assert run.error is not None
    assert run.error.type == "Refused", run.error.traceback
    assert run.error.line is not None
    assert box.run("'ran_on' in globals()").value is False
    return run.error.message


@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__", "__class__", "__name__"])
@pytest.mark.parametrize("binder", BINDERS)
def test_no_binder_takes_a_name_that_python_relies_on(box: Sandbox, binder: str, name: str) -> None:
    """``super`` and special names can't be bound by any of Python's ways to bind a name."""
    assert name in refusal(box, BINDERS[binder].format(name))


@pytest.mark.parametrize("binder", sorted(set(BINDERS) - LOCAL - {"comprehension"}))
def test_no_binder_takes_a_gates_name_at_turn_level(box: Sandbox, binder: str) -> None:
    """A gate's name is the gate: rebinding it at turn level is refused by name."""
    assert '"echo" is a gate here' in refusal(box, BINDERS[binder].format("echo"))


@pytest.mark.parametrize("binder", sorted(LOCAL | {"comprehension"}))
def test_a_gates_name_is_free_inside_functions(box: Sandbox, binder: str) -> None:
    """A parameter may be called as a gate is: it hides nothing from anybody else."""
    run = box.run(BINDERS[binder].format("echo"))
    assert run.status == "ok", str(run)


@pytest.mark.parametrize(
    "attribute",
    [
        *("__globals__", "__code__", "__closure__", "__builtins__", "__dict__", "__mro__"),
        *("__base__", "__bases__", "__subclasses__", "__reduce_ex__", "__getattribute__"),
        *("__traceback__", "__self__", "__func__", "__wrapped__", "__module__", "__del__"),
        *("tb_frame", "f_back", "f_globals", "gi_frame", "cr_frame", "ag_frame", "gi_code"),
    ],
)
@pytest.mark.parametrize(
    "form", ["x.{}", "x.{} = 1", "del x.{}", "x.{} += 1", "match x:\n    case object({}=y): pass"]
)
def test_attributes_that_lead_out_are_refused_by_name(
    box: Sandbox, form: str, attribute: str
) -> None:
    """Names that lead into the interpreter are refused wherever one can stand."""
    assert attribute in refusal(box, form.format(attribute))


@pytest.mark.parametrize(
    ("source", "word"),
    [
        ("__builtins__", "__builtins__"),
        ("__loader__", "__loader__"),
        ("from math import *", "*"),
        ("from . import x", "relative"),
        ("class A(metaclass=type): pass", "metaclass"),
        ("class A(**{'metaclass': type}): pass", "metaclass"),
        ("class A:\n    __match_args__ = ('x',)", "__match_args__"),
        ("class A:\n    def __del__(self): pass", "__del__"),
        ("class A:\n    def __getattribute__(self, n): pass", "__getattribute__"),
        ("class A:\n    def __reduce__(self): pass", "__reduce__"),
        ("class A:\n    def __instancecheck__(self, n): pass", "__instancecheck__"),
        ("class A:\n    __class__ = int", "__class__"),
        ("def __getattr__(name): return 1", "__getattr__"),
        ("''.format += x", "format"),
        ("match '':\n    case str(format=f): pass", "format"),
        ("try: pass\nexcept* ValueError: pass", "except*"),
        ("super().__getattribute__", "__getattribute__"),
        ("def f():\n    nonlocal_ = 1\n    def g():\n        nonlocal __class__", "__class__"),
    ],
)
def test_other_constructs_are_refused(box: Sandbox, source: str, word: str) -> None:
    """Imports of everything, metaclasses and hooks on attribute access are refused by name."""
    run = box.run(source)
    assert run.status == "error"
    assert run.error is not None
    assert word in run.error.message


def test_a_refusal_shows_line_and_caret(box: Sandbox) -> None:
    """A refusal names the construct and points at it, as a SyntaxError does."""
    run = box.run("a = 1\nb = 'äö'; c = a.__globals__\n")
    assert run.error is not None
    assert run.error.line == 2
    shown, caret = run.error.traceback.splitlines()[-3:-1]
    assert shown.strip() == "b = 'äö'; c = a.__globals__"
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "a.__globals__"


@pytest.mark.parametrize(
    "source",
    [
        "print('{0.__class__.__mro__}'.format(1))",
        "'{0.__class__.__mro__}'.format_map({'0': 1})",
        "str.format('{0.__globals__}', print)",
        "list(map(str.format, ['{0.__globals__}'], [print]))",
        "class S(str): pass\nS('{0.__globals__}').format(print)",
        "getattr('', 'format')('{0.__globals__}'.format(print))",
        "getattr([], '__cl' + 'ass__').__subclasses__()",
        "getattr(print, '__glo' + 'bals__')",
        "setattr(int, 'x', 1)",
        "setattr(print, '__globals__', {})",
        "class N(str): pass\ngetattr(print, N('__globals__'))",
        "hasattr(print, N('x'))",
        "vars(print)",
        "vars(int)",
        "import random\nrandom._os",
        "import json\njson.codecs",
        "import re\nre.enum",
        "import re\nre.compile = 1",
        "import json\ndel json.loads",
        "int.x = 1",
        "done.__globals__",
        "done._call",
        "echo._seal",
        "type('X', (), {})",
        "type(int)('X', (), {})",
        "class M(type): pass",
        "class G(type(echo)): pass",
        "import typing\nclass M(typing.Type): pass",
        "import typing\nclass M(typing.Type[int]): pass",
        "import re, typing\nclass F(typing.Annotated[type(re), 1]): pass",
        "import typing\nclass F(typing.Annotated[typing.Type, 1]): pass",
        "import re\nclass F(type(re)): pass",
        "import ast\nclass N(ast.Name): pass",
        "from collections.abc import Mapping\nclass A: pass\nMapping.register(A)",
        "from enum import Enum\n"
        "class Two:\n"
        "    def __getitem__(self, i): return ('a', 1)[i]\n"
        "    def __iter__(self): return iter(('__reduce_ex__', 1))\n"
        "Enum('E', [Two()])",
        "try:\n    (1).nope\nexcept AttributeError as e:\n    e.__traceback__.tb_frame",
        "(lambda: (yield))().gi_frame.f_back",
        "class A: pass\nA().__class__ = int",
        "class A: pass\nA.__bases__ = (int,)",
        "import collections\ncollections.namedtuple('P', '_x')",
        "import collections\ncollections.namedtuple('P', '__globals__')",
        "from enum import Enum\nEnum('E', {'__reduce_ex__': 1})",
        "from dataclasses import make_dataclass",
        "from operator import attrgetter",
        "from functools import update_wrapper",
        "from typing import get_type_hints",
        "from string import Formatter",
        "import ast\nast.Name(_fields=('__globals__',))",
        "import ast\nlist(ast.iter_fields(print))",
        "eval('1')",
        "exec('1')",
        "compile('1', '', 'exec')",
        "open('/etc/passwd')",
        "input()",
        "locals()",
        "__import__('os')",
        "import os",
        "import sys",
        "import socket",
        "import importlib",
        "from os import path",
        "import collections.abc.x",
    ],
)
def test_ways_out_end_in_an_error(box: Sandbox, source: str) -> None:
    """Case 27: each of them ends in an error observation that shows nothing of the host."""
    run = box.run(source)
    assert run.status == "error", str(run)
    for leak in ("/work", "/usr", "site-packages", "0x7", "circlet", "PATH"):
        assert leak not in str(run)


@pytest.mark.parametrize("name", ["__globals__", "__code__", "gi_frame", "__subclasses__"])
def test_the_same_names_are_closed_at_run_time(box: Sandbox, name: str) -> None:
    """What is refused in the source can't be had by ``getattr`` or ``format`` either."""
    head = "def f(): yield\n"
    for source in (f"getattr(f(), '{name[:3]}' + '{name[3:]}')", f"'{{0.{name}}}'.format(f)"):
        run = box.run(head + source)
        assert run.error is not None
        assert run.error.type == "AttributeError"
        assert name in run.error.message


def test_a_module_that_is_not_there_lists_those_that_are(box: Sandbox) -> None:
    """Case 26: the error of an import names the module and what can be imported."""
    run = box.run("import socket")
    assert run.error is not None
    assert run.error.type == "ModuleNotFoundError"
    assert "'socket'" in run.error.message
    assert "json" in run.error.message
    assert "\n" not in run.error.message


def test_clobbered_names_come_back(box: Sandbox) -> None:
    """Case 8: whatever a turn does to reserved names, the next turn finds them whole."""
    for source in ("echo = 1", "def done(x): return x", "__builtins__ = {}"):
        assert box.run(source).status == "error"
    box.run("def f():\n    global len\n    len = None\nf()\nprint = None")
    run = box.run("del len, print\nprint(echo('real'))\nlen([1, 2, 3])")
    assert (run.stdout, run.value) == ("real\n", 3)


def test_syntax_newer_than_the_policy_is_closed() -> None:
    """A node that nobody has looked at is refused, whatever Python adds."""

    class Novelty(ast.expr):
        _fields = ()

    policy = Policy()
    policy.visit(Novelty())
    [(_, message)] = policy.refusals
    assert "Novelty" in message
