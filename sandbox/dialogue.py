"""The host's side of the talk with one worker, without I/O.

Each exchange is a generator that yields what it needs done (send a frame, wait for one, call
a gate) and is sent the outcome. ``session`` has two drivers for it, one that blocks and one
that awaits, so that the protocol stands here once.

A worker is not trusted. Every field that it sends is checked for type before it is used, and
nothing but plain values is decoded.
"""

from __future__ import annotations

import keyword
import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple, TypeVar

from .codec import Described
from .errors import CodecError, NoSuchVariable, ProtocolError
from .execution import ErrorInfo, Execution, GateCall, Status, left_out
from .limits import HEAD_CHARS, MAX_TURN_OUTPUT, Limits
from .outcomes import Outcome
from .preview import PREVIEW_CHARS, class_name, show
from .wire import ESCAPES, Op, Sealed, dumps, frame, loads, seal

GRACE_SECONDS = 0.5
"""How long past its deadline a worker may be silent before it is killed."""
RENDER_SECONDS = 0.6
"""How long a worker may take to render a turn's outcome."""
TRANSIT_SECONDS = 0.002
"""Time that a gate call's way there and back may take, and is not held against the program: a
busy machine must not cost it its state. With ``MAX_CALLS`` it bounds what a lying worker gains."""
TRANSIT_BYTES = 50_000_000
"""Beyond that, a second for so many bytes."""
MAX_CALLS = 100_000
"""Gate calls of one turn that are let through."""
MAX_CALL_BYTES = 256 << 20
"""Bytes of arguments that one turn's gate calls may carry, and bytes of their results that are
kept in its record."""
_MAX_COUNT = 1 << 53
"""Largest number that a worker's report may hold."""
MAX_NAME = 1_000
"""Longest name of a variable that the host may set, in characters."""
READ_SECONDS = 10.0
"""How long a worker may take to give a variable's value."""


class Send(NamedTuple):
    """Send bytes to the worker."""

    data: bytes


class Receive(NamedTuple):
    """Wait for a frame; ``TimeoutError`` is thrown in when it does not come in time."""

    seconds: float


class CallGate(NamedTuple):
    """Call a gate; what it raises is thrown in."""

    name: str
    args: list[Any]
    kwargs: dict[str, Any]


Step = Send | Receive | CallGate
_T = TypeVar("_T")
Steps = Generator[Step, Any, _T]


class Done(NamedTuple):
    """What a gate returns to end the program's work, with its answer (``LOOP-3``)."""

    answer: Any


@dataclass(frozen=True)
class GateInfo:
    """What a worker has to know of a gate.

    Attributes:
        signature: As a program is shown it.
        parameters: Names of the positional parameters, in order.
        seal: Names of the arguments that the host hands on undecoded.
    """

    signature: str
    parameters: tuple[str, ...] = ()
    seal: frozenset[str] = frozenset()


def opening(
    limits: Limits, modules: tuple[str, ...] | None, gates: Mapping[str, GateInfo]
) -> bytes:
    """The frame that gives a fresh worker its settings."""
    settings = {
        "memory_mb": limits.memory_mb,
        "output_chars": limits.output_chars,
        "modules": modules,
        "gates": {
            name: {
                "signature": info.signature,
                "parameters": list(info.parameters),
                "seal": sorted(info.seal),
            }
            for name, info in gates.items()
        },
    }
    return frame(Op.OPEN, dumps(settings))


@dataclass
class _Record:
    """What has been seen of the turn that runs."""

    started: float = field(default_factory=time.perf_counter)
    output: list[str] = field(default_factory=list)
    size: int = 0
    calls: list[GateCall] = field(default_factory=list)
    call_bytes: int = 0
    result_bytes: int = 0
    answer: Sealed | None = None
    until: float = 0.0  # when the worker is given up, on the clock of ``perf_counter``


