"""The code medium: the model writes Python, which runs in a sandbox of the entity's own."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from ...gates import Gate
from ...sandbox import AsyncSandbox, Execution, Limits
from ...sandbox.dialogue import GateInfo, Turn
from ...sandbox.session import Backend
from ...sandbox.wire import Sealed
from ..llm import Message, Reply, Tool, ToolCall
from ..texts import RESULT_CHARS
from ..wards import Wards
from .base import Act, Desk, Surroundings
from .capability import capability_text
from .conversation import (
    MIN_SHARE,
    SKIPPED,
    Answered,
    act_of,
    answer_call,
    result_message,
)
from .fences import last_block

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


class Code:
    """Python as the language, gates as functions in it.

    Args:
        surroundings: Gates, wards and packages.
        backend: The sandbox's back end. Default ``auto``.
    """

    name = "code"

    def __init__(self, surroundings: Surroundings, backend: Backend = "auto") -> None:
        self._surroundings = surroundings
        self._wards = surroundings.wards
        self._limits = limits_of(self._wards)
        self._context: Sealed | None = None
        self._presented = self._bound = False
        self._desk: Desk | None = None
        self._sandbox = AsyncSandbox(
            gates={
                name: partial(self._call, name)
                for name in (*surroundings.gates, *surroundings.closed)
            },
            limits=self._limits,
            modules=self._wards.modules,
            backend=backend,
            gate_infos={name: gate_info(gate) for name, gate in surroundings.gates.items()},
            packages=surroundings.packages,
        )

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
        return f"{intent}\n\n(The variable `context` now holds {self._context.text})"

    async def give(self, context: Sealed | None) -> None:
        """Bind ``context`` in the namespace; without one it is None."""
        if context is not None:
            self._context, self._presented = context, False
        if context is not None or not self._bound:
            await self._sandbox.set("context", context)
            self._bound = True

    async def act(self, reply: Reply, desk: Desk) -> Act | None:
        """Run the code of an utterance, and the gates that it calls directly, in order."""
        self._desk = desk
        if reply.tool_calls:
            return await self._act_on_calls(reply.tool_calls, desk)
        source = last_block(reply.content or "")
        if source is None:
            return None
        return _act_on_text(await self._run(source, desk))

    async def aclose(self) -> None:
        """End the sandbox."""
        await self._sandbox.aclose()

    async def _act_on_calls(self, calls: Sequence[ToolCall], desk: Desk) -> Act:
        answered: list[Answered] = []
        ran: dict[int, Execution] = {}
        limit = self._limits.output_chars
        for call in calls:
            if any(one.answer is not None for one in answered):
                answered.append(Answered(result_message(call, SKIPPED)))
            elif call.name != TOOL.name:
                answered.append(await answer_call(call, desk, self._surroundings, limit))
            elif isinstance(source := call.arguments.get("code"), str):
                ran[len(answered)] = execution = await self._run(source, desk)
                answered.append(_answer_of(call, execution, limit))
            else:
                answered.append(_no_code(call))
        if sum(len(one.message.content or "") for one in answered) > limit:
            # Each program's text is made anew for its share, so that its error stays in sight.
            for index, execution in ran.items():
                answered[index] = _answer_of(
                    calls[index], execution, max(limit // len(calls), MIN_SHARE)
                )
        return act_of(answered, limit, **_traces([*ran.values()]))

    async def _run(self, source: str, desk: Desk) -> Execution:
        turn = Turn(self._limits)
        execution: Execution | None = None
        with desk.running(lambda: execution.stdout if execution else turn.stdout):
            execution = await self._sandbox.run_turn(turn, source)
        return execution

    async def _call(self, name: str, *args: Any, **kwargs: Any) -> Any:
        assert self._desk is not None  # a program runs only while an utterance is carried out
        return await self._desk.call(name, list(args), kwargs)


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


def _answer_of(call: ToolCall, execution: Execution, limit: int) -> Answered:
    return Answered(
        result_message(call, execution.observation(limit)),
        is_error=execution.error is not None,
        answer=execution.sealed_answer if execution.status == "done" else None,
    )


def _no_code(call: ToolCall) -> Answered:
    wrong = "missing required argument: code"
    if call.malformed is not None:
        wrong = f"the arguments can't be read as JSON: {call.malformed[:200]}"
    text = f'Error: python: {wrong}; call it with {{"code": "..."}}'
    return Answered(result_message(call, text), is_error=True)


def _act_on_text(execution: Execution) -> Act:
    text = str(execution)
    return Act(
        messages=(Message("user", text),),
        text=text,
        is_error=execution.error is not None,
        answer=execution.sealed_answer if execution.status == "done" else None,
        **_traces([execution]),
    )


def _traces(ran: list[Execution]) -> dict[str, Any]:
    """What programs that ran one after the other left to be recorded."""
    if not ran:
        return {}
    errors = [execution.error.traceback for execution in ran if execution.error]
    return {
        "value": ran[-1].shown,
        "error": errors[-1] if errors else None,
        "state": next((one.state for one in ran if one.state != "kept"), "kept"),
    }
