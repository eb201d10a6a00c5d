"""``circlet loom import``: a loom taken over from an export, or from another run."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from ...loom import Loom, StoreFormat
from ..console import count, one_line
from ..faults import usage


def import_(
    source: Annotated[
        Path, typer.Argument(metavar="FILE", help="An export with --redaction none, or a run.")
    ],
    directory: Annotated[
        Path, typer.Argument(metavar="DIR", help="Where the loom is made; missing or empty.")
    ],
    format: Annotated[  # noqa: A002 - the option's name
        StoreFormat, typer.Option(help="What it is kept as: a database, or lines of JSON.")
    ] = "sqlite",
) -> None:
    """Make a loom out of an export or another run's loom, without loss.

    Every record is checked on the way in and keeps its number, its time and its
    bytes. All of it is taken over, or nothing is made.
    """
    with usage(), Loom.load(source, directory, format=format) as loom:
        entities, nodes = count(len(loom.entities), "entity", "entities"), loom.turn_count
        typer.echo(f"{one_line(str(directory))}: {entities}, {count(nodes, 'node')}")
