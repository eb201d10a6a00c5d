"""``circlet doctor``: what this machine gives a sandbox, and what is installed."""

from __future__ import annotations

import json
import os
import platform
import re
import sys
from importlib.metadata import PackageNotFoundError, requires, version
from typing import Annotated, Any, Literal

import typer
from rich.console import Console
from rich.table import Table
from rich.text import Text

from ...sandbox import Sandbox, capacity, checkpoints, jail, pool
from ...sandbox.errors import CircletError
from ..llm.registry import LOCAL_KEY
from .console import one_line, stdout
from .faults import Code

KEYS = ("OPENAI_API_KEY", "OPENROUTER_API_KEY", LOCAL_KEY)
"""The variables that providers take their keys from."""
_LAYERS = {
    "seccomp": "few system calls: no files, no network, no new processes",
    "no_new_privs": "no privileges to gain",
    "rlimits": "bounded memory, no files, no core dumps",
    "closed_fds": "no descriptor but its one socket",
    "namespaces": "no sight of other processes, no network, no mounts",
    "landlock": "no file system, no TCP, no signals to others",
    "no_capabilities": "no power of root",
    "not_dumpable": "not to be looked into by other processes",
    "oom_first": "the first to go when memory runs out",
    "cgroup": "all workers of a host bounded together",
    "checkpoints": "a copy of each session to go back to in milliseconds",
}
PACKAGES = ("numpy", "pandas")
"""The packages that are tried: those of the extra ``numpy``."""
_THINNER = "the language's wall is thinner with packages: the kernel's has to hold alone"


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON for a program.")] = False,
) -> None:
    """Say which sandbox back end and layers are active, why any is not, and what is installed."""
    findings = examine()
    if as_json:
        typer.echo(json.dumps(findings, indent=2))
    else:
        _show(findings, stdout())
    if findings["backend"] is None:
        raise typer.Exit(Code.FAILED)


def examine() -> dict[str, Any]:
    """What there is, as JSON has it; each back end is tried by running a program in it."""
    kernel, portable = _try("kernel"), _try("portable")
    layers = {} if kernel else pool.shared().layers
    active = None if portable else "portable"
    return {
        "circlet": version("circlet"),
        "python": platform.python_version(),
        "implementation": platform.python_implementation(),
        "executable": sys.executable,
        "platform": platform.platform(),
        "machine": platform.machine(),
        "backend": active if kernel else "kernel",
        "backends": {
            "kernel": {"works": not kernel, "why": kernel},
            "portable": {"works": not portable, "why": portable},
        },
        "layers": {name: _layer(name, layers, kernel) for name in _LAYERS},
        "capacity": _capacity(),
        "packages": _packages(),
        **_installed(),
        "keys": {name: bool(os.environ.get(name, "").strip()) for name in KEYS},
    }


def _try(backend: Literal["kernel", "portable"]) -> str:
    """Why a back end does not work; the empty string when it does."""
    return _try_in("6 * 7", backend=backend)


def _try_in(program: str, **settings: Any) -> str:
    """Why a program that comes to 42 does not; the empty string when it does."""
    try:
        with Sandbox(**settings) as box:
            run = box.run(program)
    except (CircletError, OSError, ValueError) as error:
        return one_line(str(error)) or type(error).__name__
    return "" if run.status == "ok" and run.value == 42 else one_line(str(run))


def _capacity() -> dict[str, Any]:
    """How many workers one process may have, and what they may take up together."""
    try:
        return {
            "workers": capacity.max_workers(),
            "memory_mb": capacity.max_memory() >> 20,
            "checkpoints_mb": checkpoints.budget_bytes() >> 20,
            "why": "",
        }
    except ValueError as error:
        return {"workers": None, "memory_mb": None, "checkpoints_mb": None, "why": str(error)}


def _packages() -> dict[str, Any]:
    """Which packages are installed, and whether a program can use those."""
    names = [name for name in PACKAGES if _version(name)]
    program = "".join(f"import {name}\n" for name in names) + "6 * 7"
    why = _try_in(program, packages=names) if names else "none is installed"
    return {"names": names, "works": not why, "why": why, "note": _THINNER}


def _layer(name: str, layers: dict[str, str], no_kernel: str) -> dict[str, Any]:
    required = name in jail.REQUIRED
    if no_kernel:
        return {"active": False, "required": required, "why": "the kernel back end does not work"}
    why = layers.get(name, "it was not reported")
    return {"active": not why, "required": required, "why": why}


