"""What happens in a run, as its trajectory tells of it."""

from __future__ import annotations

import hashlib
import json
import os
from collections import Counter

import anyio
import pytest
from circlet import LLM, Cantrip, Circle, Folding, Identity, Loom, Retry, ScriptedLLM, gate
from circlet.runtime.errors import ContextLimit, LLMError, LoomError, TrajectoryError
from circlet.runtime.llm.base import Reply, ToolCall
from circlet.runtime.loom import DecisionRecord
from circlet.runtime.trajectory.events import estimate_tokens, parse

AT_ONCE = Retry(base_s=0)


@gate
def lookup(city: str) -> str:
    """Look a city up."""
    if city == "gone":
        raise LookupError("no such city")
    return f"{city} is a city"


def digest_of(request) -> str:
    """SHA-256 of a request as it was really sent, written here anew."""
    plain = json.dumps(request.neutral(), sort_keys=True, separators=(",", ":"))
    return hashlib.sha256(plain.encode()).hexdigest()


# -- which events, in which order ------------------------------------------------------------------


def test_a_run_from_start_to_end(kept, code):
    """Start, what the model is told, query and reply, what its program did, the end."""
    spell = code(
        [{"code": "print(lookup('Oslo'))"}, {"code": "done(1)"}],
        lookup,
        loom=kept.loom,
        system="Be brief.",
    )
    spell.cast("find Oslo")
    kinds = [event.kind for event in kept.events()]
    assert kinds == [
        "run_start",
        *["inject"] * 4,  # identity, capabilities, intent, tools
        "driver_call",
        "driver_result",
        "command",
        "command",
        *["inject"] * 2,  # utterance, observation
        "driver_call",
        "driver_result",
        "command",
        "command",
        "run_end",
    ]
    commands = [(event.cmd, event.exit_code) for event in kept.of("command")]
    assert commands == [
        ('lookup({"city": "Oslo"})', 0),
        ("python", 0),
        ('done({"answer": "int: 1"})', 0),
        ("python", 0),
    ]


def test_seq_is_gapless_and_times_do_not_go_back(kept, deep):
    """``seq`` counts from 1 without a gap over parents and children, and ``t`` is in order."""
    script = {
        "^go": [{"code": "done(call_entity_batch(['a', 'b', 'c']))"}],
        "": [{"code": "done(1)"}],
    }
    deep(ScriptedLLM(script), loom=kept.loom).cast("go")
    events = kept.events()
    assert [event.seq for event in events] == list(range(1, len(events) + 1))
    # One thread writes: only a record's own time, taken before, may stand just behind.
    assert [event.t[:19] for event in events] == sorted(event.t[:19] for event in events)


