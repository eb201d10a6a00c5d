"""The command as a whole."""

from __future__ import annotations

import subprocess
import sys
from importlib.metadata import version


def test_version(place):
    """``--version`` says it."""
    assert place.installed("--version").stdout == f"circlet {version('circlet')}\n"


def test_as_a_module(place):
    """``python -m circlet`` is the same command."""
    done = subprocess.run(
        [sys.executable, "-m", "circlet", "exec"],
        input="6 * 7",
        capture_output=True,
        text=True,
        check=True,
        cwd=place.path,
    )
    assert done.stdout == "42\n"


def test_help_names_every_command(place):
    """``--help`` names the commands, and calls itself by its name."""
    done = place.installed("--help")
    assert done.returncode == 0
    assert "Usage: circlet " in done.stdout
    for name in ("run", "exec", "loom", "doctor"):
        assert name in done.stdout


def test_a_reader_that_goes_away(place):
    """A closed pipe ends a command quietly."""
    place.write("print('x\\n' * 1_000_000)", "program.py")
    command = f"{sys.executable} -m circlet exec program.py | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=place.path)
    assert (done.stdout, done.stderr) == ("x\n", "")
