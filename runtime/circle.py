"""The circle: a medium, gates and wards."""

from __future__ import annotations

import builtins
from collections import Counter
from collections.abc import Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import TypeAdapter, ValidationInfo, field_validator

from ..gates import Gate, find, gate
from ..gates.gate import SETTINGS
from ..sandbox.outcomes import OUTCOMES
from ..sandbox.packages import check_packages
from .errors import CantripError
from .value import Value
from .wards import Wards

MEDIA = ("conversation", "code")
TAKEN = frozenset({"python", "context", "loom", *OUTCOMES, *vars(builtins)})
"""What no gate of a code circle can be named: its tool, its variables, Python's builtins."""


class Circle(Value):
    """Where an entity acts: the language, plus the gates, minus the wards.

    Args:
        medium: ``conversation`` (gates are the model's tools) or ``code`` (it writes
            Python). Default ``conversation``.
        gates: Gates, names of standard ones, mappings such as
            ``{"name": "read", "root": DIR}``, or plain functions.
        wards: Mappings such as ``{"max_turns": 10}``.
        result: A type that the answer has to fit; checked at ``done``.
        packages: Third-party packages that code may import, here and in children, such as
            ``["numpy", "pandas"]``; the ward ``modules`` narrows them too. With one the
            sandbox has to be the kernel's. Default: none.

    Raises:
        WardError: A ward is unknown, or its value is no good.
        UnknownGate, GateFault: A gate is unknown or misdeclared.
        CantripError: Two gates have one name, or a field won't do.
    """

    if TYPE_CHECKING:  # what it takes, for the fields are what that becomes

        def __init__(
            self,
            *,
            medium: Any = ...,
            gates: Iterable[Gate | str | Mapping[str, Any] | Callable[..., Any]] = ...,
            wards: Wards | Mapping[str, Any] | Iterable[Mapping[str, Any]] = ...,
            result: Any = ...,
            packages: Iterable[str] = ...,
        ) -> None: ...

    medium: Any = "conversation"
    gates: tuple[Gate, ...] = ()
    packages: tuple[str, ...] = ()  # before the wards, which may name them
    wards: Wards = Wards()
    result: Any = None

    @field_validator("gates", mode="before")
    @classmethod
    def _read_gates(cls, gates: Any) -> tuple[Gate, ...]:
        return resolve_gates(gates)

    @field_validator("packages", mode="before")
    @classmethod
    def _read_packages(cls, packages: Any) -> tuple[str, ...]:
        try:
            return check_packages(packages)
        except ValueError as error:
            raise CantripError(str(error)) from None

    @field_validator("wards", mode="before")
    @classmethod
    def _read_wards(cls, wards: Any, info: ValidationInfo) -> Wards:
        return Wards.of(wards, info.data.get("packages", ()))

    @field_validator("result")
    @classmethod
    def _check_result(cls, result: Any) -> Any:
        if result is not None:
            try:
                TypeAdapter(result)
            except Exception as error:  # whatever pydantic makes of what is no type at all
                reason = str(error).partition("\n")[0]
                raise CantripError(f"result is no type that can be checked: {reason}") from None
        return result

    def check(self) -> None:
        """Check that a cantrip can be made with this circle, in the order of ``LOOP-2``.

        Raises:
            CantripError: It can't; the text says what is missing.
        """
        done = next((gate for gate in self.gates if gate.name == "done"), None)
        if done is None and self.wards.require_done_tool:
            raise CantripError("cantrip with require_done must have a done gate")
        if done is None:
            raise CantripError("circle must have a done gate")
        if not self.wards.truncates:
            raise CantripError(
                "cantrip must have at least one truncation ward: add max_turns or timeout_s"
            )
        check_medium(self.medium)
        check_gates(self.medium, self.gates)


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


def check_gates(medium: str, gates: Iterable[Gate]) -> None:
    """Check that gates can stand in a medium together.

    Raises:
        CantripError: ``done`` doesn't end the work, or a gate of a code circle has a name that
            every program finds already.
    """
    for one in gates:
        if one.name == "done" and not one.final:
            raise CantripError("the gate done must end the work: declare it with gate(final=True)")
        if medium == "code" and one.name in TAKEN:
            raise CantripError(
                f"a gate of a code circle can't be named {one.name!r}: every program has "
                "something of that name; give it another with name="
            )


def resolve_gates(gates: Iterable[Any]) -> tuple[Gate, ...]:
    """Gates as a circle is given them, as gates.

    Raises:
        UnknownGate, GateFault: One is unknown or misdeclared.
        CantripError: Two have one name.
    """
    if isinstance(gates, str | Mapping) or not isinstance(gates, Iterable):
        raise CantripError(f"gates are a list, such as ['done', 'read'], not {gates!r}")
    resolved = tuple(_resolve(item) for item in gates)
    for name, count in Counter(one.name for one in resolved).items():
        if count > 1:
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
        declared: Gate = gate(item)
        return declared
    raise CantripError(f"a gate is a name, a mapping, a Gate or a function, not {item!r}")


def _configured(fields: dict[str, Any]) -> Gate:
    name = fields.pop("name", None)
    if not isinstance(name, str):
        raise CantripError("a gate given as a mapping needs a name")
    found = find(name)
    settings = {key: fields.pop(key) for key in SETTINGS if key in fields}
    return found.bind(**fields).configure(**settings)
