"""The events of a trajectory: nine kinds, each one flat line of JSON.

Names, types and order are those of keel's schema, so that its readers read these files and this
reader reads theirs. Nothing can be added to an event: what else there is to tell stands in the
files that it refers to. A *gate* is a quality gate here: a verdict, not a function.
"""

from __future__ import annotations

import json
import re
from datetime import datetime
from typing import Annotated, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from ..errors import TrajectoryError

BYTES_A_TOKEN = 4
Unsigned = Annotated[int, Field(strict=True, ge=0, lt=1 << 64)]
"""What keel counts with."""
ExitCode = Annotated[int, Field(strict=True, ge=-(1 << 31), lt=1 << 31)]
_RFC_3339 = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)", re.ASCII)


def _check_time(text: str) -> str:
    if not _RFC_3339.fullmatch(text):
        raise ValueError("is no time as RFC 3339 has it")
    datetime.fromisoformat(f"{text[:19]}{'+00:00' if text[-1] == 'Z' else text[-6:]}")
    return text


class BaseEvent(BaseModel):
    """What every event has.

    Attributes:
        t: Wall-clock time, RFC 3339.
        seq: Its ordinal in the run: from 1, without a gap.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    t: Annotated[str, AfterValidator(_check_time)]
    seq: Unsigned

    @property
    def sent_tokens(self) -> int:
        """Tokens that it put in front of a model: 0 for what did not reach one."""
        return 0

    def one_line(self) -> str:
        """The event as a line of JSON, without the line's end; what is None is left out."""
        return json.dumps(
            self.model_dump(exclude_none=True), ensure_ascii=False, separators=(",", ":")
        )

    def summary(self) -> str:
        """The event for a reader: its ordinal, its kind, and what matters most of it."""
        kind = type(self).model_fields["kind"].default
        return f"{self.seq:>5}  {kind:<14} {self._detail()}"

    def _detail(self) -> str:
        raise NotImplementedError


class RunStart(BaseEvent):
    """A run begins with an intent.

    Attributes:
        spec: What was run: a path in the run's directory.
        task: The intent, or None.
        driver: The root's model, or None.
        keel_version: What wrote this, such as ``circlet/0.1.0``.
        store_hash: SHA-256 of the resolved circle, in hex; the document is a blob of the run.
    """

    kind: Literal["run_start"] = "run_start"
    spec: str
    task: str | None = None
    driver: str | None = None
    keel_version: str
    store_hash: str

    def _detail(self) -> str:
        task = "" if self.task is None else f" task={self.task}"
        driver = "" if self.driver is None else f" driver={self.driver}"
        return f"spec={self.spec}{task}{driver}"


class Inject(BaseEvent):
    """A block that a model has not been sent before is put in front of it.

    Attributes:
        source: Path of the block.
        tokens: ``estimate_tokens`` of its text.
        bytes: Bytes of its text, or None.
    """

    kind: Literal["inject"] = "inject"
    source: str
    tokens: Unsigned
    bytes: Unsigned | None = None

    def _detail(self) -> str:
        return f"{self.source} ({self.tokens} tokens)"

    @property
    def sent_tokens(self) -> int:
        """Tokens of the block."""
        return self.tokens


class DriverCall(BaseEvent):
    """A model is asked.

    Attributes:
        driver: The model.
        task: Path of the card that tells what it is sent, or None.
        prompt_tokens: Tokens that it was sent before and is sent again.
    """

    kind: Literal["driver_call"] = "driver_call"
    driver: str
    task: str | None = None
    prompt_tokens: Unsigned

    def _detail(self) -> str:
        return f"{self.driver} ({self.prompt_tokens} prompt tokens)"

    @property
    def sent_tokens(self) -> int:
        """Tokens that are sent again."""
        return self.prompt_tokens


class DriverResult(BaseEvent):
    """A model answered, or did not.

    Attributes:
        driver: The model.
        status: ``ok``, or what went wrong in a word.
        files_changed: How many files it changed, or None.
        detail: Path of what it answered, or None.
    """

    kind: Literal["driver_result"] = "driver_result"
    driver: str
    status: str
    files_changed: Unsigned | None = None
    detail: str | None = None

    def _detail(self) -> str:
        detail = "" if self.detail is None else f" — {self.detail}"
        return f"{self.driver} {self.status}{detail}"


class Oracle(BaseEvent):
    """A verifier judged.

    Attributes:
        criterion: What was asked of it.
        oracle: What said so: a function's name, or a command.
        verdict: ``pass`` or ``fail``.
        exit_code: The command's exit code, or None.
    """

    kind: Literal["oracle"] = "oracle"
    criterion: str
    oracle: str
    verdict: str
    exit_code: ExitCode | None = None

    def _detail(self) -> str:
        return f"{self.criterion} {self.verdict} — {self.oracle}"


class GateVerdict(BaseEvent):
    """A quality gate reached a verdict; here, a ward stopped an entity or kept it out.

    Attributes:
        gate: The ward.
        verdict: ``fail``.
        result: Path of what it came to.
    """

    kind: Literal["gate"] = "gate"
    gate: str
    verdict: str
    result: str

    def _detail(self) -> str:
        return f"{self.gate} {self.verdict}"


class Human(BaseEvent):
    """A person decided something.

    Attributes:
        stage: What about: ``approval`` or ``reward``.
        decision: What they decided.
        by: Who.
        note: What they said to it, or None.
    """

    kind: Literal["human"] = "human"
    stage: str
    decision: str
    by: str
    note: str | None = None

    def _detail(self) -> str:
        return f"{self.stage} {self.decision} by {self.by}"


class Command(BaseEvent):
    """A program ran, or a gate was called.

    Attributes:
        cmd: ``python`` for a program, the call for a gate.
        exit_code: 0; 1 where it failed; 124 where its time was up, 137 where it was killed.
        evidence: Path of what it came to, or None.
    """

    kind: Literal["command"] = "command"
    cmd: str
    exit_code: ExitCode
    evidence: str | None = None

    def _detail(self) -> str:
        return f"`{self.cmd}` exit {self.exit_code}"


class RunEnd(BaseEvent):
    """A run ended.

    Attributes:
        verdict: ``terminated``, ``truncated`` or ``failed``.
        duration_ms: How long it took, in milliseconds.
    """

    kind: Literal["run_end"] = "run_end"
    verdict: str
    duration_ms: Unsigned

    def _detail(self) -> str:
        return f"{self.verdict} in {self.duration_ms}ms"


Event = (
    RunStart | Inject | DriverCall | DriverResult | Oracle | GateVerdict | Human | Command | RunEnd
)
"""Any event; ``kind`` says which."""

_EVENTS: TypeAdapter[Event] = TypeAdapter(Annotated[Event, Field(discriminator="kind")])


def parse(line: str | bytes) -> Event:
    """The event that a line of a trajectory holds.

    Raises:
        TrajectoryError: It holds none; the text says why.
    """
    try:
        return _EVENTS.validate_json(line)
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        if first["type"] == "union_tag_not_found":
            raise TrajectoryError("it has no kind, so it is no event") from None
        place = ".".join(str(part) for part in first["loc"])
        raise TrajectoryError(f"{place}: {first['msg']}" if place else first["msg"]) from None


def estimate_tokens(text: str) -> int:
    """Tokens of a text as they are reckoned here: its bytes in UTF-8 by four, rounded up.

    Crude and always the same, which is enough to see what a budget goes into.
    """
    return -(-len(text.encode("utf-8", "surrogatepass")) // BYTES_A_TOKEN)
