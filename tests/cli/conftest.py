"""Spells to run, and two ways to run the command: in this process, and as it is installed."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import pytest
from circlet.runtime.cli.app import app
from typer.testing import CliRunner

COMMAND = Path(sys.executable).with_name("circlet")
WATCHDOG_S = 120
SPELL = """\
llm: {script: script.yaml}
circle:
  medium: code
  gates: [done, call_entity, call_entity_batch, echo]
  wards: [{max_turns: 4}, {max_depth: 2}]
"""


@dataclass
class Place:
    """A folder with spells in it, that commands are run in.

    Attributes:
        path: The folder.
        environment: What is set besides, or (None) not set, for an installed command.
    """

    path: Path
    environment: dict[str, str | None] = field(default_factory=dict)

    def write(self, text: str | bytes, name: str) -> Path:
        (self.path / name).write_bytes(text if isinstance(text, bytes) else text.encode())
        return self.path / name

    def spell(self, script: str, more: str = "intent: go\n", name: str = "spell.yaml") -> str:
        """Write a spell and its script; gives the spell's name."""
        self.write(script, "script.yaml")
        self.write(SPELL + more, name)
        return name

    def invoke(self, *args: str, input: str | bytes | None = None):  # noqa: A002
        """Run a command in this process."""
        return CliRunner().invoke(app, list(args), input=input)

    def installed(self, *args: str, stdin: str = "") -> subprocess.CompletedProcess[str]:
        """Run the command as it is installed, to its end."""
        return subprocess.run(
            [COMMAND, *args],
            input=stdin,
            capture_output=True,
            text=True,
            cwd=self.path,
            env=self.variables(),
            timeout=WATCHDOG_S,
        )

    @contextmanager
    def started(self, *args: str, stderr: int = subprocess.PIPE) -> Iterator[subprocess.Popen[str]]:
        """The command as it is installed, while it runs; killed should it hang."""
        process = subprocess.Popen(
            [COMMAND, *args],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=stderr,
            text=True,
            cwd=self.path,
            env=self.variables(),
            start_new_session=True,
        )
        watchdog = threading.Timer(WATCHDOG_S, process.kill)
        watchdog.start()
        try:
            with process:
                yield process
        finally:
            watchdog.cancel()
            process.kill()

    def variables(self) -> dict[str, str]:
        """The environment of an installed command: none of ours that would change its output."""
        plain = {"NO_COLOR": "1", "OPENAI_API_KEY": None, "OPENROUTER_API_KEY": None}
        merged = {**os.environ, **plain, **self.environment}
        return {name: value for name, value in merged.items() if value is not None}


@pytest.fixture
def place(tmp_path, monkeypatch) -> Place:
    """A fresh folder, which is the working folder too."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENROUTER_API_KEY", raising=False)
    return Place(tmp_path)
