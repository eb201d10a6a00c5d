"""Where one turn's gate calls are made and its nodes are recorded.

A turn that delegates is recorded in parts (``LOOM-1``, ``LOOM-8``): what happened before the
children stands as one node, which they hang under; what follows their return is the next. The
delegating call's own record belongs to the part after it, so each call stands once.
"""

from __future__ import annotations

import asyncio
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any, NoReturn, Protocol

from ..gates import ChildRequest, Gate, GateArgumentError
from ..sandbox.dialogue import Done
from ..sandbox.execution import clip
from ..sandbox.preview import show
from ..sandbox.wire import Sealed, seal
from .call import Call, request_fields
from .events import Event, ToolCalled, ToolResult
from .loom import CallRecord, NodeRecord, Observation, ObservedCall, SpawnPoint
from .loom.records import Record, State
from .media import Act
from .texts import RESULT_CHARS, TEXT_CHARS, error_text, fits, result_text

MAX_OBSERVED = 200
"""Calls of one node that its observation tells of; of more it gives the number."""
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

    def record(self, record: Record) -> None:
        """Record a fact."""

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

    def run_children(self, ids: Sequence[str], where: SpawnPoint) -> Awaitable[list[Any]]:
        """Run children that were prepared; gives what each came to, in order."""


class TurnDesk:
    """Makes the gate calls of one turn, and records its nodes.

    Args:
        owner: The entity.
        turn: Ordinal of the utterance, from 1.

    Attributes:
        called: Names of the gates that were called, in order.
    """

    def __init__(self, owner: Owner, turn: int) -> None:
        self._owner = owner
        self._turn = turn
        self._k = 0
        self._part = 0
        self._calls: list[int] = []
        self._observed: list[ObservedCall] = []
        self._unobserved = 0
        self._part_started = time.perf_counter()
        self._program: Callable[[], str] | None = None
        self._told = 0  # characters of the running program's output that earlier parts have
        self._printed = ""  # by programs that are over, since the last part
        self._state_lost = False
        self.called: list[str] = []

    @property
    def turn(self) -> int:
        """Ordinal of the utterance that is carried out."""
        return self._turn

    @contextmanager
    def running(self, printed: Callable[[], str]) -> Iterator[None]:
        """While a program runs; see ``media.base.Desk.running``."""
        self._program, self._told = printed, 0
        try:
            yield
        except BaseException:
            self._state_lost = True  # its process was given up in the middle of it
            raise
        finally:
            self._printed = self._fresh_output()
            self._program = None

    def _fresh_output(self) -> str:
        """What was printed since the last part."""
        output = self._program() if self._program else ""
        fresh = self._printed + output[self._told :]
        self._printed, self._told = "", len(output)
        return fresh

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
        if gate.delegates:
            return await self._delegate(gate, arguments)
        return await self._make(gate, Call(name, arguments, self._next_k(), gate.final))

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
        self._tell(call)
        if not (gate.idempotent or gate.final):
            self._record_call(call, "begun")
        started = time.perf_counter()
        try:
            result = await _called(gate, call.arguments)
            sealed = seal(result)
            if gate.final:
                self._owner.check_answer(sealed)
        except BaseException as error:
            self._ended(call, started, error=error)
            raise
        self._ended(call, started, sealed, text=result_text(result))
        return Done(sealed) if gate.final else sealed

    async def _delegate(self, gate: Gate, arguments: dict[str, Any]) -> Any:
        batch = "requests" in arguments
        requests = arguments["requests"] if batch else [arguments["request"]]
        plain = [request_fields(request) for request in requests]
        call = Call(gate.name, {"requests": plain} if batch else plain[0], self._next_k())
        self._tell(call)
        started = time.perf_counter()
        try:
            results = await self._run_children(call, requests)
            sealed = seal(results if batch else _only(results))
        except BaseException as error:
            self._ended(call, started, error=error)
            raise
        self._ended(call, started, sealed)
        return sealed

    async def _run_children(self, call: Call, requests: Sequence[ChildRequest]) -> list[Any]:
        ids = self._owner.prepare(requests)  # a refused delegation does not split the turn
        if not ids:
            return []
        self._record_call(call, "begun")
        node = self._close_part(tuple(ids))
        return await self._owner.run_children(ids, SpawnPoint(node, call.k))

    def _next_k(self) -> int:
        self._k += 1
        return self._k

    def _note(self, name: str, arguments: Any, error: Exception) -> None:
        """Record a call that never reached its gate."""
        named: dict[str, Any]
        if not fits(arguments, MAX_REFUSED_CHARS):
            named = {"arguments": show(arguments, TEXT_CHARS)}
        else:
            named = arguments if isinstance(arguments, dict) else {"arguments": list(arguments)}
        call = Call(name, named, self._next_k())
        self._tell(call)
        self._ended(call, time.perf_counter(), error=error)

    def _tell(self, call: Call) -> None:
        self._owner.emit(ToolCalled(*self._who, call.gate, call.text))

    def _ended(
        self,
        call: Call,
        started: float,
        result: Sealed | None = None,
        error: BaseException | None = None,
        text: str | None = None,
    ) -> None:
        if text is None:
            text = error_text(error) if error else result.text if result else ""
        self._calls.append(call.k)
        self.called.append(call.gate)
        self._observe(ObservedCall(call.gate, call.text, text, is_error=error is not None))
        self._record_call(
            call,
            "ended",
            result=result.data if result and not call.final else None,
            text=text,
            is_error=error is not None,
            duration_ms=(time.perf_counter() - started) * 1000,
        )
        self._owner.emit(ToolResult(*self._who, call.gate, text, error is not None))

    def _observe(self, call: ObservedCall) -> None:
        if len(self._observed) < MAX_OBSERVED:
            self._observed.append(call)
        else:
            self._unobserved += 1

    def _observed_calls(self) -> tuple[ObservedCall, ...]:
        """The node's calls; past ``MAX_OBSERVED`` the last one says how many more there were."""
        if not self._unobserved:
            return tuple(self._observed)
        more = ObservedCall("...", "", f"{self._unobserved:,} more calls", is_error=False)
        return (*self._observed, more)

    def _record_call(self, call: Call, state: Any, **fields: Any) -> None:
        self._owner.record(
            CallRecord(
                entity=self._owner.entity_id,
                turn=self._turn,
                k=call.k,
                gate=call.gate,
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
            records=self._observed_calls(),
            printed=self._fresh_output(),
            value=act.value,
            error=act.error,
            text=act.text,
            is_error=act.is_error,
        )
        self._record_node(observation, last=True, state=act.state)

    def cut_off(self, error: BaseException) -> Act:
        """Record a turn that could not be carried out to its end; gives what is told of it."""
        text = f"The turn was cut off: {error_text(error)}"
        if self._state_lost:
            text += " The state of this session was lost: all variables are gone."
        for call in self._observed:
            text += f"\n{call.gate} was called with {call.arguments}: {call.result}"
        if self._unobserved:
            text += f"\n... {self._unobserved:,} more calls"
        text = clip(text, RESULT_CHARS)
        act = Act((), text, True, error=text, state="lost" if self._state_lost else "kept")
        self.finish(act)
        return act

    def _close_part(self, delegated: tuple[str, ...]) -> str:
        fresh = self._fresh_output()
        calls = self._observed_calls()
        observation = Observation(calls, fresh, None, None, fresh, is_error=False)
        return self._record_node(observation, last=False, delegated=delegated)

    def _record_node(
        self,
        observation: Observation,
        last: bool,
        delegated: tuple[str, ...] = (),
        state: State = "kept",
    ) -> str:
        owner = self._owner
        sequence = owner.sequence + 1
        self._part += 1
        node = NodeRecord(
            id=f"{owner.entity_id}.{sequence}",
            parent=owner.tip,
            entity=owner.entity_id,
            sequence=sequence,
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
        owner.tip, owner.sequence = node.id, sequence
        self._calls.clear()
        self._observed.clear()
        self._unobserved = 0
        self._part_started = time.perf_counter()
        return node.id


async def _called(gate: Gate, arguments: dict[str, Any]) -> Any:
    task = asyncio.current_task()
    try:
        return await gate.call(arguments)
    except Exception:
        raise
    except BaseException as error:
        # One of the gate's own would end the event loop, or pass for a cancellation of the work.
        if _is_ours(task):
            raise
        if isinstance(error, SystemExit):
            raise RuntimeError(f"{gate.name}: the gate tried to exit: {error}") from error
        raise RuntimeError(f"{gate.name}: the gate raised {type(error).__name__}") from error


def _is_ours(task: asyncio.Task[Any] | None) -> bool:
    """Whether what ends a task came from outside: it is cancelled, or closed half done."""
    try:
        return task is None or asyncio.current_task() is not task or task.cancelling() > 0
    except RuntimeError:  # no event loop runs any more
        return True


def _only(results: list[Any]) -> Any:
    """What a single child came to; its failure is raised (``COMP-8``)."""
    if isinstance(results[0], Exception):
        raise results[0]
    return results[0]
