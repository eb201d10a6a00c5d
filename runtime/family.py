"""The family: what all entities of one cantrip are made with."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from ..gates import Gate
from .llm import LLM, Retry
from .spawn import Spawn


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
    """

    cantrip_id: str
    child_llm: LLM | None
    llms: Mapping[str, LLM]
    registry: Mapping[str, Gate]
    spawn: Spawn
    retry: Retry
