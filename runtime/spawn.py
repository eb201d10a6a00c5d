"""Spawning: what a child is granted of what its parent's code asks for.

``spawn`` is the function behind ``call_entity``. A cantrip can be given another one: it takes
the same two values and gives a ``ChildSpec``.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from ..gates import STANDARD, ChildRequest, Gate
from .circle import check_gates, check_medium
from .errors import CantripError
from .identity import GENERIC, Identity
from .llm import LLM
from .wards import Wards


@dataclass(frozen=True)
class Parent:
    """What a spawn function is told of the parent.

    Attributes:
        gates: The parent's gates by name, those that spawn included.
        wards: Its wards.
        medium: Name of its medium.
        llm: Its model.
        depth: Its level; 0 for the root.
        child_llm: The model of children that name none, or None for the parent's.
        llms: Models that a request may name.
        registry: Gates that a child may ask for beyond its parent's, by name.
        packages: Third-party packages that its code may import.
    """

    gates: Mapping[str, Gate]
    wards: Wards
    medium: str
    llm: LLM
    depth: int
    child_llm: LLM | None
    llms: Mapping[str, LLM]
    registry: Mapping[str, Gate]
    packages: tuple[str, ...] = ()


@dataclass(frozen=True)
class ChildSpec:
    """What a child is made of.

    Attributes:
        llm: Its model.
        identity: Its identity.
        medium: Name of its medium.
        gates: Its gates.
        wards: Its wards, never looser than its parent's (``WARD-1``).
        packages: Third-party packages that its code may import.
    """

    llm: LLM
    identity: Identity
    medium: str
    gates: tuple[Gate, ...]
    wards: Wards
    packages: tuple[str, ...] = ()

    def plain(self) -> dict[str, Any]:
        """What it is as plain values, without what its gates are bound to."""
        return {
            "model": self.llm.name,
            "system_prompt": self.identity.system_prompt,
            "tool_choice": self.identity.tool_choice,
            "hyperparameters": self.identity.hyperparameters,
            "medium": self.medium,
            "gates": [_plain_gate(gate) for gate in self.gates],
            "wards": self.wards.in_force(),
            "packages": self.packages,
        }


def _plain_gate(gate: Gate) -> dict[str, Any]:
    return {
        "name": gate.name,
        "signature": gate.signature,
        "description": gate.description,
        "parameters": gate.parameters,
        "ephemeral": gate.ephemeral,
        "idempotent": gate.idempotent,
        "timeout_s": gate.timeout_s,
    }


Spawn = Callable[[ChildRequest, Parent], ChildSpec]


def spawn(request: ChildRequest, parent: Parent) -> ChildSpec:
    """Grant a request: the default spawn function.

    Gates are the parent's unless others are asked for, by name, from the parent's or the
    registry (``COMP-1``); ``done`` is always there, and at depth 0 those that spawn are gone
    (``COMP-11``). Wards only tighten (``WARD-1``). A child without an identity gets a generic
    one, never the parent's (``COMP-10``).

    Args:
        request: What the parent's code asks for.
        parent: The parent.

    Raises:
        CantripError: A gate, a model or a medium is not one that can be had.
        WardError: A ward is unknown, or its value is no good.
    """
    wards = parent.wards.for_child(request.wards or (), parent.packages)
    medium = request.medium or parent.medium
    check_medium(medium)
    gates = _gates(request.gates, parent, wards)
    check_gates(medium, gates)
    return ChildSpec(
        llm=_llm(request.llm, parent),
        identity=_identity(request.identity),
        medium=medium,
        gates=gates,
        wards=wards,
        packages=parent.packages,
    )


def _llm(name: str | None, parent: Parent) -> LLM:
    if name is None:
        return parent.child_llm or parent.llm
    if name not in parent.llms:
        known = ", ".join(parent.llms) or "none: leave llm out"
        raise CantripError(f"there is no llm {name!r}; there are: {known}")
    return parent.llms[name]


def _identity(asked: str | Mapping[str, object] | None) -> Identity:
    if asked is None:
        return GENERIC
    if isinstance(asked, str):
        return Identity(system_prompt=asked)
    fields: dict[str, Any] = {str(name): value for name, value in asked.items()}
    return Identity(**fields)


def _gates(asked: tuple[str, ...] | None, parent: Parent, wards: Wards) -> tuple[Gate, ...]:
    available = {**parent.registry, **parent.gates}
    names = list(parent.gates) if asked is None else list(dict.fromkeys(["done", *asked]))
    for name in names:
        if name not in available:
            raise CantripError(f"there is no gate {name!r}; there are: {', '.join(available)}")
    gates = [available[name] for name in names]
    return tuple(gate for gate in gates if not gate.delegates or wards.max_depth > 0)


def open_and_closed(spec: ChildSpec) -> tuple[dict[str, Gate], dict[str, str]]:
    """The gates that an entity has, and those that it can't have at its depth (``COMP-6``)."""
    if spec.wards.max_depth > 0:
        return {gate.name: gate for gate in spec.gates}, {}
    opened = {gate.name: gate for gate in spec.gates if not gate.delegates}
    closed = [gate.name for gate in (*spec.gates, *STANDARD.values()) if gate.delegates]
    why = "{} is not available at this depth (max_depth is 0): do the work in your own code"
    return opened, {name: why.format(name) for name in closed if name not in opened}
