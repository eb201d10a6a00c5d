"""A gate call as it is recorded: its arguments as bytes for replay, and as a bounded text."""

from __future__ import annotations

import hashlib
from collections.abc import Mapping, Sequence
from typing import Any

from ..gates import ChildRequest
from ..sandbox.execution import clip
from ..sandbox.wire import Sealed, dumps, seal
from .texts import arguments_text

NAME_CHARS = 100
"""Length of a gate's name as it is recorded; a model may ask for one that is none."""


class Call:
    """One call with its arguments as they are recorded.

    Args:
        gate: The gate's name.
        arguments: By name, as the gate takes them.
        k: Ordinal of the call within its utterance.
        final: Whether its answer ends the work.
        asked: By what the call is known again; None where it never reached its gate.
        reads: What programs had read of clocks and chance since the call before, as recorded.
    """

    def __init__(
        self,
        gate: str,
        arguments: dict[str, Any],
        k: int,
        final: bool = False,
        asked: bytes | None = None,
        reads: bytes | None = None,
    ) -> None:
        self.gate = clip(gate, NAME_CHARS)
        self.arguments = arguments
        self.k = k
        self.final = final
        self.asked = asked
        self.reads = reads
        # An answer stands whole in the record of the end that it makes, and not here too.
        self.data = dumps({} if final else arguments)
        self.text = arguments_text(arguments)


def asked_of(args: Sequence[Any], kwargs: Mapping[str, Any]) -> bytes:
    """By what a call is known again when its turn is run again: a digest of what was given.

    As it was given and not as the gate took it, for the gate may be another one by then.
    """
    given = dumps([list(args), dict(kwargs)])
    return hashlib.blake2b(given, digest_size=16).digest()


def request_fields(request: ChildRequest) -> dict[str, Any]:
    """A request as it is recorded: its context stands with the child, not here again."""
    fields = request.model_dump(exclude_none=True, exclude={"context"})
    if request.has_context:
        context = request.context
        fields["context"] = context.text if isinstance(context, Sealed) else seal(context).text
    return fields
