"""Containers: a text that holds another formats as texts do here."""

from __future__ import annotations

import collections
from typing import Any

from .. import guards


def mend() -> dict[str, Any]:
    """A ``UserString`` formats with the attributes that a program may read, and no others."""
    for name in ("format", "format_map"):
        method = _format_of_data(name)
        setattr(collections.UserString, name, method)
        guards.admit(method)
    return {}


def _format_of_data(name: str) -> Any:
    def method(self: Any, /, *args: Any, **kwargs: Any) -> str:
        text: str = guards.attribute(str, name)(self.data, *args, **kwargs)
        return text

    return method
