"""What a medium is to the loop: presents what can be done, carries out an utterance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from ...gates import Gate
from ...sandbox.wire import Sealed
from ..llm import Message, Reply, Tool
from ..loom.records import State
from ..wards import Wards


@dataclass(frozen=True)
class Act:
    """What carrying out one utterance came to.

    Attributes:
        messages: What the model is told of it, to follow its own message.
        text: The observation as one text.
        is_error: Whether the observation tells of an error (``CIRCLE-5``).
        value: The last expression's value as text, or None.
        error: The program's error as text, or None.
        answer: What ``done`` was given, or None while the work goes on.
        state: What became of the sandbox's state.
    """

    messages: tuple[Message, ...]
    text: str
    is_error: bool = False
    value: str | None = None
    error: str | None = None
    answer: Sealed | None = None
    state: State = "kept"


@dataclass(frozen=True)
class Surroundings:
    """What a medium presents to its entity (``CIRCLE-11``).

    Attributes:
        gates: The circle's gates by name, in the circle's order.
        closed: Gates of the circle that this entity may not use, and why.
        wards: The wards in force.
        llms: Names of the models that a request for a child may name (``COMP-7``).
        registry: Gates that a child may ask for beyond these, by name (``COMP-1``).
        packages: Third-party packages that code may import.
    """

    gates: Mapping[str, Gate]
    closed: Mapping[str, str]
    wards: Wards
    llms: tuple[str, ...] = ()
    registry: Mapping[str, Gate] = field(default_factory=dict)
    packages: tuple[str, ...] = ()


class Desk(Protocol):
    """Where a medium has gate calls made: they are recorded there (``LOOM-1``)."""

    async def call(self, name: str, args: list[Any], kwargs: dict[str, Any]) -> Any:
        """Call a gate.

        Returns:
            Its answer as ``Sealed``; ``Done`` where its answer ends the work (``LOOP-3``).

        Raises:
            Exception: Whatever the gate raises, after it was recorded.
        """

    def refuse(self, name: str, why: str) -> NoReturn:
        """Record a call that can't be made, and raise why.

        Raises:
            GateArgumentError: Always.
        """

    @property
    def turn(self) -> int:
        """Ordinal of the utterance that is carried out."""

    def running(self, printed: Callable[[], str]) -> AbstractContextManager[None]:
        """While a program runs: its output so far goes to the nodes, and its state is at stake.

        Args:
            printed: Reads what the program has printed by now.
        """


class Medium(Protocol):
    """The substrate that an entity acts in (``MEDIUM-2``).

    Attributes:
        name: As a circle names it.
    """

    name: str

    def tools(self) -> tuple[Tool, ...]:
        """What the model may call, in the circle's order (``IDENTITY-3``)."""

    def capabilities(self) -> str | None:
        """What stands between identity and intent in every query, or None."""

    def first_message(self, intent: str) -> str:
        """The user message that gives the intent (``INTENT-2``)."""

    async def give(self, context: Sealed | None) -> None:
        """Put an intent's context where the entity finds it (``COMP-4``); None: it has none."""

    async def act(self, reply: Reply, desk: Desk) -> Act | None:
        """Carry out an utterance; None where it is text alone (``LOOP-6``)."""

    async def aclose(self) -> None:
        """Let go of what the medium holds."""
