"""What is going on in a run: kept up event by event, shown on stderr while it lasts."""

from __future__ import annotations

import sys
import threading
import time
from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from rich.console import Console, ConsoleOptions, RenderResult
from rich.live import Live
from rich.table import Table
from rich.text import Text

from .. import events
from ..events import Event, Sink, ignore
from .console import count, error_line, one_line, stderr

MAX_ROWS = 24
"""Entities that are shown at a time; a terminal of few lines shows fewer."""
INTENT_CHARS = 300
"""Characters of an intent that are kept to be shown."""
LINE_CHARS = 200
"""Characters of a line where stderr is no terminal."""
_SPINNER = "⠋⠙⠹⠸⠼⠴⠦⠧⠇⠏"


@contextmanager
def watching(title: str, verbose: bool) -> Iterator[Sink]:
    """Show a run while it lasts; gives what takes its events.

    Where stderr is a terminal that is a tree of the entities at work, gone at the end. With
    ``verbose``, a line for each start, turn and end; they stay.

    Args:
        title: What is run.
        verbose: Whether to print lines.
    """
    console = stderr()
    lines = Lines(console) if verbose else ignore
    if not sys.stderr.isatty() or console.is_dumb_terminal:
        yield lines
        return
    tree = LiveTree(title)

    def both(event: Event) -> None:
        tree.take(event)
        lines(event)

    live = Live(tree, console=console, refresh_per_second=10, transient=True, redirect_stdout=False)
    with live:
        yield both


@dataclass
class _Entity:
    """What is known of one entity."""

    intent: str
    depth: int
    turn: int = 0
    tokens: int = 0
    doing: str = "starts"
    outcome: str = ""
    calls: Counter[str] = field(default_factory=Counter)
    children: list[_Entity] = field(default_factory=list)

    @property
    def running(self) -> bool:
        return not self.outcome

    def state(self) -> str:
        """Its turn, its tokens and what it is doing, in a few words."""
        parts = [f"turn {self.turn}"] if self.turn else []
        if self.tokens:
            parts.append(count(self.tokens, "token"))
        busy = sum(child.running for child in self.children)
        if busy:
            parts.append(f"waits for {busy} of {len(self.children)}")
        else:
            parts.append(self.doing)
        return ", ".join(parts)


class LiveTree:
    """The entities at work as a tree, with totals at its head; a thing that rich can draw.

    Args:
        title: What is run.
    """

    def __init__(self, title: str) -> None:
        self._title = one_line(title)
        self._started = time.monotonic()
        self._lock = threading.Lock()  # events come from one thread, drawing from another
        self._entities: dict[str, _Entity] = {}
        self._roots: list[_Entity] = []
        self._turns = self._tokens = 0

    def take(self, event: Event) -> None:
        """Take in an event."""
        with self._lock:
            if isinstance(event, events.EntityStarted):
                self._add(event)
            elif event.entity_id in self._entities:
                self._update(self._entities[event.entity_id], event)

    def _add(self, event: events.EntityStarted) -> None:
        entity = _Entity(one_line(event.intent[:INTENT_CHARS]), event.depth)
        if isinstance(event, events.EntityResumed):
            entity.turn = event.turns
            self._turns += event.turns
            self._tokens = max(self._tokens, event.usage.total_tokens)
        self._entities[event.entity_id] = entity
        parent = self._entities.get(event.parent_id or "")
        (parent.children if parent else self._roots).append(entity)

    def _update(self, entity: _Entity, event: Event) -> None:
        match event:
            case events.StepStarted():
                entity.turn = event.turn
            case events.MessageStarted():
                entity.doing = "asks its model"
            case events.QueryRetried():
                entity.doing = f"waits {event.wait_s:.0f} s to ask again"
            case events.MessageCompleted():
                self._turns += 1
                entity.doing = "acts"
            case events.ToolCalled():
                entity.doing = f"calls {one_line(event.name[:60])}"
            case events.ToolResult():
                entity.doing = "acts"
            case events.UsageReported():
                entity.tokens += event.usage.total_tokens
                self._tokens = event.total.total_tokens
            case events.EntityEnded():
                entity.outcome = event.outcome

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> RenderResult:
        """Draw the entities at work, each with its turn, its tokens and what it is doing."""
        with self._lock:
            yield self._head()
            # Room at the right for the terminal's own ^C, which would begin a line of its own.
            grid = Table.grid(padding=(0, 1))
            grid.width = max(options.max_width - 3, 20)
            grid.add_column(ratio=1, no_wrap=True, overflow="ellipsis")
            grid.add_column(justify="right", no_wrap=True, overflow="ellipsis", style="dim")
            room = max(min(console.height - 3, MAX_ROWS), 1)
            rows = list(self._rows(self._roots, "", options.ascii_only))
            for label, state in rows[:room]:
                grid.add_row(label, state)
            yield grid
            if len(rows) > room:
                yield Text(f"and {len(rows) - room:,} more at work", "dim")

    def _head(self) -> Text:
        seconds = time.monotonic() - self._started
        mark = _SPINNER[int(seconds * 10) % len(_SPINNER)]
        totals = (
            f"{count(len(self._entities), 'entity', 'entities')}, {count(self._turns, 'turn')}, "
            f"{count(self._tokens, 'token')}, {seconds:.0f} s"
        )
        return Text.assemble(
            (f"{mark} ", "cyan"),
            (self._title, "bold"),
            f"  {totals}",
            ("  Ctrl-C ends it", "dim"),
            no_wrap=True,
            overflow="ellipsis",
        )

    def _rows(
        self, entities: list[_Entity], indent: str, ascii_only: bool
    ) -> Iterator[tuple[Text, str]]:
        """A row for each entity at work, a parent's before its children's."""
        running = [entity for entity in entities if entity.running]
        for entity in running:
            last = entity is running[-1]
            branch = ("`- " if last else "|- ") if ascii_only else ("└─ " if last else "├─ ")
            yield Text.assemble((indent + branch, "dim"), entity.intent), entity.state()
            below = indent + ("   " if last else ("|  " if ascii_only else "│  "))
            yield from self._rows(entity.children, below, ascii_only)


