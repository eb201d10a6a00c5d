"""``circlet loom show``: the tree of a run, for a reader."""

from __future__ import annotations

import json
import re

import pytest
from circlet import Cantrip, Circle, Folding, Loom, ScriptedLLM

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
    assert (
        done.stderr
        == f"circlet: there is no loom at {name}: it holds no loom.db and no loom.jsonl\n"
    )
    assert not list((place.path / "empty").iterdir())


# -- secrets and exports -----------------------------------------------------------------------

SECRET = "sk-proj-very-secret"
TELLING = f"""\
- content: using key {SECRET}
  code: print({SECRET!r}, "hunter2-hunter2")
- code: done(context)
"""


def test_show_tells_no_secret(run):
    """PROD-8: the drawing holds no secret, neither in its lines nor in its blocks."""
    for options in ((), ("-v",)):
        shown = run(TELLING, *options).stdout
        assert "terminated" in shown
        assert SECRET not in shown
    assert "using key [redacted: OpenAI key]" in shown


@pytest.fixture
def told(place):
    """A run that had a secret from the environment; gives its directory's name."""
    place.environment = {"DB_PASSWORD": "hunter2-hunter2", "COLUMNS": "200"}
    more = "intent: log in with ${DB_PASSWORD}\ncontext: plain\n"
    done = place.installed("run", place.spell(TELLING, more), "--out", "out", "-v")
    assert (done.returncode, done.stdout) == (0, "plain\n")
    assert "hunter2" not in done.stderr
    assert SECRET not in done.stderr
    return "out"


def test_export(place, told):
    """PROD-8: a run's records as JSON lines on standard output, without secrets."""
    exported = place.installed("loom", "export", told)
    head, *lines = [json.loads(line) for line in exported.stdout.splitlines()]
    assert (head["format"], head["redaction"]) == ("circlet-loom", "default")
    assert [line["n"] for line in lines] == list(range(1, len(lines) + 1))
    assert SECRET not in exported.stdout
    # What the spell calls a secret is known here too, for it names the variable.
    assert "hunter2" not in exported.stdout
    assert "log in with [redacted: DB_PASSWORD]" in exported.stdout


def test_show_knows_what_the_spell_calls_a_secret(place, told):
    """PROD-8: a variable with a secret's name is withheld from the drawing too."""
    shown = place.installed("loom", "show", told, "-v").stdout
    assert "log in with [redacted: DB_PASSWORD]" in shown
    assert "hunter2" not in shown


def test_export_of_everything_to_a_file(place, told):
    """PROD-8: ``--redaction none`` gives all; ``--out`` makes a file for its user alone."""
    exported = place.installed("loom", "export", told, "--redaction", "none", "--out", "all.jsonl")
    assert (exported.returncode, exported.stdout) == (0, "")
    text = (place.path / "all.jsonl").read_text()
    assert SECRET in text
    assert "hunter2-hunter2" in text
    assert (place.path / "all.jsonl").stat().st_mode & 0o777 == 0o600


@pytest.mark.parametrize(
    ("args", "message"),
    [
        (("nowhere",), "there is no loom at nowhere"),
        (("out", "--format", "yaml"), "yaml"),
        (("out", "--redaction", "some"), "some"),
    ],
)
def test_an_export_that_can_t_be(place, told, args, message):
    """PROD-8: a wrong directory, format or redaction is a fault of how it was called."""
    exported = place.installed("loom", "export", *args)
    assert exported.returncode == 2
    assert message in exported.stderr


def test_an_error_tells_no_secret(place):
    """PROD-8: what ends a run is told without secrets, on standard error and as JSON."""
    script = f"- error: {{status: 400, message: no access for {SECRET}}}\n"
    done = place.installed("run", place.spell(script), "--out", "out", "--json")
    assert done.returncode == 1
    assert SECRET not in done.stderr + done.stdout
    assert "[redacted: OpenAI key]" in json.loads(done.stdout)["error"]


def test_a_fork_says_where_it_comes_from(place):
    """LOOM-13: a fork's origin and strategy are shown, and with ``-v`` what was folded."""
    script = [{"code": "x = 1"}, {"code": "x += 1"}, {"code": "done(x)"}]
    with Loom(place.path / "out") as loom:
        spell = Cantrip(
            llm=ScriptedLLM([*script, {"code": "done(x * 2)"}]),
            circle=Circle(medium="code", gates=["done"], wards=[{"max_turns": 9}]),
            folding=Folding(after_turns=2),
            loom=loom,
        )
        spell.fork(spell.cast("count").thread, from_turn=1, intent="and twice as much")
    shown = place.installed("loom", "show", "out").stdout
    assert re.search(r"forked from \w+\.1, by replay", shown)
    assert "[Folded: turns 1-1]" not in shown
    assert "[Folded: turns 1-1]" in place.installed("loom", "show", "out", "-v").stdout
