"""Sessions for the tests of the sandbox, on each back end."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox import Limits, Sandbox
from hypothesis import settings

settings.register_profile("circlet", deadline=None)
settings.load_profile("circlet")

ERRORS = (KeyError, ValueError, FileNotFoundError, ZeroDivisionError)


def fail(name: str, text: str) -> None:
    """Raise the error of that name, or one that no program knows."""
    kinds = {kind.__name__: kind for kind in ERRORS}
    raise kinds.get(name, type("Unheard", (ValueError if name == "Sub" else Exception,), {}))(text)


GATES: dict[str, Callable[..., Any]] = {
    "echo": lambda value=None: value,
    "fail": fail,
}


@pytest.fixture(
    scope="module", params=[pytest.param("kernel", marks=pytest.mark.kernel), "portable"]
)
def backend(request: pytest.FixtureRequest) -> str:
    """Each back end in turn."""
    return str(request.param)


@pytest.fixture(scope="module")
def box(backend: Any) -> Iterator[Sandbox]:
    """A session that the tests of a module share: none may break it."""
    with Sandbox(gates=GATES, limits=Limits(eval_ms=10_000), backend=backend) as session:
        yield session


@pytest.fixture
def new_box(backend: Any) -> Iterator[Callable[..., Sandbox]]:
    """Makes sessions that are closed with the test."""
    with ExitStack() as stack:

        def make(**limits: Any) -> Sandbox:
            return stack.enter_context(
                Sandbox(gates=GATES, limits=Limits(**limits), backend=backend)
            )

        yield make


@pytest.fixture(scope="session")
def hosts() -> Any:
    """``hosts.py``: hosts of their own, on machines that lack something."""
    spec = spec_from_file_location("hosts", Path(__file__).with_name("hosts.py"))
    assert spec is not None
    assert spec.loader is not None
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
