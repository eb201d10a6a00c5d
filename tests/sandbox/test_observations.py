"""What a program's author is told: silence, errors and their lines, hints, and what is left out."""

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from circlet.sandbox import Execution, Limits, Sandbox

NewBox = Callable[..., Sandbox]


def lines(run: Execution) -> list[str]:
    """The error's text, line by line."""
    assert run.error is not None
    return run.error.traceback.split("\n")


def parts(text: str) -> tuple[str, int, str]:
    """Head, number of characters left out, tail."""
    head, _, rest = text.partition("\n[... ")
    count, _, tail = rest.partition(" characters left out ...]\n")
    return head, int(count.replace(",", "")), tail


# -- turns that show nothing -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("answer = sorted('ba')", "assigned `answer` (list, 2 items)"),
        ("n = 1\nn += 5", "assigned `n` (int: 6)"),
        ("a, (b, *c) = 1.5, 'xyz'", "assigned `a` (float: 1.5), `b` (str, 1 char), `c` (list, 2"),
        ("kind: dict = {}", "assigned `kind` (dict, 0 items)"),
        ("class C: pass\nc = C()\nc.x = 1", "assigned `c` (C); defined `C`"),
        ("def f(): inner = 1\nasync def g(): pass", "defined `f`, `g`"),
        ("import math, json as j\nfrom re import sub", "imported `math`, `j`, `sub`"),
        ("import collections.abc", "imported `collections`"),
        ("gone = 1\ndel gone", "deleted `gone`"),
        (
            "for i in range(3):\n    total = i\nelse:\n    other = 1",
            "assigned `total` (int: 2), `other`",
        ),
        ("if 0:\n    never = 1\nelse:\n    ever = None", "assigned `ever` (None)"),
        ("try:\n    t = 1\nfinally:\n    u = 2", "assigned `t` (int: 1), `u` (int: 2)"),
        ("match 1:\n    case 1: m = 2", "assigned `m` (int: 2)"),
        ("items = [1]\nitems.append(2)", "assigned `items` (list, 2 items)"),
        ("half = lambda v: v / 2", "assigned `half` (function)"),
    ],
)
def test_a_silent_turn_tells_what_it_bound(box: Sandbox, source: str, told: str) -> None:
    """Case 16: names by sort, with type and size, or a number; and that nothing was printed."""
    text = str(box.run(source))
    assert text.startswith(f"The code ran without error; {told}")
    assert text.endswith("; nothing printed.")


@pytest.mark.parametrize(
    "source", ["", "None", "# only this", "pass", "[].append(1)", "0 if 0 else None"]
)
def test_a_turn_that_did_nothing_says_so(box: Sandbox, source: str) -> None:
    """Case 16: no observation is empty."""
    text = "The code ran without error, no output: it printed nothing and ends with no value."
    assert str(box.run(source)) == text


def test_what_was_changed_in_place_is_told(box: Sandbox) -> None:
    """Case 16: items and attributes that were assigned are told by what holds them."""
    box.run("d = {'x': {}}\nclass C: pass\nc = C()")
    text = str(box.run("d['x']['y'] = 1\nd['z'] = 2\nc.a = 1\ndel d['z']"))
    assert "; changed `d` (dict, 1 item), `c` (C); nothing printed." in text


def test_blank_output_is_told(box: Sandbox) -> None:
    """Case 16: a blank line is no silence, and an observation of it not an empty text."""
    run = box.run("print()")
    assert run.stdout == "\n"
    assert "printed an empty line" in str(run)


def test_what_is_told_of_a_silent_turn_is_bounded(box: Sandbox) -> None:
    """Case 16: of many names some are told, and how many more there are."""
    text = str(box.run("\n".join(f"name_{n} = {n}" for n in range(20)) + f"\n{'x' * 9_000} = 1"))
    assert "`name_7` (int: 7), and 13 more; nothing printed." in text
    assert "name_8" not in text
    assert len(str(box.run(f"{'y' * 9_000} = 1"))) < 200


def test_output_or_a_value_are_told_instead(box: Sandbox) -> None:
    """Case 16: what was bound is told only where there is nothing else to tell."""
    assert str(box.run("x = 1\nprint('out')")) == "out"
    assert str(box.run("x = 1\nx")) == "1"
    assert box.run("x = 1\nx").bound is None


# -- errors: lines and carets ------------------------------------------------------------------

MEAN = """\
def mean(xs):
    return sum(xs) / len(xs)
print('loaded')
mean([])"""


