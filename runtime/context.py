"""What a model is told on each query: the layers of messages, in order.

Identity first, then what the circle can do, then the intent and the turns since. The first
two never change. Turns are added, and may be folded: then one message stands for them, after the
intents that came before and between them. It is a view; the loom has all of it (``LOOM-5``).
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

from ..sandbox import wire
from .identity import Identity
from .jsonable import to_json
from .llm import Message, Reply, Request, Tool
from .loom import Sent
from .trajectory.told import Layer

BYTES_A_TOKEN = 4
"""Bytes that a token is reckoned to be, where no provider reports."""


@dataclass(frozen=True, slots=True)
class Said:
    """A piece of what is told: an intent, a turn, or what stands for folded turns.

    Attributes:
        kind: Which of them.
        messages: The messages.
        turn: Ordinal of the turn, or of the one that an intent follows, or of the last folded.
        own: Of an intent, how many characters of its message are the intent itself.
    """

    kind: Literal["intent", "turn", "fold"]
    messages: tuple[Message, ...]
    turn: int
    own: int = 0

    @property
    def size(self) -> int:
        """Bytes of its messages."""
        return sum(map(_size, self.messages))

    @property
    def layers(self) -> list[Layer]:
        """What each of its messages is part of: in a turn, the utterance or the observation."""
        if self.kind != "turn":
            return [Layer(self.kind, self.turn)]
        observed = Layer("observation", self.turn)
        return [Layer("utterance", self.turn), *[observed] * (len(self.messages) - 1)]


class Context:
    """The messages of one entity (``LOOP-5``).

    Args:
        identity: Whose system prompt comes first (``IDENTITY-2``).
        capabilities: What comes between identity and intent, or None (``CIRCLE-11``).
        tools: What the model may call.

    Attributes:
        turns: How many turns were added.
        folded: The last turn that is folded; 0 where none is.
        size: Bytes of all that goes to the model.
    """

    def __init__(
        self, identity: Identity, capabilities: str | None, tools: tuple[Tool, ...]
    ) -> None:
        self._identity = identity
        self._tools = tools
        texts = (identity.system_prompt, capabilities)
        self._head = [Message("system", text) for text in texts if text is not None]
        named = zip(("identity", "capabilities"), texts, strict=True)
        self._head_layers = [Layer(name, 0) for name, text in named if text is not None]
        self._head_size = sum(map(_size, self._head)) + sum(map(_tool_size, tools))
        self._said: list[Said] = []
        self._messages = list(self._head)
        self._layers = list(self._head_layers)
        self.turns = self.folded = 0
        self.size = self._head_size
        self._reported: tuple[int, int] | None = None  # prompt tokens, and the size they were of
        self._kept: int | None = None  # messages that were sent before and still come first

    def add_intent(self, text: str, own: int | None = None) -> None:
        """Add an intent as a user message (``INTENT-2``).

        Args:
            text: The message.
            own: How many characters at its beginning are the intent itself. Default: all.
        """
        own = len(text) if own is None else own
        self._add(Said("intent", (Message("user", text),), self.turns, own))

    def add_turn(self, reply: Reply, observed: tuple[Message, ...]) -> None:
        """Add an utterance and what was observed of it (``LOOP-1``)."""
        self.turns += 1
        uttered = Message("assistant", reply.content, tool_calls=reply.tool_calls)
        self._add(Said("turn", (uttered, *observed), self.turns))

    def add_note(self, note: str) -> bool:
        """Add to what was observed last, or to the intent; whether there is such a message."""
        last = self._said[-1]
        message = last.messages[-1]
        if message.role == "assistant":
            return False
        message = replace(message, content=f"{message.content or ''}{note}")
        self._set([*self._said[:-1], replace(last, messages=(*last.messages[:-1], message))])
        return True

    def request(self) -> Request:
        """What goes to the model now."""
        return Request(
            self._messages,
            self._tools,
            self._identity.tool_choice,
            self._identity.hyperparameters,
        )

    @property
    def layers(self) -> Sequence[Layer]:
        """What each message of the request is part of."""
        return self._layers

    def sent(self) -> Sent:
        """What the request is made of, for the record of its reply; from then on it counts as sent.

        So that each message is recorded once, the next time only those are told that came since.
        The first time all are, also where this goes on with what is on record: it is then known
        whatever has changed in between.
        """
        first = self._kept is None
        kept = self._kept or 0
        self._kept = len(self._messages)
        return Sent(
            kept,
            wire.dumps([message.neutral() for message in self._messages[kept:]]),
            wire.dumps([tool.neutral() for tool in self._tools]) if first else None,
        )

    # -- how much it is --------------------------------------------------------------------------

    @property
    def used(self) -> int:
        """Tokens that it takes.

        What the provider reported of the last query, and an estimate of what came since, its
        bytes by four. All of it is estimated where there is no report, and after a fold until
        the next one.
        """
        tokens, size = self._reported or (0, 0)
        return tokens - (size - self.size) // BYTES_A_TOKEN  # rounded up

    @property
    def reserved(self) -> int:
        """Tokens that the identity asks to have left for the reply."""
        asked = self._identity.hyperparameters.get("max_tokens")
        return asked if isinstance(asked, int) else 0

    def report(self, prompt_tokens: int) -> None:
        """Take in what the provider says that the last query took; 0 says nothing."""
        if prompt_tokens:
            self._reported = (prompt_tokens, self.size)

    # -- folding ---------------------------------------------------------------------------------

    @property
    def whole(self) -> int:
        """How many turns are told whole."""
        return self.turns - self.folded

    @property
    def newest_intent(self) -> Said:
        """The intent that is worked on."""
        return next(said for said in reversed(self._said) if said.kind == "intent")

    def followed(self, last: int) -> list[int]:
        """Which turns up to one, but for that one, were followed by a further intent."""
        return [said.turn for said in self._said if said.kind == "intent" and 0 < said.turn < last]

    def fold(self, last: int, text: str) -> None:
        """Let one message stand for all turns up to one; an earlier fold goes into it.

        Args:
            last: The last turn that is folded.
            text: What stands for them.
        """
        cut = 1 + max(
            at for at, said in enumerate(self._said) if said.kind == "turn" and said.turn == last
        )
        intents = [said for said in self._said[:cut] if said.kind == "intent"]
        stands = Said("fold", (Message("user", text),), last)
        self.folded = last
        self._set([*intents, stands, *self._said[cut:]])

    def change(self, change: Callable[[Said], Said]) -> None:
        """Have each piece say something else."""
        self._set([change(said) for said in self._said])

    def _set(self, said: list[Said]) -> None:
        """Say this from now on. What was reported was of something else."""
        before = self._messages
        self._said, self._messages = [], list(self._head)
        self._layers = list(self._head_layers)
        self.size, self._reported = self._head_size, None
        for one in said:
            self._add(one)
        if self._kept is not None:
            self._kept = min(self._kept, _same(before, self._messages))

    def _add(self, said: Said) -> None:
        self._said.append(said)
        self._messages.extend(said.messages)
        self._layers.extend(said.layers)
        self.size += said.size


def _same(one: list[Message], other: list[Message]) -> int:
    """How many messages both begin with."""
    count = 0
    for mine, theirs in zip(one, other, strict=False):
        if mine is not theirs:
            break
        count += 1
    return count


def _size(message: Message) -> int:
    """Bytes of a message, as it is reckoned."""
    size = _bytes(message.content or "")
    for call in message.tool_calls:
        size += _bytes(call.name) + _bytes(call.malformed or _json(call.arguments))
    return size


def _tool_size(tool: Tool) -> int:
    return _bytes(_json(tool.neutral()))


def _json(value: Any) -> str:
    """JSON as far as it goes: it is only measured."""
    return json.dumps(to_json(value), ensure_ascii=False)


def _bytes(text: str) -> int:
    return len(text.encode("utf-8", "surrogatepass"))
