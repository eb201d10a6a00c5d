"""Tracebacks: the program's own lines, and no file is opened to show one."""

from __future__ import annotations

import linecache
import sys
from collections.abc import Iterable, Iterator
from types import FrameType, TracebackType
from typing import Any, NamedTuple

from ..symbols import TURN
from ..tracebacks import kind_of, message_of, own_traceback
from .streams import ERR


class FrameSummary(NamedTuple):
    """One call of the program's own code."""

    filename: str
    lineno: int
    name: str
    line: str


def mend() -> dict[str, Any]:
    """Small functions of ours, for the standard library's lead to frames and read any file."""
    linecache.updatecache = _no_lines
    return {
        f"traceback.{function.__name__}": function
        for function in (
            *(format_exception, format_exception_only, format_exc, format_tb, format_list),
            *(format_stack, extract_tb, extract_stack),
            *(print_exception, print_exc, print_tb, print_list, print_stack),
        )
    }


def _no_lines(filename: str, module_globals: Any = None) -> list[str]:  # noqa: ARG001
    """``linecache`` knows the sources of turns, and opens no file."""
    return []


# -- errors ----------------------------------------------------------------------------------


def format_exception(
    exc: Any,
    /,
    value: Any = None,
    tb: Any = None,  # noqa: ARG001 - the error has its own
    limit: int | None = None,  # noqa: ARG001 - it is bounded anyway
    chain: bool = True,  # noqa: ARG001 - the errors that led to it are told
) -> list[str]:
    """The lines of an error with its traceback, each with its line end."""
    error = _error(exc, value)
    text = "NoneType: None" if error is None else own_traceback(error)
    return [f"{line}\n" for line in text.split("\n")]


def format_exception_only(exc: Any, /, value: Any = None) -> list[str]:
    """The line that says what an error is, and its notes."""
    error = _error(exc, value)
    if error is None:
        return ["NoneType: None\n"]
    kind, message = kind_of(error), message_of(error)
    lines = [f"{kind}: {message}" if message else kind]
    notes = getattr(error, "__notes__", None)
    lines += [str(note) for note in notes] if isinstance(notes, list) else []
    return [f"{line}\n" for line in lines]


def format_exc(limit: int | None = None, chain: bool = True) -> str:
    """The error that is being handled, with its traceback."""
    return "".join(format_exception(sys.exception(), limit=limit, chain=chain))


def print_exception(
    exc: Any,
    /,
    value: Any = None,
    tb: Any = None,
    limit: int | None = None,
    file: Any = None,
    chain: bool = True,
) -> None:
    """Print an error with its traceback, to standard error."""
    _print("".join(format_exception(exc, value, tb, limit, chain)), file)


def print_exc(limit: int | None = None, file: Any = None, chain: bool = True) -> None:
    """Print the error that is being handled, with its traceback."""
    _print(format_exc(limit, chain), file)


def _error(exc: Any, value: Any) -> BaseException | None:
    """The error, given by itself or as a class and an error."""
    found = exc if value is None or isinstance(exc, BaseException) else value
    if found is None or isinstance(found, BaseException):
        return found
    raise TypeError(f"expected an exception, got {type(found).__name__!r}")


# -- frames ----------------------------------------------------------------------------------


def extract_tb(tb: TracebackType | None, limit: int | None = None) -> list[FrameSummary]:
    """The program's own calls that a traceback holds, outermost first."""
    steps = []
    while isinstance(tb, TracebackType):
        steps.append((tb.tb_frame, tb.tb_lineno))
        tb = tb.tb_next
    return _limited(list(_own(steps)), limit, last=False)


def extract_stack(f: None = None, limit: int | None = None) -> list[FrameSummary]:  # noqa: ARG001
    """The program's own calls that are under way, outermost first."""
    frame: FrameType | None = sys._getframe(1)
    steps = []
    while frame is not None:
        steps.append((frame, frame.f_lineno))
        frame = frame.f_back
    return _limited(list(_own(reversed(steps))), limit, last=True)


def own_calls(frames: Iterable[FrameType]) -> list[FrameSummary]:
    """The program's own calls among frames."""
    return list(_own((frame, frame.f_lineno) for frame in frames))


def _own(steps: Iterable[tuple[FrameType, int]]) -> Iterator[FrameSummary]:
    for frame, lineno in steps:
        filename, name = frame.f_code.co_filename, frame.f_code.co_name
        if filename.startswith(TURN):
            line = linecache.getline(filename, lineno).strip()
            yield FrameSummary(filename, lineno, name, line)


def _limited(frames: list[FrameSummary], limit: int | None, last: bool) -> list[FrameSummary]:
    """The first ``limit`` frames, or the last; a negative limit takes them from the other end."""
    if limit is None:
        return frames
    if (limit < 0) == last:
        return frames[: abs(limit)]
    return frames[-abs(limit) :] if limit else []


def format_list(extracted_list: Iterable[tuple[str, int, str, str | None]]) -> list[str]:
    """What was extracted, as text: an item a call."""
    return [
        f'  File "{filename}", line {lineno}, in {name}\n' + (f"    {line}\n" if line else "")
        for filename, lineno, name, line in extracted_list
    ]


def format_tb(tb: TracebackType | None, limit: int | None = None) -> list[str]:
    """The program's own calls that a traceback holds, as text."""
    return format_list(extract_tb(tb, limit))


def format_stack(f: None = None, limit: int | None = None) -> list[str]:
    """The program's own calls that are under way, as text."""
    return format_list(extract_stack(f, limit))


def print_tb(tb: TracebackType | None, limit: int | None = None, file: Any = None) -> None:
    """Print the program's own calls that a traceback holds, to standard error."""
    _print("".join(format_tb(tb, limit)), file)


def print_stack(f: None = None, limit: int | None = None, file: Any = None) -> None:
    """Print the program's own calls that are under way, to standard error."""
    _print("".join(format_stack(f, limit)), file)


def print_list(extracted_list: Iterable[Any], file: Any = None) -> None:
    """Print what was extracted, to standard error."""
    _print("".join(format_list(extracted_list)), file)


def _print(text: str, file: Any) -> None:
    target = ERR.target if file is None else file
    target.write(text)
