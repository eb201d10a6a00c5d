"""Exports for training: what models were sent and said, alone and side by side."""

from __future__ import annotations

import io
import json
import os
import stat
import sys

import pytest
from circlet import Cantrip, Circle, Folding, Loom, ScriptedLLM, gate
from circlet.runtime.errors import LoomError
from circlet.runtime.llm.base import Reply
from circlet.runtime.llm.chat import chat_messages, chat_settings
from circlet.runtime.loom import EndRecord, EntityRecord, IntentRecord, ReplyRecord, Sent
from circlet.runtime.loom.exports import ChatLine, GroupLine, PairLine
from circlet.sandbox import wire
from hypothesis import given, settings
from hypothesis import strategies as st

MODELS = {"chat": ChatLine, "grpo": GroupLine, "dpo": PairLine}


def lines(loom: Loom, format: str, **options) -> list[dict]:  # noqa: A002 - as the export has it
    """The lines of an export, each checked against its schema."""
    text = loom.export(format=format, **options)
    assert text.isascii()
    for line in text.splitlines():
        MODELS[format].model_validate_json(line)
    return [json.loads(line) for line in text.splitlines()]


def learned(line: dict) -> list[dict]:
    """The messages of the model's that are to be learned."""
    said = (message for message in line["messages"] if message["role"] == "assistant")
    return [message for message in said if message.get("weight") != 0]


@gate
def weather(city: str) -> str:
    """The weather of a city."""
    return f"rain in {city}"


@gate(ephemeral=True)
def dump() -> str:
    """All of it."""
    return "row " * 2_000


# -- chat ----------------------------------------------------------------------------------------


def test_chat_has_what_was_sent_and_said(code):
    """LOOP-5: a line has the last query of a cast as the provider had it, and the reply."""
    llm = ScriptedLLM(
        [{"code": "x = context[0]\nx"}, {"content": "so", "code": "x / 0"}, {"code": "done(x)"}]
    )
    cast = code(llm, system="Be brief.").cast("look", context=[5] * 1_000)
    [line] = lines(cast.loom, "chat")
    request = llm.requests[-1]
    assert line["messages"][:-1] == chat_messages(request)
    assert line["tools"] == chat_settings(request)["tools"]
    [call] = line["messages"][-1]["tool_calls"]
    assert json.loads(call["function"]["arguments"]) == {"code": "done(x)"}
    assert len(learned(line)) == 3


def test_chat_has_the_tools_of_a_conversation(chat):
    """IDENTITY-3: gates that are called as tools stand in the line, with the arguments as text."""
    llm = ScriptedLLM(
        [
            {
                "tool_calls": [
                    {"gate": "weather", "args": {"city": "Paris"}},
                    {"gate": "weather", "args": {"town": "Rome"}},
                ]
            },
            {"content": "It rains."},
        ]
    )
    cast = chat(llm, weather).cast("How is it?", context={"when": "now"})
    [line] = lines(cast.loom, "chat")
    assert line["messages"][:-1] == chat_messages(llm.requests[-1])
    assert [tool["function"]["name"] for tool in line["tools"]] == ["done", "weather"]
    assert line["messages"][-1] == {"role": "assistant", "content": "It rains."}
    assert "when" in line["messages"][0]["content"]


def test_chat_tells_how_each_cast_ended(chat):
    """LOOM-7: terminated, truncated and failed are told apart, and so is what has not ended."""
    loom = Loom()
    wards = [{"max_turns": 1}, {"require_done_tool": True}]
    chat([{"content": "well"}], loom=loom).cast("end")
    chat([{"content": "well"}], loom=loom, wards=wards).cast("stop")
    with pytest.raises(Exception, match="no reply is left"):
        chat([{"content": "well"}], loom=loom, wards=[{"max_turns": 2}, wards[1]]).cast("fail")
    told = [
        (line["metadata"]["outcome"], line["metadata"]["reason"]) for line in lines(loom, "chat")
    ]
    assert told[:2] == [("terminated", "done"), ("truncated", "max_turns")]
    assert told[2][0] == "failed"
    assert "ScriptExhausted" in told[2][1]


def test_chat_of_a_cast_that_goes_on(story, code):
    """LOOM-7: a cast that has not ended has neither outcome nor reason."""
    cast = code([{"code": "1"}, {"code": "done(1)"}]).cast("go")
    loom = Loom()
    for _, _, record in cast.loom.records():
        if not isinstance(record, EndRecord):
            loom.append(record)
    [line] = lines(loom, "chat")
    assert (line["metadata"]["outcome"], line["metadata"]["reason"]) == (None, None)


