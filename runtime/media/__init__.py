"""Media: the substrates that an entity acts in."""

from __future__ import annotations

from .base import Act, Desk, Medium, Surroundings
from .code import Code
from .conversation import Conversation

MAKERS: dict[str, type[Conversation] | type[Code]] = {"conversation": Conversation, "code": Code}
"""The media by name."""

__all__ = ["MAKERS", "Act", "Code", "Conversation", "Desk", "Medium", "Surroundings"]
