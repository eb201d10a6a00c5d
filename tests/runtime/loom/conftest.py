"""A teller of looms: it appends the records that a run would, with the ordinals worked out."""

from __future__ import annotations

import subprocess
import sys
import textwrap
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from circlet.runtime.llm.base import Reply, Usage
from circlet.runtime.loom import (
    CallRecord,
    EndRecord,
    EntityRecord,
    FoldRecord,
    ForkPoint,
    IdentityRecord,
    IntentRecord,
    Loom,
    NodeRecord,
    Observation,
    ReplyRecord,
    Row,
    SpawnPoint,
)
from circlet.runtime.loom.codec import row_of
from circlet.sandbox import wire

ALWAYS = Usage(100, 50, 10)


class Story:
    """Tells what happens to some entities, into one loom."""

    def __init__(self, loom: Loom) -> None:
        self.loom = loom
        if not loom.identities:
            loom.append(
                IdentityRecord("identity", "cantrip", "Be brief.", {"temperature": 0.5}, "")
            )

    def entity(
        self, name: str, *, spawn: SpawnPoint | None = None, fork: ForkPoint | None = None
    ) -> str:
        self.loom.append(
            EntityRecord(
                id=name,
                cantrip_id="cantrip",
                identity_id="identity",
                spawned_by=spawn,
                depth=0 if spawn is None else self.depth_at(spawn.node) + 1,
                wards={"max_turns": 10},
                medium="code",
                model="scripted",
                intent=f"intent of {name}",
                forked_from=fork,
            )
        )
        self.loom.append(IntentRecord(name, 1, f"intent of {name}"))
        return name

    def reply(self, entity: str, usage: Usage = ALWAYS) -> int:
        turn = self.loom.entities[entity].utterance_count + 1
        self.loom.append(ReplyRecord(entity, turn, Reply(f"said {turn}", usage=usage)))
        return turn

    def call(self, entity: str, k: int, gate: str, *, ended: bool = True) -> None:
        turn = self.loom.entities[entity].utterance_count
        sent = wire.dumps({"k": k})
        self.loom.append(CallRecord(entity, turn, k, gate, sent, f"k={k}", "begun"))
        if ended:
            got = wire.dumps(k)
            self.loom.append(
                CallRecord(entity, turn, k, gate, sent, f"k={k}", "ended", got, str(k), False, 1.5)
            )

    def node(
        self,
        entity: str,
        *,
        calls: Sequence[int] = (),
        part: int = 1,
        last: bool = True,
        delegated: Sequence[str] = (),
        **changed: Any,
    ) -> str:
        view = self.loom.entities[entity]
        origin = view.forked_from or view.spawned_by
        tip = view.turns[-1].id if view.turns else origin.node if origin else None
        sequence = len(view.turns) + 1
        told = f"{entity} saw {sequence}"
        values: dict[str, Any] = {
            "id": f"{entity}.{sequence}",
            "parent": tip,
            "entity": entity,
            "sequence": sequence,
            "turn": view.utterance_count,
            "part": part,
            "last": last,
            "observation": Observation((), "", None, None, told, False),
            "calls": tuple(calls),
            "delegated": tuple(delegated),
            "state": "kept",
            "duration_ms": 2.5,
        }
        record = NodeRecord(**(values | changed))
        self.loom.append(record)
        return record.id

    def turn(self, entity: str, *gates: str, usage: Usage = ALWAYS) -> str:
        """A whole turn: its reply, its calls, its node."""
        self.reply(entity, usage)
        for k, gate in enumerate(gates, 1):
            self.call(entity, k, gate)
        return self.node(entity, calls=range(1, len(gates) + 1))

    def end(
        self,
        entity: str,
        result: Any = None,
        outcome: Any = "terminated",
        reason: str = "done",
        cast: int = 1,
    ) -> None:
        turns = self.loom.entities[entity].turns
        node = turns[-1].id if turns else None
        data = None if result is None else wire.dumps(result)
        self.loom.append(EndRecord(entity, cast, node, outcome, reason, data, repr(result)))

    def depth_at(self, node: str) -> int:
        return self.loom.entities[self.loom.turn(node).entity_id].depth

    def delegation(self) -> None:
        """One utterance ``r = call_entity(...); done(r)``: a node, the child's, a node."""
        self.entity("parent")
        self.reply("parent")
        first = self.node("parent", last=False, delegated=["child"])
        self.entity("child", spawn=SpawnPoint(first, 1))
        self.turn("child", "done")
        self.end("child", 42)
        self.call("parent", 1, "call_entity")
        self.call("parent", 2, "done")
        self.node("parent", calls=[1, 2], part=2)
        self.end("parent", 42)


@pytest.fixture
def story() -> Story:
    """A story in a loom in memory."""
    return Story(Loom())


@pytest.fixture(scope="session")
def tell() -> Callable[[Loom], Story]:
    """Tell a story into a loom of the test's own."""
    return Story


@pytest.fixture
def run(tmp_path: Path) -> Iterator[Path]:
    """A run's directory that isn't there yet."""
    return tmp_path / "runs" / "today"


@contextmanager
def _program(code: str, *arguments: Any) -> Iterator[subprocess.Popen[str]]:
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


@pytest.fixture(scope="session")
def program() -> Callable[..., AbstractContextManager[subprocess.Popen[str]]]:
    """Another process that runs some code; it is killed at the end if it is still there."""
    return _program


def _rows(count: int, after: Row | None = None, text: str = "text") -> list[Row]:
    rows: list[Row] = []
    for n in range(1 + (after.n if after else 0), 1 + count + (after.n if after else 0)):
        before = rows[-1].chain if rows else after.chain if after else b""
        record = FoldRecord("e", n, n, f"{text} {n}")
        rows.append(row_of(record, n, "2026-01-01T00:00:00.000000Z", before))
    return rows


@pytest.fixture(scope="session")
def rows() -> Callable[..., list[Row]]:
    """Make some rows for a store, each with the right chain; the first follows ``after``."""
    return _rows
