"""Tracebacks show the program's own lines, and no file is opened for them."""

from typing import Any

import pytest
from circlet.sandbox import Sandbox

FAILING = """
import json, sys, traceback
def inner():
    json.loads("{")
def outer():
    inner()
try:
    outer()
except ValueError as e:
    error = e
    tb = sys.exc_info()[2]
    text = traceback.format_exc()
"""


@pytest.fixture
def failed(new_box: Any) -> Sandbox:
    """A session in which an error came up in the library."""
    box: Sandbox = new_box()
    assert box.run(FAILING).status == "ok"
    return box


def test_frames_are_the_programs_own(failed: Sandbox) -> None:
    """What the library did in between is left out, in texts and in lists."""
    text = failed.run("text").value
    assert ".py" not in text
    assert 'File "<turn 1>", line 6, in outer\n    inner()' in text
    names = failed.run("[(f.name, f.lineno, f.line) for f in traceback.extract_tb(tb)]").value
    assert names == [
        ("<module>", 8, "outer()"),
        ("outer", 6, "inner()"),
        ("inner", 4, 'json.loads("{")'),
    ]
    assert failed.run("len(traceback.format_tb(tb))").value == 3


@pytest.mark.parametrize(
    ("limit", "names"), [(2, ["<module>", "outer"]), (-1, ["inner"]), (0, []), (9, None)]
)
def test_limits(failed: Sandbox, limit: int, names: list[str] | None) -> None:
    """A positive limit counts from the outermost call, a negative one from the innermost."""
    run = failed.run(f"[f.name for f in traceback.extract_tb(tb, {limit})]")
    assert run.value == (["<module>", "outer", "inner"] if names is None else names)


def test_printing_goes_to_standard_error(failed: Sandbox) -> None:
    """The turn's output, or what standard error was turned to, or a file that is given."""
    assert failed.run("traceback.print_exception(error)").stdout == failed.run("text").value
    run = failed.run(
        "import io\nfrom contextlib import redirect_stderr\n"
        "with redirect_stderr(io.StringIO()) as turned:\n    traceback.print_exception(error)\n"
        "given = io.StringIO()\ntraceback.print_tb(tb, file=given)\n"
        "[turned.getvalue() == text, given.getvalue() == ''.join(traceback.format_tb(tb))]"
    )
    assert (run.value, run.stdout) == ([True, True], "")


def test_the_stack_is_the_programs_own(failed: Sandbox) -> None:
    """The calls that are under way, without those of the runner."""
    run = failed.run("def f(): return [one.name for one in traceback.extract_stack()]\nf()")
    assert run.value == ["<module>", "f"]


def test_no_file_is_read(failed: Sandbox) -> None:
    """A file that a program names is not opened for one of its lines."""
    run = failed.run(
        f"frame = type(traceback.extract_tb(tb)[0])({__file__!r}, 1, 'f', '')\n"
        "''.join(traceback.format_list([frame]))"
    )
    assert run.value == f'  File "{__file__}", line 1, in f\n'


@pytest.mark.parametrize(
    "source",
    [
        *("traceback.walk_tb(tb)", "traceback.TracebackException", "traceback.linecache"),
        *("traceback.StackSummary", "traceback.sys", "tb.tb_frame", "tb.tb_next"),
        "traceback.format_exception(5)",
        "class T:\n    tb_frame = tb_next = None\n    tb_lineno = 1\ntraceback.extract_tb(T())[0]",
    ],
)
def test_what_leads_on_is_not_there(failed: Sandbox, source: str) -> None:
    """No frame and no module comes out of a traceback."""
    assert failed.run(source).status == "error"
