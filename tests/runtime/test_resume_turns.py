"""What a resumed entity finds: its turns, its time, its state, and what it is told of them."""

import datetime as dt
from dataclasses import replace

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate
from circlet.runtime.errors import ResumeError
from circlet.runtime.events import EntityResumed, StepCompleted, StepStarted, ToolCalled
from circlet.runtime.folding import Folding
from circlet.runtime.loom import (
    CallRecord,
    FoldRecord,
    ImageRecord,
    IntentRecord,
    NodeRecord,
    ReplyRecord,
    ResumeRecord,
)
from circlet.sandbox.images import envelope
from circlet.sandbox.wire import seal

GATES = ["done", "call_entity", "call_entity_batch"]


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


class Calls:
    """A gate that counts its calls, and one whose calls may be repeated."""

    def __init__(self):
        self.made = []

    def gates(self):
        @gate
        def act(what: str = "") -> int:
            """Act."""
            self.made.append(what)
            return len(self.made)

        @gate(idempotent=True)
        def look(what: str = "") -> str:
            """Look."""
            self.made.append(what)
            return what

        @gate(ephemeral=True)
        def much() -> str:
            """A great deal."""
            self.made.append("much")
            return "much " * 1000

        return [act, look, much]


@pytest.fixture
def calls():
    return Calls()


def make(replies, *gates, medium="code", wards=(), loom=None, **fields):
    return Cantrip(
        llm=ScriptedLLM(replies),
        circle=Circle(medium=medium, gates=[*GATES, *gates], wards=[{"max_turns": 10}, *wards]),
        loom=Loom() if loom is None else loom,
        **fields,
    )


def records_of(spell):
    return [record for *_, record in spell.loom.records()]


def cut(spell, is_last, change=lambda record: record):
    """A loom that ends with the first record that ``is_last`` says so of."""
    loom = Loom()
    for record in records_of(spell):
        loom.append(change(record))
        if is_last(record):
            return loom
    raise AssertionError("there is no such record")


def is_call(gate_name, state):
    return lambda record: (
        isinstance(record, CallRecord) and (record.gate, record.state) == (gate_name, state)
    )


def is_turn(number):
    return lambda record: isinstance(record, NodeRecord) and record.last and record.turn == number


def is_reply(number):
    return lambda record: isinstance(record, ReplyRecord) and record.turn == number


def told(spell, number=-1):
    """What the newest message of a query says."""
    return spell.llm.requests[number].messages[-1].content


# -- a call that was begun -------------------------------------------------------------------------


def test_a_call_that_was_begun(calls):
    """It is not repeated; the error that the program gets says what is known, and can be caught."""
    source = (
        "seen = None\ntry:\n    act('the book')\nexcept GateInterrupted as e:\n"
        "    seen = [e.reason, e.message, str(e)]\ndone(seen)"
    )
    spell = make([run(source)], *calls.gates())
    spell.cast("go")
    again = make([], *calls.gates(), loom=cut(spell, is_call("act", "begun")))
    reason, message, text = again.resume().result
    assert (reason, text) == ("interrupted", message)
    assert 'act had been called with {"what": "the book"}' in message
    assert "may or may not have happened" in message
    assert calls.made == ["the book"]
    (ended,) = [one for one in records_of(again) if is_call("act", "ended")(one)]
    assert (ended.is_error, ended.text) == (True, message)


def test_a_call_that_was_begun_and_nobody_catches(calls):
    """It ends its turn as an error that the model is shown, and the entity goes on."""
    spell = make([run("x = 1\nact('the book')"), run("done(x)")], *calls.gates())
    spell.cast("go")
    again = make(
        [run("?"), run("done(x)")], *calls.gates(), loom=cut(spell, is_call("act", "begun"))
    )
    assert again.resume().result == 1
    assert "GateInterrupted: act had been called with" in told(again)
    assert "line 2" in told(again)
    assert calls.made == ["the book"]


def test_a_call_that_the_model_began(calls):
    """A model that called it itself is told so in the call's result."""
    spell = make(
        [call("act", what="x"), call("done", answer=1)], *calls.gates(), medium="conversation"
    )
    spell.cast("go")
    loom = cut(spell, is_call("act", "begun"))
    again = make(
        [call("act"), call("done", answer=1)], *calls.gates(), medium="conversation", loom=loom
    )
    assert again.resume().result == 1
    assert told(again).startswith("Error: act had been called with")
    assert calls.made == ["x"]


