"""What is on record of a turn, for it to be carried out again: answers instead of gates."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn

from ..sandbox.dialogue import Done
from ..sandbox.execution import clip
from ..sandbox.outcomes import GateInterrupted
from ..sandbox.wire import Sealed
from .call import NAME_CHARS, asked_of
from .failures import error_of
from .loom import CallRecord, Observation, Turn, Uttered
from .readings import by_program

LINE_CHARS = 200
"""Length of what is quoted of a turn that is not the same."""
_INTERRUPTED = (
    "{} had been called with {} when the process that ran it died, before it had answered: what "
    "it does may or may not have happened. It is not called again by itself. Find out first; then "
    "call it if it did not happen."
)


class Deviation(BaseException):
    """A turn that is carried out again does something else than on record.

    No ``Exception``, for its program must not go on with it.
    """


class Recorded:
    """What is on record of one turn.

    Args:
        calls: Its gate calls, in order.
        parts: Its nodes, in order.
    """

    def __init__(self, calls: Sequence[CallRecord] = (), parts: Sequence[Turn] = ()) -> None:
        self._calls = calls
        self._parts = parts
        self._reads = by_program([*(call.reads for call in calls), *(part.reads for part in parts)])

    @classmethod
    def of(cls, step: Uttered) -> Recorded:
        """What is on record of a turn whose nodes are all there."""
        calls = [call for part in step.parts for call in part.calls]
        return cls(sorted(calls, key=lambda call: call.k), step.parts)

    def reads(self, program: int) -> bytes | None:
        """What one of its programs read of clocks and chance; their ordinals begin at 1."""
        return self._reads.get(program)

    def begun(self, k: int) -> CallRecord | None:
        """A call as it is on record, be it without an end; None where it isn't."""
        return self._calls[k - 1] if k <= len(self._calls) else None

    def ended(self, k: int) -> CallRecord | None:
        """A call whose end is on record, or None."""
        record = self.begun(k)
        return record if record is not None and record.state == "ended" else None

    def after(self, k: int) -> Sequence[CallRecord]:
        """The calls on record after one."""
        return self._calls[k:]

    def part(self, number: int) -> Turn | None:
        """One of its nodes by its ordinal, from 1; None where it isn't on record."""
        return self._parts[number - 1] if number <= len(self._parts) else None

    def delegated(self, part: int, calls: Sequence[int]) -> tuple[str, ...]:
        """The children that a call spawned, whose record ends a part; none where it doesn't.

        Args:
            part: Ordinal of the part that the call would end.
            calls: The calls in that part, in order.
        """
        node = self.part(part)
        is_it = node is not None and not node.last and [*node.call_numbers] == [*calls]
        return node.delegated if node is not None and is_it else ()

    def check(self, k: int, gate: str, asked: bytes | None) -> None:
        """Check that a call is the one that is on record, if one is.

        Raises:
            Deviation: It is another one.
        """
        record = self.begun(k)
        if record is None:
            return
        if record.gate != clip(gate, NAME_CHARS):
            raise Deviation(f"it calls {gate} where the record has {record.gate}")
        if record.asked != asked:
            raise Deviation(
                f"{gate} is called with other arguments than on record "
                f"({clip(record.arguments_text, LINE_CHARS)})"
            )

    def check_all_made(self, made: int) -> None:
        """Check that no call on record is left after so many.

        Raises:
            Deviation: One is.
        """
        left = self.begun(made + 1)
        if left is not None:
            raise Deviation(f"call {left.k}, of {left.gate}, is on record and was not made")


def answer_of(record: CallRecord) -> Sealed:
    """What a call was answered with.

    Raises:
        Exception: It was answered with that.
        Deviation: Its answer isn't on record.
    """
    if record.failure is not None:
        raise error_of(record.failure)
    if record.result is None:
        raise Deviation(f"no answer of {record.gate} is on record")
    return Sealed(record.result, record.text)


def interrupted(gate: str, arguments: str) -> GateInterrupted:
    """What a program gets of a call that was begun and has no end.

    Args:
        gate: The gate's name.
        arguments: A text of the arguments.
    """
    text = _INTERRUPTED.format(gate, clip(arguments, LINE_CHARS))
    return GateInterrupted("interrupted", text)


def without_notes(observation: Observation) -> str:
    """An observation without what it tells of the session before the turn."""
    notes = observation.before
    return observation.text.replace(f"{notes}\n", "", 1) if notes else observation.text


def difference(turn: int, before: str, now: str) -> str | None:
    """What a turn showed this time, and what the first time: the first line that differs.

    Args:
        turn: Ordinal of the utterance.
        before: What is on record.
        now: What it showed when it was run again.
    """
    if before == now:
        return None
    lines_before, lines_now = before.splitlines(), now.splitlines()
    same = 0
    for one, other in zip(lines_before, lines_now, strict=False):
        if one != other:
            break
        same += 1
    was, is_now = (
        repr(clip(lines[same], LINE_CHARS)) if same < len(lines) else "nothing more"
        for lines in (lines_before, lines_now)
    )
    return f"turn {turn} showed {is_now} when it was run again, where it had shown {was}"


class RecordedDesk:
    """Answers a turn's gate calls from the record; see ``media.base.Desk``.

    Args:
        step: The turn.
    """

    def __init__(self, step: Uttered) -> None:
        self._step = step
        self._recorded = Recorded.of(step)
        self._made = self._program = 0

    @property
    def turn(self) -> int:
        """Ordinal of the utterance."""
        return self._step.turn

    @property
    def reads(self) -> bytes | None:
        """What the program that runs now read the first time."""
        return self._recorded.reads(self._program)

    @contextmanager
    def running(
        self,
        printed: Callable[[], str],  # noqa: ARG002
        reads: Callable[[], bytes | None],  # noqa: ARG002
    ) -> Iterator[None]:
        """While a program runs."""
        self._program += 1
        yield

    async def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Answer a call as it was answered the first time."""
        record = self._next(name)
        if record.asked is not None:
            self._recorded.check(self._made, name, asked_of(args, kwargs))
        if record.failure is None and record.result is None:
            return Done(self._answer())
        return answer_of(record)

    def refuse(self, name: str, why: str) -> NoReturn:  # noqa: ARG002 - it was recorded
        """Raise what a call was refused with."""
        record = self._next(name)
        if record.failure is None:
            raise Deviation(f"{name} is refused, and was not on record")
        raise error_of(record.failure)

    def check_all_made(self) -> None:
        """Check that no call on record is left.

        Raises:
            Deviation: One is.
        """
        self._recorded.check_all_made(self._made)

    def _next(self, name: str) -> CallRecord:
        self._made += 1
        record = self._recorded.begun(self._made)
        if record is None:
            raise Deviation(f"it calls {name}, and no further call is on record")
        if record.state != "ended":
            raise Deviation(f"no answer of {name} is on record")
        if record.gate != clip(name, NAME_CHARS):
            raise Deviation(f"it calls {name} where the record has {record.gate}")
        return record

    def _answer(self) -> Sealed:
        """What ``done`` was given: it stands in the end of the cast, not with the call."""
        end = self._step.parts[-1].end
        if end is None or end.result is None:
            raise Deviation("the answer that it hands in is not on record")
        return Sealed(end.result, end.result_text)
