"""The awaiting session: the same turns, with gates that wait and turns that are cancelled."""

import socket
from collections.abc import Awaitable, Callable
from typing import Any

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Limits
from circlet.sandbox.dialogue import Done, GateInfo, Turn
from circlet.sandbox.errors import (
    CodecError,
    NoSuchVariable,
    SandboxClosed,
    SandboxError,
)
from circlet.sandbox.wire import Op, Sealed, dumps, frame

Use = Callable[[AsyncSandbox], Awaitable[None]]


def with_session(use: Use, **settings: Any) -> None:
    """Run ``use`` with a session that is closed after it."""

    async def main() -> None:
        async with AsyncSandbox(**settings) as session:
            await use(session)

    anyio.run(main)


def test_turns_variables_and_answers(backend: Any) -> None:
    """Value, output, variables and answer are those of the blocking session."""

    async def use(session: AsyncSandbox) -> None:
        await session.set("given", (1, {2}))
        run = await session.run("print('hi')\ngiven")
        assert (run.value, run.stdout, session.backend) == ((1, {2}), "hi\n", backend)
        assert await session.get("given") == (1, {2})
        with pytest.raises(NoSuchVariable):
            await session.get("nope")
        with pytest.raises(NoSuchVariable):
            await session.set("done", 1)
        with pytest.raises(CodecError):
            await session.set("big", 1 << (1 << 20))
        big = "x" * 3_000_000
        await session.set("big", big)
        assert await session.get("big") == big
        run = await session.run("done(given)")
        assert (run.status, run.answer) == ("done", (1, {2}))

    with_session(use, backend=backend)


def test_gates_may_wait_or_block(backend: Any) -> None:
    """CIRCLE-3: an async gate is awaited, a plain one runs in a thread; both block the program."""

    async def later(value: int) -> int:
        await anyio.lowlevel.checkpoint()
        return value + 1

    async def use(session: AsyncSandbox) -> None:
        run = await session.run("[later(1), plain(2), later(3)]")
        assert run.value == [2, 3, 4]
        assert [call.gate for call in run.gate_calls] == ["later", "plain", "later"]

    with_session(use, gates={"later": later, "plain": lambda n: n + 1}, backend=backend)


def test_the_loop_runs_on_while_a_program_computes(backend: Any) -> None:
    """Case 10: the host stays responsive while a turn spins to its end."""

    async def use(session: AsyncSandbox) -> None:
        steps = 0

        async def count() -> None:
            nonlocal steps
            while True:
                steps += 1
                await anyio.lowlevel.checkpoint()

        async with anyio.create_task_group() as group:
            group.start_soon(count)
            run = await session.run("while True: pass")
            group.cancel_scope.cancel()
        assert (run.status, run.state) == ("timeout", "kept")
        assert steps > 100

    with_session(use, limits=Limits(eval_ms=100), backend=backend)


def test_what_has_been_printed_can_be_read_while_the_turn_runs(backend: Any) -> None:
    """A turn that its caller holds shows its output up to a gate call."""
    seen: list[str] = []

    async def look() -> None:
        seen.append(turn.stdout)

    turn = Turn(Limits())

    async def use(session: AsyncSandbox) -> None:
        run = await session.run_turn(turn, "print('one')\nlook()\nprint('two')\nlook()")
        assert run.stdout == "one\ntwo\n"

    with_session(use, gates={"look": look}, backend=backend)
    assert seen == ["one\n", "one\ntwo\n"]


def test_named_arguments_are_handed_on_undecoded(backend: Any) -> None:
    """A sealed argument reaches its gate as bytes, by place, by name and inside a request."""
    got: list[Any] = []

    async def keep(*args: Any, **kwargs: Any) -> Any:
        got.append((args, kwargs))
        return Done(kwargs["context"]) if "end" in kwargs else kwargs.get("context")

    info = GateInfo("keep(request, context=None)", ("request", "context"), frozenset({"context"}))

    async def use(session: AsyncSandbox) -> None:
        run = await session.run(
            "data = [1, (2,)]\nkeep('go', data)\nkeep({'intent': 'a', 'context': data})\n"
            "keep([{'context': data}])\nkeep('a', context=data) == data"
        )
        assert run.value is True
        run = await session.run("keep(context=data, end=1)")
        assert run.answer == [1, (2,)]

    with_session(use, gates={"keep": keep}, gate_infos={"keep": info}, backend=backend)
    sealed = [
        got[0][0][1],
        got[1][0][0]["context"],
        got[2][0][0][0]["context"],
        got[3][1]["context"],
    ]
    assert all(isinstance(one, Sealed) and one.open() == [1, (2,)] for one in sealed)
    assert got[1][0][0]["intent"] == "a"


def test_a_name_deeper_than_a_request_means_nothing(backend: Any) -> None:
    """Only a request, or a list of requests, is looked into for what is to be sealed."""
    got: list[Any] = []
    info = GateInfo("keep(request)", ("request",), frozenset({"context"}))
    deep = [{"data": {"context": 1}}, [[{"context": 1}]], {"list": [{"context": 1}]}]

    async def use(session: AsyncSandbox) -> None:
        await session.set("deep", deep)
        await session.run("for each in deep: keep(each)")

    with_session(use, gates={"keep": got.append}, gate_infos={"keep": info}, backend=backend)
    assert got == deep


