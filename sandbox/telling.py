"""What is told of a turn: its value or its error, a hint, and what it bound."""

from __future__ import annotations

import linecache
from typing import Any

from .bindings import bindings
from .hints import Known, hint
from .limits import MAX_TEXT
from .namespace import Namespace
from .preview import Writer, class_name, each_repr_once, without_addresses
from .runner import RENDER_MS, Runner
from .tracebacks import message_of, own_line, own_traceback
from .wire import seal

HINT_MS = 100
"""Time that looking for a hint may take, or for the names that a turn bound, in milliseconds."""
READ_MS = 5_000
"""Time that encoding a variable, or a turn's value, may take, in milliseconds."""
SEAL_MS = 250
"""Time that encoding a turn's value has in any case; more where the program left more of its own,
so that the host, which waits for a turn's time and a little, sees the end of it."""


class Teller:
    """Says what came of a program, whatever its objects do when they are looked at.

    Args:
        runner: Runs what may run the program's code.
        namespace: The program's names.
    """

    def __init__(self, runner: Runner, namespace: Namespace) -> None:
        self._runner = runner
        self._namespace = namespace

    def value(self, value: Any) -> dict[str, Any]:
        """A turn's value, as text and encoded; why it is not, where it can't be."""
        left = self._runner.deadline.left
        shown: dict[str, Any] = {}
        writer = Writer()

        def encode() -> None:
            shown["value"] = seal(value)

        with each_repr_once():
            if value is not None:
                room = min(
                    self._runner.chars * 3 // 4, MAX_TEXT
                )  # the rest is for what was printed
                reason = self._runner.attempt(RENDER_MS / 1000, lambda: writer.write(value, room))
                shown["shown"] = writer.text
                if reason:  # encoding it would come upon the same
                    rest = "the rest" if writer.text else class_name(value)
                    shown["shown"] += f"<{rest} can't be shown: {reason}>"
                    shown["unsealed"] = reason
                    return shown
            seconds = max(min(left, READ_MS / 1000), SEAL_MS / 1000)
            if reason := self._runner.attempt(seconds, encode):
                shown["unsealed"] = reason
        return shown

    def error(self, error: BaseException, filename: str) -> dict[str, Any]:
        """An error's class and message, its line in a turn's source, and its traceback."""
        described: dict[str, Any] = {
            "type": class_name(error),
            "message": "",
            "line": None,
            "traceback": class_name(error),
        }

        def render() -> None:
            described["line"] = own_line(error, filename)
            described["message"] = self._runner.short(message_of(error))
            described["traceback"] = without_addresses(own_traceback(error))

        if reason := self._runner.attempt(RENDER_MS / 1000, render):
            described["message"] = f"<its message can't be shown: {reason}>"
            described["traceback"] = f"{described['type']}: {described['message']}"
        return described

    def hint(self, error: BaseException) -> str:
        """What helps against an error as a line of its own; the empty string without one."""
        names = self._namespace
        known = Known(names.variables, names.builtins, names.modules)
        found: list[str] = []
        self._runner.run(HINT_MS / 1000, lambda: found.append(hint(error, known)))
        return "".join(f"\n{text}" for text in found if text)

    def bindings(self, filename: str) -> str | None:
        """Which names the turn bound."""
        source = "".join(linecache.getlines(filename))
        found: list[str] = []
        variables = self._namespace.variables
        self._runner.run(HINT_MS / 1000, lambda: found.append(bindings(source, variables)))
        return "".join(found) or None
