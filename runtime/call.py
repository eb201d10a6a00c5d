"""A gate call as it is recorded: its arguments as bytes for replay, and as a bounded text."""

from __future__ import annotations

import json
from typing import Any

from ..gates import ChildRequest
from ..sandbox.execution import clip
from ..sandbox.preview import PREVIEW_CHARS, show
from ..sandbox.wire import Sealed, dumps, seal
from .media.conversation import as_text

TEXT_CHARS = 2_000
"""Length of the texts that stand in for arguments and results in the loom."""
NAME_CHARS = 100
"""Length of a gate's name as it is recorded; a model may ask for one that is none."""
CUT_OFF = "It was stopped from outside, by a time limit or by whoever ran it."
"""What is told of a call or a turn that was cancelled; a call may have happened or not."""


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


def error_text(error: BaseException) -> str:
    """What went wrong; a cancellation's own text says nothing to a reader."""
    if not isinstance(error, Exception):
        return CUT_OFF
    return clip(str(error) or type(error).__name__, TEXT_CHARS)


def result_text(result: Any) -> str:
    """A result as text; one that is handed on undecoded is told by its preview."""
    return result.text if isinstance(result, Sealed) else as_text(result, TEXT_CHARS)


def arguments_text(arguments: Any) -> str:
    """Arguments as a bounded text: JSON where they can be written so."""
    try:
        text = json.dumps(arguments, ensure_ascii=False, default=_preview)
    except (TypeError, ValueError, RecursionError):
        return show(arguments, TEXT_CHARS)
    return clip(text, TEXT_CHARS)


def _preview(value: Any) -> str:
    return value.text if isinstance(value, Sealed) else show(value, PREVIEW_CHARS)


def request_fields(request: ChildRequest) -> dict[str, Any]:
    """A request as it is recorded: its context stands with the child, not here again."""
    fields = request.model_dump(exclude_none=True, exclude={"context"})
    if request.has_context:
        context = request.context
        fields["context"] = context.text if isinstance(context, Sealed) else seal(context).text
    return fields
