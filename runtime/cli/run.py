"""``circlet run``: one intent, worked on by what a spell file describes."""

from __future__ import annotations

import contextlib
import datetime as dt
import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from ...sandbox.errors import CircletError
from ..cantrip import Cast
from ..jsonable import to_json
from ..loom import Loom
from ..spell import Spell, load, read_context
from .console import complain, one_line, show_value
from .faults import Code, UsageFault, usage
from .figures import figures, summary
from .progress import watching


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
        directory = _directory(out, loaded.source)
        loom = Loom(directory)
    with loom:
        code = _Run(loaded, loom, directory, as_json, verbose).go(task, data)
    raise typer.Exit(code)


class _Run:
    """One run, from its start line to its closing line."""

    def __init__(
        self, spell: Spell, loom: Loom, directory: Path, as_json: bool, verbose: bool
    ) -> None:
        self._spell = spell
        self._loom = loom
        self._directory = directory
        self._as_json = as_json
        self._verbose = verbose

    def go(self, intent: str, context: Any) -> Code:
        """Cast, and show what it came to."""
        self._say(f"circlet: {self._spell.path}, kept in {self._directory}")
        try:
            cast = self._cast(intent, context)
        except CircletError as error:
            complain(str(error))
            self._close(None, str(error) or type(error).__name__)
            return Code.FAILED
        except KeyboardInterrupt:
            complain(f"interrupted; what was recorded is in {self._directory}")
            return Code.INTERRUPTED
        if cast.truncated:
            complain(f"truncated by {cast.reason}: {cast.summary}")
        self._close(cast)
        return Code.TERMINATED if cast.terminated else Code.TRUNCATED

    def _cast(self, intent: str, context: Any) -> Cast:
        cantrip = self._spell.cantrip(self._loom)
        with (
            watching(self._spell.path.name, self._verbose) as sink,
            contextlib.redirect_stdout(sys.stderr),
        ):
            try:
                return cantrip.cast(intent, context, on_event=sink)
            finally:
                with contextlib.suppress(Exception):  # what it came to stands by now
                    cantrip.close()

    def _close(self, cast: Cast | None, error: str | None = None) -> None:
        if self._as_json:
            report = {
                "result": None if cast is None else to_json(cast.result),
                "terminated": cast is not None and cast.terminated,
                "truncated": cast is not None and cast.truncated,
                "reason": "failed" if cast is None else cast.reason,
                **figures(self._loom),
                "loom": str(self._directory),
            }
            if error is not None:
                report["error"] = one_line(error)
            typer.echo(json.dumps(report, indent=2, allow_nan=False))
        elif cast is not None and cast.terminated:
            self._show(cast.result)
        self._say(f"{summary(self._loom)}; loom: {self._directory}")

    def _show(self, result: Any) -> None:
        if not show_value(result):
            self._say("circlet: long lists are cut short here; --json prints the whole result")

    @staticmethod
    def _say(text: str) -> None:
        with contextlib.suppress(OSError):  # nobody reads it any more: the run matters, not that
            typer.echo(one_line(text), err=True)


def _intent(spell: Spell, given: str | None) -> str:
    intent = spell.intent if given is None else given
    if intent is None or not intent.strip():
        raise UsageFault(
            f"intent is required: give one after {spell.path}, or write intent: into it"
        )
    return intent


def _directory(out: Path | None, source: str) -> Path:
    """The run's directory, made, with a copy of the spell in it."""
    try:
        directory = _fresh() if out is None else _made(out, source)
        (directory / "spell.yaml").write_bytes(source.encode())
    except OSError as error:
        raise UsageFault(f"{error.filename or out} can't be used: {error.strerror}") from None
    return directory


def _made(directory: Path, source: str) -> Path:
    if (directory / "loom.db").exists():
        raise UsageFault(f"{directory} holds another run: choose another directory for --out")
    copy = directory / "spell.yaml"
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
