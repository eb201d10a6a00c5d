"""An error as its author is shown it: the program's own lines, and nothing of the runner's.

The same text on every Python: the standard library's own differs from version to version, and
adds guesses that it makes by reading the program's objects, whatever their names.
"""

from __future__ import annotations

import ast
import io
import linecache
from collections.abc import Iterator
from itertools import islice
from types import CodeType, TracebackType
from typing import Any, NamedTuple

from .deadline import Interrupt
from .execution import clip
from .limits import MAX_TEXT
from .preview import NAME_CHARS
from .symbols import TURN

MAX_HEAD, MAX_TAIL = 5, 15
"""Frames of one error that are shown, first and last; what lies between is counted."""
MAX_CYCLE = 4
"""Functions that call one another in turn and are still seen as a repetition."""
MAX_CHAIN = 6
"""Errors shown of those that led to one another: the newest, and the oldest of all."""
MAX_GROUP, MAX_LEVELS = 10, 4
"""Members shown of a group of errors, and how deep groups are shown in one another."""
MAX_NOTES = 20
MAX_SOURCE = 1_000_000
"""Characters of a turn's source that is kept for the tracebacks of later turns."""
SOURCE_CHARS = 200
"""Characters shown of one line of source."""
OTHER_CHARS = 10_000
"""Characters shown of the message of an error that is not the one that ended the turn."""

_CAUSE = "\nThe above exception was the direct cause of the following exception:\n"
_CONTEXT = "\nDuring handling of the above exception, another exception occurred:\n"
_OURS = str(__package__).partition(".")[0]


class Frame(NamedTuple):
    """One call of the program's own code that an error passed through."""

    filename: str
    line: int
    name: str
    code: CodeType
    instruction: int


def source_lines(source: str) -> list[str]:
    """The lines of a source as Python counts them, which ``splitlines`` does not."""
    return io.StringIO(source, newline=None).readlines()


def remember_source(filename: str, source: str) -> None:
    """Keep the lines of a source for tracebacks, those of later turns too."""
    linecache.cache[filename] = (len(source), None, source_lines(source), filename)


def forget_huge_source(filename: str) -> None:
    """Forget a source past ``MAX_SOURCE`` when its turn is over.

    A program can't let go of what is kept here, and has its memory for other things.
    """
    if sum(map(len, linecache.getlines(filename))) > MAX_SOURCE:
        del linecache.cache[filename]


def own_traceback(error: BaseException) -> str:
    """The error as Python prints it, with the program's own frames only.

    Bounded in length by ``MAX_TEXT``, whatever the error is.
    """
    lines = [line for line in _chain_lines(error, MAX_TEXT, 0) if line is not None]
    return clip("\n".join(lines), MAX_TEXT)


def own_line(error: BaseException, filename: str) -> int | None:
    """The line of this turn where the error came up."""
    if isinstance(error, SyntaxError) and _text(error.filename) == filename:
        return _number(error.lineno)
    lines = [frame.line for frame in own_frames(error) if frame.filename == filename]
    return lines[-1] if lines else None


def own_frames(error: BaseException) -> list[Frame]:
    """The frames of the program's own code that the error passed through, outermost first."""
    frames = []
    step: TracebackType | None = _plain(error, "__traceback__")
    while step is not None:
        code = step.tb_frame.f_code
        if code.co_filename.startswith(TURN):
            frames.append(
                Frame(code.co_filename, step.tb_lineno, code.co_name, code, step.tb_lasti)
            )
        step = step.tb_next
    return frames


class Place(NamedTuple):
    """A stretch of source: lines from 1, columns from 0 in UTF-8 bytes, the end not included."""

    line: int
    end_line: int
    column: int
    end_column: int


