"""Standard streams: a program's output is its turn's, and there is no input."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable
from contextlib import AbstractContextManager
from typing import Any, NoReturn

from ..preview import without_addresses
from .facade import Live

NOBODY = "nobody is there to answer; work with what you have, or ask through a gate"


class Stream:
    """A stream of text that ends in the turn's output.

    Args:
        name: ``<stdout>`` or ``<stderr>``.
        put: Takes what is written.
    """

    __slots__ = ("_name", "_put")
    mode = "w"
    encoding = "utf-8"
    errors = "backslashreplace"
    newlines = None
    closed = False
    line_buffering = True

    def __init__(self, name: str, put: Callable[[str], None]) -> None:
        self._name = name
        self._put = put

    @property
    def name(self) -> str:
        """What the stream is called."""
        return self._name

    def write(self, text: str) -> int:
        """Write a text; returns its length in characters.

        Raises:
            TypeError: It is no text.
        """
        if not isinstance(text, str):
            raise TypeError(f"write() argument must be str, not {type(text).__name__}")
        plain = str.__str__(text)  # a subclass's own methods must not run in the runner
        self._put(without_addresses(plain))
        return len(plain)

    def writelines(self, lines: Iterable[str]) -> None:
        """Write texts one after the other."""
        for line in lines:
            self.write(line)

    def flush(self) -> None:
        """Nothing waits here."""

    def reconfigure(self, **_: Any) -> None:
        """Nothing depends on a stream's settings here."""

    def isatty(self) -> bool:
        """No terminal."""
        return False

    def readable(self) -> bool:
        """No."""
        return False

    def writable(self) -> bool:
        """Yes."""
        return True

    def seekable(self) -> bool:
        """No."""
        return False

    def fileno(self) -> NoReturn:
        """No file stands behind it.

        Raises:
            io.UnsupportedOperation: Always.
        """
        raise io.UnsupportedOperation("fileno: no file stands behind this stream")

    def __repr__(self) -> str:
        return f"<stream {self.name!r}>"


class _Input:
    """Standard input, where nobody is: every way to read is an error that says so."""

    __slots__ = ()
    name = "<stdin>"
    mode = "r"
    encoding = "utf-8"
    closed = False

    def read(self, *_: Any) -> NoReturn:
        """There is nothing.

        Raises:
            io.UnsupportedOperation: Always.
        """
        raise io.UnsupportedOperation(f"sys.stdin: {NOBODY}")

    readline = readlines = __iter__ = __next__ = read

    def __repr__(self) -> str:
        return f"<stream {self.name!r}>"

    def isatty(self) -> bool:
        """No terminal."""
        return False

    def readable(self) -> bool:
        """No."""
        return False


class _Place:
    """What one standard stream is now: its own, or what it was turned to.

    Attributes:
        target: An object with ``write``, or ``readline``; None for nowhere.
    """

    __slots__ = ("name", "own", "target")

    def __init__(self, name: str, own: Any) -> None:
        self.name = name
        self.own: Any = own
        self.target: Any = own

    def connect(self, put: Callable[[str], None]) -> None:
        self.own = self.target = Stream(self.name, put)

    def turn_to(self, target: Any) -> None:
        self.target = target

    def live(self) -> Live:
        return Live(lambda: self.target, self.turn_to)


def _nowhere(_: str) -> None:
    """Before there is a turn, nothing is written."""


OUT = _Place("<stdout>", Stream("<stdout>", _nowhere))
ERR = _Place("<stderr>", Stream("<stderr>", _nowhere))
IN = _Place("<stdin>", _Input())


def connect(put: Callable[[str], None]) -> None:
    """Hand on what a program writes to ``put``."""
    OUT.connect(put)
    ERR.connect(put)


def take_over() -> None:
    """Have what the standard library prints in this process go where the program's output goes.

    What Python would say of errors that it can't raise is dropped: it names the runner's files.
    """
    sys.stdin, sys.stdout, sys.stderr = IN.own, _Relay(OUT), _Relay(ERR)
    sys.unraisablehook = lambda _: None


def show(
    *values: Any,
    sep: str | None = " ",
    end: str | None = "\n",
    file: Any = None,
    flush: bool = False,
) -> None:
    """``print``: to the turn's output, or to what standard output was turned to.

    Raises:
        TypeError: ``sep`` or ``end`` is no text.
    """
    for name, text in (("sep", sep), ("end", end)):
        if text is not None and not isinstance(text, str):
            raise TypeError(f"{name} must be None or a string, not {type(text).__name__}")
    separator = " " if sep is None else str.__str__(sep)
    ending = "\n" if end is None else str.__str__(end)
    target = OUT.target if file is None else file
    if target is None:
        return
    if type(target) is Stream:
        target.write(separator.join([str(value) for value in values]) + ending)
        return
    for index, value in enumerate(values):
        if index:
            target.write(separator)
        target.write(str(value))
    target.write(ending)
    if flush:
        target.flush()


def read_line(prompt: Any = "", /) -> str:
    """``input``: a line of what ``sys.stdin`` was turned to.

    Raises:
        EOFError: There is no line left, or it was turned to nothing.
    """
    if IN.target is IN.own:
        raise EOFError(f"input() is not available: {NOBODY}")
    show(prompt, end="")
    line: str = IN.target.readline()
    if not line:
        raise EOFError("EOF when reading a line")
    return line.removesuffix("\n")


read_line.__name__ = read_line.__qualname__ = "input"
show.__name__ = show.__qualname__ = "print"


def mend() -> dict[str, Any]:
    """The streams of ``sys``, and the contexts that turn them elsewhere.

    The standard library's set an attribute of ``sys`` that a subclass could name.
    """
    return {
        "sys.stdin": IN.live(),
        "sys.stdout": OUT.live(),
        "sys.stderr": ERR.live(),
        "contextlib.redirect_stdout": redirect_stdout,
        "contextlib.redirect_stderr": redirect_stderr,
    }


def restore() -> list[Any]:
    """Give a new turn its streams back; gives what an earlier one has turned them to."""
    places = (OUT, ERR, IN)
    left = [place.target for place in places]
    for place in places:
        place.turn_to(place.own)
    return left


class _Redirect(AbstractContextManager[Any]):
    """Turns one kind of output to another target while the block runs; can be entered again."""

    _place: _Place  # of the class: a program that inherits from it can't read it

    def __init__(self, new_target: Any) -> None:
        self._new_target = new_target
        self._before: list[Any] = []

    def __enter__(self) -> Any:
        self._before.append(self._place.target)
        self._place.turn_to(self._new_target)
        return self._new_target

    def __exit__(self, *_: object) -> None:
        self._place.turn_to(self._before.pop())


class redirect_stdout(_Redirect):  # noqa: N801 - the standard library's name
    """Turn standard output to another stream while the block runs."""

    __module__ = "contextlib"
    _place = OUT


class redirect_stderr(_Redirect):  # noqa: N801 - the standard library's name
    """Turn standard error to another stream while the block runs."""

    __module__ = "contextlib"
    _place = ERR


class _Relay(Stream):
    """A stream that follows where output of its kind goes: for the standard library's prints."""

    __slots__ = ()

    def __init__(self, place: _Place) -> None:
        super().__init__(place.name, lambda text: place.target and place.target.write(text))