def test_an_error_is_shown_as_python_shows_it(new_box: NewBox) -> None:
    """Case 26: the program's own lines with their numbers, carets, and nothing else."""
    run = new_box().run(MEAN)
    assert str(run).split("\n") == [
        "loaded",
        "Traceback (most recent call last):",
        '  File "<turn 1>", line 4, in <module>',
        "    mean([])",
        '  File "<turn 1>", line 2, in mean',
        "    return sum(xs) / len(xs)",
        "           ~~~~~~~~^~~~~~~~~",
        "ZeroDivisionError: division by zero",
    ]


def test_lines_of_earlier_turns_are_shown(new_box: NewBox) -> None:
    """A function's line is one of the turn that defined it, also when its name was taken since."""
    box = new_box()
    box.run(MEAN.rpartition("\n")[0])
    run = box.run("old = mean\ndef mean(xs): return 0\nold([])")
    assert lines(run)[1:5] == [
        '  File "<turn 2>", line 3, in <module>',
        "    old([])",
        '  File "<turn 1>", line 2, in mean',
        "    return sum(xs) / len(xs)",
    ]
    assert run.error is not None
    assert run.error.line == 3


@pytest.mark.parametrize(
    ("source", "line", "carets"),
    [
        ("1/0", "1/0", "~^~"),
        ("x = 'é🙂é' + (1/0)", "x = 'é🙂é' + (1/0)", "             ~^~"),
        ("if True:\n\tx = 1 +\t1/0", "x = 1 +\t1/0", "       \t~^~"),
        ("[n/0 for n in [1]]", "[n/0 for n in [1]]", " ~^~"),
        ("d = {'a': {}}\nd['a']['b']['c']", "d['a']['b']['c']", "~~~~~~^^^^^"),
        ("(1 +\n 'x')", "(1 +", " ^^^"),
        ("len(\n  5)", "len(", "^^^^"),
        ("x = 'a\x0cb\u2028c'\ny = 1/0", "y = 1/0", "    ~^~"),
        ("x = 1\r\ny = 1/0", "y = 1/0", "    ~^~"),
    ],
)
def test_carets_stand_under_what_failed(box: Sandbox, source: str, line: str, carets: str) -> None:
    """Columns are counted in characters, lines as Python counts them, tabs kept."""
    shown = [text for text in lines(box.run(source)) if text.startswith("    ")]
    assert shown[-2:] == [f"    {line}", f"    {carets}"]


def test_a_long_line_is_shown_where_it_failed(box: Sandbox) -> None:
    """Of a line too long to be shown there is the part that failed, over its carets."""
    run = box.run(f"x = [{'1, ' * 9_000}1/0, {'2, ' * 9_000}]")
    text, carets = lines(run)[-3:-1]
    assert len(text) < 250
    assert text[carets.index("~") : carets.index("~") + 3] == "1/0"
    assert text.endswith("...")


@pytest.mark.parametrize(
    ("source", "line", "shown"),
    [
        ("x = 1\nprint('a'", 2, ["    print('a'", "         ^"]),
        ("x = = 1", 1, ["    x = = 1", "        ^"]),
        ("def f():\n    x = 1\n  y = 2", 3, ["    y = 2"]),
        ("return 1", 1, ["    return 1", "    ^^^^^^^^"]),
        ("x = 'abc", 1, ["    x = 'abc", "        ^"]),
        ("é = 'é'; x = .", 1, ["    é = 'é'; x = .", "                 ^"]),
        ("x.__globals__", 1, ["    x.__globals__", "    ^^^^^^^^^^^^^"]),
        ("x = '\x0c\u2028'\nx.__globals__", 2, ["    x.__globals__", "    ^^^^^^^^^^^^^"]),
        ("x = '\x0c\u2028'\ny..", 2, ["    y..", "      ^"]),
    ],
)
def test_a_source_that_can_t_be_compiled(
    box: Sandbox, source: str, line: int, shown: list[str]
) -> None:
    """Case 17: line and caret, also of what the compiler or the policy finds; nothing ran."""
    run = box.run(source)
    assert run.error is not None
    assert (run.error.line, run.stdout) == (line, "")
    text = "\n".join(lines(run))
    assert f", line {line}\n" in text
    assert "\n".join(shown) in text


