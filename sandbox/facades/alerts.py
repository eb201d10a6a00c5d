"""Warnings: a program has filters of its own, and what is shown goes to its turn's output.

The runner works under "ignore". Its own filters stand but while the program runs, so that a
program that turns warnings into errors doesn't turn the runner's into errors as well.
"""

from __future__ import annotations

import linecache
import warnings
from contextlib import AbstractContextManager
from typing import Any

from ..symbols import TURN
from .streams import ERR

_ORDINARY: tuple[tuple[Any, ...], ...] = (
    ("default", None, DeprecationWarning, "__main__", 0),
    ("ignore", None, DeprecationWarning, None, 0),
    ("ignore", None, PendingDeprecationWarning, None, 0),
    ("ignore", None, ImportWarning, None, 0),
    ("ignore", None, ResourceWarning, None, 0),
)
"""What Python's own filters are at its start."""


_RUNNERS: list[Any] = [("ignore", None, Warning, None, 0)]


class _Kept:
    """The filters that a program has set, while they don't stand; None while they do."""

    def __init__(self) -> None:
        self.filters: list[Any] | None = list(_ORDINARY)


_KEPT = _Kept()


def _stand(filters: list[Any]) -> None:
    warnings.filters = filters
    # What was shown once in an earlier turn is shown again: its lines have come anew.
    warnings._filters_mutated()  # type: ignore[attr-defined]


def mend() -> dict[str, Any]:
    """What shows a warning is ours: the standard library's looks its line up in any file."""
    return {
        "warnings.warn_explicit": _warn_explicit,
        "warnings.catch_warnings": catch_warnings,
        "warnings.formatwarning": _format,
        "warnings.showwarning": _show,
    }


def begin() -> None:
    """The program's filters stand: it is about to run."""
    warnings._showwarnmsg_impl = _show_message  # type: ignore[attr-defined]
    if _KEPT.filters is not None:
        _stand(_KEPT.filters)
        _KEPT.filters = None


def restore() -> list[Any]:
    """The runner's filters stand; the program's are kept for its next turn."""
    if _KEPT.filters is None:
        _KEPT.filters = list(warnings.filters)
        _stand(list(_RUNNERS))
    return []


class catch_warnings(AbstractContextManager[Any]):  # noqa: N801 - the standard library's name
    """Keep changes to the filters to a block.

    Args:
        record: Whether warnings are gathered in the list that ``as`` gives, not shown.
        action: With ``category``, ``lineno`` and ``append``: a filter for the block.
    """

    __module__ = "warnings"

    def __init__(
        self,
        *,
        record: bool = False,
        action: Any = None,
        category: type[Warning] = Warning,
        lineno: int = 0,
        append: bool = False,
    ) -> None:
        self._record = record
        self._filter = None if action is None else (action, category, lineno, append)
        self._before: Any = None

    def __enter__(self) -> list[warnings.WarningMessage] | None:
        if self._before is not None:
            raise RuntimeError("catch_warnings can't be entered twice")
        self._before = warnings.filters, warnings._showwarnmsg_impl  # type: ignore[attr-defined]
        _stand(list(warnings.filters))
        if self._filter is not None:
            warnings.simplefilter(*self._filter)
        if not self._record:
            return None
        log: list[warnings.WarningMessage] = []
        warnings._showwarnmsg_impl = lambda message: log.append(  # type: ignore[attr-defined]
            _without_path(message)
        )
        return log

    def __exit__(self, *_: object) -> None:
        if self._before is None:
            raise RuntimeError("catch_warnings was not entered")
        filters, warnings._showwarnmsg_impl = self._before  # type: ignore[attr-defined]
        _stand(filters)


def _without_path(message: warnings.WarningMessage) -> warnings.WarningMessage:
    """The warning, with the place that it names only where that is the program's own."""
    if not message.filename.startswith(TURN):
        message.filename, message.lineno = "", 0
    return message


def _warn_explicit(
    message: Any,
    category: Any,
    filename: str,
    lineno: int,
    module: str | None = None,
    registry: dict[Any, Any] | None = None,
    source: Any = None,
) -> None:
    """``warnings.warn_explicit``, without the globals that name a loader of sources."""
    name = module or filename.removesuffix(".py") or "<unknown>"
    warnings.warn_explicit(message, category, filename, lineno, name, registry, None, source)


def _format(
    message: Any, category: type[Warning], filename: str, lineno: int, line: str | None = None
) -> str:
    """A warning as text, with its line where that is the program's own."""
    what = f"{category.__name__}: {message}\n"
    if not filename.startswith(TURN):
        return what
    source = (linecache.getline(filename, lineno) if line is None else line).strip()
    return f"{filename}:{lineno}: {what}" + (f"  {source}\n" if source else "")


def _show(
    message: Any,
    category: type[Warning],
    filename: str,
    lineno: int,
    file: Any = None,
    line: str | None = None,
) -> None:
    """Write a warning to a file; to standard error where there is none."""
    target = ERR.target if file is None else file
    target.write(_format(message, category, filename, lineno, line))


def _show_message(message: warnings.WarningMessage) -> None:
    _show(message.message, message.category, message.filename, message.lineno, message.file)
