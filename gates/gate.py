"""The gate: a host function with a name, a schema and a bound on its time.

A gate is a value. ``check`` turns a call's arguments into arguments by name, ``call`` runs
the function with them. What the function needs besides (a root folder, a way to spawn) is
bound beforehand, so that a circle is complete once it is built (``CIRCLE-10``).
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from typing import Any, overload

import anyio
from pydantic import GetCoreSchemaHandler
from pydantic_core import CoreSchema, core_schema

from .arguments import AnyArguments, Arguments, NamedArguments, spread
from .docstring import description as description_of
from .errors import GateArgumentError, GateFault, GateTimeout
from .frozen import frozen
from .signature import (
    annotation_text,
    dependencies_of,
    from_function,
    from_schema,
    signature_of,
)
from .threads import MAX_THREADS, Seat, free_seat

TIMEOUT_S = 60.0
"""Seconds that a gate has to answer, unless it says otherwise."""
SETTINGS = ("ephemeral", "idempotent", "timeout_s")
"""What a gate given as a mapping may say of itself, beside its name and dependencies."""

_CONFIGURABLE = ("name", *SETTINGS)
_EXAMPLES = {"root": "{{name: {gate}, root: DIR}}"}
_EXAMPLE = "{gate}.bind({need}=...)"


@dataclass(frozen=True)
class Gate:
    """A host function that an entity may call.

    Args:
        name: An identifier; what the entity calls it.
        function: Sync or async. A sync one runs in a thread. None for a gate that only
            describes something.
        description: What it does, for a model; its first line stands beside the signature.
        parameters: JSON schema of the arguments, an object. None: it takes any arguments.
        returns: Type of the answer, as a signature shows it.
        ephemeral: The answer never enters the messages, only a reference (``PROD-5``).
        idempotent: Calling it again does no harm, so an interrupted call may be repeated.
        timeout_s: Seconds it has to answer; None for no bound. Default 60.
        final: Its answer ends the loop (``LOOP-3``).
        delegates: It spawns children (``COMP-2``, ``COMP-3``).
        seal: Arguments that stay encoded on the host, as ``wire.Sealed``.
        needs: Dependencies that must still be bound before it is called (``CIRCLE-10``).
        bound: Dependencies that have been bound, by name.
        arguments: How a call's arguments are checked. Default: by ``parameters``.
        dependencies: How dependencies are checked when they are bound.

    Raises:
        GateFault: The name or the timeout won't do.
    """

    name: str
    function: Callable[..., Any] | None
    description: str = ""
    parameters: dict[str, Any] | None = None
    returns: str = "Any"
    ephemeral: bool = False
    idempotent: bool = False
    timeout_s: float | None = TIMEOUT_S
    final: bool = False
    delegates: bool = False
    seal: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    bound: Mapping[str, Any] = field(default_factory=dict, repr=False)
    arguments: Arguments | None = field(default=None, repr=False, compare=False)
    dependencies: NamedArguments | None = field(default=None, repr=False, compare=False)

    def __post_init__(self) -> None:
        _checked_name(self.name)
        _check_timeout(self.name, self.timeout_s)
        object.__setattr__(self, "parameters", frozen(self.parameters))
        if self.arguments is None:
            checked: Arguments = (
                AnyArguments() if self.parameters is None else from_schema(self.parameters)
            )
            object.__setattr__(self, "arguments", checked)

    @classmethod
    def __get_pydantic_core_schema__(cls, source: Any, handler: GetCoreSchemaHandler) -> CoreSchema:
        """As a field of a pydantic model a gate is taken as it is."""
        return core_schema.is_instance_schema(cls)

    @property
    def signature(self) -> str:
        """How it is called: ``read(path: str, start: int = 0) -> str``."""
        return f"{self.name}{self._arguments.text} -> {self.returns}"

    @property
    def summary(self) -> str:
        """The description's first line."""
        return self.description.partition("\n")[0]

    @property
    def _arguments(self) -> Arguments:
        assert self.arguments is not None  # __post_init__ saw to it
        return self.arguments

    def bind(self, **dependencies: Any) -> Gate:
        """A gate with more of its dependencies filled in.

        Args:
            dependencies: By name; checked against the function's annotations.

        Raises:
            GateFault: The gate has no such dependency, or the value won't do.
        """
        known = self._dependency_names()
        for name in dependencies:
            if name not in known:
                takes = f"what it takes is {', '.join(known)}" if known else "it takes nothing"
                raise GateFault(f"{self.name}: it can't be given {name!r}; {takes}")
        if self.dependencies is not None:
            try:
                valid = self.dependencies.validate(self.name, dependencies)
            except GateArgumentError as error:
                raise GateFault(str(error)) from None
            # A container is the caller's own, and not the copy that was made to check it.
            dependencies = {
                name: _same_or(valid[name], value) for name, value in dependencies.items()
            }
        return replace(
            self,
            bound={**self.bound, **dependencies},
            needs=tuple(need for need in self.needs if need not in dependencies),
        )

    def _dependency_names(self) -> dict[str, None]:
        declared = () if self.dependencies is None else self.dependencies.names
        return dict.fromkeys((*declared, *self.needs, *self.bound))

    def configure(self, **settings: Any) -> Gate:
        """A gate with other settings.

        Args:
            settings: Any of ``name``, ``ephemeral``, ``idempotent`` and ``timeout_s``.

        Raises:
            GateFault: There is no such setting, or its value won't do.
        """
        for name, value in settings.items():
            if name not in _CONFIGURABLE:
                raise GateFault(
                    f"{self.name}: unknown setting {name!r}; there are {', '.join(_CONFIGURABLE)}"
                )
            if name in ("ephemeral", "idempotent") and type(value) is not bool:
                raise GateFault(f"{self.name}: {name} must be true or false, not {value!r}")
        return replace(self, **settings)

    def check(self, args: Sequence[Any], kwargs: Mapping[str, Any]) -> dict[str, Any]:
        """Bind a call's arguments to names and check them.

        Args:
            args: What was given by position.
            kwargs: What was given by name.

        Returns:
            The arguments by name, as ``call`` takes them. One that was left out stays out.
            A gate that takes any arguments has those by position under "0", "1" and so on.

        Raises:
            GateArgumentError: They don't fit; the text names the argument (``LOOP-7``).
        """
        for name in self._dependency_names():
            if name in kwargs:  # lest **kwargs replace what was bound
                raise GateArgumentError(
                    f"{self.name}: unknown argument {name!r}; call it as {self.signature}"
                )
        return self._arguments.check(self.name, args, kwargs)

    async def call(self, arguments: Mapping[str, Any]) -> Any:
        """Run the function.

        Cancelling takes effect at once: an async function is cancelled, the thread of a sync
        one is left to itself, and what it answers later is thrown away.

        Args:
            arguments: What ``check`` returned.

        Raises:
            GateFault: A dependency has not been bound, or there is no function.
            GateTimeout: There was no answer within ``timeout_s``.
            Exception: Whatever the function raises.
        """
        function = self._complete()
        args, kwargs = spread(arguments)
        is_async = inspect.iscoroutinefunction(function)
        seat: Seat | None = None
        with anyio.move_on_after(self.timeout_s):
            if is_async:
                return await function(*args, **kwargs)
            seat = await free_seat()
            answer = await seat.run(partial(function, *args, **kwargs))
            return await answer if inspect.isawaitable(answer) else answer
        if seat is None and not is_async:
            raise GateTimeout(
                f"{self.name}: no thread was free within {self.timeout_s:g} s: {MAX_THREADS} calls "
                "of sync gates are still running"
            )
        raise GateTimeout(f"{self.name}: no answer within {self.timeout_s:g} s")

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the plain function, unchecked and in the caller's thread.

        Raises:
            GateFault: A dependency has not been bound, or there is no function.
            Exception: Whatever the function raises.
        """
        return self._complete()(*args, **kwargs)

    def _complete(self) -> Callable[..., Any]:
        """The function with its dependencies filled in."""
        if self.needs:
            need = self.needs[0]
            example = _EXAMPLES.get(need, _EXAMPLE).format(gate=self.name, need=need)
            raise GateFault(
                f"{self.name}: no {need} is configured; give the gate a {need}, "
                f"for example {example}"
            )
        if self.function is None:
            raise GateFault(f"{self.name}: the gate has no function to call")
        return partial(self.function, **self.bound) if self.bound else self.function


def _checked_name(name: Any) -> str:
    usable = isinstance(name, str) and name.isidentifier() and not keyword.iskeyword(name)
    if not usable or name.startswith("_"):
        raise GateFault(
            f"a gate can't be named {name!r}; a name is a Python identifier, is no keyword and "
            "doesn't begin with _: give one with name="
        )
    return str(name)


def _check_timeout(name: str, timeout_s: float | None) -> None:
    if timeout_s is None:
        return
    if isinstance(timeout_s, bool) or not isinstance(timeout_s, int | float) or not timeout_s > 0:
        raise GateFault(f"{name}: timeout_s must be a number of seconds above 0, not {timeout_s!r}")


@overload
def gate(function: Callable[..., Any], /) -> Gate: ...


@overload
def gate(
    function: None = None,
    /,
    *,
    name: str | None = ...,
    ephemeral: bool = ...,
    idempotent: bool = ...,
    timeout_s: float | None = ...,
    final: bool = ...,
    binds: Collection[str] = ...,
    seal: Collection[str] = ...,
) -> Callable[[Callable[..., Any]], Gate]: ...


def gate(
    function: Callable[..., Any] | None = None,
    /,
    *,
    name: str | None = None,
    ephemeral: bool = False,
    idempotent: bool = False,
    timeout_s: float | None = TIMEOUT_S,
    final: bool = False,
    binds: Collection[str] = (),
    seal: Collection[str] = (),
) -> Gate | Callable[[Callable[..., Any]], Gate]:
    """Make a function a gate; with brackets or without.

    The name, the schema and the description come from the signature and the docstring; what
    the section ``Args:`` says of an argument goes into the schema.

    Args:
        function: Sync or async.
        name: What the entity calls it. Default: the function's name.
        ephemeral: The answer never enters the messages (``PROD-5``). Default False.
        idempotent: Calling it again does no harm. Default False.
        timeout_s: Seconds it has to answer; None for no bound. Default 60.
        final: Its answer ends the loop. Default False.
        binds: Parameters that are dependencies: no call gives them, ``Gate.bind`` does. Those
            without a default must be bound before the first call.
        seal: Arguments that stay encoded on the host, as ``wire.Sealed``.

    Raises:
        GateFault: The name, the signature or an annotation won't do.
    """

    def decorate(function: Callable[..., Any]) -> Gate:
        return _declare(
            function,
            name or getattr(function, "__name__", None),
            binds,
            ephemeral=ephemeral,
            idempotent=idempotent,
            timeout_s=timeout_s,
            final=final,
            seal=tuple(seal),
        )

    return decorate if function is None else decorate(function)


def _declare(
    function: Callable[..., Any], name: str | None, binds: Collection[str], **settings: Any
) -> Gate:
    name = _checked_name(name)
    arguments = from_function(function, name, without=binds, seal=settings["seal"])
    dependencies = dependencies_of(function, name, binds)
    returns = signature_of(function, name).return_annotation
    return Gate(
        name=name,
        function=function,
        description=description_of(function),
        parameters=arguments.schema,
        returns="Any" if returns is inspect.Signature.empty else annotation_text(returns),
        needs=dependencies.required,
        arguments=arguments,
        dependencies=dependencies,
        **settings,
    )


def _same_or(valid: Any, given: Any) -> Any:
    """What was given, where checking it changed nothing; else what it was made into."""
    is_same = type(given) is type(valid) and isinstance(given, list | dict | set)
    return given if is_same and given == valid else valid
