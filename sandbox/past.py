"""What a session can be rolled back by: its checkpoints, and the record of what was done."""

from __future__ import annotations

import itertools
import math
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from types import MappingProxyType
from typing import NamedTuple

from .checkpoints import Parked, add, being_made
from .errors import CheckpointUnavailable, CodecError, NoCapacity, SandboxClosed
from .execution import RollBack
from .images.steps import dumping
from .kernel import KernelWorker
from .limits import Limits
from .portable import PortableWorker
from .record import MAX_RECORD, Entry, Loaded, Played, Record, Setting
from .recovery import RERUN_SECONDS, UNUSABLE, perform, rerun
from .variables import setting
from .wire import Inbox, Sealed

Worker = KernelWorker | PortableWorker
FORCE_SECONDS = 0.25
"""Time of turns since the last checkpoint, in seconds, after which the next turn waits for one:
no roll-back runs turns again for longer."""
_TRIES = 6
_states = itertools.count(1)


class Restored(NamedTuple):
    """A worker with a state of its session's past.

    Attributes:
        worker: The worker.
        turn: The turn at whose end the state is; 0 where it is that before the first.
        lost: Later turns whose effects are gone.
        differing: Numbers of turns that were run again and showed something else this time.
        is_whole: Whether nothing before ``turn`` is missing.
        missing: Names of variables that the host has set since, and that no longer fit.
        left_out: Variables that the image lacks which the state was taken up from, each with the
            reason; told once.
        image: The turn at whose end that image was made.
    """

    worker: Worker
    turn: int
    lost: tuple[Played, ...] = ()
    differing: tuple[int, ...] = ()
    is_whole: bool = True
    missing: tuple[str, ...] = ()
    left_out: Mapping[str, str] = MappingProxyType({})
    image: int = 0

    @property
    def is_the_same(self) -> bool:
        """Whether nothing is to be told of it."""
        return not (self.lost or self.differing or self.missing or self.left_out)

    @property
    def rollback(self) -> RollBack:
        """What is told of it."""
        why = ""
        if self.lost:
            first = self.lost[0]
            how = (
                "could not be run again as it was"
                if first.playable
                else f"{first.flaw} and can't be run again"
            )
            why = f"turn {first.number} {how}"
        calls = tuple(turn.calls for turn in self.lost)
        return RollBack(
            self.turn, self.differing, self.missing, self.left_out, self.image, why, calls
        )


