"""How a cast ended, as a reader sees it at a glance."""

from __future__ import annotations

_MARKS = {
    "terminated": ("✓", "green"),
    "truncated": ("◐", "yellow"),
    "failed": ("✗", "red"),
    "not_started": ("○", "yellow"),
}


def mark_of(outcome: str | None) -> tuple[str, str]:
    """The mark of an outcome and its colour; None: not ended."""
    return _MARKS.get(outcome or "", ("…", "cyan"))


def told(outcome: str | None) -> str:
    """An outcome in words."""
    return (outcome or "not ended").replace("_", " ")
