"""Tests that this machine can't run are left out, and named at the end: none is skipped unseen."""

from __future__ import annotations

import os
import shutil
import sys
from importlib.util import find_spec
from typing import Any

import pytest
from circlet.sandbox import pool
from circlet.sandbox.errors import BackendUnavailable

_left_out = pytest.StashKey[dict[str, list[str]]]()


def _why_no_kernel_back_end() -> str:
    try:
        pool.shared()
    except BackendUnavailable as error:
        if type(error) is BackendUnavailable:
            raise  # it broke, which is no lack of the machine's: that would be a kind of its own
        return str(error)
    return ""


def _why_no_cgroup() -> str:
    return _why_no_kernel_back_end() or pool.shared().layers["cgroup"]


def _why_no_packages() -> str:
    lacking = [name for name in ("numpy", "pandas") if find_spec(name) is None]
    return f"{' and '.join(lacking)} can't be imported" if lacking else ""


def _why_no_atheris() -> str:
    return "" if find_spec("atheris") else "atheris can't be imported"


def _why_no_parquet() -> str:
    return "" if find_spec("pyarrow") else "pyarrow can't be imported"


def _why_no_linux() -> str:
    return "" if sys.platform == "linux" else "this is not Linux, which signals a parent's end"


def _why_no_posix() -> str:
    return "" if os.name == "posix" else "pipes are not handed over by descriptor here"


def _why_not_root() -> str:
    if not hasattr(os, "geteuid") or os.geteuid() != 0:
        return "this is not root, who alone can become another user"
    return "" if shutil.which("setpriv") else "there is no setpriv to become another user with"


_REASONS = {
    "kernel": _why_no_kernel_back_end,
    "cgroup": _why_no_cgroup,
    "packages": _why_no_packages,
    "atheris": _why_no_atheris,
    "linux": _why_no_linux,
    "parquet": _why_no_parquet,
    "posix": _why_no_posix,
    "root": _why_not_root,
}
"""By marker: why what bears it can't be run here, or the empty string."""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what this machine lacks something for."""
    left_out: dict[str, list[str]] = {}
    for marker, why in _REASONS.items():
        marked = [item for item in items if item.get_closest_marker(marker)]
        reason = why() if marked else ""
        if reason:
            left_out[reason] = [item.nodeid for item in marked]
            config.hook.pytest_deselected(items=marked)
            items[:] = [item for item in items if item not in marked]
    config.stash[_left_out] = left_out


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Where tests run in several processes, tell the first one what was left out."""
    if hasattr(session.config, "workeroutput"):
        session.config.workeroutput["left_out"] = session.config.stash[_left_out]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:
    """Take that from one of the processes: each has collected all."""
    node.config.stash[_left_out] = getattr(node, "workeroutput", {}).get("left_out", {})


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what was left out, with the reason."""
    for reason, names in config.stash.get(_left_out, {}).items():
        terminalreporter.section(f"{len(names)} tests not run here: {reason}")
        terminalreporter.write_line("\n".join(names))
