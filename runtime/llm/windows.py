"""How many tokens of messages a model takes: what is known, and what a provider tells.

What is known is data, with a reason each. A model that isn't in here has no known window: then
a ``Folding`` says it, or the provider does, when it refuses messages that are too long.
"""

from __future__ import annotations

import re
from typing import NamedTuple


class Window(NamedTuple):
    """What is known of a family of models.

    Attributes:
        tokens: How many tokens of messages they take.
        reason: Why that many.
    """

    tokens: int
    reason: str


_TOLD = "the window that the provider's list of models gives for the family"
_APART = "400,000 in all, of which 128,000 are kept for the reply"
_SMALLEST = "the smallest window of the family; some take more, or do when they are asked to"

WINDOWS: dict[str, Window] = {
    "gpt-5": Window(272_000, _APART),
    "gpt-5-chat": Window(128_000, _TOLD),
    "gpt-5.1-chat": Window(128_000, _TOLD),
    "gpt-5.2-chat": Window(128_000, _TOLD),
    "gpt-4.1": Window(1_047_576, _TOLD),
    "gpt-4o": Window(128_000, _TOLD),
    "gpt-4-turbo": Window(128_000, _TOLD),
    "gpt-3.5-turbo": Window(16_385, _TOLD),
    "gpt-oss": Window(131_072, _TOLD),
    "o1": Window(200_000, _TOLD),
    "o1-mini": Window(128_000, _TOLD),
    "o1-preview": Window(128_000, _TOLD),
    "o3": Window(200_000, _TOLD),
    "o4-mini": Window(200_000, _TOLD),
    "claude-": Window(200_000, _SMALLEST),
    "gemini-2": Window(1_048_576, _TOLD),
    "gemini-3": Window(1_048_576, _TOLD),
}
"""Windows by the beginning of a model's name; the longest that fits counts."""


def known_window(model: str) -> int | None:
    """The window of a model, in tokens; None where it isn't known.

    Args:
        model: Its name as the provider has it; a vendor before a slash is left aside.
    """
    name = model.rpartition("/")[2].lower()
    fitting = [beginning for beginning in WINDOWS if name.startswith(beginning)]
    return WINDOWS[max(fitting, key=len)].tokens if fitting else None


_NUMBER = r"(\d[\d,_.]*\d|\d)"
_TELLING = re.compile(
    rf"(?:maximum context length|context (?:window|length|size)|maximum number of tokens allowed)"
    rf"[^\d]{{0,40}}{_NUMBER}"
    rf"|>\s*{_NUMBER}\s*(?:tokens\s*)?maximum"
    rf"|maximum (?:of|is)\s*{_NUMBER}\s*tokens",
    re.IGNORECASE,
)
"""How providers put it: the largest number that they would have taken."""


def told_window(text: str) -> int | None:
    """The window that a provider's refusal tells, in tokens; None where it tells none."""
    found = _TELLING.search(text)
    if found is None:
        return None
    number = next(group for group in found.groups() if group)
    return int(re.sub(r"\D", "", number)) or None
