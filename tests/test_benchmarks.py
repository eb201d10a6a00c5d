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
loom = _load("loom")
mutants = _load("mutants")
crash = _load("crash")
walls = _load("walls")
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


@pytest.mark.kernel
def test_walls(capsys, monkeypatch):
    """Each layer is left off in turn, and both times and the self-test's are reported."""
    monkeypatch.setattr(walls, "SESSIONS", 1)
    walls.main(["--runs", "1", "--json"])
    report = json.loads(capsys.readouterr().out)
    assert [each["left_off"] for each in report["starts"]] == list(walls.LEFT_OFF)
    assert all(each["zygote_ms"] > each["session_ms"] > 0 for each in report["starts"])
    assert report["self_test_ms"] > 0


@pytest.mark.kernel
def test_crash(capsys):
    """Host, zygote and worker are killed in turn, the disk fills up: each run goes on, whole."""
    assert crash.main(["--runs", "3", "--seed", "7", "--json"]) == 0
    trials = json.loads(capsys.readouterr().out)["trials"]
    kinds = ["host", "zygote", "worker"]
    happened = "disk full", "half a record", "block lost"
    kinds += [f"{what}, {form}" for what in happened for form in crash.WRITTEN]
    assert [trial["what"] for trial in trials] == kinds
    assert sum(trial["kills"] for trial in trials) >= 3


def test_crash_reports(monkeypatch, capsys):
    """A trial with a fault is told of, counted in the report, and makes the exit code 1."""
    trials = [crash.Trial("host", 1, 2, 1.0), crash.Trial("host", 1, 2, 1.0, ["a node is lost"])]

    def tried(runs, seed, tell):
        assert (runs, seed) == (2, 0)
        for trial in trials:
            tell(trial)
        return trials

    monkeypatch.setattr(crash, "tried", tried)
    assert crash.main(["--runs", "2"]) == 1
    shown = capsys.readouterr()
    assert "host: a node is lost" in shown.err
    assert re.search(r"host.*2.*2.*4.*1\.0.*1", shown.out)
    del trials[1]
    assert crash.main(["--runs", "2"]) == 0


# -- mutants -----------------------------------------------------------------------------------

FAMILIES = "CANTRIP INTENT ENTITY LOOP LLM IDENTITY CIRCLE MEDIUM WARD COMP LOOM PROD STREAMING"


def test_every_mutant_can_be_tried():
    """Each stands once in today's source, and makes Python; every family of rules has one."""
    every = mutants.read_mutants(mutants.MUTANTS)
    for mutant in every:
        assert mutant.applied(mutants.ROOT) != (mutants.ROOT / mutant.file).read_text("utf-8")
    assert {mutant.rule.partition("-")[0] for mutant in every} >= set(FAMILIES.split())
    rules = (mutants.ROOT / "docs" / "rules.md").read_text("utf-8")
    assert [mutant.rule for mutant in every if f"| {mutant.rule} |" not in rules] == []


PROJECT = {
    "pyproject.toml": "[tool.setuptools]\npackages = ['toy', 'toy.inner']",
    "__init__.py": "",
    "inner/__init__.py": "def two():\n    return 2\n\ndef three():\n    return 3\n",
    "tests/conftest.py": "",
    "tests/conformance/test_suite.py": "from toy import inner\n"
    "def test_two(): assert inner.two() == 2\n",
    "docs/page.md": "",
}
BREAKS = """\
- {name: two is one, rule: two, file: inner/__init__.py, replace: return 2, by: return 1}
- {name: three is two, rule: three, file: inner/__init__.py, replace: return 3, by: return 2}
"""


@pytest.fixture
def toy(tmp_path):
    """A checkout of a small package, and a file of two breaks of it."""
    for name, text in PROJECT.items():
        path = tmp_path / "checkout" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    breaks = tmp_path / "breaks.yaml"
    breaks.write_text(BREAKS)
    return tmp_path / "checkout", breaks


def test_mutants_are_caught_or_not(toy, capsys):
    """A break that a test notices is caught by it; one that none does fails; nothing is changed."""
    assert mutants.main(["--json"], *toy) == 1
    report = json.loads(capsys.readouterr().out)
    first, second = report["verdicts"]
    assert (report["mutants"], report["caught"]) == (2, 1)
    assert (first["name"], first["caught_by"]) == ("two is one", "test_suite: test_two")
    assert (second["caught_by"], second["why_not"]) == (None, "all tests pass")
    assert (toy[0] / "inner/__init__.py").read_text() == PROJECT["inner/__init__.py"]


