"""The process that holds one namespace and runs its turns.

It answers frames, one at a time, until its socket closes. It trusts nothing that the program
left behind: reserved names are put back before each turn, and what runs the program's code,
its rendering included, runs under the deadline.
"""

from __future__ import annotations

import encodings
import gc
import importlib
import linecache
import os
import pkgutil
import random
import socket
import sys
import warnings
from collections.abc import Mapping
from contextlib import suppress
from typing import Any, NoReturn

from . import facades, guards, rlimits
from .compiling import compile_turn
from .deadline import Deadline, Finished, TurnTimeout
from .errors import CodecError
from .execution import clip
from .limits import Limits
from .namespace import Namespace
from .output import Output, Pipe
from .policy import TURN, VALUE
from .preview import class_name, show, without_addresses
from .tracebacks import own_line, own_traceback
from .wire import Op, dumps, frame, loads, read_setting, seal

FINAL_MS = 100
"""Time that ``finally`` blocks have after ``done``, in milliseconds."""
RENDER_MS = 500
"""Time that showing a value or an error may take, in milliseconds."""
READ_MS = 5_000
"""Time that the host's reading of a variable may take, in milliseconds."""
_REHEARSALS = 20  # after so many, Python has specialised the code that every turn runs
_REHEARSAL = "print(x := [str(i) for i in range(3)])\ndel x\n{'a': (1, {2}, 3.5, b'x')}"
_MISSING = object()

_LAZY = (
    *("_strptime", "_pylong", "unicodedata", "stringprep"),
    *(f"encodings.{module.name}" for module in pkgutil.iter_modules(encodings.__path__)),
)
"""What Python loads when it is first needed, which a worker can't once it is jailed."""

_BUILTIN_ERRORS: dict[str, type[Exception]] = {
    kind.__name__: kind
    for kind in (
        ArithmeticError,
        FileExistsError,
        FileNotFoundError,
        IndexError,
        IsADirectoryError,
        KeyError,
        LookupError,
        NameError,
        NotADirectoryError,
        NotImplementedError,
        OSError,
        PermissionError,
        RuntimeError,
        TimeoutError,
        TypeError,
        UnicodeError,
        ValueError,
    )
}


class GateError(Exception):
    """A gate failed with an error that Python has no builtin class for."""

    __module__ = "builtins"  # a program is shown its bare name


class GateFunction:
    """A gate as the program finds it: an object that can be called, and nothing else."""

    __slots__ = ("_call", "_name", "_parameters", "_seal", "_signature")

    _name: str
    _call: Any
    _signature: str
    _parameters: list[str]
    _seal: frozenset[str]

    # Not in __init__, which a program may call: it would make another gate of this one.
    def __new__(cls, name: str, call: Any, info: Mapping[str, Any]) -> GateFunction:  # noqa: D102
        gate = super().__new__(cls)
        gate._name, gate._call = name, call
        gate._signature = info["signature"]
        gate._parameters = info["parameters"]
        gate._seal = frozenset(info["seal"])
        return gate

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if self._seal:
            places = [*self._parameters, *[""] * len(args)]
            args = tuple(
                _sealed({place: arg}, self._seal)[place]
                for place, arg in zip(places, args, strict=False)
            )
            kwargs = _sealed(kwargs, self._seal)
        return self._call(self._name, args, kwargs)

    def __repr__(self) -> str:
        return f"<gate {self._signature}>"


def forget_the_host() -> None:
    """Drop what this process knows of where it came from, and how to load more code."""
    os.environ.clear()
    sys.argv[:] = sys.orig_argv[:] = [""]
    sys.path.clear()
    sys.meta_path.clear()
    sys.path_hooks.clear()


