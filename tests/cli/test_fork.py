"""``circlet loom fork``: which turn, what comes out, and what is a mistake."""

from __future__ import annotations

import json

import pytest
from circlet import Loom

SCRIPT = """\
by_intent:
  ^go:
    - code: xs = [echo('a')]
    - code: xs.append('b'); done(xs)
  ^on:
    - code: xs.append(len(xs)); done(xs)
    - code: xs.append(len(xs)); done(xs)
  ^endless:
    - {code: '1'}
    - {code: '2'}
    - {code: '3'}
    - {code: '4'}
  ^fails:
    - error: {status: 400, message: sorry}
"""


@pytest.fixture
def ran(place):
    """A folder with a run in ``out``; gives the folder and the id of the run's root."""
    assert place.invoke("run", place.spell(SCRIPT), "--out", "out").exit_code == 0
    with Loom(place.path / "out", read_only=True) as loom:
        return place, next(iter(loom.entities))


def fork(place, *args):
    return place.invoke("loom", "fork", "out", *args)


def one_line(done):
    """What a command that is misused says, on the only line of its stderr."""
    assert (done.exit_code, done.stdout) == (2, "")
    assert done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith("circlet: ")
    return done.stderr.removeprefix("circlet: ").removesuffix("\n")


def test_result_and_closing_lines(ran):
    """The result goes to stdout; how the fork came by its state, and how it ended, to stderr."""
    place, root = ran
    done = fork(place, "on", "--turn", "1")
    assert (done.exit_code, done.stdout) == (0, "['a', 1]\n")
    told, closing = done.stderr.splitlines()
    assert told.endswith(f", by replay from {root}.1, terminated after 1 turn")
    assert closing.startswith("2 entities, 3 turns, 1 level, ")
    assert closing.endswith("; loom: out")
    with Loom(place.path / "out", read_only=True) as loom:
        first, second = loom.entities.values()
        assert (first.result, second.result) == (["a", "b"], ["a", 1])
        assert told.startswith(second.id)
        assert second.forked_from == (f"{root}.1", "replay")


def test_several(ran):
    """``--n`` makes several at once; each has its line, and its result."""
    place, _ = ran
    done = fork(place, "on", "--turn", "2", "--n", "3")
    assert (done.exit_code, done.stdout) == (0, "['a', 'b', 2]\n" * 3)
    lines = done.stderr.splitlines()[:-1]
    assert [line.partition(": ")[0] for line in lines] == [f"fork {n} of 3" for n in (1, 2, 3)]


def test_json(ran):
    """``--json`` prints what each fork came to and the figures, and nothing else."""
    place, root = ran
    done = fork(place, "on", "--turn", "2", "--n", "2", "--json")
    report = json.loads(done.stdout)
    ids = [one.pop("entity") for one in report["forks"]]
    assert len(set(ids)) == 2
    assert (
        report.pop("forks")
        == [
            {
                "result": ["a", "b", 2],
                "terminated": True,
                "truncated": False,
                "reason": "done",
                "turns": 1,
                "forked_from": {"node": f"{root}.2", "strategy": "replay"},
                "difference": None,
            }
        ]
        * 2
    )
    assert (report["entities"], report["turns"], report["loom"]) == (3, 4, "out")


@pytest.mark.parametrize(
    ("intent", "code", "reason", "told"),
    [
        ("endless", 3, "max_turns", "truncated by max_turns after 4 turns"),
        ("fails", 1, "failed", "failed: scripted:script.yaml answered 400: sorry"),
    ],
)
def test_exit_codes(ran, intent, code, reason, told):
    """A ward's end and a failure have their own codes, as for a run; nothing is printed."""
    place, _ = ran
    done = fork(place, intent, "--turn", "1")
    assert (done.exit_code, done.stdout) == (code, "")
    assert told in done.stderr.splitlines()[0]
    done = fork(place, intent, "--turn", "1", "--json")
    (report,) = json.loads(done.stdout)["forks"]
    assert (done.exit_code, report["reason"], report["result"]) == (code, reason, None)
    assert ("error" in report) == (code == 1)


