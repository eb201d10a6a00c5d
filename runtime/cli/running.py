"""What a command does that works on a run's root: it shows progress, then what that came to."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import typer

from ...sandbox.errors import CircletError
from ..cantrip import Cantrip
from ..cast import Cast
from ..errors import ResumeError
from ..events import Sink
from ..jsonable import to_json
from ..loom import Loom
from ..redaction import redact
from ..spell import Spell
from .console import complain, one_line, show_value
from .faults import Code
from .figures import figures, summary
from .progress import watching

Work = Callable[[Cantrip, Sink], Cast]
"""Casts, or goes on with a cast; takes the run's cantrip and who takes the events."""


class Running:
    """One cast of a run's root, from its start line to its closing line.

    Args:
        spell: The spell.
        loom: The run's loom.
        directory: The run's directory.
        as_json: Whether the result is printed as JSON, with the figures.
        verbose: Whether a line is printed for each turn.
    """

    def __init__(
        self, spell: Spell, loom: Loom, directory: Path, as_json: bool, verbose: bool
    ) -> None:
        self._spell = spell
        self._loom = loom
        self._directory = directory
        self._as_json = as_json
        self._verbose = verbose

    def go(self, headline: str, work: Work) -> Code:
        """Do the work, and show what it came to.

        Args:
            headline: What is said before.
            work: Casts, or goes on with a cast.

        Raises:
            ResumeError: There is nothing to go on with, or no way to.
        """
        self._say(headline)
        try:
            cast = self._cast(work)
        except ResumeError:
            raise
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

    def _cast(self, work: Work) -> Cast:
        cantrip = self._spell.cantrip(self._loom)
        with (
            watching(self._spell.path.name, self._verbose) as sink,
            contextlib.redirect_stdout(sys.stderr),
        ):
            try:
                return work(cantrip, sink)
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
                report["error"] = one_line(redact(error))
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
