"""From a loom's records, and queries as they are made, to the trajectories of its runs.

A run is the life of a root entity, with its children in the same stream. An event is written
before the record that it tells of: a host that dies in between leaves a stream that tells of more
than the loom has, never of less.
"""

from __future__ import annotations

import os
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from importlib.metadata import version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ..errors import TrajectoryError
from ..llm.base import LLM, Reply, Request, check_reply
from ..wards import Wards
from .events import Command, GateVerdict, Human, Oracle, RunStart
from .plain import TASK_CHARS, shown
from .run import Files, Query, Run
from .told import Layer
from .writer import NAME

if TYPE_CHECKING:  # a loom has a recorder, which therefore knows records only by their fields
    from ..loom.index import Index
    from ..loom.records import (
        CallRecord,
        DecisionRecord,
        EndRecord,
        EntityRecord,
        IntentRecord,
        NodeRecord,
        Record,
        ReplyRecord,
        RewardRecord,
    )

SPELL = "spell.yaml"
"""The copy of its spell that a run's directory may hold."""
Layers = Callable[[], Sequence[Layer]]
"""Tells what each message of the next request is part of."""


class Recorder:
    """Writes the trajectories of the runs in one loom.

    The first root's is ``trajectory.jsonl`` in the loom's directory, that of each further root
    ``runs/ENTITY/trajectory.jsonl``. Only runs that ``begin`` was told of, here or when they
    began, have one.

    Args:
        directory: The loom's directory.
        index: The loom's index.
        files: Where the files are kept that events refer to.
        sync: Whether an event is on the disk itself before it counts as written.
    """

    def __init__(self, directory: Path, index: Index, files: Files, *, sync: bool) -> None:
        self._directory = directory
        self._index = index
        self._files = files
        self._sync = sync
        self._mutex = threading.RLock()
        self._circles: dict[str, dict[str, Any]] = {}
        self._runs: dict[str, Run | None] = {}
        self._roots: dict[str, str] = {}
        self._closed = False
        self._process = os.getpid()

    def begin(self, root: str, circle: dict[str, Any]) -> None:
        """Have a trajectory written of the casts of a root that begin from now on.

        Args:
            root: The root's id.
            circle: What it is made of, resolved.
        """
        with self._mutex:
            self._circles[root] = circle

    def asking(self, llm: LLM, entity: str, turn: int, layers: Layers) -> LLM:
        """A model whose queries are told of before they are made.

        Args:
            llm: The model.
            entity: Whose it is; it is on record.
            turn: Ordinal of the utterance that is asked for.
            layers: Tells what each message of a request is part of.
        """
        return _Witnessed(self, llm, entity, turn, layers)

    def ask(
        self, entity: str, turn: int, model: str, request: Request, layers: Sequence[Layer]
    ) -> Query | None:
        """Tell of a query; None where its run has no trajectory. See ``Run.ask``."""
        with self._writing(self._root_of(entity)) as run:
            return None if run is None else run.ask(entity, turn, model, request, layers)

    def failed(self, query: Query, error: BaseException, reply: Reply | None) -> None:
        """Tell that a query came to nothing; see ``Run.failed``."""
        with self._writing(self._root_of(query.entity)) as run:
            if run is not None:
                run.failed(query, error, reply)

    def close(self) -> None:
        """Let go of the files."""
        with self._mutex:
            self._closed = True
            for run in self._runs.values():
                if run is not None:
                    run.close()
            self._runs.clear()

    # -- records ---------------------------------------------------------------------------------

    def take(self, n: int, at: str, record: Record) -> None:  # noqa: ARG002 - as observers are called
        """Tell of a record that is about to be kept.

        Args:
            n: Its ordinal.
            at: Its time.
            record: The record.

        Raises:
            TrajectoryError, LoomError: It can't be written.
        """
        tell = self._TELLERS.get(type(record).__name__)
        # Where the loom is closed, or another process's, it is the store that says so.
        if tell is not None and not self._closed and os.getpid() == self._process:
            with self._mutex:
                tell(self, at, record)

    def _intent(self, at: str, record: IntentRecord) -> None:
        entity: EntityRecord = self._record_of(record.entity)
        circle = self._circles.pop(record.entity, None)
        if entity.spawned_by is not None or circle is None:
            return
        with self._writing(record.entity, begin=True) as run:
            assert run is not None
            path = run.keep(circle)
            run.add(
                RunStart,
                at,
                spec=SPELL if (self._directory / SPELL).is_file() else path,
                task=shown(record.text, TASK_CHARS),
                driver=shown(entity.model),
                keel_version=f"circlet/{version('circlet')}",
                store_hash=Path(path).name,
            )

    def _reply(self, at: str, record: ReplyRecord) -> None:
        with self._writing(self._root_of(record.entity)) as run:
            if run is not None:
                run.answered(record.entity, record.turn, record.reply, at)

    def _call(self, at: str, record: CallRecord) -> None:
        if record.state != "ended":
            return
        with self._writing(self._root_of(record.entity)) as run:
            if run is None:
                return
            told = {
                "entity": record.entity,
                "turn": record.turn,
                "call": record.k,
                "gate": record.gate,
                "arguments": record.arguments_text,
                "result": record.text,
                "is_error": record.is_error,
                "duration_ms": record.duration_ms,
            }
            cmd = shown(f"{record.gate}({record.arguments_text})")
            run.add(Command, at, cmd=cmd, exit_code=int(record.is_error), evidence=run.keep(told))

    def _node(self, at: str, record: NodeRecord) -> None:
        if not record.exits:
            return
        with self._writing(self._root_of(record.entity)) as run:
            if run is None:
                return
            observation = record.observation
            told = {
                "entity": record.entity,
                "turn": record.turn,
                "node": record.id,
                "printed": observation.printed,
                "value": observation.value,
                "error": observation.error,
                "text": observation.text,
                "state": record.state,
            }
            evidence = run.keep(told)
            for code in record.exits:
                run.add(Command, at, cmd="python", exit_code=code, evidence=evidence)

    def _end(self, at: str, record: EndRecord) -> None:
        root = self._root_of(record.entity)
        with self._writing(root) as run:
            if run is None:
                return
            if record.outcome != "terminated" and record.reason in Wards.model_fields:
                told = {
                    "entity": record.entity,
                    "cast": record.cast,
                    "ward": record.reason,
                    "wards": self._record_of(record.entity).wards,
                    "outcome": record.outcome,
                    "summary": record.summary,
                }
                result = run.keep(told)
                run.add(GateVerdict, at, gate=record.reason, verdict="fail", result=result)
            if record.entity == root:
                run.end(at, record.outcome)
            else:
                run.forget(record.entity)
                self._roots.pop(record.entity, None)

    def _decision(self, at: str, record: DecisionRecord) -> None:
        with self._writing(self._root_of(record.entity)) as run:
            if run is not None:
                said = record.gate if record.note is None else f"{record.gate}: {record.note}"
                answer, by = record.answer, shown(record.by)
                run.add(Human, at, stage="approval", decision=answer, by=by, note=shown(said))

    def _reward(self, at: str, record: RewardRecord) -> None:
        entity = self._index.nodes[record.node].entity
        with self._writing(self._root_of(entity)) as run:
            if run is None:
                return
            verdict = record.verdict
            if verdict is None:
                value, by = f"{record.value:g}", shown(record.by)
                run.add(Human, at, stage="reward", decision=value, by=by, note=record.node)
                return
            run.add(
                Oracle,
                at,
                criterion=shown(verdict.criterion),
                oracle=shown(verdict.oracle),
                verdict="pass" if verdict.passed else "fail",
                exit_code=verdict.exit_code,
            )

    _TELLERS: dict[str, Callable[[Recorder, str, Any], None]] = {
        "IntentRecord": _intent,
        "ReplyRecord": _reply,
        "CallRecord": _call,
        "NodeRecord": _node,
        "EndRecord": _end,
        "DecisionRecord": _decision,
        "RewardRecord": _reward,
    }

    # -- runs ------------------------------------------------------------------------------------

    @contextmanager
    def _writing(self, root: str, *, begin: bool = False) -> Iterator[Run | None]:
        """The run of a root, for one thread at a time; None where it has no trajectory."""
        with self._mutex:
            if self._closed:
                raise TrajectoryError(f"the trajectories in {self._directory} are closed")
            run = self._run(root, begin)
            try:
                yield run
            except BaseException:
                # What could not be written whole is not known any more: the file is read anew.
                if run is not None:
                    run.close()
                    del self._runs[root]
                raise

    def _run(self, root: str, begin: bool) -> Run | None:
        run = self._runs.get(root)
        if run is None and (begin or root not in self._runs):
            path = self._path_of(root)
            there = begin or path.is_file()
            run = Run(path, self._files, sync=self._sync) if there else None
            self._runs[root] = run
        return run

    def _path_of(self, root: str) -> Path:
        if root == next(iter(self._index.entities), None):
            return self._directory / NAME
        if not re.fullmatch(r"[\w-]{1,64}", root):
            raise TrajectoryError(f"no folder can be named after the entity {root!r}")
        return self._directory / "runs" / root / NAME

    def _root_of(self, entity: str) -> str:
        """The root at the top of an entity's tree."""
        root = self._roots.get(entity)
        if root is None:
            spawned_by = self._record_of(entity).spawned_by
            above = spawned_by and self._index.nodes[spawned_by.node].entity
            root = entity if above is None else self._root_of(above)
            self._roots[entity] = root
        return root

    def _record_of(self, entity: str) -> EntityRecord:
        record: Any = self._index.stored(self._index.entities[entity].n)[1]
        return record  # type: ignore[no-any-return]


class _Witnessed(LLM):
    """A model whose queries are told of before they are made.

    Args:
        recorder: Who is told.
        llm: The model.
        entity: Whose it is.
        turn: Ordinal of the utterance that is asked for.
        layers: Tells what each message of a request is part of.
    """

    def __init__(
        self, recorder: Recorder, llm: LLM, entity: str, turn: int, layers: Layers
    ) -> None:
        self.name = llm.name
        self._recorder = recorder
        self._llm = llm
        self._entity = entity
        self._turn = turn
        self._layers = layers

    async def query(self, request: Request) -> Reply:
        """Ask once; see ``LLM.query``. A reply is told of when it is put on record."""
        query = self._recorder.ask(self._entity, self._turn, self.name, request, self._layers())
        if query is None:
            return await self._llm.query(request)
        reply = None
        try:
            reply = await self._llm.query(request)
            return check_reply(reply)
        except BaseException as error:
            self._recorder.failed(query, error, reply)
            raise