def test_the_spell_s_own_intent(ran):
    """Without an intent the spell's is given again; one that has none is told to be given one."""
    place, _ = ran
    done = fork(place, "--turn", "1", "--json")
    assert json.loads(done.stdout)["forks"][0]["result"] == ["a", "b"]
    assert place.invoke("run", place.spell(SCRIPT, ""), "go", "--out", "bare").exit_code == 0
    told = one_line(place.invoke("loom", "fork", "bare", "--turn", "1"))
    assert told == "intent is required: give one after bare"


def test_a_context(ran):
    """``--context`` gives the fork data of its own."""
    place, _ = ran
    place.write("some data", "data.txt")
    place.write(SCRIPT + "  ^read:\n    - code: done([xs, context])\n", "script.yaml")
    done = fork(place, "read", "--turn", "1", "--context", "data.txt")
    assert done.stdout == "[['a'], 'some data']\n"


def test_paths_begin_where_the_spell_stood(ran, monkeypatch):
    """The run's copy of the spell is read as its original was, from wherever it is forked."""
    place, _ = ran
    elsewhere = place.path / "elsewhere"
    elsewhere.mkdir()
    monkeypatch.chdir(elsewhere)
    done = place.invoke("loom", "fork", "../out", "on", "--turn", "1")
    assert (done.exit_code, done.stdout) == (0, "['a', 1]\n")


def test_which_thread(ran):
    """The root's by default; a fork's, or a root's where there are several, by ``--thread``."""
    place, _ = ran
    fork(place, "on", "--turn", "1")
    with Loom(place.path / "out", read_only=True) as loom:
        first = list(loom.entities)[1]
    done = fork(place, "on", "--turn", "2", "--thread", first)
    assert done.stdout == "['a', 1, 2]\n"
    told = one_line(fork(place, "on", "--turn", "1", "--thread", "nobody"))
    assert told == "there is no entity 'nobody' in out; circlet loom show lists them"


@pytest.mark.parametrize(
    ("args", "told"),
    [
        (["out", "on", "--turn", "3"], "from_turn must be a number from 1 to 2"),
        (["out", "on", "--turn", "0"], "from_turn must be a number from 1 to 2"),
        (["nowhere", "on", "--turn", "1"], "there is no loom at nowhere"),
        (["out", "on", "--turn", "1", "--llm", "nobody:x"], "'nobody:x' names no provider"),
        (["out", "on", "--turn", "1", "--context", "none"], "the context file none can't be read"),
    ],
)
def test_mistakes(ran, args, told):
    """Each is told in one line, with exit code 2, and leaves no trace."""
    place, _ = ran
    assert told in one_line(place.invoke("loom", "fork", *args))
    assert not (place.path / "nowhere").exists()
    with Loom(place.path / "out", read_only=True) as loom:
        assert len(loom.entities) == 1


def test_a_run_that_is_being_written(ran):
    """Another process that writes the loom is named; the fork waits for nobody."""
    place, _ = ran
    with Loom(place.path / "out"):
        done = place.installed("loom", "fork", "out", "on", "--turn", "1")
    assert done.returncode == 2
    assert "is being written by process" in done.stderr


def test_a_changed_circle(ran):
    """A gate that the run's past called and the spell lacks now is named, with the turn."""
    place, _ = ran
    copy = place.path / "out" / "spell.yaml"
    copy.write_text(copy.read_text().replace(", echo]", "]"))
    done = fork(place, "on", "--turn", "1")
    assert (done.exit_code, done.stdout) == (1, "")
    assert "failed: turn 1 can't be run again, for it called the gate 'echo'" in done.stderr


def test_its_turns_are_told(ran):
    """``-v`` prints a line for each turn of the fork, and none of its past's."""
    place, _ = ran
    done = fork(place, "on", "--turn", "1", "-v")
    assert "turn 2" in done.stderr
    assert "turn 1 " not in done.stderr
