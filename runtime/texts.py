"""Values and errors as bounded texts, made in a time that the bound decides."""

from __future__ import annotations

import contextlib
import hashlib
import json
from typing import Any

from ..sandbox.codec import Sealed
from ..sandbox.errors import CodecError
from ..sandbox.execution import clip
from ..sandbox.limits import Limits
from ..sandbox.preview import PREVIEW_CHARS, show
from ..sandbox.wire import loads

RESULT_CHARS = Limits().output_chars
"""Length of one gate's result as the model is shown it, in characters, where no ward says."""
TEXT_CHARS = 2_000
"""Length of the texts that stand in for arguments and results in the loom."""
MAX_OPENED = 1 << 16
"""Bytes of another sandbox's value, other than a text, that are decoded to show it."""
_TRACEBACK = "Traceback (most recent call last)"
CUT_OFF = "It was stopped from outside, by a time limit or by whoever ran it."
"""What is told of a call or a turn that was cancelled; a call may have happened or not."""


def error_text(error: BaseException, limit: int = TEXT_CHARS) -> str:
    """What went wrong; a cancellation's own text says nothing to a reader."""
    if not isinstance(error, Exception):
        return CUT_OFF
    if isinstance(error, KeyError) and error.args and isinstance(error.args[0], str):
        text = error.args[0]  # its own text is the quoted key
    else:
        try:
            text = str(error)
        except Exception:  # the error's own code
            text = ""
    return clip(text or type(error).__name__, limit)


def as_text(value: Any, limit: int) -> str:
    """A value as a model reads it: text as it is, JSON where that holds it, else its preview."""
    if isinstance(value, str):
        return clip(value, limit)
    if fits(value, limit * 10):
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            return clip(json.dumps(value, ensure_ascii=False), limit)
    return clip(show(value, limit), limit)


def result_text(result: Any) -> str:
    """A result as text; one that is handed on undecoded is told by its preview."""
    return result.text if isinstance(result, Sealed) else as_text(result, TEXT_CHARS)


def arguments_text(arguments: Any) -> str:
    """Arguments as a bounded text: JSON where they can be written so."""
    if fits(arguments, TEXT_CHARS * 10):
        with contextlib.suppress(TypeError, ValueError, RecursionError):
            text = json.dumps(arguments, ensure_ascii=False, default=_preview)
            return clip(text, TEXT_CHARS)
    return show(arguments, TEXT_CHARS)


def shown(value: Sealed, limit: int) -> str:
    """A sealed value as a model reads it; one that is costly to decode by its preview."""
    try:
        return as_text(loads(value.data, unseal=True, guarded=True), limit)
    except CodecError:
        return clip(value.text, limit)


def shown_unopened(value: Sealed, limit: int) -> str:
    """``shown`` for what another sandbox made: a large value is not decoded, but for a text."""
    if len(value.data) <= MAX_OPENED or _is_text(value.data):
        return shown(value, limit)
    return clip(value.text, limit)


def reference_text(gate: str, result: Sealed, turn: int) -> str:
    """What stands for an ephemeral result in the messages (``PROD-5``): no preview."""
    digest = hashlib.sha256(result.data).hexdigest()[:16]
    return f"[{gate} answered {len(result.data):,} bytes, sha256 {digest}, in turn {turn}]"


def _is_text(data: bytes) -> bool:
    """Whether the codec's bytes are one string, which costs no more than a copy to decode."""
    return data[:1] in (b"\xd9", b"\xda", b"\xdb")


def fits(value: Any, room: int) -> bool:
    """Whether a value can be written in about ``room`` characters; stops once it can't."""
    waiting = [value]
    while waiting:
        one = waiting.pop()
        room -= _size(one)
        if room < 0:
            return False
        if isinstance(one, dict):
            waiting += [*one, *one.values()]
        elif isinstance(one, list | tuple | set | frozenset):
            waiting += one
    return True


def _size(one: Any) -> int:
    """Characters that a value takes, of a container one for each item."""
    if isinstance(one, str | bytes | bytearray | list | tuple | set | frozenset | dict):
        return len(one) + 2
    return one.bit_length() // 3 + 1 if isinstance(one, int) else 8


def _preview(value: Any) -> str:
    return value.text if isinstance(value, Sealed) else show(value, PREVIEW_CHARS)


def error_line(text: str) -> str:
    """The line of an observation that tells its error.

    In a traceback the one after its frames, which notes and hints may follow; else the first.
    """
    lines = text.strip().splitlines() or [""]
    if _TRACEBACK not in text:
        return lines[0]
    frames = [at for at, line in enumerate(lines) if line.startswith((" ", _TRACEBACK))]
    return lines[min(frames[-1] + 1, len(lines) - 1)] if frames else lines[-1]
