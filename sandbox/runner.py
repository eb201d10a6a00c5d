"""Runs what may run the program's code: within a time, and with what it leaves let go of."""

from __future__ import annotations

import gc
from collections.abc import Callable
from typing import Any

from .deadline import Deadline
from .execution import clip
from .preview import class_name, without_addresses
from .tracebacks import message_of

FINAL_MS = 100
"""Time that ``finally`` blocks have after ``done``, and the last of what a turn has left, in ms."""
RENDER_MS = 500
"""Time that showing a value or an error may take, in milliseconds."""
MESSAGE_CHARS = 100_000
"""Characters of an error's message that are told apart from its traceback."""

_TRACEBACK = vars(BaseException)["__traceback__"]


class Runner:
    """The one way by which a worker runs the program's code, whatever for.

    Attributes:
        deadline: What ends it in time.
        finished: Whether the program has called the gate that ends its work.
        chars: Length of an observation, in characters.
    """

    def __init__(self, chars: int) -> None:
        self.deadline = Deadline()
        self.finished = False
        self.chars = chars
        self._leftovers: list[Any] = []

    def leave(self, left: object) -> None:
        """Keep something whose end may run the program's code, until ``drop``."""
        self._leftovers.append(left)

    def run(
        self, seconds: float, action: Callable[[], Any], after: Callable[[], object] = int
    ) -> BaseException | None:
        """Run what may run the program's code: within a time, and with the collector at work.

        What it raises is kept until the turn's end, for to let go of it may run more of the
        program's code (a generator's ``finally``, a weak reference's callback).
        """
        gc.enable()
        error = self.deadline.run(seconds, action, after)
        gc.disable()
        if error is not None:
            self._leftovers.append(error)
        return error

    def drop(self, collect: bool) -> None:
        """Let go of what the turn has left, while the program's code may still run.

        All of it in one step, which an interrupt can't come between: what were still held would
        be let go of where nothing interrupts the program's code.

        Args:
            collect: Whether to look for cycles, too, which might take up the next turn's memory,
                or its time with a coroutine that doesn't want to end.
        """
        leftovers, self._leftovers = self._leftovers, []
        leftovers += _parted_from_frames(leftovers)
        self.run(FINAL_MS / 1000, leftovers.clear)
        if collect:
            self.run(FINAL_MS / 1000, gc.collect)

    def attempt(self, seconds: float, action: Callable[[], None]) -> str:
        """Run what may run the program's code; why it failed, or the empty string."""
        error = self.run(seconds, action)
        if error is None:
            return ""
        if self.deadline.passed:
            return "it took too long"
        return "it called done" if self.finished else self.text_of(error)

    def text_of(self, error: BaseException) -> str:
        """What an error says, whatever its own code does."""
        text: list[str] = []
        self.run(RENDER_MS / 1000, lambda: text.append(self.short(message_of(error))[:300]))
        return "".join(text) or class_name(error)

    def short(self, text: str) -> str:
        """A message within bounds, and without addresses of objects."""
        return clip(without_addresses(text), min(self.chars, MESSAGE_CHARS))


def _parted_from_frames(leftovers: list[Any]) -> list[Any]:
    """The tracebacks of the errors among these, which keep them no more: a cycle is cut."""
    errors = [left for left in leftovers if issubclass(type(left), BaseException)]
    traces = [_TRACEBACK.__get__(error) for error in errors]
    for error in errors:
        _TRACEBACK.__set__(error, None)
    return traces
