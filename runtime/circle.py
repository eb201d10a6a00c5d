"""The circle: a medium, gates and wards."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ConfigDict, field_validator

from ..gates import Gate, find, gate
from .errors import CantripError
from .wards import Wards

MEDIA = ("conversation", "code")


class Circle(BaseModel):
    """Where an entity acts: the language, plus the gates, minus the wards.

    Args:
        medium: ``conversation`` (gates are the model's tools) or ``code`` (it writes
            Python). Default ``conversation``.
        gates: Gates, names of standard ones, mappings such as
            ``{"name": "read", "root": DIR}``, or plain functions.
        wards: Mappings such as ``{"max_turns": 10}``.
        result: A type that the answer has to fit; checked at ``done``.

    Raises:
        WardError: A ward is unknown, or its value is no good.
        UnknownGate, GateFault: A gate is unknown or misdeclared.
        CantripError: Two gates have one name.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", arbitrary_types_allowed=True)

    medium: Any = "conversation"
    gates: tuple[Gate, ...] = ()
    wards: Wards = Wards()
    result: Any = None

    @field_validator("gates", mode="before")
    @classmethod
    def _read_gates(cls, gates: Any) -> tuple[Gate, ...]:
        return resolve_gates(gates)

    @field_validator("wards", mode="before")
    @classmethod
    def _read_wards(cls, wards: Any) -> Wards:
        return Wards.of(wards)

    def check(self) -> None:
        """Check that a cantrip can be made with this circle, in the order of ``LOOP-2``.

        Raises:
            CantripError: It can't; the text says what is missing.
        """
        has_done = any(gate.name == "done" for gate in self.gates)
        if self.wards.require_done_tool and not has_done:
            raise CantripError("cantrip with require_done must have a done gate")
        if not has_done:
            raise CantripError("circle must have a done gate")
        if not self.wards.truncates:
            raise CantripError(
                "cantrip must have at least one truncation ward: add max_turns or timeout_s"
            )
        check_medium(self.medium)


def check_medium(medium: Any) -> None:
    """Check that exactly one medium is named (``MEDIUM-1``).

    Raises:
        CantripError: None, several or an unknown one.
    """
    if medium is None:
        raise CantripError("circle must declare a medium")
    if not isinstance(medium, str):
        raise CantripError("circle must declare exactly one medium")
    if medium not in MEDIA:
        raise CantripError(f"unknown medium {medium!r}; there are: {', '.join(MEDIA)}")


def resolve_gates(gates: Sequence[Any]) -> tuple[Gate, ...]:
    """Gates as a circle is given them, as gates.

    Raises:
        UnknownGate, GateFault: One is unknown or misdeclared.
        CantripError: Two have one name.
    """
    resolved = tuple(_resolve(item) for item in gates)
    names = [one.name for one in resolved]
    for name in names:
        if names.count(name) > 1:
            raise CantripError(f"two gates are named {name!r}; give one another name")
    return resolved


def _resolve(item: Any) -> Gate:
    if isinstance(item, Gate):
        return item
    if isinstance(item, str):
        return find(item)
    if isinstance(item, Mapping):
        return _configured(dict(item))
    if callable(item):
        return gate(item)
    raise CantripError(f"a gate is a name, a mapping, a Gate or a function, not {item!r}")


def _configured(fields: dict[str, Any]) -> Gate:
    name = fields.pop("name", None)
    if not isinstance(name, str):
        raise CantripError("a gate given as a mapping needs a name")
    found = find(name)
    settings = {
        key: fields.pop(key) for key in ("ephemeral", "idempotent", "timeout_s") if key in fields
    }
    return found.bind(**fields).configure(**settings)
