"""Resuming as it is asked for: which cast, by whom, and what each mistake is told as."""

import os
import signal
import subprocess
import sys
import textwrap

import anyio
import pytest
from circlet import AsyncSandbox, Cantrip, Circle, Identity, Loom, ScriptedLLM, gate
from circlet.runtime.errors import (
    CantripError,
    LoomError,
    ProviderError,
    ResumeError,
    RuntimeFault,
    StoreError,
)
from circlet.runtime.loom import EndRecord, IntentRecord, MemoryStore, NodeRecord, ReplyRecord

GATES = ["done", "call_entity", "call_entity_batch"]
WARDS = [{"max_turns": 10}]


def run(source):
    return {"code": source}


def make(replies, *gates, medium="code", loom=None, system=None, wards=(), **fields):
    model = replies if isinstance(replies, ScriptedLLM) else ScriptedLLM(replies)
    return Cantrip(
        llm=model,
        identity=Identity(system_prompt=system),
        circle=Circle(medium=medium, gates=[*GATES, *gates], wards=[*WARDS, *wards]),
        loom=Loom() if loom is None else loom,
        **fields,
    )


def cut(spell, is_last):
    """A loom that ends with the first record that ``is_last`` says so of."""
    loom = Loom()
    for *_, record in spell.loom.records():
        loom.append(record)
        if is_last(record):
            return loom
    raise AssertionError("there is no such record")


def is_turn(number, cast=None):
    return lambda record: isinstance(record, NodeRecord) and record.last and record.turn == number


def is_reply(number):
    return lambda record: isinstance(record, ReplyRecord) and record.turn == number


# -- a lasting entity ------------------------------------------------------------------------------


def test_a_lasting_entity_the_next_day(code, tmp_path):
    """ENTITY-5: it is taken up by its id, with its variables; its next intent is its next cast."""
    replies = [run("xs = [1]\ndone(xs)"), run("xs.append(2)\ndone(xs)"), run("done(xs + [3])")]
    with Loom(tmp_path) as loom, code(replies[:2], loom=loom).summon(entity_id="cat") as entity:
        assert entity.send("first").result == [1]
        assert entity.send("second").result == [1, 2]
    with Loom(tmp_path) as loom:
        spell = code(replies, loom=loom)
        with spell.summon(entity_id="cat", resume=True) as entity:
            assert entity.entity_id == "cat"
            cast = entity.send("third", context="data")
            assert (cast.result, cast.turns, cast.difference) == ([1, 2, 3], 1, None)
            told = [(one.role, one.content) for one in spell.llm.requests[0].messages]
            assert [text.partition("\n")[0] for role, text in told if role == "user"] == [
                "first",
                "second",
                "third",
            ]
        view = loom.entities["cat"]
        assert [one.text for one in view.intents] == ["first", "second", "third"]
        assert [turn.sequence for turn in view.turns] == [1, 2, 3]
        assert len(loom.entities) == 1


def test_the_earlier_days_in_the_loom_object(code):
    """LOOM-11: what it reads in its past are the turns of the days before, folded ones too."""
    loom = Loom()
    days = [run(f"x{n} = 'row {n}'\nprint(x{n})\ndone({n})") for n in range(5)]
    with code(days, loom=loom, folding={"after_turns": 2}).summon(entity_id="cat") as entity:
        for number in range(5):
            entity.send(f"day {number}")
    look = run("done([len(loom), loom.printed(1), x0, loom.search('row 3')[0].turn])")
    spell = code([*days, look], loom=loom, folding={"after_turns": 2})
    with spell.summon(entity_id="cat", resume=True) as entity:
        assert entity.send("look back").result == [5, "row 0\n", "row 0", 4]
    folded = [
        one.content for one in spell.llm.requests[0].messages if "[Folded" in (one.content or "")
    ]
    assert len(folded) == 1
    assert folded[0].startswith("[Folded: turns 1-4]")


def test_a_lasting_entity_that_died_at_work(code):
    """Its unfinished cast is resumed by its id first; then it takes further intents."""
    replies = [run("x = 1\ndone(x)"), run("x += 1"), run("done(x)"), run("done(x * 10)")]
    spell = code(replies)
    with spell.summon(entity_id="cat") as entity:
        entity.send("first")
        entity.send("second")
    loom = cut(spell, is_turn(2))
    again = code(replies, loom=loom)
    with pytest.raises(ResumeError, match=r"'cat' has not ended: .* resume\(entity_id='cat'\)"):
        again.summon(entity_id="cat", resume=True)
    cast = again.resume(entity_id="cat")
    assert (cast.result, cast.turns) == (2, 2)
    with again.summon(entity_id="cat", resume=True) as entity:
        assert entity.send("third").result == 20


