"""What binds a name: none of Python's ways takes one that the sandbox relies on."""

import pytest
from circlet.sandbox import Sandbox

BINDERS = {
    "assignment": "{} = 1",
    "annotation": "{}: int = 1",
    "bare annotation": "{}: int",
    "augmented": "{} += 1",
    "walrus": "({} := 1)",
    "for": "for {} in [1]: pass",
    "async for": "async def f():\n    async for {} in x: pass",
    "with": "with x as {}: pass",
    "async with": "async def f():\n    async with x as {}: pass",
    "except": "try: pass\nexcept Exception as {}: pass",
    "import": "import {}",
    "import of a submodule": "import {}.path",
    "import as": "import math as {}",
    "from import": "from math import {}",
    "from import as": "from math import pi as {}",
    "def": "def {}(): pass",
    "async def": "async def {}(): pass",
    "class": "class {}: pass",
    "positional argument": "def f({}, /): pass",
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
    "match class": "match 1:\n    case int({}): pass",
    "global": "def f():\n    global {}",
    "delete": "del {}",
    "star target": "a, *{} = [1]",
}
NEVER_AT_TURN_LEVEL = {
    *("argument", "positional argument", "keyword argument", "star argument"),
    *("star star argument", "lambda argument", "comprehension", "async for", "async with"),
}
NAMES = ["super", "__builtins__", "__import__", "__build_class__", "__class__", "__debug__"]


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("binder", BINDERS)
def test_no_binder_takes_a_name_that_python_relies_on(box: Sandbox, binder: str, name: str) -> None:
    """``super`` and special names can't be bound by any of Python's ways to bind a name."""
    run = box.run(BINDERS[binder].format(name))
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")  # CPython itself protects __debug__
    assert name in run.error.message


@pytest.mark.parametrize("binder", sorted(set(BINDERS) - NEVER_AT_TURN_LEVEL))
def test_no_binder_takes_a_gates_name_at_turn_level(refusal, binder: str) -> None:
    """A gate's name is the gate: rebinding it at turn level is refused by name."""
    assert '"echo" is a gate here' in refusal(BINDERS[binder].format("echo")).message


@pytest.mark.parametrize("binder", sorted(NEVER_AT_TURN_LEVEL))
def test_a_gates_name_is_free_elsewhere(box: Sandbox, binder: str) -> None:
    """A parameter or local may be called as a gate is: it hides nothing from anybody else."""
    run = box.run(BINDERS[binder].format("echo"))
    assert run.status == "ok", str(run)
    assert box.run("echo(5)").value == 5


@pytest.mark.parametrize("binder", BINDERS)
def test_a_functions_own_names_may_be_a_gates(box: Sandbox, binder: str) -> None:
    """Inside a function every binder but ``global`` makes a local name."""
    body = BINDERS[binder].format("echo").replace("\n", "\n    ")
    run = box.run(f"def outer():\n    {body}")
    if binder == "global":
        assert run.error is not None
        assert "echo" in run.error.message
    else:
        assert run.status == "ok", str(run)


@pytest.mark.parametrize("binder", sorted(set(BINDERS) - {"import of a submodule", "delete"}))
def test_other_names_are_free(box: Sandbox, binder: str) -> None:
    """Underscores and the names of builtins are the program's to use."""
    no_underscore = {"match as", "match rest"}  # CPython's own grammar
    names = ["_x", "__x", "__x_", "x__", "____", "print", "len", "self"]
    for name in names if binder in no_underscore else ["_", *names]:
        body = BINDERS[binder].format(name).replace("\n", "\n    ")
        run = box.run(f"def outer():\n    {body}")
        assert run.status == "ok", str(run)


def test_clobbered_names_come_back(box: Sandbox) -> None:
    """Whatever a turn does to reserved names, the next turn finds them whole."""
    for source in ("echo = 1", "def done(x): return x", "__builtins__ = {}"):
        assert box.run(source).status == "error"
    box.run("def f():\n    global len\n    len = None\nf()\nprint = None")
    run = box.run("del len, print\nprint(echo('real'))\nlen([1, 2, 3])")
    assert (run.stdout, run.value) == ("real\n", 3)