class Lines:
    """A line for each entity that begins or ends and for each turn.

    Args:
        console: Where they are printed.
    """

    def __init__(self, console: Console) -> None:
        self._print: Callable[[Text], None] = lambda line: console.print(line, soft_wrap=True)
        self._width = console.width if console.is_terminal else LINE_CHARS
        self._started = time.monotonic()
        self._entities: dict[str, _Entity] = {}

    def __call__(self, event: Event) -> None:
        """Take in an event; print its line, if it has one."""
        if isinstance(event, events.EntityStarted):
            intent = one_line(event.intent[:INTENT_CHARS])
            self._entities[event.entity_id] = _Entity(intent, event.depth)
            how = "begins"
            if isinstance(event, events.EntityResumed):
                how = f"goes on after {count(event.turns, 'turn')}"
            self._line(event, f"{how}: {intent}")
            return
        entity = self._entities.get(event.entity_id)
        if entity is None:
            if isinstance(event, events.EntityEnded):
                self._line(event, f"{event.outcome}: {one_line(event.reason)}")
            return
        match event:
            case events.ToolCalled():
                entity.calls[one_line(event.name[:60])] += 1
            case events.QueryRetried():
                again = f"asks again in {event.wait_s:.1f} s: {one_line(event.reason)}"
                self._line(event, f"turn {event.turn}: {again}")
            case events.UsageReported():
                entity.tokens += event.usage.total_tokens
            case events.StepCompleted():
                self._turn(event, entity)
            case events.EntityEnded():
                tokens = count(entity.tokens, "token")
                self._line(event, f"{event.outcome}: {one_line(event.reason)}, {tokens}")

    def _turn(self, event: events.StepCompleted, entity: _Entity) -> None:
        calls = calls_text(entity.calls) or "no calls"
        entity.calls.clear()
        error = f"; error: {error_line(event.observation)}" if event.is_error else ""
        self._line(event, f"turn {event.turn}: {calls}{error}")

    def _line(self, event: Event, text: str) -> None:
        seconds = time.monotonic() - self._started
        line = f"{seconds:7.1f} s  {event.entity_id[:8]}  {'  ' * event.depth}{text}"
        if len(line) > self._width:
            line = f"{line[: self._width - 1]}…"
        self._print(Text(line, "dim"))


def calls_text(calls: Counter[str]) -> str:
    """The gates that were called, and how often: ``read x12, done``."""
    return ", ".join(f"{name} x{times}" if times > 1 else name for name, times in calls.items())
