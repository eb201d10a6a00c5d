"""``circlet loom resume``: a run that was killed goes on, from its stored spell."""

from __future__ import annotations

import json
import signal
from pathlib import Path

import pytest
from circlet import Loom

SCRIPT = """\
usage: {prompt_tokens: 100, completion_tokens: 10}
by_intent:
  ^go$:
    - code: parts = call_entity_batch(["child one", "child two"])
    - code: |
        try: die()
        except GateInterrupted: pass
        done(sum(parts))
  ^child:
    - code: done(3)
"""
GATES = """\
import os, signal
def die() -> None:
    '''Die, where somebody said so.'''
    if os.path.exists("deadly"):
        os.remove("deadly")
        os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def killed(place):
    """A run that was killed in its second turn; its spell's folder is the working folder."""
    spell = place.spell(SCRIPT)
    place.write(GATES, "gates.py")
    text = (place.path / spell).read_text().replace("echo]", "{from: gates.py, name: die}]")
    place.write(text, spell)
    place.write("", "deadly")
    assert place.installed("run", spell, "--out", "out").returncode == -signal.SIGKILL
    return place


def test_it_goes_on(killed):
    """Result, progress and exit code are those of ``circlet run``, for the whole cast."""
    done = killed.installed("loom", "resume", "out", "-v")
    assert (done.returncode, done.stdout) == (0, "6\n"), done.stderr
    lines = done.stderr.splitlines()
    assert lines[0] == "circlet: out, resumed"
    assert "goes on after 2 turns: go" in lines[1]
    assert lines[-1] == "3 entities, 4 turns, 2 levels, 440 tokens; loom: out"
    assert "resumed 1 time" in killed.invoke("loom", "show", "out").stdout
    again = killed.installed("loom", "resume", "out")
    assert (again.returncode, again.stdout) == (0, "6\n")
    assert again.stderr.splitlines()[0] == "circlet: out, has ended; nothing is run"


def test_json(killed):
    """``--json`` prints the same report as ``circlet run`` does."""
    done = killed.invoke("loom", "resume", "out", "--json")
    report = json.loads(done.stdout)
    assert (report["result"], report["reason"], report["turns"]) == (6, "done", 4)
    assert (report["entities"], report["max_depth"], report["loom"]) == (3, 1, "out")
    assert report["usage"]["prompt_tokens"] == 400


def test_from_another_folder(killed, monkeypatch):
    """Paths in the stored spell are relative to where it stood when the run began."""
    (killed.path / "elsewhere").mkdir()
    monkeypatch.chdir(killed.path / "elsewhere")
    assert killed.invoke("loom", "resume", "../out").stdout == "6\n"


def test_truncated(place):
    """Exit code 3 says that a ward stopped it, also where that was before."""
    spell = place.spell("- code: '1'\n" * 9)
    assert place.invoke("run", spell, "--out", "out").exit_code == 3
    done = place.invoke("loom", "resume", "out")
    assert (done.exit_code, done.stdout) == (3, "")
    assert "truncated by max_turns" in done.stderr


def test_failed(place):
    """Exit code 1 says that it had failed."""
    spell = place.spell("- error: {status: 400, message: 'no'}\n")
    assert place.invoke("run", spell, "--out", "out").exit_code == 1
    done = place.invoke("loom", "resume", "out")
    assert done.exit_code == 1
    assert "has failed, with ProviderError" in done.stderr


def told(done):
    """The only line that a command tells of a mistake."""
    assert done.exit_code == 2, done.stderr
    assert done.stderr.startswith("circlet: ")
    return done.stderr.splitlines()[-1]


def test_mistakes(place):
    """Each is one line that names it, with exit code 2."""
    assert "there is no loom at gone" in told(place.invoke("loom", "resume", "gone"))
    Loom(place.path / "bare").close()
    assert "holds no spell.yaml" in told(place.invoke("loom", "resume", "bare"))
    place.invoke("run", place.spell("- code: done(1)\n"), "--out", "out")
    wrong = place.invoke("loom", "resume", "out", "--entity", "nobody")
    assert "no entity 'nobody'" in wrong.stderr
    Path("out/spell.yaml").write_text(Path("out/spell.yaml").read_text().replace("code", "chat"))
    assert "medium" in told(place.invoke("loom", "resume", "out"))


def test_a_run_with_another_model(place, monkeypatch):
    """A model that was given with ``--llm`` has to be given again, or another one."""
    spell = place.spell("- code: done(1)\n")
    place.invoke("run", spell, "--out", "out")
    place.write((place.path / "script.yaml").read_text(), "other.yaml")
    copy = Path("out/spell.yaml")
    copy.write_text(copy.read_text().replace("script.yaml", "other.yaml"))
    done = told(place.invoke("loom", "resume", "out"))
    assert "the run's model is scripted:script.yaml, and its spell's is scripted:other.yaml" in done


def test_a_run_that_is_still_at_work(place):
    """A loom that another process writes is left to it."""
    place.invoke("run", place.spell("- code: done(1)\n"), "--out", "out")
    with Loom(place.path / "out"):
        assert "written" in told(place.invoke("loom", "resume", "out"))
