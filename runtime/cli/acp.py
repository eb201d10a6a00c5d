"""``circlet acp``: a spell's entities for a client that speaks the Agent Client Protocol."""

from __future__ import annotations

import contextlib
import sys
from functools import partial
from pathlib import Path
from typing import Annotated

import typer

from .. import portal
from ..loom import Loom
from ..spell import load
from .console import complain, one_line
from .faults import Code, usage
from .run import run_directory


def acp(
    spell: Annotated[Path, typer.Argument(metavar="SPELL", help="The spell file.")],
    check: Annotated[
        bool,
        typer.Option("--check", help="Check that it would work, say what was found, and end."),
    ] = False,
    llm: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL", help="The model of the root and, by default, of children."
        ),
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", help="Where the loom is kept. Default: in memory alone."),
    ] = None,
) -> None:
    """Serve a spell over standard input and output, in the Agent Client Protocol.

    Each session is an entity of its own, which lasts as long as the connection.
    The server lives as long as its standard input: when that ends, or on SIGINT
    or SIGTERM, all work is cancelled and no process is left. Nothing is kept on
    disk unless --out names a place. Standard output carries the protocol alone;
    everything else goes to standard error.

    --check loads the spell, starts a worker, runs one scripted turn and answers
    a client in this process. It asks no model. Exit codes: 0 well, 1 not.
    """
    # The protocol's own package takes longer to load than all the rest, so only who needs it does.
    from ..acp.stdio import taken_over

    if check:
        _check(spell, llm)
        return
    with taken_over() as (source, sink):
        try:
            _serve(spell, llm, out, source, sink)
        except KeyboardInterrupt:
            complain("interrupted")
            raise typer.Exit(Code.INTERRUPTED) from None


def _serve(path: Path, llm: str | None, out: Path | None, source: int, sink: int) -> None:
    from ..acp.stdio import serve_stdio

    with usage():
        spell = load(path, llm)
        directory = None if out is None else run_directory(out, spell)
        loom = Loom(directory)
    with loom:
        kept = "in memory" if directory is None else f"in {directory}"
        typer.echo(one_line(f"circlet: serves {path}, loom {kept}; ends with its input"), err=True)
        cantrip = spell.cantrip(loom)
        try:
            portal.run(partial(serve_stdio, cantrip, source, sink), "serve_stdio(...)")
        finally:
            with contextlib.suppress(Exception):  # what it came to stands by now
                cantrip.close()


def _check(path: Path, llm: str | None) -> None:
    from ..acp.check import check as check_health

    # Whatever a spell's own Python prints must not get among the findings.
    with usage(), contextlib.redirect_stdout(sys.stderr):
        spell = load(path, llm)
    cantrip = spell.cantrip()
    circle = cantrip.circle
    _say("spell", str(path))
    _say("model", f"{cantrip.llm.name} (not asked)")
    _say("medium", str(circle.medium))
    _say("gates", ", ".join(gate.name for gate in circle.gates))
    _say("wards", ", ".join(f"{name} {value}" for name, value in circle.wards.in_force().items()))
    with contextlib.redirect_stdout(sys.stderr):
        health = portal.run(partial(check_health, cantrip), "check(...)")
    _say("protocol", f"ACP version {health.protocol}")
    _say("turn", f"carried out in {health.turn_ms:.0f} ms")
    _say("health", "well")


def _say(what: str, found: str) -> None:
    typer.echo(f"{what + ':':<10}{one_line(found)}")
