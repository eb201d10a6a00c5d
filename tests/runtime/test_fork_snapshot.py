"""Forks that take up a copy of a living entity's state, and forks that share one past."""

from dataclasses import replace

import anyio
import pytest
from circlet import AsyncSandbox, Circle, Loom, ScriptedLLM, gate
from circlet.runtime.errors import ForkError, ProviderError
from circlet.runtime.loom import NodeRecord
from circlet.sandbox.errors import CheckpointUnavailable

pytestmark = pytest.mark.kernel
TURNS = {"max_turns": 10}


def run(source):
    return {"code": source}


def saying(*replies):
    """A model that says these to each fork of it."""
    return ScriptedLLM({"": list(replies)})


def strategies(forks):
    return [fork.forked_from.strategy for fork in forks]


@pytest.fixture
def runs(monkeypatch):
    """The sources that sandboxes are given to run, in order."""
    seen = []
    run_turn = AsyncSandbox.run_turn

    async def noting(self, turn, source, *args):
        seen.append(source)
        return await run_turn(self, turn, source, *args)

    monkeypatch.setattr(AsyncSandbox, "run_turn", noting)
    return seen


# -- a copy of a living entity -------------------------------------------------------------------


def test_a_living_entity_is_copied(code, runs):
    """LOOM-13: its state is taken as it is, nothing is run again, and the loom says so."""
    spell = code([run("xs = [1]"), run("xs.append(2); done(0)")])
    with spell.summon() as entity:
        entity.send("go")
        runs.clear()
        fork = spell.fork(entity.entity_id, 2, "on", llm=saying(run("done(xs)")))
    assert (fork.result, fork.difference) == ([1, 2], None)
    assert runs == ["done(xs)"]
    assert fork.forked_from.strategy == "snapshot"
    assert fork.thread.forked_from == spell.loom.entities[fork.entity_id].forked_from
    assert fork.thread.forked_from.strategy == "snapshot"


def test_copies_are_independent(code):
    """LOOM-4: what one changes changes nothing in the others, nor in the original; nor back."""
    first = "xs, d = [1], {'k': [0]}\nnumbers = iter(range(9))\ndone(0)"
    change = "xs.append(next(numbers)); d['k'].append(len(xs)); done([xs, d])"
    spell = code([run(first), run(change), run(change)])
    with spell.summon() as entity:
        entity.send("go")
        one = spell.fork(entity.entity_id, 1, "on", llm=saying(run(change), run(change)))
        assert entity.send("change").result == [[1, 0], {"k": [0, 2]}]
        assert one.result == [[1, 0], {"k": [0, 2]}]
        several = spell.fork(entity.entity_id, 2, "on", llm=saying(run(change)), n=3)
        assert [fork.result for fork in several] == [[[1, 0, 1], {"k": [0, 2, 3]}]] * 3
        assert entity.send("change").result == [[1, 0, 1], {"k": [0, 2, 3]}]
    assert strategies([one, *several]) == ["snapshot"] * 4


def test_a_copy_has_gates_of_its_own(deep):
    """LOOM-4: a copy's calls stand in its own turns, and so do its children; it reads those."""
    made = []

    @gate
    def make(what: str) -> int:
        """Make something."""
        made.append(what)
        return len(made)

    parent = "kept = make\none = make('a')\ndone(0)"
    child = [run("done(context)")]
    spell = deep([run(parent)], make)
    on = run("two = kept('b')\nthree = call_entity('child', context=[one, two])\nn = 0")
    asked = run("done([three, len(loom), loom.turn(2).code[:4], loom.children[0].intent])")
    llm = ScriptedLLM({"^on": [on, asked], "^child": child})
    with spell.summon() as entity:
        entity.send("go")
        fork = spell.fork(entity.entity_id, 1, "on", llm=llm)
    assert fork.forked_from.strategy == "snapshot"
    assert fork.result == [[1, 2], 2, "two ", "child"]
    assert made == ["a", "b"]
    own = spell.loom.entities[fork.entity_id]
    assert [call.gate for call in own.turns[0].calls] == ["make"]
    assert [child.outcome for child in own.children] == ["terminated"]
    assert not spell.loom.entities[entity.entity_id].children


