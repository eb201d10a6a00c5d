"""``circlet loom verify``: whether a run's loom is whole."""

from __future__ import annotations

import json
from dataclasses import asdict
from typing import Annotated

import typer

from ...loom import Verification
from ...loom import verify as verified
from ..console import count, one_line
from ..faults import Code, usage
from .directory import Directory

MAX_FAULTS = 50
"""Faults that are named; one that is early can bring many others with it."""


def verify(
    directory: Directory,
    as_json: Annotated[bool, typer.Option("--json", help="Report as JSON, every fault.")] = False,
) -> None:
    """Read a run's loom through, records and blobs, and name what is wrong with it.

    Exit code 0 where it is whole, 1 where it is not, 2 where there is none to
    read.
    """
    with usage():
        found = verified(directory)
    if as_json:
        typer.echo(json.dumps({"whole": found.is_whole, **asdict(found)}))
    else:
        _report(found)
    if not found.is_whole:
        raise typer.Exit(Code.FAILED)


def _report(found: Verification) -> None:
    for fault in found.faults[:MAX_FAULTS]:
        typer.echo(one_line(str(fault)))
    if len(found.faults) > MAX_FAULTS:
        typer.echo(f"... {count(len(found.faults) - MAX_FAULTS, 'more fault')}")
    state = "whole" if found.is_whole else count(len(found.faults), "fault")
    typer.echo(f"{count(found.records, 'record')}, {count(found.blobs, 'blob')}: {state}")
    for note in found.notes:
        typer.echo(f"note: {note}")
    if found.chain:
        typer.echo(f"chain {found.chain}")
