"""The errors of the gates.

GateFault                     a gate is misdeclared, or lacks what it needs
├── GateArgumentError         a call's arguments don't fit the gate (also a TypeError)
├── GateTimeout               a gate gave no answer in time (also a TimeoutError)
└── UnknownGate               no gate goes by that name (also a LookupError)

What a gate's own function raises is none of these: it goes on to the caller as it is.
"""

from __future__ import annotations

from ..sandbox.errors import CircletError


class GateFault(CircletError):
    """A gate is misdeclared, or is called before what it needs has been bound."""


class GateArgumentError(GateFault, TypeError):
    """A call's arguments don't fit the gate; the text names the argument."""


class GateTimeout(GateFault, TimeoutError):
    """A gate gave no answer within its ``timeout_s``."""


class UnknownGate(GateFault, LookupError):
    """No gate goes by that name; the text lists those that there are."""
