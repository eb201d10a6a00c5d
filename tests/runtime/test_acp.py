"""The agent: what a client of the Agent Client Protocol can ask of a spell, and is shown."""

from __future__ import annotations

import base64
import json
import os
from contextlib import asynccontextmanager
from functools import partial
from pathlib import Path

import anyio
import pytest
from circlet import LLM, Circle, ScriptedLLM, gate
from circlet.runtime import portal
from circlet.runtime.acp import META, exchange, serve
from circlet.runtime.acp.check import check
from circlet.runtime.acp.loose import MAX_LINE
from circlet.runtime.errors import RuntimeFault
from circlet.runtime.loom import EndRecord, EntityRecord

PATIENCE = 30
"""Seconds after which a test that hangs is given up."""
HELLO = {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}}
NEW = {"id": 2, "method": "session/new", "params": {}}
TREE = {
    "root": [{"code": "call_entity_batch(['mid', 'mid'])"}],
    "mid": [{"code": "call_entity_batch(['leaf', 'leaf'])"}],
    "leaf": [{"code": "hang()"}],
    "again": [{"code": "done('again')"}],
}


def ask(spell, *messages):
    """The agent's responses to messages, a session being open."""
    responses = portal.run(partial(exchange, spell, [HELLO, NEW, *messages]), "exchange(...)")
    assert all("result" in one for one in responses[:2])
    return responses[2:]


def prompt(said, number=3, **params):
    return {"id": number, "method": "session/prompt", "params": {"prompt": said, **params}}


def users(request):
    return [message.content for message in request.messages if message.role == "user"]


class Wire:
    """A client's end of a connection that keeps all that it is sent."""

    def __init__(self, to_agent):
        self._to_agent = to_agent
        self._answered: dict[object, anyio.Event] = {}
        self.seen: list[dict] = []

    async def write(self, line):
        message = json.loads(line)
        self.seen.append(message)
        if "method" not in message:
            self._answered.setdefault(message["id"], anyio.Event()).set()

    def send(self, *messages):
        for message in messages:
            line = message if isinstance(message, bytes) else json.dumps(message).encode()
            self._to_agent.send_nowait(line)

    def hang_up(self):
        self._to_agent.close()

    async def answer(self, number):
        """The response to a request, once it is there."""
        await self._answered.setdefault(number, anyio.Event()).wait()
        return next(one for one in self.seen if "method" not in one and one["id"] == number)

    async def open(self, number):
        """Open a session; gives its id."""
        self.send({"id": number, "method": "session/new"})
        return (await self.answer(number))["result"]["sessionId"]

    @property
    def updates(self):
        return [one["params"]["update"] for one in self.seen if "method" in one]


@asynccontextmanager
async def connected(spell):
    """A client that is connected to a spell's agent; it hangs up at the end."""
    to_agent, lines = anyio.create_memory_object_stream[bytes](float("inf"))
    wire = Wire(to_agent)
    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            group.start_soon(serve, spell, lines, wire.write)
            yield wire
            wire.hang_up()


def watch(spell, said="go"):
    """The updates of one prompt."""

    async def main():
        async with connected(spell) as wire:
            wire.send(NEW, prompt(said))
            await wire.answer(3)
            return wire.updates

    return anyio.run(main)


class Hang:
    """A gate that never answers, and tells when enough have called it."""

    def __init__(self, wanted):
        self.inside = 0
        self.full = anyio.Event()

        @gate(timeout_s=None)
        async def hang() -> None:
            """Never answer."""
            self.inside += 1
            if self.inside == wanted:
                self.full.set()
            await anyio.sleep_forever()

        self.gate = hang


# -- the flow ----------------------------------------------------------------------------------


def test_initialize(chat):
    """PROD-6: the agent says its version of the protocol, what it can do, and who it is."""
    (response,) = portal.run(partial(exchange, chat([]), [HELLO]), "exchange(...)")
    result = response["result"]
    assert result["protocolVersion"] == 1
    assert result["agentCapabilities"]["promptCapabilities"] == {"embeddedContext": True}
    assert "close" in result["agentCapabilities"]["sessionCapabilities"]
    assert result["agentInfo"]["name"] == "circlet"


