"""Searches files for a regular expression: the process that the gate ``search`` starts.

Run as a script, with the standard library alone and an empty environment. The request comes
as JSON on standard input, the answer goes as JSON to standard output: ``matches``, or an
``error``. The one argument is the descriptor of an open folder or file; no link is followed
out of it.
"""

from __future__ import annotations

import contextlib
import fnmatch
import io
import json
import os
import re
import resource
import stat
import sys
from collections.abc import Iterator
from typing import Any

MEMORY_BYTES = 1 << 30
CPU_SECONDS = 600  # for a search whose host died before it could kill it
_FLAGS = os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK
_BINARY_PROBE = 8_192


class _Refused(Exception):
    """The search can't be done; the text says why."""


def main() -> None:
    """Answer the one request."""
    request = json.load(sys.stdin)
    with contextlib.suppress(ValueError, OSError):  # where a lower limit already holds
        resource.setrlimit(resource.RLIMIT_CPU, (CPU_SECONDS, CPU_SECONDS))
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY_BYTES, MEMORY_BYTES))
    try:
        answer: dict[str, Any] = {"matches": find(request, int(sys.argv[1]))}
    except _Refused as error:
        answer = {"error": str(error)}
    except (MemoryError, RecursionError):
        answer = {"error": "the search takes too much memory; use a simpler pattern"}
    json.dump(answer, sys.stdout)


def find(request: dict[str, Any], descriptor: int) -> list[dict[str, Any]]:
    """The matching lines; a folder's own files, by name, come before those of its folders."""
    pattern = _compiled(request["pattern"])
    budget = request["max_bytes"]
    matches: list[dict[str, Any]] = []
    for count, (path, file) in enumerate(_files(request, descriptor)):
        with file:
            if count >= request["max_files"]:
                raise _Refused(
                    f"more than {request['max_files']:,} files; search a smaller folder or "
                    "narrow the glob"
                )
            for number, line in enumerate(_lines(file, budget), 1):
                budget -= len(line)
                if budget < 0:
                    raise _Refused(
                        f"more than {request['max_bytes']:,} bytes; search a smaller folder or "
                        "narrow the glob"
                    )
                text = line.decode("utf-8", "replace").rstrip("\r\n")
                if found := pattern.search(text):
                    shown = _around(text, found.start(), request["max_line_chars"])
                    matches.append({"path": path, "line": number, "text": shown})
                    if len(matches) >= request["max_matches"]:
                        return matches
    return matches


def _compiled(pattern: str) -> re.Pattern[str]:
    try:
        return re.compile(pattern)
    except (re.error, OverflowError) as error:
        raise _Refused(f"the pattern is no regular expression: {error}") from None


def _files(request: dict[str, Any], descriptor: int) -> Iterator[tuple[str, io.BufferedReader]]:
    """Every regular file to be searched, opened, with its path from the root."""
    start = os.path.normpath(request["path"])
    if not stat.S_ISDIR(os.fstat(descriptor).st_mode):
        yield start, io.BufferedReader(io.FileIO(descriptor))
        return
    for folder, folders, names, folder_descriptor in os.fwalk(".", dir_fd=descriptor):
        folders.sort()
        for name in sorted(names):
            below = os.path.normpath(os.path.join(folder, name))
            if not fnmatch.fnmatchcase(below if "/" in request["glob"] else name, request["glob"]):
                continue
            if file := _opened(name, folder_descriptor):
                yield os.path.normpath(os.path.join(start, below)), file


def _opened(name: str, folder: int) -> io.BufferedReader | None:
    """The file, or None if it is no regular one or can't be read."""
    try:
        if not stat.S_ISREG(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode):
            return None
        descriptor = os.open(name, _FLAGS, dir_fd=folder)
    except OSError:
        return None
    if not stat.S_ISREG(os.fstat(descriptor).st_mode):
        os.close(descriptor)
        return None
    return io.BufferedReader(io.FileIO(descriptor))


def _lines(file: io.BufferedReader, budget: int) -> Iterator[bytes]:
    """The lines of a text file, none longer than the budget by more than a byte."""
    if b"\0" in file.peek(_BINARY_PROBE)[:_BINARY_PROBE]:
        return
    while line := file.readline(budget + 1):
        budget -= len(line)
        yield line


def _around(text: str, position: int, limit: int) -> str:
    """The line, or ``limit`` characters of it around the match."""
    if len(text) <= limit:
        return text
    start = max(0, min(position - limit // 4, len(text) - limit))
    return text[start : start + limit]


if __name__ == "__main__":
    main()
