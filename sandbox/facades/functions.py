"""Functions about functions: what one may take over from another."""

from __future__ import annotations

import functools
import types
from collections.abc import Callable
from typing import Any


def mend() -> dict[str, Any]:
    """``wraps`` copies what can't be chosen."""
    return {"functools.wraps": _wraps}


def _wraps(wrapped: Any) -> Callable[[Any], Any]:
    """``functools.wraps`` for functions; what is copied can't be chosen.

    Annotations are left out: a class whose annotations come from elsewhere would make
    ``dataclass`` write any source.
    """

    def decorate(wrapper: Any) -> Any:
        if not isinstance(wrapper, types.FunctionType):
            raise TypeError("wraps() decorates functions")
        return functools.update_wrapper(wrapper, wrapped, ("__name__", "__qualname__", "__doc__"))

    return decorate
