"""What a case of a suite can't tell well: order against the clock, cancelling, the other fronts."""

from __future__ import annotations

import asyncio
import json

import anyio
import pytest
from circlet import LLM, Cantrip, Circle, Gate, Loom, Retry, ScriptedLLM, gate
from circlet.runtime import portal
from circlet.runtime.acp import exchange
from circlet.runtime.acp.check import check
from circlet.runtime.cli.app import app
from circlet.runtime.errors import CantripError, ContextLimit, ProviderError, RuntimeFault
from circlet.runtime.events import MessageCompleted, MessageStarted, StepCompleted, UsageReported
from circlet.runtime.llm import Reply, ToolCall, check_linkage
from circlet.runtime.loom import CallRecord, ReplyRecord
from circlet.runtime.spawn import spawn as default_spawn
from circlet.runtime.spell import load
from circlet.runtime.wards import Wards
from typer.testing import CliRunner

TURNS = {"max_turns": 5}
DELEGATING = ["done", "call_entity", "call_entity_batch"]


def code(*programs):
    return ScriptedLLM([{"code": program} for program in programs])


def spell(llm, *gates, medium="code", wards=(TURNS,), **fields):
    return Cantrip(llm=llm, circle=Circle(medium=medium, gates=gates, wards=wards), **fields)


def test_a_cantrip_names_what_it_lacks():
    """CANTRIP-1: built in Python, too, it says that a model or a circle is missing."""
    with pytest.raises(CantripError, match="cantrip requires an llm"):
        Cantrip(circle=Circle(gates=["done"], wards=[TURNS]))
    with pytest.raises(CantripError, match="cantrip requires a circle"):
        Cantrip(llm=code("done(1)"))


@pytest.mark.parametrize("medium", ["conversation", "code"])
def test_a_circle_of_either_medium_names_what_it_lacks(medium):
    """CIRCLE-1, CIRCLE-2: built in Python, too, it says that done or a ward is missing."""
    with pytest.raises(CantripError, match="circle must have a done gate"):
        spell(code("1"), "echo", medium=medium)
    with pytest.raises(CantripError, match="must have at least one truncation ward"):
        spell(code("1"), "done", medium=medium, wards=[{"max_tokens": 9}])


CALLS = [
    [{"gate": "echo", "args": {"text": "a"}}, {"gate": "echo", "args": {"text": "b"}}],
    [{"gate": "nothing", "args": {}}, {"gate": "echo", "args": {"wrong": 1}}],
    [{"gate": "python", "args": {"code": "echo('c')"}}, {"gate": "python", "args": {}}],
    [{"gate": "done", "args": {"answer": 1}}, {"gate": "echo", "args": {"text": "d"}}],
]


@pytest.mark.parametrize("medium", ["conversation", "code"])
def test_each_call_is_answered_under_its_id(medium):
    """LLM-7: whatever becomes of a call, the next query holds one result for it, with its id."""
    model = ScriptedLLM([*({"tool_calls": calls} for calls in CALLS), {"content": "over"}])
    with spell(model, "done", "echo", medium=medium).summon() as entity:
        assert [entity.send(intent).result for intent in ("go", "go on")] == [1, "over"]
    answered = [one.tool_call_id for one in model.requests[-1].messages if one.role == "tool"]
    assert len(answered) == len(set(answered)) == 8
    for request in model.requests:
        check_linkage(request.messages)


class Watching(LLM):
    """A model that looks at the loom whenever it is asked."""

    name = "watching"

    def __init__(self, loom: Loom, calls: int) -> None:
        self.seen: list[tuple[int, int]] = []
        self._loom = loom
        self._calls = calls

    async def query(self, request) -> Reply:
        self.seen.append((self._loom.turn_count, self._loom.utterance_count))
        name = "echo" if len(self.seen) <= self._calls else "done"
        arguments = {"text": "x"} if name == "echo" else {"answer": "x"}
        return Reply(tool_calls=(ToolCall(f"call_{len(self.seen)}", name, arguments),))


def test_a_turn_is_recorded_before_the_next_begins():
    """LOOM-1: at each query all turns before it are in the loom, and none after it."""
    loom = Loom()
    model = Watching(loom, calls=3)
    spell(model, "done", "echo", medium="conversation", loom=loom).cast("go")
    assert model.seen == [(0, 0), (1, 1), (2, 2), (3, 3)]


def test_an_utterance_is_recorded_before_it_is_carried_out():
    """LOOM-1: when a gate runs, the loom has what the model said, and the beginning of the call."""
    loom, kinds = Loom(), []

    def look() -> None:
        kinds.extend(type(record) for _, _, record in loom.records())

    spell(code("look()\ndone(1)"), "done", look, loom=loom).cast("go")
    assert kinds[-2:] == [ReplyRecord, CallRecord]


