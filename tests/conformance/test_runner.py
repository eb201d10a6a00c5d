"""The runner: for every key of a case what is right passes, and what is wrong fails."""

from __future__ import annotations

import copy
from pathlib import Path

import pytest
from circlet.runtime.conformance import Case, run_case, vocabulary
from circlet.runtime.conformance.expecting import EXPECTATIONS, FAMILIES

USAGE = {"prompt_tokens": 10, "completion_tokens": 4, "cached_tokens": 3}
CHAT = {"gates": ["done", "echo"], "wards": [{"max_turns": 5}]}
CODE = {
    "medium": "code",
    "gates": ["done", "call_entity", {"name": "tick", "stateful": True}],
    "wards": [{"max_turns": 5}],
}


def _call(gate, **args):
    return {"tool_calls": [{"gate": gate, "args": args}]}


SCENES = {
    "talk": (
        {
            "llm": {
                "responses": [_call("echo", text="alpha"), _call("done", answer="omega")],
                "usage": USAGE,
            },
            "identity": {"system_prompt": "You talk.", "tool_choice": "required", "seed": 7},
            "circle": CHAT,
        },
        {"cast": {"intent": "speak"}, "then": {"annotate_reward": {"turn": 0, "reward": 0.5}}},
    ),
    "two": (
        {"llm": {"responses": [{"content": "a"}, {"content": "b"}]}, "circle": CHAT},
        [{"cast": {"intent": "one"}}, {"cast": {"intent": "two"}}],
    ),
    "one entity": (
        {"llm": {"responses": [{"content": "a"}, {"content": "b"}]}, "circle": CHAT},
        {"summon": {"intents": ["one", "two"]}},
    ),
    "parent": (
        {
            "llm": {"responses": [{"code": "tick()\ndone(call_entity('sub'))"}], "type": "code"},
            "child_llm": {"responses": [{"code": "done(42)"}]},
            "circle": CODE,
        },
        {"cast": {"intent": "delegate"}},
    ),
    "truncated": (
        {
            "llm": {"responses": [_call("echo", text="x")] * 2},
            "circle": {**CHAT, "wards": [{"max_turns": 1}]},
        },
        {"cast": {"intent": "go"}},
    ),
    "failing": (
        {"llm": {"responses": [{"content": ""}]}, "circle": CHAT},
        {"cast": {"intent": "go"}},
    ),
    "fork": (
        {
            "llm": {"responses": [_call("echo", text="alpha"), _call("done", answer=1)]},
            "fork_llm": {"responses": [_call("done", answer=2)]},
            "identity": {"tool_choice": "auto"},
            "circle": CHAT,
        },
        {
            "cast": {"intent": "go"},
            "then": {"fork": {"from_turn": 1, "llm": "fork_llm", "intent": "again"}},
        },
    ),
    "folded": (
        {
            "llm": {
                "responses": [_call("echo", text=str(n)) for n in range(6)]
                + [_call("done", answer=1)]
            },
            "circle": {**CHAT, "wards": [{"max_turns": 9}]},
            "folding": {"after_turns": 4, "keep_turns": 3},
        },
        {"cast": {"intent": "go"}},
    ),
    "agent": (
        {"llm": {"responses": [{"content": "hello"}]}, "circle": CHAT},
        {
            "acp_exchange": [
                {"id": "1", "method": "initialize", "params": {"protocolVersion": 1}},
                {"id": "2", "method": "session/new", "params": {}},
                {"id": "3", "method": "session/prompt", "params": {"prompt": "greet"}},
                {"id": "4", "method": "no/such", "params": {}},
            ]
        },
    ),
    "exported": (
        {"llm": {"responses": [{"content": "a plain word"}]}, "circle": CHAT},
        {"cast": {"intent": "go"}, "then": {"export_loom": {"redaction": "none"}}},
    ),
}
"""Setups and actions, by name."""

