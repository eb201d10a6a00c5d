"""Handlers and filters of what is logged."""

from __future__ import annotations

import sys
from typing import Any

from ..tracebacks import own_traceback
from .log_records import NOTSET, WARNING, Formatter, LogRecord, level_name, level_number
from .streams import ERR

_PLAIN = Formatter()


class Filter:
    """Lets records pass of a logger and of those below it.

    Args:
        name: The logger's name; empty for all.
    """

    def __init__(self, name: str = "") -> None:
        self.name = name

    def filter(self, record: LogRecord) -> Any:
        """Whether the record passes."""
        return not self.name or f"{record.name}.".startswith(f"{self.name}.")


class Filterer:
    """What has filters: loggers and handlers."""

    def __init__(self) -> None:
        self.filters: list[Any] = []

    def addFilter(self, filter: Any) -> None:  # noqa: A002, N802
        """Add a filter: an object with ``filter(record)``, or a function."""
        if filter not in self.filters:
            self.filters.append(filter)

    def removeFilter(self, filter: Any) -> None:  # noqa: A002, N802
        """Remove a filter."""
        if filter in self.filters:
            self.filters.remove(filter)

    def filter(self, record: LogRecord) -> Any:
        """The record, or what a filter made of it, if all let it pass; else something false."""
        for one in self.filters:
            answer = one.filter(record) if hasattr(one, "filter") else one(record)
            if not answer:
                return False
            if isinstance(answer, LogRecord):
                record = answer
        return record


class Handler(Filterer):
    """Does something with records. A base: ``emit`` is what differs."""

    def __init__(self, level: int | str = NOTSET) -> None:
        super().__init__()
        self.name: str | None = None
        self.level = level_number(level)
        self.formatter: Any = None

    def get_name(self) -> str | None:
        """The handler's name, or None."""
        return self.name

    def set_name(self, name: str | None) -> None:
        """Name the handler."""
        self.name = name

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        """Pass over records below a level."""
        self.level = level_number(level)

    def setFormatter(self, fmt: Any) -> None:  # noqa: N802
        """Have a formatter make the texts."""
        self.formatter = fmt

    def format(self, record: LogRecord) -> str:
        """The record as text."""
        text: str = (self.formatter or _PLAIN).format(record)
        return text

    def handle(self, record: LogRecord) -> Any:
        """Emit the record if the filters let it pass."""
        passed = self.filter(record)
        if passed:
            self.emit(passed)
        return passed

    def emit(self, record: LogRecord) -> None:
        """Do what the handler is for.

        Raises:
            NotImplementedError: The base does nothing.
        """
        raise NotImplementedError("emit must be implemented by Handler subclasses")

    def handleError(self, record: LogRecord) -> None:  # noqa: N802
        """Print to standard error why a record could not be emitted."""
        error = sys.exception()
        if error is not None and ERR.target is not None:
            ERR.target.write(f"--- Logging error ---\n{own_traceback(error)}\n")
            ERR.target.write(f"Message: {record.msg!r}\nArguments: {record.args}\n")

    def flush(self) -> None:
        """Nothing waits."""

    def close(self) -> None:
        """Nothing is open."""

    def acquire(self) -> None:
        """There is one thread, and nothing to lock."""

    release = createLock = acquire  # noqa: N815

    def __repr__(self) -> str:
        return f"<{type(self).__name__} ({level_name(self.level)})>"


class StreamHandler(Handler):
    """Writes records to a stream; to standard error where none is given."""

    terminator = "\n"

    def __init__(self, stream: Any = None) -> None:
        super().__init__()
        self.stream = ERR.target if stream is None else stream

    def setStream(self, stream: Any) -> Any:  # noqa: N802
        """Write to another stream; gives the one before, or None where it is the same."""
        if stream is self.stream:
            return None
        before, self.stream = self.stream, stream
        return before

    def flush(self) -> None:
        """Flush the stream."""
        if hasattr(self.stream, "flush"):
            self.stream.flush()

    def emit(self, record: LogRecord) -> None:
        """Write the record's text and a line end."""
        try:
            self.stream.write(self.format(record) + self.terminator)
            self.flush()
        except RecursionError:
            raise
        except Exception:
            self.handleError(record)


class NullHandler(Handler):
    """Does nothing."""

    def handle(self, record: LogRecord) -> None:
        """Do nothing."""

    emit = handle


class LastResort(StreamHandler):
    """Shows warnings where no handler was ever added."""

    def __init__(self) -> None:
        super().__init__()
        self.level = WARNING

    def emit(self, record: LogRecord) -> None:
        """Write the record to where standard error goes now."""
        self.stream = ERR.target
        super().emit(record)
