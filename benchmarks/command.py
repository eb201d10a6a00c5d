"""The command line that the benchmarks have in common."""

from __future__ import annotations

import argparse


def parser(doc: str | None, runs: int, what: str) -> argparse.ArgumentParser:
    """A parser with ``--json`` and ``--runs``.

    Args:
        doc: The benchmark's docstring, whose first line says what it does.
        runs: How often each thing is measured by default.
        what: What one run is, for the help.
    """
    made = argparse.ArgumentParser(description=(doc or "").partition("\n")[0])
    made.add_argument("--json", action="store_true", help="report as JSON")
    made.add_argument("--runs", type=_count, default=runs, help=f"{what} (default {runs})")
    return made


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("there must be at least one run")
    return count
