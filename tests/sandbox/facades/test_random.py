"""``random``: no two sessions share a stream of numbers by accident."""

import pytest
from circlet.sandbox import Sandbox

DRAWS = {
    "numbers": "import random\n[random.random() for _ in range(4)]",
    "a generator of its own": "import random\n[random.Random().random() for _ in range(4)]",
    "identifiers": "import uuid\n[str(uuid.uuid4()), str(uuid.uuid1())]",
    "secrets": "import secrets\nsecrets.token_hex()",
}


@pytest.mark.parametrize("draw", DRAWS)
def test_sessions_draw_other_numbers(backend: str, draw: str) -> None:
    """Workers are forked from one process, which has drawn nothing for them."""
    seen = []
    for _ in range(3):
        with Sandbox(backend=backend) as box:
            seen.append(str(box.run(DRAWS[draw]).value))
    assert len(set(seen)) == 3