def test_what_is_told_is_recorded_already():
    """LOOM-1, STREAMING: whoever is told of an utterance or of a turn finds it in the loom."""
    loom, found = Loom(), []

    def watch(event) -> None:
        if isinstance(event, MessageCompleted):
            found.append(loom.utterance_count == event.turn)
        elif isinstance(event, StepCompleted):
            found.append(loom.turn_count == event.turn)

    spell(code("1", "2", "done(3)"), "done", loom=loom).cast("go", on_event=watch)
    assert found == [True] * 6


@pytest.mark.parametrize("limit", [1, 2, 3, 7])
def test_turns_are_counted_exactly(limit):
    """LOOP-4: with max_turns N there are N queries and N turns, no more and no fewer."""
    model = code(*["1"] * 9)
    cast = spell(model, "done", wards=[{"max_turns": limit}]).cast("go")
    assert (cast.turns, len(model.requests), cast.loom.turn_count) == (limit, limit, limit)
    assert cast.truncated
    assert not cast.terminated
    assert f"after {limit} turns" in cast.summary


@pytest.mark.parametrize("at", [1, 2, 3])
def test_what_is_too_long_is_an_error(at):
    """LLM-2: past the window there is a structured error, and every request was whole."""

    class Small(LLM):
        name = "small"
        sent: list[int] = []

        async def query(self, request):
            self.sent.append(len(request.messages))
            if len(self.sent) >= at:
                raise ContextLimit("that is more than 10 tokens", 400)
            program = {"code": "x = 1"}
            return Reply(tool_calls=(ToolCall(f"call_{len(self.sent)}", "python", program),))

    model = Small()
    with pytest.raises(ContextLimit, match="more than 10 tokens"):
        spell(model, "done").cast("go", context="y" * 50)
    assert model.sent[:at] == [2 * turn for turn in range(1, at + 1)]


# -- time: four levels -------------------------------------------------------------------------


def test_four_levels_of_time():
    """ENTITY-5, PROD-2, PROD-3: queries make a turn, turns a cast, casts an entity's life."""
    model = ScriptedLLM(
        [
            {"error": {"status": 503}},
            {"code": "n = 1"},
            {"code": "done(n)"},
            {"error": {"status": 429}},
            {"code": "done(n + 1)"},
        ],
        usage={"prompt_tokens": 2, "completion_tokens": 1},
    )
    cantrip = spell(model, "done", retry=Retry(base_s=0))
    with cantrip.summon() as entity:
        casts = [entity.send("first"), entity.send("second")]
    (view,) = cantrip.loom.entities.values()
    assert [cast.result for cast in casts] == [1, 2]
    assert [cast.turns for cast in casts] == [2, 1]
    assert [cast.tree_turns for cast in casts] == [2, 3]
    assert [cast.usage.total_tokens for cast in casts] == [6, 3]
    assert (len(model.requests), view.utterance_count, cantrip.loom.turn_count) == (5, 3, 3)
    assert {cast.entity_id for cast in casts} == {view.id}


def test_retries_wait_longer_each_time():
    """PROD-2: one second, two, four, and then no more; other failures of a request are final."""
    busy, wrong = ProviderError("busy", 429), ProviderError("wrong", 403)
    assert [Retry().wait_s(busy, tries) for tries in range(4)] == [1, 2, 4, None]
    assert [Retry().wait_s(ProviderError("down", code), 0) for code in (500, 502, 599)] == [1] * 3
    assert Retry().wait_s(ProviderError("no answer at all"), 0) == 1
    assert [Retry().wait_s(wrong, 0), Retry().wait_s(ProviderError("no", 400), 0)] == [None] * 2
    asked = ProviderError("busy", 429, retry_after_s=9)
    assert Retry().wait_s(asked, 0) == 9


# -- wards -------------------------------------------------------------------------------------

COMPOSED = [
    ("max_turns", 3, 9, 3),
    ("max_turns", 9, 3, 3),
    ("timeout_s", 2.0, 1.0, 1.0),
    ("timeout_s", 1.0, 2.0, 1.0),
    ("max_eval_ms", 100, 90, 90),
    ("max_eval_ms", 90, 100, 90),
    ("max_memory_mb", 64, 128, 64),
    ("max_output_chars", 500, 300, 300),
    ("max_tokens", 10, 20, 10),
    ("max_tokens", 20, 0, 0),
    ("max_entities", 1, 2, 1),
    ("max_batch", 4, 2, 2),
    ("max_batch", 2, 4, 2),
    ("max_concurrent", 2, 4, 2),
    ("max_errors_in_a_row", 3, 1, 1),
    ("require_done_tool", True, False, True),
    ("require_done_tool", False, True, True),
    ("require_done_tool", False, False, False),
    ("modules", ("json", "re"), ("re", "math"), ("re",)),
    ("max_depth", 5, 9, 4),
    ("max_depth", 5, 2, 2),
    ("max_depth", 0, 3, 0),
]


