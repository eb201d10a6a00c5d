"""One run's stream: what happens becomes an event, and what there is to tell of it a file."""

from __future__ import annotations

import datetime as dt
import json
from collections.abc import Callable, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, NamedTuple, TypeVar

from pydantic import ValidationError

from ..errors import ContextLimit, LoomError, MalformedReply, ProviderError, TrajectoryError
from ..llm.base import Reply, Request
from .events import BaseEvent, DriverCall, DriverResult, Event, Inject, RunEnd, RunStart
from .plain import blob_path, canonical, shown
from .told import Layer, Told
from .writer import Writer

INTERRUPTED = "interrupted"
"""Status of a query whose answer nobody knows: the process that asked has died."""

E = TypeVar("E", bound=BaseEvent)


class Files(NamedTuple):
    """Where the files are that events refer to.

    Attributes:
        put: Keeps one, and gives its SHA-256 in hex.
        get: Gives the one with a SHA-256.
    """

    put: Callable[[bytes], str]
    get: Callable[[str], bytes]


@dataclass(frozen=True)
class Query:
    """One query to a model.

    Attributes:
        entity: Whose model is asked.
        turn: Ordinal of the utterance that it asks for.
        attempt: Ordinal among the queries that ask for it, from 1.
        model: The model.
    """

    entity: str
    turn: int
    attempt: int
    model: str


