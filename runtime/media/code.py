"""The code medium: the model writes Python, which runs in a sandbox of the entity's own."""

from __future__ import annotations

from collections import deque
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from ...gates import Gate
from ...sandbox import AsyncSandbox, Execution, Limits
from ...sandbox.checkpoint import AsyncCheckpoint
from ...sandbox.dialogue import GateInfo, Turn
from ...sandbox.errors import SandboxClosed
from ...sandbox.execution import GateCall, RollBack, clip
from ...sandbox.session import Backend
from ...sandbox.wire import Sealed
from ..errors import MalformedReply
from ..llm import Message, Reply, Tool, ToolCall
from ..texts import RESULT_CHARS, reference_text
from ..wards import Wards
from .base import KILLED, Act, Desk, Surroundings
from .capability import capability_text
from .conversation import (
    MIN_SHARE,
    SKIPPED,
    Answered,
    act_of,
    answer_call,
    result_message,
)
from .fences import is_wrapped, last_block

EXITS = {"ok": 0, "done": 0, "error": 1, "timeout": 124, "memory": KILLED, "crashed": KILLED}
"""How a program ended, as a command's exit code."""
TOOL = Tool(
    "python",
    "Run Python in your namespace, which persists from turn to turn. You are shown what is "
    "printed and the value of the last expression.",
    {
        "type": "object",
        "properties": {"code": {"type": "string", "description": "The code to run."}},
        "required": ["code"],
    },
)
"""The one tool of a code circle (``IDENTITY-3``)."""
PAST = "loom"
"""What a program calls its entity's past (``LOOM-11``)."""
PAST_SIGNATURE = (
    "your earlier turns: len(loom); loom.turn(n) has .code .text .observation .value .error .calls "
    ".children; loom.turns; loom.printed(n); loom.search(text); loom.children; with of=ID those "
    "of a child"
)
"""What a program is shown that looks at it."""
MAX_STATES = 100
"""Turns of which it is known, at the most, which state they led to."""
MAX_UNSHOWN = 10
"""Ephemeral results of one program that its observation tells of; of more it gives the number."""


