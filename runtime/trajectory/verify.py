"""Checks a trajectory: every request is rebuilt from the stream and the files beside it.

Nothing here is shared with what assembles requests or writes the stream, so that a fault in that
is not repeated here. A request is its blocks' messages in order, with the tools, the tool choice
and the hyperparameters that its card has; its digest, taken when it was sent, has to come out.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..errors import TrajectoryError
from .events import (
    Command,
    DriverCall,
    DriverResult,
    Event,
    GateVerdict,
    Inject,
    RunEnd,
    RunStart,
    estimate_tokens,
    parse,
)

_BLOB = re.compile(r"blobs/([0-9a-f]{2})/(\1[0-9a-f]{62})", re.ASCII)


@dataclass(frozen=True)
class Fault:
    """Something that is not as it was written.

    Attributes:
        seq: The event's ordinal; of a line that is none, the line's number; None: the whole.
        file: The file, as a path in the run's directory.
        what: What is wrong.
    """

    seq: int | None
    file: str
    what: str

    def __str__(self) -> str:
        place = self.file if self.seq is None else f"seq {self.seq}, {self.file}"
        return f"{place}: {self.what}"


@dataclass
class Report:
    """What a check came to.

    Attributes:
        requests: Requests that reached a model.
        rebuilt: How many of them were rebuilt, with the digest that was taken of them.
        withheld: ``seq`` of those whose digest a redaction withheld.
        faults: What is not as it was written.
        replies: The newest reply to each entity in each turn, with the model, as the stream
            has them.
    """

    requests: int = 0
    rebuilt: int = 0
    withheld: list[int] = field(default_factory=list)
    faults: list[Fault] = field(default_factory=list)
    replies: dict[tuple[str, int], tuple[str, Any]] = field(default_factory=dict)

    @property
    def passed(self) -> bool:
        """Whether every request was rebuilt and nothing is wrong."""
        return self.rebuilt == self.requests and not self.faults


def verify(path: Path, directory: Path) -> Report:
    """Check a trajectory.

    Args:
        path: The trajectory.
        directory: The run's directory, where its ``blobs`` are.

    Raises:
        TrajectoryError: It can't be read.
    """
    check = _Check(path, directory)
    try:
        with open(path, "rb") as file:
            check.run(file)
    except OSError as error:
        raise TrajectoryError(f"{path} can't be read: {error.strerror}") from None
    return check.report


class _Damaged(Exception):
    """A file, or what an event says of it, is not as it was written."""

    def __init__(self, file: str, what: str) -> None:
        super().__init__(what)
        self.file = file


@dataclass
class _Asker:
    """What is known of one entity that asks.

    Attributes:
        head: How its requests begin.
        blocks: Digests of the blocks of its last request.
        states: The hash of a request with the first 0, 1, 2 ... of them.
        tools: Digest of the block of its tools, or None.
        asked: Turn and attempt of its newest query, and whether that waits for its answer.
    """

    head: bytes = b""
    blocks: list[str] = field(default_factory=list)
    states: list[Any] = field(default_factory=list)
    tools: str | None = None
    asked: tuple[int, int] = (0, 0)
    waits: bool = False


class _Check:
    """One pass over a trajectory."""

    def __init__(self, path: Path, directory: Path) -> None:
        self._name = path.relative_to(directory).as_posix()
        self._directory = directory
        self._hash = hashlib.sha256()
        self._askers: dict[str, _Asker] = {}
        self._tokens: dict[str, int] = {}  # of each block that was injected
        self._next = 1  # the seq that comes next
        self._otherwise = 0  # the one that does if that of the last event was false
        self._is_as_written = True  # the stream, up to here
        self.report = Report()

    def run(self, lines: Iterable[bytes]) -> None:
        """Check each line. What is wrong with one is named once, and what follows is checked."""
        number = 0
        for number, line in enumerate(lines, 1):
            try:
                event = _event_of(line)
            except TrajectoryError as error:
                self._broken(number, str(error))
            else:
                if self._comes_next(event.seq):
                    self._check(event)
            self._hash.update(line)
        if number == 0:
            self._fault(None, self._name, "it is empty")

    def _comes_next(self, seq: int) -> bool:
        """Whether an event is not one of those before once more; one out of order is named."""
        expected, otherwise, self._otherwise = self._next, self._otherwise, 0
        if seq == otherwise:
            self._next = seq + 1
            return True
        self._next = max(expected, seq + 1)
        if seq < expected:
            self._broken(seq, f"it stands after seq {expected - 1}")
            return False
        if seq > expected:
            self._otherwise = expected + 1
            self._broken(seq, f"it comes where seq {expected} should")
        return True

    def _broken(self, seq: int, what: str) -> None:
        """Name a fault of the stream; the digests of what stands in it differ from then on."""
        self._is_as_written = False
        self._fault(seq, self._name, what)

    def _fault(self, seq: int | None, file: str, what: str) -> None:
        self.report.faults.append(Fault(seq, file, what))

    def _check(self, event: Event) -> None:
        if isinstance(event, DriverCall):
            self.report.requests += 1
        try:
            self._look_at(event)
        except _Damaged as damage:
            self._fault(event.seq, damage.file, str(damage))
        except (KeyError, TypeError, AttributeError):
            self._fault(event.seq, self._name, "what it refers to is no file of its kind")

    def _look_at(self, event: Event) -> None:
        match event:
            case RunStart():
                self._read(f"blobs/{event.store_hash[:2]}/{event.store_hash}")
                if event.spec.startswith("blobs/"):
                    self._read(event.spec)
            case Inject():
                self._inject(event)
            case DriverCall():
                self._call(event)
            case DriverResult():
                self._result(event)
            case Command() if event.evidence is not None:
                self._read(event.evidence)
            case GateVerdict():
                self._read(event.result)
            case RunEnd():
                for entity, asker in self._askers.items():
                    if asker.waits:
                        raise _Damaged(
                            self._name, f"the run ended while a query of {entity} had no result"
                        )

    # -- what each kind has to be ----------------------------------------------------------------

    def _inject(self, event: Inject) -> None:
        block = self._read(event.source)
        if not block.get("redacted"):  # else they are those of what it was
            text = _text_of(block)
            self._same(event.source, "tokens", event.tokens, estimate_tokens(text))
            size = len(text.encode("utf-8", "surrogatepass"))
            self._same(event.source, "bytes", event.bytes, size)
        self._tokens[Path(event.source).name] = event.tokens

    def _call(self, event: DriverCall) -> None:
        path = event.task or ""
        card = self._read(path)
        asker = self._askers.setdefault(card["entity"], _Asker())
        self._check_asked(path, card, asker)
        asker.asked, asker.waits = (card["turn"], card["attempt"]), True
        self._check_before(event.seq, path, card["before"])
        self._same(path, "model", card["model"], event.driver)
        had = {*asker.blocks, asker.tools}
        digest = self._rebuild(path, card, asker)
        every = [*asker.blocks, *([asker.tools] if asker.tools else [])]
        fresh = {one for one in every if one not in had}
        again = sum(self._tokens[one] for one in every) - sum(self._tokens[one] for one in fresh)
        self._same(path, "prompt_tokens", event.prompt_tokens, again)
        if card["request"] is None:
            self.report.withheld.append(event.seq)
        elif card["request"] != digest:
            raise _Damaged(path, "the request that comes out is not the one that was sent")
        else:
            self.report.rebuilt += 1

    def _check_before(self, seq: int, path: str, before: Any) -> None:
        """See that the stream up to an event is what it was when that was written."""
        if self._is_as_written and before != self._hash.hexdigest():
            self._is_as_written = False
            self._fault(seq, path, "what stands before it in the stream is not what stood there")

    def _check_asked(self, path: str, card: dict[str, Any], asker: _Asker) -> None:
        turn, attempt = asker.asked
        expected = attempt + 1 if card["turn"] == turn else 1
        self._same(path, "attempt", card["attempt"], expected)
        if asker.waits:
            raise _Damaged(path, "the query before it has no result")

    def _rebuild(self, path: str, card: dict[str, Any], asker: _Asker) -> str:
        """SHA-256 of the request that a card tells of."""
        kept = card["kept"]
        if not 0 <= kept <= len(asker.blocks):
            raise _Damaged(path, f"it goes on from {kept} blocks, and there are fewer")
        asker.blocks[kept:] = card["blocks"]
        asker.tools = card["tools"]
        head = b'{"hyperparameters":%s,"messages":[' % _canonical(card["hyperparameters"])
        if head != asker.head:
            asker.head, asker.states, kept = head, [hashlib.sha256(head)], 0
        del asker.states[kept + 1 :]
        for place, digest in enumerate(asker.blocks[kept:], kept):
            message = self._block(path, digest, card["entity"])["message"]
            state = asker.states[-1].copy()
            state.update((b"," if place else b"") + _canonical(message))
            asker.states.append(state)
        tools = []
        if asker.tools is not None:
            tools = self._block(path, asker.tools, card["entity"])["tools"]
        whole = asker.states[-1].copy()
        choice = _canonical(card["tool_choice"])
        whole.update(b'],"tool_choice":%s,"tools":%s}' % (choice, _canonical(tools)))
        return str(whole.hexdigest())

    def _block(self, card: str, digest: str, entity: str) -> dict[str, Any]:
        path = f"blobs/{digest[:2]}/{digest}"
        block = self._read(path)
        self._same(path, "entity", block["entity"], entity)
        if digest not in self._tokens:
            self._tokens[digest] = estimate_tokens(_text_of(block))
            self._fault(None, card, f"the block {digest} was not injected before")
        return block

    def _result(self, event: DriverResult) -> None:
        path = event.detail or ""
        told = self._read(path)
        self._check_before(event.seq, path, told["before"])
        self._same(path, "status", told["status"], event.status)
        asker = self._askers.get(told["entity"], _Asker())
        if not asker.waits or asker.asked != (told["turn"], told["attempt"]):
            raise _Damaged(path, "it answers no query that waits for its result")
        asker.waits = False
        if event.status == "ok":
            key = told["entity"], told["turn"]
            self.report.replies[key] = event.driver, told["reply"]

    # -- files -----------------------------------------------------------------------------------

    def _read(self, path: str) -> dict[str, Any]:
        """What a file holds, which has to be what its name says."""
        found = _BLOB.fullmatch(path)
        if found is None:
            raise _Damaged(self._name, f"{path!r} is no path of a blob")
        try:
            data = (self._directory / path).read_bytes()
        except OSError as error:
            raise _Damaged(path, f"can't be read: {error.strerror}") from None
        if hashlib.sha256(data).hexdigest() != found[2]:
            raise _Damaged(path, "its content is not what its name says")
        try:
            content = json.loads(data)
        except (ValueError, RecursionError):
            raise _Damaged(path, "it is no JSON") from None
        if not isinstance(content, dict):
            raise _Damaged(path, "it is no object of JSON")
        return content

    def _same(self, path: str, name: str, one: Any, other: Any) -> None:
        if one != other:
            raise _Damaged(path, f"{name} is {one!r} in one place and {other!r} in the other")


def _event_of(line: bytes) -> Event:
    """The event that a line holds.

    Raises:
        TrajectoryError: It holds none.
    """
    if not line.endswith(b"\n"):
        raise TrajectoryError("the line is cut short")
    return parse(line)


def _text_of(block: dict[str, Any]) -> str:
    """What is reckoned of a block."""
    if block["layer"] == "tools":
        return _readable(block["tools"])
    message = block["message"]
    text = message["content"] or ""
    for call in message.get("tool_calls", ()):
        text += call["name"] + (call.get("malformed") or _readable(call["arguments"]))
    return str(text)


def _canonical(value: Any) -> bytes:
    return json.dumps(value, sort_keys=True, separators=(",", ":")).encode()


def _readable(value: Any) -> str:
    return json.dumps(value, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
