"""What a turn read of clocks and chance is in the loom, and is read again where it is relived."""

from circlet import gate
from circlet.runtime.loom import CallRecord, NodeRecord
from circlet.runtime.readings import Readings, by_program
from circlet.sandbox.reads import MAX_READS, packed, reads_of
from circlet.sandbox.wire import dumps

WORLD = """
import datetime, secrets, time, uuid
print(time.time(), datetime.datetime.now(), uuid.uuid4(), secrets.token_hex())
began = time.perf_counter()
"""


def python(*programs):
    return {"tool_calls": [{"gate": "python", "args": {"code": program}} for program in programs]}


@gate
def note(what: str) -> str:
    """Note something."""
    return what


@gate(idempotent=True)
def look() -> int:
    """Look at something."""
    return 1


def reads(number):
    return dumps({"time": packed("time", [number])})


def relived(spell, altered, turn=2):
    """A fork of the first entity's thread, whose turns are run again: nothing of it is parked."""
    again = altered(spell, lambda record: record)
    entity = again.loom.turns[0].entity_id
    fork = again.fork(again.loom.thread(entity), from_turn=turn, intent="go on")
    assert again.loom.entities[fork.entity_id].forked_from.strategy == "replay"
    return fork


def test_a_turn_that_is_relived_shows_the_same_times(code, altered):
    """Clocks, identifiers and secrets are those of the first time, so nothing differs."""
    spell = code([{"code": WORLD}, {"code": "done(str(began))"}, {"code": "done(str(began))"}])
    cast = spell.cast("look at the clock")
    fork = relived(spell, altered, turn=1)
    assert fork.difference is None
    assert fork.result == cast.result


def records(spell, kind):
    return [record for *_, record in spell.loom.records() if isinstance(record, kind)]


def test_reads_stand_with_the_call_that_follows_them(code):
    """With its beginning and its end both; what was read after the last call, with the node."""
    source = f"{WORLD}\nnote('a')\nnote('b')\nx = time.time()\nlook()\ny = time.time()"
    spell = code([{"code": source}, {"code": "done(1)"}], note, look)
    spell.cast("call")
    calls = [(call.gate, call.state, call.reads) for call in records(spell, CallRecord)]
    first = calls[0][2]
    assert set(reads_of(by_program([first])[1])) == {"chance", "perf_counter", "time"}
    assert [(name, state) for name, state, _ in calls[:5]] == [
        *[("note", "begun"), ("note", "ended"), ("note", "begun"), ("note", "ended")],
        ("look", "ended"),
    ]
    assert [read for *_, read in calls[1:4]] == [first, None, None]
    assert set(reads_of(by_program([calls[4][2]])[1])) == {"time"}
    node, last = records(spell, NodeRecord)
    assert set(reads_of(by_program([node.reads])[1])) == {"time"}
    assert last.reads is None


def test_each_program_of_a_turn_reads_what_it_read(code, altered):
    """Several programs of one utterance, with calls and without, are told apart."""
    programs = (
        "import time\na = time.time()",
        "b = [time.time()]\nnote('x')\nb.append(time.time())",
        "c = 1",
        "d = time.time()\nlook()",
        "print(a, b, d)",
    )
    spell = code(
        [python(*programs), {"code": "done([a, b, d])"}, {"code": "done([a, b, d])"}], note, look
    )
    cast = spell.cast("run five")
    fork = relived(spell, altered, turn=1)
    assert fork.difference is None
    assert fork.result == cast.result


def test_a_turn_that_delegates_reads_the_same_in_all_its_parts(deep, altered):
    """Before the children and after them."""
    source = "import time\na = time.time()\nr = call_entity('child')\nb = time.time()\nprint(a, b)"
    replies = {
        "child": [{"code": "import time\ndone(time.time())"}],
        ".*": [{"code": source}, {"code": "done([a, r, b])"}, {"code": "done([a, r, b])"}],
    }
    spell = deep(replies)
    cast = spell.cast("delegate")
    fork = relived(spell, altered, turn=1)
    assert fork.difference is None
    assert fork.result == cast.result


def test_a_turn_that_reads_too_much_is_marked_when_it_happens(code):
    """It is on record that it can't be run again."""
    source = f"import time\nfor _ in range({MAX_READS // 8 + 1}): time.time()"
    spell = code([{"code": source}, {"code": "done(1)"}])
    spell.cast("look often")
    assert [node.replayable for node in records(spell, NodeRecord)] == [False, True]


def test_readings_are_told_apart_by_program():
    """What was read stands with the ordinal of the program that read it, in order."""
    readings = Readings()
    waiting = [reads(1.0)]
    with readings.running(lambda: waiting.pop() if waiting else None):
        before_call = readings.taken()
        waiting.append(reads(2.0))
    waiting.append(reads(3.0))
    with readings.running(lambda: waiting.pop() if waiting else None):
        pass
    recorded = [before_call, None, readings.taken()]
    both = dumps({"time": packed("time", [1.0, 2.0])})
    assert by_program(recorded) == {1: both, 2: reads(3.0)}
    assert readings.taken() is None