class Code:
    """Python as the language, gates as functions in it.

    Args:
        surroundings: Gates, wards and packages.
        backend: The sandbox's back end. Default ``auto``.
    """

    name = "code"
    has_state = True

    def __init__(self, surroundings: Surroundings, backend: Backend = "auto") -> None:
        self._surroundings = surroundings
        self._wards = surroundings.wards
        self._limits = limits_of(self._wards)
        self._context: Sealed | None = None
        self._presented = self._bound = False
        self._desk: Desk | None = None
        self._unshown: list[str] = []  # what stands for ephemeral results of the running program
        self._states: deque[tuple[int, int]] = deque(maxlen=MAX_STATES)  # by turn
        gates = (*surroundings.gates, *surroundings.closed)
        infos = {name: gate_info(gate) for name, gate in surroundings.gates.items()}
        reads = {} if surroundings.past is None else {PAST: self._read}
        self._settings: dict[str, Any] = {
            "gates": {**{name: partial(self._call, name) for name in gates}, **reads},
            "limits": self._limits,
            "modules": self._wards.modules,
            "backend": backend,
            "gate_infos": {**infos, **dict.fromkeys(reads, GateInfo(PAST_SIGNATURE, reads=True))},
            "packages": surroundings.packages,
        }
        self._sandbox = AsyncSandbox(**self._settings, seed=surroundings.seed)

    def tools(self) -> tuple[Tool, ...]:
        """One tool: ``python``."""
        return (TOOL,)

    def capabilities(self) -> str:
        """The language, the limits, the gates, and how to work with them (``CIRCLE-11``)."""
        self._presented = True
        return capability_text(self._surroundings, self._limits, self._context)

    def first_message(self, intent: str) -> str:
        """The intent; a context that came after the capabilities were told is told here."""
        if self._context is None or self._presented:
            return intent
        self._presented = True
        return f"{intent}\n\n(The variable `context` now holds {self._context.text})"

    async def give(self, context: Sealed | None, is_there: bool = False) -> None:
        """Bind ``context`` in the namespace; without one it is None."""
        if context is not None:
            self._context, self._presented = context, False
        if not is_there and (context is not None or not self._bound):
            await self._set_context(context)
        self._bound = True

    async def _set_context(self, context: Sealed | None) -> None:
        try:
            await self._sandbox.set("context", context)
        except SandboxClosed:  # its process was killed meanwhile; once more, in the next one
            await self._sandbox.set("context", context)

    async def act(self, reply: Reply, desk: Desk) -> Act | None:
        """Run the code of an utterance, and the gates that it calls directly, in order."""
        self._desk = desk
        try:
            if reply.tool_calls:
                return await self._act_on_calls(reply.tool_calls, desk)
            source = last_block(reply.content or "")
            if source is None:
                return None
            return _act_on_text(await self._run(source, desk), self._limits.output_chars)
        finally:
            self._states.append((desk.turn, self._sandbox.state_id))

    def pass_over(self) -> None:
        """Count a program that is not run again."""
        self._sandbox.pass_over()

    async def dump(self) -> bytes:
        """An image of the sandbox's state, without what can't be in one."""
        return await self._sandbox.dump(skip=True)

    async def load(self, image: bytes, trust: bool) -> None:
        """Have a sandbox with the state of an image."""
        loaded = await AsyncSandbox.load(image, trust, **self._settings)
        await self._sandbox.aclose()
        self._sandbox = loaded

    async def checkpoint(self, turn: int) -> AsyncCheckpoint | None:
        """The state at the end of a turn, as far as the sandbox keeps it parked."""
        # One that nothing was carried out in has the state of the one before.
        states = (state for at, state in reversed([*self._states]) if at <= turn)
        state = next(states, None)
        await self._sandbox.keep()
        return next((one for one in self._sandbox.checkpoints if one.state_id == state), None)

    async def keep(self) -> AsyncCheckpoint:
        """Park a copy of the sandbox's process."""
        return await self._sandbox.checkpoint()

    async def take_up(self, point: AsyncCheckpoint) -> None:
        """Have a copy of another sandbox's process, with the gates of this one."""
        await self._sandbox.restore(point, rerun=False)

    async def aclose(self) -> None:
        """End the sandbox."""
        await self._sandbox.aclose()

    async def _act_on_calls(self, calls: Sequence[ToolCall], desk: Desk) -> Act:
        answered: list[Answered] = []
        ran: dict[int, _Ran] = {}
        limit = self._limits.output_chars
        for call in calls:
            if any(each.answer is not None for each in answered):
                answered.append(Answered(result_message(call, SKIPPED)))
            elif call.name != TOOL.name:
                answered.append(await answer_call(call, desk, self._surroundings, limit))
            elif isinstance(source := _source_of(call), str):
                ran[len(answered)] = one = await self._run(source, desk)
                answered.append(_answer_of(call, one, limit))
            else:
                answered.append(source)
        if sum(len(each.message.content or "") for each in answered) > limit:
            # Each program's text is made anew for its share, so that its error stays in sight.
            for index, one in ran.items():
                answered[index] = _answer_of(calls[index], one, max(limit // len(calls), MIN_SHARE))
        return act_of(answered, limit, **_traces([*ran.values()]))

    async def _run(self, source: str, desk: Desk) -> _Ran:
        turn = Turn(self._limits)
        execution: Execution | None = None
        self._unshown = []

        def printed() -> str:
            return execution.stdout if execution else turn.stdout

        with desk.running(printed, turn.take_reads):
            execution = await self._sandbox.run_turn(turn, source, desk.reads)
        if execution.state != "kept":  # its calls of gates are told of
            execution = replace(execution, gate_calls=self._told_calls(execution, desk.turn))
        return _Ran(execution, tuple(self._unshown))

    async def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        assert self._desk is not None  # a program runs only while an utterance is carried out
        result = await self._desk.call(name, list(args), kwargs)
        if isinstance(result, Sealed) and self._surroundings.gates[name].ephemeral:
            self._unshown.append(reference_text(name, result, self._desk.turn))
        return result

    async def _read(self, what: str, *args: Any) -> Any:
        """Answer a read in ``loom``: no gate call, so the desk has nothing to do with it."""
        assert self._desk is not None
        assert self._surroundings.past is not None
        return await self._surroundings.past.read(self._desk.turn, what, *args)

    def _told_calls(self, execution: Execution, turn: int) -> tuple[GateCall, ...]:
        """The gates that a program called, with no ephemeral result among theirs (``PROD-5``)."""
        calls = []
        for call in execution.gate_calls:
            gate = self._surroundings.gates.get(call.gate)
            if call.gate == PAST:
                continue
            if gate is not None and gate.ephemeral and isinstance(call.result, Sealed):
                text = reference_text(call.gate, call.result, turn)
                call = replace(call, result=Sealed(call.result.data, text))
            calls.append(call)
        return tuple(calls)


@dataclass(frozen=True)
class _Ran:
    """A program that ran.

    Attributes:
        execution: What it came to.
        unshown: What stands for the results of the ephemeral gates that it called (``PROD-5``).
    """

    execution: Execution
    unshown: tuple[str, ...]

    def observation(self, limit: int) -> str:
        """What the model is shown of it, in about so many characters."""
        if not self.unshown:
            return self.execution.observation(limit)
        lines = [*self.unshown[:MAX_UNSHOWN]]
        if len(self.unshown) > MAX_UNSHOWN:
            lines.append(f"[... {len(self.unshown) - MAX_UNSHOWN:,} more such answers]")
        told = clip("\n".join(lines), max(limit // 4, MIN_SHARE))
        room = max(limit - len(told) - 1, MIN_SHARE)
        return f"{self.execution.observation(room)}\n{told}"


def limits_of(wards: Wards) -> Limits:
    """The sandbox's limits under some wards."""
    limits = Limits()
    return Limits(
        eval_ms=wards.max_eval_ms or limits.eval_ms,
        memory_mb=wards.max_memory_mb or limits.memory_mb,
        output_chars=wards.max_output_chars or RESULT_CHARS,
    )


def gate_info(gate: Gate) -> GateInfo:
    """What a worker is told of a gate."""
    properties = (gate.parameters or {}).get("properties", {})
    return GateInfo(gate.signature, tuple(properties), frozenset(gate.seal))


def _answer_of(call: ToolCall, ran: _Ran, limit: int) -> Answered:
    execution = ran.execution
    return Answered(
        result_message(call, ran.observation(limit)),
        is_error=execution.error is not None,
        answer=execution.sealed_answer if execution.status == "done" else None,
    )


def program_of(reply: Reply) -> str | None:
    """The code in an utterance: its programs one after the other; None where it has none."""
    if not reply.tool_calls:
        try:
            return last_block(reply.content or "")
        except MalformedReply:
            return None
    calls = [call.arguments.get("code") for call in reply.tool_calls if call.name == TOOL.name]
    sources = [source for source in calls if isinstance(source, str)]
    return "\n".join(sources) if sources else None


def _source_of(call: ToolCall) -> str | Answered:
    """The program that a call of the tool gives, or the answer to one that gives no whole one."""
    code = call.arguments.get("code")
    if not isinstance(code, str):
        return _no_code(call)
    if not is_wrapped(code):
        return code
    try:
        return last_block(code, bare=True) or code
    except MalformedReply as error:
        return Answered(result_message(call, f"Error: python: {error}"), is_error=True)


def _no_code(call: ToolCall) -> Answered:
    wrong = "missing required argument: code"
    if call.malformed is not None:
        wrong = f"the arguments can't be read as JSON: {call.malformed[:200]}"
    text = f'Error: python: {wrong}; call it with {{"code": "..."}}'
    return Answered(result_message(call, text), is_error=True)


def _act_on_text(ran: _Ran, limit: int) -> Act:
    execution, text = ran.execution, ran.observation(limit)
    return Act(
        messages=(Message("user", text),),
        text=text,
        is_error=execution.error is not None,
        answer=execution.sealed_answer if execution.status == "done" else None,
        **_traces([ran]),
    )


def _traces(programs: list[_Ran]) -> dict[str, Any]:
    """What programs that ran one after the other left to be recorded."""
    if not programs:
        return {}
    ran = [program.execution for program in programs]
    errors = [execution.error.traceback for execution in ran if execution.error]
    return {
        "value": ran[-1].shown,
        "error": errors[-1] if errors else None,
        "state": next((one.state for one in ran if one.state != "kept"), "kept"),
        "replayable": all(one.repeatable for one in ran) or _is_undone(ran),
        "reads_differ": any(one.reads_differ for one in ran),
        "before": next((one.before for one in ran if one.before), ""),
        "exits": tuple(EXITS[one.status] for one in ran),
    }


def _is_undone(ran: Sequence[Execution]) -> bool:
    """Whether the state is what it was before, so that nothing has to be done again for it."""
    rollback = ran[0].rollback
    return (
        len(ran) == 1
        and rollback is not None
        and rollback == RollBack(ran[0].turn - 1, calls=rollback.calls)
    )
