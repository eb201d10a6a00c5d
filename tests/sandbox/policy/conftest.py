"""Programs run in a sandbox and by bare CPython, and refusals looked at."""

from __future__ import annotations

import ast
import io
import sys
import types
import warnings
from collections.abc import Callable
from contextlib import redirect_stdout
from typing import Any

import pytest
from circlet.sandbox import ErrorInfo, Sandbox

Outcome = tuple[Any, str, str | None]
"""A program's last value, what it printed, and its error as ``type: message``."""


@pytest.fixture(scope="module")
def backend() -> str:
    """The best there is: what is accepted is the same in each."""
    return "auto"


def _by_cpython(turns: tuple[str, ...]) -> Outcome:
    """What bare CPython makes of the turns, one after the other in one module."""
    module = types.ModuleType("__main__")
    output = io.StringIO()
    error = None
    real = sys.modules["__main__"]
    sys.modules["__main__"] = module  # dataclass and Enum look for a class's own module
    try:
        with redirect_stdout(output), warnings.catch_warnings():
            for advice in (SyntaxWarning, DeprecationWarning):  # of a bad escape, by version
                warnings.simplefilter("ignore", advice)
            for source in turns:
                vars(module)["<value>"] = None
                try:
                    exec(_with_value_kept(source), vars(module))
                except Exception as raised:
                    message = raised.msg if isinstance(raised, SyntaxError) else str(raised)
                    error = f"{type(raised).__name__}: {message}"
    finally:
        sys.modules["__main__"] = real
    return vars(module)["<value>"], output.getvalue(), error


def _with_value_kept(source: str) -> Any:
    tree = ast.parse(source)
    last = tree.body[-1] if tree.body else None
    if isinstance(last, ast.Expr):
        kept = ast.Assign([ast.Name("<value>", ast.Store())], last.value)
        tree.body[-1] = ast.fix_missing_locations(ast.copy_location(kept, last))
    return compile(tree, "<cpython>", "exec", dont_inherit=True)


@pytest.fixture
def same(box: Sandbox) -> Callable[..., Any]:
    """Run turns in the sandbox and by bare CPython: value, output and error must be the same."""

    def check(*turns: str) -> Any:
        value, printed, error = None, "", None
        for source in turns:
            run = box.run(source)
            value, printed = run.value, printed + run.stdout
            error = run.error and f"{run.error.type}: {run.error.message}"
        assert (value, printed, error) == _by_cpython(turns)
        return value

    return check


@pytest.fixture
def refusal(box: Sandbox) -> Callable[[str], ErrorInfo]:
    """Run a source that is refused, so that nothing of it runs; gives the refusal."""

    def check(source: str) -> ErrorInfo:
        run = box.run(f"ran_on = True\n{source}")
        assert run.error is not None, source
        assert run.error.type == "Refused", run.error.traceback
        assert box.run("globals().pop('ran_on', None)").value is None
        return run.error

    return check
