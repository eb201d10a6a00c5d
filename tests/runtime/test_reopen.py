"""A loom that is opened again: what it holds goes on, is read and is forked, in any process."""

import subprocess
import sys
import textwrap
from contextlib import contextmanager

import pytest
from circlet import Loom, ScriptedLLM
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import ForkPoint

SPELL = """
    import sys
    from circlet import Cantrip, Circle, Loom, ScriptedLLM, gate

    @gate
    def effect(what: str) -> list:
        '''Have an effect.'''
        print("effect", what, flush=True)
        return [what, len(what)]

    def spell(path, *replies, medium="code"):
        gates = ["done", "call_entity", effect]
        wards = [{"max_turns": 10}]
        circle = Circle(medium=medium, gates=gates, wards=wards)
        return Cantrip(llm=ScriptedLLM(replies), circle=circle, loom=Loom(path))
"""
ORIGINAL = """
    cast = spell(
        sys.argv[1],
        {"code": "import random\\nx = [effect('one'), random.random()]"},
        {"code": "y = call_entity('child', context={1: (2,)})"},
        {"code": "done(context)"},
        {"code": "done([x, y])"},
    ).cast("go", context="data")
    print(cast.entity_id, cast.result)
"""


@contextmanager
def program(code, *arguments):
    """Another Python that has the spell of this module and runs ``code``."""
    source = textwrap.dedent(SPELL) + textwrap.dedent(code)
    process = subprocess.Popen(
        [sys.executable, "-c", source, *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


def output(code, *arguments):
    """The lines that a program prints until it ends well."""
    with program(code, *arguments) as process:
        out, _ = process.communicate()
        assert process.returncode == 0
    return out.splitlines()


def test_a_fork_in_a_fresh_process(tmp_path):
    """LOOM-4, LOOM-13: once all who made it are gone, a loom on disk is enough to fork from."""
    first = output(ORIGINAL, tmp_path / "run")
    assert first[0] == "effect one"
    forked = """
        one = spell(sys.argv[1], {"code": "done([x, y, context])"})
        original = next(iter(one.loom.entities))
        cast = one.fork(original, from_turn=2, intent="on", llm=one.llm)
        assert cast.result[0][0] == ["one", 3] and cast.result[1:] == [{1: (2,)}, "data"], cast
        assert cast.difference is None and len(one.loom.entities) == 3
        print(cast.entity_id, [turn.id for turn in cast.thread][-1], cast.result[0][1])
    """
    (second,) = output(forked, tmp_path / "run")
    entity_id, node, luck = second.split()
    assert node == f"{entity_id}.1"
    with Loom(tmp_path / "run") as loom:
        threads = [[turn.turn for turn in thread] for thread in loom.threads()]
        assert threads == [[1, 2, 2, 3], [1, 2, 1], [1, 2, 2, 3]]
        view = loom.entities[entity_id]
        assert view.forked_from == ForkPoint(loom.threads()[0][2].id, "replay")
        assert view.result[0][1] == float(luck)
        numbers = [n for n, _, _ in loom.records()]
        assert numbers == list(range(1, len(numbers) + 1))


def test_a_fork_of_a_fork_after_reopening(tmp_path):
    """LOOM-4: each process forks what the one before left."""
    output(ORIGINAL, tmp_path / "run")
    forked = """
        one = spell(sys.argv[1], {"code": "x.append(1)"}, {"code": "done(x[2:])"})
        newest = list(one.loom.entities)[-1] if int(sys.argv[2]) else next(iter(one.loom.entities))
        turns = one.loom.thread(newest)[-1].turn - 1
        print(one.fork(newest, turns, intent="on", llm=one.llm).result)
    """
    results = [output(forked, tmp_path / "run", place)[-1] for place in (0, 1, 1)]
    assert results == ["[1]", "[1, 1]", "[1, 1, 1]"]


def test_a_script_goes_on_in_a_fresh_process(tmp_path):
    """LOOM-4: the run's own script, read anew, begins after the replies that the loom has."""
    replies = '{"content": "one"}, {"content": "two"}'
    cast = f"""
        one = spell(sys.argv[1], {replies}, medium="conversation")
        print(one.cast("go").result)
    """
    fork = f"""
        one = spell(sys.argv[1], {replies}, medium="conversation")
        print(one.fork(next(iter(one.loom.entities)), 1, "on").result)
    """
    assert output(cast, tmp_path / "run") == ["one"]
    assert output(fork, tmp_path / "run") == ["two"]


def test_casts_go_on_in_a_reopened_loom(chat, tmp_path):
    """LOOM-2, LOOM-7: new entities stand behind the old ones; ids and ordinals go on."""
    answers = [{"content": "a"}, {"content": "b"}]
    ids = []
    for answer in answers:
        with Loom(tmp_path) as loom:
            ids.append(chat([answer], loom=loom).cast("go").entity_id)
    with Loom(tmp_path) as loom:
        assert list(loom.entities) == ids
        assert [thread.result for thread in loom.threads()] == ["a", "b"]
        assert loom.turn_count == 2


def test_a_loom_is_read_while_another_process_writes(tmp_path):
    """LOOM-1: a reader sees what is recorded by then, tells what has no end, and can't fork."""
    writer = """
        @gate(timeout_s=None)
        def wait() -> None:
            '''Wait for a line.'''
            print("waits", flush=True)
            sys.stdin.readline()
        circle = Circle(medium="conversation", gates=["done", wait], wards=[{"max_turns": 10}])
        calls = [{"tool_calls": [{"gate": "wait"}]}] * 2
        llm = ScriptedLLM([*calls, {"content": "ended"}])
        Cantrip(llm=llm, circle=circle, loom=Loom(sys.argv[1])).cast("go")
        print("over", flush=True)
    """
    with program(writer, tmp_path) as process:
        for turns in (0, 1):
            assert process.stdout.readline() == "waits\n"
            with Loom(tmp_path, read_only=True) as loom:
                (entity,) = loom.entities.values()
                assert (entity.outcome, len(entity.turns)) == (None, turns)
                assert entity.utterance_count == turns + 1
            with pytest.raises(LoomError, match="is being written by process"):
                Loom(tmp_path)
            process.stdin.write("\n")
            process.stdin.flush()
        assert process.stdout.readline() == "over\n"
        with Loom(tmp_path, read_only=True) as loom:
            (entity,) = loom.entities.values()
            assert entity.result == "ended"


def test_a_loom_that_is_only_read_is_not_forked(chat, tmp_path):
    """LOOM-3: a fork writes; with a reader's loom it is an error, and nothing is there of it."""
    with Loom(tmp_path) as loom:
        chat([{"content": "a"}], loom=loom).cast("go")
    with Loom(tmp_path, read_only=True) as loom:
        spell = chat(ScriptedLLM([{"content": "b"}]), loom=loom)
        (original,) = loom.entities
        with pytest.raises(LoomError, match="read only"):
            spell.fork(original, 1, "on", llm=spell.llm)
        assert list(loom.entities) == [original]


def test_a_killed_run_can_be_forked(tmp_path):
    """LOOM-4: what had come to its end before the process was killed can be gone on from."""
    killed = """
        import os
        @gate
        def die() -> None:
            '''Die.'''
            os._exit(9)
        circle = Circle(medium="code", gates=["done", effect, die], wards=[{"max_turns": 10}])
        llm = ScriptedLLM([{"code": "x = effect('one')"}, {"code": "die()"}])
        Cantrip(llm=llm, circle=circle, loom=Loom(sys.argv[1])).cast("go")
    """
    with program(killed, tmp_path) as process:
        process.communicate()
        assert process.returncode == 9

    forked = """
        from circlet.runtime.errors import ForkError
        one = spell(sys.argv[1], {"code": "done(x)"})
        original = next(iter(one.loom.entities))
        try:
            one.fork(original, 2, "on", llm=one.llm)
        except ForkError as error:
            print(error)
        print(one.fork(original, 1, "on", llm=one.llm).result)
    """
    refused, result = output(forked, tmp_path)
    assert refused.startswith("turn 2 has not come to its end")
    assert result == "['one', 3]"
