"""asyncio in a jail: it always ends, what an interrupt leaves does no harm, nothing leads out."""

from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox

ENDLESS = {
    "a loop of sleeps": "async def main():\n    while True: await asyncio.sleep(0)",
    "a task that catches all it can": """
async def spin():
    while True:
        try:
            await asyncio.sleep(0)
        except BaseException:
            pass
async def main():
    await asyncio.gather(spin(), spin())
""",
    "tasks that nobody waits for": """
async def spin():
    while True: pass
async def main():
    asyncio.create_task(spin())
    while True: await asyncio.sleep(0.001)
""",
    "a long timer": "async def main():\n    await asyncio.sleep(3600)",
    "a timer without end": "async def main():\n    await asyncio.sleep(float('inf'))",
    "a context that swallows all": """
from contextlib import suppress
async def main():
    while True:
        with suppress(BaseException): await asyncio.sleep(0)
""",
    "a task group": """
async def main():
    async with asyncio.TaskGroup() as group:
        for _ in range(3): group.create_task(asyncio.sleep(3600))
""",
    "a shutdown that never ends": """
async def stubborn():
    try:
        await asyncio.sleep(3600)
    finally:
        while True: await asyncio.sleep(0)
async def main():
    asyncio.create_task(stubborn())
    await asyncio.sleep(0)
""",
}


@pytest.mark.parametrize("name", ENDLESS)
def test_an_endless_program_ends_at_its_limit(backend: Any, name: str) -> None:
    """A turn that would go on for ever is a timeout; the next turn finds its state and runs."""
    with Sandbox(backend=backend, limits=Limits(eval_ms=300)) as box:
        run = box.run(f"import asyncio\nkept = 7\n{ENDLESS[name]}\nasyncio.run(main())")
        assert (run.status, run.state) == ("timeout", "kept"), str(run)
        after = box.run(
            "try:\n    asyncio.get_running_loop()\nexcept RuntimeError as e:\n    print(e)\n"
            "asyncio.run(asyncio.sleep(0.001, kept))"
        )
        assert (after.status, after.value, after.stdout) == ("ok", 7, "no running event loop\n")


def test_a_wait_that_nothing_can_end_is_an_error(box: Sandbox) -> None:
    """No hang: the error names the coroutine and the line where each task waits."""
    run = box.run(
        "import asyncio\n"
        "async def inner(lock):\n"
        "    await lock.acquire()\n"
        "async def main():\n"
        "    lock = asyncio.Lock()\n"
        "    await inner(lock)\n"
        "    try:\n"
        "        await inner(lock)\n"
        "    finally:\n"
        "        print('cleaned')\n"
        "asyncio.run(main())"
    )
    assert run.error is not None
    assert (run.error.type, run.stdout) == ("RuntimeError", "cleaned\n")
    assert run.error.message == "nothing is left that could end the wait of: inner() at line 3"


def test_a_loop_with_nothing_to_do_is_an_error(box: Sandbox) -> None:
    """``run_forever`` that nothing could stop does not hang either."""
    run = box.run("import asyncio\nloop = asyncio.new_event_loop()\nloop.run_forever()")
    assert run.error is not None
    assert "nothing left to do" in run.error.message


def test_many_waiting_tasks_are_counted(box: Sandbox) -> None:
    """An error that names tasks stays short."""
    run = box.run(
        "import asyncio\nasync def main():\n    lock = asyncio.Lock()\n"
        "    await asyncio.gather(*(lock.acquire() for _ in range(100)))\nasyncio.run(main())"
    )
    assert run.error is not None
    assert "and 95 more" in run.error.message


def test_done_in_a_task_ends_the_turn(new_box: Any) -> None:
    """A task does not keep what ends the program; other tasks are cleaned up, nothing goes on."""
    run = new_box().run(
        "import asyncio\n"
        "async def other():\n"
        "    try:\n        await asyncio.sleep(3600)\n"
        "    finally:\n        print('cleaned')\n"
        "async def finish():\n    done(42)\n"
        "async def main():\n"
        "    tasks = asyncio.create_task(other()), asyncio.create_task(finish())\n"
        "    await asyncio.sleep(3600)\n"
        "    print('never')\n"
        "asyncio.run(main())\nprint('never')"
    )
    assert (run.status, run.answer, run.stdout) == ("done", 42, "cleaned\n")


