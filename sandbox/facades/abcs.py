"""Abstract classes: only the program's own can be told of further classes."""

from __future__ import annotations

import _abc  # type: ignore[import-not-found]
import abc
import typing
from typing import Any

from .. import classes
from .kinds import stand_in


def mend() -> dict[str, Any]:
    """``register`` is closed on the library's classes.

    Otherwise what the standard library takes for a mapping would be the program's to say.
    """
    register = abc.ABCMeta.register

    def checked(cls: abc.ABCMeta, subclass: type) -> type:
        if not classes.is_own(cls):
            raise TypeError(f"{cls.__name__}.register is closed here; inherit from it instead")
        return register(cls, subclass)

    def without_metaclasses(cls: abc.ABCMeta, subclass: type) -> bool:
        # The program's own ``__subclasshook__`` would be handed ``type`` itself.
        if classes.is_own(cls) and classes.is_metaclass(subclass):
            return False
        # No call in between: typing looks at who is three frames above.
        answer: bool = _abc._abc_subclasscheck(cls, subclass)
        return answer

    abc.ABCMeta.register = checked  # type: ignore[method-assign]
    abc.ABCMeta.__subclasscheck__ = without_metaclasses  # type: ignore[method-assign]
    if hasattr(typing, "_abc_subclasscheck"):  # from Python 3.13 on protocols keep the method
        typing._abc_subclasscheck = without_metaclasses
    kind = stand_in(abc.ABCMeta)
    classes.open_metaclass(kind, abc.ABCMeta)  # what a class has that inherits from ABC
    return {"abc.ABCMeta": kind}
