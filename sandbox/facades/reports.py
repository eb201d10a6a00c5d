"""Reports of differences: numbered without a counter on a class, which can't change here."""

from __future__ import annotations

import difflib
from itertools import count
from typing import Any


def mend() -> dict[str, Any]:
    """``HtmlDiff`` gives each table its own prefix."""
    numbers = count()

    def make_prefix(report: Any) -> None:
        number = next(numbers)
        report._prefix = [f"from{number}_", f"to{number}_"]

    difflib.HtmlDiff._make_prefix = make_prefix  # type: ignore[attr-defined]
    return {}
