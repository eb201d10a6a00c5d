"""An error as its author is shown it: the program's own lines, and nothing of the runner's."""

from __future__ import annotations

import traceback

from .policy import TURN


def own_traceback(error: BaseException) -> str:
    """The error as Python prints it, with the program's own frames only."""
    summary = traceback.TracebackException.from_exception(
        error, limit=-40, compact=True, lookup_lines=False
    )
    waiting: list[traceback.TracebackException | None] = [summary]
    while waiting:  # the error, and those it came from
        one = waiting.pop()
        if one is not None:
            one.stack[:] = [entry for entry in one.stack if entry.filename.startswith(TURN)]
            waiting += [one.__cause__, one.__context__, *(one.exceptions or ())]
    return "".join(summary.format()).rstrip()


def own_line(error: BaseException, filename: str) -> int | None:
    """The line of this turn where the error came up."""
    if isinstance(error, SyntaxError) and error.filename == filename:
        return error.lineno
    lines = [
        line
        for frame_, line in traceback.walk_tb(error.__traceback__)
        if frame_.f_code.co_filename == filename
    ]
    return lines[-1] if lines else None
