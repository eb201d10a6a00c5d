"""Tests that this machine can't run are left out, and named at the end: none is skipped unseen."""

from __future__ import annotations

import pytest
from circlet.sandbox import pool
from circlet.sandbox.errors import BackendUnavailable

_left_out = pytest.StashKey[tuple[str, list[str]]]()


def _why_no_kernel_back_end() -> str:
    try:
        pool.shared()
    except BackendUnavailable as error:
        return str(error)
    return ""


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leave out what is marked ``kernel`` where there is no such back end."""
    marked = [item for item in items if item.get_closest_marker("kernel")]
    reason = _why_no_kernel_back_end() if marked else ""
    if reason:
        config.stash[_left_out] = reason, [item.nodeid for item in marked]
        config.hook.pytest_deselected(items=marked)
        items[:] = [item for item in items if item not in marked]


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what was left out, with the reason."""
    if _left_out in config.stash:
        reason, names = config.stash[_left_out]
        terminalreporter.section(f"{len(names)} tests not run here: {reason}")
        terminalreporter.write_line("\n".join(names))
