"""The gates that come with circlet, by name."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from .delegation import call_entity, call_entity_batch
from .done import done
from .echo import echo
from .errors import UnknownGate
from .fetch import fetch
from .files import list_dir, read, write
from .gate import Gate
from .hints import nearest
from .search import search

STANDARD: Mapping[str, Gate] = MappingProxyType(
    {
        gate.name: gate
        for gate in (
            done,
            call_entity,
            call_entity_batch,
            read,
            write,
            list_dir,
            search,
            fetch,
            echo,
        )
    }
)
"""Every gate that comes with circlet, by name, nothing bound yet."""


def find(name: str) -> Gate:
    """The standard gate of that name.

    Raises:
        UnknownGate: There is none; the text lists those that there are.
    """
    if name in STANDARD:
        return STANDARD[name]
    near = nearest(name, STANDARD)
    hint = f"did you mean {near}? " if near else ""
    raise UnknownGate(f"unknown gate {name!r}; {hint}The gates are {', '.join(STANDARD)}")
