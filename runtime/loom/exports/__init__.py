"""What a loom is written out as, for other programs to learn or to reckon from."""

from __future__ import annotations

from .formats import FORMATS, Export, Format, Target
from .groups import Pairs
from .schema import ChatLine, GroupLine, PairLine

__all__ = [
    "FORMATS",
    "ChatLine",
    "Export",
    "Format",
    "GroupLine",
    "PairLine",
    "Pairs",
    "Target",
]
