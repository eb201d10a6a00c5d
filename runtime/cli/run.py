"""``circlet run``: one intent, worked on by what a spell file describes."""

from __future__ import annotations

import contextlib
import datetime as dt
import sys
from pathlib import Path
from typing import Annotated

import typer

from ..loom import Loom, format_in
from ..spell import Spell, load, read_context
from .faults import UsageFault, usage
from .kept import COPY, keep_spell
from .running import Running


def run(
    spell: Annotated[Path, typer.Argument(metavar="SPELL.yaml", help="The spell file.")],
    intent: Annotated[
        str | None,
        typer.Argument(metavar="INTENT", help="What to do, instead of the spell's intent."),
    ] = None,
    context: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Data for it, instead of the spell's.")
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL", help="The model of the root and, by default, of children."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the run is kept. Default: runs/<UTC time>."),
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result and the figures as JSON.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each turn to stderr.")
    ] = False,
) -> None:
    """Cast a spell: work on an intent until it is done, a ward stops it, or it fails.

    The result goes to standard output, progress to standard error.
    Exit codes: 0 done, 3 stopped by a ward, 1 failed, 2 usage, 130 interrupted.
    """
    with usage():
        # Whatever a spell's own Python prints must not get into the result.
        with contextlib.redirect_stdout(sys.stderr):
            loaded = load(spell, llm)
        task = _intent(loaded, intent)
        data = loaded.context if context is None else read_context(context)
        directory = run_directory(out, loaded)
        loom = Loom(directory)
    with loom:
        begun = Running(loaded, loom, directory, as_json, verbose)
        code = begun.go(
            f"circlet: {loaded.path}, kept in {directory}",
            lambda cantrip, sink: cantrip.cast(task, data, on_event=sink),
        )
    raise typer.Exit(code)


def _intent(spell: Spell, given: str | None) -> str:
    intent = spell.intent if given is None else given
    if intent is None or not intent.strip():
        raise UsageFault(
            f"intent is required: give one after {spell.path}, or write intent: into it"
        )
    return intent


def run_directory(out: Path | None, spell: Spell) -> Path:
    """A run's directory, made, with a copy of the spell in it; one named after the time for None.

    Raises:
        UsageFault: It can't be used, or holds another run or another spell.
    """
    try:
        directory = _fresh() if out is None else _made(out, spell.source)
        keep_spell(directory, spell)
    except OSError as error:
        raise UsageFault(f"{error.filename or out} can't be used: {error.strerror}") from None
    return directory


def _made(directory: Path, source: str) -> Path:
    if format_in(directory) is not None:
        raise UsageFault(f"{directory} holds another run: choose another directory for --out")
    copy = directory / COPY
    if copy.exists() and copy.read_bytes() != source.encode():
        raise UsageFault(f"{copy} is another spell: choose another directory for --out")
    directory.mkdir(mode=0o700, parents=True, exist_ok=True)
    return directory


def _fresh() -> Path:
    """A new directory named after the time; runs that begin in one second get a number."""
    time = dt.datetime.now(dt.UTC).strftime("%Y-%m-%dT%H%M%SZ")
    number = 1
    while True:
        directory = Path("runs") / (time if number == 1 else f"{time}-{number}")
        with contextlib.suppress(FileExistsError):
            directory.mkdir(mode=0o700, parents=True)
            return directory
        number += 1
