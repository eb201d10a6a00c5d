"""Our own snippets: small programs by topic, as a model writes them and textbooks teach them.

A file of ``benchmarks/snippets`` holds one topic. A line ``# === name`` begins a program; it can
name the Python that it needs (``# === name, from 3.12``). A line ``# --- turn`` ends one turn
and begins the next. What a program should print is stored nowhere: CPython says it.

Left out, because it stays closed in a sandbox:

- files, the network, processes, threads, ``sys.stdin`` and ``input``;
- ``gc``, ``pickle``, ``ctypes``, and what makes code or classes of texts;
- special attributes that lead into the interpreter: ``__globals__``, ``__code__``,
  ``__closure__``, ``__subclasses__``, frames and tracebacks' frames;
- ``except*``, ``metaclass=``, ``type()`` with three arguments, ``import *``;
- ``__getattribute__``, which takes over every attribute of an object, and ``__del__``.
"""

from __future__ import annotations

import re
import sys
from collections.abc import Iterator
from pathlib import Path

from .program import Program

FOLDER = Path(__file__).parents[1] / "snippets"
_HEAD = re.compile(r"# === (?P<name>\w+)(?:, from 3\.(?P<minor>\d+))?")
_TURN = re.compile(r"^# --- turn\n", re.MULTILINE)


def topics() -> list[str]:
    """The names of all topics."""
    return sorted(path.stem for path in FOLDER.glob("*.py"))


def programs(topic: str | None = None) -> list[Program]:
    """The snippets of one topic, or of all.

    Raises:
        ValueError: A file is not in the form that this module describes.
    """
    names = [topic] if topic else topics()
    return [
        program
        for name in names
        for program in parse(name, (FOLDER / f"{name}.py").read_text(encoding="utf-8"))
    ]


def parse(topic: str, text: str) -> list[Program]:
    """The snippets in a topic's text that this Python can run.

    Raises:
        ValueError: A separator is malformed, or two snippets have one name.
    """
    seen: set[str] = set()
    found = []
    for head, source in _parts(text):
        match = _HEAD.fullmatch(head)
        if match is None:
            raise ValueError(
                f"{topic}: {head!r} should read '# === name' or '# === name, from 3.x'"
            )
        if match["name"] in seen:
            raise ValueError(f"{topic}: there are two snippets {match['name']!r}")
        seen.add(match["name"])
        if sys.version_info[1] >= int(match["minor"] or 0):
            found.append(Program(f"{topic}/{match['name']}", tuple(_TURN.split(source))))
    return found


def _parts(text: str) -> Iterator[tuple[str, str]]:
    """Each head line with the source below it; what stands before the first is a comment."""
    _, *parts = re.split(r"^(# ===.*)\n", text, flags=re.MULTILINE)
    for head, source in zip(parts[::2], parts[1::2], strict=True):
        yield head.rstrip(), source.strip("\n") + "\n"