def test_what_can_not_be_run_again_can_be_copied(code):
    """LOOM-13: a turn that was cut off has no replay, but a copy, which has all; then an image."""
    source = "xs, ys = [1], iter(range(9))\nzs = (next(ys) for _ in 'abc')\nwhile True: pass"
    spell = code([run(source), run("done(0)")], wards=[TURNS, {"max_eval_ms": 300}])
    llm = saying(run("done([xs, 'zs' in globals() and next(zs)])"))
    with spell.summon() as entity:
        entity.send("go")
        copied = spell.fork(entity.entity_id, 2, "on", llm=llm)
    again = spell.fork(entity.entity_id, 2, "on", llm=llm)
    assert (copied.result, again.result) == ([[1], 0], [[1], False])
    assert strategies([copied, again]) == ["snapshot", "replay"]


def test_an_entity_that_was_closed(code):
    """LOOM-13: its state is gone with it; the past is lived again, and the loom says so."""
    spell = code([run("xs = [1]; done(0)")])
    with spell.summon() as entity:
        entity.send("go")
    fork = spell.fork(entity.entity_id, 1, "on", llm=saying(run("done(xs)")))
    assert (fork.result, fork.forked_from.strategy) == ([1], "replay")


def test_an_earlier_turn(code):
    """LOOM-4: a turn whose state is parked no more is lived again; none of what came later."""
    spell = code([run("xs = [1]; done(0)"), run("xs.append(context); done(xs)")])
    with spell.summon() as entity:
        entity.send("go")
        entity.send("more", context=2)
        llm = saying(run("done([xs, context])"))
        forks = [spell.fork(entity.entity_id, turn, "on", llm=llm) for turn in (2, 1)]
    assert [fork.result for fork in forks] == [[[1, 2], 2], [[1], None]]
    assert strategies(forks) == ["snapshot", "replay"]


def test_a_fork_while_the_original_is_at_work(code):
    """LOOM-4: the last finished turn is copied in the midst of the next, without its context."""
    forked = []

    @gate
    def fork_me() -> None:
        """Fork the turn before this one."""
        (first, *_) = spell.loom.entities
        llm = saying(run("done([xs, context])"))
        forked.append(spell.fork(first, 1, "on", llm=llm))

    source = "xs.append(2)\nfork_me()\nxs.append(3)\ndone(xs)"
    spell = code([run("xs = [1]; done(0)"), run(source)], fork_me)
    with spell.summon() as entity:
        entity.send("go")
        # Its state is parked by now, for this fork.
        spell.fork(entity.entity_id, 1, "on", llm=saying(run("done(0)")))
        assert entity.send("more", context="later").result == [1, 2, 3]
    (fork,) = forked
    assert (fork.result, fork.forked_from.strategy) == ([[1], None], "snapshot")


def test_a_turn_in_which_nothing_was_run(code):
    """LOOM-13: text alone leaves the state as it was: a copy of the one before will do."""
    replies = [run("xs = [1]"), {"content": "Let me think."}, {"content": "done thinking"}]
    spell = code(replies, wards=[{"max_turns": 3}, {"require_done_tool": True}])
    with spell.summon() as entity:
        entity.send("go")
        llm = saying(run("done(xs)"))
        forks = [spell.fork(entity.entity_id, turn, "on", llm=llm) for turn in (1, 2, 3)]
    assert [fork.result for fork in forks] == [[1]] * 3
    assert strategies(forks) == ["snapshot"] * 3


