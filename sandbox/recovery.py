"""How turns are run again in another worker: without a program's gates being called twice."""

from __future__ import annotations

import socket
import time
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple, TypeVar

from .channel import receive, send
from .dialogue import Receive, Send, Steps, Turn
from .errors import CodecError, NoSuchVariable, SandboxError
from .images.steps import loading
from .limits import Limits
from .record import Entry, Loaded, Played, Setting, call_digest, outcome_of
from .variables import getting, setting
from .wire import Inbox

_T = TypeVar("_T")
UNUSABLE = (TimeoutError, ConnectionError, SandboxError)
"""What means that a worker came to nothing."""


RERUN_SECONDS = 30.0
"""Time after which no further turn is run again: those that are left are lost."""
_SLOWER, _SLOWER_MS = 4, 500  # than the first time
_SILENT_SECONDS = 1.0


class Rerun(NamedTuple):
    """How far a past could be done again.

    Attributes:
        done: How many entries were done, from the first on.
        differing: Numbers of the turns that showed something else than the first time.
        is_whole: Whether the worker stands at the end of these: else it is not to be used.
        has_died: Whether that is for the worker's end, which the next turn may not be to blame for.
    """

    done: int
    differing: tuple[int, ...]
    is_whole: bool
    has_died: bool = False


class _Deviated(Exception):
    """A turn that is run again calls a gate that it did not call then."""


class _TurnAgain(Turn):
    """A turn whose gates are answered as they were the first time."""

    def __init__(self, limits: Limits, past: Played) -> None:
        super().__init__(limits, past.number)
        self._left = iter(past.exchanges)

    def _gate(self, body: bytes | bytearray) -> Steps[None]:
        past = next(self._left, None)
        if past is None or past.call != call_digest(body):
            raise _Deviated
        self._seen.answer = past.answer
        yield Send(past.reply)


def rerun(
    sock: socket.socket, limits: Limits, entries: Sequence[Entry], is_fresh: bool, until: float
) -> Rerun:
    """Do again what was done, as far as it goes the same way, and as time allows.

    Args:
        sock: The worker's socket.
        limits: The session's.
        entries: What was done.
        is_fresh: Whether the worker has no state: it then takes up that of an image which comes
            first. One that comes later holds what is there by then.
        until: When no further turn is run, on the clock of ``monotonic``.
    """
    inbox = Inbox()
    differing: list[int] = []
    for count, entry in enumerate(entries):
        if time.monotonic() > until:
            return Rerun(count, tuple(differing), True)
        try:
            if isinstance(entry, Setting):
                perform(sock, inbox, setting(entry.name, entry.value, limits))
            elif isinstance(entry, Loaded):
                if is_fresh and not count:
                    perform(sock, inbox, loading(entry.body))
            elif not entry.playable:
                return Rerun(count, tuple(differing), True)
            elif not _play(sock, inbox, limits, entry):
                differing.append(entry.number)
        except ConnectionError:
            return Rerun(count, tuple(differing), False, has_died=True)
        except (_Deviated, *UNUSABLE):
            return Rerun(count, tuple(differing), False)
    if entries and not _is_silent(sock, inbox):
        return Rerun(len(entries) - 1, tuple(differing), False)
    return Rerun(len(entries), tuple(differing), True)


def _is_silent(sock: socket.socket, inbox: Inbox) -> bool:
    """Whether a worker that was run has said all that it says unasked: none of it is left over."""
    try:
        perform(sock, inbox, getting("_", _SILENT_SECONDS))
    except (NoSuchVariable, CodecError):
        return True
    except UNUSABLE:
        return False
    return True


def perform(sock: socket.socket, inbox: Inbox, steps: Steps[_T]) -> _T:
    """Take steps that call no gate, waiting for each.

    Raises:
        TimeoutError, ConnectionError, ProtocolError: The worker has to be given up.
    """
    try:
        step = next(steps)
        while True:
            match step:
                case Send(data, seconds):
                    send(sock, data, seconds)
                    step = steps.send(None)
                case Receive(seconds):
                    step = steps.send(receive(sock, inbox, seconds))
    except StopIteration as stop:
        result: _T = stop.value
        return result


def _play(sock: socket.socket, inbox: Inbox, limits: Limits, past: Played) -> bool:
    """Run a turn again; whether it showed the same."""
    # It may take longer than it did, but not a whole turn's time, which a program could use up
    # that has waited for this.
    most = min(limits.eval_ms, round(past.seconds * 1000 * _SLOWER) + _SLOWER_MS)
    bounded = replace(limits, eval_ms=most)
    again = perform(sock, inbox, _TurnAgain(bounded, past).steps(past.source, past.reads))
    if again.status in ("timeout", "memory"):
        raise _Deviated
    return outcome_of(again) == past.outcome
