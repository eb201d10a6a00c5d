"""Forks: a past lived again without any effect, and another way to go on from it."""

from dataclasses import replace

import anyio
import pytest
from circlet import AsyncSandbox, CircletError, Gate, ScriptedLLM, Truncated, gate
from circlet.runtime.errors import CantripError, ForkError, LoomError, ProviderError
from circlet.runtime.events import EntityStarted, FinalResponse
from circlet.runtime.llm import check_linkage
from circlet.runtime.loom import CallRecord, ForkPoint
from circlet.runtime.spawn import spawn
from circlet.sandbox.errors import CannotDump
from circlet.sandbox.wire import seal

TURNS = {"max_turns": 10}


def run(source):
    return {"code": source}


def call(name, **args):
    return {"tool_calls": [{"gate": name, "args": args}]}


def done(answer):
    return call("done", answer=answer)


class Counter:
    """A gate with an effect: each call counts."""

    def __init__(self):
        self.calls = []

    def gate(self, name="count"):
        @gate(name=name)
        def count(what: str = "") -> int:
            """Count a call."""
            self.calls.append(what)
            return len(self.calls)

        return count


@pytest.fixture
def counter():
    return Counter()


def messages(llm, number=-1):
    """What a query told the model after the system messages, as role and text."""
    return [
        (one.role, one.content) for one in llm.requests[number].messages if one.role != "system"
    ]


# -- where a fork goes on ------------------------------------------------------------------------


def test_a_fork_has_the_path_up_to_its_turn(chat):
    """LOOM-4: a new entity, with the turns up to N; the old intent first, the new one after N."""
    spell = chat([call("echo", text="A"), call("echo", text="B"), done("original")], "echo")
    cast = spell.cast("test forking")
    llm = ScriptedLLM([done("forked")])
    fork = spell.fork(cast.thread, from_turn=1, intent="continue from fork", llm=llm)
    assert (fork.result, fork.terminated, fork.turns) == ("forked", True, 1)
    assert fork.entity_id != cast.entity_id
    assert messages(llm) == [
        ("user", "test forking"),
        ("assistant", None),
        ("tool", "A"),
        ("user", "continue from fork"),
    ]


def test_the_original_is_untouched(chat):
    """LOOM-4: its turns, its end and its thread are what they were; the fork has its own."""
    spell = chat([call("echo", text="A"), call("echo", text="B"), done("original")], "echo")
    cast = spell.cast("go")
    before = [(turn.id, turn.observation, turn.terminated) for turn in cast.thread]
    fork = spell.fork(cast.thread, from_turn=2, intent="on", llm=ScriptedLLM([done("forked")]))
    assert [(turn.id, turn.observation, turn.terminated) for turn in cast.thread] == before
    first, second = spell.loom.threads()
    assert (len(first), first.result, first.forked_from) == (3, "original", None)
    assert ([turn.id for turn in second][:2], second.result) == (
        [turn.id for turn in first][:2],
        "forked",
    )
    assert len(second) == len(fork.thread) == 3


def test_the_loom_names_the_strategy(chat):
    """LOOM-13: the entity's record, its thread and its cast say where it left, and how."""
    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go")
    fork = spell.fork(cast.entity_id, from_turn=1, intent="on", llm=ScriptedLLM([done(2)]))
    point = ForkPoint(cast.thread[0].id, "replay")
    view = spell.loom.entities[fork.entity_id]
    assert view.forked_from == point
    assert [(one.text, one.after) for one in view.intents] == [("on", point.node)]
    assert fork.forked_from == fork.thread.forked_from == point
    assert cast.forked_from is None


@pytest.mark.parametrize("turn", [1, 2, 3])
def test_every_turn_can_be_forked(code, turn):
    """LOOM-4: also the last, whose ``done`` the fork goes on after, as a summoned entity does."""
    replies = [run("xs = [1]"), run("xs.append(2)"), run("xs.append(3); done(xs)")]
    spell = code(replies)
    cast = spell.cast("go")
    fork = spell.fork(cast.thread, turn, "on", llm=ScriptedLLM([run("done(xs)")]))
    assert fork.result == [1, 2, 3][:turn]
    assert cast.result == [1, 2, 3]
    assert [len(thread) for thread in spell.loom.threads()] == [3, turn + 1]


