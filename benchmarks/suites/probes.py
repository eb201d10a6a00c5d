"""Escape probes: small programs, each an attempt to get out of a sandbox.

A probe's first line says what it is after and where the technique comes from:
``# kind=cap; source: ...``. It ends with a truthy ``escaped`` where it has reached what a
language's wall should keep from it. Programs that take that wall for gone set ``breached`` to what
the kernel has let them do. Each finds the dictionary ``target``: what there is to attack. None
does harm where nothing holds it: it writes to that alone, and sends no signal to others.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

KINDS = {
    "cap": "a real capability: builtins, files, processes, sockets",
    "leak": "an internal object: frames, globals, code, guards",
    "int": "something shared was changed: a module, a registry, a guard",
    "sys": "the runner's control flow was taken over",
    "dos": "time, memory, stack or the interpreter itself",
}
"""What success is, by kind."""

FOLDER = Path(__file__).parents[2] / "tests" / "escape"
"""The probes that are kept here; our own stand in ``own``."""

_HEAD = re.compile(r"# kind=(\w+); source: (.+)")


@dataclass(frozen=True)
class Probe:
    """One attempt.

    Attributes:
        name: Its file's name without the ending.
        kind: One of ``KINDS``.
        technique: Where the technique comes from, or what it is.
        text: Its source.
    """

    name: str
    kind: str
    technique: str
    text: str


def probes(folders: Iterable[Path] = (FOLDER,)) -> list[Probe]:
    """The probes in folders and the folders in them, by name.

    Raises:
        ValueError: A folder holds none, a file's first line is another, or two share a name.
    """
    found: dict[str, Probe] = {}
    for folder in folders:
        paths = sorted(folder.rglob("*.py"))
        if not paths:
            raise ValueError(f"there are no probes in {folder}")
        for path in paths:
            if path.stem in found:
                raise ValueError(f"there are two probes {path.stem!r}")
            found[path.stem] = _read(path)
    return [found[name] for name in sorted(found)]


def _read(path: Path) -> Probe:
    text = path.read_text(encoding="utf-8")
    head = _HEAD.match(text)
    if head is None or head[1] not in KINDS:
        raise ValueError(
            f"the first line of {path} should read '# kind=...; source: ...' with a kind of "
            + ", ".join(KINDS)
        )
    return Probe(path.stem, head[1], head[2], text)