def test_nothing_of_an_earlier_turn_is_shown(box: Sandbox) -> None:
    """Case 17: where a turn doesn't compile, its observation is the error alone."""
    box.run("print('from turn one')\n1/0")
    run = box.run('print("from turn two"')
    assert "from turn" not in str(run).replace('print("from turn two"', "")
    assert str(run) == "\n".join(lines(run))


@pytest.mark.parametrize(
    "source",
    [
        "import json\njson.loads('{')",
        "import re\nre.compile('(')",
        "from functools import reduce\nreduce(lambda a, b: a / b, [1, 0])",
        "from decimal import Decimal\nDecimal('x')",
        "from dataclasses import dataclass\n@dataclass\nclass P: x: int\nP()",
        "from enum import Enum\nclass E(Enum): A = 1\nE(2)",
        "from collections import Counter, OrderedDict\nOrderedDict().popitem()",
        "import statistics\nstatistics.mean([])",
        "sorted([3, 1], key=lambda n: n / 0)",
        "done()",
        "fail('ValueError', 'no good')",
        "'{0.x}'.format(1)",
        "getattr(1, '__class__x')",
        "1 .__globals__",
        "object().nope",
    ],
)
def test_an_error_in_a_library_points_at_the_programs_line(box: Sandbox, source: str) -> None:
    """No frame of a library or of the host is shown; the innermost one of the program is."""
    run = box.run(source)
    assert run.error is not None
    last = source.split("\n")[-1]
    assert run.error.line == source.count("\n") + 1
    assert f"    {last}\n" in run.error.traceback
    files = [line for line in lines(run) if line.strip().startswith("File ")]
    assert files
    assert all(line.startswith('  File "<turn ') for line in files)
    assert ".py" not in run.error.traceback
    assert "circlet" not in run.error.traceback


def test_errors_in_texts_that_a_program_runs(box: Sandbox) -> None:
    """Lines of what ``exec`` and ``eval`` ran are shown too, below the line that ran it."""
    run = box.run("exec('def q():\\n    return 1 / zero\\nzero = 0')\nq()")
    assert "    return 1 / zero\n           ~~^~~~~~" in "\n".join(lines(run))
    run = box.run("eval('1 +')")
    assert lines(run)[2] == "    eval('1 +')"
    assert "    1 +\n       ^\n" in "\n".join(lines(run))


# -- errors: many frames, many errors ----------------------------------------------------------


def test_recursion_is_shown_once(box: Sandbox) -> None:
    """Calls that repeat are shown once, with how often; functions that call each other too."""
    run = box.run("def f(n):\n    return f(n + 1)\nf(0)")
    text = "\n".join(lines(run))
    assert text.count("return f(n + 1)") == 1
    assert "[the call above repeated 9" in text
    assert "The limit is 1,000 calls" in text
    run = box.run("def even(n): return odd(n)\ndef odd(n): return even(n)\neven(1)")
    assert "[the 2 calls above repeated 4" in "\n".join(lines(run))
    assert len(lines(run)) < 20


def test_a_deep_stack_shows_its_ends(box: Sandbox) -> None:
    """Of many different calls the first and the last are shown, and how many are not."""
    source = "\n".join(f"def f{n}(): f{n + 1}()" for n in range(200)) + "\ndef f200(): 1/0\nf0()"
    text = "\n".join(lines(box.run(source)))
    for wanted in ("in f0\n", "in f3\n", "[... 182 calls left out ...]", "in f199\n", "in f200\n"):
        assert wanted in text
    assert "in f100\n" not in text


CHAINED = """\
try:
    try:
        1/0
    except ZeroDivisionError as error:
        raise ValueError('second') from error
except ValueError:
    {}"""


def test_errors_that_led_to_one_another(box: Sandbox) -> None:
    """Causes and contexts are shown in order, oldest first; what ``from None`` hides is not."""
    text = "\n".join(lines(box.run(CHAINED.format("[][0]"))))
    order = [
        "ZeroDivisionError",
        "direct cause",
        "ValueError: second",
        "During handling",
        "IndexError",
    ]
    places = [text.index(one) for one in order]
    assert places == sorted(places)
    text = "\n".join(lines(box.run(CHAINED.format("raise KeyError('k') from None"))))
    assert "second" not in text


