"""``circlet conform``: what it prints, its exit codes, and what it says of files that won't do."""

from __future__ import annotations

import json

import pytest
from circlet.runtime.conformance import run_suite
from circlet.runtime.conformance.renditions import digest_of

CASE = """\
- rule: {rule}
  name: {name}
  setup:
    llm: {{responses: [{{content: hello}}]}}
    circle: {{gates: [done], wards: [{{max_turns: 3}}]}}
  action:
    cast: {{intent: greet}}
  expect: {expect}
"""
GOOD = CASE.format(rule="LOOP-6", name="text is an answer", expect="{result: hello, turns: 1}")
BAD = CASE.format(rule="LOOP-4", name="a wrong one", expect="{turns: 2}")
IN_CODE = """\
- rule: MEDIUM-3
  name: state lasts
  setup:
    llm: {responses: [{code: "let x = 42;"}, {code: "done(x);"}]}
    circle: {medium: code, gates: [done], wards: [{max_turns: 3}]}
  action:
    cast: {intent: keep}
  expect: {result: 42}
"""


def test_all_that_passes_is_a_number(place):
    """Where nothing fails there is one line, and exit code 0."""
    place.write(GOOD, "suite.yaml")
    ran = place.invoke("conform", "suite.yaml")
    assert (ran.exit_code, ran.stdout) == (0, "1 passed, 0 failed\n")


def test_a_failure_is_a_line(place):
    """A failure tells its rule, its case, what was expected and what was seen; exit code 1."""
    place.write(GOOD + BAD, "suite.yaml")
    ran = place.invoke("conform", "suite.yaml")
    assert ran.exit_code == 1
    assert ran.stdout.splitlines() == [
        "LOOP-4 a wrong one: expect.turns: expected 2, saw 1 "
        "(the newest cast's count of utterances)",
        "LOOP-4 a wrong one: expect.turns: expected 2, saw 1 "
        "(the utterances that the loom has of its entity)",
        "1 passed, 1 failed",
    ]


def test_one_rule_alone(place):
    """--rule runs that rule's cases; one that the suite hasn't is a usage error."""
    place.write(GOOD + BAD, "suite.yaml")
    assert place.invoke("conform", "suite.yaml", "--rule", "LOOP-6").exit_code == 0
    ran = place.invoke("conform", "suite.yaml", "--rule", "LOOP-7")
    assert ran.exit_code == 2
    assert "no case of 'LOOP-7'; its rules are: LOOP-6, LOOP-4" in ran.stderr


def test_each_assertion_is_explained(place):
    """--explain tells of every case what was looked at, and marks what failed."""
    place.write(GOOD + BAD, "suite.yaml")
    lines = place.invoke("conform", "suite.yaml", "--explain").stdout.splitlines()
    assert lines[0] == "passed LOOP-6 text is an answer (line 1)"
    assert lines[1] == "  expect.result: 'hello' (the newest cast's result, type included)"
    assert "FAILED LOOP-4 a wrong one (line 9)" in lines
    assert any(line.startswith("  FAILED expect.turns: 2 (") for line in lines)


def test_as_json(place):
    """--json prints one JSON document with what came of each case."""
    place.write(GOOD + BAD, "suite.yaml")
    told = json.loads(place.invoke("conform", "suite.yaml", "--json").stdout)
    assert (told["passed"], told["failed"]) == (1, 1)
    assert [case["passed"] for case in told["cases"]] == [True, False]
    assert told["cases"][1]["failures"][0].startswith("expect.turns: expected 2, saw 1")


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("- rule: [", "suite.yaml:1:"),
        ("", "the file is empty"),
        ("just a text", "suite.yaml:1: a suite is a list of cases"),
        ("{}", "a suite needs cases"),
        ("[]", "the suite has no cases"),
        ("{cases: 3}", "must be a list"),
        ("code_language: python\ntests: []\n", "suite.yaml:2: unknown key 'tests'"),
        ("code_language: ruby\ncases: []\n", "suite.yaml:1: code_language must be python"),
        (GOOD + "- name: no rule\n", "suite.yaml:9: a case needs a rule"),
        (GOOD + "- rule: X-1\n", "suite.yaml:9: a case needs a name"),
        (GOOD + "- 42\n", "suite.yaml:9: a case must be a mapping, not 42"),
        (GOOD + "- rule: X-1\n  rule: X-2\n", "suite.yaml:10: the key 'rule' was given before"),
        (b"\xff\xfe\x00", "is not UTF-8 text"),
    ],
)
def test_what_is_no_suite(place, text, told):
    """A file that holds no suite is an error that names file and line; exit code 2."""
    place.write(text, "suite.yaml")
    ran = place.invoke("conform", "suite.yaml")
    assert ran.exit_code == 2
    assert told in ran.stderr
    assert len(ran.stderr.splitlines()) == 1


