"""The gate that searches files beneath a root for a regular expression.

Matching holds the interpreter's lock, and a pattern can be made to take for ever, so it runs
in a process of its own (``grep.py``) that is killed when the gate is cancelled or out of time.
"""

from __future__ import annotations

import contextlib
import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Annotated, Any

import anyio
from pydantic import Field

from .files import RootFolder
from .gate import gate
from .root import Root

TIMEOUT_S = 30.0
"""Seconds that a search may take, unless the gate is configured otherwise."""
MAX_MATCHES = 10_000
"""Most matches that can be asked for."""
MAX_FILES = 50_000
"""Files that one search looks into."""
MAX_BYTES = 200_000_000
"""Bytes that one search looks through."""
MAX_LINE_CHARS = 500
"""Characters of a matching line that are returned."""

_SCRIPT = str(Path(__file__).with_name("grep.py"))


@gate(idempotent=True, timeout_s=TIMEOUT_S, binds=("root",))
async def search(
    pattern: str,
    path: str = ".",
    glob: str = "*",
    max_matches: Annotated[int, Field(ge=1, le=MAX_MATCHES)] = 200,
    *,
    root: RootFolder,
) -> list[dict[str, Any]]:
    """Search files for a regular expression: for each matching line its path, line and text.

    Lines are matched one by one and counted from 1; of a long one the part around the match is
    returned. Links, binary files and files that can't be read are passed over. As many results
    as max_matches mean that there may be more.

    Args:
        pattern: Regular expression in Python's syntax, found anywhere in a line.
        path: Folder or file to search, relative to the root; "." is the root.
        glob: Only files whose name matches this, such as "*.py". With a "/" in it, it is
            matched against the path below the folder searched.
        max_matches: Stop after this many matches.
        root: The folder that paths are relative to; bound beforehand.

    Raises:
        OSError: The path isn't there or has a link in it.
        ValueError: The path leaves the root, the pattern is malformed, or there is too much
            to search.
    """
    request = {
        "path": path,
        "pattern": pattern,
        "glob": glob,
        "max_matches": max_matches,
        "max_files": MAX_FILES,
        "max_bytes": MAX_BYTES,
        "max_line_chars": MAX_LINE_CHARS,
    }
    descriptor = _open(root, path)
    try:
        answer = await _answer(descriptor, json.dumps(request).encode("ascii"))
    finally:
        os.close(descriptor)
    if "error" in answer:
        raise ValueError(answer["error"])
    matches: list[dict[str, Any]] = answer["matches"]
    return matches


async def _answer(descriptor: int, request: bytes) -> dict[str, Any]:
    """Run the search in a process of its own; it is gone when this ends, however it ends."""
    with anyio.CancelScope(shield=True):  # breaking off a start would leave it unwatched
        process = await anyio.open_process(
            [sys.executable, "-I", "-S", _SCRIPT, str(descriptor)],
            pass_fds=(descriptor,),
            stderr=subprocess.DEVNULL,
            env={},
            cwd="/",
        )
    async with process:
        assert process.stdin is not None
        assert process.stdout is not None
        with contextlib.suppress(anyio.BrokenResourceError):  # its exit code tells more
            await process.stdin.send(request)
            await process.stdin.aclose()
        output = b"".join([chunk async for chunk in process.stdout])
        if await process.wait():
            raise ValueError("the search broke off; its pattern may need too much memory or time")
    answer: dict[str, Any] = json.loads(output)
    return answer


def _open(root: Root, path: str) -> int:
    """A descriptor of the folder or file at ``path``, the caller's to close."""
    try:
        with root.folder(path) as folder:
            return os.dup(folder)
    except NotADirectoryError:
        return root.open(path)