def test_chat_of_a_lasting_entity(code):
    """ENTITY-5: each cast has a line; what was said in an earlier one is context, of weight 0."""
    llm = ScriptedLLM([{"code": "x = 1"}, {"code": "done(x)"}, {"code": "done(x + 1)"}])
    spell = code(llm)
    with spell.summon() as entity:
        entity.send("one")
        entity.send("two")
    first, second = lines(spell.loom, "chat")
    assert second["messages"][:-1] == [
        message | ({"weight": 0} if message["role"] == "assistant" else {})
        for message in chat_messages(llm.requests[-1])
    ]
    assert (len(learned(first)), len(learned(second))) == (2, 1)
    assert [line["metadata"]["cast"] for line in (first, second)] == [1, 2]
    assert [line["metadata"]["turns"] for line in (first, second)] == [2, 1]


def test_chat_of_children(deep):
    """COMP-4: a child has lines of its own, with nothing of its parent's in them."""
    llm = ScriptedLLM(
        {
            "root": [{"code": "call_entity({'intent': 'leaf'})"}, {"code": "done(1)"}],
            "leaf": [{"code": "done('leaf')"}],
        }
    )
    root, leaf = lines(deep(llm).cast("root task").loom, "chat")
    assert (root["metadata"]["depth"], leaf["metadata"]["depth"]) == (0, 1)
    assert [m["content"] for m in leaf["messages"] if m["role"] == "user"] == ["leaf"]
    assert (root["metadata"]["turns"], leaf["metadata"]["turns"]) == (2, 1)


def test_chat_has_no_ephemeral_result(code):
    """PROD-5: what was never sent is not exported: a reference stands in its place."""
    cast = code([{"code": "x = dump()"}, {"code": "done(len(x))"}], dump).cast("go")
    for format_ in MODELS:
        assert "row row" not in cast.loom.export(format=format_)
    [line] = lines(cast.loom, "chat")
    assert "[dump answered 8,0" in line["messages"][-2]["content"]


def _folded(code, turns: int, **fields):
    llm = ScriptedLLM([*({"code": f"x{n} = {n}\nx{n}"} for n in range(turns)), {"code": "done(1)"}])
    wards = [{"max_turns": turns + 1}]
    return llm, code(llm, wards=wards, **fields).cast("count")


def test_chat_of_folded_turns(code):
    """LOOM-5: each stretch between two foldings has a line, with just what was sent in it."""
    llm, cast = _folded(code, 7, folding=Folding(after_turns=3, keep_turns=1))
    made = lines(cast.loom, "chat")
    assert [line["metadata"]["part"] for line in made] == list(range(1, len(made) + 1))
    assert len(made) > 2
    sent = [chat_messages(request) for request in llm.requests]
    for line in made:
        bare = [
            {name: value for name, value in message.items() if name != "weight"}
            for message in line["messages"]
        ]
        assert bare[:-1] in sent
        folds = [m for m in bare if str(m["content"]).startswith("[Folded: turns 1-")]
        assert len(folds) == (line["metadata"]["part"] > 1)
    said = [message["tool_calls"][0]["id"] for line in made for message in learned(line)]
    assert len(said) == len(set(said)) == 8


def test_chat_of_shortened_messages(code):
    """LLM-2: what was cut to fit a window stands as it was cut."""
    llm = ScriptedLLM([{"code": "print('y' * 9_000)"}] * 4 + [{"code": "done(1)"}])
    spell = code(llm, folding=Folding(window=5_000, keep_turns=1))
    made = lines(spell.cast("count").loom, "chat")
    sent = [[m["content"] for m in chat_messages(request)] for request in llm.requests]
    assert [m["content"] for m in made[-1]["messages"][:-1]] == sent[-1]
    assert all([m["content"] for m in line["messages"][:-1]] in sent for line in made)


def test_chat_of_forks(code):
    """LOOM-4: a fork has the past that it was sent, as context, and its own turns to be learned."""
    llm = ScriptedLLM([{"code": f"done({n})"} for n in range(4)])
    spell = code(llm)
    original = spell.cast("begin")
    spell.fork(original.thread, 1, "try", n=2)
    first, *forks = lines(spell.loom, "chat")
    assert len(learned(first)) == 1
    assert [len(learned(fork)) for fork in forks] == [1, 1]
    contents = [message["content"] for message in forks[0]["messages"]]
    assert "begin" in contents
    assert "try" in contents


