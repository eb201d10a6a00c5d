"""The source behind a function, and its place there: what stands for code in an image.

A function is written down as the text of the turn that defined it and the way to its code among
all that the text compiles to. So on loading each text goes through the policy whole, and scopes,
closures and line numbers come out as they were.
"""

from __future__ import annotations

import linecache
import operator
import re
from collections.abc import Iterator, Sequence
from inspect import CO_NEWLOCALS, CO_OPTIMIZED
from types import CodeType
from typing import Any

from ..compiling import compile_text, compile_turn
from ..symbols import TURN
from ..tracebacks import remember_source

_A_TURN = re.compile(re.escape(TURN) + r"\d{1,9}>")
_FUNCTION = CO_OPTIMIZED | CO_NEWLOCALS
_MODES = ("turn", "exec", "eval")

Source = tuple[str, str, str]
"""A source: what it is called, its text, and what it was: a turn, or a text for exec or eval."""
Place = tuple[int, tuple[int, ...]]
"""Which source, and the way to a code object in it: the how-manieth at each level."""


class SourceLost(Exception):
    """The text that a function comes from is no longer there."""


class Sources:
    """The sources of the functions that an image holds.

    Args:
        checked: Whether turns are compiled by the policy's rules.

    Attributes:
        texts: Those that were needed so far.
    """

    def __init__(self, checked: bool) -> None:
        self.texts: list[Source] = []
        self._checked = checked
        self._places: dict[str, dict[Any, Place]] = {}

    def place_of(self, code: CodeType) -> Place:
        """Where the code of a function stands.

        Raises:
            SourceLost: Its source is gone, or does not hold it.
        """
        name = code.co_filename
        if name not in self._places:
            self._places[name] = self._read(name)
        place = self._places[name].get(_key(code))
        if place is None:
            raise SourceLost
        return place

    def _read(self, name: str) -> dict[Any, Place]:
        entry: Any = linecache.cache.get(name)
        if entry is None:
            return {}
        text = "".join(entry[2])
        for mode in _MODES[:1] if _A_TURN.fullmatch(name) else _MODES[1:]:
            source = (name, text, mode)
            try:
                code = compile_source(source, frozenset(), self._checked)
            except SyntaxError:
                continue
            self.texts.append(source)
            number = len(self.texts) - 1
            return {_key(inner): (number, path) for path, inner in _walk(code, ())}
        return {}


def compile_source(source: Source, reserved: frozenset[str], checked: bool = True) -> CodeType:
    """Compile a source as it was when it first ran, by the policy's rules.

    Raises:
        SyntaxError: It is no Python, or not allowed.
    """
    name, text, mode = source
    if mode == "turn":
        return compile_turn(text, name, reserved, checked)
    return compile_text(text, name, mode, reserved)


class Compiled:
    """The sources of an image that is being loaded. Nothing in them is trusted.

    Args:
        reserved: Names that they may not rebind.
        checked: Whether turns are compiled by the policy's rules.
    """

    def __init__(self, reserved: frozenset[str], checked: bool) -> None:
        self._codes: list[CodeType] = []
        self._reserved, self._checked = reserved, checked

    def read(self, texts: Sequence[Any]) -> None:
        """Compile the sources.

        Raises:
            ValueError: They are no sources.
            SyntaxError: One is refused.
        """
        for number, each in enumerate(texts):
            name, text, mode = each
            if type(name) is not str or type(text) is not str or mode not in _MODES:
                raise ValueError("a source is no text")
            if mode != "turn" or not _A_TURN.fullmatch(name):
                name = f"{TURN}image {number}>"  # the names of texts are given out anew
            remember_source(name, text)
            source = name, text, mode
            self._codes.append(compile_source(source, self._reserved, self._checked))

    def code(self, number: int, path: Sequence[int]) -> CodeType:
        """The code of the function at a place.

        Raises:
            ValueError: There is none, or it is that of something else.
        """
        try:
            code = self._codes[number]
            for step in path:
                code = _inner(code)[operator.index(step)]
        except (IndexError, TypeError):
            raise ValueError("a function's code is not in its source") from None
        # What a class body or a comprehension compiles to relies on who calls it.
        is_named = code.co_name.isidentifier() or code.co_name == "<lambda>"
        if not path or not is_named or code.co_flags & _FUNCTION != _FUNCTION:
            raise ValueError("a function's code is that of something else")
        return code


def _inner(code: CodeType) -> list[CodeType]:
    return [constant for constant in code.co_consts if isinstance(constant, CodeType)]


def _walk(code: CodeType, path: tuple[int, ...]) -> Iterator[tuple[tuple[int, ...], CodeType]]:
    for step, inner in enumerate(_inner(code)):
        yield (*path, step), inner
        yield from _walk(inner, (*path, step))


def _key(code: CodeType) -> Any:
    """What tells a code object from all others of its source: its name and where it stands."""
    return code.co_qualname, code.co_firstlineno, code.co_linetable
