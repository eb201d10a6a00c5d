"""Logging, to the turn's output: loggers, handlers and filters as in the standard library.

Ours, for the standard library's hands out the runner's frames and files, and a format in
``{`` style reads attributes by its text.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Mapping
from types import FrameType
from typing import Any

from .. import guards
from ..symbols import TURN
from .log_handlers import (
    Filter,
    Filterer,
    Handler,
    LastResort,
    NullHandler,
    StreamHandler,
)
from .log_records import (
    BASIC_FORMATS,
    CRITICAL,
    DEBUG,
    ERROR,
    INFO,
    NOTSET,
    WARNING,
    Formatter,
    LogRecord,
    add_level_name,
    error_info,
    level_name,
    level_names_mapping,
    level_number,
    make_log_record,
    set_variable,
    variables,
)
from .traces import format_stack


class _Levels:
    """A method for each level; what they come to is ``_log``."""

    def _log(self, level: int, msg: Any, args: Any, **options: Any) -> None:
        raise NotImplementedError

    def debug(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log for finding faults."""
        self._log(DEBUG, msg, args, **kwargs)

    def info(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log what goes as it should."""
        self._log(INFO, msg, args, **kwargs)

    def warning(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log what may be a fault."""
        self._log(WARNING, msg, args, **kwargs)

    warn = warning

    def error(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log a fault."""
        self._log(ERROR, msg, args, **kwargs)

    def exception(self, msg: Any, *args: Any, exc_info: Any = True, **kwargs: Any) -> None:
        """Log a fault with the error that is being handled."""
        self._log(ERROR, msg, args, exc_info=exc_info, **kwargs)

    def critical(self, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log what nothing can go on after."""
        self._log(CRITICAL, msg, args, **kwargs)

    fatal = critical

    def log(self, level: int, msg: Any, *args: Any, **kwargs: Any) -> None:
        """Log with a level of any number."""
        if not isinstance(level, int):
            raise TypeError("level must be an integer")
        self._log(level, msg, args, **kwargs)


class Logger(_Levels, Filterer):
    """Takes messages by level, and hands them to its handlers and those above it."""

    def __init__(self, name: str, level: int | str = NOTSET) -> None:
        super().__init__()
        self.name = name
        self.level = level_number(level)
        self.parent: Any = None
        self.propagate = True
        self.handlers: list[Any] = []
        self.disabled = False

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        """Pass over messages below a level."""
        self.level = level_number(level)

    def getEffectiveLevel(self) -> int:  # noqa: N802
        """The logger's level; where it has none, that of the next above it that has."""
        logger = self
        while logger is not None:
            if logger.level:
                return logger.level
            logger = logger.parent
        return NOTSET

    def isEnabledFor(self, level: int) -> bool:  # noqa: N802
        """Whether a message of that level would be handled."""
        if self.disabled or level <= _STATE.disabled:
            return False
        return level >= self.getEffectiveLevel()

    def getChild(self, suffix: str) -> Logger:  # noqa: N802
        """The logger of that name below this one."""
        return getLogger(suffix if self is root else f"{self.name}.{suffix}")

    def getChildren(self) -> set[Logger]:  # noqa: N802
        """The loggers right below this one."""
        return {logger for logger in _STATE.loggers.values() if logger.parent is self}

    def addHandler(self, hdlr: Any) -> None:  # noqa: N802
        """Have a handler take this logger's messages, and those of loggers below it."""
        if hdlr not in self.handlers:
            self.handlers.append(hdlr)

    def removeHandler(self, hdlr: Any) -> None:  # noqa: N802
        """Remove a handler."""
        if hdlr in self.handlers:
            self.handlers.remove(hdlr)

    def hasHandlers(self) -> bool:  # noqa: N802
        """Whether a handler would take this logger's messages."""
        return any(logger.handlers for logger in self._upward())

    def _log(  # type: ignore[override]
        self,
        level: int,
        msg: Any,
        args: Any,
        exc_info: Any = None,
        extra: Mapping[str, Any] | None = None,
        stack_info: bool = False,
        stacklevel: int = 1,
    ) -> None:
        if not self.isEnabledFor(level):
            return
        name, line, function = _caller(stacklevel)
        calls = "Stack (most recent call last):\n" + "".join(format_stack()) if stack_info else ""
        record = LogRecord(
            self.name,
            level,
            name,
            line,
            msg,
            args,
            error_info(exc_info),
            function,
            calls.removesuffix("\n") or None,
        )
        for key, value in (extra or {}).items():
            if key in ("message", "asctime") or key in variables(record):
                raise KeyError(f"Attempt to overwrite {key!r} in LogRecord")
            set_variable(record, key, value)
        self.handle(record)

    def handle(self, record: LogRecord) -> None:
        """Call the handlers if the filters let the record pass."""
        passed = not self.disabled and self.filter(record)
        if passed:
            self.callHandlers(passed)

    def callHandlers(self, record: LogRecord) -> None:  # noqa: N802
        """Hand the record to this logger's handlers and to those above it."""
        found = False
        for logger in self._upward():
            for handler in logger.handlers:
                found = True
                if record.levelno >= handler.level:
                    handler.handle(record)
        if not found and record.levelno >= last_resort.level:
            last_resort.handle(record)

    def _upward(self) -> Iterable[Logger]:
        logger: Logger | None = self
        while logger is not None:
            yield logger
            logger = logger.parent if logger.propagate else None

    def __repr__(self) -> str:
        level = level_name(self.getEffectiveLevel())
        return f"<{type(self).__name__} {self.name} ({level})>"


class RootLogger(Logger):
    """The logger above all others."""


class LoggerAdapter(_Levels):
    """A logger whose messages all get something added.

    Args:
        logger: The logger.
        extra: Attributes of the records.
        merge_extra: Whether a message's own ``extra`` is kept beside it.
    """

    def __init__(
        self, logger: Any, extra: Mapping[str, Any] | None = None, merge_extra: bool = False
    ) -> None:
        self.logger = logger
        self.extra = extra
        self.merge_extra = merge_extra

    @property
    def name(self) -> Any:
        """The logger's name."""
        return self.logger.name

    def process(self, msg: Any, kwargs: Any) -> tuple[Any, Any]:
        """The message and the options that are really logged."""
        more = kwargs.get("extra") if self.merge_extra else None
        kwargs["extra"] = {**(self.extra or {}), **more} if more else self.extra
        return msg, kwargs

    def _log(self, level: int, msg: Any, args: Any, **options: Any) -> None:
        if self.isEnabledFor(level):
            msg, options = self.process(msg, options)
            self.logger.log(level, msg, *args, **options)

    def isEnabledFor(self, level: int) -> Any:  # noqa: N802
        """Whether a message of that level would be handled."""
        return self.logger.isEnabledFor(level)

    def setLevel(self, level: int | str) -> None:  # noqa: N802
        """Set the logger's level."""
        self.logger.setLevel(level)

    def getEffectiveLevel(self) -> Any:  # noqa: N802
        """The logger's level, or that of the next above it that has one."""
        return self.logger.getEffectiveLevel()

    def hasHandlers(self) -> Any:  # noqa: N802
        """Whether a handler would take the messages."""
        return self.logger.hasHandlers()


class _State:
    """What all loggers share."""

    def __init__(self) -> None:
        self.disabled = NOTSET
        self.loggers: dict[str, Logger] = {}


_STATE = _State()
root = RootLogger("root", WARNING)
last_resort = LastResort()


def getLogger(name: str | None = None) -> Logger:  # noqa: N802
    """The logger of that name, the same each time; without a name, the one above all.

    Raises:
        TypeError: The name is no text.
    """
    if not name or name == root.name:
        return root
    if not isinstance(name, str):
        raise TypeError("A logger name must be a string")
    found = _STATE.loggers.get(name)
    if found is None:
        found = _STATE.loggers[name] = Logger(name)
        found.parent = _nearest_above(name)
        for other in _STATE.loggers.values():
            if other.name.startswith(f"{name}.") and other.parent is found.parent:
                other.parent = found
    return found


def _nearest_above(name: str) -> Logger:
    while "." in name:
        name = name.rpartition(".")[0]
        if name in _STATE.loggers:
            return _STATE.loggers[name]
    return root


def _caller(level: int) -> tuple[str, int, str]:
    """The file, line and function of the program that logs; ``level`` goes on outward."""
    frame: FrameType | None = sys._getframe(1)
    found = "(unknown file)", 0, "(unknown function)"
    while frame is not None and level > 0:
        code = frame.f_code
        if code.co_filename.startswith(TURN):
            found = code.co_filename, frame.f_lineno, code.co_name
            level -= 1
        frame = frame.f_back
    return found


def basicConfig(  # noqa: N802
    *,
    force: bool = False,
    format: str | None = None,  # noqa: A002
    datefmt: str | None = None,
    style: str = "%",
    level: int | str | None = None,
    stream: Any = None,
    handlers: Iterable[Any] | None = None,
    filename: Any = None,
    filemode: str = "a",  # noqa: ARG001 - of the file that there is not
    encoding: str | None = None,  # noqa: ARG001
    errors: str | None = None,  # noqa: ARG001
    **others: Any,
) -> None:
    """Have the root logger write to standard error, unless it has handlers already.

    Raises:
        ValueError: An option is unknown, names a file, or goes not with another.
    """
    if force:
        root.handlers.clear()
    if root.handlers:
        return
    if filename is not None:
        raise ValueError("filename: there are no files here; without it, what is logged is printed")
    if others:
        raise ValueError(f"Unrecognised argument(s): {', '.join(others)}")
    if stream is not None and handlers is not None:
        raise ValueError("'stream' should not be specified together with 'handlers'")
    if style not in BASIC_FORMATS:
        raise ValueError(f"Style must be one of: {','.join(BASIC_FORMATS)}")
    formatter = Formatter(format or BASIC_FORMATS[style], datefmt, style)
    for handler in [StreamHandler(stream)] if handlers is None else list(handlers):
        if handler.formatter is None:
            handler.setFormatter(formatter)
        root.addHandler(handler)
    if level is not None:
        root.setLevel(level)


def disable(level: int | str = CRITICAL) -> None:
    """Pass over all messages up to a level."""
    _STATE.disabled = level_number(level)


def shutdown() -> None:
    """Nothing waits to be written."""


def _at_root(method: str) -> Callable[..., None]:
    log = getattr(root, method)

    def at_root(*args: Any, **kwargs: Any) -> None:
        if not root.handlers:
            basicConfig()
        log(*args, **kwargs)

    at_root.__name__ = at_root.__qualname__ = method
    at_root.__doc__ = log.__doc__
    return at_root


def mend() -> dict[str, Any]:
    """All of ``logging`` is ours."""
    guards.admit(Formatter.format, Handler.format)
    names: dict[str, Any] = {
        **level_names_mapping(),
        "BASIC_FORMAT": BASIC_FORMATS["%"],
        "addLevelName": add_level_name,
        "getLevelName": level_name,
        "getLevelNamesMapping": level_names_mapping,
        "makeLogRecord": make_log_record,
        "lastResort": last_resort,
        "root": root,
    }
    shown: tuple[Any, ...] = (
        *(Filter, Filterer, Handler, StreamHandler, NullHandler, LogRecord, Formatter),
        *(Logger, RootLogger, LoggerAdapter, getLogger, basicConfig, disable, shutdown),
    )
    for one in shown:
        one.__module__ = "logging"
        names[one.__name__] = one
    for method in (*("debug", "info", "warning", "warn", "error", "exception"), "critical", "log"):
        names[method] = _at_root(method)
    names["fatal"] = names["critical"]
    return {f"logging.{name}": value for name, value in names.items()}
