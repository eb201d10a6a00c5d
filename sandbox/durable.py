"""A session whose state can be written into an image, and taken up from one."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from types import MappingProxyType
from typing import Any

from .base import Session
from .errors import ImageMismatch
from .execution import reasons
from .images import envelope
from .images.envelope import Image
from .images.steps import Dumped
from .limits import Limits
from .record import Loaded

_WITHOUT = "This session was taken up from an image, without these variables:\n{}"


class DurableSession(Session):
    """What both kinds of sessions do alike about images.

    Attributes:
        left_out: Variables that the image lacked which the session was loaded from, each with
            the reason.
    """

    left_out: Mapping[str, str] = MappingProxyType({})

    def _packed(self, dumped: Dumped, skip: bool) -> bytes:
        """The image of a state.

        Raises:
            CannotDump: There is no such state.
            ImageError: It is too large, or can't be signed.
        """
        dumped.check(skip)
        image = Image(
            body=dumped.body,
            backend=self.backend,
            limits=self.limits,
            modules=self._settings.modules,
            packages=self._settings.packages,
            gates=tuple(self._settings.gates),
            turns=self._turns,
            left_out=dumped.left_out,
        )
        return envelope.pack(image)

    def _take_up(self, image: Image) -> None:
        """Note that the worker has taken up the state of an image."""
        self._past.add(Loaded(image.turns, image.body))
        self._turns = image.turns
        self.left_out = image.left_out
        if image.left_out:
            self._notes.lacks(_WITHOUT.format(reasons(image.left_out)))


def settings_for(
    image: Image,
    gates: Mapping[str, Callable[..., Any]] | None,
    limits: Limits | None,
    modules: Iterable[str] | None,
    packages: Iterable[str] | None,
) -> dict[str, Any]:
    """The settings of a session that takes up an image: the image's own, where none are given.

    Raises:
        ImageMismatch: The image's session had a gate that is not given.
    """
    missing = [name for name in image.gates if name not in {"done", *(gates or {})}]
    if missing:
        raise ImageMismatch(
            f"the image's session had the gate {missing[0]!r}, and this one has none of that "
            f"name: give it in gates={{{missing[0]!r}: ...}}"
        )
    return {
        "gates": gates,
        "limits": limits or image.limits,
        "modules": image.modules if modules is None else modules,
        "packages": image.packages if packages is None else packages,
    }
