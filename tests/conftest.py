"""Tests that this machine can't run are left out, and named at the end: none is skipped unseen."""

from __future__ import annotations

from importlib.util import find_spec

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


def _why_no_packages() -> str:
    lacking = [name for name in ("numpy", "pandas") if find_spec(name) is None]
    return f"{' and '.join(lacking)} can't be imported" if lacking else ""


_REASONS = {"kernel": _why_no_kernel_back_end, "packages": _why_no_packages}
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


def pytest_terminal_summary(
    terminalreporter: pytest.TerminalReporter, config: pytest.Config
) -> None:
    """Name what was left out, with the reason."""
    for reason, names in config.stash.get(_left_out, {}).items():
        terminalreporter.section(f"{len(names)} tests not run here: {reason}")
        terminalreporter.write_line("\n".join(names))
