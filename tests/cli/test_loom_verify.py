"""``circlet loom verify`` and ``import``: whether a run is whole, and how it is taken over."""

from __future__ import annotations

import json

import pytest
from circlet import Cantrip, Circle, Loom, ScriptedLLM


@pytest.fixture(params=["sqlite", "jsonl"])
def run(request, place):
    """A run with two turns and a context in a blob."""
    circle = Circle(medium="code", gates=["done"], wards=[{"max_turns": 3}])
    llm = ScriptedLLM([{"code": "x = len(context)"}, {"code": "done(x)"}])
    with Loom(place.path / "run", format=request.param) as loom:
        Cantrip(llm=llm, circle=circle, loom=loom).cast("count", context="c" * 9_000)
    return place.path / "run"


def blob_of(run):
    """The file of the run's context."""
    [blob] = [path for path in (run / "blobs").rglob("*") if path.stat().st_size > 9_000]
    return blob


def test_a_whole_run(place, run):
    """What was read is told in one line, with the chain's end to note; exit code 0."""
    done = place.invoke("loom", "verify", "run")
    assert (done.exit_code, done.stderr) == (0, "")
    told, chain = done.stdout.splitlines()
    assert told.endswith(" records, 1 blob: whole")
    assert chain.startswith("chain ")
    assert len(chain) == 70


def test_a_damaged_run(place, run):
    """Each fault is named, and the exit code is 1."""
    blob = blob_of(run)
    blob.write_bytes(b"x" + blob.read_bytes()[1:])
    done = place.invoke("loom", "verify", "run")
    assert done.exit_code == 1
    faults = done.stdout.splitlines()[:-2]
    assert faults
    assert all(blob.name in fault and "is damaged" in fault for fault in faults)
    assert done.stdout.splitlines()[-2].endswith(f": {len(faults)} fault" + "s" * (len(faults) > 1))


def test_as_json(place, run):
    """``--json`` gives the same to programs."""
    told = json.loads(place.invoke("loom", "verify", "run", "--json").stdout)
    assert (told["whole"], told["faults"], told["blobs"]) == (True, [], 1)
    blob_of(run).write_bytes(b"")
    done = place.invoke("loom", "verify", "run", "--json")
    told = json.loads(done.stdout)
    assert (done.exit_code, told["whole"]) == (1, False)
    assert {"n", "of", "what"} == told["faults"][0].keys()


@pytest.mark.parametrize("name", ["gone", "."])
def test_no_run(place, name):
    """A DIR without a loom is a usage error."""
    done = place.invoke("loom", "verify", name)
    assert (done.exit_code, done.stdout) == (2, "")
    assert f"there is no loom at {name}" in done.stderr


def test_a_control_sequence_in_a_name(place, run):
    """What an entity may have named is shown without harm to a terminal."""
    lines = (run / "loom.jsonl", run / "loom.db")
    if lines[0].exists():
        text = lines[0].read_text().replace('"kind":"intent"', '"kind":"\\u001b[31mred"')
        lines[0].write_text(text)
        done = place.invoke("loom", "verify", "run")
        assert done.exit_code in (1, 2)
        assert "\x1b" not in done.stdout + done.stderr


@pytest.mark.parametrize("layout", ["sqlite", "jsonl"])
def test_export_and_import(place, run, layout):
    """An export with all in it becomes a run of either format; it shows and verifies the same."""
    assert (
        place.invoke("loom", "export", "run", "--redaction", "none", "--out", "all.jsonl").exit_code
        == 0
    )
    done = place.invoke("loom", "import", "all.jsonl", "new", "--format", layout)
    assert (done.exit_code, done.stderr) == (0, "")
    assert done.stdout == "new: 1 entity, 2 nodes\n"
    before, after = (place.invoke("loom", "verify", name).stdout for name in ("run", "new"))
    assert before == after
    shown = [place.invoke("loom", "show", name).stdout.split("\n", 1)[1] for name in ("run", "new")]
    assert shown[0] == shown[1]


def test_import_of_a_redacted_export(place, run):
    """One line says why it can't be taken over and how a whole one is made."""
    place.invoke("loom", "export", "run", "--out", "some.jsonl")
    done = place.invoke("loom", "import", "some.jsonl", "new")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "it is redacted" in done.stderr
    assert done.stderr.count("\n") == 1
    assert not (place.path / "new").exists()


def test_import_where_a_run_is(place, run):
    """A DIR that holds something is a usage error, and stays as it is."""
    done = place.invoke("loom", "import", "run", "run")
    assert (done.exit_code, done.stdout) == (2, "")
    assert "run is not empty" in done.stderr
    assert place.invoke("loom", "verify", "run").exit_code == 0