def test_max_turns_counts_afresh(chat):
    """LOOP-4: a fork has all its turns before it, however many its past took."""
    spell = chat([call("echo", text=str(n)) for n in range(3)], "echo", wards=[{"max_turns": 3}])
    cast = spell.cast("go")
    assert cast.reason == "max_turns"
    more = ScriptedLLM([call("echo", text=str(n)) for n in range(5)])
    fork = spell.fork(cast.thread, 3, "on", llm=more)
    assert (fork.turns, fork.reason, fork.truncated) == (3, "max_turns", True)
    assert [turn.turn for turn in fork.thread] == [1, 2, 3, 4, 5, 6]


@pytest.mark.parametrize("turn", [0, -1, 3, True, "1", None, 1.0])
def test_a_turn_that_is_not_there(chat, turn):
    """LOOM-4: from_turn is 1 to the number of turns; the error says how many there are."""
    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go")
    with pytest.raises(ForkError, match="from 1 to 2"):
        spell.fork(cast.thread, turn, "on")
    assert len(spell.loom.entities) == 1


def test_what_can_not_be_forked(chat):
    """LOOM-4: each mistake in what is forked is told as what it is, and leaves no trace."""
    spell = chat([done(1)])
    cast = spell.cast("go")
    with pytest.raises(CantripError, match="intent is required"):
        spell.fork(cast.thread, 1, " ")
    with pytest.raises(LoomError, match="no turn 'nobody'"):
        spell.fork("nobody", 1, "on")
    with pytest.raises(ForkError, match="not a int"):
        spell.fork(7, 1, "on")
    with pytest.raises(LoomError, match="another loom"):
        chat([]).fork(cast.thread, 1, "on")
    with pytest.raises(ForkError, match="n must be a number"):
        spell.fork(cast.thread, 1, "on", n=0)
    with pytest.raises(ProviderError):
        chat([{"error": {"status": 400, "message": "no"}}], loom=spell.loom).cast("fails")
    with pytest.raises(ForkError, match="the thread has no turns"):
        spell.fork(list(spell.loom.entities)[1], 1, "on")
    assert len(spell.loom.entities) == 2


def test_a_fork_in_another_medium(chat, code):
    """MEDIUM-1: a thread of one medium is no past of an entity in another."""
    spell = chat([done(1)])
    cast = spell.cast("go")
    with pytest.raises(ForkError, match="of a conversation circle, and the cantrip's is code"):
        code([], loom=spell.loom).fork(cast.thread, 1, "on")


# -- without any effect --------------------------------------------------------------------------


@pytest.mark.parametrize("medium", ["chat", "code"])
def test_no_gate_is_called(request, medium, counter):
    """LOOM-13: results come from the record, in both media, and by a model's direct calls."""
    make = request.getfixturevalue(medium)
    spell = make([call("count"), call("count"), done("original")], counter.gate())
    cast = spell.cast("go")
    llm = ScriptedLLM([done("forked")])
    fork = spell.fork(cast.thread, 2, "on", llm=llm)
    assert (fork.result, counter.calls) == ("forked", ["", ""])
    assert [text for role, text in messages(llm) if role == "tool"] == ["1", "2"]


def test_programs_are_run_again(code, counter):
    """LOOM-13: variables, functions and objects are back; what gates gave and raised too."""

    @gate
    def fail(how: str) -> None:
        """Fail in some way."""
        raise {"key": KeyError("no such key"), "value": ValueError("bad"), "own": _Own("mine")}[how]

    first = (
        "import random\n"
        "class Box:\n    def __init__(self): self.n = count('box')\n"
        "box, alias, luck, caught = Box(), [], random.random(), []\n"
        "for how in ('key', 'value', 'own'):\n"
        "    try: fail(how)\n"
        "    except KeyError as e: caught.append(['KeyError', e.args])\n"
        "    except ValueError as e: caught.append(['ValueError', str(e)])\n"
        "    except Exception as e: caught.append([type(e).__name__, str(e)])\n"
        "print(box.n, luck, caught)"
    )
    spell = code(
        [run(first), run("seen = [box.n, luck, caught]; done(seen)")], counter.gate(), fail
    )
    cast = spell.cast("go")
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([run("done([box.n, luck, caught])")]))
    assert fork.result == cast.result
    assert fork.difference is None
    assert counter.calls == ["box"]


class _Own(Exception):
    pass


