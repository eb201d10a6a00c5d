"""What a function's signature, or a JSON schema, says of a gate's arguments.

Text, bytes, truth values and whole numbers are taken strictly: ``"3"`` is no int and ``True``
is none either, for a program that mixes them up should hear of it. An int will do for a
float, and one container for another, since JSON has only lists. What is annotated ``Any``
reaches the function untouched.
"""

from __future__ import annotations

import collections.abc
import inspect
import types
from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Annotated, Any, NotRequired, Union, get_args, get_origin

from pydantic import Field, Strict, TypeAdapter, WrapValidator
from pydantic.errors import PydanticUndefinedAnnotation, PydanticUserError
from pydantic.json_schema import GenerateJsonSchema
from typing_extensions import TypedDict

from ..sandbox.wire import Sealed
from .arguments import NamedArguments
from .docstring import argument_notes
from .errors import GateFault

_SCALARS = (str, bytes, bool, int, float)
_CONTAINERS = (
    list,
    tuple,
    set,
    frozenset,
    dict,
    collections.abc.Sequence,
    collections.abc.Mapping,
)
_DEFAULTS = (type(None), bool, int, float, str)
"""Types of a default value that a JSON schema can show as it is."""


class _PlainSchema(GenerateJsonSchema):
    """JSON schema without the titles that only repeat the names."""

    def field_title_should_be_set(self, schema: Any) -> bool:  # noqa: ARG002 - pydantic's face
        return False


def from_function(
    function: Callable[..., Any],
    name: str,
    *,
    without: Collection[str] = (),
    seal: Collection[str] = (),
) -> NamedArguments:
    """The arguments that a function's signature declares.

    Args:
        function: Sync or async.
        name: The gate's name, for the errors.
        without: Parameters to leave out, which something other than a call fills.
        seal: Arguments that may come as a ``Sealed``, which is then not looked into.

    Raises:
        GateFault: The signature can't be read, has ``*args`` or positional-only parameters,
            or has an annotation for which there is no JSON schema.
    """
    every = signature_of(function, name).parameters.values()
    parameters = [parameter for parameter in every if parameter.name not in without]
    for parameter in parameters:
        if parameter.kind in (parameter.POSITIONAL_ONLY, parameter.VAR_POSITIONAL):
            raise GateFault(
                f"gate {name}: parameter {parameter.name!r} can't be given by name; "
                "a gate's parameters need names"
            )
    named = [parameter for parameter in parameters if parameter.kind is not parameter.VAR_KEYWORD]
    more = len(named) < len(parameters)
    adapter = _adapter(named, more, argument_notes(function), seal, name)
    return NamedArguments(
        names=tuple(parameter.name for parameter in named),
        text=_text(parameters),
        schema=_schema(adapter, named, name),
        required=_required(named),
        positional=sum(one.kind is one.POSITIONAL_OR_KEYWORD for one in named),
        more=more,
        adapter=adapter,
    )


def dependencies_of(
    function: Callable[..., Any], name: str, binds: Collection[str]
) -> NamedArguments:
    """The parameters of a function that are bound beforehand; they need no JSON schema.

    Raises:
        GateFault: The function has no such parameter, or its annotation can't be used.
    """
    parameters = signature_of(function, name).parameters
    for bind in binds:
        if bind not in parameters:
            raise GateFault(f"gate {name}: binds names {bind!r}, which is no parameter of it")
    bound = [parameters[bind] for bind in binds]
    return NamedArguments(
        names=tuple(binds),
        text=_text(bound),
        schema={},
        required=_required(bound),
        adapter=_adapter(bound, False, {}, (), name),
    )


def _required(parameters: Sequence[inspect.Parameter]) -> tuple[str, ...]:
    return tuple(one.name for one in parameters if one.default is one.empty)


def signature_of(function: Callable[..., Any], name: str) -> inspect.Signature:
    """A function's signature with its annotations evaluated.

    Raises:
        GateFault: The function has none that can be read.
    """
    try:
        return inspect.signature(function, eval_str=True)
    except NameError as error:
        raise GateFault(
            f"gate {name}: an annotation can't be read: {error}; use names from its module's top"
        ) from None
    except (TypeError, ValueError, SyntaxError) as error:
        raise GateFault(f"gate {name}: its signature can't be read: {error}") from None