FIRST, LAST = {"role": "system", "content": "You talk."}, {"role": "tool", "content": "alpha"}
TALKED = ["EntityStarted", "StepStarted", "MessageStarted", "Text", "MessageCompleted"]
TALKED += ["UsageReported", "StepCompleted", "EntityEnded", "FinalResponse"]
ANSWERS = [{"id": "1"}, {"id": "2"}, {"id": "3"}, {"id": "4"}]


def _messages(**of_second):
    return [{}, of_second]


def _answers(place, **expected):
    return [{**one, **(expected if at == place else {})} for at, one in enumerate(ANSWERS)]


EXPECTED = [
    ("failing", "error", "neither content nor tool_calls", "duplicate"),
    ("two", "error", None, "neither content"),
    ("talk", "result", "omega", "Omega"),
    ("parent", "result", 42, 42.0),
    ("truncated", "result", None, "x"),
    ("talk", "result_contains", "meg", "beta"),
    ("parent", "result_contains", None, "42"),
    ("two", "results", ["a", "b"], ["b", "a"]),
    ("two", "results", ["a", "b"], ["a"]),
    ("talk", "turns", 2, 3),
    ("talk", "terminated", True, False),
    ("truncated", "terminated", False, True),
    ("truncated", "truncated", True, False),
    ("talk", "truncated", False, True),
    ("truncated", "reason", "max_turns", "timeout_s"),
    ("truncated", "summary_contains", ["1 turns", "echo"], ["1 turns", "bell"]),
    ("two", "entities", 2, 1),
    ("one entity", "entities", 1, 2),
    ("two", "entity_ids_unique", True, False),
    ("one entity", "entity_ids_unique", False, True),
    ("talk", "gate_calls_executed", ["echo", "done"], ["echo"]),
    ("talk", "gate_call_order", ["echo", "done"], ["done", "echo"]),
    ("talk", "gate_results", ["alpha", "omega"], ["alpha", "alpha"]),
    ("parent", "gate_runs", {"tick": 1}, {"tick": 2}),
    ("talk", "usage", {"prompt_tokens": 10}, {"prompt_tokens": 20}),
    ("talk", "usage", {"completion_tokens": 4}, {"completion_tokens": 5}),
    ("talk", "usage", {"cached_tokens": 3}, {"cached_tokens": 0}),
    ("talk", "usage", {"total_tokens": 14}, {"total_tokens": 17}),
    ("talk", "cumulative_usage", {"total_tokens": 28}, {"total_tokens": 14}),
    ("parent", "child_turns", 1, 2),
    ("parent", "child_truncated", False, True),
    ("parent", "child_terminated", True, False),
    ("parent", "child_reason", "done", "max_turns"),
    ("parent", "child_result", 42, 41),
    ("parent", "child_medium", "code", "conversation"),
    ("parent", "child_model", "child_llm", "llm"),
    ("parent", "child_wards", {"max_turns": 5}, {"max_turns": 6}),
    ("two", "events", TALKED, TALKED[:-1]),
    ("agent", "acp_responses", ANSWERS, ANSWERS[:-1]),
    ("agent", "acp_responses", _answers(0, id="1"), _answers(0, id=1)),
    ("agent", "acp_responses", _answers(0, has_result=True), _answers(0, has_result=False)),
    ("agent", "acp_responses", _answers(3, has_result=False), _answers(3, has_result=True)),
    (
        "agent",
        "acp_responses",
        _answers(2, result_contains="hello"),
        _answers(2, result_contains="bye"),
    ),
    (
        "agent",
        "acp_responses",
        _answers(3, error_contains="-32601"),
        _answers(3, error_contains="-32700"),
    ),
    (
        "agent",
        "acp_responses",
        _answers(2, stop_reason="end_turn"),
        _answers(2, stop_reason="cancelled"),
    ),
    ("talk", "logs_exclude", "nothing of the kind", "alpha"),
    ("talk", "loom", {"turn_count": 2}, {"turn_count": 3}),
    ("parent", "loom", {"utterance_count": 2}, {"utterance_count": 3}),
    ("parent", "loom", {"entity_count": 2}, {"entity_count": 1}),
    ("folded", "loom", {"folds": [[1, 1], [1, 2], [1, 3]]}, {"folds": []}),
    ("talk", "loom", {"identity": {"system_prompt": "You talk."}}, {"identity": {"seed": 8}}),
    ("talk", "loom", {"turns": [{}, {}]}, {"turns": [{}, {}, {}]}),
    ("two", "threads", 2, 1),
    ("fork", "thread_0", {"turns": 2}, {"turns": 3}),
    ("fork", "thread_1", {"result": 2}, {"result": 1}),
    ("fork", "thread_1", {"turns": 2}, {"turns": 1}),
    ("two", "thread_9", None, {"turns": 1}),
    (
        "fork",
        "thread_1",
        {"last_turn": {"terminated": True, "truncated": False}},
        {"last_turn": {"truncated": True}},
    ),
    ("talk", "thread", [{"role": "entity"}, {"role": "circle"}] * 2, [{"role": "entity"}] * 4),
    ("talk", "thread", {"length": 2}, {"length": 3}),
    ("talk", "thread", {"result": "omega"}, {"result": "alpha"}),
    ("talk", "thread", {"turns": [{}, {"terminated": True}]}, {"turns": [{"terminated": True}]}),
    ("fork", "forked_from", {"strategy": "replay"}, {"strategy": "snapshot"}),
    ("fork", "forked_from", {"node": "turns[0].id"}, {"node": "turns[1].id"}),
    ("exported", "loom_export_include", "a plain word", "another word"),
    ("exported", "loom_export_exclude", "another word", "a plain word"),
    ("talk", "turn_1_observation", {"is_error": False}, {"is_error": True}),
    ("talk", "turn_1_observation", {"content": "alpha"}, {"content": "alph"}),
    ("talk", "turn_1_observation", {"content_contains": "lph"}, {"content_contains": "beta"}),
    ("talk", "turn_1_observation", {"content_excludes": "beta"}, {"content_excludes": "lph"}),
    ("talk", "turn_1_observation", {"max_chars": 5}, {"max_chars": 4}),
    ("talk", "llm_invocations", 2, 1),
    ("talk", "llm_invocations", [{}, {}], [{}, {}, {}]),
    (
        "talk",
        "llm_invocations",
        [{"messages": [FIRST, {"role": "user", "content": "speak"}]}],
        [{"messages": [FIRST]}],
    ),
    ("talk", "llm_invocations", _messages(message_count=4), _messages(message_count=3)),
    ("talk", "llm_invocations", _messages(message_count_below=5), _messages(message_count_below=4)),
    ("talk", "llm_invocations", _messages(first_message=FIRST), _messages(first_message=LAST)),
    ("talk", "llm_invocations", _messages(last_message=LAST), _messages(last_message=FIRST)),
    (
        "talk",
        "llm_invocations",
        _messages(last_message={"content_contains": "lph"}),
        _messages(last_message={"content_contains": "omega"}),
    ),
    (
        "talk",
        "llm_invocations",
        _messages(messages_include=["speak", "alpha"]),
        _messages(messages_include=["speak", "omega"]),
    ),
    (
        "talk",
        "llm_invocations",
        _messages(messages_exclude="omega"),
        _messages(messages_exclude="lph"),
    ),
    (
        "talk",
        "llm_invocations",
        _messages(message_count_includes="alpha"),
        _messages(message_count_includes="omega"),
    ),
    (
        "talk",
        "llm_invocations",
        _messages(message_count_excludes="omega"),
        _messages(message_count_excludes="alpha"),
    ),
    ("fork", "fork_llm_invocations", 1, 0),
    ("talk", "llm_received_tool_choice", "required", "auto"),
    ("fork", "fork_llm_received_tool_choice", "auto", None),
    (
        "talk",
        "llm_received_tools",
        [{"name": "done"}, {"name": "echo"}],
        [{"name": "echo"}, {"name": "done"}],
    ),
    ("talk", "llm_received_tools", [{"name": "done"}, {"name": "echo"}], [{"name": "done"}]),
    (
        "talk",
        "llm_received_tools",
        [{"name": "done"}, {"name": "echo", "description_contains": "unchanged"}],
        [{"name": "done"}, {"name": "echo", "description_contains": "changed utterly"}],
    ),
    (
        "talk",
        "llm_received_tools",
        None,
        [{"name": "done"}, {"name": "echo", "parameters": {"type": "object"}}],
    ),
]
"""A scene, a key, what holds there (None: left out), what doesn't."""