def test_an_unfinished_error_text(chat, code):
    """LOOM-13: an error whose own text can't be had, or takes other arguments, comes back too."""

    class Mute(Exception):
        def __str__(self):
            raise RuntimeError("no text")

    @gate
    def fail(kind: str) -> None:
        """Fail."""
        if kind == "mute":
            raise Mute
        if kind == "group":
            raise ExceptionGroup("several", [ValueError("one")])
        b"\xff".decode()

    source = (
        "for kind in ('group', 'decode'):\n"
        "    try: fail(kind)\n"
        "    except Exception as e: print(type(e).__name__, e)"
    )
    replies = [
        {
            "tool_calls": [
                {"gate": "fail", "args": {"kind": "mute"}},
                {"gate": "python", "args": {"code": source}},
            ]
        }
    ]
    spell = code([*replies, done(1)], fail)
    cast = spell.cast("go")
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([done(2)]))
    assert (fork.result, fork.difference) == (2, None)


def test_no_child_is_spawned(deep):
    """LOOM-13: what children came to is on record, failures and truncations too."""
    first = (
        "one = call_entity('ok')\n"
        "many = call_entity_batch(['ok', 'boom', 'slow'])\n"
        "try: call_entity('boom')\nexcept ChildFailed as e: why = e.reason\n"
        "print(one, many, why)"
    )
    replies = {
        "^root": [run(first), run("done(1)")],
        "ok": [run("done({1: (2,)})")],
        "boom": [{"error": {"status": 400, "message": "no"}}],
        "slow": [run("1")] * 3,
    }
    spell = deep(replies, wards=[{"max_turns": 3}])
    cast = spell.cast("root")
    before = len(spell.loom.entities)
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([run("done([one, many, why])")]))
    one, many, why = fork.result
    assert (one, many[0], why) == ({1: (2,)}, {1: (2,)}, "ProviderError")
    assert (many[1].reason, type(many[2]), many[2].reason) == (
        "ProviderError",
        Truncated,
        "max_turns",
    )
    assert (len(spell.loom.entities), fork.entities) == (before + 1, 1)
    assert fork.forked_from.node == cast.thread[-2].id  # after the last part of the turn
    assert fork.thread[-2].last


def test_direct_calls_beside_programs(code, counter):
    """LOOM-13: gates called by the model itself keep their places among a program's."""
    utterance = {
        "tool_calls": [
            {"gate": "count", "args": {"what": "first"}},
            {"gate": "python", "args": {"code": "x = count('second')"}},
            {"gate": "nope", "args": {}},
            {"gate": "count", "args": {"wrong": 1}},
            {"gate": "python", "args": {"code": "y = count('third'); done(0)"}},
            {"gate": "count", "args": {"what": "skipped"}},
        ]
    }
    spell = code([utterance], counter.gate())
    cast = spell.cast("go")
    llm = ScriptedLLM([run("done([x, y])")])
    fork = spell.fork(cast.thread, 1, "on", llm=llm)
    assert (fork.result, fork.difference) == ([2, 3], None)
    assert counter.calls == ["first", "second", "third"]
    told = [text for role, text in messages(llm) if role == "tool"]
    assert (told[0], told[-1]) == ("1", "skipped")
    check_linkage(llm.requests[0].messages)


def test_the_context_comes_back(chat, code):
    """COMP-4: the original's context is the fork's, large ones too, unless it gets its own."""
    data = {"rows": list(range(5000))}
    spell = code([run("n = len(context['rows'])"), done(1)])
    cast = spell.cast("go", context=data)
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([run("done(context)")]))
    assert fork.result == data
    given = ScriptedLLM([run("done([context, n])")])
    fork = spell.fork(cast.thread, 1, "on", context="mine", llm=given)
    assert fork.result == ["mine", 5000]
    assert "`context` now holds" in messages(given)[-1][1]

    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go", context="the data")
    llm = ScriptedLLM([done(2)])
    spell.fork(cast.thread, 1, "on", llm=llm)
    assert messages(llm)[0] == ("user", "go\n\nContext:\nthe data")


def test_the_random_numbers_are_the_same(code):
    """LOOM-13: a session's seed is on record; a fork goes on with the same numbers."""
    draw = "import random\nxs.append(random.random())"
    spell = code([run("xs = []\n" + draw), run(draw + "\ndone(xs)")])
    cast = spell.cast("go")
    again = ScriptedLLM([run(draw + "\ndone(xs)")])
    assert spell.fork(cast.thread, 1, "on", llm=again).result == cast.result


@pytest.mark.parametrize("seed", [-1, 1 << 63, True, "7", 1.5])
def test_a_seed_that_is_none(seed):
    """LOOM-13: a session's seed is a number that its worker can be given."""
    with pytest.raises(ValueError, match="seed must be a number from 0"):
        AsyncSandbox(seed=seed)


