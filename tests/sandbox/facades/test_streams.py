"""Standard streams: output is the turn's, wherever a program turns it, and input is an error."""

from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox


@pytest.mark.parametrize(
    "source",
    [
        "with redirect_stdout(io.StringIO()):\n    while True: pass",
        "sys.stdout = sys.stderr = io.StringIO()",
        "sys.stdout = None",
        "sys.stdout = 5\nprint('x')",
    ],
)
def test_a_new_turn_has_its_output_back(backend: Any, source: str) -> None:
    """Whatever a turn, or its interruption, left output turned to, the next one prints."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=300)) as box:
        box.run(f"import io, sys\nfrom contextlib import redirect_stdout\n{source}")
        assert box.run("print(1)\nprint(2, file=sys.stderr)").stdout == "1\n2\n"


def test_what_the_library_prints_is_the_turns_output(box: Sandbox) -> None:
    """Functions of the library that print do it where the program's own ``print`` does."""
    run = box.run(
        "import calendar, io\nfrom contextlib import redirect_stdout\n"
        "with redirect_stdout(io.StringIO()) as text:\n    calendar.prmonth(2024, 2)\n"
        "calendar.prmonth(2024, 1)\ntext.getvalue()[:16].strip()"
    )
    assert run.value == "February 2024"
    assert "January 2024" in run.stdout
    assert "February" not in run.stdout


def test_a_redirection_can_be_entered_again(box: Sandbox) -> None:
    """Contexts nest, and give output back in turn, after an error too."""
    run = box.run(
        "import io\nfrom contextlib import redirect_stdout\n"
        "a = redirect_stdout(io.StringIO())\n"
        "try:\n    with a as out:\n        with a:\n            print(1)\n"
        "        print(2)\n        1 / 0\n"
        "except ZeroDivisionError:\n    print(3)\nout.getvalue()"
    )
    assert (run.value, run.stdout) == ("1\n2\n", "3\n")


@pytest.mark.parametrize("source", ["sys.stdin.read()", "next(sys.stdin)", "[*sys.stdin]"])
def test_input_is_an_error_that_says_so(box: Sandbox, source: str) -> None:
    """Nothing waits for a line that never comes."""
    run = box.run(f"import sys\n{source}")
    assert run.error is not None
    assert "nobody is there to answer" in run.error.message


@pytest.mark.parametrize("value", ["1", "b'x'", "None"])
def test_only_text_is_written(box: Sandbox, value: str) -> None:
    """``write`` takes text, as Python's own does."""
    run = box.run(f"import sys\nsys.stdout.write({value})")
    assert run.error is not None
    assert run.error.message.startswith("write() argument must be str, not ")


def test_a_texts_own_methods_do_not_run_in_the_runner(backend: Any) -> None:
    """A subclass of ``str`` is written as the plain text that it is; its methods are not called."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=1_000)) as box:
        run = box.run(
            "import sys\ndef spin(*_):\n    while True: pass\n"
            "class S(str):\n    join = spin\n    def __len__(self): spin()\n"
            "    def __contains__(self, text): spin()\n    def __getitem__(self, key): spin()\n"
            "print('a', 'b', sep=S('-'), end=S('!'))\nsys.stdout.write(S('c'))"
        )
        assert (run.status, run.value, run.stdout) == ("ok", 1, "a-b!c")


@pytest.mark.parametrize(
    "source",
    [
        "sys.stdout._put",
        "redirect_stdout(None)._place",
        "class R(redirect_stdout):\n    def look(self): return self._place\nR(None).look()",
        "class R(redirect_stdout):\n    _place = sys\nR(None).__enter__()",
        "sys.stdout.name = 'x'\nsys.stdout.write = print",
        "sys.version = ''",
        "sys.stdout.fileno()",
    ],
)
def test_the_streams_own_parts_are_closed(box: Sandbox, source: str) -> None:
    """A program can turn its output elsewhere, and neither see nor change what does it."""
    assert box.run(f"import sys\nfrom contextlib import redirect_stdout\n{source}").error
    assert box.run("print('here')").stdout == "here\n"


def test_input_reads_what_standard_input_was_turned_to(box: Sandbox) -> None:
    """``sys.stdin = io.StringIO(text)`` gives lines to ``input``; the next turn has none again."""
    source = "import io, sys\nsys.stdin = io.StringIO('3\\nab\\n')\nn = int(input('n? '))\n"
    run = box.run(source + "n, input(), sys.stdin.read()")
    assert (run.value, run.stdout) == ((3, "ab", ""), "n? ")
    assert box.run("sys.stdin = io.StringIO('')\ninput()").error.type == "EOFError"
    assert "ask through a gate" in str(box.run("input()"))
