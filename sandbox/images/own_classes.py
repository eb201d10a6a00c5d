"""Classes in an image: each is made anew without its attributes, and then given them.

No code of the program's runs while that is done: no class body, no ``__init_subclass__`` (no
class has one yet), no ``__set_name__``.
"""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
import collections
import dataclasses
import enum
import functools
import types
import typing
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import classes
from ..facades.copies import _slot_names
from ..facades.records import _dataclass
from ..names import CLASS_METHODS, CLASS_VARIABLES, is_special
from .errors import Unfit
from .own_functions import METHODS, check_attribute, checked_annotations, keep_attribute
from .shapes import Parts, pairs, row, series, table, text, texts

if TYPE_CHECKING:
    from .pickling import Plan
    from .unpickling import Loading

_MADE = frozenset(
    (
        "__dict__ __weakref__ __module__ __qualname__ __slots__ __annotations__ __orig_bases__ "
        "__parameters__ __abstractmethods__ __static_attributes__ __firstlineno__ __total__ "
        "__dataclass_fields__ __dataclass_params__ __protocol_attrs__ __classdictcell__ "
        "__non_callable_proto_members__ __callable_proto_members_only__ __required_keys__ "
        "__optional_keys__ __readonly_keys__ __mutable_keys__ __replace__ "
        "__annotate__ __annotate_func__ __annotations_cache__ "
        "_abc_impl _is_protocol _is_runtime_protocol"
    ).split()
)
"""What Python and the library leave on a class, and leave there again when it is made anew."""
_DEFINED = CLASS_METHODS | CLASS_VARIABLES | {"__type_params__"}
"""Special names that the attributes of a class may have."""
_OPTIONS = ("init", "repr", "eq", "order", "unsafe_hash", "frozen")
_FIELD = ("default", "default_factory", "init", "repr", "hash", "compare", "metadata", "kw_only")
_ENUMS = frozenset({"_missing_", "_generate_next_value_", "_ignore_", "_order_"})
_BODY = compile("fill(locals())", "<class>", "exec")
ORDERINGS: tuple[Any, ...] = tuple(
    made
    for pairs in functools._convert.values()  # type: ignore[attr-defined]
    for _, made in pairs
)
"""What ``total_ordering`` puts into a class."""


def take_class(plan: Plan, kind: type) -> Parts:
    """What a class is before it has any attributes."""
    if not classes.is_own(kind):
        raise Unfit(f"the class {kind.__name__!r} has no name here")
    plan.classes.note(kind)
    names = vars(kind)
    texts = kind.__name__, kind.__qualname__
    if isinstance(kind, enum.EnumMeta):
        _check_members(kind)
        values = [(name, member._value_) for name, member in kind._member_map_.items()]
        boundary = getattr(kind, "_boundary_", None)
        return make_enum, (*texts, kind.__bases__, values, boundary and boundary.value)
    if is_named_tuple(kind):
        return make_named_tuple, (*texts, kind._fields)  # type: ignore[attr-defined]
    if typing.is_typeddict(kind):
        return make_typed_dict, (*texts, dict(kind.__annotations__), names["__total__"])
    is_abstract = type(kind) is abc.ABCMeta and not any(
        isinstance(base, abc.ABCMeta) for base in kind.__bases__
    )
    slots = _slots_of(kind) if "__slots__" in names else None
    generic = names.get("__orig_bases__")
    return make_class, (*texts, kind.__bases__, slots, generic, is_abstract)


def _check_members(kind: Any) -> None:
    """Members are made of their values alone, which needs to be possible.

    Raises:
        Unfit: It is not.
    """
    mixed_in = kind._member_type_
    is_plain = mixed_in is object or "__new_member__" not in vars(kind)
    if classes.is_own(mixed_in) or not is_plain:
        raise Unfit(
            f"the members of the enum {kind.__name__!r} are of a type of their own; give them "
            "plain values"
        )


