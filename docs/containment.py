"""Writes ``docs/containment.md`` from the list of what probes reach by design.

python docs/containment.py
"""

from __future__ import annotations

import sys
from collections.abc import Iterator
from pathlib import Path

PAGE = Path(__file__).with_name("containment.md")
BENCHMARKS = Path(__file__).parents[1] / "benchmarks"

sys.path.insert(0, str(BENCHMARKS))
try:
    from suites import features, probes, ways
finally:
    sys.path.remove(str(BENCHMARKS))


def page() -> str:
    """The whole page."""
    return "\n".join((*_intro(), *_features()))


def _intro() -> Iterator[str]:
    yield """# Containment

Two walls stand around a program, the language's and the kernel's, and each has to hold alone.
Whether they do is tried with small hostile programs, the probes of `tests/escape`:

    python benchmarks/containment.py

runs each in three ways, `--portable` in a fourth, and fails where one gets out.
"""
    yield from (f"- `{name}`: {meaning}." for name, meaning in ways.WAYS.items())
    yield """
A probe says by its first line what it is after.
"""
    yield from (f"- `{kind}`: {meaning}." for kind, meaning in probes.KINDS.items())
    yield """
Each is judged from outside. Secrets lie in a file that everybody may read, in the host's
environment and memory, in another process's arguments and in another session; none may turn up in
what the host is told. A folder that everybody may write to, ports that listen, a process to signal
and the host's own state are watched. Another session takes turns all the while, and nothing may
disturb it; it also shows that the host answers others while a probe of kind `dos` runs into its
limit. After each probe a turn has to find all as it was, where the program has not been given its
own process to wreck.

Behind the language's wall, alone or not, `cap` must reach nothing; `leak` and `int` nothing but
what is listed below. With the kernel's wall alone a program has the whole interpreter in its hands,
so there only what it does to others counts.

## What probes reach by design

Each of these ends with a value that it calls a success, and none of them leads out.
"""


def _features() -> Iterator[str]:
    known = {probe.name: probe for probe in probes.probes()}
    for reason, names in features.by_reason():
        yield f"{reason}\n"
        for name in names:
            yield f"- `{name}` ({known[name].kind}): {known[name].technique}"
        yield ""


if __name__ == "__main__":
    PAGE.write_text(page(), encoding="utf-8")