def place_of(frame: Frame) -> Place | None:
    """What of the source was being carried out in a frame."""
    found = next(islice(frame.code.co_positions(), frame.instruction // 2, None), None)
    if found is None or None in found or found[0] != frame.line:
        return None
    line, end_line, column, end_column = found
    return Place(*(number or 0 for number in (line, end_line, column, end_column)))


def message_of(error: BaseException) -> str:
    """What an error says, whatever its own code does."""
    try:
        text = str.__str__(str(error.msg if isinstance(error, SyntaxError) else error))
    except Interrupt:
        raise
    except BaseException as failure:  # the error's own code
        return f"<its text could not be made: {kind_of(failure)}>"
    if isinstance(error, ImportError):
        text = text.removesuffix(" (unknown location)")
    return text


# -- errors that led to one another --------------------------------------------------------------


def _chain_lines(error: BaseException, room: int, level: int) -> Iterator[str]:
    chain = _chain(error)
    if len(chain) > MAX_CHAIN:
        left_out = len(chain) - MAX_CHAIN
        chain[MAX_CHAIN - 1 : -1] = []
    else:
        left_out = 0
    for index, (one, link) in enumerate(reversed(chain)):
        yield from _error_lines(one, room if one is error else OTHER_CHARS, level)
        if index == 0 and left_out:
            yield f"\n[... {left_out:,} errors that led to one another left out ...]"
        if link:
            yield link


def _chain(error: BaseException) -> list[tuple[BaseException, str]]:
    """The error and those that led to it, newest first, each with the words that follow it."""
    chain = [(error, "")]
    seen = {id(error)}
    while True:
        newest = chain[-1][0]
        before, link = _plain(newest, "__cause__"), _CAUSE
        if before is None and not _plain(newest, "__suppress_context__"):
            before, link = _plain(newest, "__context__"), _CONTEXT
        while isinstance(before, Interrupt) and not own_frames(before) and id(before) not in seen:
            seen.add(id(before))  # the same interrupt, on its way through what is not shown
            before = _plain(before, "__context__")
        if before is None or id(before) in seen:
            return chain
        seen.add(id(before))
        chain.append((before, link))


def _plain(error: BaseException, name: str) -> Any:
    """What Python itself keeps of an error, past whatever the error's class makes of the name."""
    return vars(BaseException)[name].__get__(error)


def _error_lines(error: BaseException, room: int, level: int) -> Iterator[str]:
    frames = own_frames(error)
    if frames:
        yield "Traceback (most recent call last):"
        yield from _frame_lines(frames)
    if isinstance(error, SyntaxError):
        yield from _syntax_lines(error)
    message = clip(message_of(error), room)
    yield f"{kind_of(error)}: {message}" if message else kind_of(error)
    yield from _notes(error)
    if isinstance(error, BaseExceptionGroup):
        yield from _group_lines(error, level + 1)


def kind_of(error: BaseException) -> str:
    """The class of an error, with its module where a program would need that to name it."""
    kind = type(error)
    name, module = kind.__qualname__[:NAME_CHARS], kind.__module__
    if not isinstance(module, str) or module in ("builtins", "__main__"):
        return name
    return name if module.partition(".")[0] == _OURS else f"{module[:NAME_CHARS]}.{name}"


def _notes(error: BaseException) -> Iterator[str]:
    notes = object.__getattribute__(error, "__dict__").get("__notes__")
    if isinstance(notes, list):
        for note in notes[:MAX_NOTES]:
            yield clip(_text(note), OTHER_CHARS)
        if len(notes) > MAX_NOTES:
            yield f"[... {len(notes) - MAX_NOTES:,} notes left out ...]"


def _group_lines(group: BaseExceptionGroup[Any], level: int) -> Iterator[str]:
    if level > MAX_LEVELS:
        yield "[... its members are not shown: the groups nest too deep ...]"
        return
    members: tuple[BaseException, ...] = vars(BaseExceptionGroup)["exceptions"].__get__(group)
    for number, member in enumerate(members[:MAX_GROUP], 1):
        yield f"  +---------------- {number} ----------------"
        for text in _chain_lines(member, OTHER_CHARS, level):
            yield from (f"  | {line}" for line in text.split("\n"))
    if len(members) > MAX_GROUP:
        yield f"  +-- [... {len(members) - MAX_GROUP:,} members left out ...]"
    yield "  +------------------------------------"


# -- frames --------------------------------------------------------------------------------------


def _frame_lines(frames: list[Frame]) -> Iterator[str]:
    """The frames, each once where some repeat, and the innermost always with a caret."""
    steps = list(_without_repeats(frames))
    left_out = len(steps) - MAX_HEAD - MAX_TAIL
    for index, step in enumerate(steps):
        if left_out > 0 and MAX_HEAD <= index < MAX_HEAD + left_out:
            if index == MAX_HEAD:
                yield f"  [... {left_out:,} calls left out ...]"
        elif isinstance(step, str):
            yield step
        else:
            yield f'  File "{step.filename}", line {step.line}, in {step.name[:NAME_CHARS]}'
            yield from _source_of(step, innermost=step is frames[-1])


def _without_repeats(frames: list[Frame]) -> Iterator[Frame | str]:
    index = 0
    while index < len(frames):
        for period in range(1, MAX_CYCLE + 1):
            times = _repetitions(frames, index, period)
            if times > 2:
                break
        else:
            period = times = 1
        index += period * times
        yield from frames[index - period : index]
        if times > 1:
            what = "call" if period == 1 else f"{period} calls"
            yield f"  [the {what} above repeated {times:,} times]"


def _repetitions(frames: list[Frame], start: int, period: int) -> int:
    """How often the calls from ``start`` on stand there, one after the other."""
    end = start + period
    while end < len(frames) and frames[end][:3] == frames[end - period][:3]:
        end += 1
    return (end - start) // period


def _source_of(frame: Frame, innermost: bool) -> Iterator[str]:
    text = linecache.getline(frame.filename, frame.line).rstrip("\r\n")
    place = place_of(frame)
    if place is None:
        yield from _marked(text, 0, 0) if text.strip() else ()
        return
    start = _characters(text, place.column)
    is_open = place.end_line > place.line
    end = len(text.rstrip()) if is_open else _characters(text, place.end_column)
    is_whole = text[start:end].strip() == text.strip()
    if is_whole and (not innermost or text.lstrip().startswith("raise")):
        start = end = 0  # no mark where there is nothing to be told apart
    yield from _marked(text, start, end, "" if is_open else _carets(text[start:end]))


def _syntax_lines(error: SyntaxError) -> Iterator[str]:
    filename, line = _text(error.filename), _number(error.lineno)
    if not filename or line is None:
        return
    yield f'  File "{filename[:NAME_CHARS]}", line {line}'
    # The compiler itself, unlike the parser, gives no text ("return" outside a function, say).
    own = linecache.getline(filename, line) if filename.startswith(TURN) else ""
    text = (own or _text(error.text)).split("\n")[0].rstrip("\r")
    # An offset of 0 is the compiler's word for the end of an expression that breaks off.
    start = (_number(error.offset) or len(text) + 1) - 1
    end = start + 1
    if _number(error.end_lineno) == line:
        end = max((_number(error.end_offset) or 1) - 1, end)
    elif _number(error.end_lineno) is not None:
        end = max(len(text), end)
    if text.strip():
        yield from _marked(text, min(start, len(text)), min(end, len(text) + 1))


def _carets(segment: str) -> str:
    """Carets under an operator or a subscript and tildes beside it, as Python has them."""
    try:
        tree = ast.parse(segment.encode("utf-8"), mode="eval").body
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return ""
    if isinstance(tree, ast.BinOp):
        first, last = tree.left.end_col_offset or 0, tree.right.col_offset
    elif isinstance(tree, ast.Subscript):
        first, last = tree.value.end_col_offset or 0, tree.end_col_offset or 0
    else:
        return ""
    before, after = _characters(segment, first), _characters(segment, last)
    if isinstance(tree, ast.BinOp):
        operator = segment[before:after].strip(" \t()")
        before = segment.index(operator, before)
        after = before + len(operator)
    else:
        before = segment.index("[", before)
    return "~" * before + "^" * (after - before) + "~" * (len(segment) - after)


def _marked(text: str, start: int, end: int, marks: str = "") -> Iterator[str]:
    """A line, and carets under its characters from ``start`` to ``end``; a long one in part.

    ``marks`` stand there instead of carets, where there are any.
    """
    margin = len(text) - len(text.lstrip())
    text = text.strip()
    start, end = max(start - margin, 0), max(end - margin, 0)
    left = 0
    if len(text) > SOURCE_CHARS:
        left = max(min(start - SOURCE_CHARS // 3, len(text) - SOURCE_CHARS), 0)
        before, after = "..." * (left > 0), "..." * (left + SOURCE_CHARS < len(text))
        text = before + text[left : left + SOURCE_CHARS] + after
        start, end = start - left + len(before), min(end - left, SOURCE_CHARS) + len(before)
    yield f"    {text}"
    if end > start:
        padding = "".join("\t" if one == "\t" else " " for one in text[:start])
        marks = (marks or "^" * (end - start))[: end - start]
        yield f"    {padding}{' ' * (start - len(text))}{marks}"


def _characters(text: str, column: int) -> int:
    """A column in UTF-8 bytes as one in characters."""
    return len(text.encode("utf-8", "surrogatepass")[:column].decode("utf-8", "replace"))


# -- what a program may have put into an error ---------------------------------------------------


def _text(value: Any) -> str:
    return str.__str__(value) if isinstance(value, str) else ""


def _number(value: Any) -> int | None:
    return value if type(value) is int and 0 <= value < 1 << 53 else None
