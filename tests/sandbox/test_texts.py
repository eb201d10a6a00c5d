"""Texts run as code go through the same policy, in the program's own namespace."""

from __future__ import annotations

from typing import Any

import pytest
from circlet.sandbox import Sandbox

WORKS: dict[str, tuple[str, Any]] = {
    "an expression": ("eval('1 + 2')", 3),
    "blanks before an expression": ("eval('  1 + 2')", 3),
    "names of the turn": ("x = 5\neval('x * 2')", 10),
    "names of the function": ("def f(a):\n    b = 2\n    return eval('a + b')\nf(3)", 5),
    "names of the comprehension": ("[eval('i * 2') for i in range(3)]", [0, 2, 4]),
    "names of the class body": ("class A:\n    v = 3\n    w = eval('v')\nA.w", 3),
    "statements bind in the turn": ("x = 1\nexec('y = x + 1')\ny", 2),
    "an import": ("exec('import json\\nr = json.dumps([1])')\nr", "[1]"),
    "bytes": ("eval(b'1 + 2')", 3),
    "globals that are given": ("eval('k + 1', {'k': 1})", 2),
    "locals that are given": ("eval('k + q', {'k': 1}, {'q': 5})", 6),
    "locals of another kind": (
        "class M(dict):\n    def __missing__(self, k): return k.upper()\neval('a + b', {}, M())",
        "AB",
    ),
    "names are left in what is given": ("d = {}\nexec('a = 1', d)\nd['a']", 1),
    "names are left in the locals": ("d = {}\nexec('a = 1', {}, d)\nd", {"a": 1}),
    "names are taken away": ("d = {'a': 1}\nexec('del a', d)\n'a' in d", False),
    "other keys stay": (
        "d = {1: 2, 'not a name': 3}\nexec('a = 1', d)\nd[1], d['not a name']",
        (2, 3),
    ),
    "a dictionary keeps its functions together": (
        "d = {}\nexec('def g(n): return n + k', d)\nexec('k = 10', d)\nd['g'](5)",
        15,
    ),
    "what the host of a dictionary sets is seen": (
        "d = {}\nexec('def g(): return k', d)\nd['k'] = 7\nexec('r = g()', d)\nd['r']",
        7,
    ),
    "a text in a text": ("d = {}\nexec('exec(\"a = 1\", d)', {'d': d})\nd['a']", 1),
    "the same dictionary in itself": (
        "d = {}\nd['d'] = d\nexec('b = 1; exec(\"a = b + 1\", d)', d)\nd['a']",
        2,
    ),
    "names are left even after an error": (
        "d = {}\ntry:\n    exec('a = 1\\n1 / 0', d)\nexcept ZeroDivisionError: pass\nd['a']",
        1,
    ),
    "a class and its methods": (
        "exec('class P:\\n    def __init__(self):\\n        self._x = 3', d := {})\nd['P']()._x",
        3,
    ),
    "a dataclass": (
        "s = 'from dataclasses import dataclass\\n@dataclass\\nclass P:\\n    x: int'\n"
        "exec(s, d := {})\nd['P'](3).x",
        3,
    ),
    "compiled once, run twice": (
        "c = compile('x + 1', 'f', 'eval')\nx = 1\na = eval(c)\nx = 2\na, eval(c)",
        (2, 3),
    ),
    "compiled statements": ("exec(compile('a = 4', '<string>', 'exec'))\na", 4),
    "a tree": ("import ast\neval(ast.parse('1 + 1', mode='eval'))", 2),
    "as a callback": ("list(map(eval, ['1', '2']))", [1, 2]),
    "globals() can be set": ("globals()['zz'] = 3\nzz", 3),
    "globals() shows what a function sets": (
        "def f():\n    global made\n    made = 1\nf()\nglobals()['made'], 'made' in globals()",
        (1, True),
    ),
    "globals() can be deleted from": ("q = 1\ndel globals()['q']\n'q' in globals()", False),
    "globals() can be gone through": (
        "q = 1\n[k for k, v in globals().items() if k == 'q']",
        ["q"],
    ),
    "globals() for a text": ("exec('def f(): return 5', globals())\nf()", 5),
    "locals() of a function": (
        "def f(a, _b=2):\n    c = 3\n    return locals()\nf(1)",
        {"a": 1, "_b": 2, "c": 3},
    ),
    "locals() of the turn": ("q = 1\nlocals()['q'], locals() == globals()", (1, True)),
    "vars() and dir()": ("def f(a):\n    return vars(), dir()\nf(1)", ({"a": 1}, ["a"])),
}


