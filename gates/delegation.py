"""The gates that spawn children, and what a request to them says.

Here a request is only read and checked. Who spawns, and what a child is granted, is up to
the ``spawn`` that is bound, an async function: it gets the request, or a batch's requests in
their order, and gives the value, or the values.
"""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import BaseModel, ConfigDict, ValidationError, field_validator

from ..sandbox.preview import show
from .arguments import explain
from .errors import GateArgumentError
from .gate import Gate
from .hints import suggestion

MAX_REQUESTS = 10_000
"""Requests of one batch, whatever a ward allows; more are not even read."""
_SHOWN_CHARS = 60


class ChildRequest(BaseModel):
    """What a parent asks a child for (``COMP-2``). What is None is left to the spawner.

    Attributes:
        intent: The child's goal (``INTENT-1``).
        context: Data for the child, of any type; a ``wire.Sealed`` is kept sealed.
        gates: Names of the gates it is to have (``COMP-1``).
        wards: Restrictions, each a mapping of one name to its value (``WARD-1``).
        llm: Name of its model (``COMP-7``).
        identity: Its system prompt, or a mapping of an identity's fields (``COMP-10``).
        medium: Name of its medium.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    intent: str
    context: Any = None
    gates: tuple[str, ...] | None = None
    wards: tuple[dict[str, Any], ...] | None = None
    llm: str | None = None
    identity: str | dict[str, Any] | None = None
    medium: str | None = None

    @property
    def has_context(self) -> bool:
        """Whether a context was given; None is one too."""
        return "context" in self.model_fields_set

    @field_validator("intent")
    @classmethod
    def _not_blank(cls, intent: str) -> str:
        if not intent.strip():
            raise ValueError("must be a text that is not blank")
        return intent

    @field_validator("gates", mode="before")
    @classmethod
    def _as_tuple(cls, gates: Any) -> Any:
        if gates is not None and not isinstance(gates, list | tuple):
            raise ValueError("must be a list of names, such as ['read']")
        return None if gates is None else tuple(gates)

    @field_validator("wards", mode="before")
    @classmethod
    def _one_by_one(cls, wards: Any) -> Any:
        """One mapping, or a list of them: each ward stands by itself afterwards."""
        if wards is None:
            return None
        entries = [wards] if isinstance(wards, Mapping) else wards
        if not isinstance(entries, list | tuple) or not all(
            isinstance(entry, Mapping) for entry in entries
        ):
            raise ValueError("must be a list of mappings, such as [{'max_turns': 5}]")
        return tuple({name: value} for entry in entries for name, value in entry.items())


_FIELDS = tuple(ChildRequest.model_fields)


def parse_request(
    args: Sequence[Any], kwargs: Mapping[str, Any], gate: str = "call_entity"
) -> ChildRequest:
    """Read the arguments of ``call_entity``.

    Args:
        args: A mapping of the request's fields; or the intent; or nothing.
        kwargs: The fields by name. None beside a mapping.
        gate: The gate's name, for the errors.

    Raises:
        GateArgumentError: The request won't do; the text names the field.
    """
    if len(args) > 1:
        raise GateArgumentError(
            f"{gate}: {len(args)} arguments by position; give one request, "
            "or the intent and the rest by name"
        )
    if not args:
        return _request(kwargs, gate)
    if isinstance(args[0], Mapping):
        if kwargs:
            extra = ", ".join(map(str, kwargs))
            raise GateArgumentError(f"{gate}: {extra} beside a request; put it into the request")
        return _request(args[0], gate)
    if "intent" in kwargs:
        raise GateArgumentError(f"{gate}: argument 'intent' was given twice")
    return _request({"intent": args[0], **kwargs}, gate)


def parse_batch(
    args: Sequence[Any], kwargs: Mapping[str, Any], gate: str = "call_entity_batch"
) -> list[ChildRequest]:
    """Read the arguments of ``call_entity_batch``.

    Args:
        args: A list or tuple of requests; each a mapping, or a text, which is an intent.
        kwargs: The same as ``requests``.
        gate: The gate's name, for the errors.

    Returns:
        The requests, in their order (``COMP-3``).

    Raises:
        GateArgumentError: A request won't do; the text gives its position, from 0. Or there
            are more than ``MAX_REQUESTS``.
    """
    given = list(args) + [value for name, value in kwargs.items() if name == "requests"]
    unknown = [str(name) for name in kwargs if name != "requests"]
    if unknown:
        raise GateArgumentError(f"{gate}: unknown argument {unknown[0]!r}; it takes requests")
    if not given:
        raise GateArgumentError(f"{gate}: missing required argument: requests")
    if len(given) > 1 or not isinstance(given[0], list | tuple):
        raise GateArgumentError(
            f"{gate}: requests must be one list, such as [{{'intent': 'count the words'}}], "
            f"got {show(given[0] if len(given) == 1 else tuple(given), _SHOWN_CHARS)}"
        )
    if len(given[0]) > MAX_REQUESTS:
        raise GateArgumentError(
            f"{gate}: {len(given[0]):,} requests in one batch; the limit is {MAX_REQUESTS:,}: "
            "split it into several"
        )
    return [_batched(item, gate, position) for position, item in enumerate(given[0])]


def _batched(item: Any, gate: str, position: int) -> ChildRequest:
    where = f"requests[{position}]"
    if isinstance(item, str):
        return _request({"intent": item}, gate, f"{where}.")
    if isinstance(item, Mapping):
        return _request(item, gate, f"{where}.")
    raise GateArgumentError(
        f"{gate}: {where} must be a mapping or an intent, got {show(item, _SHOWN_CHARS)}"
    )


def _request(fields: Mapping[Any, Any], gate: str, where: str = "") -> ChildRequest:
    for name in fields:
        if name not in _FIELDS:
            hint = suggestion(name, _FIELDS)
            raise GateArgumentError(f"{gate}: unknown field {where}{name}; {hint}")
    if fields.get("intent") is None:
        raise GateArgumentError(f"{gate}: {where}intent is required")
    try:
        return ChildRequest(**fields)
    except ValidationError as error:
        raise GateArgumentError(f"{gate}: {where}{explain(error)}") from None


_REQUEST_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "intent": {
            "type": "string",
            "minLength": 1,
            "description": "What the child is to find out or do. It sees nothing else but "
            "the context, so say all that it needs to know.",
        },
        "context": {
            "description": "Data for the child, of any type. It finds it as `context`.",
        },
        "gates": {
            "type": "array",
            "items": {"type": "string"},
            "description": "Names of the gates that the child is to have. Default: the parent's.",
        },
        "wards": {
            "type": "array",
            "items": {"type": "object"},
            "description": 'Tighter limits for the child, such as [{"max_turns": 5}].',
        },
        "llm": {
            "type": "string",
            "description": "Name of the model that the child is to use. Default: as configured.",
        },
        "identity": {
            "anyOf": [{"type": "string"}, {"type": "object"}],
            "description": "The child's system prompt, or an object with system_prompt and "
            "hyperparameters. Default: a general one.",
        },
        "medium": {
            "type": "string",
            "description": "Name of the medium that the child acts in. Default: the parent's.",
        },
    },
    "required": ["intent"],
    "additionalProperties": False,
}
_BATCH_SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "requests": {
            "type": "array",
            "items": {"anyOf": [_REQUEST_SCHEMA, {"type": "string"}]},
            "description": "One request for each child; a text alone is an intent.",
        }
    },
    "required": ["requests"],
    "additionalProperties": False,
}


@dataclass(frozen=True)
class _Delegation:
    """The arguments of a delegation gate: all of them together are one argument, ``name``."""

    name: str
    text: str
    parse: Callable[[Sequence[Any], Mapping[str, Any], str], Any]

    def check(self, gate: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        return {self.name: self.parse(args, kwargs, gate)}


async def _call_entity(
    request: ChildRequest, *, spawn: Callable[[ChildRequest], Awaitable[Any]]
) -> Any:
    return await spawn(request)


async def _call_entity_batch(
    requests: list[ChildRequest], *, spawn: Callable[[list[ChildRequest]], Awaitable[Any]]
) -> Any:
    return await spawn(requests)


call_entity = Gate(
    name="call_entity",
    function=_call_entity,
    description=(
        "Give a task to a child and wait for its answer.\n\n"
        "The child starts from nothing but the intent and the context. It returns what it hands "
        "to `done`, with its type; a `Truncated` if a limit stopped it first; and raises "
        "`ChildFailed` if it could not go on."
    ),
    parameters=_REQUEST_SCHEMA,
    timeout_s=None,  # the cast's own wards bound a child
    delegates=True,
    seal=("context",),
    needs=("spawn",),
    arguments=_Delegation(
        "request",
        "(intent: str, *, context: Any = None, gates: list[str] | None = None, "
        "wards: list[dict[str, Any]] | None = None, llm: str | None = None, "
        "identity: str | dict[str, Any] | None = None, medium: str | None = None)",
        parse_request,
    ),
)
"""Spawns one child (``COMP-2``)."""

call_entity_batch = Gate(
    name="call_entity_batch",
    function=_call_entity_batch,
    description=(
        "Give a task to each of several children at once and wait for all their answers.\n\n"
        "The answers come in the order of the requests. Where a child was stopped by a limit "
        "stands a `Truncated`, where one failed a `ChildFailed`; the others are not affected."
    ),
    parameters=_BATCH_SCHEMA,
    returns="list[Any]",
    timeout_s=None,  # the cast's own wards bound the children
    delegates=True,
    seal=("context",),
    needs=("spawn",),
    arguments=_Delegation("requests", "(requests: list[dict[str, Any] | str])", parse_batch),
)
"""Spawns several children that run side by side (``COMP-3``)."""
