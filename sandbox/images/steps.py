"""How a worker is asked to write its state down, or to take one up: steps without I/O."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from .. import fields
from ..dialogue import TRANSIT_BYTES, Receive, Send, Steps
from ..errors import CannotDump, ImageError, ProtocolError
from ..execution import reasons
from ..limits import IMAGE_SECONDS
from ..wire import Op, frame, imaged, read_imaged

_GRACE_SECONDS = 2.0


class Dumped(NamedTuple):
    """What a worker wrote.

    Attributes:
        body: Its state.
        left_out: Variables that can't be kept, each with the reason.
        reason: Why there is no state, or the empty string.
    """

    body: bytes
    left_out: Mapping[str, str]
    reason: str

    def check(self, skip: bool) -> None:
        """Raise unless this is the state that is wanted.

        Args:
            skip: Whether variables may be left out.

        Raises:
            CannotDump: There is none, or variables are left out that may not be.
        """
        if self.reason:
            raise CannotDump(f"the session can't be kept in an image: {self.reason}")
        if self.left_out and not skip:
            raise CannotDump(
                "these variables can't be kept in an image; change or delete them, or leave them "
                f"out with dump(skip=True):\n{reasons(self.left_out)}",
                self.left_out,
            )


def dumping() -> Steps[Dumped]:
    """Ask for the worker's state."""
    yield Send(frame(Op.DUMP))
    told, body = yield from _answer(IMAGE_SECONDS + _GRACE_SECONDS)
    left_out = told.get("left_out")
    if type(left_out) is not dict or not all(
        type(text) is str for item in left_out.items() for text in item
    ):
        raise ProtocolError("an image frame is malformed")
    return Dumped(body, left_out, fields.reason(told.get("reason")) or "")


def loading(body: bytes) -> Steps[None]:
    """Have a fresh worker take up a state.

    Raises:
        ImageError: It can't.
    """
    for part in imaged(Op.LOAD, {}, body):
        yield Send(part)
    told, _ = yield from _answer(IMAGE_SECONDS + _GRACE_SECONDS + len(body) / TRANSIT_BYTES)
    if reason := fields.reason(told.get("reason")):
        raise ImageError(f"the image can't be loaded: {reason}")


def _answer(seconds: float) -> Steps[tuple[dict[Any, Any], bytes]]:
    op, frame_body = yield Receive(seconds)
    if op is not Op.IMAGE:
        raise ProtocolError(f"a frame {op.name} came instead of an image")
    told, body = read_imaged(frame_body)
    return fields.mapping(fields.decoded(told)), body
