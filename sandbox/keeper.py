"""The thread that makes checkpoints while sessions are idle, so that no turn waits for one.

A session is idle once nothing has used it for ``IDLE_SECONDS``: as a rule its model thinks. One
thread serves all the sessions of this process. It ends with the last of them, or when there has
been nothing to do for a while.
"""

from __future__ import annotations

import atexit
import logging
import os
import threading
import weakref
from collections import deque
from collections.abc import Callable
from time import monotonic

IDLE_SECONDS = 0.005
"""How long a session has to be left alone before a checkpoint of it is made."""
LINGER_SECONDS = 1.0
"""How long the thread waits for something to do while sessions are open."""
_EXIT_SECONDS = 2.0
_log = logging.getLogger(__name__)


class Watch:
    """One session, as the keeper sees it.

    Args:
        keep: Makes the session's checkpoint, unless it is in use. Held weakly.
    """

    def __init__(self, keep: Callable[[], None]) -> None:
        self._keep = weakref.WeakMethod(keep)
        self.last_use = 0.0
        self.is_waiting = False

    def is_news(self) -> None:
        """Say that the session was used just now, and has something new to keep."""
        self.last_use = monotonic()
        if not self.is_waiting:
            _keeper.add(self)

    def close(self) -> None:
        """Say that there is nothing to keep any more."""
        _keeper.drop(self)

    def keep(self) -> None:
        """Have the checkpoint made, if the session is still there."""
        keep = self._keep()
        if keep is not None:
            keep()


class _Keeper:
    """Waits until sessions are idle, and has each make its checkpoint."""

    def __init__(self) -> None:
        self._changed = threading.Condition()
        self._open: weakref.WeakSet[Watch] = weakref.WeakSet()
        self._waiting: deque[Watch] = deque()
        self._thread: threading.Thread | None = None
        self._stopped = False

    def add(self, watch: Watch) -> None:
        with self._changed:
            if self._stopped:
                return
            watch.is_waiting = True
            self._open.add(watch)
            self._waiting.append(watch)
            if self._thread is None:
                self._thread = threading.Thread(
                    target=self._serve, name="circlet checkpoints", daemon=True
                )
                self._thread.start()
            elif len(self._waiting) == 1:
                self._changed.notify()  # else it wakes up soon enough for this one as well

    def drop(self, watch: Watch) -> None:
        with self._changed:
            self._open.discard(watch)
            thread = None if self._open else self._thread
            self._changed.notify()
        if thread is not None and thread is not threading.current_thread():
            thread.join(_EXIT_SECONDS)

    def stop(self) -> None:
        """Make no more of them."""
        with self._changed:
            self._stopped = True
            thread = self._thread
            self._changed.notify()
        if thread is not None:
            thread.join(_EXIT_SECONDS)

    def _serve(self) -> None:
        while (watch := self._next()) is not None:
            try:
                watch.keep()
            except Exception:
                _log.exception("no checkpoint could be made")

    def _next(self) -> Watch | None:
        """Wait for a session that is idle; None when the thread is to end."""
        with self._changed:
            while self._open and not self._stopped:
                if not self._waiting:
                    if not self._changed.wait(LINGER_SECONDS) and not self._waiting:
                        break
                    continue
                watch = self._waiting.popleft()
                left = watch.last_use + IDLE_SECONDS - monotonic()
                if left <= 0:
                    watch.is_waiting = False  # now, for a use that ends now is noted anew
                    return watch
                self._waiting.append(watch)
                self._changed.wait(left)
            for watch in self._waiting:
                watch.is_waiting = False
            self._waiting.clear()
            self._thread = None
            return None


_keeper = _Keeper()


def _anew_in_child() -> None:
    """A forked child has none of its parent's threads, and none of its sessions."""
    global _keeper
    _keeper = _Keeper()


if hasattr(os, "register_at_fork"):
    os.register_at_fork(after_in_child=_anew_in_child)
atexit.register(lambda: _keeper.stop())
