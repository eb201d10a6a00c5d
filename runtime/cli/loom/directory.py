"""The run that a command of ``circlet loom`` is about."""

from __future__ import annotations

import contextlib
from pathlib import Path
from typing import Annotated

import typer

from ...document import variables_in
from ...loom import Loom
from ...redaction import Secrets
from ..faults import usage
from ..kept import COPY

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The run's directory.")]


def opened(directory: Path) -> Loom:
    """A run's loom, to be read; it knows what can be known here of the run's secrets."""
    with usage():
        loom = Loom(directory, read_only=True)
    with contextlib.suppress(OSError, UnicodeDecodeError):  # a run may have no spell file
        spell = (directory / COPY).read_text(encoding="utf-8")
        loom.withhold(Secrets.of_variables(variables_in(spell)))
    return loom


def taken_up(directory: Path) -> Loom:
    """A run's loom, to be gone on with; unlike a fresh one it has to be there.

    Raises:
        LoomError: There is none, or another process is writing it.
    """
    Loom(directory, read_only=True).close()
    return Loom(directory)
