"""Whether probes get out of a sandbox, by either wall alone and by both.

Run ``python benchmarks/containment.py [FOLDER ...]`` in a checkout with the ``dev`` extra
installed; without a folder it takes the probes that are kept in ``tests/escape``. Each is run
behind the language's wall alone, behind the kernel's alone (plain ``exec`` in a jailed worker) and
behind both, and judged from outside: by secrets that lie about, by things that it could write,
signal, start or connect to, by another session beside it, and by the turn that follows. The exit
code is 1 where one got out, 2 where it can't be tried. What the walls leave open by design is in
``docs/containment.md``.
"""

from __future__ import annotations

import argparse
import json
import os
import platform
import sys
from collections.abc import Collection, Sequence
from pathlib import Path

from circlet.sandbox import Limits
from circlet.sandbox.errors import BackendUnavailable
from circlet.sandbox.testing import KERNEL_LAYERS
from rich.console import Console
from rich.table import Table
from rich.text import Text
from suites import features
from suites.judging import Run, Verdict, run
from suites.probes import FOLDER, KINDS, probes
from suites.ways import WAYS

ALONE_OR_BOTH = ("language", "kernel", "both")
"""The ways that are always taken; ``portable`` is by request."""


def failures(runs: Sequence[Run], listed: Collection[str]) -> list[str]:
    """What got out, in a sentence each."""
    found = []
    for each in runs:
        found += [f"{each.way}: {sentence}" for sentence in each.left]
        for verdict in each.verdicts:
            if verdict.failed(listed):
                what = "; ".join(verdict.found) or "it reached what is no listed feature"
                found.append(f"{each.way}: {verdict.probe.name} ({verdict.probe.kind}): {what}")
    return found


def counts(verdicts: Sequence[Verdict], kind: str, listed: Collection[str]) -> dict[str, int]:
    """How many probes of a kind there are, reach a feature, and got out."""
    of_kind = [verdict for verdict in verdicts if verdict.probe.kind == kind]
    failed = sum(verdict.failed(listed) for verdict in of_kind)
    passing_hits = sum(verdict.hit and not verdict.failed(listed) for verdict in of_kind)
    return {"probes": len(of_kind), "features": passing_hits, "out": failed}


# -- reports -----------------------------------------------------------------------------------


def as_json(runs: Sequence[Run], listed: Collection[str], without: Sequence[str]) -> str:
    """The report for machines."""
    report = {
        "python": platform.python_version(),
        "uid": os.getuid(),
        "without": list(without),
        "ways": {
            each.way: {kind: counts(each.verdicts, kind, listed) for kind in KINDS} for each in runs
        },
        "features": sorted({v.probe.name for each in runs for v in each.verdicts if v.hit}),
        "failures": failures(runs, listed),
        "notes": [note for each in runs for note in each.notes],
    }
    return json.dumps(report, indent=1)


def show(runs: Sequence[Run], listed: Collection[str], console: Console) -> None:
    """The report for people."""
    title = f"Probes that got out, CPython {platform.python_version()}"
    table = Table("kind", "probes", *(each.way for each in runs), title=title, title_justify="left")
    for kind in KINDS:
        by_way = [counts(each.verdicts, kind, listed) for each in runs]
        cells = [_cell(count) for count in by_way]
        if by_way and by_way[0]["probes"]:
            table.add_row(kind, str(by_way[0]["probes"]), *cells)
    console.print(table)
    for kind, meaning in KINDS.items():
        console.print(Text(f"{kind}: {meaning}", style="dim"))
    for each in runs:
        console.print(Text(f"{each.way}: {WAYS[each.way]}", style="dim"))
    for note in (note for each in runs for note in each.notes):
        console.print(Text(note))
    for failure in failures(runs, listed):
        console.print(Text(failure, style="red"))


def _cell(count: dict[str, int]) -> Text:
    features_too = f" + {count['features']} features" if count["features"] else ""
    return Text(f"{count['out']}{features_too}", style="red" if count["out"] else "")


def main(arguments: Sequence[str] | None = None) -> int:
    """Run, report, and say by the exit code whether anything got out."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("folders", nargs="*", type=Path, metavar="FOLDER", help="where probes are")
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.add_argument("--portable", action="store_true", help="the portable back end as well")
    parser.add_argument("--only", action="append", choices=WAYS, help="this way; can be repeated")
    parser.add_argument("--kind", action="append", choices=KINDS, help="this kind; can be repeated")
    parser.add_argument(
        "--without",
        action="append",
        default=[],
        choices=KERNEL_LAYERS,
        help="leave a layer off the kernel's wall; can be repeated",
    )
    parser.add_argument("--eval-ms", type=int, default=500, help="time of a turn (default 500)")
    parser.add_argument("--memory-mb", type=int, default=128, help="its memory (default 128)")
    options = parser.parse_args(arguments)
    ways = options.only or [*ALONE_OR_BOTH, *(["portable"] if options.portable else [])]
    try:
        limits = Limits(eval_ms=options.eval_ms, memory_mb=options.memory_mb)
        kinds = options.kind or KINDS
        tried = [each for each in probes(options.folders or [FOLDER]) if each.kind in kinds]
        runs = [run(tried, way, limits, options.without) for way in ways]
    except (ValueError, BackendUnavailable) as error:
        print(f"containment.py: {error}", file=sys.stderr)
        return 2
    listed = features.by_probe()
    if options.json:
        print(as_json(runs, listed, options.without))
    else:
        show(runs, listed, Console(highlight=False, soft_wrap=True))
    return 1 if failures(runs, listed) else 0


if __name__ == "__main__":
    sys.exit(main())
