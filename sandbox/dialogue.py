"""The host's side of the talk with one worker, without I/O.

Each exchange is a generator that yields what it needs done (send a frame, wait for one, call
a gate) and is sent the outcome. ``session`` has two drivers for it, one that blocks and one
that awaits, so that the protocol stands here once.

A worker is not trusted. Every field that it sends is checked for type before it is used, and
nothing but plain values is decoded.
"""

from __future__ import annotations

import time
from collections.abc import Generator, Mapping
from dataclasses import dataclass, field
from io import StringIO
from typing import Any, NamedTuple, TypeVar

from . import fields
from .channel import SEND_SECONDS
from .codec import Described
from .errors import ProtocolError, SandboxClosed
from .execution import Calls, ErrorInfo, Execution, GateCall, RollBack, State, Status, left_out
from .limits import HEAD_CHARS, MAX_TURN_OUTPUT, Limits
from .outcomes import Outcome
from .preview import PREVIEW_CHARS, class_name, show
from .reads import ReadsOfTurn, reads_of
from .record import MAX_RECORD, PLAYABLE, Exchange, call_digest
from .wire import Op, Sealed, dumps, frame, seal

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
"""Bytes of arguments that one turn's gate calls may carry, about as many as they take as objects;
and bytes of their results that are kept in its record."""


