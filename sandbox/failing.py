"""What failed in a program's own code: the frame, the expression, and what that was about.

None of the program's code is called for it.
"""

from __future__ import annotations

import ast
import linecache
from collections.abc import Mapping
from types import FrameType
from typing import Any

from .names import is_special
from .symbols import TURN
from .tracebacks import Place, own_frames, place_of

SEGMENT_CHARS = 500
"""Longest stretch of source that is looked at for what failed in it."""


def failing(error: BaseException) -> tuple[ast.expr | None, FrameType | None]:
    """The expression of the program's own whose evaluation raised, and its frame."""
    frames, frame = own_frames(error), innermost(error)
    place = place_of(frames[-1]) if frames else None
    if frame is None or place is None:
        return None, None
    try:
        return ast.parse(f"({_segment(frames[-1].filename, place)})", mode="eval").body, frame
    except (SyntaxError, ValueError):
        return None, None


def _segment(filename: str, place: Place) -> str:
    lines = linecache.getlines(filename)[place.line - 1 : place.end_line]
    encoded = [line.encode("utf-8", "surrogatepass") for line in lines]
    if not encoded:
        return ""
    encoded[-1] = encoded[-1][: place.end_column]
    encoded[0] = encoded[0][place.column :]
    text = b"".join(encoded)
    return text.decode("utf-8", "replace") if len(text) <= SEGMENT_CHARS else ""


def innermost(error: BaseException) -> FrameType | None:
    """The frame that raised, if it is one of the program's own."""
    step = error.__traceback__
    while step is not None and step.tb_next is not None:
        step = step.tb_next
    if step is None or not step.tb_frame.f_code.co_filename.startswith(TURN):
        return None
    return step.tb_frame


def held_by(node: ast.expr, frame: FrameType) -> Any:
    """What an expression of names, keys and attributes stands for, without running anything.

    Raises:
        LookupError: It is more than that, or there is no such thing.
    """
    if isinstance(node, ast.Name) and not is_special(node.id):
        names = frame.f_locals if node.id in frame.f_locals else frame.f_globals
        return names[node.id]
    if isinstance(node, ast.Constant):
        return node.value
    if isinstance(node, ast.Attribute):
        return dict_of(held_by(node.value, frame))[node.attr]
    if isinstance(node, ast.Subscript):
        holder, key = held_by(node.value, frame), held_by(node.slice, frame)
        if type(holder) in (dict, list, tuple) and type(key) in (str, int):
            return holder[key]
    raise LookupError


def dict_of(obj: Any) -> Mapping[str, Any]:
    """An object's own variables, past what its class makes of reading them."""
    get = type.__getattribute__ if isinstance(obj, type) else object.__getattribute__
    try:
        found = get(obj, "__dict__")
    except AttributeError:
        return {}
    return found if isinstance(found, Mapping) else {}
