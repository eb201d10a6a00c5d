"""``:=``: allowed; its name is checked in the scope that it binds in."""

import pytest

PROGRAMS = {
    "in a condition": "if (n := len('abc')) > 2: print(n)\nn",
    "in a loop": "data = [3, 2, 0, 1]\nwhile (x := data.pop(0)): print(x)\nx",
    "in a call": "print(a := 1, (b := 2))\na, b",
    "in a comprehension": "[y for x in range(5) if (y := x * x) > 3], y",
    "in a nested comprehension": "[[(z := i * j) for i in range(3)] for j in range(3)]\nz",
    "in a generator": "any((found := x) > 2 for x in [1, 3, 5]), found",
    "in a function's comprehension": """
def f():
    [last := x for x in range(4)]
    return last
f()
""",
    "of a global in a comprehension": """
def f():
    global best
    [best := x for x in range(4)]
f()
best
""",
    "in a lambda": "(lambda: (y := 3) + y)()",
    "in an f-string": "f'{(n := 5)!r:>3}', n",
    "in a subscript": "a = [1, 2]\na[i := 1], i",
    "in a decorator": "@(d := lambda f: 'decorated')\ndef f(): ...\nf",
    "in a default": "def f(a=(k := 7)): return a\nf(), k",
    "in an assert": "assert (m := 3)\nm",
    "in a class body": "class A:\n    x = (y := 2) + 1\nA.x, A.y",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_the_walrus_is_cpythons(same, what):
    """It binds where CPython binds it: a comprehension's in the scope around it."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "form",
    [
        "({} := 1)",
        "[{} := x for x in [1]]",
        "{{({} := x): 1 for x in [1]}}",
        "[[({} := x) for x in [1]] for _ in [1]]",
        "f'{{({} := 1)}}'",
        "lambda: ({} := 1)",
    ],
)
@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__"])
def test_it_binds_no_name_that_python_relies_on(refusal, form, name):
    """Wherever it stands, its name is checked."""
    assert name in refusal(form.format(name)).message


@pytest.mark.parametrize(
    "form",
    [
        "({} := 1)",
        "[{} := x for x in [1]]",
        "[[({} := x) for x in [1]] for _ in [1]]",
        "print(any(({} := x) for x in [1]))",
    ],
)
def test_it_binds_no_gate_at_turn_level(refusal, form):
    """Out of a comprehension it reaches turn level, where the gates are."""
    assert '"echo" is a gate here' in refusal(form.format("echo")).message


@pytest.mark.parametrize(
    "source",
    [
        "(lambda: (echo := 1))()",
        "def f():\n    return (echo := 1)\nf()",
        "def f():\n    [echo := x for x in [1]]\n    return echo\nf()",
    ],
)
def test_inside_functions_a_gates_name_is_free(box, source):
    """A function's local name hides nothing from anybody else."""
    assert box.run(source).value == 1
    assert box.run("echo(5)").value == 5