# -- when it is not the same ---------------------------------------------------------------------


@gate
def is_late() -> bool:
    """False, as long as nobody alters the record."""
    return False


LATE = "late = is_late()\n"
"""False the first time, and True where the call is answered from a record that was altered."""


def to_late(record):
    """A record as it would be, had ``is_late`` answered True."""
    if isinstance(record, CallRecord) and record.gate == "is_late" and record.state == "ended":
        return replace(record, result=seal(True).data)
    return record


def test_another_observation_is_told_of(code, altered):
    """LOOM-13: the first difference is on the cast, in the loom, and told to the fork."""
    spell = code([run("print('fixed')\nx = is_late()\nprint(x)"), run("x"), done(1)], is_late)
    cast = spell.cast("go")
    llm = ScriptedLLM([run("done(x)")])
    spell = altered(spell, to_late)
    fork = spell.fork(cast.thread, 2, "on", llm=llm)
    assert fork.result is True
    assert fork.difference == (
        "turn 1 showed 'True' when it was run again, where it had shown 'False'"
    )
    assert spell.loom.entities[fork.entity_id].difference == fork.difference
    told = messages(llm)
    assert told[2] == ("tool", "fixed\nFalse")  # the record's, as the loom has it
    assert told[-1][1].startswith("on\n\n(To get here your turns were run again: turn 1 showed")

    second = ScriptedLLM([done(2)])
    spell.fork(fork.thread, 3, "again", llm=second)
    assert fork.difference in messages(second)[-4][1]  # it stays where it was told


@pytest.mark.parametrize(
    ("source", "told"),
    [
        ("count('b' if late else 'a')", "count is called with other arguments than on record"),
        ("count('a')\nif late: count('b')", "it calls count, and no further call is on record"),
        ("count('a')\nif not late: count('b')", "call 3, of count, is on record and was not made"),
        ("other('a') if late else count('a')", "it calls other where the record has count"),
        ("late and 1/0\ncount('a')", "call 2, of count, is on record and was not made"),
        ("try: late and count('b')\nexcept BaseException: pass", "no further call is on record"),
    ],
)
def test_other_calls_end_it(code, counter, altered, source, told):
    """LOOM-13: a recorded answer is never given to another call; the error names the turn."""
    spell = code([run(LATE + source), done(1)], is_late, counter.gate(), counter.gate("other"))
    cast = spell.cast("go")
    spell, made = altered(spell, to_late), list(counter.calls)
    with pytest.raises(ForkError, match=f"turn 1 can't be run again: .*{told}"):
        spell.fork(cast.thread, 1, "on")
    assert counter.calls == made
    assert len(spell.loom.entities) == 1


def test_a_turn_that_was_cut_off(code):
    """LOOM-13: it can't be run again; its state is taken up from the image that was made then."""
    spell = code(
        [run("xs = [1]"), run("xs.append(2)\nwhile True: pass"), run("xs.append(3)"), done(1)],
        wards=[TURNS, {"max_eval_ms": 300}],
    )
    cast = spell.cast("go")
    at_it = {"llm": ScriptedLLM({"on": [run("done(xs)")]})}
    forks = [spell.fork(cast.thread, turn, "on", **at_it) for turn in (1, 2, 3, 4)]
    assert [fork.result for fork in forks] == [[1], [1, 2], [1, 2, 3], [1, 2, 3]]
    assert {fork.forked_from.strategy for fork in forks} == {"replay"}


def test_a_turn_that_was_cut_off_and_left_no_image(code, monkeypatch):
    """LOOM-13: where there is none, neither it nor what came after it can be forked."""

    async def refusing(self, skip=False):
        raise CannotDump("there is no room")

    monkeypatch.setattr(AsyncSandbox, "dump", refusing)
    source = "xs.append(2)\nwhile True: pass"
    spell = code([run("xs = [1]"), run(source), done(1)], wards=[TURNS, {"max_eval_ms": 300}])
    cast = spell.cast("go")
    for turn in (2, 3):
        with pytest.raises(ForkError, match="turn 2 can't be run again, for it was cut off"):
            spell.fork(cast.thread, turn, "on")
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([run("done(xs)")]))
    assert fork.result == [1]
    assert len(spell.loom.entities) == 2