def is_named_tuple(kind: type) -> bool:
    """Whether a class is what ``NamedTuple`` or ``namedtuple`` makes."""
    return kind.__bases__ == (tuple,) and "_fields" in vars(kind) and "_make" in vars(kind)


def _slots_of(kind: type) -> Parts:
    names = vars(kind)
    own = [name for name, value in names.items() if type(value) is types.MemberDescriptorType]
    return (*own, *(name for name in ("__dict__", "__weakref__") if name in names))


# -- made anew -----------------------------------------------------------------------------------


def make_class(
    _: Loading,
    name: str,
    qualname: str,
    bases: Parts,
    slots: Parts | None,
    generic: Parts | None,
    is_abstract: bool,
) -> Any:
    """A class of no special sort."""
    names: dict[str, Any] = {}
    if slots is not None:
        names["__slots__"] = classes.slots(texts(slots))
    if generic is not None:
        if any(classes.is_own(type(base)) for base in row(generic)):
            raise ValueError("a generic base of a class is none")
        names["__orig_bases__"] = generic
    metaclass = classes.class_of(abc.ABC) if is_abstract is True else None
    return _build(name, qualname, bases, names.items(), metaclass=metaclass)


def _build(name: Any, qualname: Any, bases: Parts, names: Any, **keywords: Any) -> Any:
    def fill(body: Any) -> None:
        body["__module__"], body["__qualname__"] = "__main__", text(qualname)
        for key, value in names:
            body[key] = value

    body = types.FunctionType(_BODY, {"fill": fill, "locals": locals})
    return classes.build_class(body, text(name), *row(bases), **keywords)


def make_enum(
    _: Loading, name: str, qualname: str, bases: Parts, values: list[Any], boundary: Any
) -> Any:
    """An enum with its members; what they hold besides their values comes later."""
    if not all(isinstance(base, type) for base in row(bases)):
        raise ValueError("a base of an enum is no class")
    members = pairs(values)
    for member, _value in members:
        if text(member).startswith("_"):
            raise ValueError(f"{member!r} can't be the name of a member")
    keywords = {} if boundary is None else {"boundary": enum.FlagBoundary(text(boundary))}
    return _build(name, qualname, bases, members, **keywords)


def make_named_tuple(loading: Loading, name: str, qualname: str, fields: Parts) -> Any:
    """What ``NamedTuple`` makes."""
    made = collections.namedtuple(text(name), texts(fields), module="__main__")  # type: ignore[misc]
    made.__qualname__ = text(qualname)
    loading.tuples[made] = made.__new__
    return made


def make_typed_dict(
    _: Loading, name: str, qualname: str, annotations: Mapping[str, Any], total: bool
) -> Any:
    """What ``TypedDict`` makes."""
    make: Any = typing.TypedDict
    made = make(text(name), checked_annotations(annotations), total=total is True)
    made.__module__, made.__qualname__ = "__main__", text(qualname)
    return made


# -- its attributes ------------------------------------------------------------------------------


def methods_of(plan: Plan, kind: type) -> dict[str, Any]:
    """The methods of a class: what its objects may be asked for as soon as there are some."""
    return {
        name: value
        for name, value in _attributes(plan, kind)
        if type(value) in METHODS or (value is None and name == "__hash__")
    }


def contents_of(plan: Plan, kind: type) -> dict[str, Any]:
    """What a class holds besides its methods."""
    names = vars(kind)
    contents: dict[str, Any] = {
        "attributes": {
            name: value for name, value in _attributes(plan, kind) if type(value) not in METHODS
        },
        "annotations": dict(names.get("__annotations__", {})),
    }
    if isinstance(kind, abc.ABCMeta):
        references = _abc._get_dump(kind)[0]
        contents["registered"] = [one for one in (each() for each in references) if one]
    if "_is_runtime_protocol" in names:
        contents["runtime"] = bool(names["_is_runtime_protocol"])
    if "__dataclass_params__" in names:
        contents["dataclass"] = _record_of(kind)
    if is_named_tuple(kind):
        contents["defaults"] = dict(kind._field_defaults)  # type: ignore[attr-defined]
    if typing.is_typeddict(kind):
        contents["required"] = tuple(names["__required_keys__"])
    if isinstance(kind, enum.EnumMeta):
        contents["members"] = [
            (member, _member_variables(member)) for member in kind._member_map_.values()
        ]
    return contents