class Worker:
    """Runs one session's turns. Made ready before the fork, given its socket after it.

    Args:
        checked: Whether the language wall stands; it is off in tests of the other one alone.
    """

    def __init__(self, checked: bool = True) -> None:
        self._checked = checked
        warnings.simplefilter("ignore")
        self._pipe = Pipe()
        guards.close(GateFunction)
        self._deadline = Deadline()
        self._output = Output(self._pipe, self._deadline)
        self._namespace = Namespace(facades.build(), self._output.write, checked)
        self._chars = Limits().output_chars
        self._finished = False
        self._turns = 0
        self._address_space = 0

    def make_ready(self) -> None:
        """The last step before the first program: pay what a turn costs once, close the classes.

        A module that is loaded later would bring classes that are not closed.
        """
        for name in _LAZY:
            with suppress(ImportError):  # not every Python has each, and some are Windows's own
                importlib.import_module(name)
        self._deadline.install()
        sys.modules["__main__"] = self._namespace.module
        self.rehearse(_REHEARSALS)
        guards.freeze_classes()
        self._address_space = rlimits.address_space()

    def serve(self, sock: socket.socket) -> NoReturn:
        """Answer frames until the socket closes."""
        self._pipe.attach(sock)
        random.seed()
        gc.enable()
        handlers = {Op.OPEN: self._open, Op.RUN: self._run, Op.SET: self._set, Op.GET: self._get}
        while True:
            op, body = self._pipe.receive()
            handlers[op](body)

    def rehearse(self, turns: int) -> None:
        """Run turns that leave nothing behind, so that the first real one finds all in place."""
        for _ in range(turns):
            self._run(dumps([_REHEARSAL, 1_000]))
        self._turns = 0
        linecache.cache.clear()

    # -- settings and variables ----------------------------------------------------------------

    def _open(self, body: bytes | bytearray) -> None:
        settings = loads(body)
        rlimits.limit_memory(self._address_space, settings["memory_mb"])
        self._chars = settings["output_chars"]
        self._namespace.narrow(settings["modules"])
        self._namespace.fix(
            {
                name: GateFunction(name, self._call_gate, info)
                for name, info in settings["gates"].items()
            }
        )

    def _set(self, body: bytes | bytearray) -> None:
        name, data = read_setting(body)
        self._namespace.variables[name] = loads(data, unseal=True)

    def _get(self, body: bytes | bytearray) -> None:
        value = self._namespace.variables.get(loads(body), _MISSING)
        if value is _MISSING:
            self._pipe.send(frame(Op.VALUE, dumps(["missing", None])))
            return
        answer: list[bytes] = []
        error = self._deadline.run(
            READ_MS / 1000, lambda: answer.append(dumps(["value", seal(value)]))
        )
        if error:
            reason = "it took too long" if self._deadline.passed else self._text_of(error)
            answer = [dumps(["error", reason])]
        self._pipe.send(frame(Op.VALUE, answer[0]))

    # -- a turn --------------------------------------------------------------------------------

    def _run(self, body: bytes | bytearray) -> None:
        source, eval_ms = loads(body)
        self._turns += 1
        self._finished = False
        self._output.begin()
        self._namespace.restore()
        filename = f"{TURN}{self._turns}>"
        linecache.cache[filename] = (len(source), None, source.splitlines(True), filename)
        value = [_MISSING]

        def program() -> None:
            code = compile_turn(source, filename, self._namespace.reserved, self._checked)
            exec(code, self._namespace.variables)
            value[0] = self._namespace.variables.pop(VALUE, _MISSING)

        error = self._deadline.run(eval_ms / 1000, program)
        self._namespace.variables.pop(VALUE, None)
        self._namespace.restore()
        if self._deadline.passed and error is None:
            error = TurnTimeout()  # the program caught it and came to its end
        try:
            self._report(error, value[0], filename)
        except MemoryError as shortage:
            self._report(shortage, _MISSING, filename)

    def _report(self, error: BaseException | None, value: Any, filename: str) -> None:
        result: dict[str, Any] = {"status": self._status(error)}
        if result["status"] == "memory":
            rlimits.open_reserve()
        if error is not None and not self._finished:
            result["error"] = self._describe(error, filename)
        elif value is not _MISSING:
            result.update(self._show(value))
        result["tail"] = self._output.end()
        result["omitted"] = self._output.omitted
        self._pipe.send(frame(Op.RESULT, dumps(result)))
        if result["status"] == "memory":
            rlimits.close_reserve()

    def _status(self, error: BaseException | None) -> str:
        if self._finished:
            return "done"
        if error is None:
            return "ok"
        if self._deadline.passed:
            return "timeout"
        return "memory" if isinstance(error, MemoryError) else "error"

    def _show(self, value: Any) -> dict[str, Any]:
        shown: dict[str, Any] = {}

        def render() -> None:
            if value is not None:
                shown["shown"] = show(value, self._chars)
            shown["value"] = seal(value)

        error = self._deadline.run(RENDER_MS / 1000, render)
        if error is not None:
            reason = "it took too long" if self._deadline.passed else self._text_of(error)
            shown.setdefault("shown", f"<{class_name(value)} that can't be shown: {reason}>")
        return shown

    def _describe(self, error: BaseException, filename: str) -> dict[str, Any]:
        described: dict[str, Any] = {
            "type": class_name(error),
            "message": "",
            "line": None,
            "traceback": class_name(error),
        }

        def render() -> None:
            described["line"] = own_line(error, filename)
            described["traceback"] = self._short(own_traceback(error))
            described["message"] = self._short(
                str(error.msg if isinstance(error, SyntaxError) else error)
            )

        self._deadline.run(RENDER_MS / 1000, render)
        return described

    def _text_of(self, error: BaseException) -> str:
        """What an error says, whatever its own code does."""
        text: list[str] = []
        self._deadline.run(RENDER_MS / 1000, lambda: text.append(self._short(str(error))[:300]))
        return text[0] if text else class_name(error)

    def _short(self, text: str) -> str:
        return clip(without_addresses(str.__str__(text)), self._chars)

    # -- gates ---------------------------------------------------------------------------------

    def _call_gate(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._finished:
            raise Finished
        try:
            call = frame(Op.GATE, dumps([name, list(args), kwargs]))
        except CodecError as error:
            raise ValueError(f"{name}: {error}") from None
        with self._deadline.paused:
            self._output.flush()
            self._pipe.send(call)
            _, body = self._pipe.receive()
            kind, content = loads(body, unseal=True)
            if kind == "done":
                self._finished = True
        if kind == "done":
            self._deadline.finish(FINAL_MS / 1000)
            raise Finished
        if kind == "error":
            raise _BUILTIN_ERRORS.get(content[0], GateError)(content[1])
        if kind == "raise":
            raise content
        return content


def _sealed(mapping: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """A copy of the mapping with the named values sealed, so that the host hands them on."""
    return {
        key: seal(value) if key in names else _seal_inside(value, names)
        for key, value in mapping.items()
    }


def _seal_inside(value: Any, names: frozenset[str]) -> Any:
    """Seal named values in a request, or in each request of a list."""
    if names and isinstance(value, dict):
        return _sealed(value, names)
    if names and isinstance(value, list | tuple):
        return [_seal_inside(item, names) for item in value]
    return value