def test_what_an_image_lacks_is_told(code):
    """LOOM-13: a variable that no image can hold is gone in the fork, which is told so at once."""
    source = "xs, ys = [1], (n for n in range(9))\nwhile True: pass"
    spell = code([run(source), done(1)], wards=[TURNS, {"max_eval_ms": 300}])
    cast = spell.cast("go")
    llm = ScriptedLLM([run("xs.append('ys' in globals())"), run("done(xs)")])
    fork = spell.fork(cast.thread, 1, "on", llm=llm)
    assert fork.result == [1, False]
    lacking = "the state after turn 1 is from an image, which can't hold ys"
    assert fork.difference == fork.loom.entities[fork.entity_id].difference == lacking
    assert lacking in messages(llm)[-3][1]
    assert "without these variables" in messages(llm)[-1][1]
    assert "ys: " in messages(llm)[-1][1]


def test_a_turn_that_needs_what_an_image_lacks(code):
    """LOOM-13: where a later turn can't be run again for that, the error names what is lacking."""
    source = "ys = (n for n in range(9))\nwhile True: pass"
    spell = code([run(source), run("done(next(ys))")], wards=[TURNS, {"max_eval_ms": 300}])
    cast = spell.cast("go")
    assert cast.result == 0
    with pytest.raises(
        ForkError, match="the state after turn 1 is from an image, which can't hold ys"
    ):
        spell.fork(cast.thread, 2, "on")


def test_a_turn_that_was_undone(code):
    """LOOM-13: it has left nothing, and so it is passed over; what came after it is lived again."""
    spell = code(
        [run("xs = [1]"), run("xs.append(2)\nsum(range(10 ** 12))"), run("xs.append(3)"), done(1)],
        wards=[TURNS, {"max_eval_ms": 300}],
    )
    cast = spell.cast("go")
    assert cast.thread[1].state == "rolled_back"
    llm = ScriptedLLM({"on": [run("done(xs)")]})
    forks = [spell.fork(cast.thread, turn, "on", llm=llm) for turn in (2, 3)]
    assert [fork.result for fork in forks] == [[1], [1, 3]]
    assert [fork.difference for fork in forks] == [None, None]
    assert messages(llm)[-2] == ("tool", cast.thread[2].observation.text)


def test_a_turn_that_is_cut_off_the_second_time(code, altered):
    """LOOM-13: a turn that is cut off when it is run again is an error that says so."""
    source = LATE + "while late: pass"
    spell = code([run(source), done(1)], is_late, wards=[TURNS, {"max_eval_ms": 300}])
    cast = spell.cast("go")
    spell = altered(spell, to_late)
    with pytest.raises(ForkError, match="turn 1 can't be run again: this time it was cut off"):
        spell.fork(cast.thread, 1, "on")


def test_a_cut_off_turn_of_a_conversation(chat):
    """LOOM-4: a conversation is its messages: a turn that was cut off is a turn like others."""
    timeout = [TURNS, {"timeout_s": 0.3}]
    replies = [
        {"tool_calls": [{"gate": "hang", "args": {}}, {"gate": "echo", "args": {"text": 1}}]}
    ]

    @gate
    async def hang() -> None:
        """Never answer."""
        await anyio.sleep_forever()

    spell = chat([*replies, done(0)], "echo", hang, wards=timeout)
    with spell.summon() as entity:
        assert entity.send("go").reason == "timeout_s"
        assert entity.send("on").result == 0
        llm = ScriptedLLM([done(1)])
        assert spell.fork(entity.entity_id, 1, "on", llm=llm).result == 1
    assert llm.requests[0].messages == spell.llm.requests[1].messages
    check_linkage(llm.requests[0].messages)


# -- circles that have changed since -------------------------------------------------------------


def test_another_gate_of_the_same_name(code, counter):
    """LOOM-13: a gate is known by its name; what it takes or does by now is of no matter."""
    spell = code([run("x = count('a')"), done(1)], counter.gate())
    cast = spell.cast("go")
    other = Gate(
        "count",
        lambda number: 100 + number,
        parameters={"type": "object", "properties": {"number": {"type": "integer"}}},
    )
    changed = code([run("done([x, count(number=1)])")], other, loom=spell.loom)
    llm = changed.llm
    assert changed.fork(cast.thread, 1, "on", llm=llm).result == [1, 101]


