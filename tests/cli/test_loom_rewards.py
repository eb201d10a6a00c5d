"""``circlet loom threads``, ``reward`` and ``export``: what a run is good for, by command."""

from __future__ import annotations

import json
import shlex
import shutil
import sys

import pytest
from circlet import Cantrip, Circle, CircletError, Loom, ScriptedLLM
from circlet.runtime.loom.exports import ChatLine, GroupLine, PairLine
from rich.cells import cell_len

SECRET = "sk-proj-very-secret-0123456789"
CHECK = "import json, sys; sys.exit(json.load(sys.stdin) != 9)"
VERIFIER = shlex.join([sys.executable, "-c", CHECK])


@pytest.fixture(scope="module")
def recorded(tmp_path_factory):
    """A run with three casts at one task, one of which was truncated, and one at another."""
    directory = tmp_path_factory.mktemp("recorded") / "run"
    loom = Loom(directory)
    replies = {
        "^task": [],
        "^other": [{"code": "done(call_entity({'intent': 'part'}))"}],
        "^part": [{"code": "done('p')"}],
    }
    gates, wards = ["done", "call_entity"], [{"max_turns": 1}]
    for code in ("done(3)", "done(9)", "x = 9", None):
        replies["^task"] = [{"code": code}]
        spell = Cantrip(
            llm=ScriptedLLM(replies),
            circle=Circle(medium="code", gates=gates, wards=wards),
            loom=loom,
        )
        spell.cast(f"other {SECRET} \x1b[31m" if code is None else "task [b]one[/b]")
    loom.close()
    return directory


@pytest.fixture
def run(place, recorded):
    """The folder that a copy of it is in."""
    shutil.copytree(recorded, place.path / "run")
    return place


def threads(run, *options, width=100):
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COLUMNS", str(width))
        return run.invoke("loom", "threads", "run", *options)


def told(run, *options) -> dict:
    return json.loads(
        run.invoke("loom", "threads", str(run.path / "run"), "--json", *options).stdout
    )


def test_threads_tell_how_each_cast_ended(run):
    """LOOM-7: terminated and truncated are told apart, by a word, a mark and the ward."""
    lines = threads(run).stdout.splitlines()
    assert lines[0].split() == ["entity", "intent", "outcome", "turns", "tokens"]
    assert len(lines) == 7
    assert "task [b]one[/b]" in lines[1]
    assert "✓ terminated" in lines[1]
    assert "◐ truncated: max_turns" in lines[3]
    assert "  part" in lines[5]
    assert lines[-1] == "5 casts at 3 tasks, 0 judged"
    assert [one["outcome"] for one in told(run)["threads"]] == [
        "terminated",
        "terminated",
        "truncated",
        "terminated",
        "terminated",
    ]


@pytest.mark.parametrize("width", [80, 100, 200])
def test_threads_fit_the_terminal(run, width):
    """VIEWPORT: texts give way to figures, which are never cut."""
    judge(run, "--all", "--verifier", VERIFIER)
    lines = threads(run, width=width).stdout.splitlines()
    assert all(cell_len(line) <= width for line in lines[:-1])
    assert lines[1].split()[-3:] == ["2=", "of", "3"]
    assert lines[2].split()[-3:] == ["1", "of", "3"]


def test_threads_show_no_secret_and_move_no_cursor(run):
    """PROD-8: intents are shown without secrets, and as nothing but text."""
    for options in ((), ("--json",)):
        shown = threads(run, *options, width=200).stdout
        assert SECRET not in shown
        assert "\x1b" not in shown
        assert "[redacted: OpenAI key]" in shown


def judge(run, *options):
    return run.invoke("loom", "reward", str(run.path / "run"), *options)


def test_a_reward_by_hand(run):
    """LOOM-3: a turn is judged by its place or its id; the newest counts."""
    place = str(run.path / "run")
    done = judge(run, "0", "0.25")
    assert done.exit_code == 0
    node = done.stdout.split(":")[0]
    assert done.stdout == f"{node}: reward 0.25, by user\n"
    assert judge(run, node, "-1.5", "--by", "me").stdout == f"{node}: reward -1.5, by me\n"
    with Loom(place, read_only=True) as loom:
        assert [(one.value, one.by) for one in loom.turns[0].rewards] == [
            (0.25, "user"),
            (-1.5, "me"),
        ]


