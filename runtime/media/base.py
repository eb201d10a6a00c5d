"""What a medium is to the loop: presents what can be done, carries out an utterance."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from typing import Any, NoReturn, Protocol

from ...gates import Gate
from ...sandbox.checkpoint import AsyncCheckpoint
from ...sandbox.wire import Sealed
from ..llm import Message, Reply, Tool
from ..loom.values import State
from ..wards import Wards

KILLED = 137
"""How a program ended whose process was killed, as a command's exit code."""


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
        replayable: Whether it would come to the same again; not where it was cut off, or read
            clocks more often than is kept.
        reads_differ: Whether it was run again, and did not read clocks and chance as before.
        before: What it tells of the session before its programs ran, or the empty string.
        exits: How each of its programs ended; see ``loom.NodeRecord``.
    """

    messages: tuple[Message, ...]
    text: str
    is_error: bool = False
    value: str | None = None
    error: str | None = None
    answer: Sealed | None = None
    state: State = "kept"
    replayable: bool = True
    reads_differ: bool = False
    before: str = ""
    exits: tuple[int, ...] = ()


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
        seed: What a session's random numbers begin with. Default: one of its own.
        past: What the entity can read of its own past (``LOOM-11``); None: nothing.
    """

    gates: Mapping[str, Gate]
    closed: Mapping[str, str]
    wards: Wards
    llms: tuple[str, ...] = ()
    registry: Mapping[str, Gate] = field(default_factory=dict)
    packages: tuple[str, ...] = ()
    seed: int | None = None
    past: Readable | None = None


class Readable(Protocol):
    """A past that a program can read in (``LOOM-11``)."""

    async def read(self, before: int, what: str, *args: Any) -> Any:
        """Read something, as plain values.

        Args:
            before: The turn that is carried out: what is read was before it, so that the same
                is read when it is carried out again.
            what: What to read.
            args: What the program asks with.

        Raises:
            Exception: The program asks for what there isn't.
        """


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

    @property
    def reads(self) -> bytes | None:
        """What the program that runs now is to read of clocks and chance, where it did before."""

    def running(
        self, printed: Callable[[], str], reads: Callable[[], bytes | None]
    ) -> AbstractContextManager[None]:
        """While a program runs: its output so far goes to the nodes, and its state is at stake.

        Args:
            printed: Reads what the program has printed by now.
            reads: Takes what it has read of clocks and chance since it was last asked, for a turn
                that is run again reads the same; None where that is nothing.
        """


class Medium(Protocol):
    """The substrate that an entity acts in (``MEDIUM-2``).

    Attributes:
        name: As a circle names it.
        has_state: Whether utterances change it, so that a fork has to carry them out again.
    """

    name: str
    has_state: bool

    def tools(self) -> tuple[Tool, ...]:
        """What the model may call, in the circle's order (``IDENTITY-3``)."""

    def capabilities(self) -> str | None:
        """What stands between identity and intent in every query, or None."""

    def first_message(self, intent: str) -> str:
        """The user message that gives the intent (``INTENT-2``)."""

    async def give(self, context: Sealed | None, is_there: bool = False) -> None:
        """Put an intent's context where the entity finds it (``COMP-4``).

        Args:
            context: The context; None: the intent has none.
            is_there: Whether the medium's state has it already, for it was taken up.
        """

    async def act(self, reply: Reply, desk: Desk) -> Act | None:
        """Carry out an utterance; None where it is text alone (``LOOP-6``)."""

    def pass_over(self) -> None:
        """Count a program that is not run again, for nothing of it was left."""

    async def dump(self) -> bytes:
        """The state in an image, as far as it can be written down.

        Raises:
            CannotDump: It can't.
        """

    async def load(self, image: bytes, trust: bool) -> None:
        """Have the state of an image; this medium has not been used.

        Args:
            image: The image.
            trust: Whether to take one that this user's key has not signed.

        Raises:
            SandboxError: It can't be loaded; this medium is as it was.
        """

    async def checkpoint(self, turn: int) -> AsyncCheckpoint | None:
        """The state at the end of a turn, as far as a copy of it is parked.

        It may be asked for from any event loop, and while another turn is carried out.

        Args:
            turn: Ordinal of the utterance.

        Returns:
            A copy that may give way at any time; None where there is none.
        """

    async def keep(self) -> AsyncCheckpoint:
        """Park a copy of the state as it is now, which stays until it is closed.

        Raises:
            CheckpointUnavailable: There can be none.
        """

    async def take_up(self, point: AsyncCheckpoint) -> None:
        """Go on from a copy of another medium's state, and run nothing for it.

        Raises:
            SandboxError: It can't be had, or is of a medium that was made otherwise; this one
                is as it was.
        """

    async def aclose(self) -> None:
        """Let go of what the medium holds."""
