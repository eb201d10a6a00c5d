"""Type hints: texts among them are read as names of the program, and never evaluated."""

from __future__ import annotations

import ast
import functools
import operator
import sys
import types
import typing
from collections.abc import Mapping
from typing import Any

from .. import classes, guards
from ..names import is_special


def mend() -> dict[str, Any]:
    """Hints read texts themselves, ``Type`` holds no metaclass, and ``TypedDict`` checks keys.

    Aliases compare what they hold, so ``type`` itself would be shown to a program's ``__eq__``.
    They answer with the attributes of what they hold, too: a class that inherits from theirs
    would be the program's own, whose private attributes are read freely.
    """
    typing.get_type_hints = _get_type_hints  # singledispatch takes it from there
    vars(typing)["Type"].__origin__ = classes.Type
    for forget in typing._cleanups:  # type: ignore[attr-defined]
        forget()  # the aliases of Type that there are
    classes.close(typing._BaseGenericAlias)  # type: ignore[attr-defined]
    meta: Any = typing._TypedDictMeta  # type: ignore[attr-defined]
    meta.__new__ = _new_with_checked_keys(meta.__new__)
    return {}


def _new_with_checked_keys(new: Any) -> Any:
    @functools.wraps(new)
    def checked(meta: Any, name: str, bases: Any, ns: Any, *args: Any, **kwargs: Any) -> Any:
        for key in ns.get("__annotations__", ()):
            if type(key) is not str or is_special(key):
                raise TypeError(f"{key!r} can't be the key of a TypedDict")
        return new(meta, name, bases, ns, *args, **kwargs)

    return staticmethod(checked)


def _get_type_hints(
    obj: Any,
    globalns: Mapping[str, Any] | None = None,
    localns: Mapping[str, Any] | None = None,
    include_extras: bool = False,
) -> dict[str, Any]:
    """``typing.get_type_hints``. A text is resolved by the program's own names alone.

    Raises:
        NameError: A text names what isn't there.
        TypeError: The object can't have annotations, or a text is more than a type.
    """
    if getattr(obj, "__no_type_check__", None):
        return {}
    if isinstance(obj, type):
        hints = {
            name: _resolved(_as_hint(value), _Names(globalns, localns, base))
            for base in reversed(type.mro(obj))
            for name, value in dict(vars(base).get("__annotations__", {})).items()
        }
    else:
        names = _Names(globalns, localns, obj)
        annotations = _annotations_of(obj)
        hints = {name: _resolved(_as_hint(value), names) for name, value in annotations.items()}
    if include_extras:
        return hints
    strip = typing._strip_annotations  # type: ignore[attr-defined]
    return {name: strip(hint) for name, hint in hints.items()}


def _annotations_of(obj: Any) -> dict[str, Any]:
    found = getattr(obj, "__annotations__", None)
    if found is None and not callable(obj):
        raise TypeError(f"{obj!r} is not a module, class, method, or function.")
    return dict(found or {})


def _as_hint(value: Any) -> Any:
    if isinstance(value, str):
        return typing.ForwardRef(str.__str__(value), is_argument=False, is_class=True)
    return value


def _resolved(hint: Any, names: _Names) -> Any:
    """A hint with the texts in it resolved, at any depth."""
    if hint is None:
        return type(None)
    if isinstance(hint, typing.ForwardRef):
        return _resolved(_as_hint(names.read(hint.__forward_arg__)), names)
    if not isinstance(hint, typing._GenericAlias | types.GenericAlias | types.UnionType):  # type: ignore[attr-defined]
        return hint
    builtin = isinstance(hint, types.GenericAlias)
    args: tuple[Any, ...] = tuple(hint.__args__)
    found = tuple(
        one if one is None else _resolved(_as_hint(one) if builtin else one, names) for one in args
    )
    if all(new is old for new, old in zip(found, args, strict=True)):
        return hint
    if isinstance(hint, types.UnionType):
        return functools.reduce(operator.or_, found)
    origin: Any = hint.__origin__
    return types.GenericAlias(origin, found) if builtin else hint.copy_with(found)


class _Names:
    """What the names in a text stand for, and how a text is read: a small part of Python.

    Args:
        globalns: Looked up last but for the builtins; the program's own variables by default.
        localns: Looked up first.
        owner: The class or function whose hints they are.
    """

    def __init__(self, globalns: Any, localns: Any, owner: Any) -> None:
        program = vars(sys.modules["__main__"])
        parameters = {one.__name__: one for one in getattr(owner, "__type_params__", ())}
        body = vars(owner) if isinstance(owner, type) and globalns is None else {}
        self._scopes = [
            localns or {},
            parameters,
            program if globalns is None else globalns,
            body,
            program["__builtins__"],
        ]

    def read(self, text: str) -> Any:
        """The type that a text writes down."""
        return self._value(ast.parse(text.strip(), "<hint>", mode="eval").body)

    def _value(self, node: ast.AST) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.Name(id=name):
                return self._named(name)
            case ast.Attribute(value=inner, attr=name):
                return guards.get_attribute(self._value(inner), name)
            case ast.Subscript(value=inner, slice=index):
                return self._value(inner)[self._value(index)]
            case ast.BinOp(left=left, op=ast.BitOr(), right=right):
                return self._value(left) | self._value(right)
            case ast.UnaryOp(op=ast.USub(), operand=ast.Constant(value=int(number))):
                return -number
            case ast.Tuple(elts=parts):
                return tuple([self._value(part) for part in parts])
            case ast.List(elts=parts):
                return [self._value(part) for part in parts]
        raise TypeError(f"a type hint can't be written as {ast.unparse(node)!r}")

    def _named(self, name: str) -> Any:
        if not is_special(name):
            for scope in self._scopes:
                if name in scope:
                    return scope[name]
        raise NameError(f"name {name!r} is not defined", name=name)
