"""Renditions: a suite's programs in Python, where the suite has them in another language.

A renditions file is a mapping: rule, then the case's name (``NAME #2`` for the second case of
a rule and name), then the program's place, such as ``llm[0]``: the model's key and the place
of the reply among its responses. What stands there has ``of``, the digest of the program that
it renders, and ``python``. So a program that was changed in the suite is not run as it was.
"""

from __future__ import annotations

import hashlib
from collections.abc import Mapping
from importlib.resources import as_file, files
from pathlib import Path

from ..document import Part
from ..errors import SpellError, SuiteError
from .keys import CaseFault
from .suite import Case, read_document

_DIGITS = 12


class Renditions:
    """Programs in Python, by where those that they render stand.

    Args:
        programs: By rule, case, and place: the digest of the original, and the Python.
        name: What errors call them.
    """

    def __init__(self, programs: Mapping[tuple[str, str, str], tuple[str, str]], name: str) -> None:
        self._programs = programs
        self._name = name

    def find(self, case: Case, place: str, program: str) -> str:
        """The Python of a program.

        Args:
            case: The case that it stands in.
            place: Where, such as ``llm[0]``.
            program: The program as the suite has it.

        Raises:
            CaseFault: There is no rendition, or it is one of another program.
        """
        found = self._programs.get((case.rule, case.label, place))
        digest = digest_of(program)
        if found is None:
            raise CaseFault(
                f"the code at {place} has no rendition in Python: {self._name} needs one under "
                f"{case.rule!r}, {case.label!r}, {place!r}, of: {digest}"
            )
        if found[0] != digest:
            raise CaseFault(
                f"the code at {place} has changed since it was rendered: its digest is {digest}, "
                f"{self._name} has one of {found[0]}"
            )
        return found[1]


def digest_of(program: str) -> str:
    """The digest of a program, white space aside."""
    words = " ".join(program.split())
    return hashlib.sha256(words.encode("utf-8", "surrogatepass")).hexdigest()[:_DIGITS]


def read_renditions(path: str | Path | None = None) -> Renditions:
    """Read a file of renditions.

    Args:
        path: The file. Default: the one that comes with circlet, for the published suite.

    Raises:
        SuiteError: It can't be read, or says something it can't say; the text names the line.
    """
    if path is not None:
        return _read(Path(path))
    with as_file(files(__package__) / "renditions.yaml") as own:
        return _read(own)


def _read(path: Path) -> Renditions:
    root = read_document(path, "renditions file")
    programs = {}
    try:
        for rule, names in root.entries("the renditions").items():
            for name, places in names.entries("a rule's renditions").items():
                for place, part in places.entries("a case's renditions").items():
                    programs[rule, name, place] = _program(part)
    except SpellError as error:
        raise SuiteError(str(error)) from None
    return Renditions(programs, path.name)


def _program(part: Part) -> tuple[str, str]:
    fields = part.fields("a rendition", ("of", "python"))
    if set(fields) != {"of", "python"}:
        raise part.fault("a rendition needs of and python")
    return fields["of"].text("of"), fields["python"].text("python")