def test_a_reward_by_a_command(run):
    """LOOM-3: each root's cast is judged, whatever it came to, and ranked at its task."""
    done = judge(run, "--all", "--verifier", VERIFIER, "--criterion", "is nine", "--by", "ci")
    assert done.exit_code == 0
    lines = done.stdout.splitlines()
    assert [line[0] for line in lines] == ["✗", "✓", "✗", "✗"]
    assert lines[1].endswith("reward 1  is nine, exit code 0")
    found = told(run)["threads"]
    assert [one["reward"] for one in found] == [0.0, 1.0, 0.0, 0.0, None]
    assert [one["passed"] for one in found] == [False, True, False, False, None]
    assert [one["rank"] for one in found] == [2, 1, 2, None, None]
    assert [one["tied"] for one in found] == [True, False, True, False, False]
    assert {one["by"] for one in found} == {"ci", None}
    assert found[1]["advantage"] == pytest.approx(1.1547, abs=1e-4)


def test_one_thread_by_a_command(run):
    """LOOM-10: an entity's newest cast, or the one that ended at a turn, is judged alone."""
    entities = [one["entity"] for one in told(run)["threads"]]
    assert judge(run, "--thread", entities[-1], "--verifier", VERIFIER).stdout.startswith("✗")
    with Loom(run.path / "run", read_only=True) as loom:
        node = loom.entities[entities[1]].turns[-1].id
    assert judge(run, "--thread", node, "--verifier", VERIFIER).stdout.startswith(f"✓ {node}")
    assert [one["reward"] for one in told(run)["threads"]] == [None, 1.0, None, None, 0.0]


def test_the_chances_to_pass(run):
    """LOOM-3: pass@k and pass^k are the means over the tasks that have k judged casts."""
    judge(run, "--all", "--verifier", VERIFIER)
    first, second = told(run, "--k", "1,2")["k"]
    assert first == {
        "k": 1,
        "pass_at_k": pytest.approx((1 / 3 + 0) / 2),
        "pass_hat_k": pytest.approx((1 / 3 + 0) / 2),
        "tasks": 2,
        "left_out": 0,
        "unjudged": 0,
    }
    assert (second["pass_at_k"], second["pass_hat_k"]) == (pytest.approx(2 / 3), 0.0)
    assert (second["tasks"], second["left_out"]) == (1, 1)
    lines = threads(run, "--k", "2").stdout.splitlines()
    assert lines[-2] == "5 casts at 3 tasks, 4 judged, 1 passed"
    assert lines[-1] == (
        "pass@2 0.667, pass^2 0.000  over 1 task; 1 task left out, with fewer judged casts"
    )


def test_casts_that_came_to_nothing(run):
    """LOOM-7: a cast that failed before its first turn can't be judged, and counts visibly so."""
    with Loom(run.path / "run") as loom:
        circle = Circle(medium="code", gates=["done", "call_entity"], wards=[{"max_turns": 1}])
        spell = Cantrip(llm=ScriptedLLM([]), circle=circle, loom=loom)
        with pytest.raises(CircletError):
            spell.cast("task [b]one[/b]")
    done = judge(run, "--all", "--verifier", VERIFIER)
    assert "circlet: 1 cast came to no turn, so there is nothing to judge" in done.stderr
    *_, casts, chances = threads(run, "--k", "1").stdout.splitlines()
    assert casts == "6 casts at 3 tasks, 4 judged, 1 passed"
    assert chances.endswith("over 2 tasks; 1 cast not judged and not counted")


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["reward", "run"], "give a turn and a value, or a command with --verifier"),
        (["reward", "run", "0"], "give a turn and a value"),
        (["reward", "run", "0", "good"], "the value must be a number, not 'good'"),
        (["reward", "run", "0", "inf"], "a reward must be a finite number, not inf"),
        (["reward", "run", "99", "1"], "the loom has no turn 99: it has 6, from 0"),
        (["reward", "run", "nobody.1", "1"], "the loom has no turn 'nobody.1'"),
        (["reward", "run", "--velocity", "1"], "there is no option --velocity"),
        (["reward", "run", "0", "1", "--all"], "are for a --verifier"),
        (["reward", "run", "0", "--verifier", "true"], "a turn and a value, or a --verifier"),
        (["reward", "run", "--verifier", "true"], "run has 4 casts of roots: choose one with"),
        (["reward", "run", "--verifier", "true", "--thread", "x"], "the loom has no turn 'x'"),
        (["reward", "run", "--verifier", "true", "--thread", "x", "--all"], "not both"),
        (["reward", "none", "0", "1"], "there is no loom at none"),
        (["threads", "none"], "there is no loom at none"),
        (["threads", "run", "--k", "2,x"], "--k takes numbers from 1 on, with commas"),
        (["threads", "run", "--k", "0"], "--k takes numbers from 1 on"),
        (["threads", "run", "--k", "2"], "no task has 2 judged casts for --k 2: no cast is judged"),
        (["export", "run", "--pairs", "all"], "pairs and margin are for the format 'dpo'"),
        (["export", "run", "--format", "dpo", "--margin", "-1"], "the margin must be a number"),
    ],
)
def test_what_a_command_can_t_do(run, arguments, message):
    """LOOM-3: a fault in how a command is called is one line, exit code 2, and no record."""
    before = (run.path / "run" / "loom.db").stat().st_size
    done = run.invoke("loom", *arguments)
    assert done.exit_code == 2
    assert done.stdout == ""
    assert message in done.stderr
    assert done.stderr.startswith("circlet: ")
    assert done.stderr.count("\n") == 1
    assert (run.path / "run" / "loom.db").stat().st_size == before
    assert not (run.path / "none").exists()