def test_a_suite_that_is_not_there(place):
    """A missing file is an error that names it."""
    ran = place.invoke("conform", "none.yaml")
    assert ran.exit_code == 2
    assert "the suite none.yaml can't be read: No such file" in ran.stderr


# -- renditions --------------------------------------------------------------------------------


def _renditions(of_first: str, first: str = "x = 42", second: str = "done(x)") -> str:
    return f"""\
MEDIUM-3:
  state lasts:
    llm[0]: {{of: "{of_first}", python: {first}}}
    llm[1]: {{of: "{digest_of("done(x);")}", python: {second}}}
"""


def test_programs_are_rendered(place):
    """A program runs as its rendition says; white space in the original plays no part."""
    place.write(IN_CODE, "suite.yaml")
    place.write(_renditions(digest_of("  let x  = 42;\n")), "ours.yaml")
    assert place.invoke("conform", "suite.yaml", "--renditions", "ours.yaml").exit_code == 0


def test_a_program_without_a_rendition_fails(place):
    """It is a failure, never left out; the line tells where one is wanted, and its digest."""
    place.write(IN_CODE, "suite.yaml")
    ran = place.invoke("conform", "suite.yaml")
    assert ran.exit_code == 1
    assert "the code at llm[0] has no rendition in Python" in ran.stdout
    assert digest_of("let x = 42;") in ran.stdout


def test_a_program_that_was_changed_fails(place):
    """A rendition of another program is not run in its place."""
    place.write(IN_CODE, "suite.yaml")
    place.write(_renditions(digest_of("let x = 41;")), "ours.yaml")
    ran = place.invoke("conform", "suite.yaml", "--renditions", "ours.yaml")
    assert ran.exit_code == 1
    assert "has changed since it was rendered" in ran.stdout


def test_a_second_case_of_a_name_is_numbered(place):
    """Two cases of one rule and name have renditions of their own."""
    place.write(IN_CODE * 2, "suite.yaml")
    first = _renditions(digest_of("let x = 42;"))
    second = first.replace("MEDIUM-3:\n", "").replace("state lasts", "'state lasts #2'")
    place.write(first + second, "ours.yaml")
    ran = place.invoke("conform", "suite.yaml", "--renditions", "ours.yaml")
    assert ran.stdout == "2 passed, 0 failed\n"


@pytest.mark.parametrize(
    ("text", "told"),
    [
        ("MEDIUM-3: 3", "ours.yaml:1: a rule's renditions must be a mapping"),
        ("A:\n  b:\n    c: {of: x}", "ours.yaml:3: a rendition needs of and python"),
        ("A:\n  b:\n    c: {of: x, python: y, ruby: z}", "ours.yaml:3: unknown key 'ruby'"),
        ("A: [", "ours.yaml:1:"),
    ],
)
def test_what_is_no_renditions_file(place, text, told):
    """A file that holds no renditions is an error that names file and line; exit code 2."""
    place.write(GOOD, "suite.yaml")
    place.write(text, "ours.yaml")
    ran = place.invoke("conform", "suite.yaml", "--renditions", "ours.yaml")
    assert ran.exit_code == 2
    assert told in ran.stderr


def test_a_suite_in_python_needs_none(place):
    """Where a suite says that its programs are Python they run as they stand."""
    suite = IN_CODE.replace("let x = 42;", "x = 42").replace("done(x);", "done(x)")
    place.write("code_language: python\ncases:\n" + suite, "suite.yaml")
    ran = run_suite(place.path / "suite.yaml")
    assert (ran.passed, ran.failed) == (1, 0)


def test_text_is_never_expanded(place):
    """A suite is taken as it stands: ${NAME} in it is no variable."""
    place.write(GOOD.replace("hello", '"${NO_SUCH_VARIABLE}"'), "suite.yaml")
    assert place.invoke("conform", "suite.yaml").exit_code == 0