@pytest.mark.parametrize("what", WORKS)
def test_texts_run_as_in_python(box: Sandbox, what: str) -> None:
    """``exec``, ``eval``, ``compile``, ``globals`` and ``locals`` do what they do in CPython."""
    source, value = WORKS[what]
    run = box.run(source)
    assert run.error is None, run.error
    assert run.value == value


REFUSED = {
    "a special attribute": "eval('().__class__.__mro__')",
    "an import of what is not there": "exec('import os\\nos.listdir(\"/\")')",
    "the import function": "eval('__import__(\"os\")')",
    "a special attribute in a tree": (
        "import ast\neval(ast.parse('print.__globals__', mode='eval'))"
    ),
    "code that was compiled": "exec(compile('print.__globals__', 'f', 'exec'))",
    "a guard among the globals": "exec('o._x = 1', {'o': open, '<own>': lambda o, n: o})",
    "a guard among the locals": "exec('o._x = 1', {'o': open}, {'<own>': lambda o, n: o})",
    "a guard by globals()": "globals()['<own>'] = lambda o, n: o",
    "builtins of the program's own": (
        "d = {'__builtins__': {'<own>': lambda o, n: o}, 'o': open}\nexec('o._x = 1', d)"
    ),
    "builtins through globals()": "globals()['__builtins__']",
    "builtins set through globals()": "globals()['__builtins__'] = {}",
    "builtins deleted through globals()": "del globals()['__builtins__']",
    "the name of the module": "globals()['__name__'] = 'os'",
    "a view around a dictionary of one's own": "type(globals())({})",
    "a view that is set up anew": "globals().__init__({})",
    "a subclass of the view": "class V(type(globals())): pass",
    "code that is made": "type(compile('1', '', 'eval'))()",
    "a gate by exec": "exec('done = 3')",
    "a gate by globals()": "globals()['done'] = 3",
    "a gate deleted by globals()": "del globals()['done']",
    "a key that only seems a name": "class S(str): pass\nglobals()[S('__builtins__')] = {}",
}


@pytest.mark.parametrize("what", REFUSED)
def test_a_text_gets_no_further_than_the_program(box: Sandbox, what: str) -> None:
    """Neither the text, nor the names that it is given, nor a view leads past the policy."""
    run = box.run(REFUSED[what])
    assert run.status == "error"
    assert box.run("import json\nlen(json.dumps(1))").value == 1


def test_builtins_can_be_chosen(box: Sandbox) -> None:
    """``__builtins__`` in a dictionary says what there is, and the guards stay all the same."""
    assert "name 'len' is not defined" in str(box.run("eval('len([1])', {'__builtins__': {}})"))
    assert box.run("eval('size([1])', {'__builtins__': {'size': len}})").value == 1
    assert "import" in str(box.run("exec('import json', {'__builtins__': {}})"))
    guarded = "class A:\n    def f(self): return [self._x, open._x]\nA._x = 1\nA().f()"
    run = box.run(f"exec({guarded!r}, {{'__builtins__': {{'open': open}}}})")
    assert run.status == "error"
    assert box.run("d = {'__builtins__': {}}\nexec('r = 1', d)\nstr(d['__builtins__'])").value == (
        "<builtins>"
    )


def test_a_copied_mark_does_not_lead_to_another_scopes_guards(box: Sandbox) -> None:
    """The mark in a dictionary that ``exec`` has used can be passed on: the variables go along."""
    source = """
a = {}
exec('x = 1', a)
b = {"__builtins__": a["__builtins__"], "y": 2}
exec('r = y, "x" in globals()', b)
b["r"]
"""
    assert box.run(source).value == (2, False)


def test_an_error_in_a_text_shows_the_text(box: Sandbox) -> None:
    """The line of the text is shown, and so is the turn's own that ran it."""
    text = str(box.run("k = 0\nexec('def q():\\n    return 1 / k')\nq()"))
    assert "return 1 / k" in text
    assert "line 3, in <module>" in text
    assert "circlet" not in text


def test_a_refusal_in_a_text_can_be_caught(box: Sandbox) -> None:
    """It is a SyntaxError of the text, not of the turn."""
    source = (
        "try:\n    eval('a.__globals__')\nexcept SyntaxError as error:\n    r = error.lineno\nr"
    )
    assert box.run(source).value == 1


def test_many_texts_are_not_kept(box: Sandbox) -> None:
    """A loop over ever new texts runs; what is kept of them is bounded."""
    assert box.run("sum(eval(str(i)) for i in range(2_000))").value == sum(range(2_000))


def test_other_kinds_are_refused(box: Sandbox) -> None:
    """What is no text, no tree and no code gets an error that says what is taken."""
    assert "takes a text" in str(box.run("eval(5)"))
    assert "must be a dict" in str(box.run("eval('1', [])"))
    assert "mode 'exec' or 'eval'" in str(box.run("compile('1', '', 'single')"))
