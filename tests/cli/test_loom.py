"""``circlet loom show``: the tree of a run, for a reader."""

from __future__ import annotations

import re

import pytest
from circlet import Loom

TREE = """\
usage: {prompt_tokens: 100, completion_tokens: 10}
by_intent:
  ^go$:
    - code: |
        echo(1)
        parts = call_entity_batch([
            {"intent": "child one"}, {"intent": "child two"}, {"intent": "lost"},
        ])
    - code: 1/0
    - code: done(parts[:2])
  ^child:
    - code: done(call_entity("grandchild", context=[1, 2, 3]))
  ^grandchild:
    - code: |
        print("a line of print")
        done(len(context))
"""


@pytest.fixture
def run(place):
    """Runs a script and gives what ``loom show`` says of it."""

    def run(script, *options, width=100):
        place.environment = {"COLUMNS": str(width)}
        place.installed("run", place.spell(script), "--out", "out")
        return place.installed("loom", "show", "out", *options)

    return run


def test_children_stand_under_the_turn_that_spawned_them(run):
    """LOOM-8: the tree nests each entity under its parent's turn, with what each turn called."""
    lines = run(TREE).stdout.splitlines()
    assert lines[0] == "out: 6 entities, 7 turns, 3 levels, 770 tokens"
    drawn = [re.sub(r"(turn \d+) .*", r"\1", line) for line in lines[1:]]
    entities_and_turns = [line for line in drawn if re.search(r"[✓✗] |turn \d+$", line)]
    assert entities_and_turns == [
        "✓ go",
        "├── turn 1",
        "│   ├── ✓ child one",
        "│   │   └── turn 1",
        "│   │       └── ✓ grandchild",
        "│   │           └── turn 1",
        "│   ├── ✓ child two",
        "│   │   └── turn 1",
        "│   │       └── ✓ grandchild",
        "│   │           └── turn 1",
        "│   └── ✗ lost",
        "├── turn 2",
        "└── turn 3",
    ]


def test_an_entity_says_how_it_ended_and_what_it_took(run):
    """LOOM-7, PROD-3: outcome, reason, turns, tokens, children and result stand with each."""
    shown = run(TREE, width=200).stdout
    assert "terminated: done, 3 turns, 330 tokens, 3 children, scripted:script.yaml" in shown
    assert "failed: ScriptExhausted: the script of" in shown
    assert "result list, 2 items: [3, 3]" in shown


def test_a_turn_says_what_it_called(run):
    """CIRCLE-7: each turn stands with its calls, and its error."""
    lines = [line.partition(" s  ")[2] for line in run(TREE).stdout.splitlines() if " s  " in line]
    assert lines[0] == "echo, call_entity_batch"
    assert lines[-2:] == ["no calls  error: ZeroDivisionError: division by zero", "done"]


def test_verbose_shows_code_and_observations(run):
    """``-v`` shows what the model wrote, what was observed, and contexts."""
    shown = run(TREE, "-v").stdout
    assert 'print("a line of print")' in shown
    assert "context list, 3 items: [1, 2, 3]" in shown
    assert "ZeroDivisionError: division by zero" in shown


def test_code_and_observations_are_left_out_otherwise(run):
    """Without ``-v`` the tree is all that there is."""
    assert "a line of print" not in run(TREE).stdout


@pytest.mark.parametrize("width", [40, 80, 120])
def test_lines_are_cut_at_the_width(run, width):
    """Long texts are cut at the terminal's width, and said to be by an ellipsis."""
    script = "- code: |\n    x = '" + "long " * 100 + "'\n    done(x)\n"
    lines = run(script, "-v", width=width).stdout.splitlines()
    assert all(len(line) <= width for line in lines[1:])
    assert any(line.endswith("…") for line in lines)


def test_texts_can_not_steer_the_terminal(run):
    """Control sequences and markup of an entity's are shown as text."""
    shown = run(
        "- code: |\n    print('[red]x[/] \\x1b[2J')\n    1/0\n- content: 'bye'\n", "-v"
    ).stdout
    assert "[red]x[/] \\x1b[2J" in shown
    assert "\x1b" not in shown


def test_a_truncated_run(run):
    """LOOP-4: a truncated entity has its summary."""
    shown = run("- code: x = 1\n" * 5).stdout
    assert "◐ go" in shown
    assert "summary Stopped by max_turns after 4 turns" in shown


def test_a_run_that_has_not_ended(place):
    """A loom that is being written, or was left in the middle, is shown as far as it goes."""
    spell = place.spell("- code: x = 1\n" * 5)
    place.invoke("run", spell, "--out", "out")
    with Loom(place.path / "out", read_only=True) as loom:
        records = [record for _, _, record in loom.records()][:-1]
    with Loom(place.path / "half") as half:
        for record in records:
            half.append(record)
        done = place.invoke("loom", "show", "half")
    assert "not ended, 4 turns" in done.stdout


@pytest.mark.parametrize("name", ["gone", "empty"])
def test_no_loom(place, name):
    """A DIR without a loom is a usage error that names it, and stays as it is."""
    (place.path / "empty").mkdir()
    done = place.invoke("loom", "show", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr == f"circlet: there is no loom at {name}: it holds no loom.db\n"
    assert not list((place.path / "empty").iterdir())
