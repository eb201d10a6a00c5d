"""From all that a program can name, through all that the policy admits, nothing leads out."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

SCRIPT = Path(__file__).with_name("reach.py")


def run(*loosened: str) -> subprocess.CompletedProcess[str]:
    """A walk with names added to facades (``module.name``)."""
    return subprocess.run(
        [sys.executable, SCRIPT, *loosened], capture_output=True, text=True, timeout=600
    )


def walk(*loosened: str) -> Any:
    """What the walk finds."""
    done = run(*loosened)
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)


def test_nothing_that_leads_out_is_reached() -> None:
    """No module, frame, code, metaclass, system function or shared container, by any path."""
    found = walk()
    assert found["bad"] == {}
    assert found["seen"] > 20_000
    assert found["calls"] > 500_000
    assert found["handed"] > 50_000


@pytest.mark.parametrize(
    ("name", "why"),
    [
        ("typing._ProtocolMeta", "the metaclass _ProtocolMeta"),
        ("io.open", "open"),
        ("os.listdir", "posix.listdir"),
        ("types.new_class", "a new class a"),
        ("sys._getframe", "frame"),
        ("traceback.walk_stack", "frame"),
        ("logging._handlers", "a shared dict"),
        ("loosened.calls_back", "frame"),
        ("loosened.keyword_calls_back", "module"),
        ("loosened.yields", "frame"),
        ("loosened.awaited", "frame"),
        ("loosened.fails", "module"),
        ("loosened.Registry", "a shared dict"),
        ("loosened.Hooked", "module"),
        ("loosened.Delegating", "type"),
        ("loosened.Compared", "sys.modules"),
        ("loosened.Entered", "frame"),
    ],
)
def test_a_loosened_facade_is_noticed(name: str, why: str) -> None:
    """One name too many in a facade, and the walk says where it leads, whatever way that is."""
    bad = walk(name)["bad"]
    assert why in bad.values()
    assert all(name in path for path in bad)


@pytest.mark.parametrize("name", ["loosened.sys", "copyreg.dispatch_table", "warnings.filters"])
def test_no_facade_holds_a_module_or_a_container(name: str) -> None:
    """A raw module, or a table of the library's, in a facade: then there is no facade at all."""
    done = run(name)
    assert done.returncode != 0
    assert f"{name} is a " in done.stderr
    assert "no facade may hold it" in done.stderr
