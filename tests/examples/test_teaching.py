"""The teaching examples, each run as its reader runs it: as a script, without a key."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

EXAMPLES = Path(__file__).parents[2] / "examples"
WATCHDOG_S = 300
PROMISED = {
    "01_query": [
        "You have not told me of a module",
        "retry 1 in 0.1 s: scripted answered 503",
        "result: 'heapq'",
    ],
    "02_gate": [
        "order: count must be greater than or equal to 1, got 0",
        "Error: there is no part 'bolts M6'; there are bolt M5",
        "Error: order: count must be an integer, got '500'",
        "orders on the host: [('bolt M6', 200), ('bolt M6', 200)]",
    ],
    "03_circle": [
        "circle must have a done gate",
        "cantrip must have at least one truncation ward",
        "circle must declare exactly one medium",
        "NameError: name 'write' is not defined",
        "goes up with '..'; stay beneath the root",
        "result: 8",
    ],
    "04_cantrip": [
        "identity is immutable",
        "NameError: name 'counted' is not defined",
        "three entities in one loom: True",
    ],
    "05_wards": [
        "TurnTimeout: the turn was stopped after 500 ms",
        "result: (86, 155921, 156007)",
        "truncated by max_turns: Stopped by max_turns after 3 turns",
        "terminated: False  truncated: True",
        "max_turns: parent    10, asked   100, child    10",
    ],
    "06_medium": ["conversation: 4 turns", "code: 2 turns", "both answers are right: True"],
    "07_coding": ["FAILED (failures=1)", "FAILED (failures=2)", "Ran 3 tests", "\nOK\n"],
    "08_folding": [
        "[Folded: turns 1-4]",
        "turn 2 printed Bergen",
        "The first program was 'means = {}",
    ],
    "09_composition": ["Lyon Truncated(reason='max_turns'", "the same: True", "entities: 7"],
    "10_loom": [
        "the sensor was asked again: 0 times",
        "strategy='replay'",
        "loom is append-only",
        "the key in it: False",
        "[redacted: OpenAI key]",
    ],
    "11_persistence": [
        "it died with exit code 9",
        'begun: file_month {"month": "2024-05"',
        "is being written by process",
        "may or may not have happened",
        "2024-05 was not filed",
        "file_month x13, filed x2, done",
        "months on disk: 12",
    ],
    "12_familiar": [
        "GateError: cantrip must have at least one truncation ward",
        "turn 2 cast_cantrip went well",
        "what its model is told of the first day: [Folded: turns 1-2]",
        "entities in the loom: 3",
    ],
    "13_needle": [
        "[... 9,999,481 characters left out ...]",
        "the needle: True",
        "the errors: True",
    ],
    "14_best_of_n": [
        "replay: scripted answered 400: the provider is out of order",
        "the archive was asked 1 time",
        "rank 1  reward  1.00",
        "1 of 7 pass",
        "completions: 7",
    ],
}
"""What each example promises to show, as it stands in its output."""
NOT_ENDED = {"14_best_of_n": 1}
"""How many entities are never done: a provider failed."""


def run(name, tmp_path, *arguments):
    """Run an example in a folder of its own, which is its temporary one too."""
    return subprocess.run(
        [sys.executable, EXAMPLES / f"{name}.py", *arguments],
        cwd=tmp_path,
        env={**os.environ, "TMPDIR": str(tmp_path), "PYTHONDONTWRITEBYTECODE": "1"},
        capture_output=True,
        text=True,
        timeout=WATCHDOG_S,
    )


def test_each_example_is_tried():
    """No example is without a promise, and none is without its row in the list of them."""
    there = {path.stem for path in EXAMPLES.glob("[0-9]*.py")}
    listed = re.findall(r"^\| `(\d\w+)\.py` \|", (EXAMPLES / "README.md").read_text(), re.MULTILINE)
    assert there == set(PROMISED) == set(listed)
    assert len(listed) == len(there)


@pytest.mark.parametrize("name", PROMISED)
def test_an_example_shows_what_it_promises(name, tmp_path):
    """It ends well, shows what it teaches and what the loom recorded, and leaves nothing."""
    done = run(name, tmp_path)
    assert done.returncode == 0, done.stderr
    assert done.stderr == ""
    for text in PROMISED[name]:
        assert text in done.stdout
    _, _, table = done.stdout.partition("\nthe loom ")
    assert re.search(r"turn +entity +gates called +outcome", table)
    rooted = re.findall(r"^  ([A-Z])[^:]*: ", table, re.MULTILINE)
    ended = re.findall(
        r"^ +\d+(?: part \d+)? +([A-Z])[ ,].*(?:terminated|truncated): ", table, re.MULTILINE
    )
    assert len(set(rooted) - set(ended)) == NOT_ENDED.get(name, 0)
    assert set(ended) <= set(rooted)
    assert list(tmp_path.iterdir()) == []


def test_a_model_that_cannot_be_had_is_one_line(tmp_path):
    """``--llm`` takes the script's place; one that names no provider ends with what there is."""
    done = run("01_query", tmp_path, "--llm", "nobody:x")
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert "'nobody:x' names no provider" in done.stderr
