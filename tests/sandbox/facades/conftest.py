"""A program's value in a sandbox and on bare CPython, side by side."""

import ast
import locale
import sys
import types
from collections.abc import Callable
from typing import Any

import pytest
from circlet.sandbox import Sandbox

ON_EACH_BACK_END = (
    *("test_alerts", "test_identifiers", "test_library_programs", "test_plain_modules"),
    *("test_streams", "test_tasks"),
)
"""Tests of what depends on the process: its streams, its clock, what it can load."""


@pytest.fixture(scope="module")
def backend() -> str:
    """The best there is: most facades are the same in each."""
    return "auto"


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    """Run some modules on each back end."""
    name = metafunc.module.__name__.rpartition(".")[2]
    if "backend" in metafunc.fixturenames and name in ON_EACH_BACK_END:
        kernel = pytest.param("kernel", marks=pytest.mark.kernel)
        metafunc.parametrize("backend", [kernel, "portable"], scope="module")


def on_cpython(source: str) -> Any:
    """The value of a program's last expression, as bare CPython has it."""
    tree = ast.parse(source)
    last = tree.body[-1]
    assert isinstance(last, ast.Expr)
    target = ast.Name("value_of_the_last", ast.Store())
    tree.body[-1] = ast.copy_location(ast.Assign([target], last.value), last)
    module = types.ModuleType("__main__")
    real, place = sys.modules["__main__"], locale.setlocale(locale.LC_ALL)
    sys.modules["__main__"] = module
    try:
        exec(compile(ast.fix_missing_locations(tree), "<cpython>", "exec"), vars(module))
    finally:
        sys.modules["__main__"] = real
        locale.setlocale(locale.LC_ALL, place)  # in "C", Python reads files as ASCII
    return vars(module)["value_of_the_last"]


@pytest.fixture
def same_as_cpython(box: Sandbox) -> Callable[[str], None]:
    """Checks that a program gives what bare CPython gives."""

    def check(source: str) -> None:
        run = box.run(source)
        assert run.status == "ok", str(run)
        assert run.value == on_cpython(source), str(run)

    return check
