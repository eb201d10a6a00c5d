"""Abstract classes: only the program's own can be told of further classes."""

from __future__ import annotations

import abc
from typing import Any

from .. import guards


def mend() -> dict[str, Any]:
    """``register`` is closed on the library's classes.

    Otherwise what the standard library takes for a mapping would be the program's to say.
    """
    register = abc.ABCMeta.register

    def checked(cls: abc.ABCMeta, subclass: type) -> type:
        if not guards.is_own(cls):
            raise TypeError(f"{cls.__name__}.register is closed here; inherit from it instead")
        return register(cls, subclass)

    abc.ABCMeta.register = checked  # type: ignore[method-assign]
    return {}