def test_a_long_chain_is_bounded(box: Sandbox) -> None:
    """Of a long chain the oldest and the newest errors are shown, also of one that is a circle."""
    run = box.run(
        "error = ValueError('n0')\nfor n in range(1, 99):\n    try:\n        try:\n"
        "            raise error\n        except ValueError:\n"
        "            raise ValueError(f'n{n}')\n"
        "    except ValueError as new:\n        error = new\nraise error"
    )
    text = "\n".join(lines(run))
    assert "ValueError: n0\n" in text
    assert text.endswith("ValueError: n98")
    assert "[... 93 errors that led to one another left out ...]" in text
    run = box.run(
        "a, b = ValueError('a'), ValueError('b')\ntry:\n    raise a from b\n"
        "except ValueError:\n    raise b from a"
    )
    assert "\n".join(lines(run)).count("ValueError: a") == 1


def test_notes_and_groups(box: Sandbox) -> None:
    """Notes follow their error; members of a group stand below it, each with its own lines."""
    run = box.run("e = ValueError('x')\ne.add_note('a note\\nof two lines')\nraise e")
    assert lines(run)[-3:] == ["ValueError: x", "a note", "of two lines"]
    run = box.run(
        "errors = []\nfor n in range(20):\n    try:\n        n / 0\n"
        "    except ZeroDivisionError as e:\n        errors.append(e)\n"
        "raise ExceptionGroup('all', errors)"
    )
    text = "\n".join(lines(run))
    assert "ExceptionGroup: all (20 sub-exceptions)\n" in text
    assert "  |     n / 0\n  |     ~~^~~\n  | ZeroDivisionError: division by zero\n" in text
    assert "[... 10 members left out ...]" in text
    nested = "e = KeyError(7)\nfor n in range(50):\n    e = ExceptionGroup(f'g{n}', [e])\nraise e"
    assert len(lines(box.run(nested))) < 40


@pytest.mark.parametrize(
    ("source", "line"),
    [
        (
            "class E(Exception):\n    def __str__(self): raise SystemExit\nraise E",
            "E: <its text could",
        ),
        ("class E(Exception):\n    def __str__(self): return 1\nraise E", "E: <its text could"),
        ("raise SyntaxError('m', ('<turn 1>', 'no line', 1, 'x'))", "SyntaxError: m"),
        ("raise SyntaxError('m', ('<turn 1>', 10**30, 1, 'x'))", "SyntaxError: m"),
        ("raise SyntaxError('m', ([], 1, {}, 7))", "SyntaxError: m"),
        ("e = SyntaxError('m')\ne.msg = [1]\nraise e", "SyntaxError: [1]"),
        ("e = ImportError('m')\ne.name = 5\nraise e", "ImportError: m"),
        ("raise AttributeError('m', name=[], obj=3)", "AttributeError: m"),
        ("raise NameError('m', name='x' * 10**6)", "NameError: m"),
    ],
)
def test_errors_with_strange_contents_are_told(box: Sandbox, source: str, line: str) -> None:
    """What a program puts into an error costs it neither the error's class nor its state."""
    run = box.run(source)
    assert (run.status, run.state) == ("error", "kept")
    assert any(text.startswith(line) for text in lines(run))


@pytest.fixture(scope="module")
def helped(backend: Any) -> Iterator[Sandbox]:
    """A session in which nothing is bound but by the sources of ``test_hints``."""
    gates = {"echo": lambda value=None: value}
    with Sandbox(gates=gates, limits=Limits(eval_ms=10_000), backend=backend) as session:
        yield session


