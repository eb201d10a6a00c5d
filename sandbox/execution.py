"""What one turn came to, and how a model is shown it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, Literal, NamedTuple

from .errors import CodecError
from .preview import show
from .wire import Sealed

_MARK_CHARS = 48
"""Room for the mark of a text that was cut."""
LOST_STATE = (
    "The state of this session was lost: all variables are gone, but for those that it was given."
)
_TOLD = 10  # calls of a turn that are told of from its beginning, and from its end
_TOLD_BYTES = 16_384  # what a call may carry to be kept as it is until it is told of
_EFFECT_CHARS = 200
_STAND = "Gate calls of what is undone stand; do not repeat them without need:"
_BEGUN = "{} had begun when the turn was broken off: whether it took effect is not known"
_LACKING = (
    "Its state at the end of turn {} was taken up from an image, without these variables:\n{}"
)
_LISTED = 20

Status = Literal["ok", "error", "done", "timeout", "memory", "crashed"]
State = Literal["kept", "rolled_back", "lost"]


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error that ended a turn.

    Attributes:
        type: The exception's class, for example ``ZeroDivisionError``.
        message: What it says.
        line: The line of this turn's source where it came up, from 1, or None.
        traceback: As Python prints one, with the program's own lines only.
    """

    type: str
    message: str
    line: int | None
    traceback: str


@dataclass(frozen=True, slots=True)
class GateCall:
    """One call that the program made of a gate.

    Attributes:
        gate: The gate's name.
        args: Positional arguments; a ``Sealed`` one was handed on undecoded.
        kwargs: Keyword arguments.
        result: What it answered, or None where it failed. Past a bound for one turn's results
            together, a ``Described`` stands for it.
        error: What went wrong, or None.
        duration_ms: Time it took, in milliseconds.
    """

    gate: str
    args: tuple[Any, ...]
    kwargs: dict[str, Any]
    result: Any
    error: str | None
    duration_ms: float


class Calls(NamedTuple):
    """What is kept of a turn's calls of gates, to tell of them where the turn is undone.

    The first ones and the last ones, for those tell how far the turn had come; as texts where
    they carry much.

    Attributes:
        turn: The turn's number.
        first: The first calls.
        last: The last ones.
        between: How many there are between them.
        size: Bytes that they take up, at most.
    """

    turn: int
    first: tuple[GateCall | str, ...] = ()
    last: tuple[GateCall | str, ...] = ()
    between: int = 0
    size: int = 0

    @classmethod
    def of(
        cls,
        turn: int,
        calls: Sequence[GateCall],
        sizes: Sequence[int],
        begun: GateCall | None = None,
    ) -> Calls:
        """The calls of a turn.

        Args:
            turn: The turn's number.
            calls: All its calls that were answered, in order.
            sizes: Bytes that each of them carries.
            begun: A call that was not, or None.
        """
        unanswered = () if begun is None else (_BEGUN.format(_asked(begun)),)
        if not calls:
            return cls(turn, unanswered)
        pairs = [*zip(calls, sizes, strict=True)]
        told = [*pairs[:_TOLD], *pairs[_TOLD:][-_TOLD:]]
        shown = [call if size <= _TOLD_BYTES else _effect(call) for call, size in told]
        taken = sum(min(size, _TOLD_BYTES) for _, size in told)
        between = len(calls) - len(told)
        last = (*shown[_TOLD:], *unanswered)
        return cls(turn, tuple(shown[:_TOLD]), last, between, taken)

    def lines(self) -> list[str]:
        """What is told of them, a line each."""
        between = [f"... {self.between:,} more ..."] if self.between else []
        return [*map(_effect, self.first), *between, *map(_effect, self.last)]


