"""What a case does, and what came of it."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from ...sandbox.errors import CircletError
from .. import portal
from ..cantrip import Cantrip
from ..cast import Cast
from ..events import Event
from ..loom import Thread
from . import vocabulary
from .keys import CaseFault, fields, flag, items, mapping, text, whole
from .stage import Stage


@dataclass
class Play:
    """A case while it is played, and then what came of it.

    Attributes:
        stage: What it is played on.
        casts: What each cast, send and fork came to, in order.
        error: What the library refused, or what failed; nothing was done after it.
        thread: The thread that was extracted.
        exports: What was exported of the loom.
        responses: What the agent answered, or None where nobody talked to it.
        logs: What was logged meanwhile, a line each.
        events: What was told of the casts while they ran.
    """

    stage: Stage
    casts: list[Cast] = field(default_factory=list)
    error: CircletError | None = None
    thread: Thread | None = None
    exports: list[str] = field(default_factory=list)
    responses: list[dict[str, Any]] | None = None
    logs: list[str] = field(default_factory=list)
    events: list[Event] = field(default_factory=list)
    _spells: dict[str, Cantrip] = field(default_factory=dict)

    def perform(self, action: Any) -> None:
        """Do all that a case does, one thing after the other, up to the first error.

        Raises:
            CaseFault: An action is unknown, or can't be done.
        """
        with self._listening():
            try:
                for step in action if isinstance(action, list) else [action]:
                    self._step(fields(step, "action", vocabulary.ACTION))
            except CircletError as error:
                self.error = error

    @contextmanager
    def _listening(self) -> Iterator[None]:
        """Keep what the library logs, at every level, and nowhere else."""
        logger = logging.getLogger("circlet")
        handler, level, propagate = _Keeper(self.logs), logger.level, logger.propagate
        logger.addHandler(handler)
        logger.setLevel(logging.DEBUG)
        logger.propagate = False
        try:
            yield
        finally:
            logger.propagate = propagate
            logger.setLevel(level)
            logger.removeHandler(handler)

    def _step(self, step: dict[str, Any]) -> None:
        if not step or set(step) == {"then"}:
            raise CaseFault(f"an action is one of {', '.join(vocabulary.ACTION[:-1])}")
        do: dict[str, Callable[[Any], None]] = {
            "construct_cantrip": self._construct,
            "cast": self._cast,
            "summon": self._summon,
            "acp_exchange": self._exchange,
            "then": self._then,
        }
        for key in vocabulary.ACTION:
            if key in step:
                do[key](step[key])

    def _spell(self, llm: str = "llm") -> Cantrip:
        if llm not in self._spells:
            self._spells[llm] = self.stage.cantrip(llm)
        return self._spells[llm]

    def _construct(self, wanted: Any) -> None:
        if not flag(wanted, "construct_cantrip"):
            raise CaseFault("construct_cantrip can only be true")
        self.stage.document()

    def _cast(self, said: Any) -> None:
        said = fields(said, "cast", vocabulary.CAST)
        spell = self._spell(said.get("llm", "llm"))
        context = said.get("context", ...)
        cast = spell.cast(said.get("intent"), context, on_event=self.events.append)
        self.casts.append(cast)

    def _summon(self, said: Any) -> None:
        said = fields(said, "summon", vocabulary.SUMMON)
        spell = self._spell(said.get("llm", "llm"))
        with spell.summon(on_event=self.events.append) as entity:
            for intent in items(said.get("intents"), "summon.intents"):
                self.casts.append(entity.send(intent))

    def _exchange(self, said: Any) -> None:
        from ..acp import exchange  # its package is slow to load, and few cases need it

        messages = [mapping(one, "a message") for one in items(said, "acp_exchange")]
        self.responses = portal.run(partial(exchange, self._spell(), messages), "exchange(...)")

    # -- after a cast ------------------------------------------------------------------------------

    def _then(self, said: Any) -> None:
        do: dict[str, Callable[[Any], None]] = {
            "mutate_identity": self._mutate,
            "fork": self._fork,
            "extract_thread": self._extract,
            "annotate_reward": self._judge,
            "delete_turn": self._delete,
            "export_loom": self._export,
        }
        for step in said if isinstance(said, list) else [said]:
            for key, value in fields(step, "then", vocabulary.THEN).items():
                do[key](value)

    def _mutate(self, said: Any) -> None:
        for name, value in mapping(said, "mutate_identity").items():
            setattr(self._spell().identity, name, value)

    def _fork(self, said: Any) -> None:
        said = fields(said, "fork", vocabulary.FORK)
        if not self.casts:
            raise CaseFault("there is no cast to fork")
        given = {"context": said["context"]} if "context" in said else {}
        if "llm" in said:
            given["llm"] = self.stage.model(said["llm"])
        cast = self._spell().fork(
            self.casts[-1].entity_id,
            from_turn=said.get("from_turn"),
            intent=text(said.get("intent"), "fork.intent"),
            **given,
        )
        self.casts.append(cast)

    def _extract(self, said: Any) -> None:
        threads, place = self.stage.loom.threads(), whole(said, "extract_thread")
        if place >= len(threads):
            raise CaseFault(f"there is no thread {place}: the loom has {len(threads)}, from 0")
        self.thread = threads[place]

    def _judge(self, said: Any) -> None:
        said = fields(said, "annotate_reward", vocabulary.REWARD)
        self.stage.loom.annotate_reward(said.get("turn"), said.get("reward"), by="suite")

    def _delete(self, said: Any) -> None:
        self.stage.loom.delete_turn(said)

    def _export(self, said: Any) -> None:
        said = fields(said, "export_loom", vocabulary.EXPORT)
        self.exports.append(text(self.stage.loom.export(**said), "an export"))


class _Keeper(logging.Handler):
    """Keeps what is logged as a reader of the log would have it."""

    def __init__(self, lines: list[str]) -> None:
        super().__init__(logging.DEBUG)
        self._lines = lines
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        """Keep a record."""
        self._lines.append(self.format(record))
