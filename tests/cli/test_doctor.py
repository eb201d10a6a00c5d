"""``circlet doctor``: what this machine gives a sandbox."""

from __future__ import annotations

import json
import platform
from importlib.metadata import PackageNotFoundError, version

from circlet import Sandbox
from circlet.sandbox import capacity, checkpoints, jail

SECRET = "sk-not-to-be-seen-anywhere"


def _version(name):
    try:
        return version(name)
    except PackageNotFoundError:
        return None


def test_json(place):
    """It names the back end that auto takes, each layer with why it is off, and what is there."""
    place.environment = {"OPENAI_API_KEY": SECRET}
    done = place.installed("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 0
    with Sandbox() as box:
        assert found["backend"] == box.backend
    assert found["backends"][found["backend"]] == {"works": True, "why": ""}
    assert set(found["layers"]) == {*jail.REQUIRED, *jail.EXTRAS}
    for layer in found["layers"].values():
        assert layer["active"] is not bool(layer["why"])
    assert found["python"] == platform.python_version()
    assert found["dependencies"]["pydantic"] == version("pydantic")
    assert found["extras"] == {
        "numpy": {name: _version(name) for name in ("numpy", "pandas")},
        "openai": {"openai": version("openai")},
        "parquet": {"pyarrow": _version("pyarrow")},
    }
    assert found["keys"] == {
        "OPENAI_API_KEY": True,
        "OPENROUTER_API_KEY": False,
        "LOCAL_API_KEY": False,
    }
    assert SECRET not in done.stdout + done.stderr


def test_packages(place):
    """It tries the packages that are installed, and says that the language wall is thinner."""
    found = json.loads(place.installed("doctor", "--json").stdout)["packages"]
    installed = [name for name in ("numpy", "pandas") if _version(name)]
    assert found["names"] == installed
    assert found["works"] is (bool(installed) and not found["why"])
    assert found["why"] or installed
    assert "the language's wall is thinner" in found["note"]
    lines = [" ".join(line.split()) for line in place.installed("doctor").stdout.splitlines()]
    section = lines[lines.index("Packages for programs") + 1]
    assert section.startswith(", ".join(installed or ["numpy", "pandas"]))


def test_for_a_reader(place):
    """The same in words: a line for each back end, layer, dependency, extra and key."""
    place.environment = {"OPENAI_API_KEY": SECRET, "COLUMNS": "200"}
    done = place.installed("doctor")
    lines = [" ".join(line.split()) for line in done.stdout.splitlines()]
    assert done.returncode == 0
    assert lines[0].startswith(f"circlet {version('circlet')}, CPython {platform.python_version()}")
    for name in ("kernel", "portable", *jail.REQUIRED, *jail.EXTRAS, "pydantic", "openai"):
        assert any(line.startswith(f"{name} ") for line in lines), name
    assert "OPENAI_API_KEY set" in lines
    assert "OPENROUTER_API_KEY not set" in lines
    assert SECRET not in done.stdout + done.stderr


def test_capacity(place):
    """It says how many workers there may be, what they may take up, and how to set both."""
    place.environment = {
        capacity.WORKERS_VARIABLE: "1234",
        capacity.MEMORY_VARIABLE: "5678",
        checkpoints.BUDGET_VARIABLE: "910",
    }
    found = json.loads(place.installed("doctor", "--json").stdout)["capacity"]
    assert found == {"workers": 1234, "memory_mb": 5678, "checkpoints_mb": 910, "why": ""}
    lines = [" ".join(line.split()) for line in place.installed("doctor").stdout.splitlines()]
    section = lines[lines.index("Capacity") + 1 :]
    assert section[0].startswith("workers 1,234 at once; CIRCLET_MAX_WORKERS")
    assert section[1].startswith("memory 5,678 MiB together; CIRCLET_MAX_MEMORY_MB")


def test_a_bound_that_is_no_number(place):
    """It is named, and a failure: no session can be opened with it."""
    place.environment = {capacity.WORKERS_VARIABLE: "many"}
    done = place.installed("doctor", "--json")
    found = json.loads(done.stdout)
    assert done.returncode == 1
    assert "CIRCLET_MAX_WORKERS must be a whole number" in found["capacity"]["why"]
    assert "CIRCLET_MAX_WORKERS must be a whole number" in found["backends"]["kernel"]["why"]
