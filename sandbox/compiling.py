"""From source to code: parsed, checked by the policy, compiled."""

from __future__ import annotations

import ast
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import CodeType
from typing import Any, TypeVar

from .policy import Policy, Refused
from .symbols import VALUE
from .tracebacks import source_lines

_T = TypeVar("_T")
_WALK_DEPTH = 60_000
"""Calls deep that a tree is walked. They are calls of Python, which take none of the C stack."""
_COMPILE_DEPTH = 3_000
"""Levels of a tree that are compiled: as many as when Python compiles a text."""


def check(tree: ast.AST, source: str, filename: str, reserved: frozenset[str]) -> None:
    """Check a tree and put its guards in.

    Raises:
        Refused: The first construct that is not allowed, with line and column.
    """
    policy = Policy(reserved)
    with calls_deep(_WALK_DEPTH):
        policy.visit(tree)
    if not policy.refusals:
        return
    node, message = min(policy.refusals, key=lambda refusal: _place(refusal[0]))
    line, column = _place(node)
    lines = source_lines(source)
    text = lines[line - 1].rstrip("\n") if line <= len(lines) else ""
    end = getattr(node, "end_col_offset", None) if getattr(node, "end_lineno", 0) == line else None
    # SyntaxError counts columns in characters from 1, the tree in UTF-8 bytes from 0.
    encoded = text.encode("utf-8", "surrogatepass")
    start = len(encoded[:column].decode("utf-8", "replace")) + 1
    stop = len(encoded[:end].decode("utf-8", "replace")) + 1 if end else start + 1
    raise Refused(message, (filename, line, start, text, line, stop))


@contextmanager
def calls_deep(limit: int) -> Iterator[None]:
    """Let calls nest at least so deep meanwhile."""
    before = sys.getrecursionlimit()
    try:
        sys.setrecursionlimit(max(limit, before))  # the turn's time may be up just after it
        yield
    finally:
        sys.setrecursionlimit(before)


def _compile(tree: Any, filename: str, mode: str) -> CodeType:
    with calls_deep(_COMPILE_DEPTH):
        code: CodeType = compile(tree, filename, mode, dont_inherit=True)
    return code


def _place(node: ast.AST) -> tuple[int, int]:
    return getattr(node, "lineno", 1), getattr(node, "col_offset", 0)


def compile_turn(
    source: str, filename: str, reserved: frozenset[str] = frozenset(), checked: bool = True
) -> CodeType:
    """Compile one turn's source.

    A turn that ends with an expression leaves the expression's value under ``VALUE``.

    Args:
        source: What the program wrote.
        filename: Its name in tracebacks.
        reserved: Names that the turn may not rebind at its top level.
        checked: Whether the policy is applied; for tests of the other wall alone.

    Returns:
        A code object for ``exec``.

    Raises:
        SyntaxError: The source is no Python; ``Refused`` where it is, but not allowed.
    """

    def compiled() -> CodeType:
        tree = ast.parse(source, filename)
        last = tree.body[-1] if tree.body else None
        if checked:
            check(tree, source, filename, reserved)
        if isinstance(last, ast.Expr):
            target = ast.copy_location(ast.Name(VALUE, ast.Store()), last)
            tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
        return _compile(tree, filename, "exec")

    return _within_bounds(compiled)


def compile_text(source: str, filename: str, mode: str, reserved: frozenset[str]) -> CodeType:
    """Compile a text that a program wants to ``exec`` or ``eval``: ``mode`` says which.

    Raises:
        SyntaxError: As for a turn.
    """

    def compiled() -> CodeType:
        tree = ast.parse(source, filename, mode)
        check(tree, source, filename, reserved)
        return _compile(tree, filename, mode)

    return _within_bounds(compiled)


def _within_bounds(compiled: Callable[[], _T]) -> _T:
    try:
        return compiled()
    except (RecursionError, MemoryError):
        raise Refused(
            "the source is too long or nests too deep to be compiled; split it up"
        ) from None
    except ValueError as error:
        raise Refused(f"the source is no text that Python can read: {error}") from None
