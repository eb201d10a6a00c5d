"""Compiled structs: made once, for the library's can be made anew while it is packing."""

from __future__ import annotations

import struct
from collections.abc import Iterator
from typing import Any, Self


def mend() -> dict[str, Any]:
    """A class of ours, which keeps one of the library's out of reach.

    A value's ``__index__`` could call the struct's own ``__init__``, which frees what C code is
    reading at that moment.
    """
    Struct.__module__ = "struct"
    return {"struct.Struct": Struct}


class Struct:
    """A compiled format: packs values into bytes and unpacks them.

    Args:
        format: The format, a text or bytes.

    Raises:
        struct.error: It is no format, or values don't fit it.
    """

    __slots__ = ("_struct",)
    _struct: struct.Struct

    def __new__(cls, format: str | bytes) -> Self:  # noqa: A002, D102 - the name it has in Python
        made = super().__new__(cls)
        made._struct = struct.Struct(format)
        return made

    @property
    def format(self) -> str:
        """The format."""
        return self._struct.format

    @property
    def size(self) -> int:
        """How many bytes it takes."""
        return self._struct.size

    def pack(self, *values: Any) -> bytes:
        """The values as bytes."""
        return self._struct.pack(*values)

    def pack_into(self, buffer: Any, offset: int, *values: Any) -> None:
        """Write the values into a buffer."""
        self._struct.pack_into(buffer, offset, *values)

    def unpack(self, buffer: Any, /) -> tuple[Any, ...]:
        """The values in a buffer of just that size."""
        return self._struct.unpack(buffer)

    def unpack_from(self, buffer: Any, offset: int = 0) -> tuple[Any, ...]:
        """The values at some place of a buffer."""
        return self._struct.unpack_from(buffer, offset)

    def iter_unpack(self, buffer: Any, /) -> Iterator[tuple[Any, ...]]:
        """The values of each stretch of a buffer."""
        return self._struct.iter_unpack(buffer)

    def __repr__(self) -> str:
        return f"Struct({self.format!r})"
