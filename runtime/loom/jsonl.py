"""The store on disk as lines of JSON: the reference format, for people and programs to read.

A run's directory holds ``loom.jsonl`` (see ``lines``), ``loom.lock`` and ``blobs/``. An export
that withholds nothing is such a file; the blobs that its lines bear are found there too.
"""

from __future__ import annotations

import os
from array import array
from collections.abc import Iterator
from io import FileIO
from pathlib import Path

from ..errors import LoomError
from . import tail
from .brief import Brief
from .disk import NOT_BEGUN, DiskStore
from .lines import Blob, head_line, read_brief, read_head, read_line, row_line
from .store import Row, digest_of, not_next

_BLOCK = 1 << 20
"""Bytes that are read at a time."""

_Span = tuple[int, int]
"""Where a line begins and ends in the file."""


class JSONLStore(DiskStore):
    """The records of one run's directory, a line each (see ``DiskStore``).

    A last line that is not whole was cut off as it was written: a reader leaves it out, a writer
    moves it to a file of its own (``loom.jsonl.torn-1``, or the next number) and says so.
    """

    NAME = "loom.jsonl"
    _opened: FileIO | None = None
    _fault: str | None = None

    def append(self, row: Row) -> None:
        """Keep a record, as durable as the store was asked to be."""
        with self._access(write=True):
            self._learn_all()
            if row.n != len(self._starts) + 1:
                raise not_next(len(self._starts) + 1, row.n)
            text = row_line(row).encode("ascii")
            self._write(text)
            self._starts.append(self._end)
            self._end += len(text)
            self._ends.append(self._end)

    def read(self, after: int = 0) -> Iterator[Row]:
        """The records above ``after``, those that a writer adds meanwhile included."""
        while True:
            with self._access():
                if after >= len(self._starts):
                    self._learn_all()
                if after >= len(self._starts):
                    return
                row = self._row(after + 1)
            yield row
            after += 1

    def scan(self, after: int = 0) -> Iterator[tuple[int, str, Brief]]:
        """What the index needs of the records above ``after``; most lines aren't parsed whole."""
        while True:
            with self._access():
                if after < len(self._starts):
                    row = self._row(after + 1)
                    found = [(row.n, row.kind, row.brief)]
                else:
                    found = self._learn()
            if not found:
                return
            known = after + 1 - found[0][0]
            if known >= 0:  # else another thread has taken in what is between
                yield from found[known:]
                after = max(after, found[-1][0])

    def get(self, digest: str) -> bytes:
        """The blob with this digest, from the line that bears it or from its file."""
        with self._access():
            self._learn_all()
            span = self._borne.get(digest)
            blob = None if span is None else self._taken(span)
        if blob is None:
            return super().get(digest)
        if not isinstance(blob, Blob) or digest_of(blob.data) != digest:
            raise LoomError(f"the blob {digest} in {self._path} is damaged: restore it from a copy")
        return blob.data

    def damage(self) -> Iterator[str]:
        """Lines that aren't as their records are written, and a last one that is not whole."""
        for n in range(1, len(self._starts) + 1):
            with self._access():
                span = (self._starts[n - 1], self._ends[n - 1])
                text = os.pread(self._file, span[1] - span[0], span[0])
            try:
                row = read_line(text)
            except LoomError:
                continue  # who reads it is told
            if isinstance(row, Row) and row_line(row).encode("ascii") != text:
                yield f"record {n} ({row.kind}): its line doesn't show what its bytes say"
        if self._is_at_rest() and os.fstat(self._file).st_size > self._end:
            yield "the last line is not whole: open the loom for writing to set it aside"

    @property
    def _file(self) -> int:
        assert self._opened is not None  # who has access has a file
        return self._opened.fileno()

    def _open(self) -> None:
        self._starts, self._ends = array("Q"), array("Q")
        self._borne: dict[str, _Span] = {}
        self._end = 0
        flags = os.O_RDONLY if self._read_only else os.O_RDWR | os.O_APPEND
        # A file object, so that a loom that was dropped without being closed is closed too.
        mode = "rb" if self._read_only else "r+b"
        self._opened = FileIO(os.open(self._path, flags), mode)
        if not self._read_only:
            self.torn = tail.set_aside(self._path, self._file)
            if os.fstat(self._file).st_size == 0:
                self._write(head_line().encode("ascii"))
        self._learn_head()

    def _shut(self) -> None:
        opened, self._opened = self._opened, None
        if opened is not None:
            opened.close()

    _forget = _shut  # a copied descriptor is the copy's own

    def _learn_head(self) -> None:
        head, end, _ = self._next_lines().partition(b"\n")
        if not head:
            raise LoomError(f"{self._path} {NOT_BEGUN}")
        if not end:
            raise LoomError(f"{self._path} is not a loom: choose another directory")
        try:
            read_head(head)
        except LoomError as error:
            raise LoomError(f"{self._path}: {error}") from None
        self._end = len(head) + 1

    def _learn_all(self) -> None:
        while self._learn():
            pass

    def _learn(self) -> list[tuple[int, str, Brief]]:
        """Take in the next lines of the file, and give what they tell; nothing at its end.

        Raises:
            LoomError: A line is damaged, or bears a record that is not the next one.
        """
        found: list[tuple[int, str, Brief]] = []
        starts, ends = self._starts, self._ends
        while not found and (lines := self._next_lines().decode("latin-1")):
            first, start = self._end, 0
            while start < len(lines):
                end = lines.index("\n", start) + 1
                try:
                    brief = read_brief(lines, start, end)
                except LoomError as error:
                    raise self._told_of(first + start, error) from None
                if type(brief) is Blob:
                    self._borne[brief.digest] = (first + start, first + end)
                elif brief[0] == len(starts) + 1:
                    starts.append(first + start)
                    ends.append(first + end)
                    found.append(brief)
                else:
                    missing = LoomError(f"record {len(starts) + 1} is missing before it")
                    raise self._told_of(first + start, missing)
                start = end
                self._end = first + end
        return found

    def _next_lines(self) -> bytes:
        """Some whole lines that haven't been seen; none where there are no more."""
        if os.fstat(self._file).st_size == self._end:
            return b""
        size = _BLOCK
        while True:
            block = os.pread(self._file, size, self._end)
            whole = block.rfind(b"\n") + 1
            if whole or len(block) < size:
                break
            size *= 2
        # Behind the end of the file nothing stands, so that the last lines may be cut off.
        if len(block) < size:
            whole = tail.whole_until(block, whole)
        return block[:whole]

    def _row(self, n: int) -> Row:
        row = self._taken((self._starts[n - 1], self._ends[n - 1]))
        if isinstance(row, Blob) or row.n != n:
            raise LoomError(f"{self._path} was changed while it was open: open it again")
        return row

    def _taken(self, span: _Span) -> Row | Blob:
        try:
            return read_line(os.pread(self._file, span[1] - span[0], span[0]))
        except LoomError as error:
            raise self._told_of(span[0], error) from None

    def _told_of(self, start: int, error: LoomError) -> LoomError:
        """What is said against the line that begins there, with its number."""
        number = 1 + sum(block.count(b"\n") for block in self._before(start))
        return LoomError(f"the loom is damaged: {self._path}, line {number}: {error}")

    def _before(self, end: int) -> Iterator[bytes]:
        for start in range(0, end, _BLOCK):
            yield os.pread(self._file, min(_BLOCK, end - start), start)

    def _write(self, text: bytes) -> None:
        """Write a line at the end of the file, or leave nothing of it."""
        if self._fault:
            raise LoomError(self._fault)
        try:
            written = 0
            while written < len(text):
                written += os.write(self._file, text[written:])
            if self._sync:
                os.fsync(self._file)
        except BaseException:
            try:
                os.ftruncate(self._file, self._end)
            except OSError as error:
                self._fault = f"{self._path} can't be mended: {error.strerror}; open it again"
            raise


class JSONLFile(JSONLStore):
    """One file of lines, such as an export, to be read; its blobs are in it or in ``blobs/``.

    Args:
        path: The file.

    Raises:
        LoomError: It is no loom, is redacted, or can't be opened.
    """

    def __init__(self, path: Path) -> None:
        self.NAME = path.name
        super().__init__(path.parent, read_only=True)
