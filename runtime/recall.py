"""What a program reads of its entity's past: the object ``loom`` in a code circle (``LOOM-11``).

A read is answered by the host out of the loom, so nothing is sent before it is asked for. It is
no gate call: it reaches nothing outside, and is not recorded. A program sees the turns of its own
entity and of the entities below it, never those of its parent or its kin (``COMP-4``), and only
turns that are over: so a turn that is run again reads the same.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import anyio.to_thread

from .loom import EntityView, History, Loom, Turn, Uttered
from .media.code import program_of

MAX_HITS = 20
"""Places that one search tells of."""
MAX_SEARCHED = 32 << 20
"""Characters that one search looks through; then it says how far it came."""
AROUND_CHARS = 100
"""What is shown on each side of a place."""
MAX_TEXT = 1_000
"""Length of a text that can be searched for, in characters."""


class Recall:
    """Answers what one entity's programs read.

    Args:
        loom: The loom.
        entity_id: The entity; it need not be on record yet.
        origin: Id of the node that it is forked from, or None.

    Attributes:
        own: The entity's own turns.
    """

    def __init__(self, loom: Loom, entity_id: str, origin: str | None = None) -> None:
        self._loom = loom
        self.own = loom.history(entity_id, origin)
        self._reads: dict[str, Callable[..., Any]] = {
            "count": self._count,
            "turn": self._turn,
            "printed": self._printed,
            "search": self._search,
            "children": self._children,
        }

    async def read(self, before: int, what: str, *args: Any) -> Any:
        """Read something, as plain values; see ``media.base.Readable``.

        Raises:
            LookupError: There is no such turn or child.
            TypeError, ValueError: The arguments won't do.
        """
        if type(what) is not str or what not in self._reads:
            told = ", ".join(self._reads)
            raise ValueError(f"loom: it can't tell {_shown(what)}; what it tells is {told}")
        # The store may be a disk's, and a search is long: in a thread, for others to go on.
        return await anyio.to_thread.run_sync(self._reads[what], before, *args)

    def _history(self, before: int, of: Any) -> tuple[History, int]:
        """The turns that are meant, and how many of them are over."""
        if of is None:
            return self.own, before - 1
        if type(of) is not str or not self.own.is_ancestor_of(of, before):
            raise LookupError(
                f"loom: none of your children is {_shown(of)}; their ids are in loom.children"
            )
        return self._loom.history(of), self._loom.entities[of].last_turn

    def _count(self, before: int, of: Any) -> int:
        return self._history(before, of)[1]

    def _one(self, before: int, of: Any, number: Any) -> Uttered:
        history, count = self._history(before, of)
        if type(number) is not int:
            raise TypeError(f"loom: a turn's number is an int, not {_shown(number)}")
        if not 1 <= number <= count:
            there = f"there are turns 1 to {count}" if count else "no turn is over yet"
            raise IndexError(f"loom: there is no turn {number}: {there}")
        return history.turn(number)

    def _turn(self, before: int, of: Any, number: Any) -> dict[str, Any]:
        turn = self._one(before, of, number)
        last = turn.parts[-1].observation if turn.parts else None
        return {
            "turn": turn.turn,
            "text": turn.reply.content,
            "code": program_of(turn.reply),
            "observation": last.text if last else "",
            "is_error": last.is_error if last else False,
            "value": last.value if last else None,
            "error": last.error if last else None,
            "calls": [
                {
                    "gate": call.gate,
                    "arguments": call.arguments,
                    "result": call.result,
                    "is_error": call.is_error,
                }
                for part in turn.parts
                for call in part.observation.records
            ],
            "children": [child for part in turn.parts for child in part.delegated],
        }

    def _printed(self, before: int, of: Any, number: Any) -> str:
        return _printed(self._one(before, of, number).parts)

    def _children(self, before: int, of: Any) -> list[dict[str, Any]]:
        history, _ = self._history(before, of)
        entities = self._loom.entities
        ids = history.children(before if of is None else None)
        return [_described(entities[child]) for child in ids]

    def _search(self, before: int, of: Any, text: Any, until: Any = None) -> list[dict[str, Any]]:
        if type(text) is not str or not 0 < len(text) <= MAX_TEXT:
            raise ValueError(
                f"loom: search for a text of 1 to {MAX_TEXT:,} characters, not {_shown(text)}"
            )
        history, count = self._history(before, of)
        if until is not None and type(until) is not int:
            raise TypeError(f"loom: before= is a turn's number, not {_shown(until)}")
        newest = count if until is None else min(count, until - 1)
        hits: list[dict[str, Any]] = []
        searched = 0
        for number in range(newest, 0, -1):
            if len(hits) >= MAX_HITS or searched >= MAX_SEARCHED:
                go_on = f"searched back to turn {number + 1}; go on with before={number + 1}"
                return [*hits, {"turn": number + 1, "where": "stopped", "excerpt": go_on}]
            for where, whole in _texts(history.turn(number)):
                searched += len(whole)
                place = whole.find(text)
                if place >= 0:
                    excerpt = _around(whole, place, len(text))
                    hits.append({"turn": number, "where": where, "excerpt": excerpt})
        return hits


def _texts(turn: Uttered) -> Iterator[tuple[str, str]]:
    """The texts of a turn that are searched, and what each is."""
    yield "text", turn.reply.content or ""
    yield "code", program_of(turn.reply) or ""
    if turn.parts:
        yield "observation", turn.parts[-1].observation.text
    yield "printed", _printed(turn.parts)
    calls = [call for part in turn.parts for call in part.observation.records]
    yield "calls", "\n".join(f"{call.gate} {call.arguments} {call.result}" for call in calls)


def _printed(parts: tuple[Turn, ...]) -> str:
    return "".join(part.observation.printed for part in parts)


def _around(text: str, place: int, length: int) -> str:
    return text[max(place - AROUND_CHARS, 0) : place + length + AROUND_CHARS]


def _described(child: EntityView) -> dict[str, Any]:
    end = child.end
    return {
        "id": child.id,
        "intent": child.intent,
        "outcome": child.outcome,
        "reason": child.reason,
        "result": end.result_text if end else "",
        "turns": child.last_turn,
    }


def _shown(value: Any) -> str:
    """What a program asked with, shortly."""
    return repr(value[:60]) if type(value) is str else f"a {type(value).__name__}"
