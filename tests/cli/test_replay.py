"""``circlet replay``: a run is printed event by event, and every request is rebuilt."""

from __future__ import annotations

import json

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM

KEY = "sk-proj-very-secret-indeed"


@pytest.fixture
def run(place):
    """A run of two turns, the first of which prints what looks like a key."""
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": 3}])
    llm = ScriptedLLM([{"code": f"print('{KEY}')"}, {"code": "done(1)"}])
    with Loom(place.path / "run") as loom:
        Cantrip(llm=llm, circle=circle, loom=loom).cast("go\x1b[31m on")
    return place.path / "run"


@pytest.fixture
def forked(run):
    """The same run, with a fork in its loom."""
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": 3}])
    with Loom(run) as loom:
        spell = Cantrip(llm=ScriptedLLM([{"code": "done(2)"}]), circle=circle, loom=loom)
        root = next(iter(loom.entities))
        fork = spell.fork(root, 1, "again", llm=ScriptedLLM([{"code": "done(2)"}]))
    return root, fork.entity_id


def test_a_run_is_printed(place, run):
    """A line an event, in order, without control characters."""
    done = place.invoke("replay", "run")
    assert (done.exit_code, done.stderr) == (0, "")
    lines = done.stdout.splitlines()
    assert [int(line.split()[0]) for line in lines] == list(range(1, len(lines) + 1))
    assert lines[0].startswith("    1  run_start      spec=")
    assert lines[-1].split()[1:3] == ["run_end", "terminated"]
    assert "\x1b" not in done.stdout


def test_files_are_shown_without_secrets(place, run):
    """PROD-8: ``-v`` shows what events refer to, and no secret."""
    done = place.invoke("replay", "run", "-v")
    assert "layer: capabilities" in done.stdout
    assert "printed: " in done.stdout
    assert KEY not in done.stdout


def test_a_whole_run(place, run):
    """``--verify`` says how many requests were rebuilt; exit code 0."""
    done = place.invoke("replay", "run", "--verify")
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "trajectory.jsonl: 2 of 2 requests rebuilt\n"


@pytest.mark.parametrize("place_of", ["first line", "blob"])
def test_a_damaged_run(place, run, place_of):
    """What is damaged is named, and the exit code is 1, wherever it is."""
    path = run / "trajectory.jsonl"
    if place_of == "blob":
        events = map(json.loads, path.read_text(encoding="utf-8").splitlines())
        path = run / next(one["source"] for one in events if one["kind"] == "inject")
    path.write_bytes(b"x" + path.read_bytes()[1:])
    done = place.invoke("replay", "run", "--verify")
    assert done.exit_code == 1
    assert any(path.name in line for line in done.stdout.splitlines()[:-1])
    assert done.stdout.splitlines()[-1].startswith("trajectory.jsonl: ")


def test_a_damaged_loom(place, run):
    """A run whose loom can't be read does not pass, though its stream is whole."""
    (place.path / "run/loom.db").write_bytes(b"no database, but as long as one " * 300)
    done = place.invoke("replay", "run", "--verify")
    assert done.exit_code == 1
    assert "the loom: the loom's database run/loom.db: file is not a database" in done.stdout
    assert done.stdout.splitlines()[-1].endswith("requests rebuilt, 1 fault")


def test_several_runs_in_one_loom(place, run, forked):
    """They are listed, one is chosen by its root, and all of them are verified."""
    root, fork = forked
    done = place.invoke("replay", "run")
    assert [line.split()[0] for line in done.stdout.splitlines()] == [root, fork]
    assert "choose one with --entity" in done.stderr
    chosen = place.invoke("replay", "run", "--entity", fork)
    assert "task=again" in chosen.stdout.splitlines()[0]
    inside = place.invoke("replay", f"run/runs/{fork}")
    assert inside.stdout == chosen.stdout
    verified = place.invoke("replay", "run", "--verify")
    assert verified.exit_code == 0
    assert verified.stdout.splitlines() == [
        "trajectory.jsonl: 2 of 2 requests rebuilt",
        f"runs/{fork}/trajectory.jsonl: 1 of 1 requests rebuilt",
    ]


def test_a_run_that_is_not_there(place, run):
    """One line says what is missing; exit code 2."""
    for arguments in (["."], ["gone"]):
        done = place.invoke("replay", *arguments)
        assert (done.exit_code, done.stdout) == (2, "")
        assert "it holds no trajectory.jsonl" in done.stderr
    other = place.invoke("replay", "run", "--entity", "who")
    assert other.exit_code == 2
    assert "has no run of the entity who" in other.stderr


def test_a_copy_without_secrets(place, run):
    """PROD-8: ``--export`` writes one; it says what is withheld, and does not pass."""
    done = place.invoke("replay", "run", "--export", "copy")
    assert done.exit_code == 0
    files = [path for path in (place.path / "copy").rglob("*") if path.is_file()]
    assert files
    assert not any(KEY.encode() in path.read_bytes() for path in files)
    verified = place.invoke("replay", "copy", "--verify")
    assert verified.exit_code == 1
    assert "withheld by redaction" in verified.stdout
    again = place.invoke("replay", "run", "--export", "copy")
    assert again.exit_code == 2
    assert "choose another directory" in again.stderr
