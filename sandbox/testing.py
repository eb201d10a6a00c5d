"""Walls switched off, for tests of what stands without them. Nothing else may use this."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from . import jail, selftest
from .kernel import KernelWorker
from .pool import Zygote
from .session import Sandbox
from .zygote import HOLE, LANGUAGE

KERNEL_LAYERS = (*jail.REQUIRED, *jail.EXTRAS)
"""The names of the kernel wall's layers."""


@contextmanager
def zygote_without(*layers: str, packages: tuple[str, ...] = ()) -> Iterator[Zygote]:
    """A zygote of its own, some of whose layers are left off.

    Args:
        layers: Names from ``KERNEL_LAYERS``; ``language`` for the language wall; and for the
            refusal of one system call alone ``seccomp:`` with its name in ``selftest.NUMBERS``.
        packages: Packages that it loads.

    Raises:
        ValueError: There is no layer of that name.
    """
    calls = {HOLE + name for name in selftest.NUMBERS}
    unknown = set(layers) - {LANGUAGE, *KERNEL_LAYERS, *calls}
    if unknown:
        raise ValueError(f"there is no layer {sorted(unknown)[0]!r}")
    zygote = Zygote(frozenset(layers), packages)
    try:
        yield zygote
    finally:
        zygote.close()


class SandboxOf(Sandbox):
    """A session whose workers come from a zygote of the caller's."""

    def __init__(self, zygote: Zygote, **settings: Any) -> None:
        self._zygote = zygote
        super().__init__(**settings)

    def _pick_worker(self) -> KernelWorker:
        return self._zygote.take()
