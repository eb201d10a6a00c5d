"""The formats of exports, and the one way in to all of them."""

from __future__ import annotations

import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import IO, Any, Literal, get_args

from ...errors import LoomError
from ...redaction import Secrets
from ..attempts import groups
from ..export import export_lines
from ..index import Index
from ..lines import Redaction
from ..store import LoomStore
from .chat import chat_lines
from .files import replacing
from .groups import Pairs, peers
from .messages import Writer
from .table import write_table

Format = Literal["jsonl", "chat", "grpo", "dpo", "parquet"]
"""``jsonl``: every record. ``chat``: conversations. ``grpo``: ranked groups. ``dpo``: pairs.
``parquet``: a table of turns."""
FORMATS: tuple[Format, ...] = get_args(Format)

Target = str | Path | IO[str] | IO[bytes]
"""A path, or a stream: for text, but for bytes where it is parquet."""


@dataclass(frozen=True)
class Export:
    """One export, as it is asked for.

    Attributes:
        format: What it is written as.
        redaction: What is withheld: by default secrets (``PROD-8``).
        pairs: Which pairs of a group a ``dpo`` export has. Default: its best against its worst.
        margin: How far apart the rewards of a pair are at least. Default: they differ.

    Raises:
        LoomError: There is no such format, redaction, choice of pairs or margin, or the format
            knows no pairs.
    """

    format: Format = "jsonl"
    redaction: Redaction = "default"
    pairs: Pairs | None = None
    margin: float | None = None

    def __post_init__(self) -> None:
        _check("a loom is exported as", FORMATS, self.format)
        _check("redaction is", get_args(Redaction), self.redaction)
        if self.pairs is not None:
            _check("pairs are", get_args(Pairs), self.pairs)
        if self.margin is not None and not (math.isfinite(self.margin) and self.margin >= 0):
            raise LoomError(f"the margin must be a number from 0 on, not {self.margin!r}")
        if self.format != "dpo" and (self.pairs is not None or self.margin is not None):
            raise LoomError(f"pairs and margin are for the format 'dpo', not {self.format!r}")

    def text(self, index: Index, store: LoomStore, secrets: Secrets) -> str:
        """The export as a text.

        Raises:
            LoomError: It is none, or the loom is damaged or lacks what it needs.
        """
        if self.format == "parquet":
            raise LoomError("parquet is bytes: give a path, or a stream for bytes")
        return "".join(self._lines(index, store, secrets))

    def write(self, index: Index, store: LoomStore, secrets: Secrets, target: Target) -> None:
        """Write the export to a file, for its user alone, or to a stream, bit by bit.

        A file is there when it is whole: where that fails, one that was there before stands.

        Raises:
            LoomError: The file can't be written, or the loom is damaged or lacks what it needs.
        """
        if not isinstance(target, str | Path):
            self._write_to(index, store, secrets, target)
            return
        is_text = self.format != "parquet"
        kind: dict[str, Any] = {"encoding": "ascii", "newline": "\n"} if is_text else {}
        try:
            with replacing(target, "w" if is_text else "wb", **kind) as file:
                self._write_to(index, store, secrets, file)
        except OSError as error:
            why = error.strerror or error
            raise LoomError(f"the export {target} can't be written: {why}") from error

    def _write_to(self, index: Index, store: LoomStore, secrets: Secrets, stream: Any) -> None:
        if self.format == "parquet":
            write_table(index, self._writer(secrets), stream)
        else:
            stream.writelines(self._lines(index, store, secrets))

    def _lines(self, index: Index, store: LoomStore, secrets: Secrets) -> Iterable[str]:
        if self.format == "jsonl":
            return export_lines(index.rows(), store, secrets, self.redaction)
        made = self._made(index, self._writer(secrets))
        return (json.dumps(line, allow_nan=False, separators=(",", ":")) + "\n" for line in made)

    def _made(self, index: Index, writer: Writer) -> Iterator[dict[str, Any]]:
        if self.format == "chat":
            yield from chat_lines(index, writer)
            return
        for group in groups(index):
            for some in peers(index, group, writer):
                if self.format == "grpo":
                    yield some.group_line()
                else:
                    yield from some.pair_lines(self.pairs or "best", self.margin or 0.0)

    def _writer(self, secrets: Secrets) -> Writer:
        return Writer(secrets if self.redaction == "default" else None)


def _check(told: str, choices: Iterable[str], given: Any) -> None:
    if given not in choices:
        *others, last = map(repr, choices)
        raise LoomError(f"{told} {', '.join(others)} or {last}, not {given!r}")
