"""The blocking face's event loop: what it survives."""

from __future__ import annotations

import signal
import sys
import threading

import pytest
from anyio.from_thread import BlockingPortal
from circlet import LLM
from circlet.runtime import portal
from circlet.runtime.llm import Reply


class Deadly(LLM):
    """A model that ends the event loop on its first query."""

    name = "deadly"

    def __init__(self):
        self.asked = 0

    async def query(self, request):
        self.asked += 1
        if self.asked == 1:
            raise KeyboardInterrupt
        return Reply("alive")


@pytest.mark.filterwarnings("ignore::pytest.PytestUnhandledThreadExceptionWarning")
def test_a_dead_loop_is_replaced(chat):
    """A cast that ended the event loop's thread keeps none after it from being run."""
    spell = chat(Deadly())
    with pytest.raises(KeyboardInterrupt):
        spell.cast("go")
    assert portal._thread is not None
    portal._thread.join(60)
    results = []
    thread = threading.Thread(target=lambda: results.append(spell.cast("go").result), daemon=True)
    thread.start()
    thread.join(60)
    assert results == ["alive"]


def test_ctrl_c_before_the_call_begins(monkeypatch):
    """Ctrl-C waits for what was begun to be recorded, and so not for what never began."""
    monkeypatch.setattr(portal, "CANCEL_SECONDS", 300.0)
    blocked, release = threading.Event(), threading.Event()
    watchdog = threading.Timer(30, release.set)
    watchdog.start()
    begun = []

    async def block():
        blocked.set()
        release.wait()

    async def nothing(name):
        begun.append(name)

    def waits():
        frame = sys._current_frames()[threading.main_thread().ident]
        while frame is not None and frame.f_code is not BlockingPortal.start_task_soon.__code__:
            frame = frame.f_back
        return frame is not None

    def interrupt():
        while not waits():
            release.wait(0.01)
        signal.pthread_kill(threading.main_thread().ident, signal.SIGINT)

    def interrupted():
        threading.Thread(target=interrupt).start()
        portal.run(lambda: nothing("never"), "...")

    # Whoever runs the tests in the background has them ignore Ctrl-C.
    handler = signal.signal(signal.SIGINT, signal.default_int_handler)
    holder = threading.Thread(target=portal.run, args=(block, "..."))
    holder.start()
    try:
        blocked.wait()
        with pytest.raises(KeyboardInterrupt):
            interrupted()
        assert not release.is_set()
    finally:
        watchdog.cancel()
        release.set()
        holder.join()
        signal.signal(signal.SIGINT, handler)
    portal.run(lambda: nothing("after"), "...")
    assert begun == ["after"]
