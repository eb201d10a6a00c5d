"""Elements of XML: the library's own in Python, not the ones in C."""

from __future__ import annotations

import importlib
import sys
from typing import Any

from .copies import allow_copies

_MODULE, _IN_C = "xml.etree.ElementTree", "_elementtree"


def mend() -> dict[str, Any]:
    """Loads ``xml.etree.ElementTree`` without its classes in C.

    Comparing children may run a program's ``__eq__``, and those in C go on reading where their
    children were if that clears the element.
    """
    sys.modules.pop(_MODULE, None)
    loaded = sys.modules.get(_IN_C)
    sys.modules[_IN_C] = None  # type: ignore[assignment]
    try:
        module = importlib.import_module(_MODULE)
    finally:
        del sys.modules[_IN_C]
        if loaded is not None:
            sys.modules[_IN_C] = loaded
    importlib.import_module("xml.parsers.expat")  # which that module loads when it first parses
    allow_copies(module.Element)
    return {}