def from_schema(schema: Mapping[str, Any]) -> NamedArguments:
    """The arguments that a JSON schema describes; their values are the function's to check.

    Args:
        schema: Of type object. Other names are welcome only where ``additionalProperties``
            says so or no property is named at all.
    """
    properties: Mapping[str, Any] = schema.get("properties", {})
    more = bool(schema.get("additionalProperties", not properties))
    required = tuple(schema.get("required", ()))
    parts = [name if name in required else f"{name}=..." for name in properties]
    return NamedArguments(
        names=tuple(properties),
        text=f"({', '.join([*parts, '**kwargs'] if more else parts)})",
        schema=dict(schema),
        required=required,
        positional=len(properties),
        more=more,
    )


# Its fields are known at run time only, which no type checker follows.
_record: Any = TypedDict


def _adapter(
    parameters: Sequence[inspect.Parameter],
    more: bool,
    notes: Mapping[str, str],
    seal: Collection[str],
    gate: str,
) -> TypeAdapter[dict[str, Any]]:
    """Checks a mapping of names to values; names that are left out are no concern of its."""
    fields: dict[str, Any] = {}
    for parameter in parameters:
        given = Any if parameter.annotation is parameter.empty else parameter.annotation
        kind: Any = Annotated[_strict(given), Field(description=notes.get(parameter.name))]
        if parameter.name in seal:
            kind = Annotated[kind, WrapValidator(_pass_sealed)]
        fields[parameter.name] = NotRequired[kind]
    record = _record("Arguments", fields)
    extra = "allow" if more else "forbid"
    record.__pydantic_config__ = {"extra": extra, "arbitrary_types_allowed": True}
    try:
        return TypeAdapter(record)
    except (PydanticUserError, PydanticUndefinedAnnotation) as error:
        raise GateFault(f"gate {gate}: {_first_line(error)}") from None


def _first_line(error: Exception) -> str:
    return str(error).splitlines()[0]


def _pass_sealed(value: Any, check: Callable[[Any], Any]) -> Any:
    return value if isinstance(value, Sealed) else check(value)


def _strict(annotation: Any) -> Any:
    """The annotation with every scalar in it taken strictly."""
    if annotation in _SCALARS:
        return Annotated[annotation, Strict()]
    origin, inner = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        return Annotated[(_strict(inner[0]), *inner[1:])]
    if origin in (Union, types.UnionType):
        return Union[tuple(map(_strict, inner))]  # noqa: UP007 - there is no other for a tuple
    if origin in _CONTAINERS:
        return origin[tuple(map(_strict, inner))]
    return annotation


def _schema(
    adapter: TypeAdapter[dict[str, Any]], parameters: Sequence[inspect.Parameter], gate: str
) -> dict[str, Any]:
    try:
        schema = adapter.json_schema(schema_generator=_PlainSchema)
    except PydanticUserError as error:
        raise GateFault(
            f"gate {gate}: an argument has no JSON schema: {_first_line(error)}"
        ) from None
    schema.pop("title", None)
    schema.setdefault("properties", {})
    if required := _required(parameters):
        schema["required"] = list(required)
    for parameter in parameters:
        if isinstance(parameter.default, _DEFAULTS):
            schema["properties"][parameter.name]["default"] = parameter.default
    return schema


def _text(parameters: Sequence[inspect.Parameter]) -> str:
    shown = [
        parameter
        if parameter.annotation is parameter.empty
        else parameter.replace(annotation=_Verbatim(annotation_text(parameter.annotation)))
        for parameter in parameters
    ]
    return str(inspect.Signature(shown))


class _Verbatim(str):
    """A text that ``inspect`` writes without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


def annotation_text(annotation: Any) -> str:
    """An annotation as a reader would write it: no module names, no ``Annotated``."""
    origin, inner = get_origin(annotation), get_args(annotation)
    if annotation is Ellipsis:
        return "..."
    if annotation in (None, type(None)):
        return "None"
    if origin is Annotated:
        return annotation_text(inner[0])
    if origin in (Union, types.UnionType):
        return " | ".join(map(annotation_text, inner))
    if origin in _CONTAINERS:
        return f"{origin.__name__}[{', '.join(map(annotation_text, inner))}]"
    if isinstance(annotation, type) and origin is None:
        return annotation.__name__
    return str(annotation).replace("typing.", "")