def test_the_start_says_what_was_attempted(kept, code):
    """Spec, intent, the root's model, who writes, and the digest of the resolved circle."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("the intent")
    (start,) = kept.of("run_start")
    assert (start.task, start.driver) == ("the intent", "scripted")
    assert start.keel_version.startswith("circlet/")
    assert start.spec == f"blobs/{start.store_hash[:2]}/{start.store_hash}"
    circle = kept.file(start.spec)
    assert circle["medium"] == "code"
    assert circle["wards"]["max_turns"] == 10
    assert [gate["name"] for gate in circle["gates"]] == ["done"]


def test_the_spec_is_the_spell_where_there_is_one(kept, code):
    """A run from a spell file refers to the copy of it in its directory."""
    (kept.directory / "spell.yaml").write_text("llm: x\n")
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    (start,) = kept.of("run_start")
    assert start.spec == "spell.yaml"
    assert (kept.directory / "blobs" / start.store_hash[:2] / start.store_hash).is_file()


def test_the_circle_s_digest_changes_with_the_circle(kept, code):
    """Another ward is another circle; the same one has the same digest."""
    for wards in ([{"max_turns": 3}], [{"max_turns": 3}], [{"max_turns": 4}]):
        code([{"code": "done(1)"}], loom=kept.loom, wards=wards).cast("go")
    paths = [kept.path, *kept.directory.glob("runs/*/trajectory.jsonl")]
    hashes = Counter(kept.events(path)[0].store_hash for path in paths)
    assert sorted(hashes.values()) == [1, 2]


@pytest.mark.parametrize(
    ("replies", "verdict"),
    [
        ([{"code": "done(1)"}], "terminated"),
        ([{"code": "x = 1"}] * 2, "truncated"),
        ([{"error": {"status": 400, "message": "no"}}], "failed"),
    ],
)
def test_the_end_says_how(kept, code, replies, verdict):
    """The run's verdict is its root's outcome; it took whole milliseconds."""
    spell = code(replies, loom=kept.loom, wards=[{"max_turns": 2}])
    try:
        spell.cast("go")
    except LLMError:
        assert verdict == "failed"
    end = kept.events()[-1]
    assert (end.kind, end.verdict) == ("run_end", verdict)
    assert 0 <= end.duration_ms < 60_000


# -- what a model is told ------------------------------------------------------------------------


def test_every_query_has_a_card_with_the_digest_of_what_was_sent(kept, deep):
    """The digest on each card is that of the very request that the model was given."""
    script = [
        {"code": "x = call_entity('child')"},
        {"code": "done(5)"},
        {"code": "1/0"},
        {"content": "text"},
        {"code": "done(x)"},
    ]
    llm = ScriptedLLM(script)
    identity = Identity(
        system_prompt="s", temperature=0.5, max_tokens=99, tool_choice="required", options={"a": 1}
    )
    wards = [{"max_turns": 9, "require_done_tool": True}]
    deep(llm, loom=kept.loom, identity=identity, wards=wards).cast("go", context={"a": "é\ud800"})
    assert [card["request"] for card in kept.cards()] == [digest_of(one) for one in llm.requests]
    settings = {"temperature": 0.5, "max_tokens": 99, "a": 1}
    assert kept.cards()[0]["hyperparameters"] == settings
    assert kept.cards()[0]["tool_choice"] == "required"
    report = kept.check()
    assert (report.rebuilt, report.faults) == (5, [])


def test_a_block_is_injected_once(kept, code):
    """What was sent is not told again; a file says whose it is, which layer and which turn."""
    code([{"code": "x = 1"}] * 3 + [{"code": "done(x)"}], loom=kept.loom, system="S").cast("go")
    sources = [event.source for event in kept.of("inject")]
    assert len(sources) == len(set(sources))
    layers = [(block["layer"], block.get("turn")) for block in map(kept.file, sources)]
    head = [("identity", 0), ("capabilities", 0), ("intent", 0), ("tools", None)]
    turns = [(layer, turn) for turn in (1, 2, 3) for layer in ("utterance", "observation")]
    assert layers == head + turns
    assert {kept.file(source)["entity"] for source in sources} == {kept.cards()[0]["entity"]}


def test_the_tokens_of_the_stream_are_those_that_reached_models(kept, deep):
    """Injected tokens and those sent again add up to all that was sent, none counted twice."""
    llm = ScriptedLLM([{"code": "call_entity('a')"}, {"code": "done(1)"}, {"code": "done(2)"}])
    deep(llm, loom=kept.loom).cast("go")

    def tokens(request) -> int:
        tools = json.dumps(
            [tool.neutral() for tool in request.tools], sort_keys=True, separators=(",", ":")
        )
        return estimate_tokens(tools) + sum(
            estimate_tokens(
                (message.content or "")
                + "".join(
                    call.name + json.dumps(call.arguments, separators=(",", ":"))
                    for call in message.tool_calls
                )
            )
            for message in request.messages
        )

    assert sum(event.sent_tokens for event in kept.events()) == sum(map(tokens, llm.requests))
    assert [event.prompt_tokens for event in kept.of("driver_call")][:2] == [0, 0]


def test_children_tell_in_the_same_stream(kept, deep):
    """A child's blocks are its own: the same text is injected for each entity that is sent it."""
    script = {"^go": [{"code": "done(call_entity_batch(['a', 'b']))"}], "": [{"code": "done(1)"}]}
    deep(ScriptedLLM(script), loom=kept.loom).cast("go")
    assert len({card["entity"] for card in kept.cards()}) == 3
    assert not list(kept.directory.glob("runs/*"))
    assert kept.check().passed


