"""What a session's random numbers and clocks go on from, where its state is taken up."""

from __future__ import annotations

import random
import sys
from typing import Any

from ..world import WORLD
from .shapes import mapping, number, row

_WORDS = 624  # of the Mersenne Twister's state


def states() -> dict[str, Any]:
    """What they go on from, as plain values."""
    return {"random": random.getstate(), "numpy": _of_numpy(), "clocks": WORLD.moments()}


def _of_numpy() -> tuple[Any, ...] | None:
    """The state of numpy's own generator; None without numpy, or where it is another kind's."""
    numpy: Any = sys.modules.get("numpy.random")
    state = numpy.get_state() if numpy else None
    if type(state) is not tuple:
        return None
    name, words, *rest = state
    return (name, tuple(words.tolist()), *rest)


def go_on(kept: Any) -> None:
    """Go on from there.

    Raises:
        ValueError, TypeError, KeyError: Something of it is malformed.
    """
    states = mapping(kept)
    random.setstate(row(states["random"]))
    WORLD.go_on_from(mapping(states["clocks"]))
    if states["numpy"] is not None and "numpy.random" in sys.modules:
        name, words, place, *rest = row(states["numpy"])
        if len(row(words)) != _WORDS or not 0 <= number(place) <= _WORDS:
            raise ValueError("a generator's state is malformed")
        sys.modules["numpy.random"].set_state((name, words, place, *rest))
