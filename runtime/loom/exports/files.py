"""A file that an export is written to: there when it is whole, and not before."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, Any

from ...errors import LoomError

_FILES = ("loom.*", "trajectory.jsonl", "spell.yaml", "blobs", "runs")
"""What a run's directory holds of the run itself."""


def check_apart(target: str | Path, directory: Path) -> None:
    """See that a file is none of those that a run is made of.

    Raises:
        LoomError: It is one, or is where one would be.
    """
    path, home = Path(target).resolve(), directory.resolve()
    if path.is_relative_to(home) and path != home:
        first = Path(path.relative_to(home).parts[0])
        if any(map(first.match, _FILES)):
            raise LoomError(
                f"the export {target} would take the place of the run's own files: choose another "
                "name"
            )


@contextmanager
def replacing(target: str | Path, mode: str, **kind: Any) -> Iterator[IO[Any]]:
    """A file to write to, which takes the target's place when all of it is written.

    It is its user's alone (mode 0600). Where the writing fails, what was there before stands. A
    target that is no ordinary file, such as a pipe, is written to as it is.

    Args:
        target: Where the file will be; what a link points to is replaced, not the link.
        mode: How it is opened, ``w`` or ``wb``.
        **kind: Encoding and newline, as ``open`` takes them.

    Raises:
        OSError: It can't be written.
    """
    path = Path(target).resolve()
    if path.exists() and not path.is_file():
        with open(path, mode, **kind) as file:
            yield file
        return
    handle, unfinished = tempfile.mkstemp(dir=path.parent, prefix=f".{path.name[:100]}.")
    try:
        with open(handle, mode, **kind) as file:
            yield file
        os.replace(unfinished, path)
    except BaseException:
        with suppress(OSError):
            os.unlink(unfinished)
        raise
