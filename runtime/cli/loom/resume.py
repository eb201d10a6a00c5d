"""``circlet loom resume``: a run whose process has died goes on, from what it recorded."""

from __future__ import annotations

import contextlib
import sys
from typing import Annotated

import typer

from ...errors import ResumeError
from ...loom import Loom
from ...spell import Spell
from ..faults import UsageFault, usage
from ..kept import kept_spell
from ..running import Running
from .directory import Directory, taken_up


def resume(
    directory: Directory,
    entity: Annotated[
        str | None,
        typer.Option(
            metavar="ENTITY", help="Whose cast. Default: the one that has not ended, if it is one."
        ),
    ] = None,
    llm: Annotated[
        str | None,
        typer.Option(
            metavar="PROVIDER:MODEL", help="The model of the root and, by default, of children."
        ),
    ] = None,
    trust: Annotated[
        bool,
        typer.Option(
            "--trust", help="Load images of a state too that this user's key has not signed."
        ),
    ] = False,
    as_json: Annotated[
        bool, typer.Option("--json", help="Print the result and the figures as JSON.")
    ] = False,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Print a line for each turn to stderr.")
    ] = False,
) -> None:
    """Go on with a run whose process has died, to its end; the spell is its stored one.

    What was done is not done again. A cast that has ended is only told of.
    The result goes to standard output, progress to standard error.
    Exit codes: 0 done, 3 stopped by a ward, 1 failed, 2 usage, 130 interrupted.
    """
    with usage():
        loom = taken_up(directory)
    with loom:
        with usage(), contextlib.redirect_stdout(sys.stderr):  # a spell's own Python may print
            spell = kept_spell(directory, llm)
            if llm is None:
                _check_model(spell, loom)
        try:
            code = Running(spell, loom, directory, as_json, verbose).go(
                f"circlet: {directory}, {_headline(loom, entity)}",
                lambda cantrip, sink: cantrip.resume(entity_id=entity, trust=trust, on_event=sink),
            )
        except ResumeError as error:
            raise UsageFault(str(error)) from None
    raise typer.Exit(code)


def _headline(loom: Loom, entity: str | None) -> str:
    """Whether there is anything to go on with."""
    concerned = [one for one in loom.entities.values() if entity is None or one.id == entity]
    is_at_work = not concerned or any(one.is_at_work for one in concerned)
    return "resumed" if is_at_work else "has ended; nothing is run"


def _check_model(spell: Spell, loom: Loom) -> None:
    """See that the run's model is the spell's: it may have been given with ``--llm``.

    Raises:
        UsageFault: It is another one.
    """
    root = next((one for one in loom.entities.values() if one.spawned_by is None), None)
    model = spell.cantrip().llm.name
    if root is not None and root.model != model:
        raise UsageFault(
            f"the run's model is {root.model}, and its spell's is {model}: give --llm with the one "
            "to go on with"
        )
