"""The invariant: every request that reached a model is rebuilt from the stream and its files."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path

import pytest
from circlet import Folding, Loom, ScriptedLLM, gate
from circlet.runtime.errors import LoomError, TrajectoryError
from circlet.runtime.llm.retry import Retry
from circlet.runtime.redaction import Secrets
from circlet.runtime.trajectory.compare import compare
from circlet.runtime.trajectory.export import export
from circlet.runtime.trajectory.runs import trajectories
from circlet.runtime.trajectory.verify import Report, verify

KEY = "sk-proj-very-secret-indeed"
TREE = {
    "root": [
        {"code": "x = 1\nprint(x)"},
        {"code": "done(call_entity_batch([{'intent': f'part {n}'} for n in range(3)]))"},
    ],
    "part": [{"code": "print('looking')"}, {"code": "done(1)"}],
}


def check(directory: Path) -> list[Report]:
    """What checking every trajectory in a directory comes to."""
    return [verify(one.path, one.directory) for one in trajectories(directory)]


def faults(directory: Path) -> list[str]:
    """All faults that are named, those by the loom too."""
    named: list[str] = []
    for one in trajectories(directory):
        report = verify(one.path, one.directory)
        named += map(str, report.faults)
        with Loom(directory, read_only=True) as loom:
            named += map(str, compare(report, loom, one.root or next(iter(loom.entities))))
    return named


@pytest.fixture
def run(kept, deep):
    """A run of a root and three children, closed."""
    deep(TREE, loom=kept.loom).cast("root")
    kept.loom.close()
    return kept


def test_requests_of_children_are_rebuilt(run):
    """Children write into the same stream, and each of their requests is rebuilt."""
    (report,) = check(run.directory)
    assert (report.rebuilt, report.requests, report.passed) == (8, 8, True)
    assert faults(run.directory) == []


def test_requests_after_folds_and_retries_are_rebuilt(kept, code):
    """A fold changes what is sent, and a retry sends it again: all of it is rebuilt."""
    replies = [{"code": "x = 1"}, {"error": {"status": 500, "message": "busy"}}]
    replies += [{"code": "x += 1"}] * 5 + [{"code": "done(x)"}]
    folding, retry = Folding(after_turns=3), Retry(base_s=0)
    code(ScriptedLLM(replies), loom=kept.loom, folding=folding, retry=retry).cast("go")
    (report,) = check(kept.directory)
    assert (report.rebuilt, report.requests, report.faults) == (8, 8, [])


def test_forks_have_streams_of_their_own(kept, code):
    """A fork is a root: its stream holds what its model was sent, its past included."""
    spell = code([{"code": "x = 1"}, {"code": "done(x)"}], loom=kept.loom)
    first = spell.cast("go")
    forks = spell.fork(first.thread, 1, "on", llm=ScriptedLLM([{"code": "done(x + 1)"}] * 2), n=2)
    kept.loom.close()
    assert len(trajectories(kept.directory)) == 3
    assert [report.passed for report in check(kept.directory)] == [True] * 3
    assert all((kept.directory / "runs" / fork.entity_id).is_dir() for fork in forks)
    assert faults(kept.directory) == []


def test_a_resumed_run_goes_on_with_its_stream(kept, code):
    """What died and was resumed is one stream, without a gap in its ordinals."""
    closed: list[bool] = []

    @gate(idempotent=True)
    def work() -> int:
        if not closed:
            closed.append(True)
            kept.loom.close()  # nothing more is recorded, as where the process dies
        return 1

    replies = [{"code": "x = work()"}, {"code": "done(x)"}]
    with pytest.raises(LoomError):
        code(replies, work, loom=kept.loom).cast("go")
    before = kept.path.read_bytes()
    with Loom(kept.directory) as loom:
        assert code(replies, work, loom=loom).resume().result == 1
    assert kept.path.read_bytes().startswith(before)
    assert [event.kind for event in kept.events()].count("run_end") == 1
    assert faults(kept.directory) == []


# -- what was altered ----------------------------------------------------------------------------


def test_any_altered_byte_is_found(run, tmp_path):
    """A byte that is changed in a block, a card, a reply or an event up to the last query is found.

    What comes after that query can't be told by what was sent: how long the run took, say.
    """
    paths = [run.path, *(run.directory / "blobs").glob("*/*")]
    referred = {path.name for path in paths[1:]}
    assert len(referred) > 20
    for path in paths:
        data = path.read_bytes()
        end = data.rindex(b'"kind":"driver_call"') if path == run.path else len(data)
        places = range(0, end, max(end // 12, 1))
        for place in places:
            path.write_bytes(data[:place] + bytes([data[place] ^ 1]) + data[place + 1 :])
            (report,) = check(run.directory)
            named = [fault.file for fault in report.faults]
            if path == run.path:
                assert named
                assert not report.passed
            else:
                assert path.relative_to(run.directory).as_posix() in named
        path.write_bytes(data)
    assert check(run.directory)[0].passed


def _numbered(line: bytes, seq: int) -> bytes:
    """An event's line with another seq."""
    return re.sub(rb'"seq":\d+', b'"seq":%d' % seq, line)


