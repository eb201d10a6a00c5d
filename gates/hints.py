"""What might have been meant by a name that isn't known."""

from __future__ import annotations

import difflib
from collections.abc import Iterable

_LIKENESS = 0.7
"""How alike two names must be, from 0 to 1: a slip of the fingers, not another word."""


def nearest(name: object, known: Iterable[str]) -> str | None:
    """The known name that was probably meant, or None."""
    near = difflib.get_close_matches(str(name), list(known), 1, _LIKENESS)
    return near[0] if near else None


def suggestion(name: object, known: Iterable[str]) -> str:
    """``did you mean read?``, or else which names there are."""
    known = list(known)
    near = nearest(name, known)
    return f"did you mean {near}?" if near else f"there are: {', '.join(known)}"