# -- hints ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "hint"),
    [
        ("totals = 1\ntotls", "Did you mean 'totals'?"),
        ("def f():\n    local = 1\n    return loacl\nf()", "Did you mean 'local'?"),
        ("prnit(1)", "Did you mean 'print'?"),
        ("dnoe(1)", "Did you mean 'done'?"),
        ("ehco(1)", "Did you mean 'echo'?"),
        ("true", "Did you mean 'True'?"),
        ("null", "Did you mean 'None'?"),
        ("json.dumps(1)", "'json' is a module: write `import json` first."),
        ("jsn.dumps(1)", "Did you mean 'json'?"),
        ("np.array([1])", "'numpy' is a module that can't be imported here."),
        ("socket.socket()", "'socket' is a module that can't be imported here."),
        ("defaultdict(list)", "write `from collections import defaultdict` first."),
        ("sqrt(4)", "write `from math import sqrt` first."),
        ("n = 0\ndef f():\n    n += 1\nf()", "write `global n`"),
        ("'a'.uper()", "Did you mean 'upper'?"),
        ("[].appendd(1)", "Did you mean 'append'?"),
        ("import math\nmath.sqroot(2)", "Did you mean 'sqrt'?"),
        ("import datetime\ndatetime.now()", "Did you mean 'datetime.datetime.now'?"),
        ("from datetime import datetime\ndatetime.datetime.now()", "the class itself here"),
        ("import collections\ncollections.Iterable", "`from collections.abc import Iterable`"),
        ("class A:\n    def __init__(self): self.value = 1\nA().valeu", "Did you mean 'value'?"),
        ("class A:\n    __slots__ = ('width',)\nA().widht", "Did you mean 'width'?"),
        ("class A:\n    size = 1\nA.sise", "Did you mean 'size'?"),
        ("class A:\n    def __init__(self): self._val = 1\nA()._vla", "Did you mean '_val'?"),
        ("from enum import Enum\nclass C(Enum):\n    GREEN = 1\nC.GREN", "Did you mean 'GREEN'?"),
        ("from math import sqroot", "Did you mean 'sqrt'?"),
        ("from os import getcwd", "It is left out here: there are no files"),
        ("from collections import Iterable", "`from collections.abc import Iterable`"),
        ("import jsno", "Did you mean 'json'?"),
        ("import json\njson.parse('1')", "Did you mean 'json.loads'?"),
        ("from datetime import datetime\ndatetime.timedelta(1)", "`from datetime import timede"),
        ("import ast\nast.parse('1')._fields", "ast.iter_fields(node) gives"),
        ("from enum import Enum\nclass C(Enum):\n    A = 1\nC._member_map_", "__members__ has"),
        ("d = {'alpha': 1}\nd['alhpa']", "Did you mean 'alpha'?"),
        ("d = {'a': [{'b': 1, 'c': 2}]}\nd['a'][0]['x']", "Its keys are 'b', 'c'."),
        ("d = {n: n for n in range(99)}\nd['x']", "It has 99 keys, among them 0, 1, 2"),
        (
            "class A:\n    def __init__(self): self.d = {'k': 1}\n"
            "    def f(self): return self.d['key1']\nA().f()",
            "Its keys are 'k'.",
        ),
        ("def f(len): return len('ab')\nf([])", "'len' is a variable of yours that hides"),
        ("return 1", "end it with the expression that you want to see"),
        ("```python\nx = 1\n```", "Leave the marks of a Markdown block out"),
        ("!pip install x", "write Python"),
    ],
)
def test_hints(helped: Sandbox, source: str, hint: str) -> None:
    """Case 26: one line after the error says what was meant, or what to write."""
    run = helped.run(source)
    assert run.status == "error"
    assert hint in lines(run)[-1]
    assert run.error is not None
    assert hint not in run.error.message


def test_a_builtin_that_is_hidden(new_box: NewBox) -> None:
    """Case 26: where a variable hides a builtin, how to get that back is told."""
    box = new_box()
    run = box.run("list = [1]\nlist('ab')")
    assert "`del list` ends that." in lines(run)[-1]
    assert box.run("del list\nlist('ab')").value == ["a", "b"]


def test_await_outside_a_function(box: Sandbox) -> None:
    """Case 26: where there is asyncio, how to run what has to be awaited is told."""
    run = box.run("async def m(): return 1\nawait m()")
    assert run.error is not None
    assert run.error.line == 2
    if box.run("import asyncio").status == "ok":
        assert "`asyncio.run(main())`" in lines(run)[-1]


def test_an_unknown_module_is_one_line(new_box: NewBox) -> None:
    """Case 26: the module's name and what there is, in one line."""
    run = new_box().run("import socket")
    last = lines(run)[-1]
    assert last.startswith("ModuleNotFoundError: ")
    for name in ("'socket'", "json", "math", "collections.abc"):
        assert name in last


@pytest.mark.parametrize(
    ("source", "secret"),
    [
        ("class A:\n    def __init__(self): self._val = 1\nA().val1", "_val"),
        ("import random\nrandom.Random().sed", "_"),
        ("(n for n in []).gi_fram", "gi_frame"),
        ("(lambda: 1).func_global", "__globals__"),
        ("1 .clas", "__class__"),
        ("attribute(1)", "<attribute>"),
        ("import re\nre.enu", "enum"),
        ("importt('os')", "__import__"),
        ("try:\n    1/0\nexcept Exception as e:\n    e.tb_fram", "tb_frame"),
    ],
)
def test_hints_name_nothing_that_is_closed(box: Sandbox, source: str, secret: str) -> None:
    """A hint names no private, special or guarded name of what is not the program's own."""
    run = box.run(source)
    assert run.status == "error"
    assert f"'{secret}" not in "\n".join(lines(run))


