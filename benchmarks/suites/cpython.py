"""CPython's own tests of its language and library, as far as the machine has them.

Each test method is cut out of its file, with what it needs. Some tests of a file make a program:
its first turn is our stand-in for ``unittest``, each further one a test. What the rules leave out
doesn't count, nor does a test that fails on plain CPython once it is cut out.
"""

from __future__ import annotations

import sysconfig
from collections import Counter
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path

from .cutting import TestFile
from .denied import REASONS
from .program import Program
from .rules import why_left_out

FILES = (
    "abstract_numbers array asyncgen augassign base64 baseexception binascii binop bisect bool "
    "builtin bytes calendar class cmath collections compare complex contains contextlib "
    "contextlib_async copy coroutines csv dataclasses decimal decorators defaultdict deque dict "
    "dictviews difflib enum enumerate exception_group exceptions extcall float format fractions "
    "fstring functools generators genericalias global grammar graphlib hash heapq html index int "
    "ipaddress isinstance iter itertools keywordonlyarg list listcomps long math "
    "named_expressions numeric_tower opcodes operator ordered_dict patma positional_only_arg pow "
    "pprint print property queue raise random range re reprlib richcmp scope set slice sort "
    "statistics strftime string string_literals struct subclassinit super textwrap tuple "
    "type_aliases type_params typechecks types typing unary unicode unpack unpack_ex urlparse "
    "userdict userlist userstring uuid with yield_from zlib"
).split()
"""The files, without ``test_`` and ``.py``."""

BATCH = 25
"""Tests of one program; a session that is lost in one costs the ones after it."""
HARNESS = Path(__file__).parent / "harness"


@dataclass(frozen=True)
class CutTests:
    """What can be run, and what can't.

    Attributes:
        tests: The name and the source of each test that no rule leaves out.
        left_out: How many tests each rule leaves out.
        missing: What the machine lacks, in sentences.
    """

    tests: dict[str, str]
    left_out: dict[str, int]
    missing: list[str]

    def programs(self) -> list[Program]:
        """The tests in programs; their names in one's order are the names of its tests."""
        harness = "\n\n".join(
            (HARNESS / name).read_text(encoding="utf-8") for name in ("testcase.py", "support.py")
        )
        by_file = groupby(self.tests, lambda name: name.partition(".")[0])
        return [
            Program(" ".join(names), (harness, *(self.tests[name] for name in names)))
            for _, of_file in by_file
            for names in _batches(list(of_file))
        ]


def _batches(names: list[str]) -> list[list[str]]:
    return [names[start : start + BATCH] for start in range(0, len(names), BATCH)]


def cut(package: Path | None = None) -> CutTests:
    """Cut all tests out of the machine's ``test`` package.

    Args:
        package: Its folder. Default: that of the running Python.
    """
    package = package or Path(sysconfig.get_path("stdlib")) / "test"
    tests: dict[str, str] = {}
    reasons: Counter[str] = Counter()
    absent = []
    for name in FILES:
        path = package / f"test_{name}.py"
        if not path.is_file():
            path = package / f"test_{name}" / "__init__.py"
        if not path.is_file():
            absent.append(f"test_{name}")
            continue
        for each in TestFile(path, package).cuts(f"test_{name}"):
            if reason := why_left_out(each.tree):
                reasons[reason] += 1
            else:
                tests[each.name] = str(each)
    sentence = f"this Python's test package has no {', '.join(absent)}"
    return CutTests(
        tests,
        {reason: reasons[reason] for reason in REASONS if reasons[reason]},
        [sentence] if absent else [],
    )
