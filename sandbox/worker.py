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
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from . import classes, rlimits
from .bindings import bindings
from .compiling import compile_turn
from .deadline import Deadline, Finished, TurnTimeout
from .errors import CodecError
from .execution import clip
from .facades.build import begin, build
from .facades.streams import take_over
from .hints import Known, hint
from .limits import MAX_TEXT, Limits
from .namespace import Namespace
from .output import Output, Pipe
from .preview import Writer, class_name, each_repr_once, without_addresses
from .selves import take_instances_only
from .stub import GateStub
from .symbols import TURN, VALUE
from .tracebacks import message_of, own_line, own_traceback, remember_source
from .wire import Op, check_unasked, dumps, frame, loads, read_setting, seal

FINAL_MS = 100
"""Time that ``finally`` blocks have after ``done``, in milliseconds."""
RENDER_MS = 500
"""Time that showing a value or an error may take, in milliseconds."""
MESSAGE_CHARS = 100_000
"""Characters of an error's message that are told apart from its traceback."""
HINT_MS = 100
"""Time that looking for a hint may take, or for the names that a turn bound, in milliseconds."""
READ_MS = 5_000
"""Time that encoding a variable, or a turn's value, may take, in milliseconds."""
SEAL_MS = 250
"""Time that encoding a turn's value has in any case; more where the program left more of its own,
so that the host, which waits for a turn's time and a little, sees the end of it."""
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


def forget_the_host() -> None:
    """Drop what this process knows of where it came from, and how to load more code."""
    os.environ.clear()
    sys.argv[:] = sys.orig_argv[:] = [""]
    sys.path.clear()
    sys.meta_path.clear()
    sys.path_hooks.clear()


def _is_success(exit_: SystemExit) -> bool:
    """Whether a program that has ended itself says that all went well."""
    code = vars(SystemExit)["code"].__get__(exit_)
    return code is None or (type(code) is int and code == 0)


