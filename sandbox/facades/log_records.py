"""What is logged: levels, records, and how a record is made a text."""

from __future__ import annotations

import re
import string
import sys
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Any

from .. import guards
from ..names import is_special
from ..world import WORLD
from .clocks import localtime
from .traces import format_exception

CRITICAL, ERROR, WARNING, INFO, DEBUG, NOTSET = 50, 40, 30, 20, 10, 0
BASIC_FORMATS = {
    "%": "%(levelname)s:%(name)s:%(message)s",
    "{": "{levelname}:{name}:{message}",
    "$": "${levelname}:${name}:${message}",
}
"""How ``basicConfig`` writes records, by style."""
_PLAIN_FORMATS = {"%": "%(message)s", "{": "{message}", "$": "${message}"}
_CONVERSION = re.compile(r"%\(\w+\)[^a-z%]*[a-z%]", re.IGNORECASE)
_began: list[float] = []  # when the first record came up
_NO_ERROR = (None, None, None)

ErrorInfo = tuple[type[BaseException], BaseException, TracebackType | None]


# -- levels ----------------------------------------------------------------------------------

_numbers = {
    "CRITICAL": CRITICAL,
    "FATAL": CRITICAL,
    "ERROR": ERROR,
    "WARNING": WARNING,
    "WARN": WARNING,
    "INFO": INFO,
    "DEBUG": DEBUG,
    "NOTSET": NOTSET,
}
_names = {number: name for name, number in _numbers.items() if name not in ("FATAL", "WARN")}


def level_number(level: Any) -> int:
    """A level given as a number or by its name.

    Raises:
        ValueError: There is none of that name.
        TypeError: It is neither.
    """
    if isinstance(level, int):
        return level
    if not isinstance(level, str):
        raise TypeError(f"Level not an integer or a valid string: {level!r}")
    if level not in _numbers:
        raise ValueError(f"Unknown level: {level!r}")
    return _numbers[level]


def level_name(level: Any) -> Any:
    """The name of a level's number; of a name, the number."""
    return _names.get(level) or _numbers.get(level, f"Level {level}")


def add_level_name(level: int, levelName: str) -> None:  # noqa: N803
    """Name a level."""
    _names[level] = levelName
    _numbers[levelName] = level


def level_names_mapping() -> dict[str, int]:
    """The numbers of the levels by name, as a copy."""
    return dict(_numbers)


# -- records ---------------------------------------------------------------------------------


class LogRecord:
    """One message with all that is known of it."""

    def __init__(
        self,
        name: Any,
        level: Any,
        pathname: str,
        lineno: int,
        msg: Any,
        args: Any,
        exc_info: Any,
        func: str | None = None,
        sinfo: str | None = None,
    ) -> None:
        now = WORLD.clocks["time"].read()
        if not _began:
            _began.append(now)
        if args and len(args) == 1 and isinstance(args[0], Mapping) and args[0]:
            args = args[0]  # the texts are looked up in it by name
        self.name = name
        self.msg = msg
        self.args = args
        self.levelname = level_name(level)
        self.levelno = level
        self.pathname = self.filename = pathname
        self.module = pathname
        self.lineno = lineno
        self.funcName = func
        self.exc_info = exc_info
        self.exc_text: str | None = None
        self.stack_info = sinfo
        self.created = now
        self.msecs = float(int(now % 1 * 1000))
        self.relativeCreated = (now - _began[0]) * 1000
        # There is one thread in one process, and their numbers are the host's affair.
        self.thread = self.process = 1
        self.threadName = "MainThread"
        self.processName = "MainProcess"
        self.taskName = _task_name()

    def getMessage(self) -> str:  # noqa: N802
        """The message with its arguments put in."""
        text = str(self.msg)
        return text % self.args if self.args else text

    def __repr__(self) -> str:
        where = f"{self.pathname}, {self.lineno}"
        return f'<LogRecord: {self.name}, {self.levelno}, {where}, "{self.msg}">'


def make_log_record(dict: Mapping[str, Any]) -> LogRecord:  # noqa: A002
    """A record that has the attributes of a mapping."""
    record = LogRecord(None, None, "", 0, "", (), None)
    for name in dict:
        set_variable(record, name, dict[name])
    return record


def variables(record: Any) -> dict[str, Any]:
    """A record's attributes.

    Raises:
        TypeError: It is no record, and its attributes are nobody's to read here.
    """
    if LogRecord not in type.mro(type(record)):
        raise TypeError(f"expected a LogRecord, not {type(record).__name__!r}")
    kept: dict[str, Any] = vars(record)
    return kept


