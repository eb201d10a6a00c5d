"""In which format a run's directory holds its loom."""

from __future__ import annotations

from pathlib import Path
from typing import Literal, get_args

from ..errors import LoomError
from .disk import DiskStore, Durability
from .jsonl import JSONLStore
from .sqlite import SQLiteStore

StoreFormat = Literal["sqlite", "jsonl"]
"""``sqlite``: a database, ``loom.db``; ``jsonl``: lines of JSON, ``loom.jsonl``."""

_STORES: dict[StoreFormat, type[DiskStore]] = {"sqlite": SQLiteStore, "jsonl": JSONLStore}


def format_in(directory: Path) -> StoreFormat | None:
    """The format of the loom that a directory holds; None where it holds none.

    Raises:
        LoomError: It holds one of each.
    """
    found = [name for name, store in _STORES.items() if (directory / store.NAME).is_file()]
    if len(found) > 1:
        names = " and ".join(_STORES[name].NAME for name in found)
        raise LoomError(f"{directory} holds two looms, {names}: move one of them away")
    return found[0] if found else None


def opened(
    directory: Path,
    format: StoreFormat | None = None,  # noqa: A002 - as the loom's caller names it
    durability: Durability = "process",
    read_only: bool = False,
) -> DiskStore:
    """The store in a directory; a new one where it holds none, unless it is only to be read.

    Args:
        directory: The run's directory.
        format: Which it is to be. Default: the one that is there, ``sqlite`` for a new one.
        durability: What a record outlives.
        read_only: Whether it is only read.

    Raises:
        LoomError: There is no such format, the loom that is there has another, or it can't be
            opened.
    """
    if format is not None and format not in get_args(StoreFormat):
        raise LoomError(f"a loom's format is 'sqlite' or 'jsonl', not {format!r}")
    there = format_in(directory)
    if there is None and read_only:
        names = " and no ".join(store.NAME for store in _STORES.values())
        raise LoomError(f"there is no loom at {directory}: it holds no {names}")
    if format is not None and there not in (None, format):
        raise LoomError(
            f"the loom at {directory} has the format {there!r}, not {format!r}: "
            "circlet loom import makes one of the other format from it"
        )
    return _STORES[format or there or "sqlite"](directory, durability, read_only)