def test_hints_keep_to_the_modules_that_are_allowed(backend: Any) -> None:
    """CIRCLE-6: what the host has closed is no advice."""
    with Sandbox(modules=["re"], backend=backend) as box:
        for source in ("sqrt(4)", "math.pi", "from re import sqrt", "import maths"):
            text = "\n".join(lines(box.run(source)))
            assert "import sqrt`" not in text
            assert "import math`" not in text
            assert "'math'?" not in text


def test_hints_run_none_of_the_programs_code(box: Sandbox) -> None:
    """An object's own ``__getattr__`` is asked once, by the program."""
    box.run(
        "log = []\nclass A:\n    def __getattr__(self, name):\n        log.append(name)\n"
        "        raise AttributeError(name, name=name, obj=self)\na = A()"
    )
    assert box.run("a.missing").status == "error"
    assert box.run("log").value == ["missing"]


def test_a_hint_that_takes_too_long_is_left_out(box: Sandbox) -> None:
    """Keys that compare themselves for ever cost the hint, and neither the error nor the state."""
    run = box.run(
        "class K:\n    slow = False\n    def __hash__(self): return hash('a')\n"
        "    def __eq__(self, other):\n        while K.slow: pass\n        return False\n"
        "held = {K(): 1, 'a': {'b': 1}}\ntry:\n    held['a']['c']\nfinally:\n    K.slow = True"
    )
    assert (run.status, run.state) == ("error", "kept")
    assert lines(run)[-1] == "KeyError: 'c'"


def test_errors_that_need_none_have_no_hint(box: Sandbox) -> None:
    """Nothing is guessed where nothing is alike."""
    for source in ("zzqy", "1 .zzqy", "int('x')", "[][1]", "import zzqy", "{}['a']"):
        last = lines(box.run(source))[-1]
        assert "Error: " in last


@pytest.mark.parametrize(
    "source",
    [
        "import sys\nsys.path",
        "from importlib import abc",
        "import string\nstring.join(['a'])",
        "class A: pass\nA.path",
        "class A:\n    style = property(lambda self: self.fail())\n    stile = 1\n"
        "    def fail(self): raise AttributeError('it needs more')\nA().style",
        "with open_('x') as f: pass",
        "raise FileNotFoundError(2, 'my own', 'x')",
        "raise ImportError('my own')",
    ],
)
def test_no_hint_leads_elsewhere(helped: Sandbox, source: str) -> None:
    """Case 26: no second line where the error says why, and no module that is far from meant."""
    last = lines(helped.run(source))[-1]
    assert "Error: " in last


def test_an_interrupt_is_told_once(new_box: NewBox) -> None:
    """A timeout that comes up again on its way out, in the library's frames, is one error."""
    run = new_box(eval_ms=300).run(
        "import asyncio\nasync def main():\n    while True: await asyncio.sleep(0)\n"
        "asyncio.run(main())"
    )
    assert run.status == "timeout"
    assert run.error is not None
    assert run.error.traceback.count("TurnTimeout") == 1


@pytest.mark.parametrize("name", ["futures", "futures.thread"])
def test_a_package_that_is_left_out_says_why(box: Sandbox, name: str) -> None:
    """Case 26: the reason and what to use stand there, however the module is imported."""
    for source in (f"import concurrent.{name}", f"from concurrent import {name.split('.')[0]}"):
        assert "(there are no threads or processes; use asyncio" in lines(box.run(source))[-1]


@pytest.mark.parametrize(
    ("source", "limit"),
    [
        ("while True: pass", "300 ms"),
        ("'x' * 10**12", "512 MiB"),
        ("def f(): f()\nf()", "1,000 calls"),
        ("raise MemoryError('big')", "big; the limit is 512"),
    ],
)
def test_a_limit_that_was_met_is_named(new_box: NewBox, source: str, limit: str) -> None:
    """CIRCLE-6: time, memory and depth of calls: the error says what the limit is."""
    run = new_box(eval_ms=300).run(source)
    assert limit in lines(run)[-1]
    assert run.state == "kept"


# -- what is left out ----------------------------------------------------------------------------