def set_variable(record: Any, name: Any, value: Any) -> None:
    """Give a record an attribute.

    Raises:
        KeyError: It can't have one of that name.
    """
    if type(name) is not str or is_special(name):
        raise KeyError(f"a LogRecord can't have an attribute {name!r}")
    variables(record)[name] = value


def error_info(exc_info: Any) -> Any:
    """What ``exc_info=`` means: an error, true for the one that is handled, or a triple."""
    if isinstance(exc_info, BaseException):
        return type(exc_info), exc_info, exc_info.__traceback__
    if exc_info and not isinstance(exc_info, tuple):
        return sys.exc_info()
    return exc_info


def _task_name() -> str | None:
    from asyncio import current_task  # here, for asyncio is loaded in a way of its own

    try:
        task = current_task()
    except RuntimeError:
        return None
    return task.get_name() if task else None


# -- texts -----------------------------------------------------------------------------------


class Formatter:
    """Makes a record a text.

    Args:
        fmt: What the text looks like; the message alone by default.
        datefmt: How times look, as for ``time.strftime``.
        style: ``%``, ``{`` or ``$``: how ``fmt`` names a record's attributes.
        validate: Whether a ``fmt`` that names none is an error at once.
        defaults: Attributes that a record may lack.

    Raises:
        ValueError: The style is none, or ``fmt`` is not of it.
    """

    converter: Callable[..., time.struct_time] = localtime
    default_time_format = "%Y-%m-%d %H:%M:%S"
    default_msec_format = "%s,%03d"

    def __init__(
        self,
        fmt: str | None = None,
        datefmt: str | None = None,
        style: str = "%",
        validate: bool = True,
        *,
        defaults: Mapping[str, Any] | None = None,
    ) -> None:
        if style not in _PLAIN_FORMATS:
            raise ValueError(f"Style must be one of: {','.join(_PLAIN_FORMATS)}")
        self.datefmt = datefmt
        self._text = str.__str__(fmt or _PLAIN_FORMATS[style])
        self._style = style
        self._defaults = defaults or {}
        if validate and not _names_anything(self._text, style):
            raise ValueError(f"Invalid format {self._text!r} for {style!r} style")

    def usesTime(self) -> bool:  # noqa: N802
        """Whether the text shows when the record came up."""
        marks = {"%": ("%(asctime)",), "{": ("{asctime",), "$": ("$asctime", "${asctime}")}
        return any(mark in self._text for mark in marks[self._style])

    def formatTime(self, record: LogRecord, datefmt: str | None = None) -> str:  # noqa: N802
        """When the record came up."""
        moment = self.converter(record.created)
        if datefmt:
            return time.strftime(datefmt, moment)
        text = time.strftime(self.default_time_format, moment)
        return self.default_msec_format % (text, record.msecs) if self.default_msec_format else text

    def formatException(self, ei: Any) -> str:  # noqa: N802
        """An error with the program's own lines."""
        return "".join(format_exception(*ei)).removesuffix("\n")

    def formatStack(self, stack_info: str) -> str:  # noqa: N802
        """The calls that were under way."""
        return stack_info

    def formatMessage(self, record: LogRecord) -> str:  # noqa: N802
        """The record's attributes put into the format."""
        values = {**self._defaults, **variables(record)}
        try:
            if self._style == "%":
                return self._text % values
            if self._style == "$":
                return string.Template(self._text).substitute(values)
            text: str = guards.attribute(self._text, "format_map")(values)
        except KeyError as error:
            raise ValueError(f"Formatting field not found in record: {error}") from error
        return text

    def format(self, record: LogRecord) -> str:
        """The record as text, with its error and the calls that it carries."""
        record.message = record.getMessage()  # type: ignore[attr-defined]
        if self.usesTime():
            record.asctime = self.formatTime(record, self.datefmt)  # type: ignore[attr-defined]
        parts = [self.formatMessage(record)]
        if record.exc_info and not record.exc_text and record.exc_info != _NO_ERROR:
            record.exc_text = self.formatException(record.exc_info)
        if record.exc_text:
            parts.append(record.exc_text)
        if record.stack_info:
            parts.append(self.formatStack(record.stack_info))
        return "\n".join([*(part.removesuffix("\n") for part in parts[:-1]), parts[-1]])


def _names_anything(text: str, style: str) -> bool:
    if style == "%":
        return _CONVERSION.search(text) is not None
    if style == "$":
        return any(m["named"] or m["braced"] for m in string.Template.pattern.finditer(text))
    return any(field for _, field, _, _ in string.Formatter().parse(text))