def test_an_idempotent_call_is_repeated(calls):
    """A gate that says so is called again where its answer is not on record."""
    source = "xs = [look('a'), look('b')]\nact('c')\ndone(xs)"
    spell = make([run(source)], *calls.gates())
    spell.cast("go")
    again = make([], *calls.gates(), loom=cut(spell, is_call("look", "ended")))
    assert again.resume().result == ["a", "b"]
    assert calls.made == ["a", "b", "c", "b", "c"]


# -- the same turns, the same state ----------------------------------------------------------------


def test_clocks_and_chance(calls):
    """A turn that goes on in the middle has read of clocks and chance what it had read then."""
    source = (
        "import time, uuid, random\nseen = [time.time(), str(uuid.uuid4()), random.random()]\n"
        "act(str(seen))\nseen.append(time.time())\ndone(seen)"
    )
    spell = make([run(source)], *calls.gates())
    first = spell.cast("go").result
    again = make([], *calls.gates(), loom=cut(spell, is_call("act", "ended")))
    cast = again.resume()
    assert cast.result[:3] == first[:3]
    assert cast.result[3] >= first[3]
    assert (cast.difference, calls.made) == (None, [str(first[:3])])


def test_ephemeral_results(calls):
    """PROD-5: they are given back to the program, and stay out of the messages."""
    replies = [run("x = much()\ny = look('y')"), call("much"), run("done(len(x))")]
    spell = make(replies, *calls.gates())
    cast = spell.cast("go")
    for last in (is_call("much", "ended"), is_call("look", "ended"), is_turn(1), is_turn(2)):
        again = make(replies, *calls.gates(), loom=cut(spell, last))
        assert again.resume().result == cast.result
        for request in again.llm.requests:
            assert request.neutral() in [one.neutral() for one in spell.llm.requests]


def test_folding():
    """LOOM-5: what was folded is folded again, at the same places, and recorded once."""
    replies = [run(f"x{n} = {n}\nprint('row ' * 400)") for n in range(8)] + [run("done(x7)")]
    for folding in (
        Folding(after_turns=3),
        Folding(window=2000, keep_turns=2),
        Folding(window=1700, keep_turns=3),
    ):
        spell = make(replies, folding=folding)
        assert spell.cast("go").result == 7
        wanted = [one.neutral() for one in spell.llm.requests]
        for number in (3, 5, 7, 8):
            again = make(replies, folding=folding, loom=cut(spell, is_turn(number)))
            assert again.resume().result == 7
            requests = [one.neutral() for one in again.llm.requests]
            assert requests == wanted[number:]
            folds = [one for one in records_of(again) if isinstance(one, FoldRecord)]
            assert folds == [one for one in records_of(spell) if isinstance(one, FoldRecord)]


def test_a_fold_whose_query_was_not_made():
    """A fold on record whose query has no reply is not recorded a second time."""
    replies = [run(f"x = {n}") for n in range(4)] + [run("done(x)")]
    spell = make(replies, folding=Folding(after_turns=3))
    spell.cast("go")
    loom = cut(spell, lambda record: isinstance(record, FoldRecord))
    again = make(replies, folding=Folding(after_turns=3), loom=loom)
    assert again.resume().result == 3
    kinds = [type(one) for one in records_of(again) if not isinstance(one, ResumeRecord)]
    assert kinds == [type(one) for one in records_of(spell)]


def test_what_the_loom_object_tells(calls):
    """LOOM-11: a program that reads in its past reads the same when it is carried out again."""
    replies = [run("a = 1"), run("seen = [len(loom), loom.turn(1).code]\nact()\ndone(seen)")]
    spell = make(replies, *calls.gates())
    cast = spell.cast("go")
    again = make([], *calls.gates(), loom=cut(spell, is_call("act", "ended")))
    assert again.resume().result == cast.result == [1, "a = 1"]


# -- turns that can't be run again -----------------------------------------------------------------

CUT_OFF = [
    run("xs = [1]"),
    run("xs.append(2)\nwhile True: pass"),
    run("xs.append(3)"),
    run("done(xs)"),
]
FAST = [{"max_eval_ms": 300}]


def test_a_turn_that_was_cut_off_has_an_image():
    """Its state is written down at once, and taken up from there: it is not run again."""
    spell = make(CUT_OFF, wards=FAST)
    assert spell.cast("go").result == [1, 2, 3]
    (image,) = next(iter(spell.loom.entities.values())).images
    assert (image.node, image.left_out) == (spell.loom.turns[1].id, {})
    assert image.versions == dict(envelope.versions())
    assert len(spell.loom.get(image.digest)) == image.size
    for number in (2, 3):
        loom = _with_blobs(spell, is_turn(number) if number > 2 else _is_image)
        again = make(CUT_OFF, wards=FAST, loom=loom)
        cast = again.resume()
        assert (cast.result, cast.difference) == ([1, 2, 3], None)
        assert [one.neutral() for one in again.llm.requests] == [
            one.neutral() for one in spell.llm.requests[number:]
        ]


