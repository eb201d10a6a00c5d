"""Errors: one shows the object that it happened on, as long as a program may see that."""

from __future__ import annotations

from typing import Any

from .. import classes


def mend() -> dict[str, Any]:
    """``AttributeError.obj`` is what the interpreter came upon, in the library's code too.

    Where that looks at the class of a class, say, it is ``type`` itself.
    """
    kind: Any = AttributeError
    slot = vars(kind)["obj"]

    def get(error: Any) -> Any:
        found = slot.__get__(error)
        return None if classes.leads_out(found) else found

    classes.put(kind, "obj", property(get, slot.__set__, doc=slot.__doc__))
    return {}
