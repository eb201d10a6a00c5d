"""Cancelling: it reaches the last grandchild, and everything that began has its end on record."""

from __future__ import annotations

import asyncio
import contextlib
import os
import select
import signal
import threading
from pathlib import Path

import anyio
import pytest
from circlet import LLM, Loom, ScriptedLLM, gate
from circlet.runtime.events import EntityStarted, ToolCalled
from circlet.runtime.loom import EndRecord, EntityRecord

WARDS = [{"max_turns": 10}, {"max_depth": 2}]
PATIENCE = 30
"""Seconds after which a test that hangs is given up."""
TREE = {
    "root": [{"code": "call_entity_batch(['mid', 'mid'])"}],
    "mid": [{"code": "call_entity_batch(['leaf', 'leaf'])"}],
    "leaf": [{"code": "print('here')\nhang()"}],
}


class Hang:
    """A gate that never answers, and that knows when enough have called it.

    Args:
        wanted: How many calls are enough.
    """

    def __init__(self, wanted: int) -> None:
        self.inside = 0
        self.wanted = wanted
        self.full = anyio.Event()

        @gate(timeout_s=None)
        async def hang() -> None:
            """Never answer."""
            self.inside += 1
            if self.inside == self.wanted:
                self.full.set()
            await anyio.sleep_forever()

        self.gate = hang


def check_record(loom, started, reason="parent_terminated"):
    """Every entity has one end; the root was cancelled, the others went with it."""
    records = [record for _, _, record in loom.records()]
    born = [record.id for record in records if isinstance(record, EntityRecord)]
    ends = {record.entity: record for record in records if isinstance(record, EndRecord)}
    assert len(born) == started
    assert sorted(born) == sorted(ends)
    assert ends[born[0]].outcome == "truncated"
    assert {ends[one].reason for one in born[1:]} == {reason}
    for record in records:
        if hasattr(record, "delegated"):
            assert set(record.delegated) <= set(born)


@pytest.mark.parametrize("how", ["scope", "task", "stream", "reader", "timeout_s"])
def test_it_reaches_the_last_grandchild(deep, how):
    """COMP-9: whoever ends a cast, no query starts after it and each entity has its end."""

    async def main():
        hang = Hang(4)
        wards = [*WARDS, {"timeout_s": 2.0}] if how == "timeout_s" else WARDS
        spell = deep(TREE, hang.gate, wards=wards)
        with anyio.fail_after(PATIENCE):
            await HOW[how](spell, hang)
        queries = len(spell.llm.requests)
        for _ in range(20):
            await anyio.lowlevel.checkpoint()
        assert len(spell.llm.requests) == queries == 7
        return spell.loom

    loom = anyio.run(main)
    check_record(loom, 7)
    root = next(iter(loom.entities.values()))
    assert root.reason == ("timeout_s" if how == "timeout_s" else "cancelled")
    assert all(entity.outcome == "truncated" for entity in loom.entities.values())
    leaf = list(loom.entities.values())[-1]
    (turn,) = leaf.turns
    assert (turn.state, turn.gate_calls, turn.observation.printed) == (
        "rolled_back",
        ["hang"],
        "here\n",
    )
    assert turn.observation.is_error
    assert "Stopped by parent_terminated after 1 turns; called: hang 1 times" in leaf.end.summary


async def _by_scope(spell, hang):
    async with anyio.create_task_group() as group:
        group.start_soon(spell.acast, "root")
        await hang.full.wait()
        group.cancel_scope.cancel()


async def _by_task(spell, hang):
    task = asyncio.create_task(spell.acast("root"))
    await hang.full.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


async def _by_leaving_the_stream(spell, hang):
    calls = 0
    async with contextlib.aclosing(spell.stream("root")) as events:
        async for event in events:
            calls += isinstance(event, ToolCalled) and event.name == "hang"
            if calls == 4:
                break


async def _by_cancelling_the_stream_s_reader(spell, hang):
    async def read():
        async with contextlib.aclosing(spell.stream("root")) as events:
            async for _ in events:
                pass

    async with anyio.create_task_group() as group:
        group.start_soon(read)
        await hang.full.wait()
        group.cancel_scope.cancel()


async def _by_ward(spell, hang):
    assert (await spell.acast("root")).reason == "timeout_s"


HOW = {
    "scope": _by_scope,
    "task": _by_task,
    "stream": _by_leaving_the_stream,
    "reader": _by_cancelling_the_stream_s_reader,
    "timeout_s": _by_ward,
}


