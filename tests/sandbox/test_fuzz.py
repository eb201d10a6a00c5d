"""The host's side of the wire under bytes that nobody meant: its own errors, and no other."""

import datetime as dt
import importlib.util
import json
import random
import subprocess
import sys
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from circlet.sandbox.outcomes import ChildFailed, Truncated
from circlet.sandbox.wire import Described, seal
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

SCRIPT = Path(__file__).parents[1] / "fuzz" / "wire.py"
_spec = importlib.util.spec_from_file_location("circlet_fuzz_wire", SCRIPT)
assert _spec is not None
assert _spec.loader is not None
wire = importlib.util.module_from_spec(_spec)
_spec.loader.exec_module(wire)

EXAMPLES, TURNS, ANSWERS = 150, 500, 200
"""Conversations, and how many mutations are made of the turn and of the answers of each."""

atoms = (
    st.none()
    | st.booleans()
    | st.integers(-(2**200), 2**200)
    | st.floats()
    | st.text(st.characters(), max_size=20)
    | st.binary(max_size=20)
    | st.decimals(allow_nan=False)
    | st.fractions()
    | st.complex_numbers()
    | st.datetimes(timezones=st.just(dt.UTC))
    | st.timedeltas()
)
hashables = st.recursive(atoms, lambda inner: st.lists(inner, max_size=3).map(tuple), max_leaves=4)
values = st.recursive(
    hashables
    | st.builds(ChildFailed, st.text(), st.text())
    | st.builds(Described, st.text(), st.text()),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(hashables, inner, max_size=4)
        | st.sets(hashables, max_size=3)
        | st.frozensets(hashables, max_size=3)
        | st.builds(Truncated, st.text(), inner)
        | inner.map(seal)
    ),
    max_leaves=8,
)


@pytest.mark.filterwarnings("error")
def test_a_hundred_thousand_mutated_conversations() -> None:
    """Whatever becomes of a worker's frames, the host raises nothing but what ends the worker."""
    came_to: Counter[str] = Counter()

    @settings(
        max_examples=EXAMPLES,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )
    @given(st.lists(values, max_size=3), st.text(st.characters(), max_size=30), st.integers(0))
    def mutate(given: list[Any], text: str, seed: int) -> None:
        rng = random.Random(seed)
        turn = wire.conversation(given, text)
        assert wire.run_turn(b"".join(turn)) == "done"
        for _ in range(TURNS):
            came_to[wire.run_turn(wire.mutate(turn, rng))] += 1
        frames = wire.answers(given)
        for _ in range(ANSWERS):
            talk = rng.choice(wire.TALKS[1:])
            came_to[talk(wire.mutate(rng.choice(frames), rng))] += 1

    mutate()
    assert came_to.total() >= 100_000
    assert {"ok", "done", "crashed", "value", "taken", "dumped", "loaded"} <= {*came_to}
    assert {"ProtocolError", "CodecError", "CannotDump", "ImageError"} <= {*came_to}


def test_no_bytes_of_a_workers_run_anything() -> None:
    """Over all that a worker sends, the host compiles, imports, unpickles and opens nothing.

    Its memory stays as it was.
    """
    done = subprocess.run(
        [sys.executable, "-W", "error", SCRIPT, "random", "20000"],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    told = json.loads(done.stdout)
    assert told["caused"] == {}
    assert sum(told["outcomes"].values()) > 20_000
    assert told["grown_kib"] < 64 * 1024


@pytest.mark.atheris
def test_nothing_is_found_by_coverage(tmp_path: Path) -> None:
    """Inputs that are made by what they reach find no other error either, in some seconds."""
    done = subprocess.run(
        [sys.executable, SCRIPT, "atheris", "20", tmp_path],
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr[-4_000:]
