"""Ctrl-C and SIGTERM: a run ends, leaves no process behind, and is on record."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from circlet import Loom

WATCHDOG_MS = 60_000
GATES = """
import time

def tell() -> None:
    print("READY", flush=True)

def hang() -> None:
    tell()
    time.sleep(1_000_000)
"""
MOMENTS = {
    "the model is asked": "- code: tell()\n- {code: done(1), delay_ms: 1000000}\n",
    "code runs": "- code: |\n    tell()\n    while True: pass\n",
    "a gate is called": "- code: hang()\n",
    "children work": """\
by_intent:
  ^go$: [{code: "call_entity_batch(['child'] * 3)"}]
  ^child$: [{code: "call_entity('grandchild')"}]
  ^grandchild$: [{code: hang()}]
""",
}
AT_WORK = {"children work": 3}
"""Programs that say that they are ready at such a moment, where it is more than one."""


@pytest.fixture
def interrupted(place):
    """Runs a script, sends a signal once its programs say so, and gives what came of it."""

    def interrupted(moment: str, number: int):
        place.write(GATES, "gates.py")
        text = (place.path / place.spell(MOMENTS[moment])).read_text()
        ours = "{from: gates.py, name: tell}, {from: gates.py, name: hang}]"
        place.write(text.replace("echo]", ours), "spell.yaml")
        with place.started("run", "spell.yaml", "--out", "out") as process:
            ready = 0  # counted, for several programs may say it on one line
            while ready < AT_WORK.get(moment, 1):
                ready += process.stderr.readline().count("READY")
                assert process.poll() is None
            handles = [os.pidfd_open(pid) for pid in _descendants(process.pid)]
            process.send_signal(number)
            stdout, stderr = process.communicate()
        return process.returncode, stdout, stderr, handles

    return interrupted


def _descendants(pid: int) -> list[int]:
    """The processes below one, however deep."""
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *_descendants(child)]
    return found


def _wait_until_gone(handles: list[int]) -> None:
    for handle in handles:
        assert select.select([handle], [], [], WATCHDOG_MS / 1000)[0], "a process was left behind"
        os.close(handle)


@pytest.mark.kernel
@pytest.mark.parametrize("moment", MOMENTS)
def test_ctrl_c(place, interrupted, moment):
    """Ctrl-C ends a run whatever it is at: 130, no process left, what was done is on record."""
    code, stdout, stderr, handles = interrupted(moment, signal.SIGINT)
    assert (code, stdout) == (130, "")
    assert stderr.splitlines()[-1] == "circlet: interrupted; what was recorded is in out"
    assert "Traceback" not in stderr
    assert handles
    _wait_until_gone(handles)
    with Loom(place.path / "out", read_only=True) as loom:
        entities = list(loom.entities.values())
        assert {entity.outcome for entity in entities} == {"truncated"}
        assert entities[0].reason == "cancelled"
        assert entities[0].utterance_count == 1


@pytest.mark.kernel
def test_sigterm(interrupted):
    """SIGTERM ends a run in the same way."""
    code, _, stderr, handles = interrupted("code runs", signal.SIGTERM)
    assert code == 130
    assert stderr.endswith("circlet: interrupted; what was recorded is in out\n")
    _wait_until_gone(handles)


@pytest.mark.kernel
def test_an_interrupted_run_can_be_shown(place, interrupted):
    """What was recorded can be looked at, down to the children that were at work."""
    interrupted("children work", signal.SIGINT)
    shown = place.invoke("loom", "show", "out")
    assert shown.exit_code == 0
    assert "truncated: cancelled" in shown.stdout
    assert shown.stdout.count("truncated: parent_terminated") >= 2  # a child and its child


@pytest.mark.kernel
def test_sigkill_leaves_no_process(place, interrupted):
    """Even killed outright it leaves no process; the loom holds what had been recorded."""
    code, _, _, handles = interrupted("children work", signal.SIGKILL)
    assert code == -signal.SIGKILL
    _wait_until_gone(handles)
    with Loom(place.path / "out", read_only=True) as loom:
        assert loom.utterance_count >= 3


@pytest.mark.kernel
def test_exec_can_be_interrupted(place):
    """Ctrl-C ends ``exec`` too, and the program in it."""
    place.write("while True: pass", "program.py")
    with place.started("exec", "program.py") as process:
        while len(_descendants(process.pid)) < 3:
            assert process.poll() is None
        handles = [os.pidfd_open(pid) for pid in _descendants(process.pid)]
        process.send_signal(signal.SIGINT)
        _, stderr = process.communicate()
    assert process.returncode == 130
    assert "Traceback" not in stderr
    _wait_until_gone(handles)


LOADING = """
import builtins, signal
load = builtins.__import__
def interrupted(name, *args, **kwargs):
    if name.endswith("app"):
        signal.raise_signal(signal.SIGINT)
    return load(name, *args, **kwargs)
builtins.__import__ = interrupted
from circlet.runtime.cli import main
main()
"""


def test_ctrl_c_while_the_command_is_loaded():
    """Ctrl-C while its modules are being loaded ends a command without a traceback."""
    done = subprocess.run([sys.executable, "-c", LOADING], capture_output=True, text=True)
    assert (done.returncode, done.stdout, done.stderr) == (130, "", "")