TURNS = [
    ("talk", {"id": "not_null"}, {"id": None}),
    ("talk", {"parent_id": "turns[0].id"}, {"parent_id": None}),
    ("talk", {"parent_id": "turns[0].id"}, {"parent_id": "turns[1].id"}),
    ("talk", {"entity_id": "parent"}, {"entity_id": "child"}),
    ("parent", {"entity_id": "child", "sequence": 1}, {"entity_id": "parent"}),
    ("talk", {"role": "entity"}, {"role": "circle"}),
    ("talk", {"sequence": 2}, {"sequence": 1}),
    ("talk", {"turn": 2}, {"turn": 1}),
    ("parent", {"part": 1}, {"part": 2}),
    ("talk", {"gate_calls": ["done"]}, {"gate_calls": ["echo"]}),
    ("talk", {"utterance": "not_null"}, {"utterance": None}),
    ("talk", {"observation": "not_null"}, {"observation": None}),
    ("talk", {"observation_contains": "omega"}, {"observation_contains": "alpha"}),
    ("talk", {"terminated": True}, {"terminated": False}),
    ("talk", {"truncated": False}, {"truncated": True}),
    ("talk", {"reason": "done"}, {"reason": "max_turns"}),
    ("talk", {"reward": None}, {"reward": 0.5}),
    ("talk", {"metadata": {"tokens_prompt": 10}}, {"metadata": {"tokens_prompt": 10.0}}),
    ("talk", {"metadata": {"tokens_completion": 4}}, {"metadata": {"tokens_completion": 0}}),
    ("talk", {"metadata": {"tokens_cached": 3}}, {"metadata": {"tokens_cached": 0}}),
    (
        "talk",
        {"metadata": {"duration_ms": "greater_than(0)"}},
        {"metadata": {"duration_ms": "less_than(0)"}},
    ),
    ("talk", {"metadata": {"timestamp": "not_null"}}, {"metadata": {"timestamp": None}}),
]
"""A scene, what holds of its loom's second turn, what doesn't."""


