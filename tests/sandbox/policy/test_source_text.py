"""The source as a text: odd characters, great length, deep nesting."""

import pytest

PROGRAMS = {
    "CRLF": "a = 1\r\nif a:\r\n    b = 2\r\na + b\r\n",
    "CR": "a = 1\rb = 2\ra + b",
    "form feeds": "a = 1\n\x0c\nb = 2\n\x0ca + b",
    "tabs": "if 1:\n\ta = 5\n\tif a:\n\t\ta += 1\na",
    "tabs and blanks mixed": "if 1:\n\ta = 5\n        b = 6\n",
    "a byte order mark": "\ufeffa = 1\na",
    "a coding cookie": "# -*- coding: latin-1 -*-\n'é'",
    "a coding cookie of no encoding": "# coding: nonsense\n'é'",
    "line separators in a text": "s = 'a\u2028b\x0bc\x1cd'\nlen(s)",
    "no newline at the end": "a = 3\na",
    "blank": "",
    "blanks and a comment": "\n   \n# nothing\n",
    "a comment at the end": "a = 4\na # the value",
    "a backslash at the end": "a = 1 + \\",
    "an open bracket": "f(1,\n  2",
    "an open text": "s = 'abc",
    "a bad dedent": "if 1:\n        a\n    b",
    "an unexpected indent": "a = 1\n  b = 2",
    "a character that is none": "a = 1 ÷ 2",
    "curly quotes": "print(“hello”)",
    "wide characters": "名前 = '値'\nπ = 3\n名前 * π",
    "escapes": r"'\d \x41 \N{BULLET} \101'",
    "print as a statement": "print 'hello'",
    "exec as a statement": "exec 'x'",
    "not equal": "1 <> 2",
    "leading zeros": "x = 007",
    "assignment to a call": "f() = 1",
    "a keyword as a name": "class = 1",
    "missing colon": "if 1\n    x",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_text_is_read_as_by_cpython(same, what):
    """Line ends, indents and characters mean what they mean to CPython; so do its errors."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("source", ["a = 1\x00", "\x00", "'a\x00b'", "# a comment\x00\na = 1"])
def test_null_bytes_get_a_clear_error(box, source):
    """A null byte is no part of any source; the error says so."""
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")
    assert "null" in run.error.message


@pytest.mark.parametrize("source", ["a = '\ud800'", "\ud800 = 1", "# \udfff\na = 1"])
def test_lone_surrogates_get_a_clear_error(box, source):
    """Half a character can't be compiled; the error says so, and the session goes on."""
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")
    assert "surrogate" in run.error.message
    assert box.run("'\\ud800'").value == "\ud800"


DEEP = {
    "a long sum": "x = 1\nr = " + " + ".join(["x"] * 900) + "\nr",
    "a long sum of texts": "r = " + " + ".join(["'ab'"] * 900) + "\nlen(r)",
    "a long and": "x = True\nr = " + " and ".join(["x"] * 2000) + "\nr",
    "a long comparison": "r = " + " < ".join(map(str, range(2000))) + "\nr",
    "many elifs": "x = 499\nif x < 0: r = -1\n"
    + "".join(f"elif x == {i}: r = {i}\n" for i in range(500))
    + "r",
    "nested lists": "r = " + "[" * 90 + "]" * 90 + "\nlen(str(r))",
    "nested calls": "def f(x): return x + 1\nr = " + "f(" * 90 + "0" + ")" * 90 + "\nr",
    "nested dictionaries": "r = " + "{'k': " * 60 + "1" + "}" * 60 + "\nlen(str(r))",
    "a long chain of methods": "r = 'a'" + ".strip()" * 400 + "\nr",
    "a long chain of items": "d = {}\nd[0] = d\nr = d" + "[0]" * 900 + "\nr is d",
    "nested conditions": "r = " + "1 if 0 else " * 90 + "2\nr",
    "nested functions": "".join("    " * i + f"def f{i}():\n" for i in range(19))
    + "    " * 19
    + "return 7\nf0()",
    "nested blocks": "".join("    " * i + "if 1:\n" for i in range(90)) + "    " * 90 + "r = 8\nr",
    "nested lambdas": "r = " + "lambda: " * 90 + "1\ncallable(r)",
    "nots and minuses": "r = " + "not " * 150 + "1, " + "-" * 150 + "1\nr",
    "a literal of many items": "r = [" + ", ".join(map(str, range(100_000))) + "]\nsum(r)",
    "a dictionary of many items": "r = {"
    + ", ".join(f"'k{i}': ({i}, None)" for i in range(5_000))
    + "}\nlen(r)",
    "a long text": "r = '" + "x" * 1_000_000 + "'\nlen(r)",
    "many lines": "\n".join(f"v{i % 50} = {i}" for i in range(5_000)) + "\nv49",
    "a long f-string": "x = 1\nr = f'" + "{x}" * 3000 + "'\nlen(r)",
}


@pytest.mark.parametrize("what", DEEP)
def test_what_cpython_compiles_is_compiled(same, what):
    """Long and deep sources that CPython takes are taken, with the same result."""
    same(DEEP[what])


@pytest.mark.parametrize(
    "source",
    [
        "r = " + "(" * 500 + ")" * 500,
        "r = " + "[" * 100_000,
        "r = " + "-" * 100_000 + "1",
        "r = " + "not " * 100_000 + "1",
        "r = " + "a." * 200_000 + "b",
        "r = " + "1 + " * 100_000 + "1",
        "r = " + "lambda: " * 50_000 + "1",
        "r = x" + "[0]" * 200_000,
        "r = x" + "()" * 200_000,
        "if 1: pass\n" + "elif 1: pass\n" * 100_000,
        "".join(" " * i + "if 1:\n" for i in range(120)) + " " * 120 + "pass",
    ],
    ids=range(11),
)
def test_what_is_too_deep_gets_one_clear_error(box, source):
    """Deeper than CPython goes, the turn fails with one line, and the session goes on."""
    box.run("kept = 5")
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError", "IndentationError")
    assert len(run.error.message) < 200
    assert (run.state, box.run("kept").value) == ("kept", 5)


def test_a_refusal_deep_inside_is_found(refusal):
    """Depth hides nothing from the check."""
    for source in (
        "r = " + "x + " * 900 + "print.__globals__",
        "r = " + "[" * 90 + "print.__globals__" + "]" * 90,
        "if 0: pass\n" + "elif 0: pass\n" * 400 + "else: print.__globals__",
        "r = x" + ".strip()" * 400 + ".__globals__",
    ):
        assert "__globals__" in refusal(source).message


def test_a_refusal_shows_line_and_caret(box):
    """A refusal names the construct and points at it, in characters, as a SyntaxError does."""
    run = box.run("a = 1\nb = 'äö'; c = a.__globals__\n")
    assert run.error is not None
    assert run.error.line == 2
    shown, caret = run.error.traceback.splitlines()[-3:-1]
    assert shown.strip() == "b = 'äö'; c = a.__globals__"
    assert shown[caret.index("^") : caret.rindex("^") + 1] == "a.__globals__"


def test_the_first_of_several_refusals_is_shown(refusal):
    """One at a time, the topmost first."""
    error = refusal("def f():\n    x.__code__\nx.__globals__\nfrom math import *")
    assert error.line == 3
    assert "__code__" in error.message


def test_a_refused_turn_prints_nothing(box):
    """Nothing of it has run, and nothing of an earlier turn is shown."""
    box.run("print('from turn one')")
    run = box.run("print('now')\nprint.__globals__")
    assert (run.status, run.stdout, run.state) == ("error", "", "kept")
    assert "from turn one" not in str(run)