def test_a_turn_of_several_programs(code):
    """LOOM-13: a turn's state is that after the last program of its utterance."""
    two = {"tool_calls": [{"gate": "python", "args": {"code": f"xs.append({n})"}} for n in (2, 3)]}
    spell = code([run("xs = [1]"), two, run("done(0)")])
    with spell.summon() as entity:
        entity.send("go")
        fork = spell.fork(entity.entity_id, 3, "on", llm=saying(run("done(xs)")))
    assert (fork.result, fork.forked_from.strategy) == ([1, 2, 3], "snapshot")


@pytest.mark.parametrize(
    ("circle", "strategy"),
    [
        ({}, "snapshot"),
        ({"wards": [{"max_turns": 3}]}, "snapshot"),
        ({"wards": [TURNS, {"max_eval_ms": 999}]}, "replay"),
        ({"wards": [TURNS, {"modules": ["json"]}]}, "replay"),
        ({"gates": ["done", "echo"]}, "replay"),
    ],
)
def test_under_another_circle(code, circle, strategy):
    """LOOM-4: a worker's limits, modules and gates are its own for life: else it is lived again."""
    spell = code([run("xs = [1]; done(0)")])
    given = {"medium": "code", "gates": ["done"], "wards": [TURNS], **circle}
    llm = saying(run("done(xs)"))
    other = spell.model_copy(update={"circle": Circle(**given)})
    with spell.summon() as entity:
        entity.send("go")
        fork = other.fork(entity.entity_id, 1, "on", llm=llm)
    assert (fork.result, fork.forked_from.strategy) == ([1], strategy)


def test_a_gate_of_another_signature(code):
    """LOOM-4: a program is never shown a gate as it was when the fork has another of its name."""

    @gate(name="get")
    def before(key: str) -> str:
        """Get."""
        return key

    @gate(name="get")
    def after(key: str, default: str = "none") -> str:
        """Get."""
        return default

    spell = code([run("x = get('a'); done(0)")], before)
    other = code([], after, loom=spell.loom)
    with spell.summon() as entity:
        entity.send("go")
        llm = saying(run("done([x, get('a', 'b'), str(get)])"))
        fork = other.fork(entity.entity_id, 1, "on", llm=llm)
    assert fork.result[:2] == ["a", "b"]
    assert "default" in fork.result[2]
    assert fork.forked_from.strategy == "replay"


def test_a_child_at_work_is_copied(deep):
    """COMP-4, LOOM-4: a child is alive while it works; its fork has its state, and no parent."""
    forked = []

    @gate
    def fork_me() -> None:
        """Fork the turn before this one."""
        child = list(spell.loom.entities)[1]
        for _ in range(2):  # the first has its state parked
            forked.append(spell.fork(child, 1, "on", llm=saying(run("done([ys, context])"))))

    child = [{**run("ys = [context]"), "delay_ms": 1}, {**run("fork_me(); done(ys)")}]
    spell = deep(
        {"^root": [run("done(call_entity('child', context=5))")], "^child": child}, fork_me
    )
    assert spell.cast("root").result == [5]
    assert [fork.result for fork in forked] == [[[5], 5]] * 2
    assert spell.loom.entities[forked[0].entity_id].spawned_by is None


def test_a_fork_is_forked_while_it_works(code):
    """LOOM-4: a fork is alive too; what is copied of it is its own turn, past and all."""
    forked = []

    @gate
    def fork_me(turn: int) -> None:
        """Fork the newest entity."""
        newest = list(spell.loom.entities)[-1]
        forked.append(spell.fork(newest, turn, "deeper", llm=saying(run("done(xs)"))))

    spell = code([run("xs = [1]; done(0)")], fork_me)
    cast = spell.cast("go")
    llm = ScriptedLLM(
        {"^on": [{**run("xs.append(2)"), "delay_ms": 1}, run("fork_me(2); done(xs)")]}
    )
    fork = spell.fork(cast.thread, 1, "on", llm=llm)
    assert (fork.result, forked[0].result) == ([1, 2], [1, 2])
    assert forked[0].forked_from.node == fork.thread[1].id
    assert [turn.turn for turn in forked[0].thread] == [1, 2, 3]


