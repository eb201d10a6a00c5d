"""Cantrips for tests: a scripted model in a circle of the wanted medium."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import pytest
from circlet import LLM, Cantrip, Circle, Identity, Loom, ScriptedLLM

TEN_TURNS = ({"max_turns": 10},)


def _maker(medium: str, standard: Sequence[str]) -> Callable[..., Cantrip]:
    def make(
        replies: Any,
        *gates: Any,
        wards: Any = TEN_TURNS,
        system: str | None = None,
        result: Any = None,
        **fields: Any,
    ) -> Cantrip:
        model = replies if isinstance(replies, LLM) else ScriptedLLM(replies)
        circle = Circle(medium=medium, gates=[*standard, *gates], wards=wards, result=result)
        fields.setdefault("identity", Identity(system_prompt=system))
        return Cantrip(llm=model, circle=circle, **fields)

    return make


@pytest.fixture(scope="session")
def chat() -> Callable[..., Cantrip]:
    """Make a cantrip in a conversation circle: ``chat(replies, *gates, wards=..., ...)``."""
    return _maker("conversation", ["done"])


@pytest.fixture(scope="session")
def code() -> Callable[..., Cantrip]:
    """Make a cantrip in a code circle: ``code(replies, *gates, wards=..., ...)``."""
    return _maker("code", ["done"])


@pytest.fixture(scope="session")
def deep() -> Callable[..., Cantrip]:
    """The same as ``code``, with the gates that delegate."""
    return _maker("code", ["done", "call_entity", "call_entity_batch"])


@pytest.fixture(scope="session")
def altered() -> Callable[..., Cantrip]:
    """The same cantrip with a loom whose records went through a function: ``altered(spell, f)``."""

    def alter(spell: Cantrip, change: Callable[[Any], Any]) -> Cantrip:
        loom = Loom()
        for *_, record in spell.loom.records():
            loom.append(change(record))
        return spell.model_copy(update={"loom": loom})

    return alter
