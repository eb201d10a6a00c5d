"""Folding: old turns in one message, a view of what the loom keeps whole."""

import json

import anyio
import pytest
from circlet import LLM, Cantrip, Circle, Folding, Gate, Identity, ScriptedLLM
from circlet.runtime.context import Context
from circlet.runtime.errors import CantripError, ContextLimit
from circlet.runtime.events import TurnsFolded
from circlet.runtime.llm import Message, Reply, ToolCall, Usage, check_linkage
from circlet.runtime.llm.windows import WINDOWS, known_window, told_window
from circlet.runtime.loom import Loom
from circlet.runtime.spell import load
from hypothesis import given, settings
from hypothesis import strategies as st

WARDS = [{"max_turns": 100}]


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def run(source):
    return {"code": source}


def echoes(count, text="{}"):
    return [call("echo", text=text.format(n)) for n in range(1, count + 1)]


DONE = call("done", answer="ok")


def contents(request):
    return [message.content or "" for message in request.messages]


def marker(request):
    """The message that stands for folded turns, or None."""
    found = [text for text in contents(request) if text.startswith("[Folded: ")]
    assert len(found) <= 1  # one fold takes up the other
    return found[0] if found else None


def span(request):
    text = marker(request)
    return text and text.partition("\n")[0]


# -- by turns ----------------------------------------------------------------------------------


def test_turns_fold_by_number(chat):
    """PROD-4: once so many turns are told whole, the older ones are told in one message."""
    spell = chat([*echoes(5), DONE], "echo", folding=Folding(after_turns=3))
    cast = spell.cast("go")
    assert cast.result == "ok"
    assert [span(request) for request in spell.llm.requests] == [
        *[None] * 3,
        "[Folded: turns 1-1]",
        "[Folded: turns 1-2]",
        "[Folded: turns 1-3]",
    ]
    assert [len(request.messages) for request in spell.llm.requests] == [1, 3, 5, 6, 6, 6]


def test_the_newest_turns_stay_whole(chat):
    """PROD-4: keep_turns says how many of them, so that a fold is not due every turn."""
    spell = chat([*echoes(6), DONE], "echo", folding=Folding(after_turns=4, keep_turns=1))
    spell.cast("go")
    spans = [span(request) for request in spell.llm.requests]
    assert spans == [*[None] * 4, *["[Folded: turns 1-3]"] * 3]
    assert [text for text in contents(spell.llm.requests[6]) if text.isdigit()] == ["4", "5", "6"]


def test_after_one_turn(chat):
    """PROD-4: the turn that the model has not been told of yet is never folded by number."""
    spell = chat([*echoes(3), DONE], "echo", folding=Folding(after_turns=1))
    spell.cast("go")
    assert [span(request) for request in spell.llm.requests] == [
        None,
        None,
        "[Folded: turns 1-1]",
        "[Folded: turns 1-2]",
    ]


@pytest.mark.parametrize("medium", ["conversation", "code"])
def test_what_is_never_folded(medium):
    """LOOM-6, IDENTITY-5: identity, capabilities, tools and the intent stand in every query."""
    model = ScriptedLLM([*echoes(6), DONE])
    circle = Circle(medium=medium, gates=["done", "echo"], wards=WARDS)
    identity = Identity(system_prompt="Never forget this prompt")
    spell = Cantrip(llm=model, identity=identity, circle=circle, folding=Folding(after_turns=2))
    spell.cast("the intent")
    head = 3 if medium == "code" else 2
    first = model.requests[0]
    assert marker(model.requests[-1])
    for request in model.requests:
        assert request.messages[:head] == first.messages[:head]
        assert request.tools == first.tools
    assert first.messages[0] == Message("system", "Never forget this prompt")
    assert first.messages[head - 1] == Message("user", "the intent")


def test_the_loom_keeps_every_turn(chat):
    """LOOM-5, ENTITY-3: folding is a view; each fold is a record, and an event."""
    events = []
    spell = chat([*echoes(4), DONE], "echo", folding=Folding(after_turns=3, keep_turns=1))
    cast = spell.cast("go", on_event=events.append)
    assert cast.loom.turn_count == 5
    assert [turn.observation.text for turn in cast.loom.turns[:4]] == ["1", "2", "3", "4"]
    (fold,) = cast.loom.entities[cast.entity_id].folds
    assert (fold.first, fold.last, fold.text) == (1, 2, marker(spell.llm.requests[3]))
    (told,) = [event for event in events if isinstance(event, TurnsFolded)]
    assert (told.entity_id, told.last, told.text) == (cast.entity_id, 2, fold.text)


