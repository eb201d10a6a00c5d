"""A state that another session takes up as it is, with gates of its own; and which state it is."""

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Limits, Sandbox
from circlet.sandbox.errors import CheckpointUnavailable

STUCK = "sum(range(10**12))"
"""One operation that no signal interrupts: its process has to be killed."""
QUICK = Limits(eval_ms=300)


def session(answer, **settings):
    """A session whose gate ``ask`` gives an answer."""

    def ask() -> str:
        return answer

    return AsyncSandbox(**{"gates": {"ask": ask}, "limits": QUICK, **settings})


# -- taking a state up ---------------------------------------------------------------------------


@pytest.mark.kernel
def test_a_state_is_taken_up_with_gates_of_ones_own():
    """A copy's programs call the gates of the session that has taken it up, by any name."""

    async def main():
        async with session("first") as one, session("second") as other:
            await one.run("kept = ask\nxs = [ask()]\nnumbers = iter(range(5))\nnext(numbers)")
            async with await one.checkpoint() as point:
                await other.restore(point, rerun=False)
            run = await other.run("xs.append(kept()); [*xs, ask(), next(numbers)]")
            assert run.value == ["first", "second", "second", 1]
            assert (await one.run("[*xs, kept(), next(numbers)]")).value == ["first", "first", 1]
            # It has the past as well, to be rolled back by.
            await other.run("xs.append(3)")
            assert (await other.run(STUCK)).state == "rolled_back"
            assert (await other.run("xs")).value == ["first", "second", 3]

    anyio.run(main)


@pytest.mark.kernel
def test_no_process_is_started_for_it():
    """A session that has not begun takes up a copy and no fresh worker before it."""

    async def main():
        async with session("first") as one, session("second") as other:
            await one.run("x = 1")
            async with await one.checkpoint() as point:
                await other.restore(point, rerun=False)
            pid = other.pid
            assert (await other.run("x")).value == 1
            assert other.pid == pid

    anyio.run(main)


@pytest.mark.kernel
def test_nothing_is_run_again_for_it():
    """Without ``rerun`` a state whose copy is gone can't be had; the session is as it was."""

    async def main():
        async with session("first") as one, session("second") as other:
            await one.run("x = ask()")
            await one.keep()
            (point,) = one.checkpoints
            await one.run("x = 2")
            await one.keep()  # in place of the other one
            await other.run("x = 3")
            with pytest.raises(CheckpointUnavailable, match="given way"):
                await other.restore(point, rerun=False)
            assert (await other.run("x")).value == 3
            await other.restore(point)
            assert (await other.run("x")).value == "first"

    anyio.run(main)


def test_where_no_copies_are_made():
    """The portable back end parks nothing: what it gives is run again, or refused."""
    with Sandbox(backend="portable", limits=QUICK) as box, box.checkpoint() as point:
        box.run("x = 1")
        with pytest.raises(CheckpointUnavailable, match="given way"):
            box.restore(point, rerun=False)
        assert box.run("x").value == 1
        box.restore(point)
        assert box.run("'x' in globals()").value is False


@pytest.mark.kernel
def test_gates_must_look_the_same():
    """A program is shown its gates' signatures, so that a state is bound to them, not to names."""

    def other(key: str) -> str:
        return key

    async def main():
        async with session("first") as one, session("", gates={"ask": other}) as two:
            await one.run("x = 1")
            async with await one.checkpoint() as point:
                with pytest.raises(CheckpointUnavailable, match="other settings"):
                    await two.restore(point)

    anyio.run(main)


# -- which state it is ---------------------------------------------------------------------------


@pytest.mark.kernel
def test_a_state_has_an_id():
    """It is another one after each turn and each variable, and that of its checkpoints."""

    async def main():
        async with session("") as box:
            seen = [box.state_id]
            await box.run("x = 1")
            seen.append(box.state_id)
            await box.set("y", 2)
            seen.append(box.state_id)
            assert await box.get("y") == 2
            assert box.state_id == seen[-1]
            async with await box.checkpoint() as point:
                assert point.state_id == seen[-1]
                await box.run("x = 2")
                assert box.state_id not in seen
                twin = await point.fork()
                assert twin.state_id == seen[-1]
                await twin.aclose()
                await box.restore(point)
                assert box.state_id == seen[-1]
            assert len({*seen}) == 3

    anyio.run(main)


@pytest.mark.kernel
def test_an_undone_turn_leaves_the_id():
    """Rolled back, a session has the state again that it had; where more is lost, another one."""

    async def main():
        async with session("", limits=QUICK) as box:
            await box.run("x = 1")
            before = box.state_id
            assert (await box.run(STUCK)).state == "rolled_back"
            assert box.state_id == before
            await box.run("y = 2")
            assert box.state_id != before

    anyio.run(main)


@pytest.mark.kernel
def test_keeping_it_now():
    """``keep`` parks the state of a session that is idle, and never disturbs one that is not."""

    async def main():
        begun, over = anyio.Event(), anyio.Event()

        async def wait() -> None:
            begun.set()
            await over.wait()

        async with AsyncSandbox(gates={"wait": wait}, backend="kernel") as box:
            await box.run("x = 1")
            first = box.state_id
            await box.keep()
            assert [one.state_id for one in box.checkpoints] == [first]
            async with anyio.create_task_group() as group:
                group.start_soon(box.run, "x = 2; wait()")
                await begun.wait()
                await box.keep()
                assert [one.state_id for one in box.checkpoints] == [first]
                over.set()
            await box.keep()
            assert [one.state_id for one in box.checkpoints] == [box.state_id]

    anyio.run(main)