class Worker:
    """Runs one session's turns. Made ready before the fork, given its socket after it.

    Args:
        checked: Whether the language wall stands; it is off in tests of the other one alone.
        packages: Names of the packages that a program may import.

    Raises:
        PackageUnavailable: A package can't be loaded.
    """

    def __init__(self, checked: bool = True, packages: Sequence[str] = ()) -> None:
        self._checked = checked
        self._packages = packages
        warnings.simplefilter("ignore")
        if packages:
            from . import preloading  # here, for most workers do without it

            preloading.load(packages)  # before modules are mended, for packages ask more of them
        self._pipe = Pipe()
        classes.close(GateStub)
        self._deadline = Deadline()
        self._output = Output(self._pipe, self._deadline)
        self._namespace = Namespace(build(), self._output.write, checked, packages)
        self._chars = Limits().output_chars
        self._finished = False
        self._in_turn = False
        self._leftovers: list[Any] = []
        self._turns = 0
        self._address_space = 0

    def make_ready(self) -> None:
        """The last step before the first program: pay what a turn costs once, close the classes.

        A module that is loaded later would bring classes that are not closed.
        """
        for name in _LAZY:
            with suppress(ImportError):  # not every Python has each, and some are Windows's own
                importlib.import_module(name)
        if self._packages:
            from . import preloading

            preloading.rehearse(self._packages)
        self._deadline.install()
        sys.modules["__main__"] = self._namespace.module
        self.rehearse(_REHEARSALS)
        kinds = classes.every_class()
        classes.note_kept_names(kinds)
        take_instances_only(kinds)
        classes.hide_origin(kinds)
        classes.freeze_classes()
        self._address_space = rlimits.address_space()

    def serve(self, sock: socket.socket) -> NoReturn:
        """Answer frames until the socket closes."""
        self._pipe.attach(sock)
        take_over()
        random.seed()
        if self._packages:
            from . import preloading

            preloading.reseed()
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
                name: GateStub(name, self._call_gate, info)
                for name, info in settings["gates"].items()
            }
        )

    def _set(self, body: bytes | bytearray) -> None:
        name, data = read_setting(body)
        self._leftovers.append(self._namespace.variables.get(name))
        self._namespace.variables[name] = loads(data, unseal=True)

    def _get(self, body: bytes | bytearray) -> None:
        value = self._namespace.variables.get(loads(body), _MISSING)
        if value is _MISSING:
            self._pipe.send(frame(Op.VALUE, dumps(["missing", None])))
            return
        answer: list[bytes] = []
        reason = self._attempt(READ_MS / 1000, lambda: answer.append(dumps(["value", seal(value)])))
        self._pipe.send(frame(Op.VALUE, dumps(["error", reason]) if reason else answer[0]))

    # -- a turn --------------------------------------------------------------------------------

    def _run(self, body: bytes | bytearray) -> None:
        source, eval_ms = loads(body)
        self._turns += 1
        self._finished = False
        self._in_turn = True
        self._output.begin()
        self._restore()
        filename = f"{TURN}{self._turns}>"
        remember_source(filename, source)
        value = [_MISSING]

        def program() -> None:
            code = compile_turn(source, filename, self._namespace.reserved, self._checked)
            begin()
            exec(code, self._namespace.variables)
            value[0] = self._namespace.variables.pop(VALUE, _MISSING)

        error = self._run_own(eval_ms / 1000, program)
        self._leftovers.append(self._namespace.variables.pop(VALUE, None))
        self._restore()
        if isinstance(error, SystemExit) and _is_success(error):
            error = None
        if self._deadline.passed and error is None:
            error = TurnTimeout()  # the program caught it and came to its end
        status = self._status(error)
        self._leftovers.append(value[0])
        try:
            self._report(status, error, value.pop(), filename)
        except MemoryError as shortage:
            status = self._status(shortage)
            self._report(status, shortage, _MISSING, filename)
        self._in_turn = False

    def _report(self, status: str, error: BaseException | None, value: Any, filename: str) -> None:
        result: dict[str, Any] = {"status": status}
        if status == "memory":
            rlimits.open_reserve()
        if error is not None and not self._finished:
            result["error"] = self._describe(error, filename)
            if status == "error":
                result["error"]["traceback"] += self._hint(error)
        elif value is not _MISSING:
            result.update(self._show(value))
        if status == "ok" and (value is _MISSING or value is None) and self._output.is_empty:
            result["bound"] = self._bindings(filename)
        self._drop(status == "memory")
        result["omitted"] = self._output.end()
        self._pipe.send(frame(Op.RESULT, dumps(result)))
        if status == "memory":
            rlimits.close_reserve()

    def _run_own(self, seconds: float, action: Callable[[], Any]) -> BaseException | None:
        """Run what may run the program's code: within a time, and with the collector at work.

        What it raises is kept until the turn's end, for to let go of it may run more of the
        program's code (a generator's ``finally``, a weak reference's callback).
        """
        gc.enable()
        error = self._deadline.run(seconds, action)
        gc.disable()
        if error is not None:
            self._leftovers.append(error)
        return error

    def _restore(self) -> None:
        """Put back what the runner relies on; what stood in its place is let go of later."""
        self._leftovers.append(self._namespace.restore())

    def _drop(self, collect: bool) -> None:
        """Let go of what the turn has left, while the program's code may still run."""
        leftovers, self._leftovers = self._leftovers, []

        def drop() -> None:
            for left in leftovers:
                if isinstance(left, BaseException):
                    left.__traceback__ = None
            leftovers.clear()
            if collect:
                gc.collect()

        self._run_own(FINAL_MS / 1000, drop)

    def _status(self, error: BaseException | None) -> str:
        if self._finished:
            return "done"
        if error is None:
            return "ok"
        if isinstance(error, MemoryError):
            return "memory"
        return "timeout" if self._deadline.passed else "error"

    def _show(self, value: Any) -> dict[str, Any]:
        left = self._deadline.left
        shown: dict[str, Any] = {}
        writer = Writer()

        def encode() -> None:
            shown["value"] = seal(value)

        with each_repr_once():
            if value is not None:
                room = min(self._chars * 3 // 4, MAX_TEXT)  # the rest is for what was printed
                reason = self._attempt(RENDER_MS / 1000, lambda: writer.write(value, room))
                shown["shown"] = writer.text
                if reason:  # encoding it would come upon the same
                    rest = "the rest" if writer.text else class_name(value)
                    shown["shown"] += f"<{rest} can't be shown: {reason}>"
                    shown["unsealed"] = reason
                    return shown
            seconds = max(min(left, READ_MS / 1000), SEAL_MS / 1000)
            if reason := self._attempt(seconds, encode):
                shown["unsealed"] = reason
        return shown

    def _attempt(self, seconds: float, action: Callable[[], None]) -> str:
        """Run what may run the program's code; why it failed, or the empty string."""
        error = self._run_own(seconds, action)
        if error is None:
            return ""
        if self._deadline.passed:
            return "it took too long"
        return "it called done" if self._finished else self._text_of(error)

    def _describe(self, error: BaseException, filename: str) -> dict[str, Any]:
        described: dict[str, Any] = {
            "type": class_name(error),
            "message": "",
            "line": None,
            "traceback": class_name(error),
        }

        def render() -> None:
            described["line"] = own_line(error, filename)
            described["message"] = self._short(message_of(error))
            described["traceback"] = without_addresses(own_traceback(error))

        self._run_own(RENDER_MS / 1000, render)
        return described

    def _hint(self, error: BaseException) -> str:
        """What helps against an error as a line of its own; the empty string without one."""
        names = self._namespace
        known = Known(names.variables, names.builtins, names.modules)
        found: list[str] = []
        self._run_own(HINT_MS / 1000, lambda: found.append(hint(error, known)))
        return "".join(f"\n{text}" for text in found if text)

    def _bindings(self, filename: str) -> str | None:
        """Which names the turn bound."""
        source = "".join(linecache.getlines(filename))
        found: list[str] = []
        variables = self._namespace.variables
        self._run_own(HINT_MS / 1000, lambda: found.append(bindings(source, variables)))
        return "".join(found) or None

    def _text_of(self, error: BaseException) -> str:
        """What an error says, whatever its own code does."""
        text: list[str] = []
        self._run_own(RENDER_MS / 1000, lambda: text.append(self._short(message_of(error))[:300]))
        return "".join(text) or class_name(error)

    def _short(self, text: str) -> str:
        return clip(without_addresses(text), min(self._chars, MESSAGE_CHARS))

    # -- gates ---------------------------------------------------------------------------------

    def _call_gate(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._finished:
            raise Finished
        if not self._in_turn:
            raise RuntimeError(f"{name}: gates can be called while a turn runs, and none does")
        try:
            body = dumps([name, list(args), kwargs])
            check_unasked(body)  # the host would end this process for it
            call = frame(Op.GATE, body)
        except CodecError as error:
            raise ValueError(f"{name}: {error}") from None
        with self._deadline.paused:
            self._output.flush()
            self._pipe.send(call)
            _, answer = self._pipe.receive()
            kind, content = loads(answer, unseal=True)
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
