"""Wards: the restrictions that a circle enforces, and how a child's come from its parent's."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from ..gates.hints import suggestion
from ..sandbox.packages import importable
from .errors import WardError

DEFAULT_DEPTH = 1
DEFAULT_BATCH = 50
DEFAULT_CONCURRENT = 8


class Wards(BaseModel):
    """The wards of one circle, resolved. None: not restricted.

    Attributes:
        max_turns: Utterances of one cast.
        max_depth: Levels of children below. Default 1.
        require_done_tool: Text alone does not end the loop (``LOOP-6``). Default False.
        timeout_s: Wall-clock time of one cast, in seconds.
        max_eval_ms: Time that one turn's own code may take, in milliseconds (``WARD-2``).
        max_memory_mb: Memory of one sandbox process, in MiB (``WARD-2``).
        max_output_chars: Length of one observation as the model is shown it, in characters.
        max_tokens: Tokens of the entity and all below it: no query starts at or over it.
        max_entities: Entities below this one, over its life.
        max_batch: Requests of one batch. Default 50.
        max_concurrent: Entities of the tree that run at a time; one that waits for its
            children does not count. Default 8.
        max_errors_in_a_row: Turns that end in an error, one after the other.
        modules: Modules that code may import.
    """

    model_config = ConfigDict(frozen=True, extra="forbid", strict=True)

    max_turns: int | None = Field(default=None, ge=1)
    max_depth: int = Field(default=DEFAULT_DEPTH, ge=0)
    require_done_tool: bool = False
    timeout_s: float | None = Field(default=None, gt=0, allow_inf_nan=False)
    max_eval_ms: int | None = Field(default=None, ge=1, le=86_400_000)
    max_memory_mb: int | None = Field(default=None, ge=8, le=1_048_576)
    max_output_chars: int | None = Field(default=None, ge=200, le=10_000_000)
    max_tokens: int | None = Field(default=None, ge=0)
    max_entities: int | None = Field(default=None, ge=0)
    max_batch: int = Field(default=DEFAULT_BATCH, ge=1)
    max_concurrent: int = Field(default=DEFAULT_CONCURRENT, ge=1)
    max_errors_in_a_row: int | None = Field(default=None, ge=1)
    modules: tuple[str, ...] | None = None

    @classmethod
    def of(cls, wards: Iterable[Any] | Self, packages: tuple[str, ...] = ()) -> Self:
        """Read wards as a circle is given them: mappings of names to values.

        A ward that is given twice is the tighter of the two.

        Args:
            wards: The mappings; wards that have been read already stay as they are.
            packages: The circle's packages, which the ward ``modules`` may name.

        Raises:
            WardError: A ward is unknown or its value is no good; the text names it.
        """
        if isinstance(wards, cls):
            return wards
        if isinstance(wards, Mapping):
            wards = [wards]
        if isinstance(wards, str) or not isinstance(wards, Iterable):
            raise WardError(f"wards are a list such as [{{'max_turns': 10}}], not {wards!r}")
        given: dict[str, Any] = {}
        for entry in wards:
            if not isinstance(entry, Mapping):
                raise WardError(f"a ward is a mapping such as {{'max_turns': 10}}, not {entry!r}")
            for name, value in entry.items():
                _check_name(name)
                checked = cls._checked(name, value, packages)
                given[name] = tighter(given[name], checked) if name in given else checked
        return cls(**given)

    @classmethod
    def _checked(cls, name: str, value: Any, packages: tuple[str, ...]) -> Any:
        if name == "modules":
            value = _modules(value, packages)
        if value is None:
            raise WardError(f"the ward {name} has no value; leave it out to have no such ward")
        try:
            return getattr(cls(**{name: value}), name)
        except ValidationError as error:
            problem = error.errors()[0]["msg"]
            raise WardError(f"the ward {name} can't be {value!r}: {problem}") from None

    def for_child(self, requested: Iterable[Any] | Self, packages: tuple[str, ...] = ()) -> Self:
        """The wards of a child: one level less deep, and what it asks for if that is tighter.

        Numbers take the minimum, booleans OR, modules what is in both (``WARD-1``). What is
        not asked for is as the parent has it.

        Raises:
            WardError: A requested ward is unknown or its value is no good.
        """
        asked = self.of(requested, packages)
        below = self.model_copy(update={"max_depth": max(self.max_depth - 1, 0)})
        tightened = {
            name: tighter(getattr(below, name), getattr(asked, name))
            for name in asked.model_fields_set
        }
        return below.model_copy(update=tightened)

    @property
    def truncates(self) -> bool:
        """Whether one of them guarantees an end (``LOOP-2``, ``CIRCLE-2``)."""
        return self.max_turns is not None or self.timeout_s is not None

    def in_force(self) -> dict[str, Any]:
        """The wards by name, without those that restrict nothing."""
        every = self.model_dump()
        # By identity, for a limit of 0 equals False and is the tightest of all.
        return {
            name: value for name, value in every.items() if value is not None and value is not False
        }


def tighter(one: Any, other: Any) -> Any:
    """The tighter of two values of a ward: minimum, OR, intersection; None restricts nothing."""
    if one is None or other is None:
        return other if one is None else one
    if isinstance(one, bool):
        return one or other
    if isinstance(one, tuple):
        return tuple(item for item in one if item in other)
    return min(one, other)


def _modules(names: Any, packages: tuple[str, ...]) -> Any:
    """The names of modules as a tuple, each of them one that a program can be given.

    Raises:
        WardError: One is not.
    """
    if not isinstance(names, list | tuple):
        return names
    there = importable(packages)
    for name in names:
        if name not in there:
            raise WardError(f"the ward modules can't hold {name!r}; there are: {', '.join(there)}")
    return tuple(names)


def _check_name(name: Any) -> None:
    known = list(Wards.model_fields)
    if name in known:
        return
    raise WardError(f"unknown ward {name!r}; {suggestion(name, known)}")
