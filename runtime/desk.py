"""Where one turn's gate calls are made and its nodes are recorded."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import replace
from typing import Any, NoReturn, Protocol

from ..gates import ChildRequest, Gate, GateArgumentError
from ..sandbox.dialogue import Done
from ..sandbox.preview import show
from ..sandbox.wire import Sealed, seal
from .call import Call, asked_of, request_fields
from .calling import called
from .events import Event, ToolCalled, ToolResult
from .failures import failure_of
from .loom import CallRecord, ObservedCall, SpawnPoint
from .loom.records import Record
from .media import Act
from .parts import Parts
from .readings import Readings
from .recorded import Recorded, answer_of, interrupted
from .redaction import Secrets
from .texts import TEXT_CHARS, error_text, fits, reference_text, result_text

MAX_REFUSED_CHARS = 100_000
"""Size of the arguments that are kept of a call that never reached its gate."""


class Owner(Protocol):
    """What a desk needs of the entity whose turn it is."""

    entity_id: str
    depth: int
    gates: dict[str, Gate]
    closed: dict[str, str]
    tip: str | None
    sequence: int
    secrets: Secrets

    def record(self, record: Record) -> None:
        """Record a fact."""

    def differs(self, difference: str) -> None:
        """Take in what a turn shows that is on record otherwise."""

    def emit(self, event: Event) -> None:
        """Tell who watches."""

    def check_answer(self, answer: Sealed) -> None:
        """Check what ``done`` is given.

        Raises:
            ValueError: It does not fit.
        """

    def admit(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> None:
        """Check how much a delegation asks for, before it is read.

        Raises:
            ValueError: It is too much.
        """

    def prepare(self, requests: Sequence[ChildRequest]) -> Sequence[str]:
        """Make children, none of them started; gives their ids.

        Raises:
            Exception: The delegation is refused.
        """

    def take_up(self, requests: Sequence[ChildRequest], ids: Sequence[str]) -> None:
        """Make children ready that are on record, each to go on from where it stood."""

    def run_children(self, ids: Sequence[str], where: SpawnPoint) -> Awaitable[list[Any]]:
        """Run children that were prepared; gives what each came to, in order."""


class TurnDesk:
    """Makes the gate calls of one turn, and records its nodes.

    Args:
        owner: The entity.
        turn: Ordinal of the utterance, from 1.
        recorded: What is on record of the turn, where it is carried out again: its calls are
            answered from that as far as it goes, and it is not recorded twice. Default: nothing.

    Attributes:
        called: Names of the gates that were called, in order.
    """

    def __init__(self, owner: Owner, turn: int, recorded: Recorded | None = None) -> None:
        self._owner = owner
        self._turn = turn
        self._recorded = Recorded() if recorded is None else recorded
        self._k = 0
        self._readings = Readings()
        self._parts = Parts(owner, turn, self._recorded, self._readings)
        self.called: list[str] = []

    @property
    def turn(self) -> int:
        """Ordinal of the utterance that is carried out."""
        return self._turn

    @property
    def reads(self) -> bytes | None:
        """What the program that runs now has read by the record."""
        return self._recorded.reads(self._readings.program)

    @contextmanager
    def running(
        self, printed: Callable[[], str], reads: Callable[[], bytes | None]
    ) -> Iterator[None]:
        """While a program runs; see ``media.base.Desk.running``."""
        with self._parts.running(printed), self._readings.running(reads):
            yield

    # -- calls -----------------------------------------------------------------------------------

    async def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a gate; see ``media.base.Desk.call``."""
        gate = self._find(name, args, kwargs)
        try:
            if gate.delegates:
                self._owner.admit(args, kwargs)
            arguments = gate.check(args, kwargs)
        except Exception as error:
            self._note(name, args or kwargs, error=error)
            raise
        # What it hands in at the end may be another thing another time, and changes nothing.
        asked = None if gate.final else asked_of(args, kwargs)
        if gate.delegates:
            return await self._delegate(gate, arguments, asked)
        return await self._make(gate, self._next(name, arguments, asked, gate.final))

    def refuse(self, name: str, why: str) -> NoReturn:
        """Record a call that can't be made, and raise why."""
        error = GateArgumentError(f"{name}: {why}")
        self._note(name, {}, error=error)
        raise error

    def _find(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Gate:
        gate = self._owner.gates.get(name)
        if gate is not None:
            return gate
        why = self._owner.closed.get(name)
        names = ", ".join(self._owner.gates)
        error = (
            PermissionError(why) if why else NameError(f"there is no gate {name!r}; use: {names}")
        )
        self._note(name, args or kwargs, error=error)
        raise error

    async def _make(self, gate: Gate, call: Call) -> Any:
        past = self._recorded.ended(call.k)
        if past is not None and not gate.final:  # what ends the work was given is not on record
            return self._answered(gate, call, past)
        self._tell(call)
        was_begun = self._recorded.begun(call.k) is not None
        if not (gate.idempotent or gate.final):
            self._record_call(call, "begun")
        started = time.perf_counter()
        try:
            if was_begun and not (gate.idempotent or gate.final):
                raise interrupted(call.gate, call.text)
            result = await called(gate, call.arguments)
            if gate.final:
                sealed = seal(result)
                self._owner.check_answer(sealed)
            else:
                result, sealed = self._owner.secrets.sealed(result)
        except BaseException as error:
            self._failed(call, started, error)
            raise
        self._ended(call, started, sealed, result_text(result), self._reference(gate, sealed))
        return Done(sealed) if gate.final else sealed

    def _answered(self, gate: Gate, call: Call, past: CallRecord) -> Sealed:
        """Answer a call as it was answered the first time.

        Raises:
            Exception: It was answered with that.
        """
        sealed = None if past.result is None else Sealed(past.result, past.text)
        self._observe(call, past.text, past.is_error, self._reference(gate, sealed))
        return answer_of(past)

    def _reference(self, gate: Gate, sealed: Sealed | None) -> str | None:
        """What stands for an ephemeral gate's answer in the messages (``PROD-5``)."""
        if sealed is None or not gate.ephemeral:
            return None
        return reference_text(gate.name, sealed, self._turn)

    async def _delegate(self, gate: Gate, arguments: dict[str, Any], asked: bytes | None) -> Any:
        batch = "requests" in arguments
        requests = arguments["requests"] if batch else [arguments["request"]]
        plain = [request_fields(request) for request in requests]
        named = {"requests": plain} if batch else plain[0]
        call = self._next(gate.name, named, asked)
        ids = self._recorded.delegated(self._parts.count + 1, self._parts.calls)
        past = self._recorded.ended(call.k)
        if past is not None:
            if ids:
                self._parts.split(ids)
            return self._answered(gate, call, past)
        self._tell(call)
        started = time.perf_counter()
        try:
            results = await self._run_children(call, requests, ids)
            _, sealed = self._owner.secrets.sealed(results if batch else _only(results))
        except BaseException as error:
            self._failed(call, started, error)
            raise
        self._ended(call, started, sealed)
        return sealed

    async def _run_children(
        self, call: Call, requests: Sequence[ChildRequest], ids: Sequence[str]
    ) -> list[Any]:
        if ids:
            self._owner.take_up(requests, ids)
        else:
            ids = self._owner.prepare(requests)  # a refused delegation does not split the turn
        if not ids:
            return []
        self._record_call(call, "begun")
        node = self._parts.split(ids)
        return await self._owner.run_children(ids, SpawnPoint(node, call.k))

    def _next(
        self,
        name: str,
        arguments: dict[str, Any],
        asked: bytes | None = None,
        final: bool = False,
    ) -> Call:
        self._k += 1
        self._recorded.check(self._k, name, asked)
        return Call(name, arguments, self._k, final, asked, self._readings.taken())

    def _note(self, name: str, arguments: Any, error: Exception) -> None:
        """Record a call that never reached its gate."""
        named: dict[str, Any]
        if not fits(arguments, MAX_REFUSED_CHARS):
            named = {"arguments": show(arguments, TEXT_CHARS)}
        else:
            named = arguments if isinstance(arguments, dict) else {"arguments": list(arguments)}
        call = self._next(name, named)
        self._tell(call)
        self._ended(call, time.perf_counter(), error=error)

    def _tell(self, call: Call) -> None:
        if self._recorded.ended(call.k) is None:
            self._owner.emit(ToolCalled(*self._who, call.gate, call.text))

    def _failed(self, call: Call, started: float, error: BaseException) -> None:
        """Record a call's error; one that tells a secret is raised anew without it."""
        told = self._owner.secrets.error(error) if isinstance(error, Exception) else error
        self._ended(call, started, error=told)
        if told is not error:
            raise told from None

    def _ended(
        self,
        call: Call,
        started: float,
        result: Sealed | None = None,
        text: str | None = None,
        reference: str | None = None,
        error: BaseException | None = None,
    ) -> None:
        if text is None:
            text = error_text(error) if error else result.text if result else ""
        self._observe(call, text, error is not None, reference)
        self._record_call(
            call,
            "ended",
            result=result.data if result and not call.final else None,
            text=text,
            is_error=error is not None,
            duration_ms=(time.perf_counter() - started) * 1000,
            failure=None if error is None else failure_of(error),
        )
        if self._recorded.ended(call.k) is None:
            self._owner.emit(ToolResult(*self._who, call.gate, text, error is not None))

    def _observe(self, call: Call, text: str, is_error: bool, reference: str | None) -> None:
        self.called.append(call.gate)
        self._parts.observe(call.k, ObservedCall(call.gate, call.text, text, is_error), reference)

    def _record_call(self, call: Call, state: Any, **fields: Any) -> None:
        past = self._recorded.begun(call.k)
        if past is not None and state in ("begun", past.state):
            return
        self._owner.record(
            CallRecord(
                entity=self._owner.entity_id,
                turn=self._turn,
                k=call.k,
                gate=call.gate,
                arguments=call.data,
                arguments_text=call.text,
                state=state,
                asked=call.asked,
                reads=call.reads,
                **fields,
            )
        )

    @property
    def _who(self) -> tuple[str, int]:
        return self._owner.entity_id, self._owner.depth

    # -- nodes -----------------------------------------------------------------------------------

    def finish(self, act: Act) -> None:
        """Record the turn's last part.

        Raises:
            Deviation: A call is on record that was not made this time.
        """
        self._recorded.check_all_made(self._k)
        self._parts.finish(act)

    def cut_off(self, error: BaseException) -> Act:
        """What is told of a turn that could not be carried out to its end.

        What is on record of it and was not come to this time, stands as it is.
        """
        passed = self._parts.catch_up()
        for call in self._recorded.after(self._k):
            self._k = call.k
            if call.k not in passed:
                self._take_over(call)
        return self._parts.cut_off(error)

    def _take_over(self, call: CallRecord) -> None:
        """Have a call on record that the turn was cut off before; one without an end gets one."""
        if call.state == "begun":
            error = interrupted(call.gate, call.arguments_text)
            call = replace(
                call,
                state="ended",
                text=error.message,
                is_error=True,
                duration_ms=0.0,
                failure=failure_of(error),
            )
            self._owner.record(call)
        observed = ObservedCall(call.gate, call.arguments_text, call.text, call.is_error)
        self._parts.observe(call.k, observed)


def _only(results: list[Any]) -> Any:
    """What a single child came to; its failure is raised (``COMP-8``)."""
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]