def test_what_summon_can_not_resume(code):
    """Each mistake is told as what it is."""
    spell = code([run("done(1)")])
    with pytest.raises(ResumeError, match="needs the entity_id"):
        spell.summon(resume=True)
    with pytest.raises(ResumeError, match="no entity 'cat': it is empty"):
        spell.summon(entity_id="cat", resume=True)
    cast = spell.cast("go")
    with pytest.raises(
        ResumeError, match=rf"no entity 'cat'; there are:\n- {cast.entity_id}: 'go'"
    ):
        spell.summon(entity_id="cat", resume=True)
    with pytest.raises(CantripError, match="there is an entity"):
        spell.summon(entity_id=cast.entity_id)


def test_forks(code):
    """LOOM-4: a fork that died at work goes on as one, and a resumed entity can be forked."""
    replies = {"^go": [run("x = [1]"), run("done(x)")], "^on": [run("x.append(2)"), run("done(x)")]}
    spell = code(replies)
    cast = spell.cast("go")
    fork = spell.fork(cast.thread, 1, "on")
    loom = cut(spell, lambda one: is_turn(2)(one) and one.entity == fork.entity_id)
    again = code(replies, loom=loom)
    resumed = again.resume(entity_id=fork.entity_id)
    assert (resumed.result, resumed.forked_from) == ([1, 2], fork.forked_from)
    assert [one.neutral() for one in again.llm.requests] == [spell.llm.requests[-1].neutral()]
    other = again.fork(resumed.thread, 2, "on", llm=ScriptedLLM([run("done(x + [3])")]))
    assert other.result == [1, 2, 3]


# -- which cast ------------------------------------------------------------------------------------


def test_which_root(code):
    """The one that is unfinished is meant; of several each has to be named."""
    replies = {"a": [run("1"), run("done('a')")], "b": [run("1"), run("done('b')")]}
    spell = code(replies)
    with pytest.raises(ResumeError, match="the loom is empty: there is nothing to resume"):
        spell.resume()
    first = spell.cast("a")
    second = spell.cast("b")
    with pytest.raises(ResumeError, match=rf"all 2 casts have ended.*\n- {first.entity_id}: 'a'"):
        spell.resume()
    assert spell.resume(entity_id=second.entity_id).result == "b"
    loom = cut(spell, lambda one: is_turn(1)(one) and one.entity == second.entity_id)
    again = code(replies)
    assert again.resume(loom).result == "b"
    assert list(again.loom.records()) == []
    loom = Loom()
    for *_, record in spell.loom.records():
        if not isinstance(record, EndRecord):
            loom.append(record)
    with pytest.raises(ResumeError, match=rf"2 casts have not ended.*\n- {first.entity_id}: 'a'"):
        code(replies, loom=loom).resume()


def test_a_child_is_no_root(deep):
    """COMP-5: a child goes on with its root, which the error names."""
    spell = deep({"root": [run("x = call_entity('leaf')\ndone(x)")], "leaf": [run("done(1)")]})
    cast = spell.cast("root")
    child = next(one for one in spell.loom.entities if one != cast.entity_id)
    with pytest.raises(ResumeError, match=rf"is a child, .* resume '{cast.entity_id}'"):
        spell.resume(entity_id=child)


def test_a_cast_that_failed(chat):
    """One that has ended by an error is told of by an error, and is not tried again."""
    spell = chat([{"error": {"status": 400, "message": "no"}}])
    with pytest.raises(ProviderError):
        spell.cast("go")
    with pytest.raises(RuntimeFault, match="has failed, with ProviderError: scripted answered 400"):
        spell.resume()


def test_another_cantrip(code, chat):
    """A cantrip that is another one than it was can't go on; the error says how it can be."""

    @gate
    def lookup(what: str) -> str:
        """Look something up."""
        return what

    replies = [run("x = lookup('a')"), run("done(x)")]
    spell = make(replies, lookup, system="Be brief.")
    spell.cast("go")
    loom, before = cut(spell, is_turn(1)), 0
    before = len(list(loom.records()))
    with pytest.raises(
        ResumeError, match="lived in a code circle, and the cantrip's is conversation"
    ):
        make([], medium="conversation", loom=loom, system="Be brief.").resume()
    with pytest.raises(
        ResumeError, match="turn 1 can't be run again, for it called the gate 'lookup'"
    ):
        make([], loom=loom, system="Be brief.").resume()
    with pytest.raises(ResumeError, match="another system prompt than the cantrip has now"):
        make([], lookup, loom=loom).resume()
    assert len(list(loom.records())) == before
    assert make(replies, lookup, loom=loom, system="Be brief.").resume().result == "a"


