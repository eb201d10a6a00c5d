"""How the commands speak: results on stdout, everything else on stderr, no text run as code.

Text of an entity's reaches a terminal only as text: what could move its cursor, recolour it
or hide part of a line is shown as an escape.
"""

from __future__ import annotations

import contextlib
import sys
import unicodedata
from typing import Any

from rich.console import Console
from rich.highlighter import ReprHighlighter
from rich.pretty import pretty_repr
from rich.text import Text

from .. import texts
from ..redaction import redact

PIPED_WIDTH = 100
"""Columns of a value that is laid out for no terminal."""
WHOLE_ITEMS = 1_000
"""A value of at most this many items, at all levels, is printed whole."""
LONG_LIST, CUT_TO = 20, 3
"""In a larger one, a list longer than the first is cut to as many items as the second."""


def stdout() -> Console:
    """The console for results."""
    return Console(file=sys.stdout, markup=False, emoji=False, highlight=False)


def stderr() -> Console:
    """The console for everything else."""
    return _Aside(file=sys.stderr, markup=False, emoji=False, highlight=False)


class _Aside(Console):
    """A console that goes silent once nobody reads it, for the work goes on without."""

    def on_broken_pipe(self) -> None:
        """Print nothing more; rich itself would end the program, and close standard output."""
        self.quiet = True


def clean(text: str) -> str:
    """A text that a terminal takes for nothing but text, on as many lines as it has."""
    text = text.replace("\r\n", "\n")
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        character if character in "\n\t" or character.isprintable() else _escape(character)
        for character in text
    )


def _escape(character: str) -> str:
    # Spaces of other widths and emoji joiners are not printable to Python but harmless.
    if unicodedata.category(character) == "Zs" or character in "\u200c\u200d":
        return character
    return character.encode("unicode_escape", "backslashreplace").decode("ascii")


def one_line(text: str) -> str:
    """``clean``, with each run of white space as one space."""
    return clean(" ".join(text.split()))


def error_line(text: str) -> str:
    """The line of an observation that tells its error, on one line of a terminal."""
    return one_line(texts.error_line(text))


def complain(text: str) -> None:
    """Say what went wrong, in one line on stderr."""
    with contextlib.suppress(OSError):  # nobody reads it any more
        print(f"circlet: {one_line(redact(text))}", file=sys.stderr)  # noqa: T201 - never wrapped


def show_value(value: Any) -> bool:
    """Print a value on stdout: a text as it is, anything else as Python writes it, laid out.

    Returns:
        Whether all of it was printed: of a large one, long lists are cut short.
    """
    if isinstance(value, str):
        print(clean(value))  # noqa: T201 - never wrapped
        return True
    is_whole = _count_items(value, WHOLE_ITEMS) <= WHOLE_ITEMS
    console = stdout()
    width = console.width if sys.stdout.isatty() else PIPED_WIDTH
    shown = value if is_whole else _cut_short(value)
    text = Text(clean(pretty_repr(shown, max_width=width)))
    if console.is_terminal:
        ReprHighlighter().highlight(text)
    console.print(text, soft_wrap=True)
    return is_whole


def _count_items(value: Any, enough: int) -> int:
    """How many items a value has, at all levels; stops counting soon after ``enough``."""
    count, waiting = 0, [value]
    while waiting and count <= enough:
        one = waiting.pop()
        count += 1
        if isinstance(one, dict):
            waiting += one.values()
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += one
    return count


class _More:
    """What stands for the items that are not shown."""

    def __init__(self, count: int) -> None:
        self._count = count

    def __repr__(self) -> str:
        return f"... {self._count:,} more"


def _cut_short(value: Any) -> Any:
    """The value with its long lists cut to their first items."""
    if isinstance(value, dict):
        return {key: _cut_short(item) for key, item in value.items()}
    if not isinstance(value, list | tuple | set | frozenset):
        return value
    items: list[Any] = list(value)
    if len(items) > LONG_LIST:
        items = [*items[:CUT_TO], _More(len(items) - CUT_TO)]
    return [_cut_short(item) for item in items]


def count(number: int, noun: str, plural: str = "") -> str:
    """A number with its noun: ``1 turn``, ``1,200 turns``."""
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"
