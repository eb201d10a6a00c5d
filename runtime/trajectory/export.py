"""A copy of a trajectory without secrets, for others to read.

What holds a secret is written anew without it, under the digest that it has then, for the old one
could be guessed from. The requests that it was part of can't be compared any more: their cards
have no digest of them, and whoever checks the copy is told so.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from ..errors import TrajectoryError
from ..loom.blobs import Blobs
from ..redaction import Secrets
from .events import Command, DriverCall, DriverResult, Event, GateVerdict, Inject, RunStart
from .plain import blob_path, canonical
from .recorder import SPELL
from .runs import Trajectory


def export(trajectories: Iterable[Trajectory], out: Path, secrets: Secrets) -> None:
    """Write copies of the trajectories of one run's directory.

    Args:
        trajectories: The trajectories.
        out: The copies' directory, made; it must not be there, or be empty.
        secrets: The values that are known to be secret; what looks like one is left out too.

    Raises:
        TrajectoryError: A file is missing or damaged, or the copy can't be written.
    """
    try:
        out.mkdir(mode=0o700, parents=True, exist_ok=True)
        if any(out.iterdir()):
            raise TrajectoryError(f"{out} holds something already: choose another directory")
        for trajectory in trajectories:
            copy = _Copy(trajectory, out, secrets)
            path = out / trajectory.path.relative_to(trajectory.directory)
            path.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with open(path, "xb") as file:
                for event in trajectory.events():
                    file.write(copy.line(event))
            _copy_spell(trajectory.directory, out, secrets)
    except OSError as error:
        raise TrajectoryError(f"{error.filename or out}: {error.strerror}") from None


def _copy_spell(directory: Path, out: Path, secrets: Secrets) -> None:
    spell = directory / SPELL
    if spell.is_file():
        text = spell.read_text(encoding="utf-8", errors="surrogateescape")
        redacted = secrets.redact(text)
        (out / SPELL).write_text(redacted, encoding="utf-8", errors="surrogateescape")


class _Copy:
    """The copy of one trajectory, event by event."""

    def __init__(self, trajectory: Trajectory, out: Path, secrets: Secrets) -> None:
        self._trajectory = trajectory
        self._files = Blobs(out / "blobs")
        self._secrets = secrets
        self._hash = hashlib.sha256()
        self._blocks: dict[str, str] = {}  # digests of blocks here, by those that they had
        self._sent: dict[str, list[str]] = {}  # blocks of each entity's last request, as they were

    def line(self, event: Event) -> bytes:
        """An event as it stands in the copy."""
        match event:
            case RunStart():
                event = self._start(event)
            case Inject():
                event = self._inject(event)
            case DriverCall():
                event = event.model_copy(update={"task": self._card(self._read(event.task))})
            case DriverResult():
                told = self._redacted(self._read(event.detail))
                path = self._keep({**told, "before": self._hash.hexdigest()})
                event = event.model_copy(update={"detail": path})
            case Command() if event.evidence is not None:
                event = event.model_copy(update={"evidence": self._copied(event.evidence)})
            case GateVerdict():
                event = event.model_copy(update={"result": self._copied(event.result)})
        texts = {
            name: self._redacted(text)
            for name, text in event
            if isinstance(text, str) and not text.startswith("blobs/")
        }
        line = event.model_copy(update=texts).one_line().encode() + b"\n"
        self._hash.update(line)
        return line

    def _start(self, event: RunStart) -> RunStart:
        path = self._copied(blob_path(event.store_hash))
        spec = path if event.spec.startswith("blobs/") else event.spec
        return event.model_copy(update={"spec": spec, "store_hash": Path(path).name})

    def _inject(self, event: Inject) -> Inject:
        block = self._read(event.source)
        redacted = self._redacted(block)
        path = self._keep(block if redacted == block else {**redacted, "redacted": True})
        self._blocks[Path(event.source).name] = Path(path).name
        return event.model_copy(update={"source": path})

    def _card(self, card: dict[str, Any]) -> str:
        """The card of a request, with the blocks as they are named here."""
        sent = self._sent.setdefault(card["entity"], [])
        sent[card["kept"] :] = card["blocks"]
        tools = card["tools"]
        settings = self._redacted(card["hyperparameters"])
        is_whole = settings == card["hyperparameters"] and all(
            self._blocks[digest] == digest for digest in [*sent, *([tools] if tools else [])]
        )
        return self._keep(
            {
                **card,
                "blocks": [self._blocks[digest] for digest in card["blocks"]],
                "tools": tools and self._blocks[tools],
                "hyperparameters": settings,
                "request": card["request"] if is_whole else None,
                "before": self._hash.hexdigest(),
            }
        )

    def _copied(self, path: str) -> str:
        return self._keep(self._redacted(self._read(path)))

    def _redacted(self, value: Any) -> Any:
        return self._secrets.redact(value)

    def _read(self, path: str | None) -> dict[str, Any]:
        content = self._trajectory.file(path or "")
        if not isinstance(content, dict):
            raise TrajectoryError(f"{self._trajectory.directory / (path or '')} is gone or damaged")
        return content

    def _keep(self, content: dict[str, Any]) -> str:
        return blob_path(self._files.put(canonical(content)))
