"""``circlet loom export``: what a run recorded, for other programs."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ...loom import Loom, Redaction
from ...loom.exports import Export, Format, Pairs
from ..console import complain
from ..faults import UsageFault, usage
from .directory import Directory, opened


def export(
    directory: Directory,
    format: Annotated[  # noqa: A002 - the option's name
        Format,
        typer.Option(
            help="jsonl: every record. chat: what models were sent and said, for fine-tuning. "
            "grpo: judged casts at one task. dpo: pairs of a better and a worse one. "
            "parquet: a table of turns."
        ),
    ] = "jsonl",
    redaction: Annotated[
        Redaction, typer.Option(help="What is withheld: secrets, or nothing.")
    ] = "default",
    out: Annotated[
        Path | None,
        typer.Option(metavar="FILE", help="Where to write it. Default: standard output."),
    ] = None,
    pairs: Annotated[
        Pairs | None,
        typer.Option(
            help="With dpo: a group's best cast against its worst, or all pairs. Default: best."
        ),
    ] = None,
    margin: Annotated[
        float | None,
        typer.Option(metavar="NUMBER", help="With dpo: how far apart two rewards are at least."),
    ] = None,
) -> None:
    """Write what a run recorded for other programs, without secrets.

    Secrets are what looks like one, the keys of models in the environment, and
    the variables with a secret's name that the run's spell mentions, as the
    environment has them now.
    """
    is_bytes = format == "parquet"
    if is_bytes and out is None and sys.stdout.isatty():
        raise UsageFault("parquet is bytes, which no terminal shows: name a file with --out FILE")
    target = out or (sys.stdout.buffer if is_bytes else sys.stdout)
    with usage():
        Export(format, redaction, pairs, margin)
    with opened(directory) as loom:
        lack = _lack(loom, format, margin or 0.0)
        if lack:
            complain(f"no two casts at one task are {lack}, so there is nothing to export")
        loom.export(target, format, redaction, pairs=pairs, margin=margin)


def _lack(loom: Loom, format_: Format, margin: float) -> str | None:
    """What no two casts are, where an export that compares them has nothing to compare."""
    if format_ not in ("grpo", "dpo"):
        return None
    rewards = [[float(one.reward or 0) for one in group.judged] for group in loom.groups()]
    pairs = [each for each in rewards if len(each) > 1]
    if not pairs:
        return "judged"
    apart = max(max(each) - min(each) for each in pairs)
    if format_ == "grpo" or (apart > 0 and apart >= margin):
        return None
    return f"judged {margin:g} apart" if margin else "judged differently"