def test_a_gate_that_is_gone(code, chat, counter):
    """LOOM-13: the error names the gate and the turn; a conversation doesn't need it."""
    spell = code([run("x = count('a')"), done(1)], counter.gate())
    cast = spell.cast("go")
    with pytest.raises(ForkError, match=r"turn 1 .* called the gate 'count', which the .* lacks"):
        code([], loom=spell.loom).fork(cast.thread, 1, "on")

    spell = chat([call("count"), done(1)], counter.gate())
    cast = spell.cast("go")
    llm = ScriptedLLM([done(2)])
    assert chat([], loom=spell.loom).fork(cast.thread, 1, "on", llm=llm).result == 2


def test_another_identity_and_other_wards(chat):
    """LOOM-4: the fork is the forking cantrip's: its prompt, its tools and its wards."""
    spell = chat([call("echo", text="A"), done(1)], "echo", system="old")
    cast = spell.cast("go")
    llm = ScriptedLLM([call("echo", text="B")] * 3)
    other = chat(llm, "echo", system="new", wards=[{"max_turns": 1}], loom=spell.loom)
    fork = other.fork(cast.thread, 1, "on", llm=llm)
    assert fork.reason == "max_turns"
    assert llm.requests[0].messages[0].content == "new"
    assert spell.loom.entities[fork.entity_id].identity.system_prompt == "new"


def test_the_result_type_holds(chat):
    """CIRCLE-8: a fork's answer has to fit the circle's result type, as the original's."""
    spell = chat([call("echo", text="A"), done(1)], "echo", result=int)
    cast = spell.cast("go")
    llm = ScriptedLLM([done("text"), done(2)])
    fork = spell.fork(cast.thread, 1, "on", llm=llm)
    assert (fork.result, fork.turns) == (2, 2)


# -- forks of forks, of children, of lasting entities --------------------------------------------


def test_a_fork_of_a_fork(code):
    """LOOM-4: turns count over the whole path; a fork of a shared turn is one of the original."""
    spell = code([run("xs = [1]"), run("xs.append(2)"), done(1)])
    cast = spell.cast("first")
    once = spell.fork(
        cast.thread, 2, "second", llm=ScriptedLLM([run("xs.append(3)"), run("done(xs)")])
    )
    llm = ScriptedLLM([run("done(xs)")])
    twice = spell.fork(once.thread, 3, "third", llm=llm)
    assert (once.result, twice.result) == ([1, 2, 3], [1, 2, 3])
    assert [text for role, text in messages(llm) if role == "user"] == ["first", "second", "third"]
    assert [turn.turn for turn in twice.thread] == [1, 2, 3, 4]
    early = spell.fork(once.entity_id, 1, "third", llm=ScriptedLLM([run("done(xs)")]))
    assert early.result == [1]
    assert early.forked_from.node == cast.thread[0].id
    with pytest.raises(ForkError, match="from 1 to 4"):
        spell.fork(twice.thread, 5, "on")


def test_a_thread_that_ends_early(chat):
    """LOOM-10: a path to an earlier node has only the turns up to it."""
    spell = chat([call("echo", text="A"), call("echo", text="B"), done(1)], "echo")
    cast = spell.cast("go")
    with pytest.raises(ForkError, match="from 1 to 2"):
        spell.fork(spell.loom.thread(cast.thread[1].id), 3, "on")


def test_a_fork_of_a_child(deep, counter):
    """COMP-4, LOOM-4: it has the child's past alone, is what the child was, and has no parent."""
    parent = (
        "call_entity('child', context=7, gates=['count'], identity='You count.',"
        " wards=[{'max_turns': 2}])\ndone(1)"
    )
    child = [run("x = [context, count('a')]"), run("done(x)")]
    spell = deep({"^root": [run(parent)], "child": child}, registry=[counter.gate()])
    spell.cast("root")
    original = list(spell.loom.entities.values())[1]
    llm = ScriptedLLM([run("count('b')"), run("done(x)"), done(1)])
    fork = spell.fork(original.id, 1, "on", llm=llm)
    view = spell.loom.entities[fork.entity_id]
    assert (fork.result, counter.calls) == ([7, 1], ["a", "b"])
    assert (view.wards["max_turns"], view.wards["max_depth"]) == (2, 0)
    assert view.identity.system_prompt == "You count."
    assert (view.depth, view.spawned_by) == (0, None)
    assert [text for role, text in messages(llm) if role == "user"][:1] == ["child"]
    assert next(iter(spell.loom.entities.values())).children == [original]
    assert len(spell.loom.threads()) == 3