def test_mutants_are_listed_and_reported(toy, capsys, monkeypatch):
    """One can be chosen by its name; the report counts what was caught, and says why one wasn't."""
    assert mutants.main(["--list", "--only", "three is two"], *toy) == 0
    assert capsys.readouterr().out == "three: three is two (inner/__init__.py)\n"
    verdicts = [
        mutants.Verdict("two is one", "two", "test_suite: test_two", None, 1.0),
        mutants.Verdict("three is two", "three", None, "all tests pass", 2.0),
    ]
    for found, code, told in ((verdicts[:1], 0, "1 of 1"), (verdicts, 1, "1 of 2 caught")):
        monkeypatch.setattr(mutants, "_tried", lambda *_, found=found: found)
        assert mutants.main([], *toy) == code
        assert told in (shown := capsys.readouterr().out)
    assert "NOT CAUGHT: all tests pass" in shown
    assert mutants.main(["--only", "four is one"], *toy) == 2
    assert "there is no mutant 'four is one'" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("file", "text", "told"),
    [
        ("inner/__init__.py", "def two(): return 1 + 1", "'two is one' is stale"),
        ("inner/__init__.py", "return 2; return 2; return 3", "stands 2 times in inner/__init__"),
        ("inner/__init__.py", "def two(: return 2; return 3", "makes no Python"),
        ("tests/conformance/test_suite.py", "def test_no(): assert 0", "nothing is broken: test_"),
        ("__init__.py", "raise ImportError", "copy of toy is not the one that is imported"),
        ("../breaks.yaml", "- {name: x}", "mutant 1 must have just name, rule, file, replace, by"),
        ("../breaks.yaml", BREAKS.replace("three is two", "two is one"), "two mutants are named"),
    ],
)
def test_mutants_that_cannot_be_tried(toy, capsys, file, text, told):
    """A stale mutant, a wrong one, and tests that fail anyway are told of: nobody is deceived."""
    (toy[0] / file).write_text(text)
    assert mutants.main([], *toy) == 2
    assert told in capsys.readouterr().err


@pytest.mark.parametrize(
    ("by", "limit", "why"),
    [
        ("while True: pass", 1, "the tests were not over after 1 s"),
        ("exit()", 60, "the tests could not be run (exit code 3)"),
    ],
)
def test_a_run_that_ends_otherwise_catches_nothing(toy, tmp_path, by, limit, why):
    """Tests that take too long, or don't run at all, have noticed nothing."""
    suite = toy[0] / "tests/conformance/test_suite.py"
    suite.write_text(suite.read_text().replace("def", "inner.two()\ndef", 1))
    trials = mutants.Trials(toy[0], tmp_path / "trials", time_limit_s=limit)
    broken = mutants.Mutant("x", "two", "inner/__init__.py", "return 2", by)
    (verdict,) = trials.run([broken], jobs=1)
    assert (verdict.caught_by, verdict.why_not) == (None, why)


# -- the loom's ---------------------------------------------------------------------------------


def test_what_a_loom_costs():
    """Each measure is taken of both formats, in a process of its own where memory counts."""
    figures = loom.measured(12)
    by_format = {
        layout: [figure.what for figure in figures if figure.format == layout]
        for layout in loom.FORMATS
    }
    assert by_format["sqlite"] == by_format["jsonl"]
    assert "open a loom of 12 turns" in by_format["sqlite"]
    assert all(figure.value >= 0 for figure in figures)
    assert [figure.goal for figure in figures if figure.what == "open and thread it"] == [3.0] * 2


def test_a_goal_that_is_not_met_fails(monkeypatch, capsys):
    """The exit code says whether all goals are met."""
    for value, code in ((2.9, 0), (3.1, 1)):
        figures = [
            loom.Figure("open and thread it", layout, value, "s", 3.0) for layout in loom.FORMATS
        ]
        monkeypatch.setattr(loom, "measured", lambda _, figures=figures: figures)
        assert loom.main(["--json"]) == code
        assert json.loads(capsys.readouterr().out)["figures"][0]["value"] == value
        assert loom.main([]) == code
        assert f"{value:g} s" in capsys.readouterr().out
