"""The trajectories in a run's directory, and their events for a reader."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..errors import TrajectoryError
from .events import DriverCall, Event, parse
from .writer import NAME


@dataclass(frozen=True)
class Trajectory:
    """One trajectory on disk.

    Attributes:
        path: The file.
        directory: The run's directory, which the paths in its events begin at.
    """

    path: Path
    directory: Path

    @property
    def root(self) -> str | None:
        """Id of its root entity; None where nothing was asked yet, or that is damaged."""
        if self.path.parent != self.directory:
            return self.path.parent.name
        asked = (event.task for event in self._intact() if isinstance(event, DriverCall))
        card = self.file(next(asked, None) or "")
        entity = card.get("entity") if isinstance(card, dict) else None
        return entity if isinstance(entity, str) else None

    @property
    def began(self) -> str:
        """When it began; empty where it holds nothing."""
        return next((event.t for event in self._intact()), "")

    def _intact(self) -> Iterator[Event]:
        """Its events up to the first that is damaged."""
        with suppress(TrajectoryError):
            yield from self.events()

    def events(self) -> Iterator[Event]:
        """Its events, in order, as far as they are whole.

        Raises:
            TrajectoryError: It can't be read, or a line that others follow is damaged.
        """
        try:
            with open(self.path, "rb") as file:
                for number, line in enumerate(file, 1):
                    if not line.endswith(b"\n"):
                        return  # it is being written, or was cut short
                    try:
                        yield parse(line)
                    except TrajectoryError as error:
                        raise TrajectoryError(f"{self.path}, line {number}: {error}") from None
        except OSError as error:
            raise TrajectoryError(f"{self.path} can't be read: {error.strerror}") from None

    def file(self, path: str) -> Any:
        """What stands in a file that an event refers to; None where that can't be read."""
        try:
            return json.loads((self.directory / path).read_bytes())
        except (OSError, ValueError, RecursionError):
            return None


def trajectories(directory: Path) -> list[Trajectory]:
    """All trajectories in a run's directory, that of the first root first.

    Args:
        directory: The run's directory, or that of a further root in it, ``runs/ENTITY``.

    Raises:
        TrajectoryError: There is none.
    """
    if directory.parent.name == "runs" and not (directory / "blobs").exists():
        paths, directory = [directory / NAME], directory.parent.parent
    else:
        paths = [directory / NAME, *directory.glob(f"runs/*/{NAME}")]
    found = [Trajectory(path, directory) for path in paths if path.is_file()]
    if not found:
        raise TrajectoryError(f"there is no trajectory in {directory}: it holds no {NAME}")
    return sorted(found, key=lambda one: (one.path.parent != directory, one.began))