def test_a_fork_of_a_child_in_a_batch_s_middle(deep):
    """COMP-3, LOOM-4: a grandchild is granted anew what its own parent's code asked for."""
    asked = []

    def grant(request, parent):
        asked.append((parent.depth, request.intent, shown(request)))
        return spawn(request, parent)

    def shown(request):
        return request.context.open() if request.has_context else None

    spell = deep(
        {
            "^root": [run("done(call_entity('mid'))")],
            "mid": [run("done(call_entity_batch(['a', {'intent': 'b', 'context': (1,)}]))")],
            "^a": [run("done('a')")],
            "^b": [run("y = context"), run("done(y)")],
        },
        wards=[TURNS, {"max_depth": 2}],
        spawn=grant,
    )
    assert spell.cast("root").result == ["a", (1,)]
    third = list(spell.loom.entities.values())[3]
    asked.clear()
    fork = spell.fork(third.id, 1, "on", llm=ScriptedLLM([run("done([y, 'call_entity'])")]))
    assert fork.result == [(1,), "call_entity"]
    assert asked == [(0, "mid", None), (1, "b", (1,))]
    assert spell.loom.entities[fork.entity_id].wards["max_depth"] == 0


def test_a_fork_of_a_lasting_entity(code):
    """ENTITY-5, LOOM-4: the intents of several casts stand in its past, each in its place."""
    spell = code([run("xs = [1]; done(0)"), run("xs.append(context)"), run("done(xs)")])
    with spell.summon() as entity:
        entity.send("first")
        entity.send("second", context=2)
        llm = ScriptedLLM([run("done([xs, context])")])
        fork = spell.fork(entity.entity_id, 3, "third", llm=llm)
        assert fork.result == [[1, 2], 2]
        roles = [role for role, _ in messages(llm)]
        assert roles == ["user", "assistant", "tool", "user", *["assistant", "tool"] * 2, "user"]
        users = [text for role, text in messages(llm) if role == "user"]
        assert (users[0], users[-1]) == ("first", "third")
        assert users[1].startswith("second\n\n(The variable `context` now holds")
        early = spell.fork(entity.entity_id, 1, "third", llm=ScriptedLLM([run("done(xs)")]))
        assert early.result == [1]


def test_a_fork_while_the_original_works(chat):
    """LOOM-4: what has come to its end can be forked while the original goes on."""
    forked = []
    spell = None

    @gate
    def fork_me() -> str:
        """Fork the turn before this one."""
        (entity,) = spell.loom.entities
        with pytest.raises(ForkError, match="turn 2 has not come to its end"):
            spell.fork(entity, 2, "too early")
        forked.append(spell.fork(entity, 1, "on", llm=ScriptedLLM([done("forked")])))
        return forked[0].result

    spell = chat([call("echo", text="A"), call("fork_me"), done("original")], "echo", fork_me)
    cast = spell.cast("go")
    assert (cast.result, forked[0].result) == ("original", "forked")
    assert cast.thread[1].observation.text == "forked"


# -- several at once -----------------------------------------------------------------------------


def test_several_forks(code):
    """LOOM-4: ``n`` gives a list of casts, each of an entity with a state of its own."""
    spell = code([run("xs = [1]"), done(1)])
    cast = spell.cast("go")
    llm = ScriptedLLM({"on": [run("xs.append(len(xs)); done(xs)")]})
    forks = spell.fork(cast.thread, 1, "on", llm=llm, n=3)
    assert [fork.result for fork in forks] == [[1, 1]] * 3
    assert len({fork.entity_id for fork in forks}) == 3
    assert len(spell.loom.threads()) == 4
    assert [one.result for one in spell.fork(cast.thread, 1, "on", llm=llm, n=1)] == [[1, 1]]


def test_one_of_several_fails(chat):
    """COMP-8: a fork that fails takes nothing from the others, and says why in its place."""
    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go")
    replies = [done("a"), {"error": {"status": 400, "message": "no"}}, done("c")]
    forks = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM(replies), n=3)
    assert sorted(str(fork.result) for fork in forks) == ["None", "a", "c"]
    (failed,) = [fork for fork in forks if fork.error is not None]
    assert isinstance(failed.error, ProviderError)
    assert (failed.terminated, failed.truncated, failed.reason) == (False, False, "ProviderError")
    assert "failed with ProviderError" in repr(failed)
    assert spell.loom.entities[failed.entity_id].outcome == "failed"
    assert [turn.id for turn in failed.thread] == [cast.thread[0].id]
    with pytest.raises(ProviderError):
        spell.fork(cast.thread, 1, "on", llm=ScriptedLLM(replies[1:]))


