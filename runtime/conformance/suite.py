"""A suite of conformance cases, as it is read from its file.

A suite is a list of cases, or a mapping of ``code_language`` and ``cases``. Nothing in it is
rewritten: what it says reaches the runner as YAML has it.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..document import Part, parse
from ..errors import SpellError, SuiteError
from . import vocabulary


@dataclass(frozen=True)
class Case:
    """One case of a suite.

    Attributes:
        rule: The rule that it is about.
        name: What it shows.
        line: Where it stands in its file, from 1.
        body: All that it says, by key.
        ordinal: Its place among the cases of that rule and name, from 1.
    """

    rule: str
    name: str
    line: int
    body: dict[str, Any]
    ordinal: int = 1

    @property
    def label(self) -> str:
        """Its name, numbered from the second of that name on."""
        return self.name if self.ordinal == 1 else f"{self.name} #{self.ordinal}"


@dataclass(frozen=True)
class Suite:
    """A suite of cases.

    Attributes:
        path: Its file.
        cases: Its cases, in order.
        in_python: Whether the programs in it are Python; else each needs a rendition.
    """

    path: Path
    cases: tuple[Case, ...]
    in_python: bool = False


def read_suite(path: str | Path) -> Suite:
    """Read a suite.

    Args:
        path: Its file.

    Raises:
        SuiteError: It can't be read, or is no suite; the text names file and line.
    """
    path = Path(path)
    root = read_document(path, "suite")
    try:
        return _suite(path, root)
    except SpellError as error:
        raise SuiteError(str(error)) from None


def read_document(path: Path, what: str) -> Part:
    """A YAML file as a document that knows its lines.

    Args:
        path: The file.
        what: What errors call it.

    Raises:
        SuiteError: It can't be read, or is no YAML.
    """
    try:
        return parse(path.read_bytes().decode("utf-8-sig"), str(path), expand=False)
    except OSError as error:
        raise SuiteError(f"the {what} {path} can't be read: {error.strerror}") from None
    except UnicodeDecodeError as error:
        raise SuiteError(f"the {what} {path} is not UTF-8 text (byte {error.start})") from None
    except SpellError as error:
        raise SuiteError(str(error)) from None


def _suite(path: Path, root: Part) -> Suite:
    if root.is_list:
        return Suite(path, _cases(root))
    if not root.is_mapping:
        raise root.fault("a suite is a list of cases, or a mapping with cases")
    fields = root.fields("a suite", vocabulary.SUITE)
    if "cases" not in fields:
        raise root.fault("a suite needs cases")
    in_python = False
    if "code_language" in fields:
        language = fields["code_language"]
        if language.text("code_language") != "python":
            raise language.fault("code_language must be python; leave it out for any other")
        in_python = True
    return Suite(path, _cases(fields["cases"]), in_python)


def _cases(part: Part) -> tuple[Case, ...]:
    items = part.items("the cases")
    if not items:
        raise part.fault("the suite has no cases")
    seen: Counter[tuple[str, str]] = Counter()
    cases = []
    for item in items:
        entries = item.entries("a case")
        texts = {}
        for key in ("rule", "name"):
            if key not in entries:
                raise item.fault(f"a case needs a {key}")
            texts[key] = entries[key].text(f"a case's {key}")
        seen[texts["rule"], texts["name"]] += 1
        body = {key: entry.value() for key, entry in entries.items()}
        ordinal = seen[texts["rule"], texts["name"]]
        cases.append(Case(texts["rule"], texts["name"], item.line, body, ordinal))
    return tuple(cases)
