"""What a session is made with: its gates, its limits, and what its programs may import."""

from __future__ import annotations

import keyword
import secrets
from collections.abc import Callable, Iterable, Mapping
from typing import Any, Literal

from . import dialogue
from .checkpoints import budget_bytes
from .dialogue import GateInfo
from .limits import Limits
from .packages import check_modules, check_packages
from .plain_gates import describe_gate, plain_done

Backend = Literal["auto", "kernel", "portable"]
MAX_KEPT = 100
"""Most checkpoints that a session keeps by itself."""


class Settings:
    """One session's settings, checked. For the arguments see ``Sandbox``.

    Attributes:
        gates: Its gates by name, ``done`` among them.
        limits: What its programs may use up.
        modules: Names of the modules that they may import; None for all.
        packages: Names of third-party packages that they may import.
        backend: The back end that was asked for.
        checkpoints: How many checkpoints it keeps by itself.

    Raises:
        ValueError: A gate's name, a module, a package, the back end, the number of checkpoints
            or the seed is none that can be had.
        TypeError: A gate is no function, or the limits are none.
        BadVariable: The budget of checkpoints, an environment variable, is no whole number.
    """

    def __init__(
        self,
        gates: Mapping[str, Callable[..., Any]] | None,
        limits: Limits | None,
        modules: Iterable[str] | None,
        backend: Backend,
        gate_infos: Mapping[str, GateInfo] | None,
        packages: Iterable[str],
        checkpoints: int,
        seed: int | None,
    ) -> None:
        if backend not in ("auto", "kernel", "portable"):
            raise ValueError(f"backend must be auto, kernel or portable, not {backend!r}")
        if not isinstance(limits, Limits | None):
            raise TypeError(f"limits must be Limits(...), not {type(limits).__name__}")
        if type(checkpoints) is not int or not 0 <= checkpoints <= MAX_KEPT:
            raise ValueError(f"checkpoints must be 0 to {MAX_KEPT}, not {checkpoints!r}")
        if seed is not None and (type(seed) is not int or not 0 <= seed < 1 << 63):
            raise ValueError(f"seed must be a number from 0 and below 2 ** 63, not {seed!r}")
        budget_bytes()  # reads the environment, where a mistake is best told of now
        self.limits = limits or Limits()
        self.gates: dict[str, Callable[..., Any]] = {"done": plain_done, **(gates or {})}
        for name, function in self.gates.items():
            _check_gate(name, function)
        infos = {name: describe_gate(name, function) for name, function in self.gates.items()}
        self._infos = {**infos, **(gate_infos or {})}
        self.packages = check_packages(packages)
        self.modules = None if modules is None else tuple(modules)
        check_modules(self.modules, self.packages)
        self.backend = backend
        self.checkpoints = checkpoints
        self._seed = secrets.randbits(63) if seed is None else seed

    def opening(self) -> bytes:
        """The frame that gives a fresh worker these settings."""
        return dialogue.opening(self.limits, self.modules, self._infos, self._seed)

    def gate(self, name: str) -> Callable[..., Any]:
        """A gate's function.

        Raises:
            NameError: There is none of that name.
        """
        function = self.gates.get(name)
        if function is None:
            raise NameError(f"there is no gate {name!r}; there are: {', '.join(self.gates)}")
        return function

    def agree(self, others: Settings) -> bool:
        """Whether a session with other settings can take up a state of one with these."""
        return self._bearing == others._bearing

    @property
    def _bearing(self) -> tuple[Any, ...]:
        return self.limits, self._infos, self.modules, self.packages, self.backend


def _check_gate(name: str, function: Any) -> None:
    if not name.isidentifier() or name.startswith("_") or keyword.iskeyword(name):
        raise ValueError(f"a gate can't be named {name!r}: it must be a public identifier")
    if not callable(function):
        raise TypeError(f"the gate {name!r} must be a function, not {function!r}")