def test_a_verifier_that_does_not_judge(run):
    """LOOM-3: what can't be started or takes too long is told for each cast; exit code 1."""
    done = judge(run, "--all", "--verifier", "no-such-program --x")
    assert done.exit_code == 1
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 4
    assert all("the verifier no-such-program --x can't be started" in line for line in lines)
    assert {one["reward"] for one in told(run)["threads"]} == {None}


def test_a_loom_that_is_being_written(run):
    """LOOM-1: a run that another process writes can't be judged meanwhile; the error says so."""
    with Loom(run.path / "run"):
        done = run.installed("loom", "reward", "run", "0", "1")
        assert done.returncode == 2
        assert "is being written by" in done.stderr or "process" in done.stderr
        assert run.installed("loom", "threads", "run").returncode == 0


@pytest.mark.parametrize(
    ("format_", "model", "count"),
    [("chat", ChatLine, 5), ("grpo", GroupLine, 1), ("dpo", PairLine, 1)],
)
def test_exports_for_training(run, format_, model, count):
    """PROD-8: each format goes to standard output or a file, line by line, without secrets."""
    judge(run, "--all", "--verifier", VERIFIER)
    done = run.installed("loom", "export", "run", "--format", format_)
    lines = done.stdout.splitlines()
    assert len(lines) == count
    for line in lines:
        model.model_validate_json(line)
    assert SECRET not in done.stdout
    run.installed("loom", "export", "run", "--format", format_, "--out", "out.jsonl")
    assert (run.path / "out.jsonl").read_text() == done.stdout
    if format_ == "chat":
        assert (
            SECRET
            in run.installed(
                "loom", "export", "run", "--format", format_, "--redaction", "none"
            ).stdout
        )


def test_nothing_to_export(run):
    """LOOM-3: where nothing can be compared the export is empty, and that is said."""
    done = run.installed("loom", "export", "run", "--format", "dpo")
    assert (done.returncode, done.stdout) == (0, "")
    assert done.stderr == (
        "circlet: no two casts at one task are judged, so there is nothing to export\n"
    )
    with Loom(run.path / "run") as loom:
        for turn in loom.turns[:2]:  # of the first two, who were given the same task
            loom.annotate_reward(turn.id, 1.0)
    for options, lack in ([], "judged differently"), (["--margin", "2"], "judged 2 apart"):
        done = run.installed("loom", "export", "run", "--format", "dpo", *options)
        assert (done.returncode, done.stdout) == (0, "")
        assert f"no two casts at one task are {lack}, so" in done.stderr
    assert run.installed("loom", "export", "run", "--format", "grpo").stderr == ""


@pytest.mark.parquet
def test_an_export_as_parquet(run):
    """PROD-8: the table goes to a file."""
    from pyarrow import parquet

    done = run.installed("loom", "export", "run", "--format", "parquet", "--out", "t.parquet")
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    assert parquet.read_table(run.path / "t.parquet").num_rows == 5
