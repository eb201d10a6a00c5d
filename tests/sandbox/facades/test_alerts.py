"""Warnings: shown in the turn's output with the program's line; its filters are its own."""

from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox


def test_a_warning_is_shown_with_its_line(new_box: Any) -> None:
    """As in Python, once for a line; and again in a later turn, whose lines are new."""
    box = new_box()
    source = "import warnings\nfor _ in range(3):\n    warnings.warn('careful')"
    for turn in (1, 2):
        expected = f"<turn {turn}>:3: UserWarning: careful\n  warnings.warn('careful')\n"
        assert box.run(source).stdout == expected


def test_filters_stay_from_turn_to_turn(new_box: Any) -> None:
    """What a turn ignores stays ignored."""
    box = new_box()
    box.run("import warnings\nwarnings.simplefilter('ignore')")
    assert box.run("warnings.warn('x')").stdout == ""
    box.run("warnings.resetwarnings()")
    assert "UserWarning: x" in box.run("warnings.warn('x')").stdout


@pytest.mark.parametrize("action", ["error", "always"])
def test_a_programs_filters_are_not_the_runners(new_box: Any, action: str) -> None:
    """Warnings that are errors to the program are none to what compiles and runs it."""
    box = new_box()
    assert box.run(f"import warnings\nwarnings.simplefilter({action!r})").status == "ok"
    source = "import ast\nx = '\\d'\nexec('y = 1')\n[eval('y + 1'), 0 is 0, ast.dump(ast.Pass())]"
    for _ in range(2):
        run = box.run(source)
        assert (run.status, run.value) == ("ok", [2, True, "Pass()"]), str(run)
    assert (box.run("warnings.warn('boo')").status == "error") == (action == "error")


def test_an_interrupted_recording_does_no_harm(backend: Any) -> None:
    """Warnings that would have been recorded are shown again in the next turn."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=300)) as box:
        run = box.run(
            "import warnings\nwith warnings.catch_warnings(record=True):\n    while True: pass"
        )
        assert run.status == "timeout"
        assert "UserWarning: x" in box.run("warnings.warn('x')").stdout


def test_no_place_of_the_librarys_is_told(box: Sandbox) -> None:
    """A warning whose place is not the program's own has none."""
    run = box.run(
        "import warnings\nwarnings.warn('deep', stacklevel=40)\n"
        "with warnings.catch_warnings(record=True) as seen:\n"
        "    warnings.simplefilter('always')\n"
        "    for level in range(1, 9): warnings.warn('deep', stacklevel=level)\n"
        "[w.filename for w in seen if not w.filename.startswith('<turn ')]"
    )
    assert run.stdout == "UserWarning: deep\n"
    assert set(run.value) == {""}


def test_no_file_is_read_to_show_a_warning(box: Sandbox) -> None:
    """A place that a program names is not looked up."""
    run = box.run(
        f"import warnings\nwarnings.warn_explicit('m', UserWarning, {__file__!r}, 1)\n"
        f"warnings.showwarning('m', UserWarning, {__file__!r}, 1)\n"
        f"warnings.formatwarning('m', UserWarning, {__file__!r}, 1)"
    )
    assert (run.stdout, run.value) == ("UserWarning: m\n" * 2, "UserWarning: m\n")


@pytest.mark.parametrize(
    "source",
    [
        "warnings.filters",
        "warnings.sys",
        "warnings.catch_warnings(module=warnings)",
        "warnings.warn_explicit('m', UserWarning, 'f', 1, module_globals={})",
        "with warnings.catch_warnings() as w: w._before",
    ],
)
def test_what_leads_on_is_not_there(box: Sandbox, source: str) -> None:
    """No list of the interpreter's, no module, no loader of a program's own."""
    assert box.run(f"import warnings\n{source}").status == "error"