def _attributes(plan: Plan, kind: type) -> Iterator[tuple[str, Any]]:
    is_enum, is_tuple = isinstance(kind, enum.EnumMeta), is_named_tuple(kind)
    for name, value in vars(kind).items():
        if name in _MADE or type(value) is types.MemberDescriptorType:
            continue
        if type(value) in METHODS and _is_generated(plan, value):
            continue
        if is_enum and (name in kind._member_map_ or _is_enums(name)):  # type: ignore[attr-defined]
            continue
        if is_tuple and (name in kind._fields or name in _TUPLE):  # type: ignore[attr-defined]
            continue
        if name not in _DEFINED:
            keep_attribute(kind, name, value)
        yield name, value


def _is_generated(plan: Plan, value: Any) -> bool:
    """Whether a method is the work of the library: of ``dataclass``, ``Protocol``, or an enum."""
    function = getattr(value, "__func__", value)
    if type(function) is not types.FunctionType or plan.names.of(function):
        return False
    while type(inner := vars(function).get("__wrapped__")) is types.FunctionType:
        function = inner
    return not classes.is_own_function(function)


def _is_enums(name: str) -> bool:
    is_sunder = name.startswith("_") and name.endswith("_") and not is_special(name)
    return (is_sunder and name not in _ENUMS) or name in ("__new__", "__new_member__", "__doc__")


_TUPLE = frozenset(vars(collections.namedtuple("_Any", ()))) - {"__doc__"}


def _member_variables(member: Any) -> dict[str, Any]:
    names = object.__getattribute__(member, "__dict__")
    return {
        name: value for name, value in names.items() if not (_is_enums(name) or is_special(name))
    }


def _record_of(kind: type) -> Parts:
    """What a dataclass was made with: its options, and its own fields."""
    names = vars(kind)
    fields, options = names["__dataclass_fields__"], names["__dataclass_params__"]
    own = {
        name: {part: getattr(fields[name], part) for part in _FIELD}
        for name in names.get("__annotations__", ())
        if name in fields and fields[name]._field_type is not dataclasses._FIELD_CLASSVAR  # type: ignore[attr-defined]
    }
    for field in own.values():
        field["metadata"] = dict(field["metadata"])
    keeps = names.get("__setstate__") is dataclasses._dataclass_setstate  # type: ignore[attr-defined]
    return {name: getattr(options, name) for name in _OPTIONS}, own, keeps


def fill_methods(_: Loading, kind: Any, methods: Mapping[str, Any]) -> None:
    """Give a class its methods."""
    _set(kind, methods)


def fill_class(loading: Loading, kind: Any, contents: Mapping[str, Any]) -> None:
    """Give a class what it holds besides its methods."""
    _set(kind, {})
    contents = table(contents)
    attributes = table(contents["attributes"])
    annotations = checked_annotations(contents["annotations"])
    if annotations:
        kind.__annotations__ = annotations
    matched = attributes.pop("__match_args__", None)
    _set(kind, attributes)
    if "dataclass" in contents:
        _make_record(kind, contents["dataclass"], attributes)
    if matched is not None:
        _set(kind, {"__match_args__": matched})
    if "defaults" in contents:
        _set_defaults(loading.tuples[kind], kind, contents["defaults"])
    if "required" in contents:
        kind.__required_keys__ = frozenset(texts(contents["required"]))
        kind.__optional_keys__ = frozenset(kind.__annotations__) - kind.__required_keys__
    for member, variables in pairs(contents.get("members", [])):
        _fill_member(kind, member, variables)
    if isinstance(kind, abc.ABCMeta):
        _make_abstract(kind, contents)


