"""The README's programs run as printed, and say what it says they say."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

README = Path(__file__).parents[1] / "README.md"
BLOCKS = re.findall(r"^```python\n(.*?)^```$", README.read_text(), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("block", BLOCKS, ids=range(len(BLOCKS)))
def test_a_program_of_the_readme(block):
    """Each program runs, and prints what stands after ``# ->``, in that order."""
    done = subprocess.run(
        [sys.executable, "-c", block], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    expected = re.findall(r"# -> (.+)$", block, re.MULTILINE)
    assert [line for line in done.stdout.splitlines() if line in expected] == expected


def test_the_readme_has_programs():
    """One for the sandbox, an entity, a gate, survival, forks and resuming."""
    assert len(BLOCKS) == 6
