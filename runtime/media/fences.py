"""Fenced code: the program in a reply of a model that has no tools."""

from __future__ import annotations

import re
from collections.abc import Iterator

from ..errors import MalformedReply

_THINKING = re.compile(
    r"^[ \t]*<(think|thinking)>.*?(?:</\1>|\Z)", re.DOTALL | re.IGNORECASE | re.MULTILINE
)
_THOUGHT = re.compile(
    r"\A(?:(?!^[ \t]*(?:`{3}|~{3})).)*?^[ \t]*</(?:think|thinking)>[ \t]*$",
    re.DOTALL | re.IGNORECASE | re.MULTILINE,
)
"""Thinking whose opening mark was part of the prompt, up to a closing one on a line of its own."""
_OPENING = re.compile(
    r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*(?P<info>[^`\n]*)$", re.MULTILINE
)
_PYTHON = re.compile(r"\{?[ .]*(python|py|python3|py3|ipython)(?![\w+#-])", re.IGNORECASE)
_CLOSING = re.compile(r"^(?P<indent>[ \t]*)(?P<fence>`{3,}|~{3,})[ \t]*$", re.MULTILINE)
_IN_CODE = re.compile(
    rf"{_CLOSING.pattern}|#[^\n]*|(?P<long>\'\'\'|\"\"\")"
    r"|(?P<quote>['\"])(?:\\.|(?!(?P=quote))[^\\\n])*(?P=quote)?",
    re.MULTILINE,
)
"""What matters for where code ends: a fence, and the comments and strings that may hold one."""


_WRAPPED = re.compile(r"\s*(?:`{3}|~{3}|<think(?:ing)?>)", re.IGNORECASE)


def is_wrapped(code: str) -> bool:
    """Whether what is given as a program begins as none can: with a fence, or with thinking."""
    return _WRAPPED.match(code) is not None


def last_block(text: str, bare: bool = False) -> str | None:
    """The last fenced ``python`` block of a text, its thinking removed; None without one.

    A block ends at the first bare fence of its kind that stands in none of the code's own
    triple-quoted strings. A block that is never closed is not run: it was cut off.

    Args:
        text: What a model said.
        bare: Whether a block that names no language counts too.

    Raises:
        MalformedReply: The last ``python`` block is not closed.
    """
    text = _THOUGHT.sub("", _THINKING.sub("", text.replace("\r\n", "\n")))
    python = [block for block in _blocks(text) if _is_python(block[0]["info"], bare)]
    if not python:
        return None
    opening, end = python[-1]
    if end is None:
        raise MalformedReply("the last python block is not closed: the reply seems cut off")
    indent = len(opening["indent"])
    body = text[opening.end() + 1 : max(end - 1, opening.end() + 1)]
    return "\n".join(_outdented(line, indent) for line in body.split("\n")) + "\n"


def _is_python(info: str, bare: bool) -> bool:
    return bool(_PYTHON.match(info)) or (bare and not info.strip())


def _blocks(text: str) -> Iterator[tuple[re.Match[str], int | None]]:
    """Each fenced block as its opening line, and where its closing one begins, if it does."""
    opening = _OPENING.search(text)
    while opening is not None:
        closing = _closing(text, opening)
        yield opening, closing.start() if closing else None
        opening = _OPENING.search(text, closing.end()) if closing else None


def _closing(text: str, opening: re.Match[str]) -> re.Match[str] | None:
    """Where a block ends: of code at a fence outside its strings, if there is one."""
    if _PYTHON.match(opening["info"]):
        found = _next_fence(text, opening, _IN_CODE)
        if found is not None:
            return found
    return _next_fence(text, opening, _CLOSING)


def _next_fence(
    text: str, opening: re.Match[str], pattern: re.Pattern[str]
) -> re.Match[str] | None:
    found = pattern.search(text, opening.end())
    while found is not None:
        place = found.end()
        if found["fence"]:
            if found["fence"].startswith(opening["fence"]) and (
                len(found["indent"]) <= len(opening["indent"]) + 3
            ):
                return found
        elif found["long"]:
            end = text.find(found["long"], place)
            place = place if end < 0 else end + 3
        found = pattern.search(text, place)
    return None


def _outdented(line: str, indent: int) -> str:
    """A line without the indentation that its block's fence has."""
    return line[min(indent, len(line) - len(line.lstrip(" \t"))) :]
