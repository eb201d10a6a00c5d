"""Faults of each kind that the walk is to find: what a facade could hold by mistake.

``reach.py`` takes names of this module as if they stood in a facade.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from types import FrameType
from typing import Any


def calls_back(function: Callable[..., Any]) -> None:
    """Hands a frame to what it is given."""
    function(sys._getframe())


def keyword_calls_back(text: str, on_end: Callable[..., Any] | None = None) -> None:
    """Hands a module to what it is given by keyword."""
    if on_end is not None:
        on_end(sys)


def yields() -> Iterator[FrameType]:
    """Yields a frame."""
    yield sys._getframe()


async def awaited() -> FrameType:
    """Gives a frame when it is awaited."""
    return sys._getframe()


def fails(_: Any) -> None:
    """Fails while it handles an error that holds a module."""
    try:
        raise KeyError(sys)
    except KeyError:
        raise ValueError("no") from None


class Registry:
    """Keeps what all share where it can be changed."""

    kept: dict[str, Any] = {}


class Hooked:
    """Hands a module to a method that a subclass may override."""

    def __init__(self, *_: Any) -> None:
        """Takes anything."""

    def run(self) -> None:
        """Calls the method."""
        self._on_run(sys)

    def _on_run(self, module: Any) -> None:
        """Overridden."""


class Delegating:
    """Hands a class's class to an object that can be exchanged."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.chooser: Any = function

    def choose(self, obj: Any) -> Any:
        """Asks the other object."""
        return self.chooser(obj.__class__)


class Compared:
    """Shows what it keeps to what it is compared with."""

    def __eq__(self, other: object) -> bool:
        return sys.modules == other

    __hash__ = None  # type: ignore[assignment]


class Entered:
    """Gives a frame where it is entered."""

    def __enter__(self) -> FrameType:
        return sys._getframe()

    def __exit__(self, *_: object) -> None:
        """Ends."""