@pytest.mark.parametrize(("name", "parent", "child", "resolved"), COMPOSED)
def test_wards_only_tighten(name, parent, child, resolved):
    """WARD-1, WARD-2: the minimum of numbers, OR of truth values, what both allow of modules."""
    wards = Wards.of([{"max_turns": 10}, {name: parent}])
    assert getattr(wards.for_child([{name: child}]), name) == resolved


def test_every_ward_is_composed():
    """WARD-1: the table above has all of them, and what nobody asks for is the parent's."""
    assert {name for name, *_ in COMPOSED} == set(Wards.model_fields)
    wards = Wards.of([{"max_turns": 3}, {"max_tokens": 7}, {"require_done_tool": True}])
    below = wards.for_child([])
    assert (below.max_turns, below.max_tokens, below.require_done_tool) == (3, 7, True)


def test_tokens_of_the_whole_tree_are_bounded():
    """PROD-3, CIRCLE-6: no query starts at or over max_tokens, counted over all children too."""
    child = ScriptedLLM([{"code": "x = 1"}] * 9, usage={"prompt_tokens": 8, "completion_tokens": 2})
    cantrip = spell(
        code("got = call_entity('spend')", "done(got)"),
        *DELEGATING,
        wards=[TURNS, {"max_tokens": 30}],
        child_llm=child,
    )
    cast = cantrip.cast("go")
    assert len(child.requests) == 3
    assert (cast.truncated, cast.reason, cast.usage.total_tokens) == (True, "max_tokens", 30)


def test_the_total_is_the_whole_trees():
    """PROD-3, STREAMING: each report of tokens gives the query's, and the whole tree's so far."""
    reports = []
    usage = {"prompt_tokens": 8, "completion_tokens": 2}
    cantrip = spell(
        ScriptedLLM([{"code": "done(call_entity('sub'))"}], usage=usage),
        *DELEGATING,
        child_llm=ScriptedLLM([{"code": "1"}, {"code": "done(1)"}], usage=usage),
    )
    cantrip.cast("go", on_event=reports.append)
    told = [one for one in reports if isinstance(one, UsageReported)]
    assert [one.usage.total_tokens for one in told] == [10, 10, 10]
    assert [one.total.total_tokens for one in told] == [10, 20, 30]


# -- children ----------------------------------------------------------------------------------


class Meeting:
    """A gate in which callers wait for each other, until so many are in."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._full = asyncio.Event()
        self.present = self.most = 0
        self.gate = Gate("meet", self._meet, timeout_s=10)

    async def _meet(self) -> bool:
        self.present += 1
        self.most = max(self.most, self.present)
        if self.present == self._size:
            self._full.set()
        await self._full.wait()
        await anyio.lowlevel.checkpoint()
        self.present -= 1
        return True


@pytest.mark.parametrize(
    ("children", "size", "wards"), [(4, 4, []), (6, 2, [{"max_concurrent": 2}])]
)
def test_a_batch_runs_side_by_side(children, size, wards):
    """COMP-3: children run at the same time, as many as max_concurrent lets."""
    meeting = Meeting(size)
    cantrip = spell(
        code(f"done(call_entity_batch(['go'] * {children}))"),
        *DELEGATING,
        meeting.gate,
        wards=[TURNS, *wards],
        child_llm=code(*["done(meet())"] * children),
    )
    assert cantrip.cast("go").result == [True] * children
    assert meeting.most == size


def test_the_spawn_function_strips_what_spawns():
    """COMP-11: at depth 0 the default spawn function itself grants no gate that delegates."""
    granted = []

    def spawn(request, parent):
        spec = default_spawn(request, parent)
        granted.append([gate.name for gate in spec.gates])
        return spec

    cantrip = spell(
        code("call_entity('go', gates=['call_entity', 'echo'])", "call_entity('go')", "done(1)"),
        *DELEGATING,
        "echo",
        child_llm=code("done(1)", "done(2)"),
        spawn=spawn,
    )
    cantrip.cast("go")
    assert granted == [["done", "echo"], ["done", "echo"]]


def test_the_nodes_under_a_node():
    """LOOM-8: under a part that delegated are its children's first nodes, and the next part."""
    cantrip = spell(
        code("done(call_entity_batch(['a', 'b']))"),
        *DELEGATING,
        child_llm=code("done(1)", "done(2)"),
    )
    loom = cantrip.cast("go").loom
    parent, *children = loom.entities.values()
    first, second = parent.turns
    under = {node.id for node in loom.children_of(first.id)}
    assert under == {second.id, *(child.turns[0].id for child in children)}
    assert loom.children_of(second.id) == []


