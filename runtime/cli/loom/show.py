"""``circlet loom show``: the tree of a run."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from itertools import groupby
from typing import Annotated

import typer
from rich.console import Group, RenderableType
from rich.text import Text
from rich.tree import Tree

from ...llm import Reply
from ...loom import EntityView, Loom, Turn
from ...redaction import redact
from ..console import clean, count, error_line, one_line, stdout
from ..figures import summary
from ..progress import calls_text
from .directory import Directory, opened
from .marks import mark_of, told

LINE_CHARS = 1_000
"""Characters of a line that are kept, however wide the terminal is."""
MAX_LINES = 60
"""Lines of a program or an observation that are shown."""
_Piece = str | tuple[str, str]


def show(
    directory: Directory,
    verbose: Annotated[
        bool,
        typer.Option("--verbose", "-v", help="Show code, observations and contexts too."),
    ] = False,
) -> None:
    """Draw the tree of a run: its entities, each under the turn that spawned it."""
    with opened(directory) as loom:
        console = stdout()
        head = f"{one_line(str(directory))}: {summary(loom)}"
        console.print(Text(head, "bold"), soft_wrap=True)
        drawing = _Drawing(loom, verbose)
        for entity in loom.entities.values():
            if entity.spawned_by is None:
                console.print(drawing.entity(entity))


class _Drawing:
    """Draws the entities of one loom.

    Args:
        loom: The loom.
        verbose: Whether code, observations and contexts are shown.
    """

    def __init__(self, loom: Loom, verbose: bool) -> None:
        self._entities = loom.entities
        self._verbose = verbose

    def entity(self, entity: EntityView) -> Tree:
        """An entity with its turns, and its children under them."""
        tree = Tree(self._about(entity), guide_style="dim")
        for number, nodes in groupby(entity.turns, key=lambda node: node.turn):
            self._add_turn(tree, number, list(nodes))
        return tree

    def _about(self, entity: EntityView) -> RenderableType:
        mark, colour = mark_of(entity.outcome)
        lines: list[RenderableType] = [
            _line((f"{mark} ", colour), (one_line(entity.intent), "bold")),
            _line((f"  {entity.id}  {_state(entity)}", "dim")),
        ]
        if self._verbose and "\n" in entity.intent.strip():
            lines += _block(entity.intent, "")
        if self._verbose and entity.context is not None:
            lines.append(_line(("  context ", "dim"), one_line(entity.context.text)))
        if entity.forked_from is not None:
            origin = f"{entity.forked_from.node}, by {entity.forked_from.strategy}"
            lines.append(_line(("  forked from ", "dim"), origin))
        if resumes := entity.resumes:
            lines.append(_line(("  resumed ", "dim"), count(len(resumes), "time")))
            differences = (one.difference for one in resumes if one.difference)
            lines += [_line(("  ", "dim"), (one_line(one), "yellow")) for one in differences]
        if self._verbose:
            for fold in entity.folds:
                lines += _block(fold.text, "dim")
        end = entity.end
        if end is not None and end.outcome == "terminated":
            lines.append(_line(("  result ", "dim"), one_line(end.result_text)))
        elif end is not None and end.summary:
            lines.append(_line(("  summary ", "dim"), one_line(end.summary)))
        return Group(*lines)

    def _add_turn(self, tree: Tree, number: int, parts: list[Turn]) -> None:
        """One utterance; it is several nodes where it delegated."""
        pieces: list[RenderableType] = [_turn_line(number, parts)]
        if self._verbose:
            utterance = parts[0].utterance
            pieces += _block(_said(utterance) if utterance else "", "cyan")
            for part in parts:
                style = "red" if part.observation.is_error else "dim"
                pieces += _block(part.observation.text, style)
        branch = tree.add(Group(*pieces))
        for part in parts:
            for child_id in part.delegated:
                if child_id in self._entities:
                    branch.children.append(self.entity(self._entities[child_id]))
                else:
                    branch.add(_line(("○ ", "yellow"), (f"{child_id} never began", "dim")))


def _line(*pieces: _Piece) -> Text:
    """A line without secrets that is cut at the terminal's width."""
    styled = [(piece, "") if isinstance(piece, str) else piece for piece in pieces]
    cut = [(redact(text)[:LINE_CHARS], style) for text, style in styled]
    return Text.assemble(*cut, no_wrap=True, overflow="ellipsis")


def _state(entity: EntityView) -> str:
    """How an entity ended, and what it took, in one line."""
    reason = one_line(entity.reason or "")
    how = f"{told(entity.outcome)}{': ' if reason else ''}{reason}"
    children = len(entity.children)
    parts = [
        how,
        count(entity.utterance_count, "turn"),
        count(entity.usage.total_tokens, "token"),
        *([count(children, "child", "children")] if children else []),
        one_line(entity.model),
    ]
    return ", ".join(parts)


def _turn_line(number: int, parts: list[Turn]) -> Text:
    calls = Counter(call.gate for part in parts for call in part.calls)
    seconds = sum(part.metadata.duration_ms for part in parts) / 1000
    pieces: list[_Piece] = [f"turn {number}", (f"  {seconds:.2f} s  ", "dim")]
    pieces.append((one_line(calls_text(calls)) or "no calls", "" if calls else "dim"))
    reward = parts[-1].reward
    if reward is not None:
        pieces.append((f"  reward {reward:g}", "magenta"))
    last = parts[-1].observation
    if last.is_error:
        pieces.append((f"  error: {error_line(last.error or last.text)}", "red"))
    return _line(*pieces)


def _said(utterance: Reply) -> str:
    """What a model said: its text, and the code or the arguments of each call."""
    said = [utterance.content or ""]
    for call in utterance.tool_calls:
        code = call.arguments.get("code")
        said.append(code if isinstance(code, str) else f"{call.name}({call.arguments})")
    return "\n".join(piece.rstrip("\n") for piece in said if piece.strip())


def _block(text: str, style: str) -> Iterator[Text]:
    """A text of several lines without secrets, each cut at the terminal's width."""
    lines = clean(redact(text.rstrip("\n"))).split("\n") if text.strip() else []
    for line in lines[:MAX_LINES]:
        yield _line((f"  {line}", style))
    if len(lines) > MAX_LINES:
        yield _line((f"  ... {count(len(lines) - MAX_LINES, 'more line')}", "dim italic"))