@dataclass(frozen=True, slots=True)
class RollBack:
    """Where a session was rolled back to.

    Attributes:
        turn: The turn at whose end the namespace is now; 0 for the beginning, where it holds
            what the host has set.
        differing: Numbers of turns that were run again for it, their gates answered from the
            record, and showed something else than the first time.
        missing: Names of variables that the host has set, and that no longer fit.
        left_out: Variables that the image lacks which the state was taken up from, each with the
            reason.
        image: The turn at whose end that image was made.
        why: Why earlier turns than the one that failed are undone too, or the empty string.
        calls: The calls of gates of those earlier turns.
    """

    turn: int
    differing: tuple[int, ...] = ()
    missing: tuple[str, ...] = ()
    left_out: Mapping[str, str] = field(default_factory=dict)
    image: int = 0
    why: str = ""
    calls: tuple[Calls, ...] = ()

    def text(self, undone: int) -> str:
        """What a model is told of it.

        Args:
            undone: The last turn before now: it is undone, unless the namespace is at its end.
        """
        if undone <= self.turn:
            return self._changes(f"The session goes on from the end of turn {self.turn}.")
        to = (
            f"rolled back to the end of turn {self.turn}"
            if self.turn
            else ("rolled back to its beginning, with the variables that it was given")
        )
        first = self.turn + 1
        turns = f"turn {undone}" if first >= undone else f"turns {first} to {undone}"
        why = f", for {self.why}" if self.why else ""
        text = f"The session was {to}: what {turns} changed is undone{why}."
        return self._changes(text)

    def _changes(self, text: str) -> str:
        """The same, with what is not as it was."""
        if self.differing:
            numbers = ", ".join(str(number) for number in self.differing)
            text += (
                f" To get there, turns were run again, and showed something else this time: "
                f"{numbers}. Check what they computed."
            )
        if self.missing:
            listed = ", ".join(repr(name) for name in self.missing)
            text += (
                " There was no room left for variables that it was given, so they are gone: "
                f"{listed}."
            )
        return f"{text}\n{lacking(self.image, self.left_out)}" if self.left_out else text


