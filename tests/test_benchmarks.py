"""The benchmarks: what they find, what they leave out, and that they can fail."""

from __future__ import annotations

import importlib.util
import json
import re
import sys
from pathlib import Path

import pytest
from circlet import Sandbox

FOLDER = Path(__file__).parents[1] / "benchmarks"


def _load(name):
    """A benchmark as a module, found as it is when it runs as a script."""
    sys.path.insert(0, str(FOLDER))
    try:
        spec = importlib.util.spec_from_file_location(f"benchmark_{name}", FOLDER / f"{name}.py")
        module = importlib.util.module_from_spec(spec)
        sys.modules[spec.name] = module
        spec.loader.exec_module(module)
    finally:
        sys.path.remove(str(FOLDER))
    return module


coverage = _load("coverage")
cpu = _load("cpu")
suites = {name: sys.modules[f"suites.{name}"] for name in ("cpython", "cutting", "denied", "rules")}
Program = coverage.Program
HUMANEVAL = coverage.humaneval.programs()


def _failing(results):
    return {result.name: result.difference for result in results if not result.passed}


# -- the measures ------------------------------------------------------------------------------


@pytest.mark.parametrize("share", range(4))
def test_humaneval(share):
    """Every task of HumanEval does in a sandbox what it does on CPython."""
    results = coverage.agreement(HUMANEVAL[share::4])
    assert _failing(results) == {}


@pytest.mark.parametrize("topic", coverage.snippets.topics())
def test_snippets(topic):
    """Every snippet prints and raises in a sandbox what it prints and raises on CPython."""
    assert _failing(coverage.agreement(coverage.snippets.programs(topic))) == {}


def test_humaneval_is_whole():
    """HumanEval has 164 tasks, and each passes on plain CPython."""
    assert len(HUMANEVAL) == coverage.humaneval.TASKS == 164
    assert [turn for (turn,) in coverage.plain.run(HUMANEVAL) if turn.error] == []


def test_snippets_are_many_and_settled():
    """There are over 300 snippets, and CPython prints the same for one whatever its hashes."""
    programs = coverage.snippets.programs()
    assert len(programs) >= 300
    assert coverage.plain.run(programs) == coverage.plain.run(programs)


# -- what counts as a difference ---------------------------------------------------------------


@pytest.mark.parametrize(
    ("sandboxed", "difference"),
    [
        ("print(2)", "line 1: '2' (wanted '1')"),
        ("pass", "line 1: nothing (wanted '1')"),
        ("print(1)\nprint(3)", "line 2: '3' (wanted nothing)"),
        ("print(1, end='')", "the same lines, ended differently"),
        ("print(1)\n1 / 0", "ZeroDivisionError: division by zero (wanted no error)"),
    ],
)
def test_a_difference_is_reported(sandboxed, difference):
    """A program that prints or raises something else fails, with the first difference."""
    (wanted,) = coverage.plain.run([Program("p", ("print(1)",))])
    (had,) = coverage.boxed.run([Program("p", (sandboxed,))])
    assert coverage.compared(Program("p", ()), wanted, had).difference == difference


def test_an_error_of_another_class_is_reported():
    """The class of an error counts, the words of its message don't."""
    (wanted,) = coverage.plain.run([Program("p", ("raise KeyError(1)",))])
    for source, passes in (("raise KeyError(2)", True), ("raise IndexError(1)", False)):
        (had,) = coverage.boxed.run([Program("p", (source,))])
        assert coverage.compared(Program("p", ()), wanted, had).passed is passes


def test_a_refused_program_fails():
    """What runs on CPython and is refused by a sandbox is a failure."""
    (result,) = coverage.agreement([Program("p", ("print(open)", "import socket"))])
    assert not result.passed


def test_turns_share_variables_and_programs_do_not():
    """Turns of a program share its variables and modules; programs share nothing."""
    one = Program("one", ("import math\nx = 1", "print(x, math.pi)"))
    two = Program("two", ("print('x' in globals())",))
    for place in (coverage.plain, coverage.boxed):
        first, second = place.run([one, two])
        assert first[1].printed.startswith("1 3.14")
        assert second[0].printed == "False\n"


