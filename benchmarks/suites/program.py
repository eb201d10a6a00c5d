"""A program, what came of it in one place, and whether another place agrees."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Program:
    """A program to be run in a namespace of its own.

    Attributes:
        name: What a report calls it.
        turns: Its source, in the parts that are run one after another.
    """

    name: str
    turns: tuple[str, ...]


@dataclass(frozen=True)
class Turn:
    """What one part of a program came to.

    Attributes:
        printed: All that it printed.
        error: The class of the exception that ended it, or the empty string.
        message: What that exception says; two places may word it differently.
    """

    printed: str
    error: str = ""
    message: str = field(default="", compare=False)


Outcome = tuple[Turn, ...]


@dataclass(frozen=True)
class Result:
    """Whether a program did the same in the sandbox.

    Attributes:
        name: The program's name.
        difference: The first thing that differs, in one line; empty where nothing does.
    """

    name: str
    difference: str = ""

    @property
    def passed(self) -> bool:
        """Whether nothing differs."""
        return not self.difference


def compared(program: Program, expected: Outcome, found: Outcome) -> Result:
    """Compare what a program came to in two places."""
    for wanted, had in zip(expected, found, strict=True):
        if wanted != had:
            return Result(program.name, _difference(wanted, had))
    return Result(program.name)


def _difference(wanted: Turn, had: Turn) -> str:
    if wanted.error != had.error:
        said = f"{had.error}: {_first_line(had.message)}" if had.error else "no error"
        return f"{said} (wanted {wanted.error or 'no error'})"
    lines = wanted.printed.splitlines()
    found = had.printed.splitlines()
    for number, line in enumerate(lines):
        if number >= len(found):
            return f"line {number + 1}: nothing (wanted {line!r})"
        if line != found[number]:
            return f"line {number + 1}: {found[number]!r} (wanted {line!r})"
    if len(found) > len(lines):
        return f"line {len(lines) + 1}: {found[len(lines)]!r} (wanted nothing)"
    return "the same lines, ended differently"


def _first_line(text: str) -> str:
    return text.partition("\n")[0]
