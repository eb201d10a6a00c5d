"""``circlet acp``: a spell served over standard input and output, to the protocol's own client."""

from __future__ import annotations

import asyncio
import json
import os
import select
import signal
import subprocess
import threading
from contextlib import asynccontextmanager, contextmanager

import anyio
import pytest
from acp import PROTOCOL_VERSION, Client, spawn_agent_process, text_block
from circlet import Loom
from circlet.runtime.acp.loose import MAX_LINE

from .conftest import COMMAND

WATCHDOG_S = 60
GATES = """
import os, subprocess, sys, time

def shout() -> None:
    print("PRINTED by print")
    os.write(1, b"PRINTED by write\\n")
    subprocess.run(["echo", "PRINTED by a process"])
    sys.stdin.read()

def hang() -> None:
    print("READY", flush=True)
    time.sleep(1_000_000)

print("PRINTED while loading")
"""
TREE = """\
by_intent:
  ^tree$: [{code: "call_entity_batch(['child'] * 2)"}, {code: done('on')}]
  ^child$: [{code: "call_entity('grandchild')"}]
  ^grandchild$: [{code: hang()}]
  ^hi$: [{thinking: hm, code: "done('hi')"}, {code: "done('hi again')"}]
  ^shout$: [{code: shout()}, {code: "done('heard')"}]
"""
NEW = {"id": 2, "method": "session/new"}


def prompt(said, number=3):
    return {"id": number, "method": "session/prompt", "params": {"prompt": said}}


@pytest.fixture
def served(place):
    """A spell with gates that print and hang."""
    place.write(GATES, "gates.py")
    text = (place.path / place.spell(TREE)).read_text()
    ours = "{from: gates.py, name: shout}, {from: gates.py, name: hang}]"
    place.write(text.replace("echo]", ours), "spell.yaml")
    return place


class Person(Client):
    """A client that keeps what it is shown of each session."""

    def __init__(self):
        self.updates = {}
        self._at_work = asyncio.Condition()

    async def session_update(self, session_id, update, **_):
        async with self._at_work:
            self.updates.setdefault(session_id, []).append(update)
            self._at_work.notify_all()

    async def request_permission(self, *_, **__):
        raise AssertionError("nothing here asks")

    async def wait_for_calls(self, session_id, title, count):
        """Wait until so many calls of one title were begun."""

        def begun():
            shown = self.updates.get(session_id, [])
            return sum(title in (getattr(one, "title", None) or "") for one in shown) >= count

        async with self._at_work:
            await self._at_work.wait_for(begun)


@asynccontextmanager
async def connected(place):
    """The protocol's own client, connected to ``circlet acp``."""
    person = Person()
    with anyio.fail_after(WATCHDOG_S):
        async with spawn_agent_process(
            person, str(COMMAND), "acp", "spell.yaml", env=place.variables(), cwd=place.path
        ) as (agent, process):
            await agent.initialize(protocol_version=PROTOCOL_VERSION)
            yield person, agent, process


async def _open(agent):
    return (await agent.new_session(cwd="/", mcp_servers=[])).session_id


