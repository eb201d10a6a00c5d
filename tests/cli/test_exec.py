"""``circlet exec``: one program in a sandbox."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

COMMAND = Path(sys.executable).with_name("circlet")


def test_prints_and_last_value(place):
    """What the program prints and its last value go to stdout."""
    done = place.installed("exec", "-", stdin='x = 41\nprint("hi")\nx + 1')
    assert (done.returncode, done.stdout, done.stderr) == (0, "hi\n42\n", "")


def test_an_error(place):
    """An error goes to stderr as the program's own traceback; exit code 1."""
    done = place.installed("exec", "-", stdin='print("a")\nimport socket\nsocket.socket()')
    assert (done.returncode, done.stdout) == (1, "a\n")
    assert "no module 'socket' here" in done.stderr
    assert "line 2" in done.stderr
    assert "worker.py" not in done.stderr


def test_a_file(place):
    """A program may be in a file; a byte order mark is no part of it."""
    place.write(b"\xef\xbb\xbfprint('from a file')", "program.py")
    assert place.invoke("exec", "program.py").stdout == "from a file\n"


def test_standard_input_is_the_default(place):
    """Without a file the program comes from standard input."""
    assert place.invoke("exec", input="6 * 7").stdout == "42\n"


@pytest.mark.parametrize(
    ("program", "shown"),
    [("done('text')", "text\n"), ("done((1, 'a'))", "(1, 'a')\n"), ("print(1)\ndone(2)", "1\n2\n")],
)
def test_done_shows_its_argument(place, program, shown):
    """``done(x)`` ends the program and shows x."""
    done = place.invoke("exec", input=program)
    assert (done.exit_code, done.stdout) == (0, shown)


def test_no_output_is_no_line(place):
    """A program that prints nothing and ends with no value says nothing."""
    assert place.invoke("exec", input="x = 1").output == ""


def test_a_time_limit(place):
    """A program that goes on past its time is stopped: an error that says so."""
    done = place.invoke("exec", "--eval-ms", "100", input="print('a')\nwhile True: pass")
    assert (done.exit_code, done.stdout) == (1, "a\n")
    assert "100 ms" in done.stderr


def test_the_portable_back_end(place):
    """``--backend portable`` runs the same program in the other back end."""
    done = place.installed("exec", "--backend", "portable", stdin="print('hi')\n6 * 7")
    assert (done.returncode, done.stdout, done.stderr) == (0, "hi\n42\n", "")


def test_output_can_not_steer_the_terminal(place):
    """Control sequences of a program are shown as text."""
    done = place.invoke("exec", input="print('\\x1b[2Ja\\tb')\n'\\x9b'")
    assert done.stdout == "\\x1b[2Ja\tb\n'\\x9b'\n"


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (["gone.py"], "circlet: the program gone.py can't be read: No such file or directory\n"),
        (["bytes.py"], "circlet: the program bytes.py is not UTF-8 text (byte 0)\n"),
        (["--memory-mb", "1"], "circlet: memory_mb must be a whole number, 8 to 1,048,576: 1\n"),
    ],
)
def test_usage(place, args, message):
    """A wrong file or limit is one clear line, exit code 2."""
    place.write(b"\xff", "bytes.py")
    done = place.invoke("exec", *args)
    assert (done.exit_code, done.output) == (2, message)


def test_an_unknown_back_end(place):
    """A back end that isn't one is a usage error that lists those that there are."""
    done = place.invoke("exec", "--backend", "docker", input="1")
    assert done.exit_code == 2
    assert "portable" in done.stderr


@pytest.mark.parametrize(
    ("command", "code", "stderr"),
    [
        ("{circlet} exec - < /dev/null >&-", 0, ""),
        ("{circlet} exec <&-", 0, ""),
        (
            "echo 'print(1)' | {circlet} exec - > /dev/full",
            1,
            "circlet: the output can't be written: No space left on device\n",
        ),
        (
            "{circlet} exec /dev/zero",
            2,
            "circlet: the program /dev/zero is longer than 10,000,000 bytes\n",
        ),
    ],
)
def test_odd_streams(command, code, stderr):
    """Closed or full streams and endless files come to an exit code, and one line at most."""
    done = subprocess.run(
        ["bash", "-c", command.format(circlet=COMMAND)], capture_output=True, text=True, timeout=120
    )
    assert (done.returncode, done.stderr) == (code, stderr)


def test_a_package_that_is_not_there(place):
    """``--package`` names what the program may import; one that is not there is a usage error."""
    done = place.invoke("exec", "--package", "no_such_package", input="1")
    assert done.exit_code == 2
    assert "the package 'no_such_package' is not installed here" in done.stderr


@pytest.mark.kernel
def test_packages(place, tmp_path):
    """``--package`` can be given several times."""
    for name in ("one", "two"):
        (tmp_path / f"package_{name}.py").write_text(f"x = {name!r}")
    place.environment = {"PYTHONPATH": str(tmp_path)}
    options = ("--package", "package_one", "--package", "package_two")
    program = "import package_one, package_two\npackage_one.x + package_two.x"
    assert place.installed("exec", *options, "-", stdin=program).stdout == "'onetwo'\n"