def test_malformed_calls_and_half_characters(chat):
    """LLM-6: what JSON or UTF-8 can't hold is written as the provider is sent it."""
    llm = ScriptedLLM(
        [
            {
                "raw_response": {
                    "choices": [
                        {
                            "message": {
                                "content": "half \ud800",
                                "tool_calls": [
                                    {"id": "c", "function": {"name": "done", "arguments": "{"}}
                                ],
                            }
                        }
                    ]
                }
            },
            {"content": "over"},
        ]
    )
    cast = chat(llm).cast("go")
    [line] = lines(cast.loom, "chat")
    said = line["messages"][1]
    assert said["content"] == "half \ufffd"
    assert json.loads(said["tool_calls"][0]["function"]["arguments"]) == {"malformed": "{"}


def test_a_loom_that_does_not_say_what_was_sent(story):
    """LOOM-3: an older loom is told of, and not guessed at."""
    story.entity("e")
    story.turn("e")
    story.end("e", 1)
    with pytest.raises(LoomError, match="what the model of 'e' was sent"):
        story.loom.export(format="chat")
    assert story.loom.export(format="jsonl")


# -- groups and pairs ----------------------------------------------------------------------------


@pytest.fixture
def judged(code):
    """A loom of casts at one task, each with its reward or None: ``judged(1.0, None)``."""

    def make(*rewards):
        loom = Loom()
        for place, reward in enumerate(rewards):
            llm = ScriptedLLM([{"code": f"x = {place}\nx"}, {"code": f"done({place})"}])
            cast = code(llm, loom=loom).cast("task")
            if reward is not None:
                loom.annotate_reward(loom.entities[cast.entity_id].turns[-1].id, reward)
        return loom

    return make


def test_a_group_with_its_rewards(judged):
    """LOOM-3: judged casts at one task are one line, with their rewards and advantages."""
    loom = judged(1.0, None, 0.0, 0.5, 0.5)
    [line] = lines(loom, "grpo")
    [group] = loom.groups()
    assert line["rewards"] == [1.0, 0.0, 0.5, 0.5]
    assert line["advantages"] == [group.advantages[one.name] for one in group.judged]
    assert [one["rank"] for one in line["metadata"]["attempts"]] == [1, 4, 2, 2]
    assert [one["entity"] for one in line["metadata"]["attempts"]] == [
        one.entity_id for one in group.judged
    ]
    assert [message["role"] for message in line["prompt"]] == ["system", "user"]
    for completion in line["completions"]:
        assert [m["role"] for m in completion] == ["assistant", "tool", "assistant"]
        assert completion[1]["name"] == "python"
    called = line["completions"][1][0]["tool_calls"][0]["function"]
    assert called == {"name": "python", "arguments": {"code": "x = 2\nx"}}


def test_prompt_and_completion_are_what_was_sent(code):
    """LOOP-5: where nothing was folded, they make up the last query and its reply."""
    loom = Loom()
    llms = [ScriptedLLM([{"code": f"print({n})"}, {"code": f"done({n})"}]) for n in (1, 2)]
    for llm in llms:
        cast = code(llm, loom=loom).cast("task", context="data")
        loom.judge(cast, lambda result: result)
    [line] = lines(loom, "grpo")
    for completion, llm in zip(line["completions"], llms, strict=True):
        shown = [*line["prompt"], *completion]
        sent = chat_messages(llm.requests[-1])
        assert [m["content"] for m in shown[:-1]] == [m["content"] for m in sent]
        assert [m["role"] for m in shown[:-1]] == [m["role"] for m in sent]


def test_a_folded_cast_is_completed_in_full(code):
    """LOOM-5: a completion has all turns whole, and says that the model was told less."""
    loom = Loom()
    for fold in (None, 3):
        folding = Folding(after_turns=fold, keep_turns=1)
        _, cast = _folded(code, 6, folding=folding, loom=loom)
        loom.judge(cast, lambda result: result)
    [line] = lines(loom, "grpo")
    whole, folded = line["completions"]
    assert [one["folded"] for one in line["metadata"]["attempts"]] == [False, True]
    assert [m["content"] for m in folded] == [m["content"] for m in whole]
    assert len(whole) == 13