def test_a_fold_is_injected(kept, code):
    """What stands for folded turns is a block; turns that stay whole are not told again."""
    folding = Folding(after_turns=3)
    llm = ScriptedLLM([{"code": "x = 1"}] * 6 + [{"code": "done(x)"}])
    code(llm, loom=kept.loom, folding=folding).cast("go")
    layers = [kept.file(event.source)["layer"] for event in kept.of("inject")]
    assert layers.count("fold") > 0
    assert layers.count("utterance") == 6
    assert [card["request"] for card in kept.cards()] == [digest_of(one) for one in llm.requests]
    assert kept.check().passed


def test_a_context_that_is_shortened_is_told_as_it_was_sent(kept, code):
    """Where messages are cut to fit a window, the cut ones are the blocks."""
    folding = Folding(window=2_500)
    llm = ScriptedLLM([{"code": "print('long ' * 2000)"}] * 3 + [{"code": "done(1)"}])
    code(llm, loom=kept.loom, folding=folding).cast("go")
    assert [card["request"] for card in kept.cards()] == [digest_of(one) for one in llm.requests]
    assert kept.check().passed


def test_a_gate_that_changes_its_arguments_changes_nothing_that_was_said(kept, chat):
    """What the model is told that it said is what it said, whatever a gate does with it."""

    @gate
    def take(items: list) -> int:
        items.clear()
        return len(items)

    llm = ScriptedLLM(
        [
            {"tool_calls": [{"gate": "take", "args": {"items": [1, 2]}}]},
            {"tool_calls": [{"gate": "done", "args": {"answer": 1}}]},
        ]
    )
    chat(llm, take, loom=kept.loom).cast("go")
    assert llm.requests[1].messages[1].tool_calls[0].arguments == {"items": [1, 2]}
    assert kept.check().passed


def test_odd_values_in_requests(kept, chat):
    """What JSON lacks, or is no text, is told so that the request can be rebuilt all the same."""

    class Odd(LLM):
        name = "odd \ud800"
        asked = 0

        async def query(self, request):
            self.asked += 1
            odd = {"x": float("nan"), "big": 10**5000, "$y": "\ud800", "e": "é"}
            if self.asked == 1:
                return Reply(None, (ToolCall("1", "lookup", odd),))
            return Reply("over \ud800")

    chat(Odd(), lookup, loom=kept.loom).cast("go \ud800")
    report = kept.check()
    assert (report.rebuilt, report.requests, report.faults) == (2, 2, [])
    assert "\ud800" not in kept.path.read_text(encoding="utf-8")


# -- queries -------------------------------------------------------------------------------------


def test_a_query_is_on_disk_before_it_is_made(kept, code):
    """Nothing reaches a model that the stream does not tell of by then."""
    seen = []

    class Looking(LLM):
        name = "looking"

        async def query(self, request):
            last = kept.events()[-1]
            seen.append((last.kind, kept.file(last.task)["request"] == digest_of(request)))
            return Reply("it is so")

    code(Looking(), loom=kept.loom).cast("go")
    assert seen == [("driver_call", True)]


