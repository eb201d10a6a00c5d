"""Where one turn's gate calls are made and its nodes are recorded.

A turn that delegates is recorded in parts (``LOOM-1``, ``LOOM-8``): what happened before the
children stands as one node, which they hang under; what follows their return is the next. The
delegating call's own record belongs to the part after it, so each call stands once.
"""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import Any, NoReturn, Protocol

from ..gates import ChildRequest, Gate, GateArgumentError
from ..sandbox.dialogue import Done
from ..sandbox.execution import clip
from ..sandbox.preview import show
from ..sandbox.wire import Sealed, dumps, seal
from .events import Event, ToolCalled, ToolResult
from .loom import CallRecord, NodeRecord, Observation, ObservedCall, SpawnPoint
from .loom.records import Record, State
from .media import Act
from .media.conversation import as_text

TEXT_CHARS = 2_000
"""Length of the texts that stand in for arguments and results in the loom."""


class Owner(Protocol):
    """What a desk needs of the entity whose turn it is."""

    entity_id: str
    depth: int
    gates: Mapping[str, Gate]
    closed: Mapping[str, str]
    tip: str | None
    sequence: int

    def record(self, record: Record) -> None:
        """Record a fact."""

    def emit(self, event: Event) -> None:
        """Tell who watches."""

    def check_answer(self, answer: Sealed) -> None:
        """Check what ``done`` is given.

        Raises:
            ValueError: It does not fit.
        """

    def prepare(self, requests: Sequence[ChildRequest]) -> Sequence[str]:
        """Make children, none of them started; gives their ids.

        Raises:
            Exception: The delegation is refused.
        """

    def run_children(self, ids: Sequence[str], where: SpawnPoint) -> Awaitable[list[Any]]:
        """Run children that were prepared; gives what each came to, in order."""