def test_one_alone_is_no_group(judged):
    """LOOM-3: where no two casts of one task are judged there is nothing to compare."""
    loom = judged(1.0, None)
    assert lines(loom, "grpo") == lines(loom, "dpo") == []


def test_other_prompts_are_other_lines(code):
    """IDENTITY-2: casts at one task that were told different things aren't compared in a line."""
    loom = Loom()
    for place, system in enumerate(["Be brief.", "Be kind.", "Be brief.", "Be kind.", "Be odd."]):
        cast = code([{"code": f"done({place})"}], system=system, loom=loom).cast("task")
        loom.judge(cast, lambda result: result)
    assert len(loom.groups()) == 1
    made = lines(loom, "grpo")
    assert [line["prompt"][0]["content"] for line in made] == ["Be brief.", "Be kind."]
    assert [line["rewards"] for line in made] == [[0.0, 2.0], [1.0, 3.0]]
    assert [[one["rank"] for one in line["metadata"]["attempts"]] for line in made] == [[2, 1]] * 2


def test_pairs(judged):
    """LOOM-3: by default a group's best is paired with its worst; all pairs can be had."""
    loom = judged(0.5, 1.0, 0.0, 0.5)
    [best] = lines(loom, "dpo")
    assert best["metadata"]["margin"] == 1.0
    assert (best["metadata"]["chosen"]["rank"], best["metadata"]["rejected"]["rank"]) == (1, 4)
    chosen, rejected = (
        best[name][0]["tool_calls"][0]["function"] for name in ("chosen", "rejected")
    )
    assert chosen["arguments"] == {"code": "x = 1\nx"}
    assert rejected["arguments"] == {"code": "x = 2\nx"}
    assert [line["metadata"]["margin"] for line in lines(loom, "dpo", pairs="all")] == [
        0.5,
        0.5,
        1.0,
        0.5,
        0.5,
    ]
    assert len(lines(loom, "dpo", pairs="all", margin=0.6)) == 1
    assert lines(loom, "dpo", margin=2) == []


def test_a_tie_is_no_pair(judged):
    """LOOM-3: of two that are equally good none is preferred."""
    assert lines(judged(1.0, 1.0), "dpo") == []
    assert lines(judged(1.0, 1.0), "dpo", pairs="all", margin=0) == []
    [line] = lines(judged(1.0, 1.0), "grpo")
    assert line["advantages"] == [0.0, 0.0]


def test_outcomes_in_groups_and_pairs(code):
    """LOOM-7: what was truncated or failed says so beside what terminated."""
    loom = Loom()
    good = code([{"code": "done(1)"}], loom=loom).cast("task")
    cut = code([{"code": "1"}] * 10, loom=loom).cast("task")
    for cast in (good, cut):
        loom.judge(cast, lambda result: result == 1)
    [line] = lines(loom, "grpo")
    assert [one["outcome"] for one in line["metadata"]["attempts"]] == ["terminated", "truncated"]
    assert [one["passed"] for one in line["metadata"]["attempts"]] == [True, False]
    [pair] = lines(loom, "dpo")
    assert pair["metadata"]["chosen"]["outcome"] == "terminated"
    assert (pair["metadata"]["rejected"]["outcome"], pair["metadata"]["rejected"]["reason"]) == (
        "truncated",
        "max_turns",
    )


# -- secrets -------------------------------------------------------------------------------------

SHAPED = "sk-proj-very-secret-0123456789"
KNOWN = "correct-horse-battery"


@gate
def tell() -> object:
    """Tell a secret."""
    return {"key": SHAPED, "nested": [KNOWN]}


def _with_secrets(code):
    loom = Loom()
    for n in (1, 2):
        replies = [
            {"content": f"I use {SHAPED} and {KNOWN}", "code": f"print('{SHAPED}'); tell()"},
            {"code": f"raise ValueError('{KNOWN}')", "thinking": KNOWN},
            {"code": f"done({{'{KNOWN}': ['{SHAPED}', {n}]}})"},
        ]
        spell = code(
            replies, tell, loom=loom, secrets={"door": KNOWN}, system=f"The key is {SHAPED}"
        )
        cast = spell.cast(f"open with {KNOWN}", context=[SHAPED, KNOWN])
        loom.annotate_reward(loom.entities[cast.entity_id].turns[-1].id, n)
    return loom