class Send(NamedTuple):
    """Send bytes to the worker; ``TimeoutError`` is thrown in when it is not read in time."""

    data: bytes
    seconds: float = SEND_SECONDS


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
        reads: Whether it stands for a record that the program reads through it.
    """

    signature: str
    parameters: tuple[str, ...] = ()
    seal: frozenset[str] = frozenset()
    reads: bool = False


def opening(
    limits: Limits, modules: tuple[str, ...] | None, gates: Mapping[str, GateInfo], seed: int
) -> bytes:
    """The frame that gives a fresh worker its settings."""
    settings = {
        "seed": seed,
        "memory_mb": limits.memory_mb,
        "output_chars": limits.output_chars,
        "modules": modules,
        "gates": {
            name: {
                "signature": info.signature,
                "parameters": list(info.parameters),
                "seal": sorted(info.seal),
                "reads": info.reads,
            }
            for name, info in gates.items()
        },
    }
    return frame(Op.OPEN, dumps(settings))


@dataclass
class _Record:
    """What has been seen of the turn that runs."""

    started: float = field(default_factory=time.perf_counter)
    output: StringIO = field(default_factory=StringIO)  # a list would hold a text for each byte
    size: int = 0
    calls: list[GateCall] = field(default_factory=list)
    begun: GateCall | None = None  # the call that is being answered
    sizes: list[int] = field(default_factory=list)  # bytes that each of these carries
    call_bytes: int = 0
    result_bytes: int = 0
    exchanges: list[Exchange] = field(default_factory=list)
    exchange_bytes: int = 0
    answer: Sealed | None = None
    reads: ReadsOfTurn = field(default_factory=ReadsOfTurn)
    until: float = 0.0  # when the worker is given up, on the clock of ``perf_counter``


class Turn:
    """One turn: runs a source to its end, whatever the worker does.

    Args:
        limits: The session's.
        number: The turn's number in its session, from 1.
    """

    def __init__(self, limits: Limits, number: int = 1) -> None:
        self.number = number
        self._limits = limits
        self._seen = _Record()

    @property
    def stdout(self) -> str:
        """What has been printed so far."""
        return self._seen.output.getvalue()

    @property
    def calls(self) -> Calls:
        """What is to be told of the calls of gates so far."""
        seen = self._seen
        return Calls.of(self.number, seen.calls, seen.sizes, seen.begun)

    @property
    def exchanges(self) -> tuple[Exchange, ...] | None:
        """The calls of gates so far, with what answered them; None where they are too large."""
        return None if self._seen.exchange_bytes > MAX_RECORD else tuple(self._seen.exchanges)

    def take_reads(self) -> bytes | None:
        """What the program has read of clocks and chance since this was last asked.

        None where that is nothing. In a gate's handler: what it read before it made the call.
        """
        return self._seen.reads.take()

    def steps(self, source: str, reads: bytes | None = None) -> Steps[Execution]:
        """The steps that run ``source``: to a result, or until the worker is to be killed.

        Args:
            source: Python source.
            reads: What its reads of clocks and chance are answered from, until it runs out.

        Driving them raises ``TimeoutError``, ``ConnectionError`` or ``ProtocolError`` where
        the worker must be given up; ``given_up`` then tells what the turn came to.

        Raises:
            TypeError: The source is no text.
            CodecError: It is too long, or the reads are malformed.
        """
        if not isinstance(source, str):
            raise TypeError(f"source must be a str, not {type(source).__name__}")
        given = {} if reads is None else reads_of(reads)
        run = dumps([source, self._limits.eval_ms, self.number, given])
        return self._steps(frame(Op.RUN, run), given)

    def _steps(self, beginning: bytes, given: Mapping[str, bytes]) -> Steps[Execution]:
        self._seen = seen = _Record(reads=ReadsOfTurn(given))
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
            elif op is Op.READS:
                seen.reads.add(body)
            else:
                raise ProtocolError(f"a frame {op.name} came in the middle of a turn")

    def given_up(self, error: BaseException, rollback: RollBack | None = None) -> Execution:
        """What a turn came to whose worker had to be given up.

        Args:
            error: Why it had to.
            rollback: Where to the session was rolled back; None where its state is lost.
        """
        status, message = self._end_of_worker(error)
        if self._seen.size >= HEAD_CHARS:
            self._seen.output = StringIO(self.stdout[:HEAD_CHARS] + _TAIL_LOST)
        info = ErrorInfo(_NAMES[status], message, None, f"{_NAMES[status]}: {message}")
        state: State = "rolled_back" if rollback else "lost"
        return self._execution(status, state=state, rollback=rollback, error=info)

    def _end_of_worker(self, error: BaseException) -> tuple[Status, str]:
        if isinstance(error, TimeoutError):
            return "timeout", (
                f"the turn was stopped: it ran longer than {self._limits.eval_ms:,} ms in one "
                "operation that can't be interrupted, so its process was killed; do less in one go"
            )
        if isinstance(error, SandboxClosed):
            return "crashed", str(error)
        if isinstance(error, ProtocolError):
            return "crashed", f"the process broke the protocol and was killed: {error}"
        return "crashed", (
            "the process died in the middle of the turn: it crashed, or took more memory than "
            f"there is (limit {self._limits.memory_mb:,} MiB)"
        )

    def _execution(self, status: Status, error: ErrorInfo | None, **more: Any) -> Execution:
        seen = self._seen
        done = seen.answer is not None  # LOOP-3: whatever became of the program after that
        is_kept = more.get("state", "kept") == "kept"
        return Execution(
            status="done" if done else status,
            error=None if done else error,
            reads=seen.reads.data,
            repeatable=is_kept and status in PLAYABLE and seen.reads.is_whole,
            reads_differ=seen.reads.differ,
            sealed_answer=seen.answer,
            stdout=more.pop("stdout", None) or self.stdout,
            gate_calls=tuple(seen.calls),
            duration_ms=(time.perf_counter() - seen.started) * 1000,
            output_chars=self._limits.output_chars,
            turn=self.number,
            **more,
        )

    def _take_output(self, op: Op, body: bytes | bytearray) -> None:
        text = fields.output(op, body)
        self._seen.size += len(text)
        if self._seen.size > MAX_TURN_OUTPUT:
            raise ProtocolError("a worker sent more output than a turn may have")
        self._seen.output.write(text)

    def _finished(self, body: bytes | bytearray) -> Execution:
        try:
            return self._result(body)
        except ProtocolError:
            raise
        except Exception as error:  # whatever else a hostile report brings about
            raise ProtocolError(f"a result is malformed: {type(error).__name__}") from None

    def _result(self, body: bytes | bytearray) -> Execution:
        result = fields.mapping(fields.decoded(body))
        status = result.get("status")
        if status not in ("ok", "error", "done", "timeout", "memory"):
            raise ProtocolError("a result has an unknown status")
        # A worker that had no room to read what it was to run does not know which turn it is.
        if result.get("turn") not in (self.number, None):
            raise ProtocolError("a result is another turn's")
        if status == "done" and self._seen.answer is None:
            raise ProtocolError("a result says done, and no gate has ended the work")
        value = result.get("value")
        if not isinstance(value, Sealed | None):
            raise ProtocolError("a result's value is not sealed")
        return self._execution(
            status,
            stdout=_whole_output(self.stdout, result),
            error=self._error(status, result.get("error")),
            shown=fields.text_or_none(result.get("shown")),
            sealed_value=value,
            unsealed=fields.reason(result.get("unsealed")),
            bound=fields.text_or_none(result.get("bound")),
        )

    def _error(self, status: str, described: Any) -> ErrorInfo | None:
        if status in ("ok", "done"):
            return None
        items = fields.mapping(described)
        line = items.get("line")
        if line is not None:
            line = fields.count(line)
        kind, message, trace = (
            fields.text(items.get(key)) for key in ("type", "message", "traceback")
        )
        if status == "timeout":
            message = (
                f"the turn was stopped after {self._limits.eval_ms:,} ms, its limit; "
                "variables are kept as they were at that moment: go on from there, in smaller steps"
            )
            kind, trace = "TurnTimeout", _with_last_line(trace, f"TurnTimeout: {message}")
        elif status == "memory":
            limit = (
                f"the limit is {self._limits.memory_mb:,} MiB for all that is kept: hold less at a "
                "time, or del what is done with"
            )
            message = f"{message}; {limit}" if message else limit
            trace = _with_last_line(trace, f"MemoryError: {message}")
        return ErrorInfo(kind, message, line, trace)

    # -- gates ---------------------------------------------------------------------------------

    def _gate(self, body: bytes | bytearray) -> Steps[None]:
        """Answer a call. What it takes, its way here and back too, is not the program's time."""
        if self._seen.answer is not None:
            raise ProtocolError("a gate was called after the work had been ended")
        message, weight = fields.decoded_weighed(body)
        name, args, kwargs = fields.call(message)
        self._seen.call_bytes += weight
        if len(self._seen.calls) >= MAX_CALLS or self._seen.call_bytes > MAX_CALL_BYTES:
            yield self._answered(body, frame(Op.REPLY, _failure(RuntimeError(_TOO_MANY_CALLS))))
            return
        started = time.perf_counter()
        result: Any = None
        error: BaseException | None = None
        self._seen.begun = GateCall(name, tuple(args), kwargs, None, None, 0.0)
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
        self._seen.sizes.append(weight + len(reply))
        self._seen.begun = None
        yield self._answered(body, reply)

    def _answered(self, body: bytes | bytearray, reply: bytes) -> Send:
        """Answer a call, and note it, for a turn that is run again gets the same answers."""
        exchange = Exchange(call_digest(body), reply, self._seen.answer)
        self._seen.exchanges.append(exchange)
        self._seen.exchange_bytes += exchange.size
        if self._seen.exchange_bytes > MAX_RECORD:
            self._seen.exchanges.clear()
        # In the turn's own time: a worker that asks and never reads must not hold its host.
        return Send(reply, max(self._seen.until - time.perf_counter(), 0.001))

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


def _whole_output(printed: str, result: Mapping[str, Any]) -> str:
    omitted = fields.count(result.get("omitted"))
    if not omitted:
        return printed
    return printed[:HEAD_CHARS] + left_out(omitted) + printed[HEAD_CHARS:]


def _with_last_line(trace: str, line: str) -> str:
    before, newline, _ = trace.rpartition("\n")
    return before + newline + line
