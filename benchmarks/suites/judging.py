"""Runs probes one way and judges each from outside, whatever it says of itself."""

from __future__ import annotations

import os
import signal
import threading
from collections.abc import Collection, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from typing import Any

from circlet.sandbox import Execution, Limits, Sandbox
from circlet.sandbox.errors import CodecError, NoSuchVariable, SandboxError

from .outside import Outside
from .probes import Probe
from .ways import Way, opened, own_things

AT_ONCE = 4
"""Probes of kind ``dos`` that run at the same time; half as many where each starts a Python."""
PROMISED_SECONDS = 1.5
"""How long past its limit a turn may take, at most, until its host has an answer."""
DESCRIPTORS = 16
"""Descriptors that a host may have more of after a way: some are kept for the next sessions."""

_BEFORE = "before_the_probe = ['as', 'before']\nescaped = breached = None"
_AFTER = "print(before_the_probe, [len('four'), sum([1, 2])], __name__)"
_SHOW_SOME = "repr(escaped)[:100_000]"
_AFTER_LOSS = _AFTER.replace("before_the_probe", "target is not None")
_PRINTED = {_AFTER: "['as', 'before'] [4, 3] __main__\n", _AFTER_LOSS: "True [4, 3] __main__\n"}


@dataclass(frozen=True)
class Verdict:
    """What one probe came to, one way.

    Attributes:
        probe: The probe.
        way: How it was run.
        status: The status of its turn, or ``none`` where its host got no answer.
        escaped: Whether it says that it reached what the language's wall should keep from it.
        found: What it did outside of its worker or to its host, in sentences. None, if all is well.
    """

    probe: Probe
    way: str
    status: str
    escaped: bool
    found: tuple[str, ...]

    @property
    def hit(self) -> bool:
        """Whether it got past a language's wall that stood: the other kinds can't tell."""
        return self.escaped and self.way != "kernel" and self.probe.kind in ("cap", "leak", "int")

    def failed(self, features: Collection[str]) -> bool:
        """Whether this is a failure, given the names of probes that reach features only."""
        feature = self.probe.kind in ("leak", "int") and self.probe.name in features
        return bool(self.found) or (self.hit and not feature)


@dataclass(frozen=True)
class Run:
    """All probes, one way.

    Attributes:
        way: The way's name.
        verdicts: One for each probe, in order.
        left: What was left of them all in the end, in sentences. None, if all is well.
        notes: What this machine doesn't give, in sentences.
    """

    way: str
    verdicts: tuple[Verdict, ...]
    left: tuple[str, ...]
    notes: tuple[str, ...]


def run(probes: Sequence[Probe], name: str, limits: Limits, without: Sequence[str] = ()) -> Run:
    """Run probes one way.

    Args:
        probes: The probes.
        name: The way.
        limits: Those of each probe's session.
        without: Layers of the kernel's wall to leave off where it stands.

    Raises:
        BackendUnavailable: This machine can't give the way.
    """
    descriptors = _descriptors()
    with Outside() as outside, opened(name, limits, without) as way:
        with _neighbour(way, outside) as neighbour:
            judge = _Judge(way, outside, neighbour, limits)
            verdicts = {p.name: judge.verdict(p) for p in probes if p.kind != "dos"}
            with ThreadPoolExecutor(AT_ONCE // 2 if name == "portable" else AT_ONCE) as threads:
                slow = threads.map(judge.verdict, [p for p in probes if p.kind == "dos"])
                verdicts.update({each.probe.name: each for each in slow})
        left = [f"process {pid} outlives its session" for pid in way.left_behind()]
        notes = way.notes
    if _descriptors() > descriptors + DESCRIPTORS:
        left.append("its host holds descriptors that a worker has sent")
    return Run(name, tuple(verdicts[p.name] for p in probes), tuple(left), tuple(notes))


def _descriptors() -> int:
    with suppress(OSError):  # only Linux tells
        return len(os.listdir("/proc/self/fd"))
    return 0


class _Neighbour:
    """Another session of the same way, which takes its turns on a thread of its own.

    Attributes:
        turns: How many it has had.
        trouble: What went wrong, or the empty string.
    """

    def __init__(self, box: Sandbox) -> None:
        self.turns = 0
        self.trouble = ""
        self._box = box
        self._pid = box.pid
        self._lock = threading.Lock()
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._go_on, daemon=True)

    def start(self, secret: str) -> None:
        """Begin. It keeps a secret among its variables."""
        self._box["secret"] = secret
        self._box.run("turns = 0")
        self._thread.start()

    def end(self) -> None:
        """Take the last turn."""
        self._over.set()
        self._thread.join()

    def turn(self) -> None:
        """Take one turn, which must find what the one before has left, in the same process."""
        with self._lock:
            if self.trouble:
                return
            ran = self._box.run("turns += 1\nprint(turns, len(secret))")
            self.turns += 1
            if self._box.pid != self._pid:
                self.trouble = "another session's process was ended"
            elif ran.stdout.split(" ")[0] != str(self.turns):
                self.trouble = f"another session was disturbed: {ran}"

    def _go_on(self) -> None:
        while not self._over.wait(0.01):
            self.turn()


