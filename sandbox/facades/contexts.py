"""Context variables: a program can't come upon those of the library."""

from __future__ import annotations

import contextvars
from typing import Any

from ..classes import close_iteration


def mend() -> dict[str, Any]:
    """A context tells of variables that one has already, and can't be gone through.

    The C code of ``decimal`` takes what its own variable holds for a context of arithmetic,
    unlooked at: a program that set something else there could overwrite memory.
    """
    close_iteration(contextvars.Context, "keys", "values", "items")
    return {}
