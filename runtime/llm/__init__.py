"""Language models: the seam that each fits, a scripted one, and real ones."""

from __future__ import annotations

from .base import (
    LLM,
    Claimed,
    Heard,
    Message,
    Reply,
    Request,
    Tool,
    ToolCall,
    Usage,
    check_linkage,
    check_reply,
)
from .chat import normalise
from .openai import OpenAILLM
from .registry import llm
from .retry import Retry, with_retry
from .scripted import ScriptedLLM

__all__ = [
    "LLM",
    "Claimed",
    "Heard",
    "Message",
    "OpenAILLM",
    "Reply",
    "Request",
    "Retry",
    "ScriptedLLM",
    "Tool",
    "ToolCall",
    "Usage",
    "check_linkage",
    "check_reply",
    "llm",
    "normalise",
    "with_retry",
]
