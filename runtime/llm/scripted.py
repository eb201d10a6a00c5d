"""A model that says what its script says: for tests, examples and runs without a key."""

from __future__ import annotations

import copy
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import anyio

from ..errors import ProviderError, ScriptError, ScriptExhausted
from .base import LLM, Heard, Message, Reply, Request, ToolCall, Usage, check_linkage, check_reply
from .chat import normalise
from .script import Line, parse_lines, parse_usage, read_script

CODE_TOOL = "python"
"""The tool that a reply's ``code`` calls: the code medium's one tool."""
_GIVEN_ID = re.compile(r"call_(\d{1,18})")


class ScriptedLLM(LLM):
    """A model whose replies are written down beforehand.

    Each reply is a mapping with some of these keys: ``content`` (text), ``code`` (a program:
    one call of the tool ``python``), ``tool_calls`` (a list of ``gate``, ``args``, ``id``),
    ``thinking``, ``usage``, ``delay_ms`` (wait so long first); or, in place of content and
    calls, ``raw_response`` (a Chat Completions response, read as a provider's is), ``error``
    (``status`` and ``message``: the provider fails) or ``tool_result`` (``tool_call_id`` and
    ``content``: a result out of place, which the linkage check refuses, LLM-7). Calls without
    an ``id`` get ``call_1``, ``call_2`` and so on, unique over the model's life.

    A fork (LOOM-4), and an entity that is taken up again, goes on after the replies that the loom
    has: with a list, after those that models of this name gave in it, unless some were given by
    this object already, and children that have claimed a reply and not said it yet get that one;
    with a mapping, after those of the matching list that its own past has, and with the list of
    what it is forked from where its own intent matches none. Where children of a list ask at the
    same time, the loom does not tell who claimed which of their later replies: a mapping does.

    Args:
        replies: A list of replies that all entities share, claimed in request order; a child
            claims its first one when it is bound (COMP-3). Or a mapping from a pattern of the
            intent (``re.search``, the first that matches) to such a list: each entity goes
            through a copy of its own.
        name: How records and messages call it.
        usage: Tokens of each reply that says none. Default: zero.

    Attributes:
        requests: What it was sent, by whomever, in order.

    Raises:
        ScriptError: A reply is written wrongly; the text says which and how.
    """

    def __init__(
        self,
        replies: Sequence[Mapping[str, Any]] | Mapping[str, Sequence[Mapping[str, Any]]],
        name: str = "scripted",
        usage: Usage | Mapping[str, int] | None = None,
    ) -> None:
        self.name = name
        self.requests: list[Request] = []
        self._usage = parse_usage(usage)
        self._shared: _Lines | None = None
        self._by_intent: list[tuple[re.Pattern[str], list[Line]]] = []
        if isinstance(replies, Mapping):
            self._by_intent = [
                (_pattern(pattern), parse_lines(lines, f"replies for {pattern!r}"))
                for pattern, lines in replies.items()
            ]
        else:
            self._shared = _Lines(parse_lines(replies, "replies"), f"the script of {name!r}")
        self._unbound: dict[str, _Lines] = {}
        self._taken_ids = self._ids_in_script()
        self._calls = 0

    @classmethod
    def from_file(cls, path: str | Path, name: str | None = None) -> ScriptedLLM:
        """Read a script file.

        The file is YAML: a list of replies, or a mapping with ``replies`` (such a list) or
        ``by_intent`` (patterns and their lists), and perhaps ``usage``. In a reply, ``code``
        may be ``{file: NAME}``, a path from the script's own folder.

        Args:
            path: The file.
            name: How records and messages call the model. Default: ``scripted:`` and the
                file's name.

        Raises:
            ScriptError: The file can't be read, or says something wrong; the text names it.
        """
        path = Path(path)
        script = read_script(path)
        try:
            return cls(script.replies, name or f"scripted:{path.name}", script.usage)
        except ScriptError as error:
            raise ScriptError(f"script {path}: {error}") from None

    async def query(self, request: Request) -> Reply:
        """Give the next reply to a request that comes through no handle.

        Where replies go by intent, the request's first user message is taken for it.

        Raises:
            ScriptExhausted: No reply is left.
            ProviderError: The script says so.
            MalformedReply: The reply breaks the contract (LLM-3, LLM-4, LLM-7).
        """
        self.requests.append(request)
        return await self._say(self._lines_unbound(request).claim(), request)

    def bind(self, intent: str, *, child: bool) -> LLM:
        """The handle of one entity; a child's first reply is claimed now (COMP-3)."""
        if self._shared is None:
            return _Bound(self, self._lines_for(intent))
        return _Bound(self, self._shared, self._shared.take() if child else None)

    def go_on(self, intent: str, heard: Heard) -> LLM:
        """The handle of an entity with a past."""
        self._go_on_counting(heard)
        if self._shared is not None:
            claimed = self._shared.catch_up(heard)
            return _Bound(self, self._shared, claimed)
        place: int | None = None
        said: Counter[int | None] = Counter()
        for earlier, replies in (*heard.of_it, (intent, 0)):
            place = self._place_of(earlier, place)
            said[place] += replies
        lines = self._lines_at(place, intent)
        lines.skip(said[place])
        return _Bound(self, lines)

    def _lines_unbound(self, request: Request) -> _Lines:
        if self._shared is not None:
            return self._shared
        users = (message.content or "" for message in request.messages if message.role == "user")
        intent = next(users, "")
        if intent not in self._unbound:
            self._unbound[intent] = self._lines_for(intent)
        return self._unbound[intent]

    def _lines_for(self, intent: str) -> _Lines:
        return self._lines_at(self._place_of(intent), intent)

    def _place_of(self, intent: str, otherwise: int | None = None) -> int | None:
        """Which of the lists an intent matches."""
        found = (at for at, (pattern, _) in enumerate(self._by_intent) if pattern.search(intent))
        return next(found, otherwise)

    def _lines_at(self, place: int | None, intent: str) -> _Lines:
        """A fresh copy of one of the lists."""
        if place is None:
            return _Lines([], f"the script of {self.name!r} for the intent {_short(intent)}")
        pattern, lines = self._by_intent[place]
        return _Lines(lines, f"the script of {self.name!r} for {pattern.pattern!r}")

    async def _say(self, line: Line, request: Request) -> Reply:
        check_linkage(request.messages)
        if line.delay_ms:
            await anyio.sleep(line.delay_ms / 1000)
        if line.error is not None:
            status = line.error.status
            answered = "can't be reached" if status is None else f"answered {status}"
            raise ProviderError(f"{self.name} {answered}: {line.error.message}", status)
        if line.tool_result is not None:
            result = line.tool_result
            stray = Message("tool", result.content, tool_call_id=result.tool_call_id)
            check_linkage([*request.messages, stray])
        return check_reply(self._reply(line))

    def _reply(self, line: Line) -> Reply:
        usage = self._usage if line.usage is None else parse_usage(line.usage)
        if line.raw_response is not None:
            reply = normalise(copy.deepcopy(line.raw_response))
            return reply if "usage" in line.raw_response else replace(reply, usage=usage)
        calls = tuple(self._tool_calls(line))
        return Reply(
            content=line.content,
            tool_calls=calls,
            usage=usage,
            thinking=line.thinking,
            stop_reason="tool_calls" if calls else "stop",
            model=self.name,
        )

    def _tool_calls(self, line: Line) -> Iterable[ToolCall]:
        if line.code is not None:
            yield ToolCall(self._new_id(), CODE_TOOL, {"code": line.code})
        for call in line.tool_calls or ():
            # A copy, so that what a caller does to its arguments stays out of the script.
            yield ToolCall(call.id or self._new_id(), call.gate, copy.deepcopy(call.args))

    def _new_id(self) -> str:
        while True:
            self._calls += 1
            if f"call_{self._calls}" not in self._taken_ids:
                return f"call_{self._calls}"

    def _go_on_counting(self, heard: Heard) -> None:
        """Give no call an id that one has which is on record, unless ids were given already."""
        replies = (reply for _, reply in heard.claims()) if not self._calls else ()
        for call in (call for reply in replies if reply for call in reply.tool_calls):
            if (found := _GIVEN_ID.fullmatch(call.id)) is not None:
                self._calls = max(self._calls, int(found[1]))

    def _ids_in_script(self) -> set[str]:
        shared = self._shared.lines if self._shared is not None else []
        lines = [*shared, *(line for _, lines in self._by_intent for line in lines)]
        return {call.id for line in lines for call in line.tool_calls or () if call.id}