def test_a_client(served):
    """PROD-6, PROD-7: a client opens a session, prompts it twice, and is shown the work."""

    async def main():
        async with connected(served) as (person, agent, _):
            session = await _open(agent)
            answers = [await agent.prompt(session, [text_block("hi")]) for _ in range(2)]
            return answers, person.updates[session]

    answers, updates = asyncio.run(main())
    assert [answer.stop_reason for answer in answers] == ["end_turn"] * 2
    told = [answer.field_meta["circlet"]["answer"] for answer in answers]
    assert told == ["hi", "hi again"]
    assert [update.session_update for update in updates] == [
        "agent_thought_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]


def test_two_sessions_and_a_cancel(served):
    """PROD-6, PROD-7: a cancel in the middle of a grandchild's work leaves the other session be."""

    async def main():
        async with connected(served) as (person, agent, _):
            one, other = await _open(agent), await _open(agent)
            at_work = asyncio.create_task(agent.prompt(one, [text_block("tree")]))
            await person.wait_for_calls(one, "hang", 2)
            meanwhile = await agent.prompt(other, [text_block("hi")])
            await agent.cancel(one)
            cancelled = await at_work
            return meanwhile, cancelled, await agent.prompt(one, [text_block("hi")])

    meanwhile, cancelled, afterwards = asyncio.run(main())
    assert meanwhile.stop_reason == "end_turn"
    assert cancelled.stop_reason == "cancelled"
    assert afterwards.field_meta["circlet"]["answer"] == "on"


@contextmanager
def started(place, *options):
    """The command while it runs, with its input open; killed should it hang."""
    process = subprocess.Popen(
        [COMMAND, "acp", "spell.yaml", *options],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=place.path,
        env=place.variables(),
        start_new_session=True,
    )
    watchdog = threading.Timer(WATCHDOG_S, process.kill)
    watchdog.start()
    try:
        with process:
            yield process
    finally:
        watchdog.cancel()
        process.kill()


def _say(process, *messages):
    for message in messages:
        line = message if isinstance(message, bytes) else json.dumps(message).encode()
        process.stdin.write(line + b"\n")
    process.stdin.flush()


def _answer(process, number):
    """The response to a request, and every line on the way."""
    lines = []
    while not lines or "method" in lines[-1] or lines[-1]["id"] != number:
        lines.append(json.loads(process.stdout.readline()))
    return lines[-1], lines


def test_stdout_bears_the_protocol_alone(served):
    """PROD-6: whatever a spell prints, however it does, goes to stderr; its stdin is empty."""
    with started(served) as process:
        _say(process, NEW, prompt("shout"))
        answer, _ = _answer(process, 3)  # every line was JSON
        stdout, stderr = process.communicate()
    assert answer["result"]["_meta"]["circlet"]["answer"] == "heard"
    assert (process.returncode, stdout) == (0, b"")
    for how in ("by print", "by write", "by a process", "while loading"):
        assert f"PRINTED {how}".encode() in stderr


def test_garbage(served):
    """PROD-6: a line of garbage is a parse error, and the server lives."""
    with started(served) as process:
        _say(process, b"\x00garbage", NEW)
        _, (error, opened) = _answer(process, 2)
    assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert "sessionId" in opened["result"]


def test_a_line_that_is_too_long(served):
    """PROD-6: a line longer than the limit is not kept in memory; the error says the limit."""
    with started(served) as process:
        _say(process, b"x" * (MAX_LINE + 200_000), NEW)
        _, (error, opened) = _answer(process, 2)
    assert error["error"]["message"] == "the line is longer than 67,108,864 bytes"
    assert "sessionId" in opened["result"]


def _at_work(process):
    """Bring the tree of ``TREE`` to where its grandchildren hang; gives handles on all workers."""
    _say(process, NEW, prompt("tree"))
    ready = 0
    while ready < 2:
        ready += process.stderr.readline().count(b"READY")
        assert process.poll() is None
    return [os.pidfd_open(pid) for pid in _descendants(process.pid)]


def _descendants(pid):
    found = []
    for task in os.listdir(f"/proc/{pid}/task"):
        with open(f"/proc/{pid}/task/{task}/children") as children:
            for child in map(int, children.read().split()):
                found += [child, *_descendants(child)]
    return found


def _wait_until_gone(handles):
    assert handles
    for handle in handles:
        assert select.select([handle], [], [], WATCHDOG_S)[0], "a process was left behind"
        os.close(handle)


@pytest.mark.kernel
def test_the_end_of_the_input(served):
    """PROD-9: the end of its input ends all work, on record; the prompt is answered."""
    with started(served, "--out", "out") as process:
        handles = _at_work(process)
        process.stdin.close()
        answer, _ = _answer(process, 3)
        assert process.wait() == 0
        assert b"Traceback" not in process.stderr.read()
    assert answer["result"]["stopReason"] == "cancelled"
    _wait_until_gone(handles)
    with Loom(served.path / "out", read_only=True) as loom:
        assert {entity.outcome for entity in loom.entities.values()} == {"truncated"}
        assert len(loom.entities) == 5


@pytest.mark.kernel
@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_signals(served, number):
    """PROD-9: SIGINT and SIGTERM end it in the same way, with the code of interrupted commands."""
    with started(served) as process:
        handles = _at_work(process)
        process.send_signal(number)
        answer, _ = _answer(process, 3)
        assert process.wait() == 130
        stderr = process.stderr.read()
    assert answer["result"]["stopReason"] == "cancelled"
    assert stderr.endswith(b"circlet: interrupted\n")
    assert b"Traceback" not in stderr
    _wait_until_gone(handles)


@pytest.mark.kernel
def test_a_client_that_reads_no_more(served):
    """PROD-9: a server whose client is gone ends, whatever it is at."""
    with started(served) as process:
        handles = _at_work(process)
        process.stdout.close()
        _say(process, {"id": 9, "method": "initialize"})
        assert process.wait() == 0
    _wait_until_gone(handles)


def test_input_from_a_file(served):
    """PROD-9: the input may be a file: what can be answered by its end is answered."""
    messages = [{"id": 1, "method": "initialize"}, NEW]
    served.write("\n".join(map(json.dumps, messages)), "input")
    with (served.path / "input").open() as stream:
        done = subprocess.run(
            [COMMAND, "acp", "spell.yaml"],
            stdin=stream,
            capture_output=True,
            cwd=served.path,
            env=served.variables(),
            timeout=WATCHDOG_S,
        )
    assert done.returncode == 0
    assert [json.loads(line)["id"] for line in done.stdout.splitlines()] == [1, 2]
    assert not (served.path / "runs").exists()  # nothing is kept that nobody asked for


# -- before it serves ------------------------------------------------------------------------------


def test_check(served):
    """PROD-9: ``--check`` says what it found, asks no model, and ends with 0."""
    done = served.installed("acp", "spell.yaml", "--check")
    assert (done.returncode, done.stderr) == (0, "PRINTED while loading\n")
    lines = dict(line.split(":", 1) for line in done.stdout.splitlines())
    assert {name: value.strip() for name, value in lines.items() if name != "turn"} == {
        "spell": "spell.yaml",
        "model": "scripted:script.yaml (not asked)",
        "medium": "code",
        "gates": "done, call_entity, call_entity_batch, shout, hang",
        "wards": "max_turns 4, max_depth 2, max_batch 50, max_concurrent 8",
        "protocol": "ACP version 1",
        "health": "well",
    }
    assert lines["turn"].strip().startswith("carried out in ")


def test_a_check_that_fails(place):
    """PROD-9: ``--check`` names what does not work, and ends with 1."""
    spell = place.spell("[]")
    text = (place.path / spell).read_text().replace("{max_turns: 4}", "{timeout_s: 0.0001}")
    place.write(text, spell)
    done = place.invoke("acp", spell, "--check")
    assert done.exit_code == 1
    assert done.stderr == "circlet: the turn ended with timeout_s and the answer None\n"
    assert "health" not in done.stdout


@pytest.mark.parametrize("options", [(), ("--check",)])
def test_a_spell_that_is_wrong(place, options):
    """A spell that can't be read is a usage error, told on stderr; nothing is served."""
    place.write("llm: 7\n", "spell.yaml")
    done = place.installed("acp", "spell.yaml", *options)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "circlet: spell.yaml: cantrip requires a circle\n"


def test_help(place):
    """PROD-9: ``--help`` says how the server lives."""
    text = " ".join(place.installed("acp", "--help").stdout.split())
    assert "lives as long as its standard input" in text
    assert "no process is left" in text
    assert "Nothing is kept on disk unless --out" in text
