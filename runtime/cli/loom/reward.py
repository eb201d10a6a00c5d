"""``circlet loom reward``: judge a turn by hand, or casts by a command."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Annotated

import typer
from rich.text import Text

from ...errors import VerifierError
from ...loom import Attempt, Loom, Verdict
from ...loom.judging import TIMEOUT_S
from ...redaction import redact
from ..console import complain, count, one_line, stdout
from ..faults import Code, UsageFault, usage
from .directory import Directory, taken_up


def reward(
    directory: Directory,
    turn: Annotated[
        str | None,
        typer.Argument(metavar="TURN", help="The turn: its place in the loom from 0, or its id."),
    ] = None,
    value: Annotated[
        str | None, typer.Argument(metavar="VALUE", help="The reward, a number.")
    ] = None,
    by: Annotated[str | None, typer.Option(metavar="NAME", help="Who judges.")] = None,
    verifier: Annotated[
        str | None,
        typer.Option(metavar="CMD", help="A command that judges casts; no shell reads it."),
    ] = None,
    thread: Annotated[
        str | None,
        typer.Option(
            metavar="ID",
            help="The entity, or the turn that ends a cast. Default: the root, where it is one.",
        ),
    ] = None,
    every: Annotated[
        bool, typer.Option("--all", help="Judge each cast of a root that has ended.")
    ] = False,
    criterion: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What is asked, in a few words.")
    ] = None,
    timeout: Annotated[
        float, typer.Option(metavar="SECONDS", help="How long the command may take.")
    ] = TIMEOUT_S,
) -> None:
    """Judge a turn with a number, or casts with a command. The newest reward of a turn counts.

    The command finds the cast's result as JSON on its standard input, and the
    facts in its environment: CIRCLET_LOOM, CIRCLET_ENTITY, CIRCLET_CAST,
    CIRCLET_NODE, CIRCLET_INTENT, CIRCLET_OUTCOME and CIRCLET_REASON. Exit code
    0 passes. Where the last line that it prints is a number, that is the
    reward; else it is 1 or 0. One that can't be started or takes too long has
    not judged: that is an error, and nothing is recorded.
    """
    if verifier is None:
        _by_hand(directory, turn, value, by, (thread, every, criterion))
        return
    if turn is not None:
        raise UsageFault("give a turn and a value, or a --verifier, not both")
    if thread is not None and every:
        raise UsageFault("give one thread with --thread, or --all of them, not both")
    _by_command(directory, (verifier, criterion, by, timeout), thread, every)


def _by_hand(
    directory: Path,
    turn: str | None,
    value: str | None,
    by: str | None,
    others: tuple[str | None, bool, str | None],
) -> None:
    if turn is None or value is None:
        raise UsageFault("give a turn and a value, or a command with --verifier")
    if any(others):
        raise UsageFault("--thread, --all and --criterion are for a --verifier")
    if turn.startswith("-"):
        raise UsageFault(f"there is no option {turn}; circlet loom reward --help lists them")
    try:
        number = float(value)
    except ValueError:
        raise UsageFault(f"the value must be a number, not {value!r}") from None
    who = by or "user"
    with usage():
        loom = taken_up(directory)
    with loom, usage():
        loom.annotate_reward(int(turn) if re.fullmatch(r"\d+", turn) else turn, number, who)
        node = loom.turns[int(turn)].id if re.fullmatch(r"\d+", turn) else turn
    stdout().print(f"{one_line(node)}: reward {number:g}, by {one_line(who)}", soft_wrap=True)


def _by_command(
    directory: Path,
    how: tuple[str, str | None, str | None, float],
    thread: str | None,
    every: bool,
) -> None:
    with usage():
        loom = taken_up(directory)
    with loom:
        failed = 0
        for of in _chosen(loom, directory, thread, every):
            try:
                verdict = _judge(loom, of, how)
            except VerifierError as error:
                failed += 1
                complain(f"{of}: {error}")
                continue
            _show(loom, of, verdict)
    if failed:
        raise typer.Exit(Code.FAILED)


def _judge(loom: Loom, of: str, how: tuple[str, str | None, str | None, float]) -> Verdict:
    verifier, criterion, by, timeout = how
    return loom.judge(of, verifier, criterion=criterion, by=by, timeout_s=timeout)


def _chosen(loom: Loom, directory: Path, thread: str | None, every: bool) -> list[str]:
    """Ids of the nodes whose casts are judged."""
    if thread is not None:
        if thread not in loom.entities:
            with usage():
                return [loom.turn(thread).id]
        found = [loom.attempts(thread)[-1]] if loom.attempts(thread) else []
    else:
        found = _of_roots(loom)
        if len(found) > 1 and not every:
            raise UsageFault(
                f"{directory} has {count(len(found), 'cast')} of roots: choose one with --thread, "
                "or judge --all"
            )
    ended = [one.node for one in found if one.end is not None and one.node is not None]
    if not ended:
        raise UsageFault(f"there is no cast in {directory} that has ended and came to a turn")
    came_to_none = sum(one.end is not None and one.node is None for one in found)
    if came_to_none:
        complain(f"{count(came_to_none, 'cast')} came to no turn, so there is nothing to judge")
    return ended


def _of_roots(loom: Loom) -> list[Attempt]:
    return [
        attempt
        for entity in loom.entities.values()
        if entity.depth == 0
        for attempt in loom.attempts(entity.id)
    ]


def _show(loom: Loom, node: str, verdict: Verdict) -> None:
    mark, colour = ("✓", "green") if verdict.passed else ("✗", "red")
    code = "" if verdict.exit_code is None else f", exit code {verdict.exit_code}"
    text = Text.assemble(
        (f"{mark} ", colour),
        f"{one_line(node)}: reward {loom.turn(node).reward:g}",
        (f"  {one_line(redact(verdict.criterion))}{code}", "dim"),
    )
    stdout().print(text, soft_wrap=True)