def test_a_program_that_ends_its_interpreter():
    """A program that ends plain Python's process ends its own only."""
    ended, after = coverage.plain.run(
        [Program("p", ("import os\nos._exit(3)",)), Program("q", ("print(1)",))]
    )
    assert ended[0].error == "Ended"
    assert after[0].printed == "1\n"


# -- the form of the snippets ------------------------------------------------------------------


def test_parse():
    """A head begins a snippet, a separator a turn; what stands first is a comment."""
    text = "About these.\n\n# === one\nx = 1\n# --- turn\nprint(x)\n\n# === two\nprint(2)\n"
    one, two = coverage.snippets.parse("topic", text)
    assert one == Program("topic/one", ("x = 1\n", "print(x)\n"))
    assert two == Program("topic/two", ("print(2)\n",))


def test_parse_leaves_out_what_this_python_lacks():
    """A snippet that names a newer Python is not run on an older one."""
    text = "# === new, from 3.99\nx\n# === old, from 3.1\ny\n"
    assert [each.name for each in coverage.snippets.parse("t", text)] == ["t/old"]


@pytest.mark.parametrize(
    ("text", "message"),
    [("# === two words\nx\n", "should read"), ("# === a\nx\n# === a\ny\n", "two snippets 'a'")],
)
def test_parse_refuses(text, message):
    """A malformed head, or the same name twice, is an error that says so."""
    with pytest.raises(ValueError, match=message):
        coverage.snippets.parse("t", text)


# -- CPython's tests ---------------------------------------------------------------------------

TESTS = """
import unittest
from os import path
from test import support
from test.support import ALWAYS_EQ as SAME

def helper(): return LIMIT
LIMIT = 3
def unused(): return path

class Base:
    def test_inherited(self):
        self.assertEqual(self.kind(), helper())
    def kind(self): return 3
    def other(self): return path

class Case(Base, unittest.TestCase):
    def setUp(self): self.ready = True
    def test_one(self):
        self.assertTrue(self.ready)
        with self.assertRaises(KeyError):
            {}[self.assertEqual(SAME, 5)]
    def test_files(self): open("x")
    def test_path(self): path.exists("x")
    def test_fails(self): self.fail("on CPython too")
    def test_threads(self):
        import threading
    def test_frames(self): (x for x in ()).gi_frame
    def test_metaclass(self):
        class Meta(type): pass
    def test_private(self): unittest._private
    @unittest.skipIf(True, "no")
    def test_skipped(self): pass
"""


@pytest.fixture
def package(tmp_path):
    (tmp_path / "test_bool.py").write_text(TESTS)
    return tmp_path


def test_cut_and_left_out(package):
    """A test is cut out with what it needs; a rule leaves it out by what its source names."""
    denied = suites["denied"]
    cut = suites["cpython"].cut(package)
    names = {"inherited", "one", "fails", "path", "skipped"}
    assert set(cut.tests) == {f"test_bool.Case.test_{name}" for name in names}
    assert cut.left_out == {
        denied.FILES: 2,
        denied.INSIDE: 1,
        denied.CLASSES: 1,
        denied.PRIVATE: 1,
    }
    inherited = cut.tests["test_bool.Case.test_inherited"]
    assert "helper" in inherited
    assert not [name for name in ("unused", "test_one", "path") if name in inherited]


def test_missing_files_are_named(package):
    """Where the machine's tests are not whole, the report says which files it lacks."""
    (sentence,) = suites["cpython"].cut(package).missing
    assert "test_patma" in sentence
    assert "test_bool" not in sentence


def test_cut_tests_run(package):
    """Cut tests pass and fail on CPython and in a sandbox as they do in their file."""
    cut = suites["cpython"].cut(package)
    (program,) = cut.programs()
    names = [name.rpartition("_")[2] for name in program.name.split()]
    for place in (coverage.plain, coverage.boxed):
        ((harness, *turns),) = place.run([program])
        assert not harness.error, harness
        errors = {name: turn.error for name, turn in zip(names, turns, strict=True)}
        assert errors.pop("path") in ("", "AttributeError", "NameError")
        assert errors == {
            "inherited": "",
            "one": "",
            "fails": "AssertionError",
            "skipped": "SkipTest",
        }