def _is_image(record):
    return isinstance(record, ImageRecord)


def _with_blobs(spell, is_last, change=lambda record: record):
    """``cut``, with the blobs that the records refer to."""
    loom = cut(spell, is_last, change)
    for record in records_of(spell):
        if isinstance(record, ImageRecord):
            loom.put(spell.loom.get(record.digest))
    return loom


def test_what_an_image_lacks():
    """Which variables are gone is told the caller and the entity, which learns why too."""
    replies = [
        run("gen = (n for n in range(3))\nkept = 1\nwhile True: pass"),
        run("kept"),
        run("done(kept)"),
    ]
    spell = make(replies, wards=FAST)
    spell.cast("go")
    again = make(replies, wards=FAST, loom=_with_blobs(spell, _is_image))
    cast = again.resume()
    assert cast.result == 1
    assert cast.difference == "the state after turn 1 is from an image, which can't hold gen"
    assert "which can't hold gen. Check what your variables hold.)" in told(again, 0)
    assert "without these variables:\n- gen: " in told(again)
    assert told(again).endswith("1")


def test_no_image_that_can_be_loaded(monkeypatch):
    """It stops there, naming the turn, why, and what can be done; the loom is as it was."""
    spell = make(CUT_OFF, wards=FAST)
    spell.cast("go")
    loom = cut(spell, is_turn(3), lambda one: one)
    with pytest.raises(
        ResumeError, match=r"turn 2 can't be run again, for it was cut off; the image"
    ):
        make(CUT_OFF, wards=FAST, loom=loom).resume()
    before = len(list(loom.records()))
    loom = _with_blobs(spell, is_turn(3))
    monkeypatch.setattr(envelope, "_versions", lambda: {"Python": "CPython 4.0"})
    with pytest.raises(ResumeError, match=r"made with .* fork from turn 1"):
        make(CUT_OFF, wards=FAST, loom=loom).resume()
    assert len(list(loom.records())) == before


def test_an_image_of_somebody_else_s(monkeypatch, tmp_path):
    """One that this user's key has not signed is loaded only where that is asked for."""
    spell = make(CUT_OFF, wards=FAST)
    spell.cast("go")
    monkeypatch.setenv(envelope.KEY_FILE, str(tmp_path / "key"))
    loom = _with_blobs(spell, is_turn(3))
    with pytest.raises(ResumeError, match="not signed with this user's key"):
        make(CUT_OFF, wards=FAST, loom=loom).resume()
    assert make(CUT_OFF, wards=FAST, loom=loom).resume(trust=True).result == [1, 2, 3]


def test_a_turn_without_an_image():
    """A turn that was cut off and whose image was not written any more stops it too."""
    spell = make(CUT_OFF, wards=FAST)
    spell.cast("go")
    again = make(CUT_OFF, wards=FAST, loom=cut(spell, is_turn(2)))
    with pytest.raises(ResumeError, match="there is no image of its state; fork from turn 1"):
        again.resume()


def test_a_turn_that_was_undone():
    """One that was rolled back to the end of the turn before has no effect, and needs no image."""
    replies = [
        run("xs = [1]"),
        run("xs.append(2)\nsum(range(10 ** 12))"),
        run("xs.append(3)"),
        run("1/0"),
        run("done(xs)"),
    ]
    spell = make(replies, wards=FAST)
    assert spell.cast("go").result == [1, 3]
    undone = spell.loom.turns[1]
    assert (undone.state, undone.replayable) == ("rolled_back", True)
    for number in (2, 3, 4):
        again = make(replies, wards=FAST, loom=cut(spell, is_turn(number)))
        cast = again.resume()
        assert (cast.result, cast.difference) == ([1, 3], None)
        requests = [one.neutral() for one in again.llm.requests]
        assert requests == [one.neutral() for one in spell.llm.requests[number:]]


# -- what is not the same --------------------------------------------------------------------------


def _late(record):
    """A record as it would be, had ``look`` answered something else."""
    if is_call("look", "ended")(record):
        return replace(record, result=seal("other").data)
    return record


