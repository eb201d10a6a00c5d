"""Verifiers: what judges a cast, and what is recorded of it."""

from __future__ import annotations

import json
import os
import shlex
import sys
import time
from functools import partial

import anyio
import pytest
from circlet import CircletError, Loom
from circlet.runtime.errors import LoomError, VerifierError
from circlet.runtime.loom import EndRecord, RewardRecord, Verdict
from circlet.sandbox import wire
from pydantic import BaseModel


@pytest.fixture
def done(story):
    """A loom with one entity that came to {"total": 42}."""
    story.entity("e")
    story.turn("e")
    story.turn("e")
    story.end("e", {"total": 42})
    return story.loom


def python(program: str) -> list[str]:
    """A command that runs a program."""
    return [sys.executable, "-c", program]


def is_right(result):
    """The total is 42.

    It is added up by hand.
    """
    return result["total"] == 42


# -- functions -----------------------------------------------------------------------------------


def test_a_function_judges_the_result(done):
    """LOOM-3: the verdict is recorded as the reward of the cast's last node."""
    verdict = done.judge("e", is_right)
    assert verdict == Verdict("The total is 42.", "is_right", True)
    assert done.turn("e.2").reward == 1.0
    assert done.turn("e.1").reward is None
    assert done.turn("e.2").rewards == [RewardRecord("e.2", 1.0, "is_right", verdict)]


@pytest.mark.parametrize(
    ("answer", "value", "passed"),
    [(True, 1.0, True), (False, 0.0, False), (0.3, 0.3, True), (-2, -2.0, False), (0, 0.0, False)],
)
def test_what_a_function_answers(done, answer, value, passed):
    """LOOM-3: True and False are 1 and 0; a number is the reward, and passes above 0."""
    assert done.judge("e", lambda result: answer).passed is passed
    assert done.turn("e.2").reward == value


def test_who_judges_and_by_what(done):
    """LOOM-3: criterion and judge can be named; else they are the verifier's."""
    verdict = done.judge("e", is_right, criterion="adds up", by="nightly")
    assert verdict.criterion == "adds up"
    assert done.turn("e.2").rewards[-1].by == "nightly"


def test_the_newest_verdict_counts(done):
    """LOOM-3: all verdicts stay on record."""
    done.judge("e", is_right)
    done.judge("e", lambda result: -1)
    done.annotate_reward("e.2", 0.5)
    node = done.turn("e.2")
    assert node.reward == 0.5
    assert [reward.value for reward in node.rewards] == [1.0, -1.0, 0.5]
    assert [reward.verdict is None for reward in node.rewards] == [False, False, True]


def fails(result):
    raise KeyError("the file of answers")


async def waits(result):
    return True


class Checker:
    def __call__(self, result):
        return "yes"


@pytest.mark.parametrize(
    ("verifier", "message"),
    [
        (fails, "the verifier fails raised KeyError: 'the file of answers'; nothing is recorded"),
        (waits, "the verifier waits is async: judge with ajudge"),
        (lambda result: waits(result), "is async: judge with ajudge"),
        (Checker(), "the verifier Checker answered with 'yes': it must be True, False or a finite"),
        (lambda result: None, "answered with None"),
        (lambda result: 10**400, "True, False or a finite number"),
        (lambda result: sys.exit("over"), "raised SystemExit: over; nothing is recorded"),
        (lambda result: float("nan"), "answered with nan"),
    ],
)
def test_a_function_that_does_not_judge(done, verifier, message):
    """LOOM-3: an error names the verifier, and nothing is recorded."""
    with pytest.raises(VerifierError) as caught:
        done.judge("e", verifier)
    assert message in str(caught.value)
    assert done.turn("e.2").rewards == []
    assert issubclass(VerifierError, CircletError)


def test_no_result_is_no_pass(story):
    """LOOM-7: a cast that was truncated has failed; no function is asked about a result."""
    story.entity("e")
    story.turn("e")
    story.end("e", outcome="truncated", reason="max_turns")
    assert story.loom.judge("e", fails).passed is False
    assert story.loom.turn("e.1").reward == 0.0


def test_none_is_a_result(story):
    """CIRCLE-8: done(None) is told from no result at all."""
    story.entity("e")
    story.turn("e")
    story.end("e")
    assert story.loom.judge("e", lambda result: True).passed is False
    story.entity("f")
    story.turn("f")
    story.loom.append(EndRecord("f", 1, "f.1", "terminated", "done", wire.dumps(None), "None"))
    assert story.loom.judge("f", lambda result: result is None).passed is True


# -- what is judged ------------------------------------------------------------------------------


