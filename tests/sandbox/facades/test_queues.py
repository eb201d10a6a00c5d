"""``queue``: as in CPython with one thread, where a wait that nothing can end is an error."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox


def test_queues_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """All kinds of queues, their limits, their errors and their subclasses."""
    same_as_cpython("""
import queue
q, l, p, s = queue.Queue(maxsize=2), queue.LifoQueue(), queue.PriorityQueue(), queue.SimpleQueue()
for each in (l, p, s):
    for item in (3, 1, 2):
        each.put(item)
q.put("a")
q.put_nowait("b")
errors = []
for action in (
    lambda: q.put("c", block=False), lambda: q.put("c", timeout=0.001),
    lambda: queue.Queue().get_nowait(),
    lambda: queue.Queue().get(timeout=0.001), lambda: queue.Queue().get(timeout=-1),
    lambda: queue.Queue().task_done(), lambda: queue.SimpleQueue().get_nowait(),
):
    try:
        action()
    except Exception as error:
        errors.append((type(error).__name__, str(error)))
class Unique(queue.Queue):
    def _init(self, maxsize): self.queue = []
    def _put(self, item):
        if item not in self.queue:
            self.queue.append(item)
    def _get(self): return self.queue.pop(0)
u = Unique()
for item in "aab":
    u.put(item)
full = (q.full(), q.qsize(), q.empty(), q.unfinished_tasks, q.maxsize)
taken = [q.get(), q.get()]
q.task_done(), q.task_done()
q.join()
with q.mutex:
    q.queue.append("x")
(full, taken, [[each.get() for _ in range(3)] for each in (l, p, s)], errors, u.qsize(), [u.get(),
u.get()],
 s.empty(), s.qsize(), q.get(), issubclass(queue.PriorityQueue, queue.Queue))
""")


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ("queue.Queue().get()", "get_nowait()"),
        ("queue.SimpleQueue().get()", "get_nowait()"),
        ("q = queue.PriorityQueue(1)\nq.put(1)\nq.put(2)", "put_nowait()"),
        ("q = queue.Queue()\nq.put(1)\nq.join()", "task_done()"),
    ],
)
def test_a_wait_that_nothing_can_end_is_an_error(box: Sandbox, source: str, instead: str) -> None:
    """Nobody else is there to put or take, so it says so at once, and what to call instead."""
    run = box.run(f"import queue\n{source}")
    assert run.error is not None
    assert run.error.type == "RuntimeError"
    assert "for ever" in run.error.message
    assert instead in run.error.message


def test_a_queue_that_is_shut_down_takes_nothing(box: Sandbox) -> None:
    """What is in it can be taken still, unless it is shut down at once."""
    run = box.run("""
import queue
q, r = queue.Queue(), queue.Queue()
q.put(1)
r.put(1)
q.shutdown()
r.shutdown(immediate=True)
said = []
for action in (lambda: q.put(2), q.get, q.get, r.get):
    try:
        said.append(action())
    except queue.ShutDown as error:
        said.append(type(error).__name__)
said
""")
    assert run.value == ["ShutDown", 1, "ShutDown", "ShutDown"], str(run)


def test_a_queue_sets_no_other_objects_private_variables(box: Sandbox) -> None:
    """``__init__`` can be called with any object, and writes nothing private there."""
    run = box.run("""
import queue, string
t = string.Template("a")
queue.SimpleQueue.__init__(t)
queue.SimpleQueue.qsize(t)
""")
    assert run.status == "error"
