"""Whether a run outlives whatever is killed: it is killed at random moments, and goes on.

Run ``python benchmarks/crash.py`` in a checkout, on Linux. The run has children on two levels, a
batch, and a gate that must not be called twice (see ``mortal.py``). In each trial something of it
is killed by SIGKILL at a moment that the seed decides: its host, the zygote that its workers come
from, or one of those; where the host died the run is resumed, and perhaps killed again, until it
ends. Other trials let its disk fill up, kill it in the middle of writing a record, or cut
its power, so that the block that was written last is gone, in both formats of a loom.

It has to come to the result of the undisturbed run, with every entry in the ledger once, every
record that was there at a kill still there, no node or utterance twice, a loom that is whole and a
trajectory that every request can be rebuilt from. Only after a power cut an entry may stand twice:
by default a loom outlives the death of a process; ``durability="power"`` is for more. The exit code
is 1 where one trial fails.
"""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from pathlib import Path

import command
import mortal
from circlet import Loom
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import NodeRecord, ReplyRecord
from circlet.runtime.loom.verify import verify
from circlet.runtime.trajectory.verify import verify as verify_trajectory
from rich.console import Console
from rich.table import Table

MOST_LIVES = 30
"""Lives after which a run counts as one that never ends."""
KILLS = 3
"""How often a host is killed in one trial, at most."""
LIFE_S = 120
"""Seconds after which a life hangs."""
LOOK_S = 0.005
"""Seconds until it is looked again for a process that isn't there yet."""
WRITTEN = {"sqlite": "loom.db-wal", "jsonl": "loom.jsonl"}
"""The file that a loom's newest records stand in, by its format."""
TORN_BYTES = 4096
"""How much is torn off, at most: a block of the disk's."""
Rows = list[tuple[int, str]]


@dataclass
class Trial:
    """One run that something happened to.

    Attributes:
        what: What happened to it.
        kills: How often.
        lives: How many processes it took.
        seconds: How long it took.
        faults: What is wrong with what came of it.
    """

    what: str
    kills: int = 0
    lives: int = 0
    seconds: float = 0.0
    faults: list[str] = field(default_factory=list)


class Life:
    """A process that begins the run or goes on with it.

    Args:
        home: The run's folder.
        format: The format of its loom.
        most_bytes: How large a file may become; None: as large as it will.
    """

    def __init__(
        self,
        home: Path,
        format: str = "sqlite",  # noqa: A002 - what it is called everywhere
        most_bytes: int | None = None,
    ) -> None:
        limit = [] if most_bytes is None else ["--most-bytes", str(most_bytes)]
        self._process = subprocess.Popen(
            [sys.executable, mortal.__file__, str(home), "--format", format, *limit],
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
        )
        assert self._process.stdout is not None
        self._process.stdout.readline()  # ready, or over

    def killed(self, victim: str, after_s: float, rng: random.Random) -> bool:
        """Kill the host, its zygote or one of its workers; whether it lived that long.

        Args:
            victim: ``host``, ``zygote`` or ``worker``.
            after_s: Seconds to wait before; more where there is no such process by then.
            rng: Which of several it is.
        """
        host = self._process.pid
        find = {"host": lambda _: [host], "zygote": _children, "worker": _workers}[victim]
        while True:
            try:
                self._process.wait(after_s)
                return False
            except subprocess.TimeoutExpired:
                after_s = LOOK_S
            with suppress(ProcessLookupError):
                if below := find(host):
                    os.kill(rng.choice(below), signal.SIGKILL)
                    return True

    def end(self) -> tuple[int, str]:
        """Wait for its end; gives its exit code, and what it complained of."""
        try:
            _, complaint = self._process.communicate(timeout=LIFE_S)
        except subprocess.TimeoutExpired:
            self._process.kill()
            _, complaint = self._process.communicate()
            return -1, f"it hung\n{complaint}"
        return self._process.returncode, complaint


def _children(pid: int) -> list[int]:
    try:
        tasks = Path(f"/proc/{pid}/task").iterdir()
        return [int(child) for task in tasks for child in (task / "children").read_text().split()]
    except OSError:
        return []  # it is over


def _workers(host: int) -> list[int]:
    """The processes that a host's zygotes have forked: those at the end of each branch."""
    workers = []
    waiting = [below for zygote in _children(host) for below in _children(zygote)]
    while waiting:
        pid = waiting.pop()
        below = _children(pid)
        waiting += below
        if not below:
            workers.append(pid)
    return workers