class Turn:
    """One turn: runs a source to its end, whatever the worker does."""

    def __init__(self, limits: Limits) -> None:
        self._limits = limits
        self._seen = _Record()

    @property
    def stdout(self) -> str:
        """What has been printed so far."""
        return "".join(self._seen.output)

    def steps(self, source: str) -> Steps[Execution]:
        """The steps that run ``source``: to a result, or until the worker is to be killed.

        Driving them raises ``TimeoutError``, ``ConnectionError`` or ``ProtocolError`` where
        the worker must be given up; ``given_up`` then tells what the turn came to.

        Raises:
            TypeError: The source is no text.
            CodecError: It is too long.
        """
        if not isinstance(source, str):
            raise TypeError(f"source must be a str, not {type(source).__name__}")
        return self._steps(frame(Op.RUN, dumps([source, self._limits.eval_ms])))

    def _steps(self, beginning: bytes) -> Steps[Execution]:
        self._seen = seen = _Record()
        yield Send(beginning)
        allowed = self._limits.eval_ms / 1000 + GRACE_SECONDS + RENDER_SECONDS
        seen.until = time.perf_counter() + allowed
        while True:
            left = seen.until - time.perf_counter()
            if left <= 0:  # frames that never stop coming don't make time
                raise TimeoutError
            op, body = yield Receive(left)
            if op is Op.RESULT:
                return self._finished(body)
            if op is Op.GATE:
                yield from self._gate(body)
            elif op in (Op.OUTPUT, Op.ESCAPED):
                self._take_output(op, body)
            else:
                raise ProtocolError(f"a frame {op.name} came in the middle of a turn")

    def given_up(self, error: BaseException) -> Execution:
        """What a turn came to whose worker had to be given up. Its state is lost."""
        if isinstance(error, TimeoutError):
            status: Status = "timeout"
            message = (
                f"the turn was stopped: it ran longer than {self._limits.eval_ms:,} ms in one "
                "operation that can't be interrupted, so its process was killed"
            )
        elif isinstance(error, ProtocolError):
            status, message = "crashed", f"the process broke the protocol and was killed: {error}"
        else:
            status, message = (
                "crashed",
                (
                    "the process died in the middle of the turn: it crashed, or took more memory "
                    f"than there is (limit {self._limits.memory_mb:,} MiB)"
                ),
            )
        if self._seen.size >= HEAD_CHARS:
            self._seen.output[:] = [self.stdout[:HEAD_CHARS], _TAIL_LOST]
        info = ErrorInfo(_NAMES[status], message, None, f"{_NAMES[status]}: {message}")
        return self._execution(status, state="lost", error=info)

    def _execution(self, status: Status, error: ErrorInfo | None, **fields: Any) -> Execution:
        seen = self._seen
        done = seen.answer is not None  # LOOP-3: whatever became of the program after that
        return Execution(
            status="done" if done else status,
            error=None if done else error,
            sealed_answer=seen.answer,
            stdout=fields.pop("stdout", None) or self.stdout,
            gate_calls=tuple(seen.calls),
            duration_ms=(time.perf_counter() - seen.started) * 1000,
            output_chars=self._limits.output_chars,
            **fields,
        )

    def _take_output(self, op: Op, body: bytes | bytearray) -> None:
        try:
            text = str(body, "utf-8" if op is Op.OUTPUT else ESCAPES)
        except (UnicodeDecodeError, DeprecationWarning):
            raise ProtocolError("a worker sent output that is no text") from None
        self._seen.size += len(text)
        if self._seen.size > MAX_TURN_OUTPUT:
            raise ProtocolError("a worker sent more output than a turn may have")
        if text:
            self._seen.output.append(text)

    def _finished(self, body: bytes | bytearray) -> Execution:
        try:
            return self._result(body)
        except ProtocolError:
            raise
        except Exception as error:  # whatever else a hostile report brings about
            raise ProtocolError(f"a result is malformed: {type(error).__name__}") from None

    def _result(self, body: bytes | bytearray) -> Execution:
        result = _mapping(_decoded(body))
        status = result.get("status")
        if status not in ("ok", "error", "done", "timeout", "memory"):
            raise ProtocolError("a result has an unknown status")
        if status == "done" and self._seen.answer is None:
            raise ProtocolError("a result says done, and no gate has ended the work")
        value = result.get("value")
        if not isinstance(value, Sealed | None):
            raise ProtocolError("a result's value is not sealed")
        return self._execution(
            status,
            stdout=_whole_output(self.stdout, result),
            error=self._error(status, result.get("error")),
            shown=_text_or_none(result.get("shown")),
            sealed_value=value,
            unsealed=_text_or_none(result.get("unsealed")),
            bound=_text_or_none(result.get("bound")),
        )

    def _error(self, status: str, described: Any) -> ErrorInfo | None:
        if status in ("ok", "done"):
            return None
        items = _mapping(described)
        line = items.get("line")
        if line is not None:
            line = _count(line)
        kind, message, trace = (_text(items.get(key)) for key in ("type", "message", "traceback"))
        if status == "timeout":
            message = (
                f"the turn was stopped after {self._limits.eval_ms:,} ms, its limit; "
                "variables are kept as they were at that moment"
            )
            kind, trace = "TurnTimeout", _with_last_line(trace, f"TurnTimeout: {message}")
        elif status == "memory":
            limit = f"the limit is {self._limits.memory_mb:,} MiB"
            message = f"{message}; {limit}" if message else limit
            trace = _with_last_line(trace, f"MemoryError: {message}")
        return ErrorInfo(kind, message, line, trace)

    # -- gates ---------------------------------------------------------------------------------

    def _gate(self, body: bytes | bytearray) -> Steps[None]:
        """Answer a call. What it takes, its way here and back too, is not the program's time."""
        if self._seen.answer is not None:
            raise ProtocolError("a gate was called after the work had been ended")
        name, args, kwargs = _call(_decoded(body))
        self._seen.call_bytes += len(body)
        if len(self._seen.calls) >= MAX_CALLS or self._seen.call_bytes > MAX_CALL_BYTES:
            yield Send(frame(Op.REPLY, _failure(RuntimeError(_TOO_MANY_CALLS))))
            return
        started = time.perf_counter()
        result: Any = None
        error: BaseException | None = None
        try:
            result = yield CallGate(name, args, kwargs)
            if isinstance(result, Done):
                result, self._seen.answer = result.answer, seal(result.answer)
                reply = frame(Op.REPLY, dumps(["done", None]))
            else:
                reply = frame(Op.REPLY, dumps(["value", result]))
        except Exception as raised:
            result, error, reply = None, raised, frame(Op.REPLY, _failure(raised))
        duration = time.perf_counter() - started
        self._seen.until += duration + TRANSIT_SECONDS + (len(body) + len(reply)) / TRANSIT_BYTES
        text = None if error is None else f"{type(error).__name__}: {error}"
        result = self._kept(result, len(reply))
        self._seen.calls.append(GateCall(name, tuple(args), kwargs, result, text, duration * 1000))
        yield Send(reply)

    def _kept(self, result: Any, size: int) -> Any:
        """What the turn's record keeps of a gate's result: a preview, past its bound."""
        if self._seen.result_bytes + size > MAX_CALL_BYTES:
            return Described(class_name(result), show(result, PREVIEW_CHARS))
        self._seen.result_bytes += size
        return result