def test_each_attempt_is_told_of(kept, code):
    """PROD-2: a retry is a query of its own, of the same request, with its result."""
    replies = [
        {"error": {"status": 500, "message": "busy"}},
        {"error": {"status": 429, "message": "slow down"}},
        {"code": "done(1)"},
    ]
    code(replies, loom=kept.loom, retry=AT_ONCE).cast("go")
    assert [(card["turn"], card["attempt"]) for card in kept.cards()] == [(1, 1), (1, 2), (1, 3)]
    assert len({card["request"] for card in kept.cards()}) == 1
    results = kept.of("driver_result")
    assert [one.status for one in results] == ["provider_error", "provider_error", "ok"]
    assert "busy" in kept.file(results[0].detail)["error"]
    assert len(kept.of("inject")) == 3
    assert kept.check().passed


def test_what_a_model_replied_is_in_a_file(kept, code):
    """The reply stands whole beside the stream: text, calls, thinking and tokens."""
    usage = {"prompt_tokens": 10, "completion_tokens": 5}
    code([{"content": "so", "code": "done(1)", "usage": usage}], loom=kept.loom).cast("go")
    (result,) = kept.of("driver_result")
    reply = kept.file(result.detail)["reply"]
    assert reply["content"] == "so"
    assert reply["tool_calls"][0]["arguments"] == {"code": "done(1)"}
    assert reply["usage"] == {"prompt_tokens": 10, "completion_tokens": 5, "cached_tokens": 0}


@pytest.mark.parametrize(
    ("error", "status"),
    [
        (ContextLimit("maximum is 10 tokens"), "context_limit"),
        (RuntimeError("bug"), "failed"),
    ],
)
def test_what_went_wrong_is_told_in_a_word(kept, code, error, status):
    """A query that came to nothing says so, and why."""

    class Failing(LLM):
        name = "failing"

        async def query(self, request):
            raise error

    with pytest.raises(type(error)):
        code(Failing(), loom=kept.loom).cast("go")
    assert {one.status for one in kept.of("driver_result")} == {status}
    assert kept.check().passed


def test_a_reply_of_no_use_is_told_of(kept, code):
    """LLM-3: a reply without anything in it failed, and stands there as it came."""

    class Empty(LLM):
        name = "empty"

        async def query(self, request):
            return Reply(None, stop_reason="stop")

    with pytest.raises(LLMError):
        code(Empty(), loom=kept.loom).cast("go")
    (result,) = kept.of("driver_result")
    assert result.status == "malformed"
    assert kept.file(result.detail)["reply"]["stop_reason"] == "stop"


def test_a_query_that_is_cancelled_has_its_result(kept, code):
    """A cast that is stopped while its model thinks leaves no query without a result."""

    class Slow(LLM):
        name = "slow"

        async def query(self, request):
            await anyio.sleep_forever()

    cast = code(Slow(), loom=kept.loom, wards=[{"timeout_s": 0.2}]).cast("go")
    assert cast.truncated
    assert [one.status for one in kept.of("driver_result")] == ["cancelled"]
    assert kept.check().passed


# -- what was done -------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("program", "code_"),
    [("1", 0), ("done(1)", 0), ("1/0", 1), ("this is no Python", 1), ("while True: pass", 124)],
)
def test_how_a_program_ended(kept, code, program, code_):
    """0, 1 with an error, 124 at its time limit, as a shell has it."""
    wards = [{"max_turns": 1}, {"max_eval_ms": 500}]
    code([{"code": program}], loom=kept.loom, wards=wards).cast("go")
    (ran,) = [event for event in kept.of("command") if event.cmd == "python"]
    assert ran.exit_code == code_
    assert kept.file(ran.evidence)["text"]


@pytest.mark.kernel
def test_a_program_that_takes_too_much_memory_is_killed(kept, code):
    """137, as a shell has it for a process that was killed."""
    wards = [{"max_turns": 1}, {"max_memory_mb": 64}]
    code([{"code": "x = 'ab' * 10**9"}], loom=kept.loom, wards=wards).cast("go")
    (ran,) = [event for event in kept.of("command") if event.cmd == "python"]
    assert ran.exit_code in (1, 137)


def test_no_program_no_command(kept, chat):
    """A conversation runs none, and text alone runs nothing."""
    chat([{"content": "just so"}], loom=kept.loom).cast("go")
    assert kept.of("command") == []


