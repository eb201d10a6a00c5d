"""Simple namespaces: objects of plain attributes, none of them by a special name."""

from __future__ import annotations

import pprint
import types
from reprlib import recursive_repr
from typing import Any

from .. import classes, guards


def mend() -> dict[str, Any]:
    """The library's own takes any name, and what asks an object for special ones believes it.

    It is replaced in place, for ``pprint`` knows it too.
    """
    classes.share(SimpleNamespace)  # all that there is to it is what the program puts in
    types.SimpleNamespace = SimpleNamespace  # type: ignore[misc,assignment]
    printer: Any = pprint.PrettyPrinter
    printer._dispatch[SimpleNamespace.__repr__] = printer._pprint_simplenamespace
    return {}


class SimpleNamespace:
    """An object with the attributes that it is given by keyword.

    Args:
        mapping: Attributes by name, or pairs of both, as ``dict`` takes them.
        attributes: Attributes by name.

    Raises:
        AttributeError: A name is special.
    """

    def __init__(self, mapping: Any = (), /, **attributes: Any) -> None:
        _check(self)
        for name, value in {**dict(mapping), **attributes}.items():
            guards.set_attribute(self, name, value)

    @recursive_repr("namespace(...)")
    def __repr__(self) -> str:
        _check(self)
        name = "namespace" if type(self) is SimpleNamespace else type(self).__name__
        return f"{name}({', '.join(f'{key}={value!r}' for key, value in vars(self).items())})"

    def __eq__(self, other: object) -> bool:
        _check(self)
        if SimpleNamespace not in type(other).__mro__:
            return NotImplemented
        return vars(self) == vars(other)

    __hash__ = None  # type: ignore[assignment]


SimpleNamespace.__module__ = "types"


def _check(obj: object) -> None:
    """A method can be called with any object: no other's variables are for it to read or set."""
    if SimpleNamespace not in type(obj).__mro__:
        raise TypeError(f"expected a SimpleNamespace, not {type(obj).__name__!r}")