@dataclass(frozen=True, slots=True)
class Execution:
    """One turn of a session.

    Attributes:
        status: ``ok``, ``error`` (the program raised), ``done`` (it called the gate that
            ends its work), ``timeout``, ``memory`` or ``crashed``.
        stdout: All that was printed; past 10 million characters head and tail.
        error: The error, or None.
        state: What became of the namespace: ``kept``, ``rolled_back`` or ``lost``.
        turn: The turn's number in its session, from 1.
        rollback: Where to the namespace was rolled back, or None.
        before: What had happened to the session before this turn, for its model to know; as a
            rule the empty string.
        gate_calls: The gates that were called, in order.
        duration_ms: Time from start to end, in milliseconds.
        shown: The last expression's value as text, or None.
        sealed_value: That value, encoded.
        sealed_answer: What the program gave to ``done``, encoded.
        output_chars: Length of the observation, in characters.
        unsealed: Why the value could not be encoded, or None.
        bound: Which names the turn bound, where it printed nothing and has no value, for
            example ``assigned `answer` (list, 2 items)``; else None.
        reads: What the program read of clocks and chance, to be given back where the turn is run
            again; None where it read nothing.
        repeatable: Whether the turn comes to the same when it is run again with these reads: it
            came to its end, its state was kept, and it read no more than is kept.
        reads_differ: Whether it was given reads and did not read all of them.
    """

    status: Status
    stdout: str = ""
    error: ErrorInfo | None = None
    state: State = "kept"
    turn: int = 0
    rollback: RollBack | None = None
    before: str = ""
    gate_calls: tuple[GateCall, ...] = ()
    duration_ms: float = 0.0
    shown: str | None = None
    sealed_value: Sealed | None = field(default=None, repr=False)
    sealed_answer: Sealed | None = field(default=None, repr=False)
    output_chars: int = field(default=20_000, repr=False)
    unsealed: str | None = field(default=None, repr=False)
    bound: str | None = None
    reads: bytes | None = field(default=None, repr=False)
    repeatable: bool = field(default=True, repr=False)
    reads_differ: bool = field(default=False, repr=False)

    @property
    def value(self) -> Any:
        """The last expression's value, or None. Decoded when asked for.

        Raises:
            CodecError: The value could not be encoded, or its bytes are malformed.
        """
        if self.unsealed is not None:
            raise CodecError(f"the turn's value can't be read: {self.unsealed}")
        return self.sealed_value.open() if self.sealed_value else None

    @property
    def rolled_back_to(self) -> int | None:
        """The turn at whose end the namespace is now, where it was rolled back; else None."""
        return self.rollback.turn if self.rollback else None

    @property
    def answer(self) -> Any:
        """What the program gave to ``done``, or None where the status is another."""
        return self.sealed_answer.open() if self.sealed_answer else None

    def __str__(self) -> str:
        """The observation, as a model is shown it."""
        return self.observation(self.output_chars)

    def observation(self, limit: int) -> str:
        """What a model is shown of the turn.

        What was printed stands first, then the value or the error. Of a long output the middle is
        left out, so that what follows it is always seen.

        Args:
            limit: Most characters of it; the marks of what was left out may pass a small one.
        """
        if self.before:
            limit = max(limit - len(self.before) - 1, limit // 2)
            return f"{self.before}\n{replace(self, before='').observation(limit)}"
        ending = self._ending(max(limit * 3 // 4, limit - len(self.stdout) - 1))
        printed = self.stdout.removesuffix("\n")
        if not printed:
            return ending or self._silence()
        if not ending:
            return clip(printed, limit)
        return f"{clip(printed, limit - len(ending) - 1)}\n{ending}"

    def _ending(self, limit: int) -> str:
        """What follows the output. What became of the session is never cut."""
        fate = self.rollback.text(self.turn) if self.rollback else ""
        if self.state == "lost":
            fate = LOST_STATE
        called = ""
        if self.state != "kept":
            earlier = self.rollback.calls if self.rollback else ()
            own = Calls.of(self.turn, self.gate_calls, [0] * len(self.gate_calls))
            called = clip(effects([*earlier, own]), max(limit // 2, _MARK_CHARS))
        room = limit - sum(len(text) + 1 for text in (fate, called) if text)
        parts = (clip(self._outcome(), max(room, limit // 3)), fate, called)
        return "\n".join(part for part in parts if part)

    def _outcome(self) -> str:
        """The value, the error, or the answer."""
        parts = []
        if self.shown is not None:
            parts.append(self.shown)
        if self.error is not None:
            parts.append(self.error.traceback.removesuffix("\n"))
        if self.status == "done" and self.sealed_answer:
            parts.append(f"done: {self.sealed_answer.text}")
        return "\n".join(parts)

    def _silence(self) -> str:
        """What is said where there is nothing to show, so that nobody takes it for a failure."""
        if self.stdout:
            return "The code ran without error; it printed an empty line and ends with no value."
        if self.bound:
            return f"The code ran without error; {self.bound}; nothing printed."
        return "The code ran without error, no output: it printed nothing and ends with no value."


def lacking(turn: int, left_out: Mapping[str, str]) -> str:
    """What is said of variables that an image lacks which a turn's end was taken up from."""
    return _LACKING.format(turn, reasons(left_out))


def reasons(left_out: Mapping[str, str]) -> str:
    """Variables with the reasons why an image lacks them, a line each."""
    lines = [f"- {name}: {reason}" for name, reason in left_out.items()]
    if len(lines) > _LISTED:
        lines[_LISTED:] = [f"- and {len(lines) - _LISTED:,} more"]
    return "\n".join(lines)


def effects(undone: Sequence[Calls]) -> str:
    """The gates that undone turns had called, so that nothing is done or paid for twice.

    The empty string where they called none.
    """
    turns = [calls for calls in undone if calls.first]
    if not turns:
        return ""
    lines = [
        f"  turn {calls.turn}: {line}" if len(turns) > 1 else f"  {line}"
        for calls in turns
        for line in calls.lines()
    ]
    return "\n".join([_STAND, *lines])


def _effect(call: GateCall | str) -> str:
    if isinstance(call, str):
        return call
    came = f"gave {_preview(call.result, _EFFECT_CHARS)}"
    if call.error:
        came = f"failed: {call.error}"
    return clip(f"{_asked(call)} {came}", 3 * _EFFECT_CHARS)


def _asked(call: GateCall) -> str:
    shown = [_preview(arg, _EFFECT_CHARS // 3) for arg in call.args]
    shown += [f"{name}={_preview(arg, _EFFECT_CHARS // 3)}" for name, arg in call.kwargs.items()]
    return f"{call.gate}({clip(', '.join(shown), _EFFECT_CHARS)})"


def _preview(value: Any, chars: int) -> str:
    return clip(value.text, chars) if isinstance(value, Sealed) else show(value, chars)


def clip(text: str, limit: int) -> str:
    """Head and tail of a text, with the exact number of characters left out between them.

    Args:
        text: The text.
        limit: Most characters of what is returned, its mark included; at least 50.
    """
    if len(text) <= limit:
        return text
    kept = max(limit - _MARK_CHARS, 2)
    head, tail = kept - kept // 2, kept // 2
    return text[:head] + left_out(len(text) - kept) + text[-tail:]


def left_out(count: int) -> str:
    """The mark that stands where characters were left out."""
    return f"\n[... {count:,} characters left out ...]\n"
