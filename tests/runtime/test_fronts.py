"""``PROD-1``: a spell does the same whichever way it is used: as a library, a command, an agent."""

from __future__ import annotations

import json
import re
from dataclasses import asdict
from functools import partial

import pytest
from circlet import Loom
from circlet.runtime import portal
from circlet.runtime.acp import META, exchange
from circlet.runtime.cli.app import app
from circlet.runtime.errors import ProviderError
from circlet.runtime.jsonable import to_json
from circlet.runtime.spell import load
from typer.testing import CliRunner

SPELL = """\
llm: {script: script.yaml}
identity: You count.
circle:
  medium: %s
  gates: [done, call_entity, call_entity_batch, echo]
  wards: [{max_turns: 3}, {max_depth: 2}]
"""
HEAD = "usage: {prompt_tokens: 10, completion_tokens: 5}\nby_intent:\n"
SCRIPTS = {
    "a tree": (
        "code",
        """\
  ^go$:
    - thinking: hm
      content: I cut it up
      code: "print('cut')\\nparts = call_entity_batch(['a', 'b'])"
    - code: 1 / 0
    - code: "done({'sum': sum(parts), 'parts': tuple(parts)})"
  ^a$: [{code: "done(call_entity('c'))"}]
  ^b$: [{code: "echo('b')\\ndone(2)"}]
  ^c$: [{code: done(40)}]
""",
    ),
    "truncated": ("code", "  ^go$: [{code: n = 1}, {code: print(n)}, {code: echo(n)}]\n"),
    "a conversation": (
        "conversation",
        """\
  ^go$:
    - {content: first, tool_calls: [{gate: echo, args: {text: a}}, {gate: nope}]}
    - {tool_calls: [{gate: done}]}
    - {tool_calls: [{gate: done, args: {answer: [1, null]}}]}
""",
    ),
    "text alone": ("conversation", "  ^go$: [{content: the answer}]\n"),
    "failed": ("conversation", "  ^go$: [{error: {status: 400, message: too odd}}]\n"),
}


@pytest.fixture(params=SCRIPTS)
def spell(request, tmp_path, monkeypatch):
    """A spell file in a folder of its own."""
    monkeypatch.chdir(tmp_path)
    medium, script = SCRIPTS[request.param]
    (tmp_path / "script.yaml").write_text(HEAD + script)
    (tmp_path / "spell.yaml").write_text(SPELL % medium)
    return tmp_path / "spell.yaml"


def by_library(spell):
    with Loom("library") as loom:
        try:
            cast = load(spell).cantrip(loom).cast("go")
        except ProviderError as error:
            return {"error": str(error)}
        return {"result": to_json(cast.result), "reason": cast.reason, "usage": asdict(cast.usage)}


def by_command(spell):
    done = CliRunner().invoke(app, ["run", str(spell), "go", "--out", "command", "--json"])
    report = json.loads(done.stdout)
    if "error" in report:
        return {"error": report["error"]}
    return {name: report[name] for name in ("result", "reason", "usage")}


def by_agent(spell):
    messages = [
        {"id": 1, "method": "initialize"},
        {"id": 2, "method": "session/new"},
        {"id": 3, "method": "session/prompt", "params": {"prompt": "go"}},
    ]
    with Loom("agent") as loom:
        cantrip = load(spell).cantrip(loom)
        response = portal.run(partial(exchange, cantrip, messages), "exchange(...)")[-1]
    if "error" in response:
        return {"error": response["error"]["message"]}
    told = response["result"]["_meta"][META]
    return {"result": told["answer"], "reason": told["reason"], "usage": told["usage"]}


def recorded(directory):
    """All that a loom holds, without ids and times."""
    with Loom(directory, read_only=True) as loom:
        names = {entity: f"entity {n}" for n, entity in enumerate(loom.entities)}
        records = sorted(repr(record) for _, _, record in loom.records())
    texts = []
    for text in records:
        text = re.sub("|".join(map(re.escape, names)), "<entity>", text)
        text = re.sub(r"(cantrip_id|identity_id|id)='[^']*'", r"\1=...", text)
        text = re.sub(r"(duration_ms|seed)=[-\d.e]+", r"\1=...", text)
        text = re.sub(r"in \d+(\.\d+)? ms", "in ... ms", text)
        texts.append(text)
    return sorted(texts)


def test_fronts(spell):
    """PROD-1: result, reason, tokens and every record are the same through each front."""
    results = [front(spell) for front in (by_library, by_command, by_agent)]
    assert results[0] == results[1] == results[2]
    library, command, agent = map(recorded, ("library", "command", "agent"))
    assert library == command
    assert library == agent
    assert len(library) > 3
