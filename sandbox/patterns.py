"""Class patterns by position: what they read is the class's to say, so it is checked in time.

A case that never holds goes before each case with such patterns. Its guard keeps the classes,
under names that are no identifiers, and checks what their ``__match_args__`` name.
"""

from __future__ import annotations

import ast
from collections.abc import Iterable
from typing import Any

from .symbols import GUARD_PATTERNS


def add_checks(node: ast.Match, count: int) -> int:
    """Put the checks into a statement.

    Args:
        node: The statement.
        count: Patterns of this kind that the source had before.

    Returns:
        How many there are with this statement's.
    """
    cases = []
    for case in node.cases:
        patterns = [each for each in ast.walk(case.pattern) if _is_by_place(each)]
        if patterns:
            checks = [_check(each, count + place) for place, each in enumerate(patterns, 1)]
            count += len(patterns)
            guard = ast.BoolOp(ast.Or(), checks) if len(checks) > 1 else checks[0]
            never = ast.match_case(ast.MatchAs(None, None), guard, [ast.Pass()])
            for part in ast.walk(never):
                ast.copy_location(part, case.pattern)
            cases.append(never)
        cases.append(case)
    node.cases = cases
    return count


def without_trace(node: ast.Match, numbers: Iterable[int]) -> ast.stmt:
    """The statement as one that leaves a class body without the names that keep classes."""
    names = [_name(number) for number in numbers]
    bind = ast.Assign([ast.Name(name, ast.Store()) for name in names], ast.Constant(None))
    delete = ast.Delete([ast.Name(name, ast.Del()) for name in names])
    inner = ast.Try([node], [], [], [delete])
    whole = ast.If(ast.Constant(True), [bind, inner], [])
    for part in (whole, whole.test, inner, *ast.walk(bind), *ast.walk(delete)):
        ast.copy_location(part, node)
    return whole


def _check(pattern: Any, number: int) -> ast.expr:
    """What is never true: that the guard gives itself, and not the class that it was given."""
    arguments = [pattern.cls, ast.Constant(len(pattern.patterns))]
    checked = ast.Call(ast.Name(GUARD_PATTERNS, ast.Load()), arguments, [])
    kept = ast.NamedExpr(ast.Name(_name(number), ast.Store()), checked)
    pattern.cls = ast.copy_location(ast.Name(_name(number), ast.Load()), pattern.cls)
    return ast.Compare(kept, [ast.Is()], [ast.Name(GUARD_PATTERNS, ast.Load())])


def _name(number: int) -> str:
    return f"<class {number}>"


def _is_by_place(node: ast.AST) -> bool:
    return isinstance(node, ast.MatchClass) and bool(node.patterns)