def test_an_entity_that_was_taken_up_again(code, tmp_path):
    """LOOM-4: it is alive again: its turns are forked as any, before its next one and after."""
    replies = [run("xs = iter([1, 2, 3])\nnext(xs); done(0)"), run("done(next(xs))")]
    llm = saying(run("done(next(xs))"))
    with Loom(tmp_path) as loom, code(replies, loom=loom).summon(entity_id="it") as entity:
        entity.send("go")
    with Loom(tmp_path) as loom:
        spell = code(replies, loom=loom)
        with spell.summon(entity_id="it", resume=True) as entity:
            forks = [spell.fork("it", 1, "on", llm=llm)]
            assert entity.send("more").result == 2
            forks += [spell.fork("it", turn, "on", llm=llm) for turn in (2, 1)]
    assert [fork.result for fork in forks] == [2, 3, 2]
    assert strategies(forks) == ["replay", "snapshot", "replay"]


def test_no_room_for_copies(code, monkeypatch):
    """LOOM-13: where nothing can be parked the past is lived again, each time; and it is told."""
    spell = code([run("xs = [1]; done(0)")])
    monkeypatch.setenv("CIRCLET_CHECKPOINT_MB", "0")
    with spell.summon() as entity:
        entity.send("go")
        forks = spell.fork(entity.entity_id, 1, "on", llm=saying(run("done(xs)")), n=3)
    assert [fork.result for fork in forks] == [[1]] * 3
    assert strategies(forks) == ["replay"] * 3


def test_a_copy_that_fails_to_be_made(code, monkeypatch):
    """LOOM-13: a snapshot that turns out not to be had is a replay, and never told as the other."""

    async def refusing(self, point, rerun=True):
        raise CheckpointUnavailable("it has given way")

    spell = code([run("xs = [1]; done(0)")])
    with spell.summon() as entity:
        entity.send("go")
        monkeypatch.setattr(AsyncSandbox, "restore", refusing)
        forks = spell.fork(entity.entity_id, 1, "on", llm=saying(run("done(xs)")), n=2)
    assert [fork.result for fork in forks] == [[1]] * 2
    assert strategies(forks) == ["replay"] * 2


def test_a_turn_that_was_undone(code):
    """LOOM-13: its state is that of the turn before, to which the sandbox was rolled back."""
    wards = [{"max_turns": 2}, {"max_eval_ms": 300}]
    spell = code([run("xs = [1]"), run("xs.append(2)\nsum(range(10**12))")], wards=wards)
    with spell.summon() as entity:
        cast = entity.send("go")
        fork = spell.fork(entity.entity_id, 2, "on", llm=saying(run("done(xs)")))
    assert cast.thread[1].state == "rolled_back"
    assert (fork.result, fork.forked_from.strategy) == ([1], "snapshot")


def test_from_another_event_loop(code):
    """PROD-1: the entity lives in one event loop and is forked in another, which takes a copy."""
    spell = code([run("xs = [1]; done(0)"), run("done(xs)")])
    with spell.summon() as entity:
        entity.send("go")

        async def main():
            return await spell.afork(entity.entity_id, 1, "on", llm=saying(run("done(xs)")))

        fork = anyio.run(main)
        assert entity.send("more").result == [1]
    assert (fork.result, fork.forked_from.strategy) == ([1], "snapshot")


def test_a_conversation_has_nothing_to_copy(chat):
    """LOOM-13: what there is to it is on record, whether it is alive or not."""
    echo = {"tool_calls": [{"gate": "echo", "args": {"text": "A"}}]}
    end = {"tool_calls": [{"gate": "done", "args": {"answer": 1}}]}
    spell = chat([echo, end], "echo")
    with spell.summon() as entity:
        entity.send("go")
        forks = spell.fork(entity.entity_id, 2, "on", llm=saying(end), n=2)
    assert strategies(forks) == ["replay"] * 2


