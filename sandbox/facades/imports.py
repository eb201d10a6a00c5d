"""Imports by a name that a program works out."""

from __future__ import annotations

import sys
from typing import Any


def mend() -> dict[str, Any]:
    """``import_module`` imports as the program's own import statement does."""
    return {"importlib.import_module": _import_module}


def _import_module(name: str, package: str | None = None) -> Any:
    """``importlib.import_module``.

    Raises:
        ModuleNotFoundError: There is no such module for this program.
    """
    if package is not None:
        raise ModuleNotFoundError("relative imports are not allowed: there is no package here")
    # Not the caller's own builtins: that could be a function of the library.
    find = vars(sys.modules["__main__"])["__builtins__"]["__import__"]
    return find(name, fromlist=("*",))
