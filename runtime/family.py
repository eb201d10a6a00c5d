"""The family: what all entities of one cantrip are made with."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..gates import Gate
from .folding import Folding
from .llm import LLM, Retry
from .redaction import Secrets
from .spawn import ChildSpec, Parent, Spawn, open_and_closed


@dataclass(frozen=True)
class Family:
    """What all entities of one cantrip are made with.

    Attributes:
        cantrip_id: The cantrip.
        child_llm: Model of children that name none, or None.
        llms: Models that a request may name.
        registry: Gates that a child may ask for, by name.
        spawn: The spawn function.
        retry: How failed queries are repeated (``PROD-2``).
        llm: The cantrip's own model.
        folding: When old turns are folded (``PROD-4``).
        secrets: What is withheld from programs, and from all that is shown (``PROD-8``).
    """

    cantrip_id: str
    child_llm: LLM | None
    llms: Mapping[str, LLM]
    registry: Mapping[str, Gate]
    spawn: Spawn
    retry: Retry
    llm: LLM
    folding: Folding = field(default_factory=Folding)
    secrets: Secrets = field(default_factory=Secrets)

    def window_of(self, llm: LLM) -> int | None:
        """The window of an entity's model, in tokens; None where it isn't known."""
        said, known = self.folding.window, llm.window
        return said or known if llm is self.llm else known or said

    def describe(self, spec: ChildSpec, depth: int) -> Parent:
        """What a spawn function is told of a parent.

        Args:
            spec: What the parent is made of.
            depth: Its level; 0 for the root.
        """
        return Parent(
            gates=open_and_closed(spec)[0],
            wards=spec.wards,
            medium=spec.medium,
            llm=spec.llm,
            depth=depth,
            child_llm=self.child_llm,
            llms=self.llms,
            registry=self.registry,
            packages=spec.packages,
        )


def withheld(secrets: Secrets, gates: Iterable[Gate], models: Iterable[LLM | None]) -> Secrets:
    """What is withheld: what was handed in, to gates too, and all keys that are in play.

    Args:
        secrets: What a cantrip was given as such.
        gates: Its gates.
        models: Its models.
    """
    for gate in gates:
        texts = {name: held for name, held in gate.bound.items() if isinstance(held, str)}
        secrets |= Secrets.of_variables(texts)
    for model in models:
        if model is not None:
            secrets |= Secrets.of_keys(model.secrets)
    return secrets | Secrets.of_environment()