THINGS = """
import enum, types
def call(): yield
class Own:
    async def coroutine(self): pass
generator, coroutine, error = call(), Own().coroutine(), ValueError()
"""


def test_rules_leave_out_nothing_that_is_given():
    """What the rules call absent is absent: modules, and functions of those that are given."""
    denied = suites["denied"]
    with Sandbox() as sandbox:
        for name in (*denied.MODULES, *denied.NAMES):
            ran = sandbox.run(f"import {name}" if name in denied.MODULES else f"{name}('')")
            assert ran.error is not None, name
        for name in denied.FUNCTIONS:
            module, _, member = name.rpartition(".")
            ran = sandbox.run(f"import {module}\n{module}.{member}")
            assert ran.error is not None, name
        sandbox.run(THINGS)
        for name in denied.ATTRIBUTES:
            for thing in ("generator", "coroutine", "call", "Own", "error", "enum", "types"):
                ran = sandbox.run(f"{thing}.{name}")
                assert ran.error is not None, f"{thing}.{name}"


def test_rules_know_the_special_names():
    """The special attributes that the rules call readable are those that can be read."""
    denied = suites["denied"]
    page = (FOLDER.parent / "docs" / "language.md").read_text()
    rows = re.findall(r"^\| attributes of .* are read \| (.*) \|$", page, re.MULTILINE)
    assert len(rows) == 2
    assert set(re.findall(r"__\w+__", " ".join(rows))) <= denied.SPECIAL_NAMES
    kinds = (type, type(lambda: 0), ValueError, type(list[int]), property, classmethod, int)
    names = {name for kind in kinds for name in dir(kind) if suites["rules"].is_special(name)}
    with Sandbox() as sandbox:
        sandbox.run(THINGS)
        for name in names - denied.SPECIAL_NAMES:
            for thing in ("Own", "call", "error", "generator", "list[int]", "3"):
                assert sandbox.run(f"({thing}).{name}").error is not None, f"{thing}.{name}"


def test_rules_know_what_is_given():
    """What the rules call present in ``sys`` and ``os`` is present."""
    denied = suites["denied"]
    with Sandbox() as sandbox:
        found = sandbox.run("import sys, os\n[dir(sys), dir(os)]").value
    assert set(found[0]) <= denied.SYS_DATA
    assert set(found[1]) <= denied.OS_DATA


# -- reports -----------------------------------------------------------------------------------


def test_report_and_exit_code(monkeypatch, capsys):
    """The report counts and names what differs, and the exit code says that a goal is missed."""
    wrong = [Program("right", ("print(1)",)), Program("wrong", ("import socket",))]
    monkeypatch.setattr(coverage.snippets, "programs", lambda: wrong)
    assert coverage.main(["--only", "snippets", "--json"]) == 1
    (measured,) = json.loads(capsys.readouterr().out)["sets"]
    assert (measured["passed"], measured["of"], measured["rate"]) == (1, 2, 0.5)
    assert list(measured["failing"]) == ["wrong"]
    assert coverage.main(["--only", "snippets", "--failing"]) == 1
    assert "wrong: ModuleNotFoundError" in capsys.readouterr().out
    monkeypatch.setattr(coverage.snippets, "programs", lambda: wrong[:1])
    assert coverage.main(["--only", "snippets"]) == 0


def test_absent_tests_hold_nothing_up():
    """A machine without CPython's tests reports so, and misses no goal by it."""
    assert coverage.Measured("cpython", [], missing=["it has none"]).reached
    assert not coverage.Measured("cpython", []).reached


def test_cpu(capsys):
    """Every program of the speed benchmark runs in both places and is reported with its goal."""
    cpu.main(["--runs", "1", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert [each["name"] for each in report["ratios"]] == list(cpu.PROGRAMS)
    assert all(each["ratio"] > 0 for each in report["ratios"])
