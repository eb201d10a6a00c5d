"""Which probes reach a feature of the language only, and why that is no hole."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from pathlib import Path

LIST = Path(__file__).with_suffix(".toml")


def by_reason() -> Iterator[tuple[str, list[str]]]:
    """Each reason with the names of its probes."""
    for feature in tomllib.loads(LIST.read_text(encoding="utf-8"))["feature"]:
        yield feature["reason"], feature["probes"]


def by_probe() -> dict[str, str]:
    """Each probe's reason.

    Raises:
        ValueError: A probe stands under two.
    """
    reasons: dict[str, str] = {}
    for reason, names in by_reason():
        for name in names:
            if name in reasons:
                raise ValueError(f"{name} stands under two reasons")
            reasons[name] = reason
    return reasons