class Trials:
    """Trials of one kind of run.

    Args:
        seed: What decides over the moments.
    """

    def __init__(self, seed: int) -> None:
        self._rng = random.Random(seed)
        with _home() as home:
            life, started = Life(home), time.perf_counter()
            code, complaint = life.end()
            if code:
                raise SystemExit(f"the undisturbed run failed:\n{complaint}")
            self.seconds = time.perf_counter() - started
            self._wanted = json.loads((home / mortal.RESULT).read_text())
            self._shape = _shape(home)
            self._bytes = max(one.stat().st_size for one in (home / mortal.RUN).iterdir())

    def killed(self, victim: str) -> Trial:
        """A run of which something is killed, its host up to so many times."""
        trial, left = Trial(victim), self._rng.randint(1, KILLS) if victim == "host" else 1
        with _home() as home, _timed(trial):
            seen: Rows = []
            for _ in range(MOST_LIVES):
                life = Life(home)
                trial.lives += 1
                if left and life.killed(victim, self._rng.uniform(0, self.seconds), self._rng):
                    trial.kills += 1
                    left -= 1
                code, complaint = life.end()
                if code != -signal.SIGKILL:
                    break
                seen = self._check_prefix(home, seen, trial)
            self._check(home, seen, trial, code, complaint, is_exact=victim == "host")
        return trial

    def filled(self, format: str) -> Trial:  # noqa: A002 - what it is called everywhere
        """A run whose disk is full for some lives: no file can become larger than so much."""
        trial = Trial(f"disk full, {format}")
        with _home() as home, _timed(trial):
            room = self._rng.randint(self._bytes // 8, self._bytes)
            for _ in range(KILLS):
                trial.lives += 1
                code, complaint = Life(home, format, room).end()
                if code != mortal.FULL:
                    break
                trial.kills += 1
                room += self._bytes // 8
            seen = _rows(home) if code == mortal.FULL else []
            if code == mortal.FULL:
                trial.lives += 1
                code, complaint = Life(home, format).end()
            self._check(home, seen, trial, code, complaint, is_exact=True)
        return trial

    def half_written(self, format: str) -> Trial:  # noqa: A002 - what it is called everywhere
        """A run that was killed in the middle of writing a record."""
        return self._torn(Trial(f"half a record, {format}"), format, _write_half)

    def cut(self, format: str) -> Trial:  # noqa: A002 - what it is called everywhere
        """A run whose power was cut, so that the newest block never came to the disk."""
        return self._torn(Trial(f"block lost, {format}"), format, _tear)

    def _torn(
        self,
        trial: Trial,
        format: str,  # noqa: A002 - what it is called everywhere
        tear: Callable[[Path, random.Random], int],
    ) -> Trial:
        with _home() as home, _timed(trial):
            life = Life(home, format)
            trial.lives += 1
            life.killed("host", self._rng.uniform(0, self.seconds), self._rng)
            code, complaint = life.end()
            if code == -signal.SIGKILL:
                trial.kills = tear(home / mortal.RUN / WRITTEN[format], self._rng)
                trial.lives += 1
                code, complaint = Life(home, format).end()
            self._check(home, [], trial, code, complaint, is_exact=tear is _write_half)
        return trial

    # -- what has to hold ------------------------------------------------------------------------

    def _check_prefix(self, home: Path, seen: Rows, trial: Trial) -> Rows:
        """See that what was recorded before is still there; gives what is there by now."""
        rows = _rows(home)
        if rows[: len(seen)] != seen:
            trial.faults.append(f"records are gone or altered that were there: {len(seen)}")
        return rows

    def _check(
        self, home: Path, seen: Rows, trial: Trial, code: int, complaint: str, *, is_exact: bool
    ) -> None:
        faults = trial.faults
        if code:
            faults.append(f"it failed with exit code {code}: {complaint.strip()[-2_000:]}")
            return
        self._check_prefix(home, seen, trial)
        result, difference = json.loads((home / mortal.RESULT).read_text())
        if result != self._wanted[0]:
            faults.append(f"it came to {result}")
        if difference is not None and is_exact:
            faults.append(f"it was told of a difference: {difference}")
        entries = Counter((home / mortal.LEDGER).read_text().splitlines())
        wanted = Counter(mortal.ENTRIES)
        # That a call had begun may be in the block that was lost; nobody can know then.
        is_block_lost = trial.what.startswith("block lost")
        if entries != wanted and not (is_block_lost and set(entries) == set(wanted)):
            faults.append(f"entries too many: {entries - wanted}, missing: {wanted - entries}")
        if is_exact and (shape := _shape(home)) != self._shape:
            faults.append(f"lost: {self._shape - shape}, too many: {shape - self._shape}")
        faults += map(str, verify(home / mortal.RUN).faults)
        report = verify_trajectory(home / mortal.RUN / "trajectory.jsonl", home / mortal.RUN)
        if not report.passed:
            faults.append(f"{report.rebuilt} of {report.requests} requests rebuilt")
            faults += map(str, report.faults)


def _write_half(path: Path, rng: random.Random) -> int:
    """Write the beginning of what a file ends with once more; gives how often: once or never."""
    data = path.read_bytes() if path.exists() else b""
    newest = (
        data.splitlines(keepends=True)[-1:] if path.suffix == ".jsonl" else [data[-TORN_BYTES:]]
    )
    if not data:
        return 0
    with open(path, "ab") as file:
        file.write(newest[0][: rng.randint(1, len(newest[0]) - 1)])
    return 1


def _tear(path: Path, rng: random.Random) -> int:
    """Cut off or blank the end of a file, but for its head; gives how often: once or never."""
    data = path.read_bytes() if path.exists() else b""
    head = data.find(b"\n") + 1 if path.suffix == ".jsonl" else 0
    lost = min(rng.randint(1, TORN_BYTES), len(data) - head)
    if lost <= 0:
        return 0
    os.truncate(path, len(data) - lost)
    if rng.random() < 0.5:  # the file system had made room for what it then did not write
        os.truncate(path, len(data))
    return 1


def _rows(home: Path) -> Rows:
    """The records of a run; none where it was killed before there was a loom."""
    try:
        loom = Loom(home / mortal.RUN, read_only=True)
    except LoomError:
        return []
    with loom:
        return [(n, repr(record)) for n, _, record in loom.records()]


def _shape(home: Path) -> Counter[tuple[object, ...]]:
    """The nodes and utterances of a run, however its entities are called."""
    shape: Counter[tuple[object, ...]] = Counter()
    with Loom(home / mortal.RUN, read_only=True) as loom:
        who = {
            one.id: (one.intent, "" if one.context is None else one.context.text)
            for one in loom.entities.values()
        }
        for *_, one in loom.records():
            if isinstance(one, NodeRecord):
                shape["node", who[one.entity], one.turn, one.part, one.last, one.sequence] += 1
            elif isinstance(one, ReplyRecord):
                shape["reply", who[one.entity], one.turn] += 1
    return shape


@contextmanager
def _home() -> Iterator[Path]:
    """A folder for one run."""
    with tempfile.TemporaryDirectory(prefix="circlet-crash-") as folder:
        yield Path(folder)


@contextmanager
def _timed(trial: Trial) -> Iterator[None]:
    started = time.perf_counter()
    yield
    trial.seconds = time.perf_counter() - started


def tried(runs: int, seed: int, tell: Callable[[Trial], None]) -> list[Trial]:
    """All trials: so many in which something is killed, a tenth as many of each other kind."""
    trials = Trials(seed)
    made: list[Trial] = []
    kinds: list[Callable[[], Trial]] = [
        partial(trials.killed, ("host", "zygote", "worker")[number % 3]) for number in range(runs)
    ]
    rare = trials.filled, trials.half_written, trials.cut
    rarer = [partial(kind, form) for kind in rare for form in WRITTEN]
    kinds += rarer * max(runs // 20, 1)
    for kind in kinds:
        made.append(kind())
        tell(made[-1])
    return made


def show(trials: Sequence[Trial], console: Console) -> None:
    """The report for people."""
    title = f"What {len(trials)} runs came to that something happened to"
    table = Table("", "runs", "happened", "lives", "s a run", "failed", title=title)
    table.title_justify = "left"
    for column in table.columns[1:]:
        column.justify = "right"
    for what in dict.fromkeys(trial.what for trial in trials):
        of_it = [trial for trial in trials if trial.what == what]
        failed = sum(bool(trial.faults) for trial in of_it)
        sums = (sum(trial.kills for trial in of_it), sum(trial.lives for trial in of_it))
        seconds = sum(trial.seconds for trial in of_it) / len(of_it)
        cells = (len(of_it), *sums, f"{seconds:.1f}", failed)
        table.add_row(what, *map(str, cells), style="red" if failed else "")
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> int:
    """Try, and report."""
    parser = command.parser(__doc__, runs=200, what="runs in which something is killed")
    parser.add_argument("--seed", type=int, default=0, help="decides over the moments (default 0)")
    options = parser.parse_args(arguments)
    errors = Console(stderr=True)

    def tell(trial: Trial) -> None:
        for fault in trial.faults:
            errors.print(f"{trial.what}: {fault}", style="red", markup=False)

    trials = tried(options.runs, options.seed, tell)
    if options.json:
        print(json.dumps({"seed": options.seed, "trials": [asdict(one) for one in trials]}))
    else:
        show(trials, Console())
    return int(any(trial.faults for trial in trials))


if __name__ == "__main__":
    sys.exit(main())
