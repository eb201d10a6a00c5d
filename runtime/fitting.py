"""Keeping what a model is told within its window: folding, and what comes where that is not enough.

Where the folded context is still too large, it is shortened, in this order, until it fits: fewer
of the newest turns stay whole, down to one; that one's observation keeps its head and tail; it is
folded too; what came with the intents keeps its head and tail; so does what stands for the folded
turns; so does each intent but the one that is worked on. Each cut says how much it left out. The
identity, what the circle can do, the tools and the newest intent are never cut; where they alone
are too large, that is an error (``LLM-2``).
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator
from dataclasses import replace
from functools import partial
from typing import Protocol

from ..sandbox.execution import clip
from .context import Context, Said
from .errors import ContextLimit
from .events import Event, TurnsFolded
from .family import Family
from .folding import FOLD_CHARS, Digest
from .llm import Message, Reply, Request
from .llm.windows import told_window
from .loom import FoldRecord, History, Record
from .media import Medium
from .spawn import ChildSpec

OBSERVATION_CHARS = 2_000
"""What is left of the newest observation, in characters."""
SHORT_CHARS = 500
"""What is left of the other texts that are shortened, in characters."""

Query = Callable[[Request], Awaitable[Reply]]


class Owner(Protocol):
    """What a fitter needs of the entity whose context it is."""

    entity_id: str
    depth: int
    spec: ChildSpec
    family: Family

    def record(self, record: Record) -> None:
        """Record a fact."""

    def emit(self, event: Event) -> None:
        """Tell who watches."""


class Fitter:
    """Keeps one entity's context within its model's window.

    Args:
        owner: The entity.
        medium: Its medium.
        history: Its turns, to tell of those that are folded.

    Attributes:
        context: What its model is told.
    """

    def __init__(self, owner: Owner, medium: Medium, history: History) -> None:
        self._owner = owner
        self._folding = owner.family.folding
        self._window = owner.family.window_of(owner.spec.llm)
        self._history = history
        self._digest = Digest(in_code=medium.name == "code")
        self._on_record = 0  # the last turn of which it is on record that it was folded
        self.context = Context(owner.spec.identity, medium.capabilities(), medium.tools())

    async def ask(self, query: Query) -> Reply:
        """Query with what fits. A provider that refuses it for its length is asked once more.

        Raises:
            ContextLimit: It can't be made to fit, or the provider refuses it again.
        """
        self._fit()
        try:
            reply = await query(self.context.request())
        except ContextLimit as error:
            if not self._fit_after(error):
                raise
            reply = await query(self.context.request())
        self.context.report(reply.usage.prompt_tokens)
        return reply

    def follow(self, reply: Reply) -> None:
        """Do as was done to get a reply that is on record: the same went to the model."""
        self._fit()
        self.context.report(reply.usage.prompt_tokens)

    def fold(self, last: int) -> None:
        """Fold all turns up to one, as is on record."""
        self._on_record = last
        self._fold_but(self.context.turns - last)

    def _fit(self) -> None:
        context, folding = self.context, self._folding
        if folding.after_turns and context.whole >= folding.after_turns:
            self._fold_but(folding.kept_by_turns)
        if self._window is None:
            return
        room = folding.room(self._window, context.reserved)
        if context.used < room or self._make_room(room) or context.used <= self._window:
            return
        raise ContextLimit(
            f"the messages take about {context.used:,} tokens and the model's window is "
            f"{self._window:,}: the system prompt, the tools, the intent and what stands for "
            "folded turns are too long for it, however short the rest is made; shorten them, hand "
            "data over as context in a code circle, or take another model"
        )

    def _fit_after(self, error: ContextLimit) -> bool:
        """Make less of what a provider refused; whether that could be done."""
        context = self.context
        sent, size = context.used, context.size
        told = told_window(str(error))
        if told is not None and (self._window is None or told < self._window):
            self._window = told
        # Where the window that is known did not help, the estimate was too low.
        room = sent // 2
        if self._window is not None:
            room = min(room, self._folding.room(self._window, context.reserved))
        self._make_room(max(room, 1))
        return context.size < size

    def _make_room(self, room: int) -> bool:
        """Fold and shorten until less than ``room`` tokens are used; whether that could be done."""
        for step in self._steps():
            step()
            if self.context.used < room:
                return True
        return False

    def _steps(self) -> Iterator[Callable[[], None]]:
        change = self.context.change
        yield partial(self._fold_but, self._folding.keep_turns)
        yield partial(self._fold_but, 1)
        yield partial(change, _with_short_observations)
        yield partial(self._fold_but, 0)
        yield partial(change, _with_a_short_context)
        yield partial(change, _with_a_short_fold)
        newest = self.context.newest_intent
        yield partial(change, lambda said: said if said is newest else _with_a_short_intent(said))

    def _fold_but(self, kept: int) -> None:
        """Fold all turns but the newest so many."""
        context = self.context
        last = context.turns - kept
        if last <= context.folded:
            return
        for turn in range(context.folded + 1, last + 1):
            self._digest.add(self._history.turn(turn))
        text = self._digest.text(last, context.followed(last), self._fold_chars)
        context.fold(last, text)
        if last <= self._on_record:
            return
        self._owner.record(FoldRecord(self._owner.entity_id, 1, last, text))
        self._owner.emit(TurnsFolded(self._owner.entity_id, self._owner.depth, last, text))

    @property
    def _fold_chars(self) -> int:
        """Length of what stands for folded turns: about a quarter of a small window."""
        return (
            FOLD_CHARS if self._window is None else max(min(FOLD_CHARS, self._window), SHORT_CHARS)
        )


def _with_short_observations(said: Said) -> Said:
    if said.kind != "turn":
        return said
    uttered, *observed = said.messages
    limit = max(OBSERVATION_CHARS // max(len(observed), 1), SHORT_CHARS // 10)
    return replace(said, messages=(uttered, *(_short(one, limit) for one in observed)))


def _with_a_short_context(said: Said) -> Said:
    """An intent, whole, with less of what came with it."""
    text = said.messages[0].content or ""
    if said.kind != "intent" or len(text) - said.own <= SHORT_CHARS:
        return said
    own, beside = text[: said.own], text[said.own :]
    return replace(said, messages=(Message("user", own + clip(beside, SHORT_CHARS)),))


def _with_a_short_fold(said: Said) -> Said:
    if said.kind != "fold":
        return said
    return replace(said, messages=(_short(said.messages[0], SHORT_CHARS),))


def _with_a_short_intent(said: Said) -> Said:
    if said.kind != "intent":
        return said
    short = _short(said.messages[0], SHORT_CHARS)
    return replace(said, messages=(short,), own=min(said.own, SHORT_CHARS))


def _short(message: Message, limit: int) -> Message:
    return replace(message, content=clip(message.content or "", limit))
