"""``circlet replay``: what happened in a run, event by event, and whether all of it is there."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ..document import variables_in
from ..errors import LoomError
from ..loom import Loom
from ..loom.formats import format_in
from ..redaction import Secrets, redact
from ..trajectory.compare import compare
from ..trajectory.events import Event, RunEnd, RunStart
from ..trajectory.export import export
from ..trajectory.recorder import SPELL
from ..trajectory.runs import Trajectory, trajectories
from ..trajectory.verify import Fault, Report, verify
from .console import clean, complain, count, one_line, stdout
from .faults import Code, UsageFault, usage

LINE_CHARS = 1_000
"""Characters of a line that are kept, however wide the terminal is."""
MAX_LINES = 40
"""Lines of a text in a file that are shown."""
_COLOURS = {
    "run_start": "bold",
    "inject": "dim",
    "driver_call": "cyan",
    "driver_result": "cyan",
    "oracle": "magenta",
    "gate": "yellow",
    "human": "magenta",
    "command": "",
    "run_end": "bold",
}
_REFERRING = ("source", "task", "detail", "evidence", "result")
"""Fields of events that refer to files; the ``task`` of a start is a text."""


def replay(
    directory: Annotated[Path, typer.Argument(metavar="DIR", help="The run's directory.")],
    verified: Annotated[
        bool,
        typer.Option("--verify", help="Rebuild every request, and say what is not as it was."),
    ] = False,
    entity: Annotated[
        str | None, typer.Option(metavar="ID", help="The root whose run it is, of several.")
    ] = None,
    out: Annotated[
        Path | None,
        typer.Option("--export", metavar="OUT", help="Write a copy without secrets to OUT."),
    ] = None,
    verbose: Annotated[
        bool, typer.Option("--verbose", "-v", help="Show what each event refers to as well.")
    ] = False,
) -> None:
    """Print what happened in a run, one line an event, without secrets.

    With --verify every request that reached a model is rebuilt from the
    trajectory and compared with the digest that was taken when it was sent.
    Exit code 1 where one can't be.
    """
    with usage():
        chosen = _chosen(directory, entity)
        known = _secrets(chosen[0].directory)
    if out is not None:
        with usage():
            export(chosen, out, known)
    elif verified:
        raise typer.Exit(max(_verify(one) for one in chosen))
    elif len(chosen) > 1:
        _list(chosen)
    else:
        _print(chosen[0], verbose)


def _chosen(directory: Path, entity: str | None) -> list[Trajectory]:
    found = trajectories(directory)
    if entity is None:
        return found
    chosen = [one for one in found if one.root == entity]
    if not chosen:
        names = ", ".join(one.root or "(nothing asked yet)" for one in found)
        raise UsageFault(f"{directory} has no run of the entity {entity}; it has those of {names}")
    return chosen


def _secrets(directory: Path) -> Secrets:
    """What can be known here of the run's secrets; it is withheld for as long as this lives."""
    with contextlib.suppress(OSError, UnicodeDecodeError):  # a run may have no spell file
        spell = (directory / SPELL).read_text(encoding="utf-8")
        return Secrets.of_variables(variables_in(spell)) | Secrets.of_environment()
    return Secrets.of_environment()


# -- checking ------------------------------------------------------------------------------------


def _verify(trajectory: Trajectory) -> Code:
    """Check one trajectory; a line each fault, and one for what it came to."""
    report = verify(trajectory.path, trajectory.directory)
    faults = [*report.faults, *_faults_by_the_loom(trajectory, report)]
    for fault in faults:
        _say(str(fault))
    if report.withheld:
        places = ", ".join(map(str, report.withheld))
        _say(f"withheld by redaction, so that they can't be compared: the requests of seq {places}")
    path = trajectory.path.relative_to(trajectory.directory)
    more = f", {count(len(faults), 'fault')}" if faults else ""
    _say(f"{path}: {report.rebuilt} of {report.requests} requests rebuilt{more}")
    return Code.TERMINATED if report.passed and not faults else Code.FAILED


def _faults_by_the_loom(trajectory: Trajectory, report: Report) -> list[Fault]:
    try:
        if format_in(trajectory.directory) is None:  # as in a copy for others
            complain("replies are not compared with the loom's, for there is no loom")
            return []
        with Loom(trajectory.directory, read_only=True) as loom:
            first = next(iter(loom.entities), None)
            root = trajectory.root or first
            return [] if root is None else list(compare(report, loom, root))
    except LoomError as error:
        return [Fault(None, "the loom", str(error))]


# -- printing ------------------------------------------------------------------------------------


def _list(found: list[Trajectory]) -> None:
    """A line each run, where there are several."""
    for one in found:
        events = list(one.events())
        starts = [event.task for event in events if isinstance(event, RunStart)]
        ends = [event.verdict for event in events if isinstance(event, RunEnd)]
        state = ends[-1] if ends else "not ended"
        _say(f"{one.root}  {count(len(events), 'event')}  {state}  {starts[0] if starts else ''}")
    complain(f"there are {len(found)} runs: choose one with --entity")


def _print(trajectory: Trajectory, verbose: bool) -> None:
    console = stdout()
    for event in trajectory.events():
        line = one_line_of(event)
        console.print(Text(line[:LINE_CHARS], _COLOURS[event.kind]), soft_wrap=True)
        if verbose:
            for text in _file_of(trajectory, event):
                console.print(Text(text, "dim"), soft_wrap=True)


def one_line_of(event: Event) -> str:
    """An event as a terminal shows it: one line, without secrets and control characters."""
    return clean(redact(event.summary())).replace("\n", "\\n").replace("\t", "\\t")


def _file_of(trajectory: Trajectory, event: Event) -> Iterator[str]:
    """What stands in the file that an event refers to, in lines."""
    path = next((path for name in _REFERRING if (path := getattr(event, name, None))), None)
    if path is None or isinstance(event, RunStart):
        return
    content = trajectory.file(path)
    if not isinstance(content, dict):
        yield f"         {path} can't be read"
        return
    for name, value in content.items():
        text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
        lines = clean(redact(text)).splitlines() or [""]
        yield f"         {name}: {lines[0][:LINE_CHARS]}"
        yield from (f"           {line[:LINE_CHARS]}" for line in lines[1:MAX_LINES])
        if len(lines) > MAX_LINES:
            yield f"           ... {count(len(lines) - MAX_LINES, 'more line')}"


def _say(text: str) -> None:
    typer.echo(one_line(redact(text)))
