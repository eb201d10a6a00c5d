"""The world as a program reads it: clocks, and chance that follows from no seed.

Each read is noted while its turn runs; a turn that is run again is given back what it read then,
each kind in order, and goes on with the world where that runs out. The runner's own deadlines read
the real clocks, never these.
"""

from __future__ import annotations

import os
import time
from collections import deque
from collections.abc import Callable, Iterable, Mapping
from types import MethodType

from .reads import CHANCE, CLOCKS, MAX_READS, NUMBER_BYTES, packed, per_second, unpacked
from .wire import dumps

_FAMILIES = ("monotonic perf_counter", "process_time", "thread_time")
"""Clocks that only go forward, those together that count from the same moment."""


class Clock:
    """One clock.

    After reads that were given back it goes on from there, if it is one that only goes forward: a
    program may hold what it read of it in an earlier turn.

    Args:
        name: As the function of ``time`` that reads it.

    Attributes:
        ahead: What is added to the real clock.
        read: Reads it.
    """

    __slots__ = ("_given", "_noted", "_real", "ahead", "family", "name", "read")

    def __init__(self, name: str) -> None:
        self.name = name
        self.ahead = self._number(0)
        self.family: tuple[Clock, ...] = ()
        self._real: Callable[[], float] = getattr(time, name)
        self._given: deque[float] = deque()
        # One more than is kept, so that its length tells whether it was more.
        self._noted: deque[float] = deque(maxlen=MAX_READS // NUMBER_BYTES + 1)
        self.read = self.reader()

    def __repr__(self) -> str:
        return f"<clock {self.name!r}>"

    def reader(self) -> Callable[[], float]:
        """A function that reads it: a bound one, which in a class of a program's is no method."""
        real, given, note = self._real, self._given, self._noted.append

        def read(clock: Clock) -> float:
            if given:
                return clock._again()
            note(now := real() + clock.ahead)
            return now

        return MethodType(read, self)

    def _again(self) -> float:
        then = self._given.popleft()
        self._noted.append(then)
        if self.family:
            self.go_on_from(then)
        return then

    def _number(self, number: float) -> float:
        """A number of the kind that it shows."""
        return float(number) if CLOCKS[self.name] == "d" else round(number)

    def go_on_from(self, moment: float) -> None:
        """Have this clock, and those of its family, go on from a moment that it shows now."""
        seconds = (moment - self._real()) / per_second(self.name)
        for clock in self.family:
            clock.ahead = clock._number(seconds * per_second(clock.name))

    def give(self, numbers: Iterable[float]) -> None:
        """Begin a turn whose first reads are these."""
        self._noted.clear()
        self._given.clear()
        self._given.extend(numbers)

    def taken(self) -> bytes:
        """What was read since this was last asked."""
        data = packed(self.name, self._noted)
        self._noted.clear()
        return data


class Chance:
    """Random bytes that follow from no seed."""

    def __init__(self) -> None:
        self._given = memoryview(b"")
        self._noted = bytearray()

    def read(self, size: int) -> bytes:
        """Read so many bytes.

        Raises:
            ValueError: The size is below 0.
        """
        if 0 < size <= len(self._given):
            data = bytes(self._given[:size])
            self._given = self._given[size:]
        else:
            data = os.urandom(size)
            self._given = self._given[:0]
        self._noted += data[: MAX_READS + 1 - len(self._noted)]
        return data

    def give(self, data: bytes) -> None:
        """Begin a turn whose first reads are these."""
        self._noted.clear()
        self._given = memoryview(data)

    def taken(self) -> bytes:
        """What was read since this was last asked."""
        data = bytes(self._noted)
        self._noted.clear()
        return data


class World:
    """All that a program reads of the world.

    Attributes:
        clocks: The clocks, by name.
        chance: The random bytes.
    """

    def __init__(self) -> None:
        self.clocks = {name: Clock(name) for name in CLOCKS}
        self.chance = Chance()
        self._left = MAX_READS
        for names in _FAMILIES:
            units = [self.clocks[name + unit] for name in names.split() for unit in ("", "_ns")]
            for clock in units:
                clock.family = tuple(units)

    def give(self, reads: Mapping[str, bytes]) -> None:
        """Begin a turn.

        Args:
            reads: What its first reads give, by kind.
        """
        self._left = MAX_READS
        for name, clock in self.clocks.items():
            clock.give(unpacked(name, reads.get(name, b"")))
        self.chance.give(reads.get(CHANCE, b""))

    def taken(self) -> bytes | None:
        """What was read since this was last asked, encoded; None where that is nothing.

        Empty where the turn has read more than is kept.
        """
        reads = {name: clock.taken() for name, clock in self.clocks.items()}
        reads[CHANCE] = self.chance.taken()
        size = sum(map(len, reads.values()))
        if not size:
            return None
        if size > self._left:
            self._left = 0  # nothing more is told of it
            return b""
        self._left -= size
        return dumps({kind: data for kind, data in reads.items() if data})

    def moments(self) -> dict[str, float]:
        """What the clocks show that only go forward, for a session that goes on elsewhere."""
        shown = (self.clocks[names.partition(" ")[0]] for names in _FAMILIES)
        return {clock.name: clock._real() + clock.ahead for clock in shown}

    def go_on_from(self, moments: Mapping[str, float]) -> None:
        """Have clocks go on from what they show now.

        Raises:
            ValueError: A moment is none.
        """
        for names in _FAMILIES:
            first = names.partition(" ")[0]
            moment = moments[first]
            if type(moment) is not float or not 0 <= moment < 1 << 32:
                raise ValueError(f"{first} can't show {moment!r}")
            self.clocks[first].go_on_from(moment)


WORLD = World()
"""The one of this process, which runs one program."""
