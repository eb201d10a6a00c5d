"""The process that holds one namespace and runs its turns.

It answers frames, one at a time, until its socket closes. It trusts nothing that the program
left behind: reserved names are put back before each turn, and what runs the program's code,
its rendering included, runs under the deadline.
"""

from __future__ import annotations

import encodings
import importlib
import linecache
import os
import pkgutil
import random
import sys
import warnings
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import Any, NoReturn

from . import classes, rlimits
from .compiling import compile_turn
from .deadline import Finished, TurnTimeout
from .errors import CodecError
from .facades.build import begin, build
from .facades.streams import take_over
from .images import pickling, unpickling
from .images.names import Names
from .limits import IMAGE_SECONDS, Limits
from .namespace import Namespace
from .output import Output, Pipe, Wire
from .reader import Reader
from .runner import FINAL_MS, Runner
from .selves import take_instances_only
from .stub import GateStub
from .symbols import TURN, VALUE
from .telling import READ_MS, Teller
from .tracebacks import (
    forget_huge_source,
    remember_source,
)
from .wire import (
    NO_ROOM,
    NoRoom,
    Op,
    check_unasked,
    dumps,
    frame,
    imaged,
    loads,
    read_imaged,
    read_setting,
    seal,
)
from .world import WORLD

_NO_ROOM_TO_RUN = "nothing was run: there is no room for the source"
SHORT_CHARS = 20_000
"""Length of a source that is compiled with the runner's memory, where the program has none left."""
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
        self._runner = Runner(Limits().output_chars)
        self._output = Output(self._pipe, self._runner.deadline)
        self._namespace = Namespace(build(), self._output.write, checked, packages)
        self._teller = Teller(self._runner, self._namespace)
        self._in_turn = False
        self._address_space = 0
        self._reserve = rlimits.Reserve()

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
        self._runner.deadline.install()
        sys.modules["__main__"] = self._namespace.module
        self.rehearse(_REHEARSALS)
        kinds = classes.every_class()
        classes.note_kept_names(kinds)
        take_instances_only(kinds)
        classes.hide_origin(kinds)
        classes.freeze_classes()
        rlimits.reserve_stack()
        self._address_space = rlimits.address_space()

    def serve(self, wire: Wire) -> NoReturn:
        """Answer frames until the wire is closed."""
        self._pipe.attach(wire)
        take_over()
        handlers: dict[Op, Callable[[bytes | bytearray], None]] = {
            Op.OPEN: self._open,
            Op.RUN: self._run,
            Op.SET: self._set,
            Op.GET: self._get,
            Op.COPY: self._copy,
            Op.DUMP: self._dump,
            Op.LOAD: self._load,
        }
        while True:
            try:
                op, body = self._pipe.receive()
            except NoRoom as shortage:
                self._turn_away(shortage)
            else:
                handlers[op](body)

    def rehearse(self, turns: int) -> None:
        """Run turns that leave nothing behind, so that the first real one finds all in place."""
        for _ in range(turns):
            self._run(dumps([_REHEARSAL, 1_000, 0, {}]))
        linecache.cache.clear()

    def _turn_away(self, shortage: NoRoom) -> None:
        """Answer a frame that there was no room for.

        Raises:
            NoRoom: There is no answer to it that says so.
        """
        if shortage.op is Op.SET:
            self._pipe.send(frame(Op.TAKEN, NO_ROOM))
        elif shortage.op is Op.RUN:
            self._output.begin()
            self._report(None, "memory", MemoryError(_NO_ROOM_TO_RUN), _MISSING, "")
        else:
            raise shortage

    def _copy(self, _body: bytes | bytearray) -> None:
        """Leave a copy of this process, as the state to come back to."""
        if not self._pipe.copy():
            self._touch()

    def _touch(self) -> None:
        """Write to the pages that a turn will write to, while nobody waits.

        They are shared with the copy, and each has to be copied when it is first written to:
        several milliseconds of page faults that the next turn would have.
        """
        self._restore()
        compile_turn(_REHEARSAL, f"{TURN}0>", self._namespace.reserved, self._checked)
        loads(dumps([_REHEARSAL, {"name": [1, 2.5, None]}, b""]))

    # -- settings and variables ----------------------------------------------------------------

    def _open(self, body: bytes | bytearray) -> None:
        settings = loads(body)
        random.seed(settings["seed"])
        if self._packages:
            from . import preloading

            preloading.reseed(settings["seed"])
        self._reserve = rlimits.limit_memory(self._address_space, settings["memory_mb"])
        self._runner.chars = settings["output_chars"]
        self._namespace.narrow(settings["modules"])
        self._namespace.fix(
            {
                name: (Reader if info["reads"] else GateStub)(name, self._call_gate, info)
                for name, info in settings["gates"].items()
            }
        )

    def _set(self, body: bytes | bytearray) -> None:
        name, data = read_setting(body)
        self._reserve.hold()
        try:
            value = loads(data, unseal=True)
        except MemoryError:
            self._pipe.send(frame(Op.TAKEN, NO_ROOM))
            return
        finally:
            self._reserve.open()
        self._runner.leave(self._namespace.variables.get(name))
        self._namespace.variables[name] = value
        self._pipe.send(frame(Op.TAKEN))

    def _get(self, body: bytes | bytearray) -> None:
        value = self._namespace.variables.get(loads(body), _MISSING)
        if value is _MISSING:
            self._pipe.send(frame(Op.VALUE, dumps(["missing", None])))
            return
        answer: list[bytes] = []
        reason = self._runner.attempt(
            READ_MS / 1000, lambda: answer.append(dumps(["value", seal(value)]))
        )
        self._pipe.send(frame(Op.VALUE, dumps(["error", reason]) if reason else answer[0]))

    # -- the whole state -----------------------------------------------------------------------

    def _names(self) -> Names:
        self._runner.finished = False
        self._restore()
        own = self._namespace
        gates = {name: own.variables[name] for name in own.reserved}
        return Names(own.variables, own.modules, own.builtins, gates, self._checked)

    def _dump(self, _body: bytes | bytearray) -> None:
        made: list[tuple[bytes, dict[str, str]]] = []
        names = self._names()
        self._reserve.hold()  # what an image takes up is the program's
        reason = self._runner.attempt(IMAGE_SECONDS, lambda: made.append(pickling.dump(names)))
        self._reserve.open()
        state, left_out = (b"", {}) if reason else made.pop()
        for part in imaged(Op.IMAGE, {"reason": reason, "left_out": left_out}, state):
            self._pipe.send(part)

    def _load(self, body: bytes | bytearray) -> None:
        names = self._names()
        state = read_imaged(body)[1]
        self._reserve.hold()
        reason = self._runner.attempt(IMAGE_SECONDS, lambda: unpickling.load(state, names))
        self._reserve.open()
        self._restore()
        self._pipe.send(imaged(Op.IMAGE, {"reason": reason})[0])

    # -- a turn --------------------------------------------------------------------------------

    def _run(self, body: bytes | bytearray) -> None:
        try:
            source, eval_ms, number, given = loads(body)
        except MemoryError:
            self._turn_away(NoRoom(Op.RUN))
            return
        self._runner.finished = False
        self._in_turn = True
        WORLD.give(given)
        self._output.begin()
        self._restore()
        filename = f"{TURN}{number}>"
        value = [_MISSING]

        def program() -> None:
            if len(source) > SHORT_CHARS:
                self._reserve.hold()
            remember_source(filename, source)
            code = compile_turn(source, filename, self._namespace.reserved, self._checked)
            self._reserve.hold()
            begin()
            exec(code, self._namespace.variables)
            value[0] = self._namespace.variables.pop(VALUE, _MISSING)

        error = self._runner.run(eval_ms / 1000, program, self._reserve.open)
        self._runner.leave(self._namespace.variables.pop(VALUE, None))
        self._restore()
        if isinstance(error, SystemExit) and _is_success(error):
            error = None
        if self._runner.deadline.passed and error is None:
            error = TurnTimeout()  # the program caught it and came to its end
        status = self._status(error)
        self._runner.leave(value[0])
        try:
            if status != "memory":
                self._reserve.hold()  # the program's own code may run while its turn is told of
            self._report(number, status, error, value.pop(), filename)
        except MemoryError as shortage:
            self._reserve.open()
            status = self._status(shortage)
            self._report(number, status, shortage, _MISSING, filename)
        self._reserve.open()
        forget_huge_source(filename)
        WORLD.give({})
        self._in_turn = False

    def _report(
        self,
        number: int | None,
        status: str,
        error: BaseException | None,
        value: Any,
        filename: str,
    ) -> None:
        result: dict[str, Any] = {"turn": number, "status": status}
        if error is not None and not self._runner.finished:
            result["error"] = self._teller.error(error, filename)
            if status == "error":
                result["error"]["traceback"] += self._teller.hint(error)
        elif value is not _MISSING:
            result.update(self._teller.value(value))
        if status == "ok" and (value is _MISSING or value is None) and self._output.is_empty:
            result["bound"] = self._teller.bindings(filename)
        self._runner.drop(collect=status in ("memory", "timeout"))
        result["omitted"] = self._output.end()
        told = frame(Op.RESULT, dumps(result))
        self._pipe.send(self._reads() + told)

    def _reads(self) -> bytes:
        """The frame that tells what the program has read of the world; empty where it read none."""
        reads = WORLD.taken()
        return b"" if reads is None else frame(Op.READS, reads)

    def _restore(self) -> None:
        """Put back what the runner relies on; what stood in its place is let go of later."""
        self._runner.leave(self._namespace.restore())

    def _status(self, error: BaseException | None) -> str:
        if self._runner.finished:
            return "done"
        if error is None:
            return "ok"
        if isinstance(error, MemoryError):
            return "memory"
        return "timeout" if self._runner.deadline.passed else "error"

    # -- gates ---------------------------------------------------------------------------------

    def _call_gate(self, name: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        if self._runner.finished:
            raise Finished
        if not self._in_turn:
            raise RuntimeError(f"{name}: gates can be called while a turn runs, and none does")
        try:
            body = dumps([name, list(args), kwargs])
            check_unasked(body)  # the host would end this process for it
            call = frame(Op.GATE, body)
        except CodecError as error:
            raise ValueError(f"{name}: {error}") from None
        with self._runner.deadline.paused:
            self._output.flush()
            self._pipe.send(self._reads() + call)
            _, answer = self._pipe.receive()
            kind, content = loads(answer, unseal=True)
            if kind == "done":
                self._runner.finished = True
        if kind == "done":
            self._runner.deadline.finish(FINAL_MS / 1000)
            raise Finished
        if kind == "error":
            raise _BUILTIN_ERRORS.get(content[0], GateError)(content[1])
        if kind == "raise":
            raise content
        return content
