"""Runs on disk with their trajectories, and a look at the events and the files beside them."""

from __future__ import annotations

import json
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest
from circlet import Loom
from circlet.runtime.trajectory.events import Event, parse
from circlet.runtime.trajectory.verify import Report, verify


@dataclass
class Kept:
    """A run's directory.

    Attributes:
        directory: The directory.
        loom: Its loom, open for writing.
    """

    directory: Path
    loom: Loom

    @property
    def path(self) -> Path:
        """The first run's trajectory."""
        return self.directory / "trajectory.jsonl"

    def events(self, path: Path | None = None) -> list[Event]:
        """The events of a trajectory, each line read by itself."""
        return [parse(line) for line in (path or self.path).read_bytes().splitlines()]

    def of(self, *kinds: str) -> list[Any]:
        """The events of some kinds."""
        return [event for event in self.events() if event.kind in kinds]

    def file(self, path: str) -> dict[str, Any]:
        """What stands in a file that an event refers to."""
        return json.loads((self.directory / path).read_bytes())

    def cards(self) -> list[dict[str, Any]]:
        """The cards of all queries."""
        return [self.file(event.task) for event in self.of("driver_call")]

    def check(self, path: Path | None = None) -> Report:
        """What checking a trajectory comes to."""
        return verify(path or self.path, self.directory)


@pytest.fixture
def kept(tmp_path):
    directory = tmp_path / "run"
    with Loom(directory) as loom:
        yield Kept(directory, loom)
