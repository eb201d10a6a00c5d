"""Annotations: allowed everywhere, with their real values."""

import pytest

PROGRAMS = {
    "of a name": "n: int = 3\nn",
    "without a value": "def f():\n    n: int\n    return 'n' in locals()\nf()",
    "of an item and an attribute": "class A: pass\nd, a = {}, A()\nd['k']: int = 1\na.x: int = 2\n"
    "d, a.x",
    "in brackets": "(n): int = 3\nn",
    "of parameters and results": """
def f(a: int, /, b: 'text', *c: float, d: list[int] = [], **e: dict) -> tuple: ...
str(f.__annotations__)
""",
    "are evaluated": "def f(a: print('now') or int): ...\nstr(f.__annotations__)",
    "are evaluated in the order of the source": """
def say(x):
    print(x)
    return x
def f(a: say(1) = say(2), *, b: say(3) = say(4)) -> say(5): ...
""",
    "of a class": "class A:\n    x: int = 1\n    y: 'A'\n    z: list[str]\nstr(A.__annotations__)",
    "of a class and its base": """
class A: x: int
class B(A): y: str
str((B.__annotations__, A.__annotations__))
""",
    "of a decorated class": """
def fields(cls): return {name: kind.__name__ for name, kind in cls.__annotations__.items()}
@fields
class A:
    x: int
    y: list
A
""",
    "a new style of union": "def f(a: int | None, b: list[int] | str): ...\nstr(f.__annotations__)",
    "typing's": """
from typing import Any, Callable, Optional
def f(a: Optional[int], b: Callable[[int], Any] = len) -> dict[str, Any]: ...
str(f.__annotations__)
""",
    "any expression": "def f(a: 1 + 1, b: (lambda: 3)): ...\nf.__annotations__['a']",
    "of a name that is not there": "def f(a: Nowhere): ...",
    "as texts": """
from __future__ import annotations
def f(a: Nowhere, b: list[int]) -> 1 + 1: ...
class A:
    x: Unheard
f.__annotations__, A.__annotations__
""",
    "as texts, and a dataclass": """
from __future__ import annotations
from dataclasses import dataclass, fields
@dataclass
class Node:
    name: str
    next: Node | None = None
[f.type for f in fields(Node)], Node('a', Node('b')).next.name
""",
    "as texts in one turn": (
        "from __future__ import annotations\ndef f(a: int): ...",
        "def g(a: int): ...\nf.__annotations__, str(g.__annotations__)",
    ),
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_annotations_have_their_values(same, what):
    """An annotation is evaluated where CPython evaluates it, and keeps what came of it."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


def test_those_that_are_read_are_a_copy(box):
    """Changing what was read changes no function."""
    run = box.run(
        "def f(a: int): ...\nf.__annotations__['a'] = str\n"
        "f.__annotations__.clear()\nstr(f.__annotations__)"
    )
    assert run.value == "{'a': <class 'int'>}"


@pytest.mark.parametrize(
    "source",
    [
        "n: print.__globals__ = 1",
        "def f(a: print.__globals__): ...",
        "def f() -> print.__globals__: ...",
        "def f(*, a: print.__globals__): ...",
        "def f(*a: print.__globals__): ...",
        "def f(**a: print.__globals__): ...",
        "class A:\n    x: print.__globals__",
        "async def f(a: print.__globals__): ...",
        "x.__globals__: int",
        "x.__globals__: int = 1",
    ],
)
def test_an_annotation_is_checked_as_any_expression(refusal, source):
    """What stands in an annotation is checked, and so is its target."""
    assert "__globals__" in refusal(source).message


@pytest.mark.parametrize("name", ["super", "__builtins__", "echo"])
def test_an_annotated_name_is_checked(refusal, name):
    """With a value or without, the name is bound, or made local."""
    assert name in refusal(f"{name}: int = 1").message
    assert name in refusal(f"{name}: int").message


def test_those_of_library_functions_are_closed(box):
    """Only the program's own functions and classes show theirs."""
    run = box.run("import textwrap\ntextwrap.dedent.__annotations__")
    assert run.status == "error"
    assert "__annotations__" in str(run)