def run(scene, wanted, **changes):
    setup, action = copy.deepcopy(SCENES[scene])
    body = {"rule": "X-1", "name": "a case", "setup": setup, "action": action, "expect": wanted}
    return run_case(Case("X-1", "a case", 1, body | changes))


def _families():
    """The keys of ``EXPECTED`` as a list of all keys writes them."""
    written = []
    for _, key, _, _ in EXPECTED:
        for family in FAMILIES:
            start, _, end = family.partition("N" if "_N" in family else "LLM")
            if key.startswith(start) and key.endswith(end) and key not in EXPECTATIONS:
                key = family
        written.append(key)
    return set(written)


@pytest.mark.parametrize(
    ("scene", "key", "right", "wrong"),
    EXPECTED,
    ids=[f"{place}-{one[0]}-{one[1]}" for place, one in enumerate(EXPECTED)],
)
def test_each_expectation_can_fail(scene, key, right, wrong):
    """What holds passes; what doesn't is a failure that names the key."""
    if right is not None:
        held = run(scene, {key: right})
        assert held.passed, held.failures
    failed = run(scene, {key: wrong})
    assert not failed.passed
    assert any(key in failure for failure in failed.failures), failed.failures


@pytest.mark.parametrize(("scene", "right", "wrong"), TURNS, ids=lambda one: str(one)[:40])
def test_each_expectation_of_a_turn_can_fail(scene, right, wrong):
    """What is expected of a turn of the loom is checked key by key."""
    first = {"entity_id": "parent"}
    held = run(scene, {"loom": {"turns": [first, right]}})
    assert held.passed, held.failures
    failed = run(scene, {"loom": {"turns": [first, wrong]}})
    assert any("loom.turns[1]" in failure for failure in failed.failures), failed.failures