def test_folds_outlive_the_process(chat, tmp_path):
    """LOOM-5: a fold is read again from a loom on disk."""
    with Loom(tmp_path) as loom:
        spell = chat([*echoes(2), DONE], "echo", folding=Folding(after_turns=2), loom=loom)
        written = loom.entities[spell.cast("go").entity_id].folds
    with Loom(tmp_path, read_only=True) as loom:
        (entity,) = loom.entities.values()
        assert entity.folds == written != []


# -- what stands for them ------------------------------------------------------------------------

PROGRAM = """total = 1
def mean(xs): return sum(xs)
class Part: pass
a, b = 1, 2
note: str = 'x'
if total == 1: hidden = 2
print('counted 17 letters')"""


def test_what_a_fold_tells(code):
    """LOOM-5: which gates were called and how it went, names, errors, results, last outputs."""
    script = [
        run(PROGRAM),
        run("echo('a'); echo('b')\ntry:\n    echo()\nexcept Exception: pass"),
        run("1 / 0"),
        run("print('x' * 5000)"),
        run("done(1)"),
    ]
    spell = code(script, "echo", folding=Folding(after_turns=4, keep_turns=1))
    spell.cast("go")
    text = marker(spell.llm.requests[4])
    assert text.startswith("[Folded: turns 1-3]\n")
    assert "Gates called: echo 3 times (1 failed)." in text
    assert "Names bound: total, mean, Part, a, b, note." in text
    assert "turn 3: ZeroDivisionError: division by zero" in text
    assert "Last observed:\nturn 2: " in text
    assert "loom.turn(1)" in text
    assert "counted 17 letters" not in text  # neither of the two newest that it stands for


def test_a_fold_of_a_conversation_names_no_loom(chat):
    """LOOM-5: only code can read the folded turns, so only there it is said how."""
    spell = chat([*echoes(2), DONE], "echo", folding=Folding(after_turns=2))
    spell.cast("go")
    assert "loom" not in marker(spell.llm.requests[2])


def test_more_calls_than_are_listed(code):
    """LOOM-5: a fold counts calls exactly, those too that an observation does not list."""
    spell = code(
        [run("for n in range(250): echo('x')"), run("1"), run("done(1)")],
        "echo",
        folding=Folding(after_turns=2),
    )
    spell.cast("go")
    assert "Gates called: echo 200 times, others 50 times." in marker(spell.llm.requests[2])


def test_a_fold_is_bounded(code):
    """Viewport: however much the folded turns did, what stands for them is short."""
    names = "\n".join(f"name_{n} = {n}" for n in range(500))
    big = run(f"{names}\nfor n in range(30): echo('y' * 3000)\nprint('x' * 90_000)\n'z' * 90_000")
    spell = code([big, big, big, run("done(1)")], "echo", folding=Folding(after_turns=3))
    spell.cast("go")
    assert len(marker(spell.llm.requests[3])) <= 6_000


# -- by the window -------------------------------------------------------------------------------


def reporting(count, tokens):
    """Replies that say how many tokens each query took."""
    usage = {"prompt_tokens": tokens, "completion_tokens": 1}
    return [{**reply, "usage": usage} for reply in [*echoes(count), DONE]]


def test_folding_at_the_share_that_is_reported(chat):
    """PROD-4: at 80% of the window, by what the provider reports of the last query."""
    for tokens, expected in [(790, None), (800, "[Folded: turns 1-3]")]:
        spell = chat(reporting(4, tokens), "echo", folding=Folding(window=1_000, keep_turns=1))
        folded = [span(request) for request in spell.cast("go").loom and spell.llm.requests]
        assert folded[4] == expected


def test_folding_at_the_share_that_is_estimated(chat):
    """PROD-4: where nothing is reported, by its bytes by four."""
    spell = chat([*echoes(8, "x" * 600), DONE], "echo", folding=Folding(window=2_000, keep_turns=2))
    spell.cast("go")
    first = next(n for n, request in enumerate(spell.llm.requests) if marker(request))
    assert 1 < first < 8
    for request in spell.llm.requests:
        assert estimated(request) < 1_600