def test_a_turn_that_delegates_ran_one_program(kept, deep):
    """A turn's parts are one program; the delegation is a call of its own."""
    deep([{"code": "x = call_entity('a')\ndone(x)"}, {"code": "done(1)"}], loom=kept.loom).cast(
        "go"
    )
    names = [event.cmd.partition("(")[0] for event in kept.of("command")]
    assert names == ["done", "python", "call_entity", "done", "python"]


def test_each_gate_call_is_a_command(kept, code):
    """CIRCLE-5: a call that failed has exit code 1; the evidence has arguments and answer."""
    program = (
        "print(lookup('Oslo'))\ntry:\n    lookup('gone')\nexcept Exception:\n    pass\ndone(1)"
    )
    code([{"code": program}], lookup, loom=kept.loom).cast("go")
    calls = [event for event in kept.of("command") if event.cmd.startswith("lookup")]
    assert [call.exit_code for call in calls] == [0, 1]
    evidence = kept.file(calls[0].evidence)
    assert (evidence["gate"], evidence["result"]) == ("lookup", "Oslo is a city")
    assert "no such city" in kept.file(calls[1].evidence)["result"]


def test_a_ward_that_stops_an_entity_is_a_gate_that_fails(kept, code):
    """LOOP-4: which ward, and the file with what it came to."""
    code([{"code": "x = 1"}] * 2, loom=kept.loom, wards=[{"max_turns": 2}]).cast("go")
    (verdict,) = kept.of("gate")
    assert (verdict.gate, verdict.verdict) == ("max_turns", "fail")
    result = kept.file(verdict.result)
    assert (result["outcome"], result["wards"]["max_turns"]) == ("truncated", 2)
    assert result["summary"].startswith("Stopped by max_turns")


def test_a_ward_that_keeps_a_child_out_is_one_too(kept, deep):
    """A child that was never started has a verdict, and nothing was asked for it."""
    script = [{"code": "done(len(call_entity_batch(['a', 'b'])))"}, {"code": "done(1)"}]
    wards = [{"max_turns": 3}, {"max_entities": 1}, {"max_concurrent": 1}]
    deep(script, loom=kept.loom, wards=wards).cast("go")
    (verdict,) = kept.of("gate")
    assert verdict.gate == "max_entities"
    assert kept.file(verdict.result)["outcome"] == "not_started"


def test_an_end_that_no_ward_made_is_no_gate(kept, code):
    """Kinds without an occasion are not made up."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    assert kept.of("gate", "oracle", "human") == []


# -- people and verifiers ------------------------------------------------------------------------


def test_a_reward_is_a_person_s_decision(kept, code):
    """A reward without a verdict is told under ``human``, after the run's end too."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    kept.loom.annotate_reward(0, 0.5, by="Ada")
    last = kept.events()[-1]
    assert (last.kind, last.stage, last.decision, last.by) == ("human", "reward", "0.5", "Ada")
    assert last.note == kept.loom.turns[0].id


def test_a_verifier_s_verdict_is_an_oracle(kept, code):
    """What a verifier said: criterion, what said so, pass or fail."""
    cast = code([{"code": "done(41)"}], loom=kept.loom).cast("go")

    def is_the_answer(result):
        return result == 42

    kept.loom.judge(cast, is_the_answer, criterion="is it 42?")
    last = kept.events()[-1]
    assert (last.kind, last.criterion, last.verdict) == ("oracle", "is it 42?", "fail")
    assert "is_the_answer" in last.oracle
    assert last.exit_code is None


def test_an_approval_is_a_person_s_decision(kept, code):
    """Who allowed or refused which gate, and what they said."""
    cast = code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    kept.loom.append(DecisionRecord(cast.entity_id, 1, 1, "done", "refused", "Ada", "not today"))
    last = kept.events()[-1]
    assert (last.stage, last.decision, last.by) == ("approval", "refused", "Ada")
    assert last.note == "done: not today"


