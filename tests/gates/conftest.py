"""What the tests of the gates share."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import anyio
import pytest
from circlet.gates import Gate


@pytest.fixture
def call() -> Callable[..., Any]:
    """Calls a gate as a circle does: check the arguments, then run it."""

    def call(gate: Gate, *args: Any, **kwargs: Any) -> Any:
        return anyio.run(functools.partial(gate.call, gate.check(args, kwargs)))

    return call
