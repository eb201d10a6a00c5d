"""The end of a file of lines, where a crash leaves what is no whole line."""

from __future__ import annotations

import json
import os
from pathlib import Path

from ..errors import LoomError
from .blobs import sync_directory
from .lines import HEAD_BEGINS

_BLOCK = 1 << 16
"""Bytes that are read at a time."""


def set_aside(path: Path, handle: int) -> str | None:
    """Move what follows the last whole line to a file of its own.

    Args:
        path: The file.
        handle: The file, open for writing.

    Returns:
        What was done, in a sentence; None where nothing follows.

    Raises:
        LoomError: The file is no loom, but for what a crash would leave of one.
        OSError: It can't be done; nothing is lost then.
    """
    head = _read(handle, 0, len(HEAD_BEGINS))
    if not HEAD_BEGINS.startswith(head):
        raise LoomError(f"{path} is not a loom: choose another directory")
    start = _whole_until(handle)
    text = _read(handle, start, os.fstat(handle).st_size)
    if not text:
        return None
    kept = _keep(path, text)
    os.ftruncate(handle, start)
    os.fsync(handle)
    return (
        f"its last line was cut off as it was written: its {len(text):,} bytes are in {kept.name}"
    )


def _is_whole(line: bytes) -> bool:
    """Whether a line, with its end, is an object of JSON."""
    try:
        return isinstance(json.loads(line), dict)
    except (ValueError, RecursionError):
        return False


def whole_until(block: bytes, end: int) -> int:
    """Where the last whole line of a block ends.

    Args:
        block: The end of a file.
        end: Where its last line ends, or 0.
    """
    while end > 0:
        start = block.rfind(b"\n", 0, end - 1) + 1
        if _is_whole(block[start:end]):
            break
        end = start
    return end


def _whole_until(handle: int) -> int:
    """Where the last whole line ends."""
    end = _line_start(handle, os.fstat(handle).st_size)
    while end > 0:
        start = _line_start(handle, end - 1)
        if _is_whole(_read(handle, start, end)):
            break
        end = start
    return end


def _line_start(handle: int, end: int) -> int:
    """Where the line begins that goes on to ``end``."""
    while end > 0:
        start = max(0, end - _BLOCK)
        found = _read(handle, start, end).rfind(b"\n")
        if found >= 0:
            return start + found + 1
        end = start
    return 0


def _read(handle: int, start: int, end: int) -> bytes:
    pieces = []
    while start < end and (piece := os.pread(handle, end - start, start)):
        pieces.append(piece)
        start += len(piece)
    return b"".join(pieces)


def _keep(path: Path, text: bytes) -> Path:
    """Write what is set aside to the first name that is free."""
    number = 1
    while True:
        kept = path.with_name(f"{path.name}.torn-{number}")
        try:
            handle = os.open(kept, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        except FileExistsError:
            number += 1
            continue
        with os.fdopen(handle, "wb") as file:
            file.write(text)
            file.flush()
            os.fsync(file.fileno())
        sync_directory(kept.parent)
        return kept
