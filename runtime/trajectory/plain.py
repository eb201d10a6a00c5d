"""How what stands in a trajectory is written: texts in its events, and the files beside it."""

from __future__ import annotations

import json
from typing import Any

from ...sandbox.execution import clip
from ..jsonable import to_json
from ..redaction import redact

TASK_CHARS = 2_000
"""Characters of an intent that stand in an event."""
TEXT_CHARS = 200
"""Characters of other texts that do."""


def canonical(value: Any) -> bytes:
    """A value as JSON that is the same wherever the value is: sorted, compact, all ASCII.

    What JSON lacks is tagged as ``jsonable.to_json`` has it.
    """
    plain = to_json(value)
    return json.dumps(plain, sort_keys=True, allow_nan=False, separators=(",", ":")).encode()


def shown(text: str, limit: int = TEXT_CHARS) -> str:
    """A text as it may stand in an event: without secrets, bounded, without broken characters."""
    clipped = clip(redact(text), limit)
    return clipped.encode("utf-8", "replace").decode("utf-8")


def blob_path(digest: str) -> str:
    """Where a blob stands in the run's directory."""
    return f"blobs/{digest[:2]}/{digest}"
