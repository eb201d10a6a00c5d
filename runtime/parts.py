"""The parts of one turn as they are recorded: what is observed in each, and its node.

A turn that delegates is recorded in parts (``LOOM-1``, ``LOOM-8``): what happened before the
children stands as one node, which they hang under; what follows their return is the next. The
delegating call's own record belongs to the part after it, so each call stands once.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Protocol

from ..sandbox.execution import clip
from .loom import MORE_CALLS, NodeRecord, Observation, ObservedCall, Turn
from .loom.records import Record
from .loom.values import State
from .media import Act
from .media.base import KILLED
from .readings import Readings
from .recorded import Deviation, Recorded, difference, without_notes
from .texts import RESULT_CHARS, error_text

MAX_OBSERVED = 200
"""Calls of one node that its observation tells of; of more it gives the number."""


class Owner(Protocol):
    """What parts need of the entity whose turn it is."""

    entity_id: str
    tip: str | None
    sequence: int

    def record(self, record: Record) -> None:
        """Record a fact."""

    def differs(self, difference: str) -> None:
        """Take in what a turn shows that is on record otherwise."""


class Parts:
    """Records the nodes of one turn, but for those that are on record.

    Args:
        owner: The entity.
        turn: Ordinal of the utterance, from 1.
        recorded: What is on record of the turn.
        readings: What its programs read of clocks and chance.

    Attributes:
        count: How many parts have come to their end.
        calls: ``k`` of each call since the last of them.
    """

    def __init__(self, owner: Owner, turn: int, recorded: Recorded, readings: Readings) -> None:
        self._owner = owner
        self._turn = turn
        self._recorded = recorded
        self._readings = readings
        self.count = 0
        self.calls: list[int] = []
        self._observed: list[ObservedCall] = []
        self._references: dict[int, str] = {}  # what stands for ephemeral results, by place
        self._unobserved = 0
        self._started = time.perf_counter()
        self._program: Callable[[], str] | None = None
        self._told = 0  # characters of the running program's output that earlier parts have
        self._printed = ""  # by programs that are over, since the last part
        self._was_killed = self._is_cut_off = False

    @contextmanager
    def running(self, printed: Callable[[], str]) -> Iterator[None]:
        """While a program runs; see ``media.base.Desk.running``."""
        self._program, self._told = printed, 0
        try:
            yield
        except BaseException:
            self._was_killed = True  # its process was given up in the middle of it
            raise
        finally:
            self._printed = self._fresh_output()
            self._program = None

    def observe(self, k: int, call: ObservedCall, reference: str | None = None) -> None:
        """Take in a call that was answered.

        Args:
            k: Ordinal of the call within the utterance.
            call: The call, and what it was answered with.
            reference: What stands for its answer in the messages, where that is ephemeral.
        """
        self.calls.append(k)
        if len(self._observed) >= MAX_OBSERVED:
            self._unobserved += 1
            return
        if reference is not None:
            self._references[len(self._observed)] = reference
        self._observed.append(call)

    def split(self, delegated: Sequence[str]) -> str:
        """Record the part that ends with a delegation; gives its node, for children to hang under.

        Args:
            delegated: Ids of the children.
        """
        calls, fresh = self._observed_calls(), self._fresh_output()
        observation = Observation(calls, fresh, None, None, fresh, is_error=False)
        return self._record_node(observation, last=False, delegated=tuple(delegated))

    def finish(self, act: Act) -> None:
        """Record the last part."""
        observation = Observation(
            records=self._observed_calls(),
            printed=self._fresh_output(),
            value=act.value,
            error=act.error,
            text=act.text,
            is_error=act.is_error,
            told=_told(act),
            before=act.before,
        )
        self._record_node(
            observation,
            last=True,
            state=act.state,
            replayable=act.replayable,
            exits=act.exits,
        )

    def catch_up(self) -> set[int]:
        """Pass the parts on record that were not come to; gives ``k`` of each call in parts."""
        passed: set[int] = set()
        number = 1
        while (past := self._recorded.part(number)) is not None and not past.last:
            passed.update(past.call_numbers)
            if number > self.count:
                self._end_part(past.id, past.sequence)
            number += 1
        return passed

    def cut_off(self, error: BaseException) -> Act:
        """What is told of a turn that could not be carried out to its end."""
        self._is_cut_off = True
        text = f"The turn was cut off: {error_text(error)}"
        if self._was_killed:
            text += " What it changed in the session is undone."
        for place, call in enumerate(self._observed):
            result = self._references.get(place, call.result)
            text += f"\n{call.gate} was called with {call.arguments}: {result}"
        if self._unobserved:
            text += f"\n... {self._unobserved:,} more calls"
        text = clip(text, RESULT_CHARS)
        state: State = "rolled_back" if self._was_killed else "kept"
        # Of a turn that is undone as a whole nothing has to be done again.
        is_undone = self._was_killed and self._readings.program == 1
        exits = (KILLED,) if self._was_killed else ()
        return Act((), text, True, error=text, state=state, replayable=is_undone, exits=exits)

    def _fresh_output(self) -> str:
        """What was printed since the last part."""
        output = self._program() if self._program else ""
        fresh = self._printed + output[self._told :]
        self._printed, self._told = "", len(output)
        return fresh

    def _observed_calls(self) -> tuple[ObservedCall, ...]:
        """The node's calls; past ``MAX_OBSERVED`` the last one says how many more there were."""
        if not self._unobserved:
            return tuple(self._observed)
        more = ObservedCall(MORE_CALLS, "", f"{self._unobserved:,} more calls", is_error=False)
        return (*self._observed, more)

    def _record_node(
        self,
        observation: Observation,
        last: bool,
        delegated: tuple[str, ...] = (),
        state: State = "kept",
        replayable: bool = True,
        exits: tuple[int, ...] = (),
    ) -> str:
        owner = self._owner
        sequence = owner.sequence + 1
        number = self.count + 1
        node = NodeRecord(
            id=f"{owner.entity_id}.{sequence}",
            parent=owner.tip,
            entity=owner.entity_id,
            sequence=sequence,
            turn=self._turn,
            part=number,
            last=last,
            observation=observation,
            calls=tuple(self.calls),
            delegated=delegated,
            state=state,
            duration_ms=max((time.perf_counter() - self._started) * 1000, 0.001),
            replayable=replayable,
            reads=self._readings.taken() if last else None,
            exits=exits,
        )
        past = self._recorded.part(number)
        if past is None:
            owner.record(node)
        else:
            self._compare(node, past)
        self._end_part(node.id, sequence)
        return node.id

    def _end_part(self, node: str, sequence: int) -> None:
        self._owner.tip, self._owner.sequence = node, sequence
        self.count += 1
        self.calls.clear()
        self._observed.clear()
        self._references.clear()
        self._unobserved = 0
        self._started = time.perf_counter()

    def _compare(self, node: NodeRecord, past: Turn) -> None:
        """See whether a part that is on record shows what it did the first time.

        Raises:
            Deviation: It is another part.
        """
        if node.last != past.last:
            raise Deviation("it delegates otherwise than on record")
        before, now = without_notes(past.observation), without_notes(node.observation)
        differing = None if self._is_cut_off else difference(self._turn, before, now)
        if differing is not None:
            self._owner.differs(differing)


def _told(act: Act) -> tuple[str, ...] | None:
    """What each message of an act says; None where its text is the only one."""
    told = tuple(message.content or "" for message in act.messages)
    return None if told == (act.text,) else told