def estimated(request):
    """The estimate, made anew from the whole request."""
    size = sum(len(json.dumps(tool.neutral(), ensure_ascii=False)) for tool in request.tools)
    for message in request.messages:
        size += len((message.content or "").encode())
        for one in message.tool_calls:
            size += len(one.name) + len(json.dumps(one.arguments, ensure_ascii=False))
    return -(-size // 4)


def test_the_share_can_be_set(chat):
    """PROD-4: share and window are fields of a Folding."""
    spell = chat(reporting(4, 300), "echo", folding=Folding(window=1_000, share=0.3, keep_turns=1))
    spell.cast("go")
    assert marker(spell.llm.requests[2])


def test_no_folding_without_a_window(chat):
    """PROD-4: a model whose window nobody knows is told everything."""
    spell = chat(reporting(5, 10_000_000), "echo")
    spell.cast("go")
    assert not any(map(marker, spell.llm.requests))


class Windowed(ScriptedLLM):
    """A scripted model that knows its window."""

    def __init__(self, replies, window, **fields):
        super().__init__(replies, **fields)
        self.window = window


def test_a_window_that_is_known(chat):
    """PROD-4: by default the window is the model's own."""
    spell = chat(Windowed(reporting(4, 900), 1_000), "echo")
    spell.cast("go")
    assert marker(spell.llm.requests[4])


@pytest.mark.parametrize(("window", "folds"), [(1_000, True), (1_000_000, False)])
def test_a_childs_window_is_its_own_models(deep, window, folds):
    """PROD-4: what is said of the cantrip's model does not hold for a child's other one."""
    child = Windowed(reporting(4, 900), window)
    source = "done(call_entity({'intent': 'x', 'medium': 'conversation'}))"
    folding = Folding(window=2_000, keep_turns=1)
    deep([run(source)], "echo", child_llm=child, folding=folding).cast("go")
    assert bool(marker(child.requests[4])) is folds


def test_a_childs_window_that_is_not_known(deep):
    """PROD-4: for a child's model that tells no window, what the folding says holds."""
    child = ScriptedLLM(reporting(4, 900))
    source = "done(call_entity({'intent': 'x', 'medium': 'conversation'}))"
    folding = Folding(window=1_000, keep_turns=1)
    deep([run(source)], "echo", child_llm=child, folding=folding).cast("go")
    assert marker(child.requests[4])


def test_room_for_the_reply(chat):
    """PROD-4: tokens that the identity asks for the reply are not taken up by messages."""
    identity = Identity(system_prompt="x", max_tokens=500)
    spell = chat(
        reporting(4, 600), "echo", identity=identity, folding=Folding(window=1_000, keep_turns=1)
    )
    spell.cast("go")
    assert marker(spell.llm.requests[2])


# -- refused by the provider -----------------------------------------------------------------------


class Strict(LLM):
    """A model with a window that it tells of only when it refuses what is too long for it."""

    name = "strict"

    def __init__(self, replies, limit, text):
        self.script = ScriptedLLM(replies)
        self.limit, self.text = limit, text
        self.refused = []
        self.taken = []

    async def query(self, request):
        used = estimated(request)
        if used > self.limit:
            self.refused.append(request)
            raise ContextLimit(self.text.format(used=used, limit=self.limit), 400)
        self.taken.append(request)
        return await self.script.query(request)


TOLD = "This model's maximum context length is {limit} tokens. You sent {used}"


def test_a_refusal_folds_and_asks_again(chat):
    """LLM-2, PROD-4: the window is learnt from the refusal, and kept to from then on."""
    model = Strict([*echoes(30, "x" * 200), DONE], 1_200, TOLD)
    cast = chat(model, "echo", wards=WARDS).cast("go")
    assert cast.result == "ok"
    assert len(model.refused) == 1
    assert cast.turns == 31
    assert max(map(estimated, model.taken[cast.turns // 2 :])) < 1_200 * 0.8


def test_a_refusal_that_tells_nothing(chat):
    """LLM-2: then at most half of what was refused is sent."""
    model = Strict([*echoes(20, "x" * 200), DONE], 1_200, "too long")
    assert chat(model, "echo", wards=WARDS).cast("go").result == "ok"
    assert model.refused


def test_a_refusal_that_nothing_helps(chat):
    """LLM-2: what can't be made shorter is the provider's own error, after one more try at most."""
    model = Strict([DONE], 10, TOLD)
    with pytest.raises(ContextLimit, match="maximum context length is 10 tokens"):
        chat(model, system="y" * 500).cast("go")
    assert len(model.refused) == 1


def test_a_second_refusal_is_raised(chat):
    """LLM-2: it is asked once more, not for ever."""
    model = Strict([*echoes(3, "x" * 2_000), DONE], 450, "too long")
    with pytest.raises(ContextLimit):
        chat(model, "echo", system="y" * 1_000).cast("go")
    assert len(model.refused) == 2


@pytest.mark.parametrize(
    ("text", "window"),
    [
        ("This model's maximum context length is 16385 tokens. However, you sent 20000", 16385),
        ("prompt is too long: 210000 tokens > 200000 maximum", 200000),
        (
            "input token count (1200000) exceeds the maximum number of tokens allowed (1048576)",
            1048576,
        ),
        ("the request exceeds the available context size (4096 tokens)", 4096),
        ("Requested tokens (5,000) exceed context window of 2,048", 2048),
        ("string too long", None),
    ],
)
def test_what_a_refusal_tells(text, window):
    """LLM-2: each provider's way to put it is understood."""
    assert told_window(text) == window


def test_known_windows():
    """PROD-4: windows are data with a reason each; a vendor before a slash is left aside."""
    assert all(window.tokens > 0 and window.reason for window in WINDOWS.values())
    assert known_window("gpt-4o-mini") == 128_000
    assert known_window("gpt-5.1") == known_window("openai/gpt-5.1-2025") == 272_000
    assert known_window("gpt-5.1-chat-latest") == 128_000
    assert known_window("anthropic/claude-sonnet-4.5") == 200_000
    assert known_window("qwen3") is None


# -- compaction ----------------------------------------------------------------------------------


def test_one_huge_turn(chat):
    """LOOP-5: where a fold is not enough the newest observation keeps head and tail."""
    big = Gate("big", lambda: "HEAD" + "x" * 15_000 + "TAIL")
    spell = chat([call("big"), DONE], big, folding=Folding(window=2_000))
    spell.cast("go")
    intent, uttered, told = spell.llm.requests[1].messages
    assert (intent.content, uttered.tool_calls[0].name, told.role) == ("go", "big", "tool")
    assert told.content.startswith("HEAD")
    assert told.content.endswith("TAIL")
    assert "characters left out" in told.content
    assert len(told.content) <= 2_000


def test_a_huge_utterance_is_folded_too(code):
    """LOOP-5: what the model itself wrote can't be cut within its call, so its turn is folded."""
    source = "x = 1\n" + "# " + "y" * 20_000 + "\nprint('seen')"
    spell = code([run(source), run("done(x)")], folding=Folding(window=4_000))
    cast = spell.cast("go")
    assert cast.result == 1
    last = spell.llm.requests[1].messages[-1]
    assert (last.role, last.content.partition("\n")[0]) == ("user", "[Folded: turns 1-1]")
    assert "seen" in last.content


def test_a_huge_context(chat):
    """INTENT-3: of an intent with much data the data is shortened, never the intent."""
    intent = "read this " * 100
    spell = chat([DONE], folding=Folding(window=2_000))
    spell.cast(intent, context="HEAD" + "x" * 15_000 + "TAIL")
    (message,) = spell.llm.requests[0].messages
    assert message.content.startswith(intent)
    assert "HEAD" in message.content
    assert message.content.endswith("TAIL")
    assert estimated(spell.llm.requests[0]) < 1_600


def test_the_identity_is_never_cut(chat):
    """LLM-2, IDENTITY-5: where identity and intent alone are too long, that is an error."""
    spell = chat([DONE], system="x" * 9_000, folding=Folding(window=2_000))
    with pytest.raises(ContextLimit, match=r"window is 2,000: the system prompt"):
        spell.cast("go")
    assert spell.llm.requests == []


def test_a_context_limit_stops_a_child_only(deep):
    """COMP-8: a child whose context can't be made to fit fails, and its parent goes on."""
    child = Windowed([DONE], 50)
    source = "try:\n    call_entity('x' * 4000)\nexcept ChildFailed as e:\n    done(e.reason)"
    cast = deep([run(source)], child_llm=child).cast("go")
    assert cast.result == "ContextLimit"


# -- a life ----------------------------------------------------------------------------------------


def test_over_a_lasting_entitys_life(chat):
    """ENTITY-5, INTENT-3: folding goes on from cast to cast; every intent stays, in order."""
    script = [
        call("echo", text="1"),
        DONE,
        call("echo", text="2"),
        DONE,
        call("echo", text="3"),
        DONE,
    ]
    spell = chat(script, "echo", folding=Folding(after_turns=3, keep_turns=1))
    with spell.summon() as entity:
        for intent in ("first task", "second task", "third task"):
            entity.send(intent)
    last = spell.llm.requests[5]
    users = [message.content for message in last.messages if message.role == "user"]
    assert users[:2] == ["first task", "second task"]
    assert users[2].startswith("[Folded: turns 1-4]")
    assert "A further intent was given after turn 2." in users[2]
    assert "Results:\nturn 2: " in users[2]
    assert users[3] == "third task"


def test_a_fork_folds_its_past(chat):
    """LOOM-4, LOOM-5: what a fork goes on from counts as its own turns, by their own numbers."""
    spell = chat([*echoes(4), DONE], "echo", folding=Folding(after_turns=3, keep_turns=1))
    original = spell.cast("go")
    other = ScriptedLLM([call("echo", text="new"), DONE])
    fork = spell.fork(original.thread, from_turn=3, intent="again", llm=other)
    assert fork.result == "ok"
    assert [span(request) for request in other.requests] == ["[Folded: turns 1-2]"] * 2
    assert "turn 2: 2" in marker(other.requests[0])


def test_folding_costs_no_more_later_on(chat):
    """PROD-4: a turn is looked at once to be folded, however many went before."""
    looked_at = []
    loom = Loom()
    history = type(loom.history("x"))
    turn = history.turn

    def counted(self, number):
        looked_at.append(number)
        return turn(self, number)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(history, "turn", counted)
        spell = chat(
            [*echoes(30), DONE], "echo", folding=Folding(after_turns=4), loom=loom, wards=WARDS
        )
        assert spell.cast("go").turns == 31
    assert looked_at == sorted(set(looked_at))


@pytest.mark.parametrize(
    "fields",
    [{"after_turns": 0}, {"share": 0}, {"share": 1.5}, {"window": -1}, {"keep": 1}],
)
def test_a_folding_that_wont_do(fields):
    """PROD-4: a field that is unknown or no good is told by its name."""
    with pytest.raises(CantripError, match=next(iter(fields))):
        Folding(**fields)


def test_a_folding_in_a_spell_file(tmp_path):
    """PROD-4: the spell file's key has the same fields."""
    (tmp_path / "script.yaml").write_text("- {content: hello}")
    path = tmp_path / "spell.yaml"
    path.write_text(
        "llm: {script: script.yaml}\n"
        "circle: {medium: conversation, gates: [done], wards: [max_turns: 3]}\n"
        "folding: {after_turns: 5, share: 0.5, window: 9000, keep_turns: 2}\n"
    )
    folding = Folding(after_turns=5, share=0.5, window=9000, keep_turns=2)
    assert load(path).cantrip().folding == folding


# -- order ---------------------------------------------------------------------------------------

turns = st.lists(
    st.tuples(st.integers(0, 3), st.integers(0, 3_000), st.booleans()), min_size=1, max_size=12
)


@settings(max_examples=60, deadline=None)
@given(turns, st.integers(300, 4_000), st.none() | st.integers(1, 4), st.integers(1, 4))
def test_every_query_is_in_order(script, window, after, keep):
    """LLM-7, LLM-2: whatever is folded, no result is orphaned, and the window is kept to."""
    replies = []
    for calls, size, text in script:
        reply = {"content": "t" * 10} if text or not calls else {}
        if calls:
            reply["tool_calls"] = [{"gate": "echo", "args": {"text": "x" * size}}] * calls
        replies.append(reply)
    model = ScriptedLLM([*replies, DONE])
    circle = Circle(gates=["done", "echo"], wards=[{"max_turns": 20, "require_done_tool": True}])
    spell = Cantrip(
        llm=model,
        circle=circle,
        folding=Folding(window=window, after_turns=after, keep_turns=keep),
    )
    spell.cast("go")
    for request in model.requests:
        check_linkage(request.messages)
        assert request.messages[0] == Message("user", "go")
        assert request.messages[-1].role in ("user", "tool")
        assert estimated(request) <= window
        marker(request)


def test_what_is_used_is_the_report_and_what_came_since():
    """PROD-4: the report holds for the query it was of; later messages are estimated."""
    context = Context(Identity(system_prompt="x" * 8), None, ())
    context.add_intent("y" * 7)
    assert context.used == 4
    context.report(100)
    reply = Reply("z" * 8, (ToolCall("1", "abcd", {}),), Usage())
    context.add_turn(reply, (Message("tool", "w" * 9, tool_call_id="1"),))
    assert context.used == 100 + 6
    context.fold(1, "f" * 9)
    assert context.used == 6


def test_folding_within_a_running_loop(chat):
    """PROD-4: the awaiting face folds as the blocking one does."""
    spell = chat([*echoes(3), DONE], "echo", folding=Folding(after_turns=2))
    anyio.run(spell.acast, "go")
    assert marker(spell.llm.requests[3])