def test_a_difference_is_told(calls):
    """The first turn that shows something else is told to the model, and in loom and cast."""
    replies = [run("x = look('first')\nprint('so:', x)"), run("y = 1"), run("act()\ndone(x)")]
    spell = make(replies, *calls.gates())
    spell.cast("go")
    for last in (is_turn(2), is_call("act", "ended")):
        again = make(replies, *calls.gates(), loom=cut(spell, last, _late))
        cast = again.resume()
        assert cast.difference == (
            "turn 1 showed 'so: other' when it was run again, where it had shown 'so: first'"
        )
        (resumed,) = [one for one in records_of(again) if isinstance(one, ResumeRecord)]
        assert resumed.difference == cast.difference
    again = make(replies, *calls.gates(), loom=cut(spell, is_turn(2), _late))
    again.resume()
    assert "(To get here your turns were run again: turn 1 showed 'so: other'" in told(again, 0)


def test_a_difference_in_the_turn_that_goes_on(calls):
    """So is one in a part on record of the turn that goes on: the model is told after it."""
    source = "print('so:', look('first'))\ncall_entity('child')\nact()"
    replies = {"^go": [run(source), run("done(1)")], "child": [run("done(2)")]}
    spell = make(replies, *calls.gates())
    spell.cast("go")
    again = make(replies, *calls.gates(), loom=cut(spell, is_call("call_entity", "ended"), _late))
    assert "turn 1 showed 'so: other'" in again.resume().difference
    assert "(To get here your turns were run again: turn 1 showed" in told(again)


def test_a_gate_that_is_gone(calls):
    """What a turn called that the circle no longer has is named, for it to be given back."""
    source = "try: act('yes')\nexcept NameError: print('gone')\nlook('now')\ndone(1)"
    spell = make([run(source)], *calls.gates())
    spell.cast("go")
    loom = cut(spell, is_call("look", "ended"), _late)
    only = [one for one in calls.gates() if one.name == "look"]
    with pytest.raises(ResumeError, match="give the circle the gates back that it called: act"):
        make([run(source)], *only, loom=loom).resume()


def test_a_turn_that_goes_on_otherwise(calls):
    """A call on record that is not made this time stops it: nothing is recorded or called."""
    source = "x = look('first')\nif x == 'first': act('yes')\nelse: act('no')\ndone(x)"
    spell = make([run(source)], *calls.gates())
    spell.cast("go")
    loom = cut(spell, is_call("act", "ended"), _late)
    made, count = list(calls.made), len(list(loom.records()))
    with pytest.raises(ResumeError, match="turn 1 can't be carried out again as it was begun: act"):
        make([], *calls.gates(), loom=loom).resume()
    assert (calls.made, len(list(loom.records()))) == (made, count)


# -- what counts goes on counting ------------------------------------------------------------------


def test_turns_of_the_cast():
    """LOOP-4: ``max_turns`` counts the turns before the kill too."""
    replies = [run("1")] * 10
    spell = make(replies, wards=[{"max_turns": 4}])
    spell.cast("go")
    again = make(replies, wards=[{"max_turns": 4}], loom=cut(spell, is_turn(3)))
    cast = again.resume()
    assert (cast.reason, cast.turns, len(again.llm.requests)) == ("max_turns", 4, 1)


def test_errors_in_a_row():
    """A ward that counts errors counts those before the kill."""
    spell = make([run("1/0")] * 10, wards=[{"max_errors_in_a_row": 3}])
    spell.cast("go")
    for last in (is_turn(2), is_reply(2)):
        again = make([run("1/0")] * 10, wards=[{"max_errors_in_a_row": 3}], loom=cut(spell, last))
        assert (again.resume().reason, len(again.llm.requests)) == ("max_errors_in_a_row", 1)


def test_tokens_of_the_tree():
    """PROD-3: so does the ward on tokens, those of children that are over among them."""
    usage = {"prompt_tokens": 50, "completion_tokens": 0}
    replies = {
        "^go": [run("call_entity('child')"), *[run("1")] * 9],
        "child": [run("1"), run("done(1)")],
    }
    wards = [{"max_tokens": 200}]
    spell = make({}, wards=wards).model_copy(update={"llm": ScriptedLLM(replies, usage=usage)})
    whole = spell.cast("go")
    again = make({}, wards=wards, loom=cut(spell, is_call("call_entity", "ended")))
    again = again.model_copy(update={"llm": ScriptedLLM(replies, usage=usage)})
    cast = again.resume()
    assert (cast.reason, cast.usage, cast.turns) == ("max_tokens", whole.usage, whole.turns)


