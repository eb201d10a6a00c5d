"""The gate that answers with what it was given."""

from __future__ import annotations

from typing import Any

from .gate import gate


@gate(idempotent=True)
def echo(text: Any) -> Any:
    """Return the argument unchanged.

    Args:
        text: A value of any type.
    """
    return text