@pytest.mark.parametrize(
    "params",
    [
        {"prompt": "say hi"},
        {"content": "say hi"},
        {"content": [{"type": "text", "text": "say hi"}]},
        {"prompt": {"type": "text", "text": "say hi"}},
        {"prompt": {"role": "user", "content": "say hi"}},
        {"prompt": [{"type": "text", "text": "say"}, {"type": "text", "text": "hi"}]},
        {"prompt": ["say ", "hi"]},
    ],
    ids=["text", "content", "blocks", "block", "message", "two blocks", "texts"],
)
def test_prompts(chat, params):
    """PROD-6: a prompt is a text, content or blocks; all come to the same intent."""
    spell = chat([{"content": "hi"}])
    (response,) = ask(spell, {"id": 3, "method": "session/prompt", "params": params})
    assert response["result"]["stopReason"] == "end_turn"
    assert users(spell.llm.requests[0]) == ["say hi"]


def test_the_answer_is_in_the_response(code):
    """PROD-6: a response bears the answer with its type, and how the work ended."""
    spell = code([{"code": "done({'n': 1})"}, {"code": "done(None)"}])
    first, second = ask(spell, prompt("go"), prompt("go", 4))
    told = first["result"]["_meta"][META]
    assert (told["answer"], told["reason"], told["turns"]) == ({"n": 1}, "done", 1)
    assert told["terminated"]
    assert not told["truncated"]
    assert told["entityId"] in spell.loom.entities
    assert second["result"]["_meta"][META]["answer"] is None


RESOURCE = {"type": "resource", "resource": {"uri": "file:///a.txt", "text": "contents"}}
LINK = {"type": "resource_link", "name": "b", "uri": "file:///b.txt"}
BLOB = {
    "type": "resource",
    "resource": {"uri": "file:///c", "blob": base64.b64encode(b"\0\1").decode()},
}


def test_resources(code):
    """PROD-6: what is embedded is the context, by URI; a link is told of and nothing is fetched."""
    spell = code([{"code": "done(context)"}])
    blocks = ["Compare", RESOURCE, "with", LINK, BLOB, RESOURCE]
    (response,) = ask(spell, prompt(blocks))
    assert response["result"]["_meta"][META]["answer"] == {
        "file:///a.txt": "contents",
        "file:///c": {"$bytes": "AAE="},
        "file:///a.txt (2)": "contents",
    }
    intent = spell.loom.entities[response["result"]["_meta"][META]["entityId"]].intent
    assert intent == ("Compare file:///a.txt with [b](file:///b.txt) file:///c file:///a.txt (2)")


def test_a_context_lasts(code):
    """ENTITY-5: a prompt that embeds nothing leaves the context of the one before."""
    spell = code([{"code": "done(1)"}, {"code": "done(list(context))"}])
    _, second = ask(spell, prompt(["look", RESOURCE]), prompt("again", 4))
    assert second["result"]["_meta"][META]["answer"] == ["file:///a.txt"]


@pytest.mark.parametrize(
    ("block", "wrong"),
    [
        (
            {"type": "image", "data": "", "mimeType": "image/png"},
            "block 2 of the prompt is of type",
        ),
        ({"type": "audio", "data": "", "mimeType": "audio/wav"}, "audio; only text and resources"),
        ({"type": "resource", "resource": {"uri": "x", "blob": "?"}}, "no base64"),
        ({"type": "dance"}, "session/prompt: prompt"),
        (7, "session/prompt: prompt"),
    ],
    ids=["image", "audio", "blob", "unknown", "number"],
)
def test_what_no_prompt_can_hold(chat, block, wrong):
    """PROD-6: a block that can't be taken is refused by its number; no model is asked."""
    spell = chat([])
    (response,) = ask(spell, prompt(["look", block]))
    assert response["error"]["code"] == -32602
    assert wrong in response["error"]["message"]
    assert not spell.llm.requests