@contextmanager
def _neighbour(way: Way, outside: Outside) -> Iterator[_Neighbour]:
    box = way.session(Limits())
    neighbour = _Neighbour(box)
    neighbour.start(outside.new_secret("neighbour"))
    try:
        yield neighbour
    finally:
        neighbour.end()
        box.close()


class _Judge:
    def __init__(self, way: Way, outside: Outside, neighbour: _Neighbour, limits: Limits) -> None:
        self._way = way
        self._outside = outside
        self._neighbour = neighbour
        self._watchdog = 10 * (limits.eval_ms / 1000 + PROMISED_SECONDS)
        self._lock = threading.Lock()

    def verdict(self, probe: Probe) -> Verdict:
        """Run one probe in a session."""
        trial = _Trial(probe, self._way, self._outside, self._neighbour)
        box = self._way.session()
        try:
            with _watched(box, self._watchdog, trial.found):
                trial.run(box)
        except SandboxError as error:
            trial.found.append(f"its session does not go on: {error}")
        except Exception as error:
            trial.found.append(f"its host raised {type(error).__name__}: {error}")
        quiet = probe.kind not in ("dos", "sys")  # what these leave may act on the next
        whole = quiet and trial.state == "kept" and not trial.found
        self._way.give_back(box, whole)
        self._neighbour.turn()
        with self._lock:
            trial.found += self._outside.touched()
            if self._neighbour.trouble:
                trial.found.append(self._neighbour.trouble)
        return Verdict(probe, self._way.name, trial.status, trial.escaped, tuple(trial.found))


class _Trial:
    """One probe's run, as it goes."""

    def __init__(self, probe: Probe, way: Way, outside: Outside, neighbour: _Neighbour) -> None:
        self._probe = probe
        self._way = way
        self._outside = outside
        self._neighbour = neighbour
        self.found: list[str] = []
        self.status = "none"
        self.state = "lost"
        self.escaped = False

    def run(self, box: Sandbox) -> None:
        """Run the probe, then a turn that has to find everything as it was."""
        box["target"] = self._outside.target
        box.run(_BEFORE)
        made = own_things(box.pid)
        turns = self._neighbour.turns
        ran = box.run(self._probe.text)
        self.status, self.state = ran.status, ran.state
        if ran.status == "timeout" and self._neighbour.turns == turns:
            self.found.append("its host answered nobody else meanwhile")
        if ran.state == "kept":
            self.found += made()
        self.found += self._outside.learned(_everything(ran))
        # Without the language's wall a program may make of its own process what it likes.
        if self._way.language_stands or self._probe.kind in ("sys", "dos"):
            self._next_turn(box, ran)
        if self._way.language_stands:
            self.escaped = self._claims(box, "escaped")
        else:  # it may be the whole interpreter, which takes long to be shown
            self.found += self._outside.learned(_everything(box.run(_SHOW_SOME)))
        if self._claims(box, "breached"):
            self.found.append("it says that the kernel let it")

    def _next_turn(self, box: Sandbox, ran: Execution) -> None:
        source = _AFTER_LOSS if ran.state == "lost" else _AFTER
        after = box.run(source)
        if (after.status, after.stdout) != ("ok", _PRINTED[source]):
            self.found.append(f"the turn after it went wrong: {after}"[:300])

    def _claims(self, box: Sandbox, name: str) -> bool:
        """Whether a variable that the probe may have set is truthy."""
        try:
            value = box[name]
        except CodecError:
            return True  # something that can't even be described
        except NoSuchVariable:
            return False
        except SandboxError:
            # A program that has the runner in its hands can answer as it likes, or not at all.
            if self._way.language_stands:
                raise
            return False
        self.found += self._outside.learned(repr(value))
        return bool(value)


def _everything(ran: Execution) -> str:
    """All that a turn told its host, as one text."""
    sealed = [each.data for each in (ran.sealed_value, ran.sealed_answer) if each is not None]
    return repr(ran) + b"".join(bytes(data) for data in sealed).decode("latin-1")


@contextmanager
def _watched(box: Sandbox, seconds: float, found: list[str]) -> Iterator[None]:
    """End a session's worker where what is done with it takes for ever."""
    pid: Any = box.pid

    def end() -> None:
        found.append("it did not end")
        with suppress(ProcessLookupError):
            os.kill(pid, signal.SIGKILL)

    timer = threading.Timer(seconds, end)
    timer.daemon = True
    timer.start()
    try:
        yield
    finally:
        timer.cancel()