def test_a_cast_of_a_lasting_entity(code):
    """ENTITY-5: a cast is judged where it ended, also when others came after it."""
    spell = code([{"code": "done(1)"}, {"code": "done(2)"}])
    with spell.summon() as entity:
        first, second = entity.send("one"), entity.send("two")
    loom = first.loom
    assert (first.number, second.number) == (1, 2)
    assert loom.judge(first, lambda result: result == 1).passed
    assert [turn.reward for turn in loom.turns] == [1.0, None]
    loom.judge(second.entity_id, lambda result: result * 10)
    assert [turn.reward for turn in loom.turns] == [1.0, 20.0]
    loom.judge(loom.turns[0].id, lambda result: result == 2)
    loom.judge(second.thread, lambda result: 7)
    assert [turn.reward for turn in loom.turns] == [0.0, 7.0]


class Answer(BaseModel):
    total: int


def test_a_result_with_a_type(code):
    """CIRCLE-8: a cast's result is judged as the circle's type has it."""
    cast = code([{"code": "done({'total': 42})"}], result=Answer).cast("go")
    assert cast.loom.judge(cast, lambda result: result.total == 42).passed


def test_what_can_t_be_judged(story):
    """LOOM-3: what is not there, not over or without a turn is told of by name."""
    loom = story.loom
    story.entity("running")
    story.turn("running")
    story.entity("over")
    story.turn("over")
    story.turn("over")
    story.end("over", 1)
    story.entity("silent")
    story.end("silent", outcome="failed", reason="ProviderError: gone")
    for of, message in (
        ("nobody", "no turn 'nobody'"),
        ("running", "'running' is still at work"),
        ("over.1", "no cast ended at the turn 'over.1'"),
        ("silent", "the cast silent/1 came to no turn .failed: ProviderError: gone."),
        (loom.thread("silent"), "the thread has no turns"),
    ):
        with pytest.raises(LoomError, match=message):
            loom.judge(of, lambda result: True)


def test_a_cast_of_another_loom(code):
    """LOOM-3: a cast is judged in its own loom."""
    cast = code([{"code": "done(1)"}]).cast("go")
    with pytest.raises(LoomError, match="no entity"):
        Loom().judge(cast, lambda result: True)


# -- commands ------------------------------------------------------------------------------------


def test_a_command_judges_by_its_exit_code(done):
    """LOOM-3: exit code 0 passes, any other does not; the code is on record."""
    reads = "import json, sys; sys.exit(json.load(sys.stdin)['total'] != {})"
    verdict = done.judge("e", python(reads.format(42)))
    assert (verdict.passed, verdict.exit_code) == (True, 0)
    assert verdict.oracle == verdict.criterion == shlex.join(python(reads.format(42)))
    verdict = done.judge("e", shlex.join(python(reads.format(41))), criterion="total")
    assert (verdict.passed, verdict.exit_code, verdict.criterion) == (False, 1, "total")
    assert [reward.value for reward in done.turn("e.2").rewards] == [1.0, 0.0]


@pytest.mark.parametrize(
    ("program", "value", "passed"),
    [
        ("print('checked'); print(0.25)", 0.25, True),
        ("print(-3); raise SystemExit(4)", -3.0, False),
        ("print('1 of 2 tests')", 1.0, True),
        ("print(2); print('done')", 1.0, True),
        ("print('x' * 5000 + '1')", 1.0, True),
        ("print('x\\n' * 5000 + '0.75')", 0.75, True),
        ("print('9' * 5000)", 1.0, True),
        ("print('1_0')", 1.0, True),
        ("pass", 1.0, True),
    ],
)
def test_the_last_line_is_the_reward(done, program, value, passed):
    """LOOM-3: a last line that is a number is the reward; else 1 or 0 stands for the exit code."""
    assert done.judge("e", python(program)).passed is passed
    assert done.turn("e.2").reward == value


def test_what_a_command_finds(story, tmp_path, tell):
    """LOOM-7: a command is told how the cast ended, and is run also where it has no result."""
    with Loom(tmp_path / "run") as loom:
        story = tell(loom)
        story.entity("e")
        story.turn("e")
        story.end("e", outcome="truncated", reason="max_turns")
        found = tmp_path / "found"
        program = (
            "import json, os, sys; from pathlib import Path; "
            f"Path({str(found)!r}).write_text(json.dumps([json.load(sys.stdin), dict(os.environ)]))"
        )
        assert loom.judge("e", python(program)).passed
    given, variables = json.loads(found.read_text())
    assert given is None
    assert {name: text for name, text in variables.items() if name.startswith("CIRCLET_")} == {
        "CIRCLET_ENTITY": "e",
        "CIRCLET_CAST": "1",
        "CIRCLET_NODE": "e.1",
        "CIRCLET_INTENT": "intent of e",
        "CIRCLET_OUTCOME": "truncated",
        "CIRCLET_REASON": "max_turns",
        "CIRCLET_LOOM": str(tmp_path / "run"),
    }


def test_an_intent_that_no_environment_holds(code):
    """PROD-8: an intent of any length and any characters is handed on as far as it goes."""
    cast = code([{"code": "done(1)"}]).cast("nul \0 half \ud800 " + "x" * 300_000)
    looks = "import os, sys; sys.exit(not 9_000 < len(os.environ['CIRCLET_INTENT']) < 11_000)"
    assert cast.loom.judge(cast, python(looks)).passed


