"""CPython's own tests of its language and library, as far as the machine has them.

Each test method is cut out of its file, with what it needs, and run as a program of two turns:
our stand-in for ``unittest``, then the test. What the rules leave out doesn't count, nor does a
test that fails on plain CPython once it is cut out.
"""

from __future__ import annotations

import sysconfig
from collections import Counter
from dataclasses import dataclass
from pathlib import Path

from .cutting import TestFile
from .program import Program
from .rules import REASONS, why_left_out

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

HARNESS = Path(__file__).parent / "harness.py"


@dataclass(frozen=True)
class CutTests:
    """What can be run, and what can't.

    Attributes:
        programs: A program for each test that no rule leaves out.
        left_out: How many tests each rule leaves out.
        missing: What the machine lacks, in sentences.
    """

    programs: list[Program]
    left_out: dict[str, int]
    missing: list[str]


def programs(package: Path | None = None) -> CutTests:
    """Cut all tests out of the machine's ``test`` package.

    Args:
        package: Its folder. Default: that of the running Python.
    """
    package = package or Path(sysconfig.get_path("stdlib")) / "test"
    harness = HARNESS.read_text(encoding="utf-8")
    found: list[Program] = []
    reasons: Counter[str] = Counter()
    absent = []
    for name in FILES:
        path = package / f"test_{name}.py"
        if not path.is_file():
            path = package / f"test_{name}" / "__init__.py"
        if not path.is_file():
            absent.append(f"test_{name}")
            continue
        for cut in TestFile(path, package).cuts(f"test_{name}"):
            if reason := why_left_out(cut.tree):
                reasons[reason] += 1
            else:
                found.append(Program(cut.name, (harness, str(cut))))
    return CutTests(
        found,
        {reason: reasons[reason] for reason in REASONS if reasons[reason]},
        [f"the test package of this Python is not whole, it has no {', '.join(absent)}"]
        if absent
        else [],
    )
