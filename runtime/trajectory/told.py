"""What one entity's model is sent, block by block, so that each block is kept once."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from operator import eq, is_
from typing import Any, NamedTuple, TypeVar

from ..jsonable import to_json
from ..llm.base import Message, Request
from .events import estimate_tokens
from .plain import canonical


class Layer(NamedTuple):
    """What a message is part of.

    Attributes:
        name: ``identity``, ``capabilities``, ``intent``, ``fold``, ``utterance`` or
            ``observation``.
        turn: Ordinal of its turn; of an intent, of the turn that it follows; of a fold, of the
            last turn that it stands for. 0 is before the first turn.
    """

    name: str
    turn: int


@dataclass(frozen=True, slots=True)
class Block:
    """A piece of a request that is kept in a file of its own.

    Attributes:
        digest: SHA-256 of the file, in hex.
        size: Bytes of its text in UTF-8.
        tokens: Its text's tokens, as they are estimated.
    """

    digest: str
    size: int
    tokens: int


@dataclass(frozen=True)
class Telling:
    """One request as its card tells of it.

    Attributes:
        kept: How many blocks of the request before it begins with.
        blocks: Digests of the blocks that follow them, in order.
        tools: Digest of the tools' block; None where there are no tools.
        fresh: The blocks that the request before did not have, each with its file's content.
        again: Tokens of those that it had.
        digest: SHA-256 of the whole request, in hex.
    """

    kept: int
    blocks: tuple[str, ...]
    tools: str | None
    fresh: dict[Block, bytes]
    again: int
    digest: str


class Told:
    """What an entity's model was sent last.

    To tell of a request takes the time that its new messages take, however many there are:
    messages that were sent before are known as objects, and the digest goes on from theirs.

    Args:
        entity: The entity.
    """

    def __init__(self, entity: str) -> None:
        self._entity = canonical(entity)
        self._before: list[str] = []
        self._tools_before: str | None = None
        self._messages: tuple[Message, ...] = ()
        self._blocks: list[Block] = []
        self._tokens = 0
        self._head = b""
        self._hash = hashlib.sha256()

    def take_up(self, kept: int, blocks: Sequence[str], tools: str | None) -> None:
        """Take in a request that another process sent; see ``Telling``."""
        self._before[kept:] = blocks
        self._tools_before = tools

    def telling(self, request: Request, layers: Sequence[Layer]) -> Telling:
        """Tell of a request, which counts as sent from then on.

        Args:
            request: What is sent.
            layers: What each of its messages is part of.
        """
        messages = tuple(request.messages)
        same = _common(self._messages, messages, is_)
        self._begin(messages[:same], canonical(request.hyperparameters))
        contents: dict[Block, bytes] = {}
        for message, layer in zip(messages[same:], layers[same:], strict=True):
            self._add(message, layer, contents)
        self._messages = messages

        digests = [block.digest for block in self._blocks[same:]]
        before = self._before[same:]
        kept = same + _common(before, digests, eq)
        self._before[same:] = digests
        tools, in_request = self._tools_of(request, contents)
        had = {*before, self._tools_before}
        self._tools_before = tools.digest if tools else None
        fresh = {block: data for block, data in contents.items() if block.digest not in had}
        total = self._tokens + (tools.tokens if tools else 0)
        return Telling(
            kept=kept,
            blocks=tuple(self._before[kept:]),
            tools=self._tools_before,
            fresh=fresh,
            again=total - sum(block.tokens for block in fresh),
            digest=self._digest(request.tool_choice, in_request),
        )

    def _begin(self, kept: tuple[Message, ...], hyperparameters: bytes) -> None:
        """Go back to where the request begins as the one before did."""
        head = b'{"hyperparameters":%s,"messages":[' % hyperparameters
        if head == self._head and len(kept) == len(self._messages):
            return
        self._head = head
        self._hash = hashlib.sha256(head)
        del self._blocks[len(kept) :]
        self._tokens = sum(block.tokens for block in self._blocks)
        for number, message in enumerate(kept):
            self._hash.update(_listed(canonical(message.neutral()), number))

    def _add(self, message: Message, layer: Layer, contents: dict[Block, bytes]) -> None:
        """Go on with a message."""
        text = canonical(message.neutral())
        name = layer.name.encode()
        told = self._entity, name, text, layer.turn
        data = b'{"entity":%s,"layer":"%s","message":%s,"turn":%d}' % told
        block = _block(data, _text_of(message))
        contents[block] = data
        self._hash.update(_listed(text, len(self._blocks)))
        self._blocks.append(block)
        self._tokens += block.tokens

    def _tools_of(
        self, request: Request, contents: dict[Block, bytes]
    ) -> tuple[Block | None, bytes]:
        """The block of a request's tools, and the tools as they stand in the request."""
        tools = [tool.neutral() for tool in request.tools]
        text = canonical(tools)
        if not tools:
            return None, text
        data = b'{"entity":%s,"layer":"tools","tools":%s}' % (self._entity, text)
        block = _block(data, _json(tools))
        contents[block] = data
        return block, text

    def _digest(self, tool_choice: str | None, tools: bytes) -> str:
        """SHA-256 of the request as canonical JSON."""
        whole = self._hash.copy()
        whole.update(b'],"tool_choice":%s,"tools":%s}' % (canonical(tool_choice), tools))
        return whole.hexdigest()


T = TypeVar("T")


def _common(one: Sequence[T], other: Sequence[T], equal: Callable[[T, T], bool]) -> int:
    """How many items both begin with."""
    pairs = map(equal, one, other)
    return next((at for at, same in enumerate(pairs) if not same), min(len(one), len(other)))


def _listed(text: bytes, place: int) -> bytes:
    """An item as it stands in a list."""
    return b"," + text if place else text


def _block(data: bytes, text: str) -> Block:
    digest = hashlib.sha256(data).hexdigest()
    return Block(digest, len(text.encode("utf-8", "surrogatepass")), estimate_tokens(text))


def _text_of(message: Message) -> str:
    """What is reckoned of a message: its text, and the name and arguments of each call."""
    calls = (f"{call.name}{call.malformed or _json(call.arguments)}" for call in message.tool_calls)
    return "".join([message.content or "", *calls])


def _json(value: Any) -> str:
    return json.dumps(to_json(value), ensure_ascii=False, sort_keys=True, separators=(",", ":"))
