"""The errors of the sandbox. The runtime's family hangs under the same root.

CircletError
├── SandboxError
│   ├── BackendUnavailable     the back end that was asked for can't be had here
│   ├── PackageUnavailable     a package can't be loaded into a sandbox
│   ├── SandboxClosed          the session was closed, or its zygote is gone
│   ├── ProtocolError          a frame from a worker breaks the protocol; the worker is killed
│   ├── CodecError             a value can't cross the boundary, or its bytes are malformed
│   └── NoSuchVariable         the namespace holds no such name (also a KeyError)
├── GateFault                  gates/errors.py: a gate is misdeclared
└── RuntimeFault               runtime/errors.py draws the rest
"""

from __future__ import annotations


class CircletError(Exception):
    """The root of every error that circlet raises to its caller."""


class SandboxError(CircletError):
    """Something about a sandbox session failed, other than the program in it."""


class BackendUnavailable(SandboxError):
    """The back end that was asked for can't be had on this machine; the text says why."""


class PackageUnavailable(SandboxError):
    """A package is there, and can't be loaded into a sandbox; the text says why."""


class SandboxClosed(SandboxError):
    """The session was closed, or the process that its workers come from is gone."""


class ProtocolError(SandboxError):
    """A worker sent what the protocol does not allow. The worker has been killed."""


class CodecError(SandboxError):
    """A value can't cross the boundary, or the bytes of one are malformed."""


class NoSuchVariable(SandboxError, KeyError):
    """The session's namespace holds no variable of that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