def test_a_reward_long_after_the_run(kept, code):
    """A loom that is opened again goes on with the stream of the run that is judged."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    before = len(kept.events())
    kept.loom.close()
    with Loom(kept.directory) as again:
        again.annotate_reward(0, 1)
    last = kept.events()[-1]
    assert (last.seq, last.kind) == (before + 1, "human")


# -- which runs ----------------------------------------------------------------------------------


def test_each_root_has_a_run_of_its_own(kept, code):
    """The first root's stream is in the directory, each further one's in a folder of its name."""
    spell = code([{"code": "x = 1"}, {"code": "done(x)"}] * 3, loom=kept.loom)
    first = spell.cast("one")
    second = spell.cast("two")
    fork = spell.fork(first.thread, from_turn=1, intent="three")
    assert kept.of("run_start")[0].task == "one"
    folders = {path.parent.name: path for path in kept.directory.glob("runs/*/trajectory.jsonl")}
    assert set(folders) == {second.entity_id, fork.entity_id}
    tasks = {name: kept.events(path)[0].task for name, path in folders.items()}
    assert tasks == {second.entity_id: "two", fork.entity_id: "three"}
    assert all(kept.events(path)[0].seq == 1 for path in folders.values())
    assert all(kept.check(path).passed for path in [kept.path, *folders.values()])


def test_a_lasting_entity_has_one_stream(kept, code):
    """ENTITY-5: each intent is a start and an end in the same stream; what was told stays told."""
    with code([{"code": "x = 1"}, {"code": "done(x)"}] * 2, loom=kept.loom).summon() as entity:
        entity.send("first")
        entity.send("second")
    kinds = [event.kind for event in kept.of("run_start", "run_end")]
    assert kinds == ["run_start", "run_end"] * 2
    intents = [kept.file(event.source) for event in kept.of("inject")]
    assert [one["message"]["content"] for one in intents if one["layer"] == "intent"] == [
        "first",
        "second",
    ]
    assert kept.check().passed


def test_no_path_no_trajectory(code):
    """A loom in memory writes none."""
    spell = code([{"code": "done(1)"}])
    spell.cast("go")
    assert spell.loom.trajectory is None


def test_none_is_written_where_none_is_wanted(tmp_path, code):
    """``Loom(path, trajectory=False)`` keeps the loom alone."""
    with Loom(tmp_path, trajectory=False) as loom:
        code([{"code": "done(1)"}], loom=loom).cast("go")
    assert not (tmp_path / "trajectory.jsonl").exists()
    assert not (tmp_path / "blobs").exists()


def test_a_run_that_began_without_one_has_none(tmp_path, code):
    """What can't be rebuilt from its beginning is not begun in the middle."""
    with Loom(tmp_path, trajectory=False) as loom:
        code([{"code": "done(1)"}], loom=loom).cast("go")
    with Loom(tmp_path) as loom:
        loom.annotate_reward(0, 1)
    assert not (tmp_path / "trajectory.jsonl").exists()


def test_records_that_are_copied_begin_no_run(kept, tmp_path, code):
    """Records that another loom made are no run of this one's."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    with Loom(tmp_path / "copy") as copy:
        for *_, record in kept.loom.records():
            copy.append(record)
    assert not (tmp_path / "copy" / "trajectory.jsonl").exists()


# -- secrets and faults --------------------------------------------------------------------------

SECRET = "sk-proj-very-secret-key-0123456789"


def test_events_tell_no_secret(kept, code):
    """PROD-8: the texts in events are without what looks like a secret; files are their user's."""
    program = f"lookup({SECRET!r})\ndone(1)"
    code([{"code": program}], lookup, loom=kept.loom).cast(f"use {SECRET}")
    assert SECRET not in kept.path.read_text()
    assert "[redacted" in kept.of("run_start")[0].task
    files = [path for path in kept.directory.rglob("*") if path.is_file()]
    assert all(path.stat().st_mode & 0o077 == 0 for path in files)
    assert kept.check().passed


