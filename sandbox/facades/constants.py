"""Constants that are containers: a program has copies, and the library its own."""

from __future__ import annotations

import calendar
import hashlib
import html.entities
import keyword
import textwrap
from copy import copy
from typing import Any

from .facade import Live

_COPIED = {
    "hashlib": "algorithms_available algorithms_guaranteed",
    "html.entities": "codepoint2name entitydefs html5 name2codepoint",
    "keyword": "kwlist softkwlist",
}
_MODULES = {"hashlib": hashlib, "keyword": keyword, "html.entities": html.entities}


def mend() -> dict[str, Any]:
    """Lists, sets and tables are what Python has there, and the program's own."""
    wrapper: Any = textwrap.TextWrapper
    spaces = wrapper.unicode_whitespace_trans
    text = "".join(chr(spaces.get(code, code)) for code in range(max(spaces) + 1))
    wrapper.unicode_whitespace_trans = text  # str.translate looks a character up by its place
    styles: Any = calendar.HTMLCalendar
    styles.cssclasses = styles.cssclasses_weekday_head = tuple(styles.cssclasses)
    return {
        f"{module}.{name}": _copied(getattr(_MODULES[module], name))
        for module, names in _COPIED.items()
        for name in names.split()
    }


def _copied(value: Any) -> Live:
    kept = copy(value)
    return Live(lambda: kept)