def test_those_that_wait_for_their_turn_are_on_record(deep):
    """COMP-9: a child that had not begun when its parent ended is not started, and says so."""

    async def main():
        hang = Hang(2)
        tree = {"root": [{"code": "call_entity_batch(['leaf'] * 5)"}], "leaf": TREE["leaf"]}
        spell = deep(tree, hang.gate, wards=[*WARDS, {"max_concurrent": 2}])
        with anyio.fail_after(PATIENCE):
            await _by_scope(spell, hang)
        return spell.loom

    loom = anyio.run(main)
    check_record(loom, 6)
    outcomes = [entity.outcome for entity in loom.entities.values()]
    assert outcomes == ["truncated"] * 3 + ["not_started"] * 3


def test_while_the_model_is_asked(chat):
    """LOOM-1: a cast that is cancelled in its first query has an end, and no turn."""

    async def main():
        asked = anyio.Event()

        class Silent(LLM):
            name = "silent"

            async def query(self, request):
                asked.set()
                await anyio.sleep_forever()

        spell = chat(Silent())
        async with anyio.create_task_group() as group:
            group.start_soon(spell.acast, "go")
            await asked.wait()
            group.cancel_scope.cancel()
        return spell.loom

    loom = anyio.run(main)
    (entity,) = loom.entities.values()
    assert (entity.outcome, entity.reason, entity.turns) == ("truncated", "cancelled", [])


def test_while_an_entity_begins(code):
    """LOOM-1: one that is cancelled while its sandbox starts has an end too."""

    async def main():
        spell = code([{"code": "done(1)"}])

        def stop(event):
            if isinstance(event, EntityStarted):
                group.cancel_scope.cancel()

        async def cast():
            await spell.acast("go", context=[1], on_event=stop)

        async with anyio.create_task_group() as group:
            group.start_soon(cast)
        return spell.loom

    loom = anyio.run(main)
    (entity,) = loom.entities.values()
    assert (entity.outcome, entity.reason) == ("truncated", "cancelled")


def test_cut_short_between_calls(chat):
    """CIRCLE-7: calls that ended before the cut keep their results; the one cut off has an end."""

    async def main():
        hang = Hang(1)
        calls = [{"gate": "echo", "args": {"text": "kept"}}, {"gate": "hang"}, {"gate": "echo"}]
        spell = chat([{"tool_calls": calls}], "echo", hang.gate)
        with anyio.fail_after(PATIENCE):
            await _by_scope(spell, hang)
        return spell.loom

    (turn,) = anyio.run(main).turns
    assert (turn.state, turn.gate_calls) == ("kept", ["echo", "hang"])
    assert turn.calls[0].text == "kept"
    assert [call.state for call in turn.calls] == ["ended", "ended"]
    assert "stopped from outside" in turn.calls[1].text


def test_a_sync_gate_that_hangs(code):
    """COMP-9: a sync gate's thread is left to itself; it holds nothing up."""
    release = threading.Event()

    async def main():
        inside = anyio.Event()

        @gate(timeout_s=None)
        def hang() -> None:
            """Hang until the test is over."""
            anyio.from_thread.run_sync(inside.set)
            release.wait(PATIENCE)

        spell = code([{"code": "hang()"}], hang)
        async with anyio.create_task_group() as group:
            group.start_soon(spell.acast, "go")
            await inside.wait()
            group.cancel_scope.cancel()
        held_up = release.is_set()
        release.set()
        return spell.loom, held_up

    loom, held_up = anyio.run(main)
    assert not held_up
    assert next(iter(loom.entities.values())).reason == "cancelled"


@pytest.mark.parametrize("keeps", ["an error of its own", "a value"])
@pytest.mark.parametrize("medium", ["code", "chat"])
def test_a_gate_that_keeps_a_cancellation_to_itself(request, medium, keeps):
    """COMP-9: a gate can't swallow what ends the work; no query follows it."""

    async def main():
        inside = anyio.Event()

        @gate(timeout_s=None)
        async def stubborn() -> int:
            """Turn any trouble into something else, as client libraries do."""
            try:
                inside.set()
                await anyio.sleep_forever()
            except BaseException:
                if keeps == "a value":
                    return 1
                raise ConnectionError("the request failed") from None

        call = {"code": "stubborn()"}
        if medium == "chat":
            call = {"tool_calls": [{"gate": "stubborn", "args": {}}]}
        spell = request.getfixturevalue(medium)([call, {"content": "ran on"}], stubborn)
        task = asyncio.create_task(spell.acast("go"))
        await inside.wait()
        task.cancel()
        await asyncio.wait([task])
        return spell, task.cancelled()

    spell, was_cancelled = asyncio.run(main())
    assert was_cancelled
    assert len(spell.llm.requests) == 1
    assert next(iter(spell.loom.entities.values())).reason == "cancelled"


