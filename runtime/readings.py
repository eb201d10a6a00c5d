"""What the programs of one turn read of clocks and chance, as it is recorded and given back.

A turn may run several programs, and calls gates while they run: what was read stands with the next
call, or with the turn's last node, each piece with the ordinal of the program that read it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager

from ..sandbox.reads import joined
from ..sandbox.wire import dumps, loads

Take = Callable[[], bytes | None]
"""Gives what a program has read since it was last asked; None where that is nothing."""


class Readings:
    """What is read while one turn is carried out.

    Attributes:
        program: Ordinal of the program that runs, or ran last, from 1; 0 before the first.
    """

    def __init__(self) -> None:
        self.program = 0
        self._take: Take | None = None
        self._waiting: list[tuple[int, bytes]] = []

    @contextmanager
    def running(self, take: Take) -> Iterator[None]:
        """While the turn's next program runs."""
        self.program, self._take = self.program + 1, take
        try:
            yield
        finally:
            self._gather()
            self._take = None

    def taken(self) -> bytes | None:
        """What was read since the last time, as it is recorded; None where that is nothing."""
        self._gather()
        waiting, self._waiting = self._waiting, []
        return dumps(waiting) if waiting else None

    def _gather(self) -> None:
        reads = self._take() if self._take else None
        if reads is not None:
            self._waiting.append((self.program, reads))


def by_program(recorded: Iterable[bytes | None]) -> dict[int, bytes]:
    """What each program of a turn read, by its ordinal from 1; one that read nothing has none.

    Args:
        recorded: What is on record of the turn's reads, in order.
    """
    parts: dict[int, list[bytes]] = {}
    for record in recorded:
        for program, reads in [] if record is None else loads(record):
            parts.setdefault(program, []).append(reads)
    return {program: reads for program in parts if (reads := joined(parts[program]))}
