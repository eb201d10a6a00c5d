"""The identity: a system prompt and hyperparameters, frozen."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NoReturn

from pydantic import Field, field_validator

from ..gates.frozen import frozen, thawed
from .errors import CantripError
from .value import Value

GENERIC_PROMPT = (
    "You are an entity that works on one task, given to you by another entity. "
    "Do what the intent asks, nothing else, and give back the result."
)
"""System prompt of a child that is given no identity of its own (``COMP-10``)."""


class Identity(Value):
    """Who an entity is: what it is told on every query, and how its model is asked.

    Args:
        system_prompt: First message of every query, unchanged (``IDENTITY-2``). Default None.
        tool_choice: ``auto``, ``none``, ``required`` (``LLM-5``) or a tool's name.
        temperature: Sampling temperature.
        max_tokens: Most tokens of one reply.
        top_p: Nucleus sampling.
        seed: Seed of the provider's sampling.
        options: Further hyperparameters, passed to the provider as they are.

    Raises:
        CantripError: It is changed after it was made: ``identity is immutable``
            (``IDENTITY-1``). Or a field is unknown or of the wrong type.
    """

    system_prompt: str | None = None
    tool_choice: str | None = None
    temperature: float | None = None
    max_tokens: int | None = Field(default=None, ge=1)
    top_p: float | None = None
    seed: int | None = None
    options: Mapping[str, Any] = Field(default_factory=dict)

    @field_validator("options")
    @classmethod
    def _freeze(cls, options: Mapping[str, Any]) -> Mapping[str, Any]:
        kept: Mapping[str, Any] = frozen(dict(options))
        return kept

    def __setattr__(self, name: str, value: Any) -> NoReturn:
        raise CantripError("identity is immutable")

    def __delattr__(self, name: str) -> NoReturn:
        raise CantripError("identity is immutable")

    @property
    def hyperparameters(self) -> dict[str, Any]:
        """What goes to the provider beside messages and tools; unset ones are absent."""
        named = {
            name: getattr(self, name) for name in ("temperature", "max_tokens", "top_p", "seed")
        }
        given = {name: value for name, value in named.items() if value is not None}
        return given | {name: thawed(value) for name, value in self.options.items()}


GENERIC = Identity(system_prompt=GENERIC_PROMPT)
"""The identity of a child that is given none (``COMP-10``)."""
