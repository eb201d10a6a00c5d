"""What a session's program may use up."""

from __future__ import annotations

from dataclasses import dataclass

MAX_TURN_OUTPUT = 10_000_000
"""Characters of one turn's output that are kept whole; past it head and tail are."""
HEAD_CHARS = MAX_TURN_OUTPUT // 2
"""Characters that are then kept from its beginning."""
MAX_TEXT = MAX_TURN_OUTPUT // 4
"""Characters of an error's whole text, or of a value as text: ten megabytes of any characters."""
MAX_IMAGE = 256_000_000
"""Largest image of a session's state, in bytes."""
IMAGE_SECONDS = 30.0
"""Time that writing an image may take a worker, or reading one."""


@dataclass(frozen=True, slots=True)
class Limits:
    """The bounds of one session.

    Args:
        eval_ms: Time that one turn's own code may take, in milliseconds. Time spent
            inside a gate does not count. Default 30,000.
        memory_mb: Memory that the program may take beyond what its worker starts with,
            in MiB. Default 512.
        output_chars: Length of one turn's observation as a model is shown it, in
            characters; the middle of a longer one is left out. Default 20,000.

    Raises:
        ValueError: A limit is not a whole number of its allowed range.
    """

    eval_ms: int = 30_000
    memory_mb: int = 512
    output_chars: int = 20_000

    def __post_init__(self) -> None:
        for name, low, high in (
            ("eval_ms", 1, 86_400_000),
            ("memory_mb", 8, 1_048_576),
            ("output_chars", 200, 10_000_000),
        ):
            value = getattr(self, name)
            if type(value) is not int or not low <= value <= high:
                raise ValueError(f"{name} must be a whole number, {low:,} to {high:,}: {value!r}")
