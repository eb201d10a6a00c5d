"""The errors of the sandbox. The runtime's family hangs under the same root.

CircletError
├── SandboxError
│   ├── BackendUnavailable     the back end that was asked for can't be had here
│   ├── PackageUnavailable     a package can't be loaded into a sandbox
│   ├── NoCapacity             there may be no more workers, or memory or descriptors run out
│   ├── BadVariable            an environment variable holds no number (also a ValueError)
│   ├── CheckpointUnavailable  a checkpoint can't be made, or not be gone back to
│   ├── CannotDump             a session's state can't be written into an image
│   ├── ImageError             an image can't be loaded
│   │   ├── UntrustedImage     it is not signed with this user's key
│   │   └── ImageMismatch      it was made by other versions, or needs what isn't given
│   ├── SandboxClosed          the session was closed, or its zygote is gone
│   ├── ProtocolError          a frame from a worker breaks the protocol; the worker is killed
│   ├── CodecError             a value can't cross the boundary, or its bytes are malformed
│   └── NoSuchVariable         the namespace holds no such name (also a KeyError)
├── GateFault                  gates/errors.py: a gate is misdeclared
└── RuntimeFault               runtime/errors.py draws the rest
"""

from __future__ import annotations

from collections.abc import Mapping


class CircletError(Exception):
    """The root of every error that circlet raises to its caller."""


class SandboxError(CircletError):
    """Something about a sandbox session failed, other than the program in it."""


class BackendUnavailable(SandboxError):
    """The back end that was asked for can't be had on this machine; the text says why."""


class PackageUnavailable(SandboxError):
    """A package is there, and can't be loaded into a sandbox; the text says why."""


class CannotDump(SandboxError):
    """A session's state can't be written into an image; the text says why.

    Attributes:
        reasons: The variables that can't be kept, each with the reason.
    """

    def __init__(self, message: str, reasons: Mapping[str, str] | None = None) -> None:
        super().__init__(message)
        self.reasons = dict(reasons or {})


class ImageError(SandboxError):
    """An image can't be loaded, or not be signed; the text says why."""


class UntrustedImage(ImageError):
    """An image is not signed with this user's key, so anybody may have written it."""


class ImageMismatch(ImageError):
    """An image was made by other versions, or in a session that had what this one lacks."""


class SandboxClosed(SandboxError):
    """The session was closed, or the process that its workers come from is gone."""


class NoCapacity(SandboxError):
    """There is no room for another worker; the text names the bound, and what is in use."""


class BadVariable(SandboxError, ValueError):
    """An environment variable that circlet reads holds something else than it should."""


class CheckpointUnavailable(SandboxError):
    """A checkpoint can't be made, or there is no way back to it; the text says why."""


class ProtocolError(SandboxError):
    """A worker sent what the protocol does not allow. The worker has been killed."""


class CodecError(SandboxError):
    """A value can't cross the boundary, or the bytes of one are malformed."""


class NoSuchVariable(SandboxError, KeyError):
    """The session's namespace holds no variable of that name."""

    def __str__(self) -> str:
        return str(self.args[0]) if self.args else ""
