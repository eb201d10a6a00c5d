"""Fenced code: the program in a reply of a model that has no tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import MalformedReply

_THINKING = re.compile(
    r"^[ \t]*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
_OPENING = re.compile(r"^(?P<indent> {0,3})(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$")


def last_block(text: str) -> str | None:
    """The last fenced ``python`` block of a text, its thinking removed; None without one.

    A fence inside the block's own code does not end it: a block ends at the last bare fence
    before the next opening one. A block that is never closed is not run: it was cut off.

    Raises:
        MalformedReply: The last ``python`` block is not closed.
    """
    lines = _THINKING.sub("", text.replace("\r\n", "\n")).split("\n")
    blocks = list(_blocks(lines))
    python = [block for block in blocks if block[0] in ("python", "py", "python3")]
    if not python:
        return None
    _, body, closed = python[-1]
    if not closed:
        raise MalformedReply("the last python block is not closed: the reply seems cut off")
    return "\n".join(body) + "\n"


def _blocks(lines: list[str]) -> Iterator[tuple[str, list[str], bool]]:
    """Each fenced block as its language, its lines, and whether it is closed."""
    index = 0
    while index < len(lines):
        opening = _OPENING.match(lines[index])
        if opening is None:
            index += 1
            continue
        fence = opening["fence"]
        end = _closing(lines, index + 1, fence)
        body = [_outdented(line, len(opening["indent"])) for line in lines[index + 1 : end]]
        language = (opening["info"].split() or [""])[0].lower()
        yield language, body, end is not None
        index = len(lines) if end is None else end + 1


def _closing(lines: list[str], start: int, fence: str) -> int | None:
    """Where a block ends: its last bare fence before another block opens with a language."""
    last = None
    for index in range(start, len(lines)):
        match = _OPENING.match(lines[index])
        if match is None or match["fence"][0] != fence[0] or len(match["fence"]) < len(fence):
            continue
        if match["info"].strip():
            if last is not None:
                return last
        else:
            last = index
    return last


def _outdented(line: str, indent: int) -> str:
    """A line without the indentation that its block's fence has."""
    return line[min(indent, len(line) - len(line.lstrip(" "))) :]