class TurnDesk:
    """Makes the gate calls of one turn, and records its nodes.

    Args:
        owner: The entity.
        turn: Ordinal of the utterance, from 1.
    """

    def __init__(self, owner: Owner, turn: int) -> None:
        self._owner = owner
        self._turn = turn
        self._k = 0
        self._part = 0
        self._calls: list[int] = []
        self._observed: list[ObservedCall] = []
        self._part_started = time.perf_counter()
        self._printed: Callable[[], str] = str
        self._printed_before = 0

    @property
    def turn(self) -> int:
        """Ordinal of the utterance that is carried out."""
        return self._turn

    @property
    def printed_before(self) -> int:
        """Characters of this turn's output that stand in earlier parts already."""
        return self._printed_before

    def watch(self, printed: Callable[[], str]) -> None:
        """Say how to read what the program has printed so far in this turn."""
        self._printed, self._printed_before = printed, 0

    # -- calls -----------------------------------------------------------------------------------

    async def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a gate; see ``media.base.Desk.call``."""
        self._owner.emit(ToolCalled(*self._who, name, _text([*args, *kwargs.values()])))
        gate = self._find(name, args, kwargs)
        try:
            arguments = gate.check(args, kwargs)
        except Exception as error:
            self._note(name, args or kwargs, error=error)
            raise
        if gate.delegates:
            return await self._delegate(gate, arguments)
        call = _Call(gate, arguments, self._next_k())
        return await self._make(call)

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

    async def _make(self, call: _Call) -> Any:
        if not (call.gate.idempotent or call.gate.final):
            self._record_call(call, "begun")
        started = time.perf_counter()
        try:
            result = await call.gate.call(call.arguments)
            sealed = seal(result)
            if call.gate.final:
                self._owner.check_answer(sealed)
        except Exception as error:
            self._ended(call, started, error=error)
            raise
        self._ended(call, started, sealed, text=_result_text(result))
        return Done(sealed) if call.gate.final else sealed

    async def _delegate(self, gate: Gate, arguments: dict[str, Any]) -> Any:
        batch = "requests" in arguments
        requests = arguments["requests"] if batch else [arguments["request"]]
        plain = [_plain(request) for request in requests]
        call = _Call(gate, {"requests": plain} if batch else plain[0], self._next_k())
        started = time.perf_counter()
        try:
            ids = self._owner.prepare(requests)  # a refused delegation does not split the turn
        except Exception as error:
            self._ended(call, started, error=error)
            raise
        if not ids:
            self._ended(call, started, seal([]))
            return seal([])
        self._record_call(call, "begun")
        node = self._close_part(tuple(ids))
        results = await self._owner.run_children(ids, SpawnPoint(node, call.k))
        if batch:
            sealed = seal(results)
            self._ended(call, started, sealed)
            return sealed
        if isinstance(results[0], Exception):
            self._ended(call, started, error=results[0])
            raise results[0]
        sealed = seal(results[0])
        self._ended(call, started, sealed)
        return sealed

    def _next_k(self) -> int:
        self._k += 1
        return self._k

    def _note(self, name: str, arguments: Any, error: Exception) -> None:
        """Record a call that never reached its gate."""
        named = arguments if isinstance(arguments, dict) else {"arguments": list(arguments)}
        call = _Call(Gate(name, None) if name.isidentifier() else _NAMELESS, named, self._next_k())
        self._ended(call, time.perf_counter(), error=error)

    def _ended(
        self,
        call: _Call,
        started: float,
        result: Sealed | None = None,
        error: Exception | None = None,
        text: str | None = None,
    ) -> None:
        if text is None:
            text = result.text if result else clip(str(error), TEXT_CHARS)
        self._calls.append(call.k)
        self._observed.append(
            ObservedCall(call.gate.name, call.text, text, is_error=error is not None)
        )
        self._record_call(
            call,
            "ended",
            result=result.data if result and not call.gate.final else None,
            text=text,
            is_error=error is not None,
            duration_ms=(time.perf_counter() - started) * 1000,
        )
        self._owner.emit(ToolResult(*self._who, call.gate.name, text, error is not None))

    def _record_call(self, call: _Call, state: Any, **fields: Any) -> None:
        self._owner.record(
            CallRecord(
                entity=self._owner.entity_id,
                turn=self._turn,
                k=call.k,
                gate=call.gate.name,
                arguments=call.data,
                arguments_text=call.text,
                state=state,
                **fields,
            )
        )

    @property
    def _who(self) -> tuple[str, int]:
        return self._owner.entity_id, self._owner.depth

    # -- nodes -----------------------------------------------------------------------------------

    def finish(self, act: Act) -> None:
        """Record the turn's last part."""
        observation = Observation(
            records=tuple(self._observed),
            printed=act.printed,
            value=act.value,
            error=act.error,
            text=act.text,
            is_error=act.is_error,
        )
        self._record_node(observation, last=True, state=act.state)

    def _close_part(self, delegated: tuple[str, ...]) -> str:
        printed = self._printed()
        fresh = printed[self._printed_before :]
        self._printed_before = len(printed)
        observation = Observation(tuple(self._observed), fresh, None, None, fresh, is_error=False)
        return self._record_node(observation, last=False, delegated=delegated)

    def _record_node(
        self,
        observation: Observation,
        last: bool,
        delegated: tuple[str, ...] = (),
        state: State = "kept",
    ) -> str:
        owner = self._owner
        owner.sequence += 1
        self._part += 1
        node = NodeRecord(
            id=f"{owner.entity_id}.{owner.sequence}",
            parent=owner.tip,
            entity=owner.entity_id,
            sequence=owner.sequence,
            turn=self._turn,
            part=self._part,
            last=last,
            observation=observation,
            calls=tuple(self._calls),
            delegated=delegated,
            state=state,
            duration_ms=max((time.perf_counter() - self._part_started) * 1000, 0.001),
        )
        owner.record(node)
        owner.tip = node.id
        self._calls.clear()
        self._observed.clear()
        self._part_started = time.perf_counter()
        return node.id


_NAMELESS = Gate("unnamed", None)


class _Call:
    """One call with its arguments as they are recorded."""

    def __init__(self, gate: Gate, arguments: dict[str, Any], k: int) -> None:
        self.gate = gate
        self.arguments = arguments
        self.k = k
        # An answer stands whole in the record of the end that it makes, and not here too.
        self.data = dumps({} if gate.final else arguments)
        self.text = _text(arguments)


def _result_text(result: Any) -> str:
    """A result as text; one that is handed on undecoded is told by its preview."""
    return result.text if isinstance(result, Sealed) else as_text(result, TEXT_CHARS)


def _text(arguments: Any) -> str:
    return show(arguments, TEXT_CHARS)


def _plain(request: ChildRequest) -> dict[str, Any]:
    """A request as it is recorded: its context stands with the child, not here again."""
    fields = request.model_dump(exclude_none=True, exclude={"context"})
    if request.has_context:
        context = request.context
        fields["context"] = context.text if isinstance(context, Sealed) else seal(context).text
    return fields
