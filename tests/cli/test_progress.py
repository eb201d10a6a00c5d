"""What is shown of a run while it lasts."""

from __future__ import annotations

import os
import sys

import pytest
from circlet.runtime import events
from circlet.runtime.cli.progress import MAX_ROWS, Lines, LiveTree
from circlet.runtime.llm import Usage
from rich.console import Console

TREE = """\
usage: {prompt_tokens: 100, completion_tokens: 10}
by_intent:
  ^go$: [{code: "done(call_entity_batch(['child'] * 3))", delay_ms: 300}]
  ^child$: [{code: done(1), delay_ms: 300}]
"""


def drawn(tree: LiveTree, width: int = 80, height: int = 40) -> list[str]:
    """What a terminal of that size is shown."""
    console = Console(width=width, height=height, force_terminal=True, color_system=None)
    with console.capture() as capture:
        console.print(tree)
    return [line.rstrip() for line in capture.get().splitlines()]


def started(name: str, parent: str | None = None, depth: int = 0, intent: str = "do it"):
    return events.EntityStarted(name, depth, parent, intent, "model")


@pytest.fixture
def tree() -> LiveTree:
    """A tree in which a root waits for two children, one of them done."""
    tree = LiveTree("spell.yaml")
    for event in (
        started("r", intent="count all"),
        events.StepStarted("r", 0, 1),
        events.MessageStarted("r", 0, 1),
        events.UsageReported("r", 0, Usage(1000, 200), Usage(1000, 200)),
        events.MessageCompleted("r", 0, 1),
        events.ToolCalled("r", 0, "call_entity_batch", "..."),
        started("a", "r", 1, "count a"),
        started("b", "r", 1, "count b"),
        events.StepStarted("a", 1, 1),
        events.MessageStarted("a", 1, 1),
        events.EntityEnded("b", 1, "terminated", "done"),
    ):
        tree.take(event)
    return tree


def test_who_is_at_work(tree):
    """Each entity at work has a row with its turn, tokens and what it does; a done one has none."""
    head, root, child = drawn(tree)
    assert "spell.yaml  3 entities, 1 turn, 1,200 tokens, 0 s" in head
    assert root.startswith("└─ count all ")
    assert root.endswith(" turn 1, 1,200 tokens, waits for 1 of 2")
    assert child.startswith("   └─ count a ")
    assert child.endswith(" turn 1, asks its model")


def test_what_it_does(tree):
    """The row follows what happens: acting, calling a gate, acting again."""
    seen = []
    for event in (
        events.MessageCompleted("a", 1, 1),
        events.ToolCalled("a", 1, "read", "'x'"),
        events.ToolResult("a", 1, "read", "text", False),
    ):
        tree.take(event)
        seen.append(drawn(tree)[-1].rpartition(", ")[2])
    assert seen == ["acts", "calls read", "acts"]


def test_an_entity_that_never_started_is_no_fault(tree):
    """An end without a beginning changes nothing."""
    before = drawn(tree)[1:]
    tree.take(events.EntityEnded("x", 1, "not_started", "max_entities"))
    assert drawn(tree)[1:] == before


@pytest.mark.parametrize("height", [10, 24, 200])
def test_many_entities_fit_the_terminal(tree, height):
    """Where more are at work than there is room for, the rest is a number."""
    for number in range(100):
        tree.take(started(f"c{number}", "r", 1))
    lines = drawn(tree, height=height)
    assert len(lines) < height
    shown = min(height - 3, MAX_ROWS)
    assert len(lines) == shown + 2
    assert lines[-1] == f"and {102 - shown} more at work"


@pytest.mark.parametrize("width", [30, 80, 120])
def test_rows_fit_the_width(tree, width):
    """Long intents are cut, and the terminal's own ^C has room."""
    tree.take(started("c", "r", 1, "long words " * 100))
    lines = drawn(tree, width=width)
    assert all(len(line) <= width - 3 for line in lines[1:])
    assert len(lines) == 4


def test_an_intent_is_only_text(tree):
    """Control sequences and markup of an intent, and of a gate's name, are shown as text."""
    tree.take(started("c", "r", 1, "a [red]b[/]\n\x1b[2J c"))
    tree.take(events.ToolCalled("c", 1, "x\x07", "..."))
    last = drawn(tree)[-1]
    assert "a [red]b[/] \\x1b[2J c" in last
    assert "calls x\\x07" in last


def _on_a_terminal(place, *args: str) -> tuple[int, str, str]:
    """Run the installed command with stderr on a terminal: exit code, stdout, what was drawn."""
    ours, theirs = os.openpty()
    place.environment = {"TERM": "xterm-256color", "NO_COLOR": None, "COLUMNS": "90", "LINES": "30"}
    with place.started(*args, stderr=theirs) as process:
        os.close(theirs)
        drawing = b""
        while True:
            try:
                piece = os.read(ours, 65_536)
            except OSError:  # how a terminal says that nobody writes any more
                break
            drawing += piece
        stdout, _ = process.communicate()
    os.close(ours)
    return process.returncode, stdout, drawing.decode()


def test_on_a_terminal(place):
    """On a terminal a live tree is drawn on stderr; at the end it is gone, and the cursor back."""
    code, stdout, drawing = _on_a_terminal(place, "run", place.spell(TREE), "--out", "out")
    assert (code, stdout) == (0, "[1, 1, 1]\n")
    assert "waits for 3 of 3" in drawing
    assert "asks its model" in drawing
    assert drawing.rindex("\x1b[?25h") > drawing.rindex("\x1b[?25l")
    assert drawing.endswith("4 entities, 4 turns, 2 levels, 440 tokens; loom: out\r\n")


def test_verbose_on_a_terminal(place):
    """With ``-v`` the lines stand above the live tree."""
    _, _, drawing = _on_a_terminal(place, "run", place.spell(TREE), "--out", "out", "-v")
    assert drawing.count("begins: child") == 3
    assert "waits for 3 of 3" in drawing


def test_a_wait_for_the_next_try(tree):
    """PROD-2: while a query waits to be tried again, the tree says so and for how long."""
    tree.take(started("c", "r", 1, "third"))
    tree.take(events.StepStarted("c", 1, 1))
    tree.take(events.QueryRetried("c", 1, 1, 1, 4.0, "model answered 429: busy"))
    assert any("third" in line and "waits 4 s to ask again" in line for line in drawn(tree))
    tree.take(events.MessageCompleted("c", 1, 1))
    assert not any("to ask again" in line for line in drawn(tree))


def test_a_line_for_each_retry(capsys):
    """PROD-2: with ``-v`` each retry has its line, with what went wrong."""
    lines = Lines(Console(file=sys.stderr))
    lines(started("r"))
    lines(events.QueryRetried("r", 0, 2, 1, 1.5, "model answered 503:\nbusy"))
    assert "turn 2: asks again in 1.5 s: model answered 503: busy" in capsys.readouterr().err
