"""A gate as a program finds it: something that can be called, and nothing else."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from .errors import CodecError
from .wire import Sealed, seal


@dataclass(frozen=True)
class _Gate:
    name: str
    call: Any
    signature: str
    parameters: tuple[str, ...]
    seal: frozenset[str]


_gates: dict[int, _Gate] = {}


class GateStub:
    """Stands for a gate. It has no variables of its own, so nothing about it can be written.

    A program can have an object's variables written past its class, by the ``__init__`` of a
    dataclass for example. What a stub stands for is kept beside it; a stub is never let go.

    Args:
        name: The gate's name.
        call: What makes the call, given the name and the arguments.
        info: Signature, parameters and names to seal.
    """

    __slots__ = ()

    def __new__(cls, name: str, call: Any, info: Mapping[str, Any]) -> GateStub:  # noqa: D102
        stub = super().__new__(cls)
        _gates[id(stub)] = _Gate(
            name, call, info["signature"], tuple(info["parameters"]), frozenset(info["seal"])
        )
        _stubs.append(stub)
        return stub

    def __call__(self, /, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        gate = _gates[id(self)]
        try:
            args, kwargs = _sealed_arguments(gate, args, kwargs)
        except CodecError as error:
            raise ValueError(f"{gate.name}: {error}") from None
        return gate.call(gate.name, args, kwargs)

    def __repr__(self) -> str:
        return f"<gate {signature_of(self)}>"


def signature_of(stub: GateStub) -> str:
    """What a program is shown of what a stub stands for."""
    return _gates[id(stub)].signature


def _describe(stub: GateStub | None) -> str:
    return f"A gate: {_gates[id(stub)].signature}" if id(stub) in _gates else "A gate."


GateStub.__doc__ = property(_describe)  # type: ignore[assignment]
GateStub.__name__ = GateStub.__qualname__ = "gate"
_stubs: list[GateStub] = []


def _sealed_arguments(
    gate: _Gate, args: tuple[Any, ...], kwargs: dict[str, Any]
) -> tuple[tuple[Any, ...], dict[str, Any]]:
    if not gate.seal:
        return args, kwargs
    places = [*gate.parameters, *[""] * len(args)]
    positional = tuple(
        _sealed({place: arg}, gate.seal)[place] for place, arg in zip(places, args, strict=False)
    )
    return positional, _sealed(kwargs, gate.seal)


def _sealed(mapping: Mapping[str, Any], names: frozenset[str]) -> dict[str, Any]:
    """A call's arguments with the named values sealed, so that the host hands them on.

    They are found among the arguments, in one that is a request, and in one that is a list of
    requests; deeper a name means nothing.
    """
    return {
        key: _readable(value) if key in names else _seal_inside(value, names)
        for key, value in mapping.items()
    }


def _seal_inside(value: Any, names: frozenset[str]) -> Any:
    if isinstance(value, list | tuple):
        return [_seal_request(item, names) for item in value]
    return _seal_request(value, names)


def _seal_request(value: Any, names: frozenset[str]) -> Any:
    if not isinstance(value, dict):
        return value
    return {key: _readable(item) if key in names else item for key, item in value.items()}


def _readable(value: Any) -> Sealed:
    """A sealed value that has been read back: nobody is handed one that he can't open.

    Raises:
        CodecError: The value can't be encoded, or not be read back.
    """
    sealed = seal(value)
    sealed.open()
    return sealed
