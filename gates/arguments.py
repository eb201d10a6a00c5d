"""How the arguments of a call are bound to names and checked.

There are three ways: any arguments at all, those that names are known for, and, in
``delegation.py``, a request. What a function's signature says is read in ``signature.py``.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from pydantic import TypeAdapter, ValidationError

from ..sandbox.preview import show
from .errors import GateArgumentError

_SHOWN_CHARS = 60


class Arguments(Protocol):
    """What a gate may be called with."""

    @property
    def text(self) -> str:
        """The arguments as a signature shows them, brackets included."""

    def check(self, gate: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Bind and check one call's arguments.

        Args:
            gate: The gate's name, for the error.
            args: What was given by position.
            kwargs: What was given by name.

        Returns:
            The arguments by name; one that was left out stays out.

        Raises:
            GateArgumentError: They don't fit.
        """


@dataclass(frozen=True)
class AnyArguments:
    """Takes whatever it is given.

    What comes by position is kept under its number: ``"0"``, ``"1"`` and so on, which no
    keyword can be.
    """

    text: str = "(*args, **kwargs)"

    def check(self, gate: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See ``Arguments.check``."""
        _check_keywords(gate, kwargs)
        return {**{str(position): value for position, value in enumerate(args)}, **kwargs}


def spread(arguments: Mapping[str, Any]) -> tuple[list[Any], dict[str, Any]]:
    """Checked arguments as the function takes them: by position, and by name."""
    positions = sorted((name for name in arguments if name.isdecimal()), key=int)
    named = {name: value for name, value in arguments.items() if not name.isdecimal()}
    return [arguments[name] for name in positions], named


@dataclass(frozen=True)
class NamedArguments:
    """Takes the arguments that it has names for.

    Attributes:
        names: Every name, in order.
        text: The arguments as a signature shows them, brackets included.
        schema: JSON schema of the arguments, an object.
        required: The names that have no default.
        positional: How many of the names may be given by position.
        more: Whether other names are welcome too.
        adapter: Checks the values, by name; without one they are taken as they are.
    """

    names: tuple[str, ...]
    text: str
    schema: dict[str, Any]
    required: tuple[str, ...] = ()
    positional: int = 0
    more: bool = False
    adapter: TypeAdapter[dict[str, Any]] | None = field(default=None, repr=False, compare=False)

    def check(self, gate: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """See ``Arguments.check``."""
        given = self._bind(gate, args, kwargs)
        missing = [name for name in self.required if name not in given]
        if missing:
            plural = "s" if len(missing) > 1 else ""
            raise GateArgumentError(
                f"{gate}: missing required argument{plural}: {', '.join(missing)}; "
                f"call it as {gate}{self.text}"
            )
        return self.validate(gate, given)

    def validate(self, gate: str, given: dict[str, Any]) -> dict[str, Any]:
        """Check the values alone; no name has to be there.

        Raises:
            GateArgumentError: A value is not of its argument's type.
        """
        if self.adapter is None:
            return given
        try:
            return self.adapter.validate_python(given)
        except ValidationError as error:
            raise GateArgumentError(f"{gate}: {explain(error)}") from None

    def _bind(self, gate: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        if len(args) > self.positional:
            raise GateArgumentError(
                f"{gate}: {len(args)} arguments by position, at most {self.positional} are taken; "
                f"call it as {gate}{self.text}"
            )
        _check_keywords(gate, kwargs)
        given = dict(zip(self.names, args, strict=False))
        for name, value in kwargs.items():
            if name in given:
                raise GateArgumentError(f"{gate}: argument {name!r} was given twice")
            if name not in self.names and not self.more:
                raise GateArgumentError(
                    f"{gate}: unknown argument {name!r}; call it as {gate}{self.text}"
                )
            given[name] = value
        return given


def _check_keywords(gate: str, kwargs: Mapping[str, Any]) -> None:
    for name in kwargs:
        if not isinstance(name, str) or not name.isidentifier():
            raise GateArgumentError(f"{gate}: {name!r} can't be the name of an argument")


def explain(error: ValidationError) -> str:
    """The first complaint of a pydantic error, in one line: ``start must be an integer, got 'x'``.

    The branches of a union complain one by one; they are put together again.
    """
    details = error.errors(include_url=False)
    first = details[0]
    alike = [one for one in details if one["loc"][:1] == first["loc"][:1]]
    path = first["loc"] if len(alike) == 1 else first["loc"][:1]
    wanted, *others = dict.fromkeys(_wanted(one["msg"]) for one in alike)
    either = " or ".join([wanted, *(other.removeprefix("must be ") for other in others)])
    return f"{_path(path)} {either}, got {show(first['input'], _SHOWN_CHARS)}"


def _wanted(message: str) -> str:
    """Pydantic's complaint as the end of a sentence that begins with the argument."""
    text = message.removeprefix("Value error, ").removeprefix("Assertion failed, ")
    text = re.sub(r"^\w+ should\b", "must", text)
    for stiff, plain in (("a valid integer", "an integer"), ("a valid bytes", "bytes")):
        text = text.replace(stiff, plain)
    return text.replace("a valid ", "a ")


def _path(location: Sequence[int | str]) -> str:
    """``requests[2].intent`` for ``("requests", 2, "intent")``."""
    parts = (f"[{part}]" if isinstance(part, int) else f".{part}" for part in location)
    return "".join(parts).removeprefix(".")