def _installed() -> dict[str, dict[str, Any]]:
    """The versions of what circlet depends on, and of what its extras bring."""
    dependencies: dict[str, str | None] = {}
    extras: dict[str, dict[str, str | None]] = {}
    for line in requires("circlet") or ():
        found = re.match(r"[A-Za-z0-9._-]+", line)
        extra = re.search(r"extra == ['\"]([^'\"]+)", line)
        if found is None or (extra and extra[1] == "dev"):
            continue
        group = extras.setdefault(extra[1], {}) if extra else dependencies
        group[found[0]] = _version(found[0])
    return {"dependencies": dependencies, "extras": extras}


def _version(package: str) -> str | None:
    try:
        return version(package)
    except PackageNotFoundError:
        return None


# -- for a reader ------------------------------------------------------------------------------


def _show(findings: dict[str, Any], console: Console) -> None:
    console.print(
        Text.assemble(
            (f"circlet {findings['circlet']}", "bold"),
            f", {findings['implementation']} {findings['python']}, {findings['platform']}",
        )
    )
    for title, rows in (
        ("Back ends", _backend_rows(findings)),
        ("Layers of the kernel back end", _layer_rows(findings["layers"])),
        ("Capacity", _capacity_rows(findings["capacity"])),
        ("Packages for programs", [_packages_row(findings["packages"])]),
        ("Dependencies", [_package_row(*item) for item in findings["dependencies"].items()]),
        ("Extras", _extra_rows(findings["extras"])),
        ("Keys", [_key_row(*item) for item in findings["keys"].items()]),
    ):
        console.print()
        console.print(Text(title, "bold"))
        table = Table.grid(padding=(0, 2))
        for row in rows:
            table.add_row("", *row)
        console.print(table)


def _mark(good: bool, text: str, otherwise: str, grave: bool = True) -> Text:
    return Text(text, "green") if good else Text(otherwise, "red" if grave else "yellow")


Row = tuple[str | Text, ...]


def _backend_rows(findings: dict[str, Any]) -> list[Row]:
    about = {
        "kernel": "the language's wall and the kernel's",
        "portable": "the language's wall alone",
    }
    return [
        (
            name,
            _mark(found["works"], "works", "does not work", name == "portable"),
            (about[name] + (", taken by auto" if name == findings["backend"] else ""))
            if found["works"]
            else found["why"],
        )
        for name, found in findings["backends"].items()
    ]


def _layer_rows(layers: dict[str, Any]) -> list[Row]:
    return [
        (
            name,
            _mark(layer["active"], "active", "not active", layer["required"]),
            _LAYERS[name] if layer["active"] else layer["why"],
        )
        for name, layer in layers.items()
    ]


def _capacity_rows(found: dict[str, Any]) -> list[Row]:
    if found["why"]:
        return [("workers", _mark(False, "", "not to be told"), found["why"])]
    return [
        ("workers", f"{found['workers']:,}", f"at once; {capacity.WORKERS_VARIABLE} sets it"),
        ("memory", f"{found['memory_mb']:,} MiB", f"together; {capacity.MEMORY_VARIABLE} sets it"),
        (
            "checkpoints",
            f"{found['checkpoints_mb']:,} MiB",
            f"of it; {checkpoints.BUDGET_VARIABLE} sets it",
        ),
    ]


def _packages_row(packages: dict[str, Any]) -> Row:
    if not packages["names"]:
        return " and ".join(PACKAGES), _mark(False, "", "not there", False), packages["why"]
    works = _mark(packages["works"], "works", "does not work", True)
    about = packages["note"] if packages["works"] else packages["why"]
    return " and ".join(packages["names"]), works, about


def _package_row(name: str, found: str | None) -> Row:
    return name, _mark(found is not None, str(found), "not installed")


def _extra_rows(extras: dict[str, dict[str, str | None]]) -> list[Row]:
    return [
        (
            extra if place == 0 else "",
            _mark(found is not None, f"{package} {found}", f"{package} not installed", grave=False),
            "" if found else f"pip install 'circlet[{extra}]'",
        )
        for extra, packages in extras.items()
        for place, (package, found) in enumerate(packages.items())
    ]


def _key_row(name: str, is_set: bool) -> Row:
    return name, _mark(is_set, "set", "not set", grave=False)