class Past:
    """One session's past.

    Args:
        limits: The session's.
        keep: How many checkpoints are kept by themselves, the newest.

    Attributes:
        turn: The last turn whose effects its end has; 0 where there is none.
        state_id: A number for the state that it ends in. Two pasts of one number end in the same
            state; a number is never used for another one.
    """

    def __init__(self, limits: Limits, keep: int) -> None:
        self._limits = limits
        self.keep = keep
        self._given: dict[str, Sealed] = {}
        self._record = Record()
        self._imaged = 0  # the place up to which an image was written, or could not be
        self.parked: list[Parked] = []
        self.turn = 0
        self.state_id = 0

    # -- what was done -------------------------------------------------------------------------

    def add(self, entry: Entry) -> None:
        """Note what has just been done."""
        if isinstance(entry, Setting):
            self._given[entry.name] = entry.value
        else:
            self.turn = entry.number
        self.state_id = next(_states)
        self._record.add(entry)
        if self._record.is_full:
            self._record.forget_before(max(self._parked_place, self._record.base))

    @property
    def size(self) -> int:
        """Bytes of the variables that the host has set."""
        return sum(len(value.data) for value in self._given.values())

    def _living(self) -> list[Parked]:
        return [one for one in self.parked if not one.is_closed]

    @property
    def _parked_place(self) -> int:
        """The place of the newest checkpoint; 0 where there is none."""
        return max((one.place for one in self._living()), default=0)

    # -- checkpoints ---------------------------------------------------------------------------

    @property
    def has_news(self) -> bool:
        """Whether a turn has run since the last checkpoint."""
        return self._record.has_turns_since(self._parked_place)

    @property
    def is_due(self) -> bool:
        """Whether a checkpoint should be there before anything else is done.

        It should where running the turns since the last one again is too much, or does not do.
        """
        return bool(self.keep) and self._is_too_much(self._parked_place, FORCE_SECONDS)

    @property
    def needs_image(self) -> bool:
        """Whether an image should be there, for want of a checkpoint."""
        return self._is_too_much(self._kept_place, RERUN_SECONDS / 2)

    @property
    def _kept_place(self) -> int:
        """The place where the state was last kept, or could not be."""
        return max(self._parked_place, self._record.base, self._imaged)

    def _is_too_much(self, place: int, seconds: float) -> bool:
        """Whether what was done since a place is more than may have to be done again."""
        record = self._record
        return (
            record.is_full
            or not record.is_repeatable_since(place)
            or record.seconds_since(place) > seconds
        )

    def park(self, worker: Worker, asked_for: bool = False) -> None:
        """Have a checkpoint made of an idle worker that has this past.

        Raises:
            CheckpointUnavailable: There is no room for another one.
            TimeoutError, ConnectionError, ProtocolError: The worker has to be given up.
        """
        assert isinstance(worker, KernelWorker)
        with being_made():
            try:
                copy = worker.copy()
            except (NoCapacity, SandboxClosed) as error:
                raise CheckpointUnavailable(f"no checkpoint can be made: {error}") from None
            parked = Parked(copy, self._record.end, self.turn, self.state_id, self._is_only_way)
            add(parked, asked_for)
        self.parked.append(parked)
        self.parked = self._living()
        while len(self.parked) > max(self.keep, 1):
            self.parked.pop(0).close()

    def snapshot(self) -> Past:
        """The same past for another session, without its checkpoints."""
        past = Past(self._limits, self.keep)
        past._given = dict(self._given)
        past._record, past._imaged = self._record.copy(), self._imaged
        past.turn, past.state_id = self.turn, self.state_id
        return past

    def kept(self) -> list[Past]:
        """This past as of each of its checkpoints."""
        pasts = []
        for parked in self._living():
            past = self.snapshot()
            past._record.cut(parked.place)
            past.parked, past.turn, past.state_id = [parked], parked.turn, parked.state_id
            pasts.append(past)
        return pasts

    @property
    def _is_only_way(self) -> bool:
        """Whether this past can't be run again, so that only a checkpoint leads back to its end."""
        return not self._record.is_repeatable_since(self._record.base)

    def why_not_repeatable(self) -> str:
        """Why this past can't be run again, or the empty string."""
        if not self._is_only_way:
            return ""
        for entry in self._record.since(self._record.base) or ():
            if isinstance(entry, Played) and not entry.playable:
                return f"turn {entry.number} {entry.flaw}, and would not do the same again"
        return "more was done in this session than its record holds"

    def write_image(self, worker: Worker) -> None:
        """Have an idle worker that has this past write its state down, to begin from there.

        Where it can't be written, what came before is gone once the record is full.

        Raises:
            TimeoutError, ConnectionError, ProtocolError: The worker has to be given up.
        """
        dumped = perform(worker.sock, Inbox(), dumping())
        # A variable less is better than no way past this place, but not than a longer way.
        is_whole = not dumped.left_out or self._is_too_much(self._kept_place, math.inf)
        if is_whole and not dumped.reason and len(dumped.body) <= MAX_RECORD // 2:
            self._record.add(Loaded(self.turn, dumped.body, dumped.left_out))
        for place in (self._record.base, self._record.end):
            if self._record.is_full:
                self._record.forget_before(place)
        self._imaged = self._record.end

    def forget(self) -> None:
        """In a forked child: the checkpoints are the parent's."""
        for one in self.parked:
            one.worker.forget()
        self.parked.clear()

    def close(self) -> None:
        """Let go of all checkpoints."""
        for one in self.parked:
            one.close()
        self.parked.clear()

    # -- going back ----------------------------------------------------------------------------

    def restore(self, fresh: Callable[[], Worker]) -> Restored:
        """A worker with the state that this past ends in, or the latest that can be had.

        Args:
            fresh: Gives a worker that has its settings and no variables.

        Raises:
            BackendUnavailable: There is no worker to be had.
            SandboxClosed: So it is, for now.
        """
        until = time.monotonic() + RERUN_SECONDS
        for place, parked in self._starts():
            entries = self._record.since(place)
            if entries is None:
                continue
            for worker, done, differing in self._workers(parked, entries, fresh, until):
                turn = next(
                    (one.number for one in reversed(done) if isinstance(one, Played | Loaded)),
                    parked.turn if parked else 0,
                )
                state_id = parked.state_id if parked and not done else next(_states)
                lost, missing = self._cut(worker, place + len(done), state_id)
                self.turn = turn
                restored = Restored(worker, turn, lost, differing, missing=missing)
                if done and not parked and isinstance(image := done[0], Loaded):
                    self._record.note_told(place)
                    return restored._replace(left_out=image.left_out, image=image.number)
                return restored
        return self._begin_anew(fresh())

    def copy(self) -> Restored:
        """A worker with the state that this past ends in, for which no turn is run again.

        Raises:
            CheckpointUnavailable: The copy that was parked of it is gone, or can't be copied.
        """
        at_end = (one for one in self._living() if one.place == self._record.end)
        parked = next(at_end, None)
        if parked is None:
            raise CheckpointUnavailable(f"the checkpoint of turn {self.turn} has given way")
        try:
            return Restored(parked.worker.copy(), self.turn)
        except UNUSABLE as error:
            raise CheckpointUnavailable(f"the checkpoint can't be copied: {error}") from None

    def _starts(self) -> list[tuple[int, Parked | None]]:
        """Where to begin, the latest place first: with a checkpoint, or in a fresh worker."""
        starts: list[tuple[int, Parked | None]] = [(one.place, one) for one in self._living()]
        starts += [(place, None) for place in {self._record.base, 0}]
        return sorted(starts, key=lambda start: (start[0], start[1] is not None), reverse=True)

    def _workers(
        self,
        parked: Parked | None,
        entries: Sequence[Entry],
        fresh: Callable[[], Worker],
        until: float,
    ) -> Iterator[tuple[Worker, Sequence[Entry], tuple[int, ...]]]:
        """Workers on which what follows a checkpoint, or the beginning, was done again."""
        for tried in range(_TRIES):
            try:
                worker = parked.worker.copy() if parked else fresh()
            except NoCapacity:
                raise
            except UNUSABLE:
                if parked is None:
                    raise
                parked.close()
                return
            again = rerun(worker.sock, self._limits, entries, parked is None, until)
            if again.is_whole:
                yield worker, entries[: again.done], again.differing
            worker.end()
            if again.has_died and tried < _TRIES - 3:
                continue  # killed from outside, as a rule: all of these turns have been whole once
            entries = entries[: again.done] if tried < _TRIES - 2 else ()

    def _cut(
        self, worker: Worker, place: int, state_id: int
    ) -> tuple[tuple[Played, ...], tuple[str, ...]]:
        """End the past at a place, but for variables that the host has set since.

        Args:
            worker: A worker that is at that place.
            place: The place.
            state_id: The number of its state, where that isn't the past's own.

        Returns:
            The turns that are lost, and names of variables that don't fit any more.
        """
        later = self._record.since(place) or []
        if later:
            self.state_id = state_id
        self._record.cut(place)
        self._imaged = min(self._imaged, place)
        for one in self._living():
            if one.place > place:
                one.close()
        missing = self._give(worker, [entry for entry in later if isinstance(entry, Setting)])
        return tuple(entry for entry in later if isinstance(entry, Played)), missing

    def _begin_anew(self, worker: Worker) -> Restored:
        self._record, self._imaged = Record(), 0
        self.close()
        self.turn, self.state_id = 0, next(_states)
        settings = [Setting(name, value) for name, value in self._given.items()]
        missing = self._give(worker, settings)
        return Restored(worker, 0, is_whole=False, missing=missing)

    def _give(self, worker: Worker, settings: Sequence[Setting]) -> tuple[str, ...]:
        """Set variables; returns the names of those that don't fit."""
        missing = []
        for one in settings:
            try:
                perform(worker.sock, Inbox(), setting(one.name, one.value, self._limits))
                self._record.add(one)
            except CodecError:
                self._given.pop(one.name, None)
                missing.append(one.name)
        return tuple(missing)