@pytest.mark.kernel
def test_no_process_is_left(deep):
    """COMP-9: the processes of a tree that was cancelled are gone, each of its seven."""

    async def main():
        hang = Hang(4)
        spell = deep(TREE, hang.gate, wards=WARDS)
        handles = []

        async def cast():
            await spell.acast("root")

        async with anyio.create_task_group() as group:
            group.start_soon(cast)
            await hang.full.wait()
            handles.extend(os.pidfd_open(pid) for pid in descendants(os.getpid()))
            group.cancel_scope.cancel()
        return handles

    handles = anyio.run(main)
    poll = select.poll()
    for handle in handles:
        poll.register(handle, select.POLLIN)
    gone: set[int] = set()
    with deadline() as over:
        while len(gone) < 7 and not over.is_set():
            for handle, _ in poll.poll(100):
                gone.add(handle)
                poll.unregister(handle)
    for handle in handles:
        os.close(handle)
    assert len(gone) >= 7


@contextlib.contextmanager
def deadline():
    """An event that is set when a test has taken too long."""
    over = threading.Event()
    timer = threading.Timer(PATIENCE, over.set)
    timer.start()
    try:
        yield over
    finally:
        timer.cancel()


def descendants(pid: int) -> list[int]:
    """The processes below a process."""
    parents: dict[int, list[int]] = {}
    for entry in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            child = int(entry.parent.name)
            parent = int(entry.read_text().rpartition(")")[2].split()[1])
            parents.setdefault(parent, []).append(child)
    found, todo = [], [pid]
    while todo:
        below = parents.get(todo.pop(), [])
        found += below
        todo += below
    return found


# -- Ctrl-C ------------------------------------------------------------------------------------


@contextlib.contextmanager
def interrupted_when(event: threading.Event):
    """Press Ctrl-C when an event is set; the main thread is where a signal arrives."""
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    main = threading.main_thread().ident

    def press():
        if event.wait(PATIENCE):
            signal.pthread_kill(main, signal.SIGINT)

    thread = threading.Thread(target=press)
    thread.start()
    try:
        yield
    finally:
        thread.join()
        signal.signal(signal.SIGINT, handler)


def test_ctrl_c(deep, tmp_path):
    """COMP-9: Ctrl-C ends the whole tree; when it comes up, all ends are on disk."""
    all_inside = threading.Event()
    count = [0]

    @gate(timeout_s=None)
    async def hang() -> None:
        """Never answer."""
        count[0] += 1
        if count[0] == 4:
            all_inside.set()
        await anyio.sleep_forever()

    loom = Loom(tmp_path / "run")
    spell = deep(TREE, hang, wards=WARDS, loom=loom)
    with interrupted_when(all_inside), pytest.raises(KeyboardInterrupt):
        spell.cast("root")
    loom.close()
    check_record(Loom(tmp_path / "run", read_only=True), 7)


def test_ctrl_c_with_a_sync_gate(code):
    """COMP-9: a sync gate that hangs does not hold Ctrl-C up."""
    inside, release = threading.Event(), threading.Event()

    @gate(timeout_s=None)
    def hang() -> None:
        """Hang until the test is over."""
        inside.set()
        release.wait(PATIENCE)

    spell = code([{"code": "hang()"}], hang)
    with interrupted_when(inside), pytest.raises(KeyboardInterrupt):
        spell.cast("go")
    held_up = release.is_set()
    release.set()
    assert not held_up
    assert next(iter(spell.loom.entities.values())).reason == "cancelled"


def test_a_cast_after_ctrl_c(code):
    """COMP-9: the blocking face works on after an interrupt."""
    inside = threading.Event()

    @gate(timeout_s=None)
    async def hang() -> None:
        """Never answer."""
        inside.set()
        await anyio.sleep_forever()

    spell = code(ScriptedLLM([{"code": "hang()"}, {"code": "done('alive')"}]), hang)
    with interrupted_when(inside), pytest.raises(KeyboardInterrupt):
        spell.cast("go")
    assert spell.cast("again").result == "alive"
