"""The file: added to at its end, gone on with, and whole whatever happened to it."""

from __future__ import annotations

import logging
import os
import subprocess
import sys
import textwrap

import pytest
from circlet.runtime.errors import TrajectoryError
from circlet.runtime.trajectory.events import Command, parse
from circlet.runtime.trajectory.writer import Writer

AT = "2026-08-21T09:14:02Z"


def opened(path, seen=None, sync=False) -> Writer:
    return Writer(path, sync=sync, seen=(lambda event: None) if seen is None else seen.append)


def add(writer, count) -> None:
    for _ in range(count):
        writer.append(Command(t=AT, seq=writer.next_seq, cmd="ls", exit_code=0))


@pytest.fixture
def path(tmp_path):
    return tmp_path / "deep" / "trajectory.jsonl"


def test_events_are_lines_in_order(path):
    """One line an event, at the file's end; the file and its folder are their user's alone."""
    writer = opened(path)
    add(writer, 3)
    assert [parse(line).seq for line in path.read_bytes().splitlines()] == [1, 2, 3]
    assert path.stat().st_mode & 0o777 == 0o600
    assert path.parent.stat().st_mode & 0o777 == 0o700


def test_a_file_is_gone_on_with(path):
    """Opened again, it tells of what it has, and ``seq`` and the digest go on."""
    first = opened(path)
    add(first, 2)
    first.close()
    seen: list = []
    second = opened(path, seen)
    assert [event.seq for event in seen] == [1, 2]
    assert (second.next_seq, second.digest) == (3, first.digest)
    add(second, 1)
    assert [parse(line).seq for line in path.read_bytes().splitlines()] == [1, 2, 3]


@pytest.mark.parametrize("cut", [1, 2, 30, "all but one", "zeros"])
def test_a_torn_last_line_is_set_aside(path, cut, caplog):
    """What a crash left of the last line is moved beside the file and told of; the rest stays."""
    writer = opened(path)
    add(writer, 2)
    writer.close()
    whole = path.read_bytes()
    lines = whole.splitlines(keepends=True)
    kept = (
        len(lines[0]) + 1 if cut == "all but one" else len(whole) - (1 if cut == "zeros" else cut)
    )
    torn = whole[len(lines[0]) : kept] + (b"\0" * 500 if cut == "zeros" else b"")
    path.write_bytes(lines[0] + torn)
    with caplog.at_level(logging.WARNING, "circlet"):
        again = opened(path)
    aside = path.with_name("trajectory.jsonl.torn-1")
    assert (path.read_bytes(), aside.read_bytes()) == (lines[0], torn)
    assert aside.name in caplog.text
    add(again, 1)
    assert path.read_bytes() == whole


def test_torn_lines_are_never_written_over(path):
    """Each torn line has a file of its own."""
    for number in (1, 2):
        writer = opened(path)
        add(writer, 1)
        writer.close()
        with path.open("ab") as file:
            file.write(b"torn %d" % number)
    opened(path)
    asides = sorted(path.parent.glob("*.torn-*"))
    assert [aside.read_bytes() for aside in asides] == [b"torn 1", b"torn 2"]


@pytest.mark.parametrize("damage", [b"{", b"\n", b'{"t":"x"}\n'])
def test_a_damaged_line_is_named(path, damage):
    """A line in the middle that is no event is an error with its number, and nothing is changed."""
    writer = opened(path)
    add(writer, 3)
    writer.close()
    lines = path.read_bytes().splitlines(keepends=True)
    whole = b"".join([lines[0], damage, *lines[1:]])
    path.write_bytes(whole)
    with pytest.raises(TrajectoryError, match="line 2"):
        opened(path)
    assert path.read_bytes() == whole


def test_a_gap_is_named(path):
    """``seq`` has no gap: a line that is gone is an error."""
    writer = opened(path)
    add(writer, 4)
    writer.close()
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join([lines[0], *lines[2:]]))
    with pytest.raises(TrajectoryError, match="line 2: its seq is 3, and should be 2"):
        opened(path)


def test_a_full_disk_leaves_nothing_half_written(tmp_path):
    """What can't be written whole is an error, nothing of it stays, and the next event follows."""
    code = f"""
        import resource
        from pathlib import Path
        from circlet.runtime.errors import TrajectoryError
        from circlet.runtime.trajectory.events import Command
        from circlet.runtime.trajectory.writer import Writer
        path = Path({str(tmp_path / "full.jsonl")!r})
        writer = Writer(path, sync=False, seen=print)
        def add(cmd):
            writer.append(Command(t={AT!r}, seq=writer.next_seq, cmd=cmd, exit_code=0))
        add("short")
        size = path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (size + 50, resource.RLIM_INFINITY))
        try:
            add("x" * 1000)
        except TrajectoryError as error:
            print(error)
        assert path.stat().st_size == size, path.stat().st_size
        resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY,) * 2)
        add("again")
    """
    done = subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr
    assert "full.jsonl can't be written: File too large" in done.stdout
    lines = (tmp_path / "full.jsonl").read_bytes().splitlines()
    assert [(parse(line).seq, parse(line).cmd) for line in lines] == [(1, "short"), (2, "again")]


@pytest.mark.parametrize(("sync", "syncs"), [(False, 0), (True, 2)])
def test_events_are_synced_where_that_is_asked_for(path, sync, syncs, monkeypatch):
    """With ``sync`` each event is on the disk itself before ``append`` returns."""
    calls: list[int] = []
    monkeypatch.setattr(os, "fsync", calls.append)
    add(opened(path, sync=sync), 2)
    assert len(calls) == syncs


def test_a_closed_file_takes_nothing(path):
    """After ``close`` an event is an error, and closing twice is fine."""
    writer = opened(path)
    writer.close()
    writer.close()
    with pytest.raises(TrajectoryError, match="is closed"):
        add(writer, 1)


def test_a_folder_that_can_t_be_made(tmp_path):
    """Where the file can't be, the error names it."""
    (tmp_path / "file").write_text("")
    with pytest.raises(TrajectoryError, match=r"trajectory.jsonl can't be written"):
        opened(tmp_path / "file" / "trajectory.jsonl")
