"""Clocks: all that tells a program the time reads it from its world, where reads are noted.

What replaces a function of C is a bound method, as C's function is no method of a class that a
program keeps it in.
"""

from __future__ import annotations

import gzip
import sched
import sys
import time
import warnings
from collections.abc import Callable
from datetime import UTC, date, datetime
from types import MethodType
from typing import Any

from .. import classes
from ..world import WORLD, Clock

_WALL = WORLD.clocks["time"]
_FROM_TIMESTAMP = vars(datetime)["fromtimestamp"]
_BY_NUMBER = {
    getattr(time, number): WORLD.clocks[name]
    for number, name in (
        ("CLOCK_REALTIME", "time"),
        ("CLOCK_MONOTONIC", "monotonic"),
        ("CLOCK_PROCESS_CPUTIME_ID", "process_time"),
        ("CLOCK_THREAD_CPUTIME_ID", "thread_time"),
    )
    if hasattr(time, number)
}
_UTCNOW = (
    "datetime.datetime.utcnow() is deprecated and scheduled for removal in a future version. Use "
    "timezone-aware objects to represent datetimes in UTC: datetime.datetime.now(datetime.UTC)."
)


def mend() -> dict[str, Any]:
    """The functions of ``time``; ``datetime`` and ``sched`` are mended in place.

    ``gzip.compress`` writes the time into what it makes.
    """
    classes.put(date, "today", classmethod(_today))
    classes.put(datetime, "now", classmethod(_now))
    classes.put(datetime, "utcnow", classmethod(_utcnow))
    sched.scheduler.__init__.__defaults__ = (WORLD.clocks["monotonic"].reader(), time.sleep)
    ours: dict[str, Any] = {name: clock.reader() for name, clock in WORLD.clocks.items()}
    ours.update(localtime=localtime, gmtime=_of_now(time.gmtime), ctime=_of_now(time.ctime))
    for function in (_asctime, _strftime, _clock_gettime, _clock_gettime_ns):
        ours[function.__name__[1:]] = MethodType(function, _WALL)
    kept = {f"time.{name}": value for name, value in ours.items() if hasattr(time, name)}
    return {**kept, "gzip.compress": _compress}


def _of_now(real: Callable[[float], Any]) -> Callable[..., Any]:
    """A function of a moment, by default the present one."""

    def function(wall: Clock, seconds: float | None = None, /) -> Any:
        return real(wall.read() if seconds is None else seconds)

    return MethodType(function, _WALL)


localtime = _of_now(time.localtime)


def _asctime(wall: Clock, *moment: Any) -> str:
    return time.asctime(*(moment or (time.localtime(wall.read()),)))


def _strftime(wall: Clock, format: str, /, *moment: Any) -> str:  # noqa: A002
    return time.strftime(format, *(moment or (time.localtime(wall.read()),)))


def _clock_gettime(_: Clock, clk_id: int, /) -> float:
    return _by_number(clk_id).read()


def _clock_gettime_ns(_: Clock, clk_id: int, /) -> float:
    return WORLD.clocks[f"{_by_number(clk_id).name}_ns"].read()


def _by_number(number: Any) -> Clock:
    if type(number) is not int or number not in _BY_NUMBER:
        raise ValueError("there is no such clock here; use one of those that time names CLOCK_...")
    return _BY_NUMBER[number]


# -- dates -----------------------------------------------------------------------------------


def _today(cls: Any) -> Any:
    """The current date, or date and time."""
    return cls.fromtimestamp(_WALL.read())


def _now(cls: Any, tz: Any = None) -> Any:
    """The current date and time."""
    return _FROM_TIMESTAMP.__get__(None, cls)(_WALL.read(), tz)


def _utcnow(cls: Any) -> Any:
    """The current date and time in UTC, without a zone."""
    if sys.version_info >= (3, 12):
        warnings.warn(_UTCNOW, DeprecationWarning, stacklevel=2)
    return _now(cls, UTC).replace(tzinfo=None)


for _function in (_today, _now, _utcnow):
    _function.__name__ = _function.__qualname__ = _function.__name__[1:]


# -- what is made with the time in it --------------------------------------------------------


def _compress(data: Any, compresslevel: int = 9, *, mtime: float | None = None) -> bytes:
    """Compress data; the time in the result is the present one, if none is given."""
    return gzip.compress(data, compresslevel, mtime=_WALL.read() if mtime is None else mtime)