# -- several forks of one turn -------------------------------------------------------------------


def test_a_past_is_lived_once_for_all(code, runs):
    """LOOM-4: many forks cost about one replay; each is told to be a replay, and is independent."""
    spell = code([run("xs = [1]"), run("xs.append(2)"), run("done(0)")])
    cast = spell.cast("go")
    runs.clear()
    on = "xs.append(len(xs)); done(xs)"
    forks = spell.fork(cast.thread, 2, "on", llm=saying(run(on)), n=8)
    assert [fork.result for fork in forks] == [[1, 2, 2]] * 8
    assert strategies(forks) == ["replay"] * 8
    assert sorted(runs) == sorted(["xs = [1]", "xs.append(2)", *[on] * 8])
    assert len({fork.entity_id for fork in forks}) == 8


def test_few_at_a_time(code, runs):
    """LOOM-4: those that wait for their turn begin with the same state as the first."""
    wards = [TURNS, {"max_concurrent": 1}]
    spell = code([run("xs = iter(range(9))\nnext(xs)"), run("done(0)")], wards=wards)
    cast = spell.cast("go")
    runs.clear()
    on = saying(
        run("import random\nys = [next(xs), random.random()]"), run("done([*ys, next(xs)])")
    )
    forks = spell.fork(cast.thread, 1, "on", llm=on, n=4)
    assert [fork.result for fork in forks] == [forks[0].result] * 4
    assert forks[0].result[::2] == [1, 2]
    assert len(runs) == 1 + 4 * 2


def test_all_are_told_of_a_difference(code, altered):
    """LOOM-13: what the one that lived the past again showed otherwise holds for its copies too."""
    spell = code([run("xs = [1]\nxs"), run("done(0)")])
    cast = spell.cast("go")
    shown = replace(cast.thread[0].observation, text="[2]")

    def change(record):
        is_first = isinstance(record, NodeRecord) and record.turn == 1
        return replace(record, observation=shown) if is_first else record

    llm = saying(run("done(xs)"))
    forks = altered(spell, change).fork(cast.entity_id, 1, "on", llm=llm, n=3)
    told = "turn 1 showed '[1]' when it was run again, where it had shown '[2]'"
    assert [fork.difference for fork in forks] == [told] * 3
    requests = [request.messages[-1].content for request in llm.requests]
    assert [told in text for text in requests] == [True] * 3


def test_a_past_that_can_not_be_lived_again(code, altered):
    """LOOM-13: each of them says why in its place, and one alone raises it; none has begun."""

    @gate
    def count(n: int) -> int:
        """Count."""
        return n

    spell = code([run("x = count(1)"), run("done(0)")], count)
    cast = spell.cast("go")

    def without_calls(record):
        return replace(record, calls=()) if isinstance(record, NodeRecord) else record

    other = altered(spell, without_calls)
    with pytest.raises(ForkError, match="turn 1 can't be run again: it calls count, and no"):
        other.fork(cast.entity_id, 1, "on")
    forks = other.fork(cast.entity_id, 1, "on", llm=saying(run("done(0)")), n=2)
    assert [type(fork.error) for fork in forks] == [ForkError] * 2
    assert len(other.loom.entities) == 1


def test_the_first_of_them_fails(code):
    """COMP-8: what ends one of them ends none of the others, whichever it is."""
    spell = code([run("xs = [1]; done(0)")])
    cast = spell.cast("go")
    replies = [{"error": {"status": 400, "message": "no"}}, *[run("done(xs)")] * 3]
    forks = spell.fork(cast.thread, 1, "on", llm=ScriptedLLM(replies), n=4)
    failed = [fork for fork in forks if fork.error is not None]
    assert [type(fork.error) for fork in failed] == [ProviderError]
    assert [fork.result for fork in forks if fork.error is None] == [[1]] * 3
    assert strategies(forks) == ["replay"] * 4