@pytest.mark.parametrize("limit", [250, 1_000, 20_000])
def test_the_error_is_seen_whatever_was_printed(new_box: NewBox, limit: int) -> None:
    """Case 14: beginning, end, exact count, and the error with its line, within the limit."""
    source = (
        "for i in range(50_000):\n    print(f'row {i:05d}')\n"
        "raise KeyError('the last line matters')"
    )
    run = new_box(output_chars=limit).run(source)
    text = str(run)
    assert len(text) <= limit
    for wanted in ("row 00000", "row 49999", "KeyError: 'the last line matters'", "line 3"):
        assert wanted in text
    head, count, tail = parts(text)
    whole = run.stdout + "\n".join(lines(run))
    assert len(run.stdout) == 500_000
    assert whole.startswith(head)
    assert whole.endswith(tail)
    assert len(head) + count + len(tail) == len(whole)


def test_a_long_message_hides_no_line(box: Sandbox) -> None:
    """Case 14: an error with a huge message shows its line, both ends of the message, the hint."""
    run = box.run("print('a' * 10**6)\nraise ValueError('<' + 'm' * 2_000_000 + '>')")
    text = str(run)
    assert len(text) <= box.limits.output_chars
    for wanted in ("a\nTraceback", "line 2", "raise ValueError('<' + ", "ValueError: <mmm", "mmm>"):
        assert wanted in text
    assert run.error is not None
    assert run.error.traceback.endswith("ValueError: <" + "m" * 2_000_000 + ">")


def test_output_and_value_share_the_room(box: Sandbox) -> None:
    """Case 14: of long output and a long value, both ends of each are shown."""
    text = str(box.run("print('<' + 'o' * 100_000 + '>')\n['first', *range(100_000)]"))
    assert len(text) <= box.limits.output_chars
    for wanted in ("<ooo", "ooo>\n['first', 0, 1, 2", " more ..., 99997, 99998, 99999]"):
        assert wanted in text


def test_an_observation_of_another_length(box: Sandbox) -> None:
    """The same turn can be shown in less room, from its whole text."""
    run = box.run("print('x' * 5_000)\n1/0")
    head, count, tail = parts(run.observation(500))
    assert len(head) + count + len(tail) == 5_001 + len("\n".join(lines(run)))
    assert tail.endswith("ZeroDivisionError: division by zero")
    assert run.observation(10**6) == run.stdout + "\n".join(lines(run))


@pytest.mark.parametrize(
    ("letter", "ending", "status"),
    [
        ("x", "", "ok"),
        ("é", "\n1/0", "error"),
        ("🙂", "\nwhile True: pass", "timeout"),
        ("\\ud800", "\n'x' * 10**12", "memory"),
    ],
)
def test_past_ten_million_characters_the_count_is_exact(
    new_box: NewBox, letter: str, ending: str, status: str
) -> None:
    """Case 14: head, tail and count add up, whatever the characters, however the turn ends."""
    source = f"print('<', end='')\nfor n in range(110):\n    print('{letter}' * 99_999)\nprint('>')"
    run = new_box(eval_ms=1_500).run(source + ending)
    assert (run.status, run.state) == (status, "kept")
    head, count, tail = parts(run.stdout)
    assert head.startswith("<")
    assert tail.endswith("\n>\n")
    assert len(head) == len(tail) == 5_000_000
    assert len(head) + count + len(tail) == 1 + 110 * 100_000 + 2


def test_many_small_writes_are_counted_too(new_box: NewBox) -> None:
    """Case 14: exact also where the output comes in small bits, and memory is short."""
    run = new_box(memory_mb=24).run("for n in range(350_000): print(f'{n:031d}')")
    head, count, tail = parts(run.stdout)
    assert run.status == "ok"
    assert head.startswith(f"{0:031d}\n{1:031d}\n")
    assert tail.endswith("349998\n" + f"{349_999:031d}\n")
    assert len(head) + count + len(tail) == 32 * 350_000


def test_what_was_printed_before_a_kill_is_kept(new_box: NewBox) -> None:
    """Case 10, 11: all that was printed is there when the process had to be killed."""
    run = new_box(eval_ms=300).run("for n in range(3_000): print(n)\nsum(range(10**12))")
    assert (run.status, run.state) == ("timeout", "rolled_back")
    assert run.stdout.split() == [str(n) for n in range(3_000)]


