"""A gate call as it is recorded: its arguments as bytes for replay, and as a bounded text."""

from __future__ import annotations

from typing import Any

from ..gates import ChildRequest
from ..sandbox.execution import clip
from ..sandbox.wire import Sealed, dumps, seal
from .texts import arguments_text

NAME_CHARS = 100
"""Length of a gate's name as it is recorded; a model may ask for one that is none."""


class Call:
    """One call with its arguments as they are recorded."""

    def __init__(self, gate: str, arguments: dict[str, Any], k: int, final: bool = False) -> None:
        self.gate = clip(gate, NAME_CHARS)
        self.arguments = arguments
        self.k = k
        self.final = final
        # An answer stands whole in the record of the end that it makes, and not here too.
        self.data = dumps({} if final else arguments)
        self.text = arguments_text(arguments)


def request_fields(request: ChildRequest) -> dict[str, Any]:
    """A request as it is recorded: its context stands with the child, not here again."""
    fields = request.model_dump(exclude_none=True, exclude={"context"})
    if request.has_context:
        context = request.context
        fields["context"] = context.text if isinstance(context, Sealed) else seal(context).text
    return fields
