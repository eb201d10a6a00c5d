"""What one turn came to, and how a model is shown it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Literal

from .errors import CodecError
from .wire import Sealed

_MARK_CHARS = 48
"""Room for the mark of a text that was cut."""

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


@dataclass(frozen=True, slots=True)
class Execution:
    """One turn of a session.

    Attributes:
        status: ``ok``, ``error`` (the program raised), ``done`` (it called the gate that
            ends its work), ``timeout``, ``memory`` or ``crashed``.
        stdout: All that was printed; past 10 million characters head and tail.
        error: The error, or None.
        state: What became of the namespace: ``kept``, ``rolled_back`` or ``lost``.
        gate_calls: The gates that were called, in order.
        duration_ms: Time from start to end, in milliseconds.
        shown: The last expression's value as text, or None.
        sealed_value: That value, encoded.
        sealed_answer: What the program gave to ``done``, encoded.
        output_chars: Length of the observation, in characters.
        unsealed: Why the value could not be encoded, or None.
        bound: Which names the turn bound, where it printed nothing and has no value, for
            example ``assigned `answer` (list, 2 items)``; else None.
    """

    status: Status
    stdout: str = ""
    error: ErrorInfo | None = None
    state: State = "kept"
    gate_calls: tuple[GateCall, ...] = ()
    duration_ms: float = 0.0
    shown: str | None = None
    sealed_value: Sealed | None = field(default=None, repr=False)
    sealed_answer: Sealed | None = field(default=None, repr=False)
    output_chars: int = field(default=20_000, repr=False)
    unsealed: str | None = field(default=None, repr=False)
    bound: str | None = None

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
        ending = clip(self._ending(), max(limit * 3 // 4, limit - len(self.stdout) - 1))
        printed = self.stdout.removesuffix("\n")
        if not printed:
            return ending or self._silence()
        if not ending:
            return clip(printed, limit)
        return f"{clip(printed, limit - len(ending) - 1)}\n{ending}"

    def _ending(self) -> str:
        """What follows the output."""
        parts = []
        if self.shown is not None:
            parts.append(self.shown)
        if self.error is not None:
            parts.append(self.error.traceback.removesuffix("\n"))
        if self.status == "done" and self.sealed_answer:
            parts.append(f"done: {self.sealed_answer.text}")
        if self.state == "lost":
            parts.append("The state of this session was lost: all variables are gone.")
        return "\n".join(parts)

    def _silence(self) -> str:
        """What is said where there is nothing to show, so that nobody takes it for a failure."""
        if self.stdout:
            return "The code ran without error; it printed an empty line and ends with no value."
        if self.bound:
            return f"The code ran without error; {self.bound}; nothing printed."
        return "The code ran without error, no output: it printed nothing and ends with no value."


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
