"""The gate that ends a loop with an answer."""

from __future__ import annotations

from typing import Any

from .gate import gate


@gate(final=True, idempotent=True, seal=("answer",))
def done(answer: Any) -> Any:
    """Finish: hand in the answer and stop.

    Call it once the intent is met. Nothing after it runs.

    Args:
        answer: The result, of any type; it reaches the caller unchanged.
    """
    # CIRCLE-8: an int stays an int, and a sealed answer stays sealed.
    return answer