def test_every_key_is_tried():
    """No key is known to the runner and missing in these tables."""
    assert _families() == {*EXPECTATIONS, *FAMILIES}
    nested = str([one[2:] for one in EXPECTED]) + str([one[1:] for one in TURNS])
    for group in ("OBSERVATION", "USAGE", "QUERY", "MESSAGE", "TOOL", "LOOM", "TURN", "METADATA"):
        for key in getattr(vocabulary, group):
            assert f"'{key}'" in nested, key
    for group in ("THREAD", "NUMBERED_THREAD", "FORKED_FROM", "RESPONSE", "HALF_TURN"):
        for key in getattr(vocabulary, group):
            assert f"'{key}'" in nested, key


def test_an_error_nobody_expects_is_a_failure():
    """An error that was raised is told, whatever else is expected."""
    failed = run("failing", {"entities": 1})
    assert "expected no error" in failed.failures[0]
    assert "neither content nor tool_calls" in failed.failures[0]


# -- promises of a setup -----------------------------------------------------------------------


def _with_model(scene, **says):
    setup = copy.deepcopy(SCENES[scene][0])
    setup["llm"].update(says)
    return setup


def test_stateless_is_checked():
    """A model that is to be stateless has to be sent everything; a folded context is not that."""
    held = run("talk", {"turns": 2}, setup=_with_model("talk", stateless=True))
    assert held.passed, held.failures
    failed = run("folded", {"turns": 7}, setup=_with_model("folded", stateless=True))
    assert ["setup.llm.stateless" in failure for failure in failed.failures] == [True]


def test_a_models_type_is_checked():
    """A model that acts by code has to be offered the code circle's tool."""
    failed = run("talk", {"turns": 2}, setup=_with_model("talk", type="code_circle"))
    assert "setup.llm.type" in failed.failures[0]


def test_retry_behaviour_is_checked():
    """Where retries are in play, an error of the script has to be followed by the same request."""
    failed = run("talk", {"turns": 2}, setup=_with_model("talk", retry_behavior=True))
    assert "setup.llm.retry_behavior" in failed.failures[0]
    lines = [{"error": {"status": 429}}, {"content": "ok"}]
    setup = {"llm": {"responses": lines, "retry_behavior": True}, "circle": CHAT}
    assert run("two", {"result": "ok"}, setup=setup, action={"cast": {"intent": "go"}}).passed