def test_a_known_secret_is_in_no_file(kept, code):
    """PROD-8: what is known is masked first, so that requests can be rebuilt without it."""

    @gate
    def whoami() -> str:
        return "key hunter2-hunter2"

    spell = code(
        [{"code": "print(whoami())"}, {"code": "done(1)"}],
        whoami,
        loom=kept.loom,
        secrets=["hunter2-hunter2"],
    )
    spell.cast("go")
    for path in kept.directory.rglob("*"):
        assert not path.is_file() or b"hunter2" not in path.read_bytes(), path
    assert kept.check().passed


def test_a_long_intent_is_cut_in_the_event_alone(kept, code):
    """Texts in events are bounded; the block has all of it."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("long " * 10_000)
    assert len(kept.of("run_start")[0].task) < 3_000
    blocks = [kept.file(event.source) for event in kept.of("inject")]
    assert any(one["message"]["content"] == "long " * 10_000 for one in blocks if "message" in one)


def test_what_can_t_be_written_ends_the_run(kept, code, monkeypatch):
    """Nothing reaches a model that can't be told of: the cast fails before it is asked."""
    asked = []

    class Counting(LLM):
        name = "counting"

        async def query(self, request):
            asked.append(request)
            return Reply("hello")

    write = os.write
    full = OSError(28, "No space left on device")

    def failing(file, data):
        if b"driver_call" in bytes(data):
            raise full
        return write(file, data)

    monkeypatch.setattr(os, "write", failing)
    with pytest.raises(TrajectoryError, match="No space left on device"):
        code(Counting(), loom=kept.loom).cast("go")
    assert asked == []
    monkeypatch.undo()
    # Once there is room the next run is told of, and what was cut short is no fault.
    code(Counting(), loom=kept.loom).cast("again")
    assert len(asked) == 1
    (path,) = kept.directory.glob("runs/*/trajectory.jsonl")
    assert kept.check(path).passed


def test_a_record_that_can_t_be_told_of_is_not_kept(kept, code):
    """LOOM-1: an observer is told first, and where it fails nothing is recorded."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    before = len(list(kept.loom.records()))
    told = []

    def refuse(n, at, record):
        told.append((n, type(record).__name__))
        raise LoomError("not now")

    kept.loom.watch(refuse)
    with pytest.raises(LoomError, match="not now"):
        kept.loom.annotate_reward(0, 1)
    assert told == [(before + 1, "RewardRecord")]
    assert len(list(kept.loom.records())) == before


def test_a_closed_loom_says_so(kept, code):
    """After ``close`` nothing is written to the stream, and the error is the loom's."""
    code([{"code": "done(1)"}], loom=kept.loom).cast("go")
    whole = kept.path.read_bytes()
    kept.loom.close()
    with pytest.raises(LoomError, match="closed"):
        kept.loom.annotate_reward(0, 1)
    assert kept.path.read_bytes() == whole


def test_every_line_is_whole_for_a_reader_beside_it(kept, code):
    """A reader may look at any time: each line is an event."""
    lines = []

    class Reading(LLM):
        name = "reading"

        async def query(self, request):
            lines.extend(kept.path.read_bytes().splitlines(keepends=True))
            return Reply("hello")

    code(Reading(), loom=kept.loom).cast("go")
    assert all(line.endswith(b"\n") and parse(line) for line in lines)


def test_a_cantrip_from_plain_parts(tmp_path):
    """The trajectory needs nothing but a loom with a path."""
    with Loom(tmp_path / "run") as loom:
        circle = Circle(gates=["done"], wards=[{"max_turns": 2}])
        spell = Cantrip(llm=ScriptedLLM([{"content": "hello"}]), circle=circle, loom=loom)
        spell.cast("say hello")
    assert (tmp_path / "run" / "trajectory.jsonl").is_file()