def test_several_at_the_same_time(chat):
    """LOOM-4: as many work at a time as ``max_concurrent`` lets, and no more."""
    at_work, most = [], []
    together = anyio.Event()

    @gate
    async def meet() -> None:
        """Wait until two are here."""
        at_work.append(1)
        most.append(len(at_work))
        if len(most) == 2:
            together.set()
        await together.wait()
        at_work.pop()

    wards = [TURNS, {"max_concurrent": 2}]
    spell = chat([call("echo", text="A"), done(1)], "echo", meet, wards=wards)
    cast = spell.cast("go")
    llm = ScriptedLLM({"on": [call("meet"), done(2)]})
    assert [fork.result for fork in spell.fork(cast.thread, 1, "on", llm=llm, n=5)] == [2] * 5
    assert max(most) == 2


def test_a_fork_is_watched(chat):
    """LOOM-4: its events are told as a cast's are, and none of its past."""
    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go")
    seen = []
    fork = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM([done(2)]), on_event=seen.append)
    assert isinstance(seen[0], EntityStarted)
    assert seen[0].intent == "on"
    assert isinstance(seen[-1], FinalResponse)
    assert {event.entity_id for event in seen} == {fork.entity_id}


# -- scripts -------------------------------------------------------------------------------------


def test_a_script_goes_on(chat):
    """LOOM-4: without another model, the shared script goes on where it stands."""
    replies = [call("echo", text="A"), done("original"), done("forked"), done("again")]
    spell = chat(replies, "echo")
    cast = spell.cast("go")
    assert spell.fork(cast.thread, 1, "on").result == "forked"
    assert spell.fork(cast.thread, 1, "on").result == "again"


def test_a_fresh_script_begins_after_what_the_loom_has(chat):
    """LOOM-4: the same script read anew begins after the replies that the loom has."""
    replies = [call("echo", text="A"), done("original"), done("forked")]
    spell = chat(replies, "echo")
    cast = spell.cast("go")
    again = chat(replies, "echo", loom=spell.loom)
    assert again.fork(cast.thread, 1, "on").result == "forked"
    other = chat(ScriptedLLM([done("other")], name="other"), "echo", loom=spell.loom)
    assert other.fork(cast.thread, 1, "on").result == "other"


def test_scripts_by_intent(chat):
    """LOOM-4: a fork takes the list of its intent, after what its own past has of that list."""
    replies = {
        "count": [call("echo", text="A"), call("echo", text="B"), done("end")],
        "leave": [done("left")],
    }
    spell = chat(replies, "echo")
    cast = spell.cast("count")
    for intent, result in [("count on", "end"), ("leave", "left"), ("no list of its own", "end")]:
        fork = spell.fork(cast.thread, 2, intent)
        assert (fork.result, fork.turns) == (result, 1)


def test_a_model_by_its_name(chat):
    """LOOM-4: ``llm`` may be a name, as everywhere; one that is none is an error."""
    spell = chat([done(1)])
    cast = spell.cast("go")
    with pytest.raises(CircletError, match="nobody"):
        spell.fork(cast.thread, 1, "on", llm="nobody:x")


# -- async ---------------------------------------------------------------------------------------


def test_in_code_that_awaits(chat):
    """PROD-1: ``afork`` is the same for code that awaits; ``fork`` in a loop names it."""
    spell = chat([call("echo", text="A"), done(1), done(2), done(3)], "echo")

    async def main():
        cast = await spell.acast("go")
        with pytest.raises(CircletError, match="afork"):
            spell.fork(cast.thread, 1, "on")
        return await spell.afork(cast.thread, 1, "on")

    assert anyio.run(main).result == 2


def test_a_cancelled_fork(chat):
    """COMP-9: cancelling reaches the fork, which is on record as truncated."""
    spell = chat([call("echo", text="A"), done(1)], "echo")
    cast = spell.cast("go")
    llm = ScriptedLLM([{"content": "late", "delay_ms": 60_000}])

    async def main():
        begun = anyio.Event()

        async def fork():
            await spell.afork(cast.thread, 1, "on", llm=llm, on_event=lambda event: begun.set())

        async with anyio.create_task_group() as group:
            group.start_soon(fork)
            await begun.wait()
            group.cancel_scope.cancel()

    anyio.run(main)
    view = list(spell.loom.entities.values())[-1]
    assert (view.outcome, view.reason) == ("truncated", "cancelled")