def test_gates_that_turn_out_to_be_async_are_awaited(backend: Any) -> None:
    """CIRCLE-3: an object with an async ``__call__``, and a function that gives a coroutine."""

    class Later:
        async def __call__(self, value: int) -> int:
            await anyio.lowlevel.checkpoint()
            return value + 1

    async def use(session: AsyncSandbox) -> None:
        assert (await session.run("[one(1), two(2)]")).value == [2, 3]

    gates = {"one": Later(), "two": lambda value: Later()(value)}
    with_session(use, gates=gates, backend=backend)


def test_threads_that_others_use_up_are_not_the_sessions(backend: Any) -> None:
    """Workers start and plain gates run while no thread of anyio's own limiter is free."""

    async def use(session: AsyncSandbox) -> None:
        limiter = anyio.to_thread.current_default_thread_limiter()
        limiter.total_tokens = 1
        async with limiter:
            assert (await session.run("plain(1)")).value == 2

    with_session(use, gates={"plain": lambda n: n + 1}, backend=backend)


class Flood:
    """A worker that has sent all it ever will, much of it."""

    backend = "portable"
    why_no_copies = "it is none"
    pid = 0
    layers: dict[str, str] = {}

    def __init__(self, frames: bytes) -> None:
        self.sock, self._theirs = socket.socketpair()
        self._theirs.sendall(frames)

    def end(self) -> None:
        self.sock.close()
        self._theirs.close()

    forget = end


def test_a_flood_of_frames_leaves_the_loop_to_others(monkeypatch: pytest.MonkeyPatch) -> None:
    """Frames that are there already are taken slice by slice: other tasks run between them."""
    monkeypatch.setattr("circlet.sandbox.awaiting._SLICE_SECONDS", 0.0)
    result = frame(Op.RESULT, dumps({"status": "ok", "tail": "", "omitted": 0}))
    worker = Flood(frame(Op.OUTPUT, b"x") * 4_000 + result)

    class Flooded(AsyncSandbox):
        def _pick_worker(self) -> Any:
            return worker

    steps = 0

    async def count() -> None:
        nonlocal steps
        while True:
            steps += 1
            await anyio.lowlevel.checkpoint()

    async def main() -> None:
        async with Flooded() as session, anyio.create_task_group() as group:
            group.start_soon(count)
            before = steps
            run = await session.run("")
            assert len(run.stdout) == 4_000
            assert steps - before > 4_000
            group.cancel_scope.cancel()

    anyio.run(main)


@pytest.mark.parametrize("source", ["while True: pass", "wait()", "print('x' * 9_000_000)\nwait()"])
def test_a_cancelled_turn_ends_its_worker(backend: Any, source: str) -> None:
    """A turn that is cancelled leaves nothing running; the session starts afresh."""

    async def wait() -> None:
        started.set()
        await anyio.sleep_forever()

    started: anyio.Event

    async def use(session: AsyncSandbox) -> None:
        nonlocal started
        started = anyio.Event()
        await session.set("given", 1)
        with anyio.CancelScope() as scope:
            async with anyio.create_task_group() as group:
                group.start_soon(session.run, f"begin()\n{source}")
                await begun.wait()
                if "wait" in source:
                    await started.wait()
                scope.cancel()
        assert session.pid is None
        assert (await session.run("given")).value == 1

    begun = anyio.Event()

    async def begin() -> None:
        begun.set()

    with_session(use, gates={"wait": wait, "begin": begin}, backend=backend)


def test_busy_and_closed_sessions_say_so(backend: Any) -> None:
    """Two turns at once and a turn after the end are one clear error each."""

    async def again() -> None:
        with pytest.raises(SandboxError, match="in the middle of a turn"):
            await sessions[0].run("1")

    sessions: list[AsyncSandbox] = []

    async def use(session: AsyncSandbox) -> None:
        sessions.append(session)
        assert (await session.run("again()\n1")).value == 1
        await session.aclose()
        for attempt in (session.run("1"), session.get("x"), session.set("x", 1)):
            with pytest.raises(SandboxClosed, match="this session is closed"):
                await attempt

    with_session(use, gates={"again": again}, backend=backend)


@pytest.mark.kernel
def test_many_sessions_live_at_once() -> None:
    """Sessions of one host run their turns side by side, each on its own state."""

    async def one(number: int, results: dict[int, Any]) -> None:
        async with AsyncSandbox(backend="kernel") as session:
            await session.run(f"x = {number}")
            results[number] = (await session.run("x * x")).value

    async def main() -> dict[int, Any]:
        results: dict[int, Any] = {}
        async with anyio.create_task_group() as group:
            for number in range(30):
                group.start_soon(one, number, results)
        return results

    assert anyio.run(main) == {number: number**2 for number in range(30)}
