"""The agent: a cantrip's entities behind the Agent Client Protocol (``PROD-6``, ``PROD-7``)."""

from .agent import SpellAgent
from .server import exchange, serve
from .updates import META

__all__ = ["META", "SpellAgent", "exchange", "serve"]
