"""A loom taken over from a file or a directory, record by record, without loss."""

from __future__ import annotations

import os
import shutil
from contextlib import closing
from pathlib import Path

from ..errors import LoomError
from .disk import Durability
from .export import blobs_of
from .formats import StoreFormat, opened
from .index import decoded
from .jsonl import JSONLFile
from .store import LoomStore
from .verify import Reading


def copy(source: LoomStore, target: LoomStore) -> None:
    """Copy all records and the blobs that they refer to; ``n``, ``at`` and bytes stay.

    Args:
        source: What is copied.
        target: An empty store.

    Raises:
        LoomError: The source is not whole; the text tells the first thing that is wrong.
    """
    reading = Reading(source)
    given: set[str] = set()
    for row in source.read():
        for fault in reading.faults(row):
            raise LoomError(f"the loom can't be taken over: {fault}")
        for digest in blobs_of(decoded(row)):
            if digest not in given:
                given.add(digest)
                target.put(source.get(digest))
        target.append(row._replace(chain=reading.chain))


def copy_to(
    source: Path,
    directory: Path,
    format: StoreFormat = "sqlite",  # noqa: A002 - as the loom's caller names it
    durability: Durability = "process",
) -> None:
    """Make a loom in a directory out of an export or another run's loom; all of it, or nothing.

    Args:
        source: The file of an export, or a run's directory.
        directory: Where it is made; missing or empty.
        format: Its format.
        durability: What its records outlive.

    Raises:
        LoomError: The directory is not empty, or the source can't be read or is not whole.
    """
    if directory.exists() and (not directory.is_dir() or any(directory.iterdir())):
        raise LoomError(f"{directory} is not empty: choose another directory")
    with closing(source_at(source)) as read:
        unfinished = directory.with_name(f"{directory.name}.unfinished-{os.getpid()}")
        try:
            with closing(opened(unfinished, format, durability)) as written:
                copy(read, written)
            os.rename(unfinished, directory)
        except OSError as error:
            raise LoomError(f"{directory} can't be made: {error.strerror}") from error
        finally:
            shutil.rmtree(unfinished, ignore_errors=True)


def source_at(path: Path) -> LoomStore:
    """What an export's file or a run's directory holds.

    Raises:
        LoomError: It can't be read, or is redacted.
    """
    if path.is_dir():
        return opened(path, read_only=True)
    if not path.is_file():
        raise LoomError(f"there is no export and no run at {path}")
    return JSONLFile(path)
