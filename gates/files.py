"""The gates to files beneath a root: read, write, list_dir.

They keep to what ``root.py`` says: no path leaves the root and no link is followed. Nothing
but regular files is read or written, and never more than ``max_bytes`` of one.
"""

from __future__ import annotations

import os
import secrets
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Annotated, Any

from pydantic import BeforeValidator, Field

from .gate import gate
from .root import Root, regular

MAX_BYTES = 10_000_000
"""Size of a file that is read or written, in bytes, unless ``max_bytes`` is bound."""
MAX_ENTRIES = 50_000
"""Entries of a folder that is listed."""

RootFolder = Annotated[Root, BeforeValidator(Root.at)]
"""A root that may be bound as a path."""
Count = Annotated[int, Field(ge=0)]
Limit = Annotated[int, Field(ge=1)]


@gate(idempotent=True, binds=("root", "max_bytes"))
def read(
    path: str,
    start: Count = 0,
    length: Count | None = None,
    binary: bool = False,
    *,
    root: RootFolder,
    max_bytes: Limit = MAX_BYTES,
) -> str | bytes:
    """Read a text file, or a part of it.

    Args:
        path: Path of the file, relative to the root.
        start: Where to begin, in characters (in bytes if binary).
        length: How much to return, in characters (in bytes if binary). Default: all.
        binary: Return bytes as they are, instead of text decoded as UTF-8.
        root: The folder that paths are relative to; bound beforehand.
        max_bytes: Largest file, in bytes; bound beforehand. Default 10,000,000.

    Raises:
        OSError: The file isn't there, isn't a regular file, or has a link in its path.
        ValueError: The path leaves the root, the file is too large, or it is no UTF-8 text.
    """
    with open(root.open(path), "rb") as file:
        data = file.read(max_bytes + 1)
    if len(data) > max_bytes:
        raise ValueError(f"{path!r} is larger than the limit of {max_bytes:,} bytes")
    end = None if length is None else start + length
    return data[start:end] if binary else _decoded(data, path)[start:end]


def _decoded(data: bytes, path: str) -> str:
    try:
        return data.decode("utf-8")
    except UnicodeDecodeError as error:
        raise ValueError(
            f"{path!r} is not UTF-8 text (byte {error.start}); read it with binary=True"
        ) from None


@gate(binds=("root", "max_bytes"))
def write(path: str, text: str, *, root: RootFolder, max_bytes: Limit = MAX_BYTES) -> str:
    """Write a text file as UTF-8, replacing what was in it.

    The folder has to be there. The file is there whole or not at all, however this ends.

    Args:
        path: Path of the file, relative to the root.
        text: What is to be in it.
        root: The folder that paths are relative to; bound beforehand.
        max_bytes: Largest file, in bytes; bound beforehand. Default 10,000,000.

    Raises:
        OSError: The folder isn't there, the path is a folder's or another thing's, or has a
            link in it.
        ValueError: The path leaves the root, the text is too large, or it can't be UTF-8.
    """
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        raise ValueError(f"the text has a lone surrogate at {error.start}") from None
    if len(data) > max_bytes:
        raise ValueError(f"the text is larger than the limit of {max_bytes:,} bytes")
    with root.place(path) as (folder, name):
        old = regular(folder, name, path)
        try:
            _replace(folder, name, data, old)
        except OSError as error:
            raise OSError(error.errno, os.strerror(error.errno or 0), path) from None
    return f"wrote {len(text):,} characters ({len(data):,} bytes) to {path}"


def _replace(folder: int, name: str, data: bytes, old: os.stat_result | None) -> None:
    """Write beside the file, then take its name; a link put there meanwhile is replaced."""
    with _new_file(folder) as (descriptor, temporary):
        with open(descriptor, "wb", closefd=False) as file:
            file.write(data)
        if old is not None:
            os.fchmod(descriptor, stat.S_IMODE(old.st_mode) & 0o777)
        os.replace(temporary, name, src_dir_fd=folder, dst_dir_fd=folder)


@contextmanager
def _new_file(folder: int) -> Iterator[tuple[int, str]]:
    """A new file of its own name: descriptor and name. Gone after an error."""
    temporary = f".circlet-{secrets.token_hex(8)}.tmp"
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | os.O_NOFOLLOW
    descriptor = os.open(temporary, flags, 0o666, dir_fd=folder)
    try:
        yield descriptor, temporary
    except BaseException:
        os.unlink(temporary, dir_fd=folder)
        raise
    finally:
        os.close(descriptor)


@gate(idempotent=True, binds=("root",))
def list_dir(path: str = ".", *, root: RootFolder) -> list[dict[str, Any]]:
    """List a folder: for each entry its name, kind (file, dir, link or other) and size.

    The entries are sorted by name. The size is in bytes, and None for all but files.

    Args:
        path: Path of the folder, relative to the root; "." is the root.
        root: The folder that paths are relative to; bound beforehand.

    Raises:
        OSError: The folder isn't there, isn't one, or has a link in its path.
        ValueError: The path leaves the root, or the folder has too many entries.
    """
    listed: list[dict[str, Any]] = []
    with root.folder(path) as folder, os.scandir(folder) as entries:
        for entry in entries:
            if len(listed) >= MAX_ENTRIES:
                raise ValueError(f"{path!r} has more than {MAX_ENTRIES:,} entries")
            try:
                status = entry.stat(follow_symlinks=False)
            except FileNotFoundError:
                continue  # deleted since its name was read
            kind = _kind(status.st_mode)
            size = status.st_size if kind == "file" else None
            listed.append({"name": entry.name, "kind": kind, "size": size})
    return sorted(listed, key=lambda one: str(one["name"]))


def _kind(mode: int) -> str:
    if stat.S_ISREG(mode):
        return "file"
    if stat.S_ISDIR(mode):
        return "dir"
    return "link" if stat.S_ISLNK(mode) else "other"
