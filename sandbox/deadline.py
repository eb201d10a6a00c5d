"""A turn's deadline: an interrupt that the program can't shake off.

A timer's signal raises in the program. No ``except`` clause catches it (``guards.caught``), but
other ways to swallow an exception remain, so the signal is sticky: its handler trips the same
signal again before it raises, and the program is hit anew at its next call or backward jump,
until the runner disarms.
"""

from __future__ import annotations

import _thread
import signal
from collections.abc import Callable
from types import CodeType, FrameType
from typing import Any

HAS_TIMER = hasattr(signal, "setitimer")
"""Whether this platform can interrupt a program from within; else the host's kill remains."""


class Interrupt(KeyboardInterrupt):
    """What ends a program from outside: its own ``except`` clauses don't see it.

    It counts as Ctrl-C does, for that is what the tasks of ``asyncio`` pass on, and don't keep.
    """


class TurnTimeout(Interrupt):
    """The program's time is up."""


class Finished(Interrupt):
    """The program has called the gate that ends its work."""


class _Trip:
    """``TRIP[signal]`` trips a signal without a call in bytecode.

    After a call the interpreter looks for signals at once, and the handler would be entered
    again before it has raised.
    """

    __getitem__: Any = _thread.interrupt_main


_TRIP = _Trip()
_AGAIN_SECONDS = 0.02
"""How soon the timer goes off again: at the limit of recursion there is no room for its handler."""
_SIGNAL = int(getattr(signal, "SIGALRM", signal.SIGINT))


class _Shield:
    """No interrupt lands inside, but the clock runs on."""

    def __init__(self, deadline: Deadline) -> None:
        self._deadline = deadline

    def __enter__(self) -> None:
        self._deadline._shielded += 1

    def __exit__(self, *_: object) -> None:
        self._deadline._shielded -= 1
        self._deadline._deliver()


class _Pause(_Shield):
    """No interrupt lands inside, and the clock stands still."""

    def __enter__(self) -> None:
        super().__enter__()
        self._left = self._deadline._stop()

    def __exit__(self, *_: object) -> None:
        if self._left:
            self._deadline._start(self._left)
        super().__exit__()


class Deadline:
    """Runs the program's code so that it ends in time.

    Attributes:
        passed: Whether the present stretch of code was interrupted for its time.
        left: Seconds that the last stretch of code did not need.
        shielded: Context in which no interrupt lands; the clock runs on.
        paused: Context for the runner's own I/O: no interrupt lands, the clock stands still.
    """

    def __init__(self) -> None:
        self.passed = False
        self.left = 0.0
        self.shielded = _Shield(self)
        self.paused = _Pause(self)
        self._armed = False
        self._error: type[BaseException] = TurnTimeout
        self._shielded = 0
        self._pending = False
        self._last_place: tuple[int, int] | None = None
        self._same_place = 0

    def install(self) -> None:
        """Take the timer's signal for this process."""
        if HAS_TIMER:
            signal.signal(signal.SIGALRM, self._on_signal)

    def run(
        self, seconds: float, action: Callable[[], Any], after: Callable[[], object] = int
    ) -> BaseException | None:
        """Run ``action`` for at most ``seconds``; gives what it raised, or None.

        Args:
            seconds: Its time.
            action: What may run the program's code.
            after: Called as soon as that is over, before anything takes memory.
        """
        self.passed = self._pending = False
        self._shielded = 0
        self._error = TurnTimeout
        self._last_place, self._same_place = None, 0
        # While this frame itself is the one that runs, or the one that starts the timer, the
        # handler only trips again: an interrupt lands in the action or, once that is over, nowhere.
        self._armed = True
        self._start(seconds)
        try:
            action()
            self._armed = False
        except BaseException as error:
            self._armed = False
            after()
            self.left = self._stop()
            return error
        after()
        self.left = self._stop()
        return None

    def finish(self, seconds: float) -> None:
        """The work is done: what is left of the program has ``seconds``, then ``Finished``."""
        self._error = Finished
        self._start(seconds)

    def _deliver(self) -> None:
        if self._pending and not self._shielded:
            self._pending = False
            _TRIP[_SIGNAL]

    def _start(self, seconds: float) -> None:
        if HAS_TIMER:
            signal.setitimer(signal.ITIMER_REAL, max(seconds, 0.000_001), _AGAIN_SECONDS)

    def _stop(self) -> float:
        return signal.setitimer(signal.ITIMER_REAL, 0)[0] if HAS_TIMER else 0.0

    def _on_signal(self, _signal: int, frame: FrameType | None) -> None:
        if not self._armed:
            return
        if self._shielded:
            self._pending = True
            return
        if frame is not None and frame.f_code in _OWN:
            _TRIP[_SIGNAL]
            return
        self.passed = True
        place = (id(frame), frame.f_lasti if frame else 0)
        if place == self._last_place:
            # CPython 3.12 looks for signals before a block's first step: hit at every look, a
            # program would never reach the handler that it would leave by.
            self._same_place += 1
            if self._same_place % 8 == 7:
                _TRIP[_SIGNAL]
                return
        else:
            self._last_place, self._same_place = place, 0
        _TRIP[_SIGNAL]
        raise self._error


_OWN: frozenset[CodeType] = frozenset({Deadline.run.__code__, Deadline._start.__code__})