@pytest.mark.parametrize("said", ["", " ", []])
def test_an_empty_prompt(chat, said):
    """INTENT-1: a prompt without an intent is refused, and the session lives."""
    spell = chat([{"content": "hi"}])
    refused, taken = ask(spell, prompt(said), prompt("now", 4))
    assert refused["error"] == {"code": -32602, "message": "intent is required", "data": None}
    assert taken["result"]["stopReason"] == "end_turn"


ECHO = {"tool_calls": [{"gate": "echo", "args": {"text": "a"}}]}


@pytest.mark.parametrize(
    ("ward", "stop"),
    [
        ({"max_turns": 1}, "max_turn_requests"),
        ({"max_errors_in_a_row": 1}, "max_turn_requests"),
        ({"timeout_s": 0.01}, "max_turn_requests"),
        ({"max_tokens": 5}, "max_tokens"),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else value,
)
def test_stop_reasons(chat, ward, stop):
    """LOOP-4: a ward that truncates is a stop reason; its name and the summary are told too."""
    replies = [ECHO, {"tool_calls": [{"gate": "done"}]}, {"content": "late", "delay_ms": 60_000}]
    if "max_errors_in_a_row" in ward:
        replies = replies[1:]
    model = ScriptedLLM(replies, usage={"prompt_tokens": 6})
    spell = chat(model, "echo", wards=[{"max_turns": 9}, ward])
    if "timeout_s" in ward:
        spell = chat(ScriptedLLM(replies[2:]), wards=[ward])
    (response,) = ask(spell, prompt("go"))
    (name,) = ward
    told = response["result"]["_meta"][META]
    assert (response["result"]["stopReason"], told["reason"]) == (stop, name)
    assert told["summary"].startswith(f"Stopped by {name}")
    assert told["truncated"]


def test_an_error(chat):
    """PROD-6: work that fails is an error that says what failed, without secrets; and then on."""
    said = "bad key sk-test-DEADBEEF0123456789"
    spell = chat([{"error": {"status": 401, "message": said}}, {"content": "fine"}])
    failed, fine = ask(spell, prompt("go"), prompt("go on", 4))
    assert failed["error"]["code"] == -32603
    assert "scripted answered 401: bad key" in failed["error"]["message"]
    assert "DEADBEEF" not in failed["error"]["message"]
    assert failed["error"]["data"][META]["error"] == "ProviderError"
    assert fine["result"]["_meta"][META]["answer"] == "fine"


# -- sessions ----------------------------------------------------------------------------------


def test_a_session_is_one_entity(chat):
    """PROD-7, ENTITY-5: a later prompt goes to the same entity, which has the earlier ones."""
    spell = chat([{"content": "first"}, {"content": "second"}])
    ask(spell, prompt("hello"), prompt("what did I say?", 4))
    contents = [message.content for message in spell.llm.requests[1].messages]
    assert contents == ["hello", "first", "what did I say?"]
    assert len(spell.loom.entities) == 1


def test_the_sandbox_of_a_session_lasts(code):
    """PROD-7, MEDIUM-3: variables outlive a prompt."""
    spell = code([{"code": "n = 41\ndone(n)"}, {"code": "done(n + 1)"}])
    assert ask(spell, prompt("a"), prompt("b", 4))[1]["result"]["_meta"][META]["answer"] == 42


def test_sessions_are_apart(code):
    """ENTITY-6: two sessions are two entities that share nothing."""
    spell = code([{"code": "n = 1\ndone(n)"}, {"code": "done('n' in globals())"}])

    async def main():
        async with connected(spell) as wire:
            one, other = await wire.open(1), await wire.open(2)
            wire.send(prompt("a", 3, sessionId=one))
            await wire.answer(3)
            wire.send(prompt("b", 4, sessionId=other))
            return one, other, await wire.answer(4)

    one, other, answer = anyio.run(main)
    assert answer["result"]["_meta"][META]["answer"] is False
    assert list(spell.loom.entities) == [one, other]


def test_sessions_at_once(code):
    """PROD-7: sessions work side by side; one at work takes no second prompt, and says so."""

    async def main():
        hang = Hang(2)
        spell = code([{"code": "hang()"}, {"code": "hang()"}], hang.gate)
        async with connected(spell) as wire:
            one, other = await wire.open(1), await wire.open(2)
            wire.send(prompt("a", 3, sessionId=one), prompt("b", 4, sessionId=other))
            await hang.full.wait()
            wire.send(prompt("c", 5, sessionId=one))
            refused = await wire.answer(5)
            wire.send({"method": "session/cancel", "params": {"sessionId": one}})
            cancelled = await wire.answer(3)
            assert not any(message.get("id") == 4 for message in wire.seen)
        return one, refused, cancelled, await wire.answer(4)

    one, refused, cancelled, at_the_end = anyio.run(main)
    assert refused["error"]["code"] == -32602
    assert f"session {one} is at work on another prompt" in refused["error"]["message"]
    assert cancelled["result"]["stopReason"] == "cancelled"
    assert at_the_end["result"]["stopReason"] == "cancelled"


def test_cancel_reaches_the_last_grandchild(deep):
    """PROD-6, COMP-9: cancel stops the whole tree, on record, and the session can go on."""

    async def main():
        hang = Hang(4)
        spell = deep(TREE, hang.gate, wards=[{"max_turns": 10}, {"max_depth": 2}])
        async with connected(spell) as wire:
            wire.send(NEW, prompt("root"))
            await hang.full.wait()
            wire.send({"method": "session/cancel"})
            answer = await wire.answer(3)
            shown = len(wire.updates)
            queries = len(spell.llm.requests)
            wire.send(prompt("again", 4))
            await wire.answer(4)
            return spell.loom, answer, wire.updates[:shown], queries

    loom, answer, updates, queries = anyio.run(main)
    assert answer["result"]["stopReason"] == "cancelled"
    assert answer["result"]["_meta"][META]["reason"] == "cancelled"
    assert queries == 7
    records = [record for _, _, record in loom.records()]
    born = [record.id for record in records if isinstance(record, EntityRecord)]
    ends = {record.entity: record for record in records if isinstance(record, EndRecord)}
    assert len(born) == 7
    assert {ends[one].reason for one in born[1:]} == {"parent_terminated"}
    status = {one["toolCallId"]: one["status"] for one in updates if "toolCallId" in one}
    assert set(status.values()) == {"failed"}


def test_a_session_goes_on_after_cancel(code):
    """PROD-7: after a cancel the same entity takes the next prompt."""

    async def main():
        hang = Hang(1)
        spell = code([{"code": "n = 1"}, {"code": "hang()"}, {"code": "done(n)"}], hang.gate)
        async with connected(spell) as wire:
            wire.send(NEW, prompt("first"))
            await hang.full.wait()
            wire.send({"method": "session/cancel"})
            await wire.answer(3)
            wire.send(prompt("second", 4))
            return spell.loom, await wire.answer(4)

    loom, answer = anyio.run(main)
    assert answer["result"]["_meta"][META]["answer"] == 1
    assert len(loom.entities) == 1


def test_cancel_while_the_model_is_asked(chat):
    """PROD-6: cancel is heard while a query is on its way."""

    async def main():
        asked = anyio.Event()

        class Silent(LLM):
            name = "silent"

            async def query(self, request):
                asked.set()
                await anyio.sleep_forever()

        async with connected(chat(Silent())) as wire:
            wire.send(NEW, prompt("go"))
            await asked.wait()
            wire.send({"method": "session/cancel"})
            return await wire.answer(3)

    assert anyio.run(main)["result"]["stopReason"] == "cancelled"


def test_cancel_without_work(chat):
    """PROD-6: a cancel with nothing at work does nothing, now or later."""
    spell = chat([{"content": "hi"}])
    (response,) = ask(spell, {"method": "session/cancel"}, prompt("go"))
    assert response["result"]["stopReason"] == "end_turn"


def test_close(code):
    """PROD-7: a session that is closed is gone; another is not touched."""
    spell = code([{"code": "done(1)"}])

    async def main():
        async with connected(spell) as wire:
            one, other = await wire.open(1), await wire.open(2)
            wire.send({"id": 3, "method": "session/close", "params": {"sessionId": one}})
            wire.send(prompt("a", 4, sessionId=one), prompt("b", 5, sessionId=other))
            return [await wire.answer(number) for number in (3, 4, 5)]

    closed, refused, taken = anyio.run(main)
    assert closed["result"] == {}
    assert "there is no session" in refused["error"]["message"]
    assert taken["result"]["stopReason"] == "end_turn"


def test_close_at_work(code):
    """PROD-7: closing a session ends its work first: the prompt is answered, then the close."""

    async def main():
        hang = Hang(1)
        async with connected(code([{"code": "hang()"}], hang.gate)) as wire:
            wire.send(NEW, prompt("go"))
            await hang.full.wait()
            wire.send({"id": 4, "method": "session/close"})
            await wire.answer(4)
            return [one for one in wire.seen if "method" not in one][1:]

    cancelled, closed = anyio.run(main)
    assert (cancelled["id"], cancelled["result"]["stopReason"]) == (3, "cancelled")
    assert closed == {"jsonrpc": "2.0", "id": 4, "result": {}}


def _descendants(pid):
    found = []
    for task in Path(f"/proc/{pid}/task").iterdir():
        for child in map(int, (task / "children").read_text().split()):
            found += [child, *_descendants(child)]
    return found


async def _wait_until_gone(handles, wanted):
    """Wait until so many of some processes are gone; the rest may be the pool's spare ones."""
    gone = 0

    async def wait(handle):
        nonlocal gone
        await anyio.wait_readable(handle)
        gone += 1
        if gone == wanted:
            group.cancel_scope.cancel()

    with anyio.fail_after(PATIENCE):
        async with anyio.create_task_group() as group:
            for handle in handles:
                group.start_soon(wait, handle)


@pytest.mark.kernel
def test_the_end_of_a_connection(deep):
    """PROD-7: a client that hangs up leaves no work and no worker; its prompt is answered."""

    async def main():
        hang = Hang(4)
        spell = deep(TREE, hang.gate, wards=[{"max_turns": 10}, {"max_depth": 2}])
        async with connected(spell) as wire:
            wire.send(NEW, prompt("root"))
            await hang.full.wait()
            handles = [os.pidfd_open(pid) for pid in _descendants(os.getpid())]
            wire.hang_up()
        await _wait_until_gone(handles, 7)
        for handle in handles:
            os.close(handle)
        return wire.seen[-1]

    assert anyio.run(main)["result"]["stopReason"] == "cancelled"


# -- what a client is shown ----------------------------------------------------------------------


def kinds(updates):
    return [one["sessionUpdate"] for one in updates]


def test_updates_of_a_conversation(chat):
    """PROD-6: thoughts, texts, calls with start and result, and the answer, in order."""
    spell = chat([{"content": "let me see", "thinking": "hm", **ECHO}, DONE("b")], "echo")
    thought, text, start, result, answer = watch(spell)
    assert kinds([thought, text, start, result, answer]) == [
        "agent_thought_chunk",
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]
    assert thought["content"] == {"type": "text", "text": "hm"}
    assert text["content"]["text"] == "let me see"
    assert start["title"] == 'echo {"text": "a"}'
    assert start["status"] == "in_progress"
    assert (result["toolCallId"], result["status"]) == (start["toolCallId"], "completed")
    assert result["content"][0]["content"]["text"] == "a"
    assert answer["content"]["text"] == "b"
    assert len({text["messageId"], answer["messageId"], thought["messageId"]}) == 3


def DONE(answer):  # noqa: N802 - a reply, not a step
    return {"tool_calls": [{"gate": "done", "args": {"answer": answer}}]}


def test_an_answer_is_said_once(chat):
    """PROD-6: a text that is the answer is one message."""
    (text,) = watch(chat([{"content": "42"}]))
    assert text["content"]["text"] == "42"


def test_the_same_answer_to_two_prompts(chat):
    """PROD-6: an answer is said for each prompt, however often it was said before."""
    spell = chat([{"content": "42"}, DONE("42")])

    async def main():
        async with connected(spell) as wire:
            wire.send(NEW, prompt("a"))
            await wire.answer(3)
            wire.send(prompt("b", 4))
            await wire.answer(4)
            return wire.updates

    assert [one["content"]["text"] for one in anyio.run(main)] == ["42", "42"]


def test_a_failed_call(chat):
    """PROD-6: a call that fails says so, a malformed ``done`` too."""
    replies = [{"tool_calls": [{"gate": "nope"}]}, {"tool_calls": [{"gate": "done"}]}, DONE("x")]
    updates = watch(chat(replies))
    assert kinds(updates) == ["tool_call", "tool_call_update"] * 2 + ["agent_message_chunk"]
    assert [one["status"] for one in updates[1:4:2]] == ["failed", "failed"]
    assert "there is no gate" in updates[1]["content"][0]["content"]["text"]
    assert "missing required" in updates[3]["content"][0]["content"]["text"]


def test_updates_of_code(code):
    """PROD-6: a program is a call of kind execute, with its source and what was observed of it."""
    source = "print('seen')\necho('a')"
    updates = watch(code([{"code": source}, {"code": "1/0"}, {"code": "done([1])"}], "echo"))
    program, echo, echoed, observed, *rest = updates
    assert (program["kind"], program["rawInput"]) == ("execute", {"code": source})
    assert program["title"] == "print('seen')"
    assert echo["_meta"][META]["parentToolCallId"] == program["toolCallId"]
    assert echoed["toolCallId"] == echo["toolCallId"]
    assert observed["toolCallId"] == program["toolCallId"]
    assert "seen" in observed["content"][0]["content"]["text"]
    assert rest[1]["status"] == "failed"
    assert "ZeroDivisionError" in rest[1]["content"][0]["content"]["text"]
    assert (rest[-1]["sessionUpdate"], rest[-1]["content"]["text"]) == (
        "agent_message_chunk",
        "[1]",
    )


def test_updates_of_a_fenced_program(code):
    """PROD-6: a program that comes in a text's fence is shown as one too."""
    updates = watch(code([{"content": "So:\n```python\ndone(1)\n```"}]))
    assert kinds(updates) == [
        "agent_message_chunk",
        "tool_call",
        "tool_call_update",
        "agent_message_chunk",
    ]
    assert updates[1]["rawInput"] == {"code": "done(1)\n"}


def test_updates_of_children(deep):
    """COMP-5: a child is a call under its parent's, and what it does stands under that."""
    tree = {
        "go": [{"code": "done(call_entity('sub'))"}],
        "sub": [{"content": "of the child", "code": "done(7)"}],
    }
    updates = watch(deep(tree))
    starts = {one["toolCallId"]: one for one in updates if one["sessionUpdate"] == "tool_call"}
    program, delegation, child, childs = starts.values()
    assert delegation["_meta"][META]["parentToolCallId"] == program["toolCallId"]
    assert child["_meta"][META]["parentToolCallId"] == delegation["toolCallId"]
    assert childs["_meta"][META]["parentToolCallId"] == child["toolCallId"]
    assert child["rawInput"]["intent"] == "sub"
    assert child["title"] == "> sub"
    assert childs["_meta"][META]["depth"] == 1
    ended = [one["toolCallId"] for one in updates if one["sessionUpdate"] == "tool_call_update"]
    assert sorted(ended) == sorted(starts)
    messages = [one for one in updates if one["sessionUpdate"] == "agent_message_chunk"]
    assert [one["content"]["text"] for one in messages] == ["7"]


def test_a_truncated_prompt(chat):
    """LOOP-4: a person is told what a truncated prompt had done."""
    updates = watch(chat([ECHO], "echo", wards=[{"max_turns": 1}]))
    assert updates[-1]["content"]["text"].startswith("Stopped by max_turns after 1 turns")


def test_no_secret_is_shown(code):
    """PROD-8: updates are a view: what looks like a key is masked in program, text and answer."""
    key = "sk-test-DEADBEEF0123456789"
    spell = code([{"content": f"with {key}", "code": f"key = '{key}'\ndone(key)"}])

    async def main():
        async with connected(spell) as wire:
            wire.send(NEW, prompt("go"))
            return await wire.answer(3), wire.updates

    answer, updates = anyio.run(main)
    assert len(updates) == 4
    assert "DEADBEEF" not in json.dumps(updates)
    assert answer["result"]["_meta"][META]["answer"] == key  # the result itself is the caller's


# -- loose messages ------------------------------------------------------------------------------


@pytest.mark.parametrize("number", ["1", 1, 0, -5, 1.5, "ä", None])
def test_ids_come_back_as_sent(chat, number):
    """PROD-6: an id is echoed as it was sent: a text stays a text."""
    (response,) = portal.run(
        partial(exchange, chat([]), [{**HELLO, "id": number}]), "exchange(...)"
    )
    assert response["id"] == number
    assert type(response["id"]) is type(number)


@pytest.mark.parametrize(
    ("message", "code", "wrong"),
    [
        ([], -32600, "must be a JSON object, not a list"),
        (7, -32600, "not a number"),
        ({"id": 9}, -32600, "needs a method"),
        ({"id": 9, "method": 7}, -32600, "needs a method"),
        ({"id": [9], "method": "initialize"}, -32600, "an id must be a text or a number"),
        ({"id": 9, "method": "session/dance"}, -32601, "there is no method 'session/dance'"),
        ({"id": 9, "method": "session/load", "params": {}}, -32601, "use: initialize, session/new"),
        ({"id": 9, "method": "_own/method"}, -32601, "there is no method"),
        ({"id": 9, "method": "session/new", "params": []}, -32602, "params must be an object"),
        ({"id": 9, "method": "session/new", "params": {"cwd": 7}}, -32602, "session/new: cwd"),
        (prompt("go", 9, sessionId="x"), -32602, "there is no session 'x'"),
        (prompt("go", 9, sessionId=None), -32602, "session/prompt: sessionId"),
    ],
    ids=str,
)
def test_wrong_messages(chat, message, code, wrong):
    """PROD-6: a wrong message gets one error that names what is wrong; the connection lives."""

    async def main():
        async with connected(chat([{"content": "hi"}])) as wire:
            wire.send(NEW, message, prompt("go"))
            return [await wire.answer(3), wire.seen]

    answer, seen = anyio.run(main)
    assert answer["result"]["stopReason"] == "end_turn"
    (error,) = [one["error"] for one in seen if "error" in one]
    assert error["code"] == code
    assert wrong in error["message"]


@pytest.mark.parametrize(
    "line",
    [b"garbage", b"{", b"\xff\xfe", b'{"id": NaN}', b"[" * 100_000, b'"' + b"x" * MAX_LINE],
    ids=["words", "half", "bytes", "NaN", "deep", "long"],
)
def test_lines_that_are_no_json(chat, line):
    """PROD-6: a line that is no JSON is a parse error, and not the end."""

    async def main():
        async with connected(chat([])) as wire:
            wire.send(line, b"  ", HELLO)
            await wire.answer(1)
            return wire.seen

    error, answer = anyio.run(main)
    assert (error["id"], error["error"]["code"]) == (None, -32700)
    assert answer["result"]["protocolVersion"] == 1


def test_an_id_that_no_answer_can_bear(chat):
    """PROD-6: a number past all bounds is no id; the answer is JSON all the same."""

    async def main():
        async with connected(chat([])) as wire:
            wire.send(b'{"jsonrpc": "2.0", "id": 1e400, "method": "initialize"}', HELLO)
            await wire.answer(1)
            return wire.seen

    error, answer = anyio.run(main)
    assert (error["id"], error["error"]["code"]) == (None, -32600)
    assert answer["result"]["protocolVersion"] == 1


def test_a_prompt_before_a_session(chat):
    """PROD-6: without a session there is nothing to prompt, and the error says what to do."""
    (response,) = portal.run(partial(exchange, chat([]), [prompt("go")]), "exchange(...)")
    assert "there is no session yet: open one with session/new" in response["error"]["message"]


def test_notifications_are_not_answered(chat, caplog):
    """PROD-6: JSON-RPC answers no notification, be it unknown, or wrong; it is logged in a line."""

    async def main():
        async with connected(chat([])) as wire:
            wire.send({"method": "nope"}, {"method": "session/cancel", "params": {"sessionId": 7}})
            wire.send({"method": "session/cancel", "params": {"sessionId": "x"}})
            wire.send({"method": "initialize"}, {"id": 77, "result": {}}, HELLO)
            await wire.answer(1)
            return wire.seen

    assert [one["id"] for one in anyio.run(main)] == [1]
    assert [record.exc_info for record in caplog.records] == [None] * 4


def test_messages_sent_all_at_once(chat):
    """PROD-6: a client need not wait: a prompt finds the session that was asked for before it."""

    async def main():
        async with connected(chat([{"content": "hi"}])) as wire:
            wire.send(HELLO, NEW, prompt("go"))
            return await wire.answer(3)

    assert anyio.run(main)["result"]["stopReason"] == "end_turn"


def test_an_id_in_use(code):
    """PROD-6: an id can't be used again before its request is answered; afterwards it can."""

    async def main():
        hang = Hang(1)
        async with connected(code([{"code": "hang()"}], hang.gate)) as wire:
            wire.send(NEW, prompt("go", 3))
            await hang.full.wait()
            wire.send({**HELLO, "id": 3}, {**HELLO, "id": 4})
            await wire.answer(4)
            refused = await wire.answer(3)
            wire.send({**HELLO, "id": 4}, {**HELLO, "id": 5})
            await wire.answer(5)
            return refused, [one.get("id") for one in wire.seen]

    refused, ids = anyio.run(main)
    assert "the id 3 is that of a request at work" in refused["error"]["message"]
    assert ids.count(4) == 2


def test_a_client_s_notes_are_not_arguments(chat):
    """PROD-6: what a client keeps in ``_meta`` changes nothing."""
    spell = chat([{"content": "hi"}])
    (response,) = ask(spell, prompt("go", _meta={"session_id": "x", "prompt": 7, "self": 1}))
    assert response["result"]["stopReason"] == "end_turn"


def test_servers_of_the_client(chat, caplog):
    """PROD-6: the client's servers give an entity no gates, and that is told."""
    server = {"name": "s", "command": "/bin/true", "args": [], "env": []}
    spell = chat([{"content": "hi"}])
    new = {"id": 2, "method": "session/new", "params": {"cwd": "/", "mcpServers": [server]}}
    portal.run(partial(exchange, spell, [HELLO, new, prompt("go")]), "exchange(...)")
    assert "1 MCP servers of the client are not used" in caplog.text
    assert [tool.name for tool in spell.llm.requests[0].tools] == ["done"]
    assert [message.content for message in spell.llm.requests[0].messages] == ["go"]


# -- health --------------------------------------------------------------------------------------


@pytest.mark.parametrize("medium", ["chat", "code"])
def test_health(medium, request):
    """PROD-9: a turn is carried out in the circle, without the spell's own model and loom."""
    spell = request.getfixturevalue(medium)([], result=int)
    health = anyio.run(check, spell)
    assert health.protocol == 1
    assert health.turn_ms > 0
    assert not spell.llm.requests
    assert not spell.loom.entities


def test_ill_health(code):
    """PROD-9: what does not work is told."""
    spell = code([])
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": 1}, {"max_tokens": 0}])
    with pytest.raises(RuntimeFault, match="ended with max_tokens"):
        anyio.run(check, spell.model_copy(update={"circle": circle}))