class Run:
    """Writes the trajectory of one run, and goes on with what is there of it.

    Args:
        path: Its file.
        files: Where the files are kept that its events refer to.
        sync: See ``Writer``.

    Raises:
        TrajectoryError: What is there can't be gone on with.
    """

    def __init__(self, path: Path, files: Files, *, sync: bool) -> None:
        self._path = path
        self._files = files
        self._told: dict[str, Told] = {}
        self._newest: dict[str, Query] = {}  # the last query of each entity
        self._unanswered: dict[str, Query] = {}  # those that wait for their answer
        self._unsent: set[str] = set()  # blocks that were injected for a query that never was
        self._started: str | None = None
        self._writer = Writer(path, sync=sync, seen=self._seen)
        try:
            for query in list(self._unanswered.values()):
                self._result(query, INTERRUPTED, {})
        except BaseException:
            self.close()
            raise

    def close(self) -> None:
        """Let go of the file."""
        self._writer.close()

    def add(self, kind: type[E], t: str | None = None, **fields: Any) -> None:
        """Add an event.

        Args:
            kind: Its class.
            t: When it happened. Default: now.
            fields: What it says.

        Raises:
            TrajectoryError: It can't be written.
        """
        try:
            event = kind(t=t or now(), seq=self._writer.next_seq, **fields)
        except ValidationError as error:
            raise TrajectoryError(f"no event can be made of that: {error}") from None
        self._writer.append(event)  # type: ignore[arg-type] # each such class is one of the union
        if isinstance(event, RunStart):
            self._started = event.t

    def keep(self, content: Any) -> str:
        """Keep what an event refers to, as canonical JSON; gives its path."""
        return blob_path(self._files.put(canonical(content)))

    def end(self, t: str, verdict: str) -> None:
        """Add that the run ended."""
        began = dt.datetime.fromisoformat(self._started or t)
        took = dt.datetime.fromisoformat(t) - began
        duration_ms = max(int(took.total_seconds() * 1000), 0)
        self.add(RunEnd, t, verdict=verdict, duration_ms=duration_ms)

    # -- queries ---------------------------------------------------------------------------------

    def ask(
        self, entity: str, turn: int, model: str, request: Request, layers: Sequence[Layer]
    ) -> Query:
        """Tell of a query, before it is made.

        Args:
            entity: Whose model is asked.
            turn: Ordinal of the utterance that it asks for.
            model: The model.
            request: What it is sent.
            layers: What each of the messages is part of.

        Raises:
            TrajectoryError, LoomError: It can't be written.
        """
        telling = self._told.setdefault(entity, Told(entity)).telling(request, layers)
        for block, data in telling.fresh.items():
            if block.digest not in self._unsent:
                source = blob_path(self._files.put(data))
                self.add(Inject, source=source, tokens=block.tokens, bytes=block.size)
        query = self._next(entity, turn, model)
        card = {
            "entity": entity,
            "turn": turn,
            "attempt": query.attempt,
            "model": shown(model),
            "kept": telling.kept,
            "blocks": telling.blocks,
            "tools": telling.tools,
            "tool_choice": request.tool_choice,
            "hyperparameters": request.hyperparameters,
            "request": telling.digest,
            "before": self._writer.digest,
        }
        task = self.keep(card)
        self.add(DriverCall, driver=shown(model), task=task, prompt_tokens=telling.again)
        self._sent(query, [*telling.blocks, telling.tools])
        return query

    def answered(self, entity: str, turn: int, reply: Reply, t: str) -> None:
        """Tell of the answer to an entity's query."""
        query = self._unanswered.get(entity)
        if query is not None and query.turn == turn:
            self._result(query, "ok", {"reply": _plain(reply)}, t)

    def failed(self, query: Query, error: BaseException, reply: Reply | None = None) -> None:
        """Tell that a query came to nothing.

        Args:
            query: The query.
            error: Why.
            reply: What was answered, where that was of no use; else None.
        """
        said: dict[str, Any] = {"error": f"{type(error).__name__}: {error}"}
        if reply is not None:
            said["reply"] = _plain(reply)
        self._result(query, _status_of(error), said)

    def forget(self, entity: str) -> None:
        """Let go of what is known of an entity that asks nothing more."""
        for known in (self._told, self._newest, self._unanswered):
            known.pop(entity, None)

    def _next(self, entity: str, turn: int, model: str) -> Query:
        newest = self._newest.get(entity)
        again = newest is not None and newest.turn == turn
        return Query(entity, turn, newest.attempt + 1 if newest and again else 1, model)

    def _sent(self, query: Query, blocks: Sequence[str | None]) -> None:
        self._newest[query.entity] = self._unanswered[query.entity] = query
        self._unsent.difference_update(blocks)

    def _result(
        self, query: Query, status: str, said: dict[str, Any], t: str | None = None
    ) -> None:
        del self._unanswered[query.entity]
        asked = {"entity": query.entity, "turn": query.turn, "attempt": query.attempt}
        content = {**asked, "status": status, **said, "before": self._writer.digest}
        self.add(
            DriverResult, t, driver=shown(query.model), status=status, detail=self.keep(content)
        )

    # -- what is there ---------------------------------------------------------------------------

    def _seen(self, event: Event) -> None:
        """Take in an event of the file that is gone on with."""
        match event:
            case RunStart():
                self._started = event.t
            case Inject():
                self._unsent.add(Path(event.source).name)
            case DriverCall():
                self._take_up_query(self._read(event, event.task))
            case DriverResult():
                self._unanswered.pop(self._read(event, event.detail)["entity"], None)

    def _take_up_query(self, card: dict[str, Any]) -> None:
        query = Query(card["entity"], card["turn"], card["attempt"], card["model"])
        told = self._told.setdefault(query.entity, Told(query.entity))
        told.take_up(card["kept"], card["blocks"], card["tools"])
        self._sent(query, [*card["blocks"], card["tools"]])

    def _read(self, event: BaseEvent, path: str | None) -> dict[str, Any]:
        try:
            content = json.loads(self._files.get(Path(path or "").name))
            assert isinstance(content, dict)
            return content
        except (LoomError, ValueError) as error:
            raise TrajectoryError(
                f"{self._path}, seq {event.seq}: {error}; go on without the trajectory by opening "
                "the loom with trajectory=False"
            ) from None


def now() -> str:
    """The time as RFC 3339 in UTC, with microseconds."""
    return dt.datetime.now(dt.UTC).isoformat(timespec="microseconds").replace("+00:00", "Z")


def _plain(reply: Reply) -> dict[str, Any]:
    """A reply in plain values."""
    return {
        "content": reply.content,
        "tool_calls": [call.neutral() for call in reply.tool_calls],
        "thinking": reply.thinking,
        "stop_reason": reply.stop_reason,
        "model": reply.model,
        "usage": asdict(reply.usage),
    }


def _status_of(error: BaseException) -> str:
    """What a query came to that was not answered, in a word."""
    if not isinstance(error, Exception):
        return "cancelled"
    for kind, status in _STATUS.items():
        if isinstance(error, kind):
            return status
    return "failed"


_STATUS = {
    ContextLimit: "context_limit",  # a kind of the next
    ProviderError: "provider_error",
    MalformedReply: "malformed",
}
