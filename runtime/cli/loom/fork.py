"""``circlet loom fork``: a turn of a run, gone on from in another direction."""

from __future__ import annotations

import contextlib
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Annotated, Any

import typer

from ...cast import Cast
from ...errors import ForkError
from ...jsonable import to_json
from ...loom import Loom
from ...redaction import redact
from ...spell import Spell, read_context
from ..console import complain, count, one_line, show_value
from ..faults import Code, UsageFault, usage
from ..figures import figures, summary
from ..kept import kept_spell
from ..progress import watching
from .directory import Directory, taken_up


def fork(
    directory: Directory,
    intent: Annotated[
        str | None,
        typer.Argument(metavar="INTENT", help="What to do, instead of the spell's intent."),
    ] = None,
    *,
    turn: Annotated[
        int, typer.Option(metavar="N", help="The turn that it goes on after; the first is 1.")
    ],
    thread: Annotated[
        str | None,
        typer.Option(
            metavar="ENTITY", help="Whose turn it is. Default: the root's, if there is but one."
        ),
    ] = None,
    n: Annotated[
        int, typer.Option("--n", metavar="K", min=1, help="How many forks to make of it.")
    ] = 1,
    context: Annotated[
        Path | None, typer.Option(metavar="FILE", help="Data for it. Default: what it has.")
    ] = None,
    llm: Annotated[
        str | None, typer.Option(metavar="PROVIDER:MODEL", help="The model of the forks.")
    ] = None,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the results and the figures as JSON.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each turn to stderr.")
    ] = False,
) -> None:
    """Go on from a turn with a fresh entity that has its past; what was is untouched.

    The spell is the one that the run was begun with. No gate is called again
    for the past. The results go to standard output, the rest to standard error,
    and all that happens into the run's loom.
    Exit codes: 0 done, 3 one was stopped by a ward, 1 one failed, 2 usage, 130
    interrupted.
    """
    with usage():
        loom = taken_up(directory)
    with loom:
        with usage():
            with contextlib.redirect_stdout(sys.stderr):  # a spell's own Python may print
                spell = kept_spell(directory, llm)
            task = _intent(spell, intent, directory)
            data = ... if context is None else read_context(context)
            original = _original(loom, thread, directory)
        try:
            casts = _forks(spell, loom, (original, turn, task, data), n, verbose)
        except ForkError as error:
            raise UsageFault(str(error)) from None
        except KeyboardInterrupt:
            complain(f"interrupted; what was recorded is in {directory}")
            raise typer.Exit(Code.INTERRUPTED) from None
        _show(casts, loom, directory, as_json)
    raise typer.Exit(_code(casts))


def _intent(spell: Spell, given: str | None, directory: Path) -> str:
    intent = spell.intent if given is None else given
    if intent is None or not intent.strip():
        raise UsageFault(f"intent is required: give one after {directory}")
    return intent


def _original(loom: Loom, thread: str | None, directory: Path) -> str:
    """Whose turn is forked."""
    if thread is not None:
        if thread not in loom.entities:
            raise UsageFault(
                f"there is no entity {thread!r} in {directory}; circlet loom show lists them"
            )
        return thread
    roots = [
        entity.id
        for entity in loom.entities.values()
        if entity.spawned_by is None and entity.forked_from is None
    ]
    if len(roots) != 1:
        there = f"it has {len(roots)} roots: {', '.join(roots)}" if roots else "it has none"
        raise UsageFault(f"say whose turn to fork in {directory}, with --thread; {there}")
    return roots[0]


def _forks(
    spell: Spell, loom: Loom, what: tuple[str, int, str, Any], n: int, verbose: bool
) -> list[Cast]:
    cantrip = spell.cantrip(loom)
    with (
        watching(spell.path.name, verbose) as sink,
        contextlib.redirect_stdout(sys.stderr),
    ):
        try:
            return cantrip.fork(*what, n=n, on_event=sink)
        finally:
            with contextlib.suppress(Exception):  # what they came to stands by now
                cantrip.close()


def _show(casts: Sequence[Cast], loom: Loom, directory: Path, as_json: bool) -> None:
    if as_json:
        report = {
            "forks": [_report(cast) for cast in casts],
            **figures(loom),
            "loom": str(directory),
        }
        typer.echo(json.dumps(report, indent=2, allow_nan=False))
    for place, cast in enumerate(casts, 1):
        _say(f"{f'fork {place} of {len(casts)}: ' if len(casts) > 1 else ''}{_line(cast)}")
        if cast.terminated and not as_json and not show_value(cast.result):
            _say("circlet: long lists are cut short here; --json prints the whole result")
    _say(f"{summary(loom)}; loom: {directory}")


def _line(cast: Cast) -> str:
    """How a fork ended, and how it came by its state, in one line."""
    origin = cast.forked_from
    how = f"{cast.entity_id}, by {origin.strategy} from {origin.node}" if origin else cast.entity_id
    if cast.error is not None:
        return f"{how}, failed: {redact(str(cast.error))}"
    if cast.difference is not None:
        how += f" ({redact(cast.difference)})"
    ended = "terminated" if cast.terminated else f"truncated by {cast.reason}"
    return f"{how}, {ended} after {count(cast.turns, 'turn')}"


def _report(cast: Cast) -> dict[str, Any]:
    report = {
        "entity": cast.entity_id,
        "result": to_json(cast.result),
        "terminated": cast.terminated,
        "truncated": cast.truncated,
        "reason": "failed" if cast.error else cast.reason,
        "turns": cast.turns,
        "forked_from": cast.forked_from._asdict() if cast.forked_from else None,
        "difference": None if cast.difference is None else redact(cast.difference),
    }
    if cast.error is not None:
        report["error"] = one_line(redact(str(cast.error) or type(cast.error).__name__))
    return report


def _code(casts: Sequence[Cast]) -> Code:
    if any(cast.error is not None for cast in casts):
        return Code.FAILED
    return Code.TRUNCATED if any(cast.truncated for cast in casts) else Code.TERMINATED


def _say(text: str) -> None:
    with contextlib.suppress(OSError):  # nobody reads it any more: the forks matter, not that
        typer.echo(one_line(text), err=True)
