"""What the examples share: which model plays, and how a run is printed. It teaches nothing."""

from __future__ import annotations

import argparse
import re
from collections import Counter
from collections.abc import Iterator
from itertools import chain, count
from string import ascii_uppercase
from typing import Any

from circlet import LLM, Cast, CircletError, Loom, ScriptedLLM, llm
from circlet.runtime.loom import EntityView, Turn
from rich.box import SIMPLE_HEAD
from rich.console import Console, RenderableType
from rich.padding import Padding
from rich.rule import Rule
from rich.syntax import Syntax
from rich.table import Table
from rich.text import Text

MAX_LINES = 16
"""Lines of a program or an observation that are printed."""

_console = Console(highlight=False)
_console.width = min(_console.width, 100) if _console.is_terminal else 100


def choose_llm(script: Any) -> LLM:
    """The model that the command line names with ``--llm``, else one that plays the script.

    Args:
        script: The replies of a ``ScriptedLLM``.
    """
    parser = argparse.ArgumentParser()
    parser.add_argument("--llm", metavar="PROVIDER:MODEL", help="A model in place of the script.")
    given, _ = parser.parse_known_args()
    try:
        return llm(given.llm) if given.llm else ScriptedLLM(script)
    except CircletError as error:
        raise SystemExit(f"{parser.prog}: {error}") from None


def say(*texts: object) -> None:
    """Print a line."""
    _console.print(Text(" ".join(map(str, texts))), soft_wrap=True)


def head(text: str) -> None:
    """Print what comes next, as a heading."""
    _console.print()
    _console.print(Rule(Text(text, "bold"), align="left", style="dim"))


def show_turns(cast: Cast) -> None:
    """Print what the entity said and observed, turn by turn, and what it came to."""
    entity = cast.loom.entities[cast.entity_id]
    for turn in entity.turns:
        if turn.turn > entity.last_turn - cast.turns:
            _show_turn(turn)
    if cast.truncated:
        _console.print(Text(f"truncated by {cast.reason}: {cast.summary}", "yellow"))
    else:
        _console.print(Text(f"result: {cast.result!r}", "green"), soft_wrap=True)


def _show_turn(turn: Turn) -> None:
    if turn.utterance is not None:
        _console.print(Text(f"turn {turn.turn}", "bold cyan"))
        if turn.utterance.content:
            _indented(Text(_clipped(turn.utterance.content)), 2)
        for call in turn.utterance.tool_calls:
            code = call.arguments.get("code")
            if isinstance(code, str):
                _indented(
                    Syntax(_clipped(code.strip("\n")), "python", background_color="default"), 2
                )
            else:
                given = ", ".join(f"{name}={value!r}" for name, value in call.arguments.items())
                _indented(Text(_clipped(f"{call.name}({given})")), 2)
    if turn.delegated:
        _console.print(Text(f"  ({_children(turn)} at work)", "dim"))
    style = "red" if turn.observation.is_error else "dim"
    _indented(Text(_clipped(turn.observation.text), style), 4)


def _indented(what: RenderableType, by: int) -> None:
    _console.print(Padding(what, (0, 0, 0, by), expand=False))


def show_loom(loom: Loom) -> None:
    """Print what a loom recorded, a line a node: roots are A, B, ...; their children A.1, A.2."""
    names = _names(loom)
    table = Table(title="the loom", title_justify="left", title_style="bold", box=SIMPLE_HEAD)
    table.expand = True  # for the outcome to have what the others leave
    for column in ("turn", "entity", "gates called"):
        table.add_column(column, no_wrap=True)
    table.add_column("outcome", no_wrap=True, ratio=1)
    for turn in loom.turns:
        part = "" if turn.part == 1 and turn.last else f" part {turn.part}"
        gates = Counter(call.gate for call in turn.calls)
        called = ", ".join(f"{gate} x{n}" if n > 1 else gate for gate, n in gates.items())
        table.add_row(f"{turn.turn}{part}", names[turn.entity_id], called, _outcome(turn))
    _console.print()
    _console.print(table)
    for entity in loom.entities.values():
        if entity.spawned_by is None:
            intents = " / ".join(one.text for one in entity.intents)
            line = Text(f"  {names[entity.id]}: {_one_line(intents)}", "dim")
            _console.print(line, no_wrap=True, overflow="ellipsis")


def _names(loom: Loom) -> dict[str, str]:
    """A short name for each entity, by id."""
    names: dict[str, str] = {}
    letters = chain(ascii_uppercase, map(str, count(27)))
    for entity in loom.entities.values():
        if entity.spawned_by is None:
            origin = entity.forked_from
            forked = f", a fork of {names[loom.turn(origin.node).entity_id]}" if origin else ""
            names[entity.id] = f"{next(letters)}{forked}"
        names.update(_names_below(entity, names[entity.id]))
    return names


def _names_below(entity: EntityView, name: str) -> Iterator[tuple[str, str]]:
    for number, child in enumerate(entity.children, 1):
        yield child.id, f"{name}.{number}"


def _outcome(turn: Turn) -> Text:
    end = turn.end
    if end is not None and end.outcome == "terminated":
        return Text(f"terminated: {_one_line(end.result_text)}", "green")
    if end is not None:
        return Text(f"{end.outcome}: {end.reason}", "yellow")
    if turn.observation.is_error:
        return Text(_one_line(_error_line(turn.observation.error or turn.observation.text)), "red")
    if turn.delegated:
        return Text(f"spawned {_children(turn)}")
    return Text(_one_line(turn.observation.text))


def _error_line(text: str) -> str:
    """The line of an error that names it; a hint may come after."""
    lines = text.strip().splitlines()
    named = (line for line in reversed(lines) if re.match(r"[A-Z]\w*: ", line))
    return next(named, lines[-1])


def _one_line(text: str) -> str:
    return (text.splitlines() or [""])[0]


def _clipped(text: str) -> str:
    lines = text.rstrip().split("\n")
    lines = [line if len(line) <= 200 else f"{line[:197]}..." for line in lines]
    if len(lines) > MAX_LINES + 1:
        half = MAX_LINES // 2
        lines = [*lines[:half], f"... {len(lines) - 2 * half} more lines", *lines[-half:]]
    return "\n".join(lines)


def _children(turn: Turn) -> str:
    return "1 child" if len(turn.delegated) == 1 else f"{len(turn.delegated)} children"