def test_done_in_a_task_group_is_no_group(new_box: Any) -> None:
    """What ends the program passes a task group as it is."""
    run = new_box().run(
        "import asyncio\nasync def finish():\n    done(42)\nasync def main():\n"
        "    async with asyncio.TaskGroup() as group:\n        group.create_task(finish())\n"
        "asyncio.run(main())"
    )
    assert (run.status, run.answer) == ("done", 42)


def test_an_error_that_nobody_waits_for_is_printed(box: Sandbox) -> None:
    """A lost task's error is shown in the turn's output, with the program's own lines only."""
    run = box.run(
        "import asyncio\nasync def bad():\n    raise ValueError('lost')\nasync def main():\n"
        "    asyncio.create_task(bad())\n    await asyncio.sleep(0)\nasyncio.run(main())"
    )
    assert run.status == "ok"
    assert run.stdout.startswith("Task exception was never retrieved\nfuture: <Task finished")
    assert run.stdout.endswith("ValueError: lost\n")
    assert "/" not in run.stdout


def test_a_coroutine_that_nobody_awaits_is_told(box: Sandbox) -> None:
    """The commonest mistake is said, with its line."""
    run = box.run("import asyncio\nasync def f(): pass\ndef g():\n    f()\ng()")
    assert "<turn " in run.stdout
    assert "RuntimeWarning: coroutine 'f' was never awaited\n  f()\n" in run.stdout


def test_texts_of_tasks_name_no_path(box: Sandbox) -> None:
    """What the library's tasks, handles and coroutines print tells nothing of where it lies."""
    run = box.run(
        "import asyncio\nasync def f():\n    await asyncio.sleep(1)\nasync def main():\n"
        "    wait = asyncio.create_task(asyncio.wait_for(f(), 5))\n"
        "    group = asyncio.gather(f(), f())\n"
        "    await asyncio.sleep(0)\n"
        "    loop = asyncio.get_running_loop()\n"
        "    print(wait, group, *asyncio.all_tasks(), loop, loop.call_later(1, group.cancel))\n"
        "    wait.print_stack()\n"
        "    group.cancel()\n"
        "asyncio.run(main())"
    )
    assert run.status == "ok", str(run)
    assert "f() running at <turn" in run.stdout
    assert ".py" not in run.stdout


WAYS = {
    "a frame of the runner's by a task's stack": """
async def main():
    return [f for f in asyncio.current_task().get_stack()]
frames = asyncio.run(main())
escaped = len(frames) > 2 or None
""",
    "frames by a program's own loop in debug mode": """
seen = []
class Fake:
    def get_debug(self): return True
    def call_soon(self, *args, **kwargs): pass
    def call_exception_handler(self, context): seen.append(context)
future = asyncio.Future(loop=Fake())
future.set_exception(ValueError())
del future
escaped = seen[0]["source_traceback"][0]
""",
    "a thread pool": "escaped = asyncio.new_event_loop().run_in_executor.__globals__",
    "a process": """
async def main():
    return await asyncio.get_running_loop().subprocess_shell(None, "ls")
escaped = asyncio.run(main())
""",
    "a connection": """
async def main():
    return await asyncio.get_running_loop().create_connection(None, "localhost", 80)
escaped = asyncio.run(main())
""",
    "a reader of descriptors": "escaped = asyncio.new_event_loop().add_reader(0, print)",
    "the loop's own queue": "escaped = asyncio.new_event_loop()._ready",
    "a callback's parts": "escaped = asyncio.new_event_loop().call_soon(print)._callback",
    "another loop's parts by inheritance": """
loop = asyncio.new_event_loop()
class L(type(loop)):
    def look(self): return self._handler, self._run
escaped = L().look()
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_a_way_out_is_closed(box: Sandbox, way: str) -> None:
    """The program ends in an error, or without what it was after."""
    run = box.run(f"import asyncio\nescaped = None\n{WAYS[way]}\nescaped")
    assert run.status == "error" or run.value is None, str(run)
