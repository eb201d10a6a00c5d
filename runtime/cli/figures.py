"""The figures of a run, as its loom has them."""

from __future__ import annotations

import dataclasses
from typing import Any

from ..loom import Loom
from .console import count


def figures(loom: Loom) -> dict[str, Any]:
    """What a run took: ``entities``, ``turns`` (utterances), ``max_depth``, ``usage``."""
    return {
        "entities": len(loom.entities),
        "turns": loom.utterance_count,
        "max_depth": max((entity.depth for entity in loom.entities.values()), default=0),
        "usage": dataclasses.asdict(loom.usage()),
    }


def summary(loom: Loom) -> str:
    """The same in one line, for a reader."""
    run = figures(loom)
    return ", ".join(
        (
            count(run["entities"], "entity", "entities"),
            count(run["turns"], "turn"),
            count(run["max_depth"] + 1, "level"),
            count(loom.usage().total_tokens, "token"),
        )
    )
