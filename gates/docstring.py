"""What a function's docstring says, for a model: the text, and a note for each argument."""

from __future__ import annotations

import inspect
import re
from typing import Any

_SECTION = re.compile(r"^(Args|Returns|Raises|Yields|Attributes|Examples?|Notes?):$", re.MULTILINE)
_NOTE = re.compile(r"^\*{0,2}(\w+)(?: \([^)]*\))?: *(.*)$")


def description(function: Any) -> str:
    """The docstring up to its first section (``Args:``, ``Returns:`` and so on)."""
    text = inspect.getdoc(function) or ""
    section = _SECTION.search(text)
    return text[: section.start() if section else None].strip()


def argument_notes(function: Any) -> dict[str, str]:
    """What the section ``Args:`` says, by argument, each note on one line."""
    notes: dict[str, str] = {}
    name = ""
    for line in _argument_section(function):
        indent = len(line) - len(line.lstrip())
        start = _NOTE.match(line.strip())
        if start and indent <= 4:
            name, notes[start[1]] = start[1], start[2]
        elif name:
            notes[name] = f"{notes[name]} {line.strip()}".strip()
    return notes


def _argument_section(function: Any) -> list[str]:
    _, found, rest = (inspect.getdoc(function) or "").partition("\nArgs:\n")
    if not found:
        return []
    following = _SECTION.search(rest)
    section = rest[: following.start() if following else None]
    return [line for line in section.splitlines() if line.strip()]