def test_a_gate_that_a_child_lacks(deep):
    """What can't be granted to a child any more stops the whole; nothing of it is recorded."""

    @gate
    def lookup(what: str) -> str:
        """Look something up."""
        return what

    replies = {
        "root": [run("x = call_entity('leaf')\ndone(x)")],
        "leaf": [run("y = lookup('1')"), run("done(y)")],
    }
    spell = deep(replies, lookup)
    spell.cast("root")
    loom = cut(spell, lambda one: is_turn(1)(one) and one.sequence == 1)
    before = len(list(loom.records()))
    with pytest.raises(
        ResumeError, match="called the gate 'lookup', which the cantrip's circle lacks"
    ):
        deep(replies, loom=loom).resume()
    assert len(list(loom.records())) == before


def test_a_loom_that_another_process_writes(code, tmp_path):
    """A loom is resumed by its one writer."""
    spell = code([run("done(1)")], loom=Loom(tmp_path))
    spell.cast("go")
    with pytest.raises(LoomError, match="written"):
        Loom(tmp_path)
    spell.loom.close()
    with Loom(tmp_path, read_only=True) as loom:
        assert code([], loom=loom).resume().result == 1


def test_aresume(code):
    """``resume`` for code that awaits."""
    replies = [run("x = 1"), run("done(x)")]
    spell = code(replies)
    spell.cast("go")
    assert anyio.run(code(replies, loom=cut(spell, is_turn(1))).aresume).result == 1


# -- a loom that can't be written ------------------------------------------------------------------


class FullStore(MemoryStore):
    """A store with room for so many records."""

    def __init__(self, room):
        super().__init__()
        self.room = room

    def append(self, row):
        if row.n > self.room:
            raise LoomError("there is no room left")
        super().append(row)


REPLIES = {
    "^go": [
        run("try:\n    xs = call_entity_batch(['leaf', 'leaf'])\nexcept Exception: xs = 'lost'"),
        run("done(xs)"),
    ],
    "^leaf": [run("x = 2"), run("done(x)")],
}


def test_no_room(deep):
    """What can't be recorded ends the whole tree with no end on record: it can be resumed."""
    total = len(list(_whole(deep).loom.records()))
    for room in range(2, total):
        store = FullStore(room)
        spell = deep(REPLIES, loom=Loom(store=store))
        with pytest.raises(StoreError, match="there is no room left"):
            spell.cast("go")
        store.room = 1_000
        assert len(list(spell.loom.records())) == room
        again = deep(REPLIES, loom=spell.loom)
        cast = again.resume()
        assert (cast.result, cast.terminated) == ([2, 2], True), room


def _whole(deep):
    spell = deep(REPLIES)
    assert spell.cast("go").result == [2, 2]
    return spell


# -- a process that is killed ----------------------------------------------------------------------

PROGRAM = """
    import os, signal, sys
    from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate

    @gate
    def die(whom: str) -> str:
        '''Die.'''
        if os.environ.get("DIES") == whom:
            os.kill(os.getpid(), signal.SIGKILL)
        return whom

    replies = {
        "^go": [
            {"code": "x = call_entity('child')\\n"
             "try: die('host')\\nexcept GateInterrupted: x += 1"},
            {"code": "done(x)"},
        ],
        "child": [{"code": "y = 1"}, {"code": "done(y)"}],
    }
    circle = Circle(
        medium="code", gates=["done", "call_entity", die], wards=[{"max_turns": 10}]
    )
    spell = Cantrip(llm=ScriptedLLM(replies), circle=circle, loom=Loom(sys.argv[1]))
    cast = spell.resume() if spell.loom.entities else spell.cast("go")
    print(cast.result, len(spell.llm.requests))
"""


def test_a_host_that_is_killed(tmp_path):
    """A run whose process was killed by SIGKILL goes on in another one, from the loom on disk."""

    def program(**environment):
        return subprocess.run(
            [sys.executable, "-c", textwrap.dedent(PROGRAM), tmp_path],
            env={**os.environ, **environment},
            capture_output=True,
            text=True,
            timeout=120,
        )

    died = program(DIES="host")
    assert died.returncode == -signal.SIGKILL, died.stderr
    done = program()
    assert (done.returncode, done.stdout) == (0, "2 1\n"), done.stderr
    with Loom(tmp_path, read_only=True) as loom:
        assert [entity.outcome for entity in loom.entities.values()] == ["terminated"] * 2
        assert len([one for *_, one in loom.records() if isinstance(one, IntentRecord)]) == 2


@pytest.mark.kernel
def test_a_worker_that_is_killed_as_it_begins(code, monkeypatch):
    """A session whose process is killed while its context is set has the context all the same."""
    setting, killed = AsyncSandbox._setting, []

    def kill_and_set(self, name, value):
        if not killed:
            killed.append(self.pid)
            os.kill(self.pid, signal.SIGKILL)
        return setting(self, name, value)

    monkeypatch.setattr(AsyncSandbox, "_setting", kill_and_set)
    assert code([run("done(context)")]).cast("go", context="data").result == "data"
    assert len(killed) == 1