@pytest.mark.parametrize("format_", ["jsonl", *MODELS])
def test_secrets_are_withheld(code, format_):
    """PROD-8: no default export holds a secret, wherever it was said; ``none`` gives all."""
    loom = _with_secrets(code)
    text = loom.export(format=format_)
    assert text.count("\n") >= 1
    assert SHAPED not in text
    assert KNOWN not in text
    assert "[redacted: OpenAI key]" in text
    assert "[redacted: door]" in text
    whole = loom.export(format=format_, redaction="none")
    assert SHAPED in whole
    assert KNOWN in whole
    if format_ in MODELS:
        assert len(lines(loom, format_)) == len(lines(loom, format_, redaction="none"))


def test_a_secret_in_an_error_s_reason(story):
    """PROD-8: the reason of a failure is redacted too."""
    loom = story.loom
    loom.append(EntityRecord("e", "cantrip", "identity", None, 0, {}, "code", "m", "i"))
    loom.append(IntentRecord("e", 1, "i"))
    sent = Sent(0, wire.dumps([{"role": "user", "content": "i"}]), wire.dumps([]))
    loom.append(ReplyRecord("e", 1, Reply("well"), sent))
    loom.append(EndRecord("e", 1, None, "failed", f"ProviderError: 401 for {SHAPED}"))
    [line] = lines(loom, "chat")
    assert line["metadata"]["reason"] == "ProviderError: 401 for [redacted: OpenAI key]"


def test_rewards_that_are_further_apart_than_any_float(judged):
    """LOOM-3: the margin of a pair stays a number, as JSON knows one."""
    loom = judged(1e308, -1e308)
    [line] = lines(loom, "dpo")
    assert line["metadata"]["margin"] == sys.float_info.max


# -- where it goes -------------------------------------------------------------------------------


@pytest.mark.parametrize("format_", MODELS)
def test_to_a_file_and_a_stream(judged, tmp_path, format_):
    """PROD-8: a file is made for its user alone; a stream is written a line at a time."""
    loom = judged(1.0, 0.0)
    text = loom.export(format=format_)
    assert text
    loom.export(tmp_path / "out.jsonl", format_)
    assert (tmp_path / "out.jsonl").read_text() == text
    assert stat.S_IMODE(os.stat(tmp_path / "out.jsonl").st_mode) == 0o600
    stream = io.StringIO()
    loom.export(stream, format_)
    assert stream.getvalue() == text


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"format": "yaml"}, "exported as 'jsonl', 'chat', 'grpo', 'dpo' or 'parquet', not 'yaml'"),
        ({"redaction": "some"}, "redaction is 'default' or 'none', not 'some'"),
        ({"format": "dpo", "pairs": "worst"}, "pairs are 'best' or 'all', not 'worst'"),
        ({"format": "dpo", "margin": -1}, "the margin must be a number from 0 on, not -1"),
        ({"format": "dpo", "margin": float("nan")}, "the margin must be a number from 0 on"),
        (
            {"format": "grpo", "pairs": "all"},
            "pairs and margin are for the format 'dpo', not 'grpo'",
        ),
        ({"margin": 1}, "pairs and margin are for the format 'dpo', not 'jsonl'"),
    ],
)
def test_what_there_is_not(story, tmp_path, options, message):
    """PROD-8: what can't be had is an error that names what can, before anything is written."""
    with pytest.raises(LoomError, match=message):
        story.loom.export(tmp_path / "out", **options)
    assert not (tmp_path / "out").exists()


TEXTS = st.text(st.sampled_from('ab"\\\n é\ud800\u2028'), min_size=1, max_size=8)


@settings(max_examples=20, deadline=None)
@given(st.lists(TEXTS, min_size=1, max_size=4))
def test_any_text_can_be_exported(texts):
    """LLM-6: whatever was said and asked, each line is JSON of its schema, on one line."""
    loom = Loom()
    for reward in (0, 1):
        replies = [{"content": text} for text in texts]
        wards = [{"max_turns": len(texts)}, {"require_done_tool": True}]
        circle = Circle(gates=["done"], wards=wards)
        cast = Cantrip(llm=ScriptedLLM(replies), circle=circle, loom=loom).cast("x" + texts[0])
        loom.annotate_reward(loom.entities[cast.entity_id].turns[-1].id, reward)
    for format_ in MODELS:
        assert lines(loom, format_)
