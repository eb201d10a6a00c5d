"""Large values of a run, each in a file that is named by its content."""

from __future__ import annotations

import os
import re
import tempfile
from pathlib import Path

from ..errors import LoomError
from .store import digest_of, no_blob

_DIGEST = re.compile(r"[0-9a-f]{64}")


class Blobs:
    """The blobs beneath a directory, as ``ab/abcdef...``; each appears whole or not at all.

    Args:
        directory: Where they are; made with the first blob.
        sync: Whether a blob is on the disk itself before ``put`` returns.
    """

    def __init__(self, directory: Path, *, sync: bool = False) -> None:
        self._directory = directory
        self._sync = sync

    def put(self, data: bytes) -> str:
        """Keep a blob, and give its SHA-256 in hex.

        Raises:
            LoomError: It can't be written.
        """
        digest = digest_of(data)
        path = self._path(digest)
        try:
            # What a power cut left of a blob is written anew.
            if not path.is_file() or path.read_bytes() != data:
                self._write(path, data)
        except OSError as error:
            raise LoomError(f"the blob {path} can't be written: {error.strerror}") from error
        return digest

    def get(self, digest: str) -> bytes:
        """The blob with this digest.

        Raises:
            LoomError: There is none, it can't be read, or it is damaged.
        """
        if not _DIGEST.fullmatch(digest):
            raise no_blob(digest)
        path = self._path(digest)
        try:
            data = path.read_bytes()
        except FileNotFoundError:
            raise no_blob(digest) from None
        except OSError as error:
            raise LoomError(f"the blob {path} can't be read: {error.strerror}") from error
        if digest_of(data) != digest:
            raise LoomError(f"the blob {path} is damaged: restore it from a copy")
        return data

    def _path(self, digest: str) -> Path:
        return self._directory / digest[:2] / digest

    def _write(self, path: Path, data: bytes) -> None:
        for directory in (self._directory, path.parent):
            directory.mkdir(mode=0o700, exist_ok=True)
        handle, temporary = tempfile.mkstemp(dir=path.parent, prefix=".new-")
        try:
            with os.fdopen(handle, "wb") as file:
                file.write(data)
                if self._sync:
                    file.flush()
                    os.fsync(file.fileno())
            os.replace(temporary, path)
        except BaseException:
            os.unlink(temporary)
            raise
        if self._sync:
            for directory in (path.parent, self._directory, self._directory.parent):
                sync_directory(directory)


def sync_directory(path: Path) -> None:
    """Bring the directory's own entries to the disk: a rename is safe only then."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