class _Lines:
    """The lines of a script that one entity, or all together, go through once."""

    def __init__(self, lines: list[Line], title: str) -> None:
        self.lines = lines
        self._title = title
        self._next = 0
        self._claimed: dict[str, Line | None] = {}

    def take(self) -> Line | None:
        """The next line, or None when all have been taken."""
        if self._next == len(self.lines):
            return None
        self._next += 1
        return self.lines[self._next - 1]

    def skip(self, count: int) -> None:
        """Begin after so many replies."""
        for _ in range(count):
            self._pass_reply(self.take())

    def catch_up(self, heard: Heard) -> Line | None:
        """Begin after all that was claimed, unless a line has been taken already.

        Returns:
            The line that the entity has claimed and not said, or None.
        """
        for entity, reply in heard.claims() if not self._next else ():
            line = self._claimed.pop(entity, None) or self.take()
            if reply is None:
                self._claimed[entity] = line
            else:
                self._pass_reply(line)
        return self._claimed.pop(heard.entity or "", None)

    def _pass_reply(self, line: Line | None) -> None:
        """Go on after a reply; the provider may have failed before it, and was asked again."""
        while line is not None and line.error is not None:
            line = self.take()

    def claim(self) -> Line:
        """The next line.

        Raises:
            ScriptExhausted: All have been taken.
        """
        line = self.take()
        if line is None:
            raise ScriptExhausted(f"{self._title} {_count(len(self.lines))}: no reply is left")
        return line


class _Bound(LLM):
    """One entity's handle of a scripted model."""

    def __init__(self, llm: ScriptedLLM, lines: _Lines, claimed: Line | None = None) -> None:
        self.name = llm.name
        self._llm = llm
        self._lines = lines
        # None where nothing is left: the child fails when it asks, not its parent now.
        self._claimed = claimed

    async def query(self, request: Request) -> Reply:
        """Give this entity's next reply."""
        self._llm.requests.append(request)
        claimed, self._claimed = self._claimed, None
        return await self._llm._say(claimed or self._lines.claim(), request)

    def bind(self, intent: str, *, child: bool) -> LLM:
        """A handle for another entity."""
        return self._llm.bind(intent, child=child)

    def go_on(self, intent: str, heard: Heard) -> LLM:
        """A handle for an entity with a past."""
        return self._llm.go_on(intent, heard)


def _pattern(text: str) -> re.Pattern[str]:
    try:
        return re.compile(text)
    except (re.error, TypeError) as error:
        raise ScriptError(f"{text!r} is no pattern of an intent: {error}") from None


def _count(number: int) -> str:
    return {0: "has no replies", 1: "has 1 reply"}.get(number, f"has {number} replies")


def _short(text: str) -> str:
    return repr(text if len(text) <= 100 else text[:100] + "...")
