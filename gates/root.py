"""The folder that file gates stay beneath.

A path is walked one component at a time, each opened relative to the folder before it and
never through a symbolic link. There is no moment between looking and opening at which
somebody could put a link in the way. This is what ``openat2`` does with ``RESOLVE_BENEATH``
and ``RESOLVE_NO_SYMLINKS``, which Python has no name for.

Hard links are ordinary files to any of this: what is linked into the folder is in it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

_FOLDER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
# Opening a FIFO must not wait for its other end.
_FILE = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
_POSIX = hasattr(os, "O_NOFOLLOW") and os.open in os.supports_dir_fd


@dataclass(frozen=True)
class Root:
    """A folder, with its own links resolved once and for all.

    Every path that a method takes is relative to it and is written with ``/``. Errors give
    that path, never where the folder lies on the host.

    Attributes:
        path: Where it lies on the host, absolute.
    """

    path: str

    @classmethod
    def at(cls, folder: Any) -> Root:
        """The root at an existing folder.

        Args:
            folder: Path of it, or a Root.

        Raises:
            ValueError: There is no such folder, or the system can't keep to a root.
        """
        if isinstance(folder, cls):
            return folder
        if not _POSIX:
            raise ValueError("can't be used: file gates need a POSIX system")
        if not isinstance(folder, str | os.PathLike) or not os.path.isdir(folder):
            raise ValueError("must be an existing folder")
        return cls(os.path.realpath(os.fspath(folder)))

    @contextmanager
    def folder(self, path: str) -> Iterator[int]:
        """A file descriptor of a folder beneath, ``.`` for the root itself.

        Raises:
            ValueError: The path leaves the root or is malformed.
            OSError: It isn't there, isn't a folder, or has a link in it.
        """
        descriptor = self._descend(_parts(path))
        try:
            yield descriptor
        finally:
            os.close(descriptor)

    @contextmanager
    def place(self, path: str) -> Iterator[tuple[int, str]]:
        """The folder that holds ``path``, as a file descriptor, and the path's last name.

        Raises:
            ValueError: The path leaves the root or is malformed.
            OSError: The folder isn't there or has a link in its path; or path is the root.
        """
        *above, name = _parts(path) or [""]
        if not name:
            raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
        with self.folder("/".join(above) or ".") as descriptor:
            yield descriptor, name

    def open(self, path: str) -> int:
        """Open a regular file for reading.

        Returns:
            Its file descriptor, which is the caller's to close.

        Raises:
            ValueError: The path leaves the root or is malformed.
            OSError: It isn't there, isn't a regular file, or has a link in it.
        """
        with self.place(path) as (folder, name):
            # Looked at before it is opened, for opening some devices does something.
            if regular(folder, name, path) is None:
                raise FileNotFoundError(errno.ENOENT, os.strerror(errno.ENOENT), path)
            try:
                descriptor = os.open(name, _FILE, dir_fd=folder)
            except OSError as error:
                raise _relative(error, folder, name, path) from None
        try:
            _check_regular(os.fstat(descriptor), path)
        except OSError:
            os.close(descriptor)
            raise
        return descriptor

    def _descend(self, parts: list[str]) -> int:
        try:
            descriptor = os.open(self.path, _FOLDER)
        except OSError as error:
            raise OSError(error.errno, "the gate's root can't be opened", ".") from None
        for index, part in enumerate(parts):
            folder = descriptor
            try:
                descriptor = os.open(part, _FOLDER, dir_fd=folder)
            except OSError as error:
                shown = "/".join(parts[: index + 1])
                raise _relative(error, folder, part, shown) from None
            finally:
                os.close(folder)
        return descriptor


def regular(folder: int, name: str, path: str) -> os.stat_result | None:
    """What is known of a regular file; None when nothing goes by that name.

    Args:
        folder: File descriptor of the folder it is in.
        name: Its name there.
        path: Its path, for the errors.

    Raises:
        OSError: The name is a folder's, a link's, or another thing's than a file's.
    """
    try:
        status = os.stat(name, dir_fd=folder, follow_symlinks=False)
    except FileNotFoundError:
        return None
    except OSError as error:
        raise OSError(error.errno, os.strerror(error.errno or 0), path) from None
    _check_regular(status, path)
    return status


def _check_regular(status: os.stat_result, path: str) -> None:
    if stat.S_ISDIR(status.st_mode):
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), path)
    if stat.S_ISLNK(status.st_mode):
        raise _linked(path)
    if not stat.S_ISREG(status.st_mode):
        raise PermissionError(errno.EACCES, "Not a regular file", path)


def _linked(path: str) -> PermissionError:
    return PermissionError(errno.EACCES, "Symbolic links are not followed", path)


def _relative(error: OSError, folder: int, name: str, path: str) -> OSError:
    """The error with a path beneath the root; one about a link says that it is about one."""
    try:
        linked = stat.S_ISLNK(os.stat(name, dir_fd=folder, follow_symlinks=False).st_mode)
    except OSError:
        linked = False
    return _linked(path) if linked else OSError(error.errno, os.strerror(error.errno or 0), path)


def _parts(path: str) -> list[str]:
    """The components of a path; none for the root itself."""
    if path == ".":
        return []
    if "\0" in path:
        raise ValueError(f"the path {path!r} holds a NUL character")
    if path.startswith("/"):
        raise ValueError(f"the path {path!r} is absolute; give it relative to the root")
    parts = path.split("/")
    if ".." in parts:
        raise ValueError(f"the path {path!r} goes up with '..'; stay beneath the root")
    if "" in parts:
        raise ValueError(f"the path {path!r} has an empty component; the root itself is '.'")
    try:
        os.fsencode(path)
    except UnicodeEncodeError:
        raise ValueError(f"the path {path!r} can't be the name of a file") from None
    return [part for part in parts if part != "."]
