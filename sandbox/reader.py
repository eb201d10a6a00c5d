"""A record that the host keeps, as a program reads it: fetched piece by piece, when asked for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from .facades.namespaces import SimpleNamespace
from .stub import GateStub, signature_of


class Reader(GateStub):
    """Reads the turns of a record. Like every stub it has no variables of its own.

    Each read is one call that the host answers with plain values; nothing is fetched before.
    ``of`` names whose turns are meant; by default the program's own.
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"<{signature_of(self)}>"

    def __len__(self) -> int:
        """How many turns there are."""
        return int(self("count", None))

    def turn(self, number: int, of: str | None = None) -> SimpleNamespace:
        """One turn, counted from 1."""
        return _page(self("turn", of, number))

    @property
    def turns(self) -> list[SimpleNamespace]:
        """All turns, the oldest first."""
        return [self.turn(place + 1) for place in range(len(self))]

    def printed(self, number: int, of: str | None = None) -> str:
        """All that a turn printed."""
        return str(self("printed", of, number))

    def search(
        self, text: str, of: str | None = None, before: int | None = None
    ) -> list[SimpleNamespace]:
        """Where a text stands, the newest turn first."""
        return _pages(self("search", of, text, before))

    @property
    def children(self) -> list[SimpleNamespace]:
        """Those whom the program has handed work to."""
        return self.children_of(None)

    def children_of(self, of: str | None) -> list[SimpleNamespace]:
        """Those whom one of them has handed work to."""
        return _pages(self("children", of))


Reader.__name__ = Reader.__qualname__ = "record"


def _page(fields: Mapping[str, Any]) -> SimpleNamespace:
    """Plain values as an object; lists of mappings in it too."""
    return SimpleNamespace(
        {name: _pages(value) if name == "calls" else value for name, value in fields.items()}
    )


def _pages(all_fields: Iterable[Mapping[str, Any]]) -> list[SimpleNamespace]:
    return [_page(fields) for fields in all_fields]