# -- what can't be carried out -----------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "named"),
    [
        ({"setop": {}}, "'setop' in the case"),
        ({"setup": {"llm": {"responses": []}, "circel": {}}}, "'circel' in setup; did you mean"),
        ({"setup": {"llm": {"response": []}, "circle": CHAT}}, "'response' in setup.llm"),
        ({"setup": {"llm": {"responses": [{"contents": "x"}]}, "circle": CHAT}}, "contents"),
        ({"setup": {"llm": {"responses": []}, "circle": {"gate": []}}}, "'gate' in setup.circle"),
        (
            {"setup": {"llm": {"responses": []}, "circle": {"gates": [{"name": "x", "do": 1}]}}},
            "'do' in a gate",
        ),
        (
            {"setup": {"llm": {"responses": []}, "circle": CHAT, "identity": {"sytem": "x"}}},
            "sytem",
        ),
        ({"setup": {"llm": {"responses": []}, "circle": CHAT, "folding": {"when": 1}}}, "when"),
        ({"setup": {"llm": {"responses": []}, "circle": CHAT, "retry": {"often": 1}}}, "often"),
        (
            {"setup": {"llm": {"responses": []}, "circle": {**CHAT, "wards": [{"max_turn": 1}]}}},
            "max_turn",
        ),
        ({"action": {"play": {}}}, "'play' in action"),
        ({"action": {"cast": {"intent": "x", "model": "y"}}}, "'model' in cast"),
        ({"action": {"cast": {"intent": "x", "llm": "llm_none"}}}, "no model 'llm_none'"),
        ({"action": {"cast": {"intent": "x"}, "then": {"unmake": 1}}}, "'unmake' in then"),
        ({"action": {"summon": {"intent": "x"}}}, "'intent' in summon"),
        ({"action": {"then": {"delete_turn": 0}}}, "an action is one of"),
        ({"action": {"construct_cantrip": False}}, "can only be true"),
        ({"expect": {"resolt": 1}}, "'resolt' in expect; did you mean result"),
        ({"expect": {}}, "asserts nothing"),
        ({"expect": None}, "no expect"),
        ({"expect": {"turns": 2, "turn_1_observation": {}}}, "expect.turn_1_observation is empty"),
        ({"expect": {"loom": {"turnings": 1}}}, "'turnings' in expect.loom"),
        ({"expect": {"loom": {"turns": [{"number": 1}]}}}, "'number' in expect.loom.turns[0]"),
        ({"expect": {"loom": {"identity": {"mood": 1}}}}, "'mood' in expect.loom.identity"),
        ({"expect": {"llm_invocations": [{"message": "x"}]}}, "'message' in expect.llm_inv"),
        ({"expect": {"llm_invocations": [{"last_message": {"text": 1}}]}}, "'text' in expect.llm"),
        ({"expect": {"llm_received_tools": [{"title": "x"}]}}, "'title' in expect.llm_rec"),
        ({"expect": {"other_llm_invocations": 1}}, "no model 'other_llm'"),
        ({"expect": {"turn_1_observation": {"text": "x"}}}, "'text' in expect.turn_1_observation"),
        ({"expect": {"turn_9_observation": {}}}, "there is no turn 9"),
        ({"expect": {"usage": {"tokens": 1}}}, "'tokens' in expect.usage"),
        ({"expect": {"thread": {"size": 1}}}, "'size' in expect.thread"),
        ({"expect": {"thread": [{"who": 1}]}}, "'who' in expect.thread"),
        ({"expect": {"acp_responses": []}}, "nobody talked to the agent"),
        ({"expect": {"loom_export_exclude": "x"}}, "nothing was exported"),
        ({"expect": {"child_turns": 1}}, "there are 0 children"),
    ],
)
def test_what_nobody_understands_fails_the_case(changes, named):
    """A key or a value that can't be interpreted is a failure that names it, never ignored."""
    failed = run("talk", {"turns": 2}, **changes)
    assert not failed.passed
    assert named in "\n".join(failed.failures)


def test_the_words_are_explained():
    """Each key stands in the page that explains them."""
    page = Path(__file__).parents[2].joinpath("docs", "conformance.md").read_text(encoding="utf-8")
    groups = [value for value in vars(vocabulary).values() if isinstance(value, tuple)]
    for key in {key for group in groups for key in group} | {*EXPECTATIONS, *FAMILIES}:
        assert f"`{key}`" in page, key


def test_a_ward_that_nobody_knows_is_seen_whatever_else_is_wrong():
    """CANTRIP-1: a case that is refused for something else still fails for an unknown ward."""
    setup = {"llm": None, "circle": {"gates": ["done"], "wards": [{"max_turnz": 3}]}}
    body = {
        "setup": setup,
        "action": {"construct_cantrip": True},
        "expect": {"error": "cantrip requires an llm"},
    }
    result = run_case(Case("X-1", "a case", 1, {"rule": "X-1", "name": "a case", **body}))
    assert not result.passed
    assert "max_turnz" in result.failures[0]
