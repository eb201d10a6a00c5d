"""A session as its host holds it: ``Sandbox`` blocks, ``AsyncSandbox`` awaits, over one wire."""

from __future__ import annotations

from .awaiting import AsyncSandbox
from .blocking import Sandbox
from .settings import Backend

__all__ = ["AsyncSandbox", "Backend", "Sandbox"]
