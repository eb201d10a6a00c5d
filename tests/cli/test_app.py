"""The command as a whole."""

from __future__ import annotations

import inspect
import subprocess
import sys
from collections.abc import Iterator
from importlib.metadata import version
from typing import Any

import pytest
from circlet.runtime.cli.app import app
from typer.main import get_command


def test_version(place):
    """``--version`` says it."""
    assert place.installed("--version").stdout == f"circlet {version('circlet')}\n"


def test_what_takes_long_to_load_is_loaded_by_who_needs_it():
    """A command begins without the packages of protocols and providers that it doesn't use."""
    looks = "import circlet.runtime.cli.app, sys; print({'acp', 'openai'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", looks], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"


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


def helps(command: Any, path: str = "circlet") -> Iterator[tuple[str, str]]:
    """The commands below one, and their helps."""
    for name, below in getattr(command, "commands", {}).items():
        yield from helps(below, f"{path} {name}")
    if not hasattr(command, "commands"):
        yield path, command.help


@pytest.mark.parametrize(("command", "text"), list(helps(get_command(app))))
def test_help_fits_a_terminal(command, text):
    """Lines of a help, which are shown as they are after its first paragraph, fit 80 columns."""
    _, _, rest = inspect.cleandoc(text).partition("\n\n")
    assert [line for line in rest.splitlines() if len(line) > 78] == [], command


def test_a_reader_that_goes_away(place):
    """A closed pipe ends a command quietly."""
    place.write("print('x\\n' * 1_000_000)", "program.py")
    command = f"{sys.executable} -m circlet exec program.py | head -1"
    done = subprocess.run(command, shell=True, capture_output=True, text=True, cwd=place.path)
    assert (done.stdout, done.stderr) == ("x\n", "")