def test_a_kill_tells_what_it_cost(new_box: NewBox) -> None:
    """Case 14: what lay in the killed process alone is said to be lost."""
    run = new_box(eval_ms=1_000).run("for n in range(80): print('x' * 99_999)\nsum(range(10**12))")
    assert run.state == "rolled_back"
    assert run.stdout.startswith("x" * 99_999 + "\n")
    assert run.stdout.endswith(
        "x\n\n[... whatever was printed after these 5,000,000 characters "
        "was lost with the process ...]\n"
    )
    assert len(run.stdout) < 5_000_200


def test_lone_surrogates_survive(box: Sandbox) -> None:
    """Nothing is half-written: output, value and error hold any text that Python can."""
    run = box.run("print('\\ud800')\n'\\udfff'")
    assert (run.stdout, run.value) == ("\ud800\n", "\udfff")
    run = box.run("raise ValueError('\\ud800')")
    assert run.error is not None
    assert run.error.message == "\ud800"


# -- hostile values ------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "shown"),
    [
        ("class R:\n    def __repr__(self): return 'x' * 10**8\n[R(), 1]", " chars left out"),
        ("class R:\n    def __repr__(self): return 3\nR()", "its repr raised TypeError"),
        (
            "class R:\n    def __repr__(self): return repr(self)\nR()",
            "its repr raised RecursionError",
        ),
        ("class R:\n    def __repr__(self): raise SystemExit\nR()", "its repr raised SystemExit"),
        (
            "class R:\n    def __repr__(self): return 'x' * 10**12\nR()",
            "its repr raised MemoryError",
        ),
        (
            "class R:\n    def __repr__(self):\n        while True: pass\n[1, R()]",
            "[1, <the rest can't be shown: it took too long>",
        ),
        ("class S(str):\n    def __len__(self): return 10**18\nS('abc')", "'abc'"),
        (
            "class D(dict):\n    def items(self): return 1\n"
            "    def __len__(self): return -1\nD(a=1)",
            "D({'a': 1})",
        ),
        ("class I(int):\n    def bit_length(self): return 'no'\nI(5)", "5"),
        (
            "from dataclasses import dataclass\n@dataclass\nclass P:\n    a: list\n"
            "p = P([])\np.a.append(p)\np",
            "P(a=[...])",
        ),
        (
            "from typing import NamedTuple\nclass N(NamedTuple):\n    a: int\n    b: str\n"
            "N(1, 'x' * 10**7)",
            "N(a=1, b='xxx",
        ),
        ("from enum import Enum\nclass E(Enum):\n    A = 'x' * 10**6\nE.A", "<E.A: 'xxx"),
        ("10 ** 100_000", "<int of 332,193 bits>"),
        ("(n for n in [])", "<generator object <genexpr>>"),
    ],
)
def test_hostile_values_are_shown_within_bounds(box: Sandbox, source: str, shown: str) -> None:
    """Viewport: bounded in length, time and memory, whatever a value's own code does."""
    run = box.run(source)
    assert (run.status, run.state) == ("ok", "kept")
    assert shown in str(run)
    assert len(str(run)) <= box.limits.output_chars
    assert box.run("'alive'").value == "alive"


def test_a_repr_runs_once(box: Sandbox) -> None:
    """Case 16: to show a value and to send it, its own code runs one time."""
    source = (
        "log = []\nclass R:\n    def __repr__(self):\n        log.append(1)\n"
        "        return 'R'\n[R()]"
    )
    assert str(box.run(source)) == "[R]"
    assert box.run("log").value == [1]


def test_a_text_s_own_methods_don_t_run_while_it_is_sent(box: Sandbox) -> None:
    """What is printed may be of a class whose methods never end: the deadline reaches them."""
    run = box.run(
        "class T(str):\n    def __len__(self):\n        while True: pass\n"
        "    def join(self, texts): return self\n    def __add__(self, other): return self\n"
        "    def __contains__(self, other): return False\nprint('a', sep=T('t'), end=T('u'))"
    )
    assert run.state == "kept"
    assert box.run("1").value == 1


def test_a_repr_that_ends_the_work_is_told(new_box: NewBox) -> None:
    """A value whose ``__repr__`` calls ``done`` is said to have done so; no inner name is shown."""
    run = new_box().run("class W:\n    def __repr__(self): done(1)\nW()")
    assert run.shown == "<W can't be shown: it called done>"


def test_the_refusal_of_except_star_points_at_it(box: Sandbox) -> None:
    """Line and caret are those of the clause, and not those of its ``try``."""
    run = box.run("try:\n    pass\nexcept* ValueError: pass")
    assert run.error is not None
    assert run.error.line == 3