@pytest.mark.parametrize(
    ("change", "seq", "what"),
    [
        (lambda lines: lines[:3] + lines[4:], 5, "it comes where seq 4 should"),
        (lambda lines: lines[:3] + lines[6:], 7, "it comes where seq 4 should"),
        (lambda lines: [*lines[:4], lines[3], *lines[4:]], 4, "it stands after seq 4"),
        (lambda lines: [*lines[:3], lines[4], lines[3], *lines[5:]], 5, "where seq 4 should"),
        (lambda lines: [*lines[:3], _numbered(lines[3], 40), *lines[4:]], 40, "where seq 4 should"),
        (lambda lines: [*lines[:3], b'{"x":1}\n', *lines[3:]], 4, "it has no kind"),
        (lambda lines: [*lines[:-1], lines[-1][:-5]], -1, "the line is cut short"),
    ],
    ids=["removed", "some removed", "twice", "swapped", "false seq", "added", "cut"],
)
def test_lines_that_are_not_as_they_were(run, change, seq, what):
    """A line that is missing, repeated, out of its place or cut short is named, and not each after.

    What comes after it is checked as if nothing had happened.
    """
    lines = run.path.read_bytes().splitlines(keepends=True)
    run.path.write_bytes(b"".join(change(lines)))
    (report,) = check(run.directory)
    first = report.faults[0]
    assert (first.seq, first.file) == (seq % (len(lines) + 1), "trajectory.jsonl")
    assert what in first.what
    assert len(report.faults) < 6
    assert report.requests == b"".join(change(lines)).count(b'"kind":"driver_call"')
    assert report.rebuilt >= report.requests - 1 >= 6
    assert not report.passed


def test_a_file_that_is_gone(run):
    """A block that is gone is named by its path, and what it was part of is not rebuilt."""
    source = run.of("inject")[0].source
    (run.directory / source).unlink()
    (report,) = check(run.directory)
    assert any(fault.file == source and "can't be read" in fault.what for fault in report.faults)
    assert report.rebuilt < report.requests == 8


def test_an_event_that_was_made_up(run):
    """A result that answers no query is found."""
    lines = run.path.read_bytes().splitlines(keepends=True)
    results = [n for n, event in enumerate(run.events()) if event.kind == "driver_result"]
    event = json.loads(lines[results[0]])
    event["seq"] = len(lines) + 1
    run.path.write_bytes(b"".join([*lines, json.dumps(event).encode() + b"\n"]))
    (report,) = check(run.directory)
    assert {fault.seq for fault in report.faults} == {len(lines) + 1}
    assert "answers no query" in report.faults[-1].what


def test_an_empty_stream_is_no_proof(run):
    """A stream without an event proves nothing."""
    run.path.write_bytes(b"")
    (report,) = check(run.directory)
    assert not report.passed
    assert str(report.faults[0]) == "trajectory.jsonl: it is empty"


def test_a_reply_that_the_loom_has_otherwise(run, tmp_path, deep):
    """The stream is compared with the loom: other replies there are named by their record."""
    other = tmp_path / "other"
    with Loom(other) as loom:
        deep({**TREE, "root": [{"code": "x = 2"}, TREE["root"][1]]}, loom=loom).cast("root")
    shutil.copy(other / "trajectory.jsonl", run.path)
    shutil.copytree(other / "blobs", run.directory / "blobs", dirs_exist_ok=True)
    assert check(run.directory)[0].passed
    assert [fault.split(":")[0] for fault in faults(run.directory)] == ["the loom"]


def test_a_reply_that_only_the_loom_has(run):
    """Replies of the loom that the stream lacks are named by their record."""
    lines = run.path.read_bytes().splitlines(keepends=True)
    last = max(n for n, event in enumerate(run.events()) if event.kind == "driver_result")
    run.path.write_bytes(b"".join(lines[:last]))
    assert any(
        fault.startswith("the loom's record") and "no such reply" in fault
        for fault in faults(run.directory)
    )


def test_no_trajectory_is_an_error(tmp_path):
    """A directory without a trajectory is told of, with the file that it lacks."""
    with pytest.raises(TrajectoryError, match=r"holds no trajectory\.jsonl"):
        trajectories(tmp_path)


# -- copies without secrets ----------------------------------------------------------------------


def test_a_copy_without_secrets_says_what_is_withheld(kept, code, tmp_path):
    """PROD-8: a redacted copy has no secret, is in order, and does not pass for the whole."""
    code([{"code": f"key = '{KEY}'"}, {"code": "done(1)"}], loom=kept.loom).cast("go")
    kept.loom.close()
    export(trajectories(kept.directory), tmp_path / "copy", Secrets())
    whole = b"".join(path.read_bytes() for path in (tmp_path / "copy").rglob("*") if path.is_file())
    assert KEY.encode() not in whole
    (report,) = check(tmp_path / "copy")
    assert report.faults == []
    assert (report.rebuilt, report.requests, report.passed) == (1, 2, False)
    assert len(report.withheld) == 1


def test_a_copy_without_secrets_in_it_passes(run, tmp_path):
    """Where there was nothing to withhold the copy is as good as the original."""
    export(trajectories(run.directory), tmp_path / "copy", Secrets())
    assert check(tmp_path / "copy")[0].passed
