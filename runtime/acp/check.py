"""A health check of an agent (``PROD-9``): one turn through all of it, without its model."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from ..cantrip import Cantrip
from ..errors import RuntimeFault
from ..llm import ScriptedLLM
from ..loom import Loom
from .server import exchange
from .updates import META

_ANSWER = "well"
_REPLIES: dict[str, dict[str, Any]] = {
    "code": {"code": f"done({_ANSWER!r})"},
    "conversation": {"tool_calls": [{"gate": "done", "args": {"answer": _ANSWER}}]},
}
_MESSAGES: list[Mapping[str, Any]] = [
    {"id": 1, "method": "initialize", "params": {"protocolVersion": 1}},
    {"id": 2, "method": "session/new"},
    {"id": 3, "method": "session/prompt", "params": {"prompt": "health check"}},
]


@dataclass(frozen=True)
class Health:
    """What a health check found.

    Attributes:
        protocol: Version of the protocol that was agreed on.
        turn_ms: How long the turn took, in milliseconds; in a code circle it ran in a sandbox.
    """

    protocol: int
    turn_ms: float


async def check(spell: Cantrip) -> Health:
    """See that the agent greets, opens a session, and carries a turn out in the spell's circle.

    The turn is scripted: the spell's own model is not asked, and its loom is left alone.

    Args:
        spell: Whose agent is checked.

    Raises:
        RuntimeFault: It does not; the text says what was answered.
    """
    circle = spell.circle.model_copy(update={"result": None})
    model = ScriptedLLM([_REPLIES[circle.medium]])
    loom = Loom()
    stand_in = spell.model_copy(update={"llm": model, "circle": circle, "loom": loom})
    responses = await exchange(stand_in, _MESSAGES)
    for message, response in zip(_MESSAGES, responses, strict=True):
        if "error" in response:
            raise RuntimeFault(f"{message['method']} failed: {response['error']['message']}")
    seen = responses[2]["result"]["_meta"][META]
    if seen["answer"] != _ANSWER:
        raise RuntimeFault(f"the turn ended with {seen['reason']} and the answer {seen['answer']}")
    duration = loom.turns[-1].metadata.duration_ms
    return Health(responses[0]["result"]["protocolVersion"], duration)
