"""Tables as text: ``csv``, whose C code crashes when a reader is asked while it asks itself."""

from __future__ import annotations

import csv
from collections.abc import Iterable
from typing import Any


def mend() -> dict[str, Any]:
    """``reader`` is mended in place, for ``DictReader`` and ``Sniffer`` use it."""
    make = csv.reader

    def reader(csvfile: Iterable[str], /, dialect: Any = "excel", **options: Any) -> Reader:
        made = Reader.__new__(Reader)  # not by a call, which a program could make as well
        made._rows, made._busy = make(csvfile, dialect, **options), False
        return made

    reader.__qualname__ = "reader"
    csv.reader = reader  # type: ignore[assignment]
    return {}


class Reader:
    """The rows of a text, one at a time.

    Attributes:
        dialect: How the text is read.
        line_num: Lines read so far.
    """

    __slots__ = ("_busy", "_rows")
    _busy: bool
    _rows: Any

    def __init__(self, *_: Any, **__: Any) -> None:
        raise TypeError("a reader is made by csv.reader()")

    @property
    def dialect(self) -> Any:
        """How the text is read."""
        return self._rows.dialect

    @property
    def line_num(self) -> int:
        """Lines read so far."""
        count: int = self._rows.line_num
        return count

    def __iter__(self) -> Reader:
        return self

    def __next__(self) -> list[Any]:
        if self._busy:
            raise ValueError("the reader is reading already")
        self._busy = True
        try:
            row: list[Any] = next(self._rows)
            return row
        finally:
            self._busy = False


Reader.__name__ = Reader.__qualname__ = "reader"