def _set(kind: Any, attributes: Mapping[str, Any]) -> None:
    if not classes.is_class(kind) or not classes.is_own(kind):
        raise ValueError("a class is none of the program's own")
    is_enum = isinstance(kind, enum.EnumMeta)
    for name, value in table(attributes).items():
        if name not in _DEFINED:
            check_attribute(name, value)
        if name in _MADE or (is_enum and (_is_enums(name) or name in kind._member_map_)):
            raise ValueError(f"{name!r} is not the program's to set on a class")
        setattr(kind, name, value)


def _make_record(kind: Any, record: Parts, attributes: Mapping[str, Any]) -> None:
    """Have the library write the methods of a dataclass again."""
    options, fields, keeps_state = row(record)
    options, fields = table(options), table(fields)
    slots = {name: vars(kind)[name] for name in _slot_names(kind) if name in vars(kind)}
    for name, field in fields.items():
        check_attribute(name, None)
        parts = table(field)
        setattr(kind, name, dataclasses.field(**{part: parts[part] for part in _FIELD}))
    _dataclass(kind, **{name: options[name] is True for name in _OPTIONS})
    _set(kind, {name: attributes[name] for name in fields if name in attributes})
    for name, slot in slots.items():
        setattr(kind, name, slot)
    if keeps_state is True:
        kind.__getstate__ = dataclasses._dataclass_getstate  # type: ignore[attr-defined]
        kind.__setstate__ = dataclasses._dataclass_setstate  # type: ignore[attr-defined]


def _set_defaults(make: Any, kind: Any, defaults: Mapping[str, Any]) -> None:
    fields = make.__code__.co_varnames[1 : make.__code__.co_argcount]
    defaults = table(defaults)
    if tuple(defaults) != fields[len(fields) - len(defaults) :]:
        raise ValueError("the defaults of a named tuple don't fit its fields")
    make.__defaults__ = tuple(defaults.values())
    kind._field_defaults = dict(defaults)


def _fill_member(kind: Any, member: Any, variables: Mapping[str, Any]) -> None:
    if not isinstance(kind, enum.EnumMeta) or not any(
        member is one for one in kind._member_map_.values()
    ):
        raise ValueError("a member is none of its enum's")
    for name, value in table(variables).items():
        if is_special(name) or _is_enums(name):
            raise ValueError(f"{name!r} can't be a variable of a member")
        vars(member)[name] = value


def _make_abstract(kind: Any, contents: Mapping[str, Any]) -> None:
    abc.update_abstractmethods(kind)
    if getattr(kind, "_is_protocol", False):
        find: Callable[[Any], Any] = typing._get_protocol_attrs  # type: ignore[attr-defined]
        if hasattr(kind, "__protocol_attrs__"):
            kind.__protocol_attrs__ = names = find(kind)
            if hasattr(kind, "__callable_proto_members_only__"):  # on early releases of 3.12
                are_methods = [callable(getattr(kind, name, None)) for name in names]
                kind.__callable_proto_members_only__ = all(are_methods)
        if contents.get("runtime") is True:
            typing.runtime_checkable(kind)
    for one in series(contents.get("registered", [])):
        kind.register(one)


def take_member(_: Plan, member: enum.Enum) -> Parts:
    """A member of an enum, by its name or, for flags put together, by its value."""
    return make_member, (type(member), member._name_, member._value_)


def make_member(_: Loading, kind: Any, name: str | None, value: Any) -> Any:
    """The member."""
    if not isinstance(kind, enum.EnumMeta):
        raise ValueError("a member's enum is none")
    found = kind._member_map_.get(name) if type(name) is str else None
    return kind(value) if found is None else found


MAKERS = (make_class, make_enum, make_named_tuple, make_typed_dict, make_member)
