"""From all that a program can name, through all that the policy admits, nothing leads out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("reach.py")


def walk(*loosened: str) -> Any:
    """What the walk finds, with names added to facades (``module.name``)."""
    done = subprocess.run(
        [sys.executable, SCRIPT, *loosened], capture_output=True, text=True, timeout=600
    )
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_that_leads_out_is_reached() -> None:
    """No module, frame, code, metaclass, system function or shared container, by any path."""
    found = walk()
    assert found["bad"] == {}
    assert found["seen"] > 5_000
    assert found["calls"] > 30_000


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("typing._ProtocolMeta", "the metaclass _ProtocolMeta"),
        ("io.open", "open"),
        ("os.listdir", "posix.listdir"),
        ("types.new_class", "a new class a"),
    ],
)
def test_a_loosened_facade_is_noticed(name: str, why: str) -> None:
    """One name too many in a facade, and the walk says where it leads."""
    bad = walk(name)["bad"]
    assert why in bad.values()
    assert all(path.startswith(name) for path in bad)
