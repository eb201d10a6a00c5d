"""The loom itself: facts go in at one end, the tree of turns is read at the other."""

from __future__ import annotations

import datetime as dt
import threading
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import NoReturn, Self, overload

from ...sandbox import wire
from ...sandbox.preview import show
from ..errors import LoomError, StoreError, TrajectoryError
from ..redaction import Secrets
from ..trajectory.recorder import Recorder
from ..trajectory.run import Files
from .codec import row_of
from .copying import copy, copy_to, source_at
from .disk import Durability
from .exports import Export, Format, Pairs, Target
from .exports.files import check_apart
from .formats import StoreFormat, opened
from .index import Index
from .judging import TIMEOUT_S, Judged, Judgement, Verifier, reward_of, work_of
from .lines import Redaction
from .records import Record, RewardRecord
from .store import LoomStore, MemoryStore
from .turn import Thread
from .values import ContextRef, Verdict
from .views import Views

INLINE_BYTES = 4096
"""A context of at most this many bytes stands in its record; a larger one is a blob."""

Observer = Callable[[int, str, Record], None]
"""Is told of records as they are appended: ``n``, ``at`` and the record."""


class Loom(Views):
    """An append-only log of facts, and the tree of turns in it (``LOOM-3``, ``LOOM-12``).

    Threads may share one. Turns, threads and entities are views: they read what they show
    from the store, so look at them before the loom is closed.

    Args:
        path: A run's directory, made when missing; the loom in it is taken up where it was
            left. None: a loom in memory.
        store: A store to use instead of a path's.
        format: ``sqlite`` (``loom.db``) or ``jsonl`` (``loom.jsonl``). Default: the one that is
            there, ``sqlite`` for a new loom. Only with a path.
        durability: ``process`` (a record outlives this process's death) or ``power`` (a power
            cut too); see ``docs/loom.md``. Only with a path.
        read_only: Read the loom as it is now, also while another process writes it. Only with
            a path.
        trajectory: Whether trajectories are written of its runs; where there is no path, or it is
            read only, none are.

    Attributes:
        path: The run's directory, or None.
        torn: What was cut off at its end by a crash and set aside on opening, in a sentence; None
            where nothing was. It is logged as a warning too.

    Raises:
        LoomError: The loom can't be opened, is being written by another process, or is
            damaged; or the arguments contradict each other.
    """

    def __init__(
        self,
        path: str | Path | None = None,
        *,
        store: LoomStore | None = None,
        format: StoreFormat | None = None,  # noqa: A002 - what it is called everywhere
        durability: Durability = "process",
        read_only: bool = False,
        trajectory: bool = True,
    ) -> None:
        if path is not None and store is not None:
            raise LoomError("a loom has a path or a store, not both: leave one out")
        if path is None and (read_only or format or durability != "process"):
            raise LoomError("format, durability and read_only are for a loom on disk: give a path")
        self.path = None if path is None else Path(path)
        self.torn: str | None = None
        if self.path is not None:
            store = kept = opened(self.path, format, durability, read_only)
            self.torn = kept.torn
        self._store = MemoryStore() if store is None else store
        self._secrets = Secrets()
        self._mutex = threading.Lock()
        super().__init__(Index(self._store))
        try:
            self._index.rebuild()
        except BaseException:
            self._store.close()
            raise
        self._observers: list[Observer] = []
        self._trajectory: Recorder | None = None
        if self.path is not None and trajectory and not read_only:
            blobs = Files(self._store.put, self._store.get)
            sync = durability == "power"
            self._trajectory = Recorder(self.path, self._index, blobs, sync=sync)
            self.watch(self._trajectory.take)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()

    def __repr__(self) -> str:
        where = "in memory" if self.path is None else f"at {self.path}"
        return f"<Loom {where}: {len(self.entities)} entities, {self.turn_count} nodes>"

    @classmethod
    def load(
        cls,
        source: str | Path,
        path: str | Path | None = None,
        *,
        format: StoreFormat = "sqlite",  # noqa: A002 - what it is called everywhere
        durability: Durability = "process",
    ) -> Self:
        """Take a loom over from an export, or from another run, without loss.

        Every record is checked on the way in, and keeps its ``n``, its ``at`` and its bytes.

        Args:
            source: The file of an export that withholds nothing, or a run's directory.
            path: The directory that it is made in, missing or empty. None: a loom in memory.
            format: The new loom's format. Only with a path.
            durability: What its records outlive. Only with a path.

        Returns:
            The new loom, open.

        Raises:
            LoomError: The source is redacted, damaged or can't be read, or the directory is not
                empty. Nothing is made then.
        """
        if path is not None:
            copy_to(Path(source), Path(path), format, durability)
            return cls(path, durability=durability)
        store = MemoryStore()
        with closing(source_at(Path(source))) as read:
            copy(read, store)
        return cls(store=store)

    def refresh(self) -> int:
        """Take in what another process has recorded since this loom was opened to be read.

        Returns:
            How many records are new.

        Raises:
            LoomError: They can't be read.
        """
        with self._mutex:
            before = self._index.last
            self._index.rebuild()
            return self._index.last - before

    def close(self) -> None:
        """Close the store. Closing twice is fine."""
        if self._trajectory is not None:
            self._trajectory.close()
        self._store.close()

    def append(self, record: Record) -> int:
        """Record a fact, durably, before this returns (``LOOM-1``).

        Returns:
            Its ``n``: from 1, without a gap.

        Raises:
            LoomError: An id is taken, what the record refers to is not in the loom, a field
                is of the wrong type, or the store can't keep it. Nothing is recorded then.
        """
        with self._mutex:
            row = row_of(record, self._index.last + 1, _now(), self._index.chain)
            self._index.check(row.kind, row.brief)
            with _keeping():
                for observer in self._observers:
                    observer(row.n, row.at, record)
                self._store.append(row)
            self._index.take(row)
        return row.n

    def watch(self, observer: Observer) -> None:
        """Have an observer told of each record, once it is checked and before it is kept.

        Args:
            observer: Is called with the record's ``n``, its ``at`` and the record, one at a time.
                It must not append. Where it raises an error, the record is not kept.
        """
        with self._mutex:
            self._observers.append(observer)

    @property
    def trajectory(self) -> Recorder | None:
        """Who writes the trajectories of its runs; None where none are written."""
        return self._trajectory

    def records(self) -> Iterator[tuple[int, str, Record]]:
        """Every fact in order: its ``n``, its ``at`` (RFC 3339 in UTC), and the record.

        Raises:
            LoomError: A record can't be read.
        """
        return self._index.records()

    @property
    def secrets(self) -> Secrets:
        """What is withheld from its exports, and from events of what it records (``PROD-8``)."""
        return self._secrets

    def withhold(self, secrets: Secrets) -> None:
        """Withhold some values from its exports; they are not recorded, and known while it lives.

        Args:
            secrets: The values, beside those that are withheld already.
        """
        with self._mutex:
            self._secrets |= secrets

    def keep(self, value: wire.Sealed) -> ContextRef:
        """Keep a context as it is, without decoding it, for a record to refer to."""
        size = len(value.data)
        if size <= INLINE_BYTES:
            return ContextRef(None, value.data, size, value.text)
        return ContextRef(self.put(value.data), None, size, value.text)

    def fetch(self, ref: ContextRef) -> wire.Sealed:
        """The context that ``keep`` kept.

        Raises:
            LoomError: Its blob is gone or damaged.
        """
        if ref.data is not None:
            return wire.Sealed(ref.data, ref.text)
        return wire.Sealed(self._store.get(ref.digest or ""), ref.text)

    def put(self, data: bytes) -> str:
        """Keep a blob; gives its SHA-256, in hex, for a record to refer to.

        Raises:
            LoomError: It can't be kept.
        """
        with _keeping():
            return self._store.put(data)

    def get(self, digest: str) -> bytes:
        """The blob with this SHA-256.

        Raises:
            LoomError: It is gone or damaged.
        """
        return self._store.get(digest)

    @overload
    def export(
        self,
        target: None = ...,
        format: Format = ...,
        redaction: Redaction = ...,
        *,
        pairs: Pairs | None = ...,
        margin: float | None = ...,
    ) -> str: ...
    @overload
    def export(
        self,
        target: Target,
        format: Format = ...,
        redaction: Redaction = ...,
        *,
        pairs: Pairs | None = ...,
        margin: float | None = ...,
    ) -> None: ...
    def export(
        self,
        target: Target | None = None,
        format: Format = "jsonl",  # noqa: A002 - what it is called everywhere
        redaction: Redaction = "default",
        *,
        pairs: Pairs | None = None,
        margin: float | None = None,
    ) -> str | None:
        """What it holds, for other programs to read (``docs/exports.md`` has the schemas).

        Args:
            target: A path, or a stream for text (for bytes with parquet), that it is written to
                bit by bit. Default: it is given back.
            format: ``jsonl``: all records in order, a line of JSON each. ``chat``: what models were
                sent and said. ``grpo``: casts at one task, with their rewards. ``dpo``: pairs of
                a better and a worse cast. ``parquet``: a table of turns (the extra ``parquet``).
            redaction: ``default`` withholds secrets (``PROD-8``); ``none`` gives all.
            pairs: Which pairs of a group ``dpo`` has: ``best``, the best against the worst, or
                ``all`` that differ. Default ``best``.
            margin: How far apart the rewards of a pair are at least. Default: they differ.

        Returns:
            The text where there is no target.

        Raises:
            LoomError: There is no such format or redaction, the loom is damaged or doesn't hold
                what the format needs, or the file can't be written, or is one of the run's own.
        """
        export = Export(format, redaction, pairs, margin)
        secrets = self._secrets | Secrets.of_environment()
        if target is None:
            return export.text(self._index, self._store, secrets)
        if self.path is not None and isinstance(target, str | Path):
            check_apart(target, self.path)
        export.write(self._index, self._store, secrets, target)
        return None

    def annotate_reward(self, turn: int | str, reward: float, by: str = "user") -> None:
        """Judge a node. The newest reward counts; every one stays on record (``LOOM-3``).

        Args:
            turn: The node's place in ``turns``, from 0 (from the end where it is negative), or its
                id.
            reward: A finite number.
            by: Who judges.

        Raises:
            LoomError: There is no such node, or the reward is no finite number.
        """
        node, value = self._node_id(turn), reward_of(reward)
        if value is None:
            raise LoomError(f"a reward must be a finite number, not {show(reward, 100)}")
        self.append(RewardRecord(node, value, by))

    def judge(
        self,
        of: Judged | Thread | str,
        verifier: Verifier,
        *,
        criterion: str | None = None,
        by: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Verdict:
        """Have a verifier judge a cast, and record its verdict as the reward of the last node.

        Args:
            of: A cast; or a thread or a node's id, for the cast that ended there; or an entity's
                id, for its newest cast.
            verifier: A function of the result that answers True, False or a number; or a command,
                as a list or a line, that exits with 0 where it passes (see ``loom.judging``).
            criterion: What is asked, in a few words. Default: the first line of the function's
                docstring, or the verifier's name.
            by: Who judges, as the record has it. Default: the verifier's name.
            timeout_s: How long a command may take, in seconds. Default 60.

        Raises:
            LoomError: There is no such cast here, it has not ended, or it came to no turn.
            VerifierError: The verifier is async, can't be started, fails, takes too long, or
                answers with what is no judgement; nothing is recorded then.
        """
        work = work_of(self._index, of, self.path)
        return self._keep_verdict(Judgement(work, verifier, criterion, by, timeout_s).pronounce())

    async def ajudge(
        self,
        of: Judged | Thread | str,
        verifier: Verifier,
        *,
        criterion: str | None = None,
        by: str | None = None,
        timeout_s: float = TIMEOUT_S,
    ) -> Verdict:
        """``judge`` in a thread of its own, for a verifier that may be async.

        ``timeout_s`` is for what an async one awaits, too.
        """
        work = work_of(self._index, of, self.path)
        asked = Judgement(work, verifier, criterion, by, timeout_s)
        return self._keep_verdict(await asked.apronounce())

    def _keep_verdict(self, record: RewardRecord) -> Verdict:
        self.append(record)
        assert record.verdict is not None  # a judgement's always has one
        return record.verdict

    def delete_turn(self, turn: int | str) -> NoReturn:  # noqa: ARG002 - whichever turn it is
        """Refuse (``LOOM-3``).

        Raises:
            LoomError: Always: ``loom is append-only``.
        """
        raise LoomError("loom is append-only")

    def _node_id(self, turn: int | str) -> str:
        if isinstance(turn, str):
            return self._index.node(turn).id
        if not isinstance(turn, int) or isinstance(turn, bool):
            raise LoomError(f"a turn is named by its place or its id, not by {show(turn, 100)}")
        try:
            return self._index.order[turn]
        except IndexError:
            count = self.turn_count
            raise LoomError(f"the loom has no turn {turn}: it has {count}, from 0") from None


@contextmanager
def _keeping() -> Iterator[None]:
    """While something is kept; says by its class of an error that it could not be."""
    try:
        yield
    except (LoomError, TrajectoryError) as error:
        raise StoreError(str(error)) from error


def _now() -> str:
    """The time as RFC 3339 in UTC, with microseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")