_TOO_MANY_CALLS = (
    f"one turn may call gates {MAX_CALLS:,} times and hand them {MAX_CALL_BYTES >> 20} MiB; "
    "do less in a turn"
)
_TAIL_LOST = (
    f"\n[... whatever was printed after these {HEAD_CHARS:,} characters "
    "was lost with the process ...]\n"
)
_NAMES = {"timeout": "TurnTimeout", "crashed": "ProcessDied"}


def _failure(error: Exception) -> bytes:
    if isinstance(error, Outcome):
        return dumps(["raise", error])
    # The nearest class that the program knows too; it makes a GateError of plain Exception.
    name = next(kind.__name__ for kind in type(error).__mro__ if kind.__module__ == "builtins")
    # A KeyError's text is the repr of its argument, which reads badly.
    only = isinstance(error, KeyError) and len(error.args) == 1 and isinstance(error.args[0], str)
    return dumps(["error", [name, error.args[0] if only else str(error)]])


def _call(message: Any) -> tuple[str, list[Any], dict[str, Any]]:
    match message:
        case [str(name), list(args), dict(kwargs)] if all(type(key) is str for key in kwargs):
            return name, args, kwargs
    raise ProtocolError("a gate call is not a name, a list and a mapping")


def _whole_output(printed: str, result: Mapping[str, Any]) -> str:
    omitted = _count(result.get("omitted"))
    if not omitted:
        return printed
    return printed[:HEAD_CHARS] + left_out(omitted) + printed[HEAD_CHARS:]


def _with_last_line(trace: str, line: str) -> str:
    before, newline, _ = trace.rpartition("\n")
    return before + newline + line


def _decoded(body: bytes | bytearray) -> Any:
    try:
        return loads(body, guarded=True)
    except CodecError as error:
        raise ProtocolError(f"a frame that can't be read: {error}") from None


def _mapping(value: Any) -> dict[Any, Any]:
    if type(value) is not dict:
        raise ProtocolError("a mapping is wanted")
    return value


def _count(value: Any) -> int:
    if type(value) is not int or not 0 <= value <= _MAX_COUNT:
        raise ProtocolError("a number is wanted, from 0 to 2**53")
    return value


def _text(value: Any) -> str:
    if type(value) is not str or len(value) > MAX_TURN_OUTPUT:
        raise ProtocolError("a text is wanted, of a length that a turn may have")
    return value


def _text_or_none(value: Any) -> str | None:
    return None if value is None else _text(value)


# -- variables -----------------------------------------------------------------------------------


def getting(name: str) -> Steps[Sealed]:
    """Ask for a variable.

    Raises:
        NoSuchVariable: There is none of that name.
        CodecError: Its value can't cross.
    """
    check_name(name)
    yield Send(frame(Op.GET, dumps(name)))
    op, body = yield Receive(READ_SECONDS)
    if op is not Op.VALUE:
        raise ProtocolError(f"a frame {op.name} came instead of a value")
    match _decoded(body):
        case ["value", Sealed() as value]:
            return value
        case ["missing", None]:
            raise NoSuchVariable(f"the namespace holds no variable {name!r}")
        case ["error", str(text)]:
            raise CodecError(f"the variable {name!r} can't be read: {text}")
    raise ProtocolError("a value frame is malformed")


def check_name(name: str) -> None:
    """Check the name of a variable that the host sets or gets.

    Raises:
        NoSuchVariable: There can be no variable of that name.
    """
    if not isinstance(name, str):
        raise NoSuchVariable(f"a variable's name is a str, not {type(name).__name__}")
    special = (name.startswith("__") and name.endswith("__")) or keyword.iskeyword(name)
    if not name.isidentifier() or special or len(name) > MAX_NAME:
        raise NoSuchVariable(f"{name[:MAX_NAME]!r} can't be the name of a variable")
