"""Constants: what the library keeps in containers that can change, in ones that can't."""

from __future__ import annotations

import calendar
import hashlib
import html.entities
import keyword
import textwrap
from types import MappingProxyType
from typing import Any

_SETS = {"hashlib": "algorithms_available algorithms_guaranteed"}
_LISTS = {"keyword": "kwlist softkwlist"}
_TABLES = {"html.entities": "codepoint2name entitydefs html5 name2codepoint"}
_MODULES = {"hashlib": hashlib, "keyword": keyword, "html.entities": html.entities}


def mend() -> dict[str, Any]:
    """Tables are copied: a mapping proxy hands what it stands for to whom it is compared with."""
    wrapper: Any = textwrap.TextWrapper
    spaces = wrapper.unicode_whitespace_trans
    text = "".join(chr(spaces.get(code, code)) for code in range(max(spaces) + 1))
    wrapper.unicode_whitespace_trans = text  # str.translate looks a character up by its place
    styles: Any = calendar.HTMLCalendar
    styles.cssclasses = styles.cssclasses_weekday_head = tuple(styles.cssclasses)
    return {
        **_each(_SETS, frozenset),
        **_each(_LISTS, tuple),
        **_each(_TABLES, lambda table: MappingProxyType(dict(table))),
    }


def _each(names: dict[str, str], made: Any) -> dict[str, Any]:
    return {
        f"{module}.{name}": made(getattr(_MODULES[module], name))
        for module, listed in names.items()
        for name in listed.split()
    }