def test_children_end_with_their_parent():
    """COMP-9: a parent that ends takes its children along, begun or not; their turns stay."""
    replies = {"^go$": [{"code": "call_entity_batch(['sub', 'wait'])"}]}
    replies["^sub$"] = [{"code": "x = 1"}, {"code": "done(x)", "delay_ms": 10_000}]
    cantrip = spell(ScriptedLLM(replies), *DELEGATING, wards=[TURNS, {"max_concurrent": 1}])

    async def run() -> None:
        with anyio.CancelScope() as scope:

            def watch(event) -> None:
                if isinstance(event, MessageStarted) and (event.depth, event.turn) == (1, 2):
                    scope.cancel()

            await cantrip.acast("go", on_event=watch)

    anyio.run(run)
    parent, child, waiting = cantrip.loom.entities.values()
    assert (parent.outcome, parent.reason) == ("truncated", "cancelled")
    assert (child.outcome, child.reason) == ("truncated", "parent_terminated")
    assert [turn.turn for turn in child.turns] == [1]
    assert (waiting.outcome, waiting.reason) == ("not_started", "parent_terminated")
    assert waiting.turns == []


# -- the other fronts --------------------------------------------------------------------------

SPELL = """\
llm: {script: script.yaml}
circle: {medium: code, gates: [done, call_entity], wards: [{max_turns: 3}]}
intent: go
"""
SCRIPT = """\
by_intent:
  ^go$: [{code: "n = call_entity('sub')"}, {code: "done([n, 'x'])"}]
  ^sub$: [{code: done(42)}]
"""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """A spell file and its script, in the working folder."""
    monkeypatch.chdir(tmp_path)
    (tmp_path / "script.yaml").write_text(SCRIPT)
    (tmp_path / "spell.yaml").write_text(SPELL)
    return tmp_path


def _shape(loom):
    return [(turn.sequence, turn.part, turn.gate_calls, turn.reason) for turn in loom.turns]


def test_every_front_does_the_same(files):
    """PROD-1: library, command line and agent come to the same result by the same turns."""
    cast = load("spell.yaml").cantrip().cast("go")

    ran = CliRunner().invoke(app, ["run", "spell.yaml", "--json", "--out", "run"])
    told = json.loads(ran.stdout)
    with Loom("run", read_only=True) as loom:
        by_command = _shape(loom)

    served = load("spell.yaml").cantrip()
    messages = [
        {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
        {"id": 2, "method": "session/new", "params": {}},
        {"id": 3, "method": "session/prompt", "params": {"prompt": "go"}},
    ]
    answer = portal.run(lambda: exchange(served, messages), "exchange(...)")[-1]["result"]

    assert cast.result == told["result"] == [42, "x"]
    assert answer["stopReason"] == "end_turn"
    assert "42" in json.dumps(answer)
    assert _shape(cast.loom) == by_command == _shape(served.loom)


def test_a_server_says_how_it_lives_and_checks_itself(files):
    """PROD-9: the help tells what ends it, and --check answers without a client or a model."""
    told = " ".join(
        CliRunner().invoke(app, ["acp", "--help"], env={"COLUMNS": "200"}).output.split()
    )
    assert "standard input" in told
    assert "--check" in told
    assert CliRunner().invoke(app, ["acp", "spell.yaml", "--check"]).exit_code == 0
    (files / "script.yaml").write_text("nothing: [good")
    assert CliRunner().invoke(app, ["acp", "spell.yaml", "--check"]).exit_code != 0


def test_a_health_check_that_comes_to_nothing_fails():
    """PROD-9: a turn that hands in something else than it should is no good health."""

    @gate(final=True)
    def done(answer):
        return f"not {answer}"

    sick = spell(code("done(1)"), done, medium="conversation")
    with pytest.raises(RuntimeFault, match="the turn ended with done and the answer not"):
        portal.run(lambda: check(sick), "check(...)")


# -- exports -----------------------------------------------------------------------------------


def test_an_export_holds_no_digest_of_what_was_asked():
    """PROD-8: a short secret could be guessed by its digest, so only a whole export has those."""
    loom = spell(code("echo('1234')\ndone(1)"), "done", "echo").cast("go").loom
    for redaction, there in (("default", False), ("none", True)):
        lines = map(json.loads, loom.export(redaction=redaction).splitlines())
        assert any(line.get("asked") for line in lines) is there