def test_no_shell_reads_a_command(done, tmp_path):
    """PROD-8: a command line is split, and nothing in it is carried out by a shell."""
    touched = tmp_path / "touched"
    done.judge("e", f"{shlex.quote(sys.executable)} -c pass ; touch {touched}")
    assert not touched.exists()


def test_a_type_that_json_lacks(story):
    """CIRCLE-8: a command gets values that JSON lacks as the exports write them."""
    story.entity("e")
    story.turn("e")
    story.end("e", (b"x", {1: 2}))
    told = [{"$bytes": "eA=="}, {"$map": [[1, 2]]}]
    reads = f"import json, sys; sys.exit(json.load(sys.stdin) != {told})"
    assert story.loom.judge("e", python(reads)).passed


@pytest.mark.parametrize(
    ("command", "message"),
    [
        ("no-such-program --now", "no-such-program --now can't be started: No such file"),
        ([], "a verifier is a function, a list of texts or a command line, not []"),
        ("", "not ''"),
        ("'open", "is no command: No closing quotation"),
        ([sys.executable, 3], "a verifier is a function"),
        (3, "a verifier is a function, a list of texts or a command line, not 3"),
        (python("import os; os.kill(os.getpid(), 9)"), "was killed by signal 9 before it had"),
        (python("print('inf')"), "printed inf: a reward is a finite number"),
    ],
)
def test_a_command_that_does_not_judge(done, command, message):
    """LOOM-3: what can't be run, or prints no reward, is an error, and nothing is recorded."""
    with pytest.raises(VerifierError) as caught:
        done.judge("e", command)
    assert message in str(caught.value)
    assert done.turn("e.2").rewards == []


@pytest.mark.posix
def test_a_command_that_takes_too_long(done, tmp_path):
    """LOOM-3: it is stopped with all that it started, and has not judged."""
    pids = tmp_path / "pids"
    program = (
        "import os, subprocess, sys, time; "
        "child = subprocess.Popen([sys.executable, '-c', 'import time; time.sleep(600)']); "
        f"open({str(pids)!r}, 'w').write(str(child.pid)); time.sleep(600)"
    )
    with pytest.raises(VerifierError, match=r"took longer than 2 s and was stopped; nothing is"):
        done.judge("e", python(program), timeout_s=2)
    assert done.turn("e.2").rewards == []
    pid, deadline = int(pids.read_text()), time.monotonic() + 30
    while _is_running(pid) and time.monotonic() < deadline:
        os.sched_yield()
    assert not _is_running(pid)


def _is_running(pid: int) -> bool:
    """Whether a process runs; one that has ended and was not waited for does not."""
    try:
        os.kill(pid, 0)
        with open(f"/proc/{pid}/stat") as stat:
            return stat.read().rpartition(")")[2].split()[0] != "Z"
    except (OSError, ValueError):
        return False


@pytest.mark.parametrize("timeout_s", [0, -1, float("nan")])
def test_a_time_limit_that_is_none(done, timeout_s):
    """LOOM-3: a limit is above 0."""
    with pytest.raises(VerifierError, match="timeout_s must be a number above 0"):
        done.judge("e", is_right, timeout_s=timeout_s)


# -- in async code -------------------------------------------------------------------------------


def test_async_verifiers(done):
    """LOOM-3: ajudge awaits a function that is async, and takes all others too."""
    assert anyio.run(done.ajudge, "e", waits).passed
    assert anyio.run(done.ajudge, "e", is_right).passed
    assert anyio.run(done.ajudge, "e", lambda result: waits(result)).passed
    assert anyio.run(done.ajudge, "e", python("raise SystemExit(3)")).exit_code == 3
    assert [reward.value for reward in done.turn("e.2").rewards] == [1.0, 1.0, 1.0, 0.0]


@pytest.mark.parametrize("of", [5, None, [], object])
def test_what_is_no_cast(done, of):
    """LOOM-3: what is no cast is an error that says what is one."""
    with pytest.raises(
        LoomError, match="a cast, a thread, or the id of an entity or a node can be"
    ):
        done.judge(of, lambda result: True)


async def sleeps(result):
    await anyio.sleep(600)


async def raises(result):
    raise ValueError("no")


def test_async_verifiers_that_do_not_judge(done):
    """LOOM-3: an async one that fails or takes too long has not judged."""
    with pytest.raises(VerifierError, match=r"sleeps took longer than 0.01 s"):
        anyio.run(partial(done.ajudge, "e", sleeps, timeout_s=0.01))
    for verifier in (raises, fails):
        with pytest.raises(VerifierError, match=f"{verifier.__name__} raised"):
            anyio.run(done.ajudge, "e", verifier)
    assert done.turn("e.2").rewards == []