def test_entities_of_the_tree():
    """So does the ward on entities."""
    replies = {
        "^go": [run("a = call_entity('child')"), run("b = call_entity('child')"), run("done(b)")],
        "child": [run("done(1)")],
    }
    spell = make(replies, wards=[{"max_entities": 1}])
    whole = spell.cast("go")
    again = make(replies, wards=[{"max_entities": 1}], loom=cut(spell, is_turn(1)))
    assert again.resume().result == whole.result
    assert whole.result.reason == "max_entities"


class Clock:
    """A store's time, as a test says."""

    def __init__(self, monkeypatch):
        self.now = dt.datetime(2030, 1, 1, tzinfo=dt.UTC)
        monkeypatch.setattr("circlet.runtime.loom.loom._now", self)

    def __call__(self):
        return self.now.isoformat(timespec="microseconds").replace("+00:00", "Z")


@pytest.mark.parametrize(("left", "reason"), [(20, "done"), (0, "timeout_s")])
def test_the_wall_clock(calls, monkeypatch, left, reason):
    """The time of a cast is what it was worked on, over all its lives; in between nobody did."""
    clock = Clock(monkeypatch)

    def record(loom, records, seconds):
        for one in records:
            clock.now += dt.timedelta(seconds=seconds)
            loom.append(one)

    replies = [run("act()"), run("1"), run("done(1)")]
    wards = [{"timeout_s": 100}]
    spell = make(replies, *calls.gates(), wards=wards)
    spell.cast("go")
    records = records_of(spell)
    given = next(place for place, one in enumerate(records) if isinstance(one, IntentRecord)) + 1
    loom = Loom()
    record(loom, records[:given], 1)
    record(loom, records[given : given + 2], 20)
    clock.now += dt.timedelta(days=1)
    loom.append(ResumeRecord(records[given - 1].entity))
    record(loom, records[given + 2 : given + 4], 30 - left / 2)
    clock.now += dt.timedelta(days=1)
    again = make(replies, *calls.gates(), wards=wards, loom=loom)
    cast = again.resume()
    assert cast.reason == reason
    if not left:
        assert all(turn.last for turn in cast.thread)


def test_a_time_that_is_up_in_the_middle_of_a_turn(calls, monkeypatch):
    """A turn that can't be carried on any more is recorded whole, with the calls that it made."""
    clock = Clock(monkeypatch)
    source = "a = look('a')\nb = call_entity('child')\nact('c')\nact('d')\ndone(1)"
    replies = {"^go": [run(source)], "child": [run("done(2)")]}
    wards = [{"timeout_s": 100}]
    spell = make(replies, *calls.gates(), wards=wards)
    spell.cast("go")
    begun = [is_call("look", "ended"), is_call("call_entity", "begun"), is_call("act", "begun")]
    for is_last in begun:
        loom = Loom()
        for one in records_of(spell):
            clock.now += dt.timedelta(seconds=100)
            loom.append(one)
            if is_last(one):
                break
        made = list(calls.made)
        again = make(replies, *calls.gates(), wards=wards, loom=loom)
        cast = again.resume()
        assert (cast.reason, cast.turns, calls.made) == ("timeout_s", 1, made)
        *_, last = cast.thread
        assert (last.last, last.state) == (True, "rolled_back")
        calls_made = [one for one in records_of(again) if isinstance(one, CallRecord)]
        numbers = {one.k for one in calls_made if one.entity == cast.entity_id}
        in_nodes = [k for turn in cast.thread for k in turn.call_numbers]
        assert in_nodes == sorted(numbers)
        assert all(one.state == "ended" for turn in cast.thread for one in turn.calls)
        assert "The turn was cut off" in last.observation.text


# -- what watchers are told ------------------------------------------------------------------------


def test_events(calls):
    """A watcher is told that the entity is back, and of what is new; nothing is told twice."""
    replies = [run("act('a')"), run("act('b')\nact('c')"), run("done(1)")]
    spell = make(replies, *calls.gates())
    spell.cast("go")
    again = make(replies, *calls.gates(), loom=cut(spell, is_call("act", "ended")))
    told_of = []
    again.resume(on_event=told_of.append)
    back, *rest = told_of
    assert type(back) is EntityResumed
    assert (back.intent, back.turns, back.depth) == ("go", 1, 0)
    assert [one.turn for one in rest if isinstance(one, StepStarted)] == [1, 2, 3]
    assert [one.turn for one in rest if isinstance(one, StepCompleted)] == [1, 2, 3]
    again = make(replies, *calls.gates(), loom=cut(spell, is_turn(2)))
    told_of.clear()
    again.resume(on_event=told_of.append)
    assert [one.turn for one in told_of if isinstance(one, StepStarted)] == [3]
    assert [one.name for one in told_of if isinstance(one, ToolCalled)] == ["done"]
