"""The search gate: what it finds, where it stops, and that it can be stopped."""

from __future__ import annotations

import importlib
import os
from contextlib import suppress
from pathlib import Path

import anyio
import anyio.lowlevel
import pytest
from circlet.gates import GateTimeout, search


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A small tree: two files with matches, one of them binary, and a link to a third."""
    folder = tmp_path / "root"
    (folder / "pkg" / "deep").mkdir(parents=True)
    (folder / "b.txt").write_text("one\nneedle two\n\nneedle")
    (folder / "a.py").write_text("x = 'needle'\r\n", newline="")
    (folder / "pkg" / "c.py").write_text("# ä needle")
    (folder / "pkg" / "deep" / "d.py").write_text("nothing\n")
    (folder / "binary").write_bytes(b"\0needle")
    (tmp_path / "outside.txt").write_text("needle")
    os.symlink("../outside.txt", folder / "link.txt")
    os.symlink("..", folder / "pkg" / "up")
    return folder


def places(found):
    return [(one["path"], one["line"]) for one in found]


def test_every_matching_line_is_found_once(call, root):
    """Lines count from 1; a folder's files come before its folders; links and binaries don't."""
    assert call(search.bind(root=root), "needle") == [
        {"path": "a.py", "line": 1, "text": "x = 'needle'"},
        {"path": "b.txt", "line": 2, "text": "needle two"},
        {"path": "b.txt", "line": 4, "text": "needle"},
        {"path": "pkg/c.py", "line": 1, "text": "# ä needle"},
    ]


def test_the_search_is_narrowed_by_path_and_glob(call, root):
    """A path is a folder or a file beneath the root; a glob is matched on names, or on paths."""
    gate = search.bind(root=root)
    assert places(call(gate, "needle", "pkg")) == [("pkg/c.py", 1)]
    assert places(call(gate, "needle", "b.txt")) == [("b.txt", 2), ("b.txt", 4)]
    assert places(call(gate, "needle", glob="*.py")) == [("a.py", 1), ("pkg/c.py", 1)]
    assert places(call(gate, "needle", glob="pkg/*.py")) == [("pkg/c.py", 1)]


def test_the_pattern_is_python_s(call, root):
    """Anchors hold per line, flags may be given inline, text is UTF-8."""
    gate = search.bind(root=root)
    assert places(call(gate, "^needle$")) == [("b.txt", 4)]
    assert places(call(gate, "(?i)Ä NEEDLE")) == [("pkg/c.py", 1)]


def test_it_stops_after_enough_matches(call, root):
    """As many results as were asked for at most."""
    assert places(call(search.bind(root=root), "needle", max_matches=2)) == [
        ("a.py", 1),
        ("b.txt", 2),
    ]
    with pytest.raises(TypeError, match="max_matches must be less than or equal to 10000"):
        call(search.bind(root=root), "x", max_matches=10_001)


def test_a_long_line_is_shown_around_the_match(call, root):
    """A result is never a flood."""
    (root / "long").write_text("x" * 100_000 + "hay" + "y" * 100_000)
    (one,) = call(search.bind(root=root), "hay")
    assert len(one["text"]) == 500
    assert "hay" in one["text"]


def test_a_malformed_pattern_is_told_so(call, root):
    """One line that says what is wrong with it."""
    with pytest.raises(ValueError, match="the pattern is no regular expression: missing \\)"):
        call(search.bind(root=root), "(")


def test_a_missing_path_is_an_ordinary_error(call, root):
    """The same errors as from the other file gates."""
    with pytest.raises(FileNotFoundError, match="'none'"):
        call(search.bind(root=root), "x", "none")
    with pytest.raises(NotADirectoryError, match=r"'a\.py'"):
        call(search.bind(root=root), "x", "a.py/x")


def test_a_name_that_is_no_text_is_found(call, root):
    """A file's name that isn't UTF-8 comes back as list_dir gives it."""
    with open(os.fsencode(root) + b"/\xff", "w") as file:
        file.write("odd one")
    assert call(search.bind(root=root), "odd one")[0]["path"] == os.fsdecode(b"\xff")


def test_a_file_that_can_not_be_decoded_is_searched_all_the_same(call, root):
    """Bytes that aren't UTF-8 are marked in the text."""
    (root / "latin").write_bytes(b"caf\xe9 corner\n")
    assert call(search.bind(root=root), "corner")[0]["text"] == "caf\ufffd corner"


def test_a_pattern_that_never_ends_is_stopped(call, root):
    """A regular expression that backtracks for ever can't hold the host: its process is killed."""
    (root / "trap").write_text("a" * 60 + "b")
    gate = search.bind(root=root).configure(timeout_s=1)
    before = children()
    with pytest.raises(GateTimeout, match="search: no answer within 1 s"):
        call(gate, "^(a+)+$", "trap")
    assert children() <= before


def test_cancelling_kills_the_search(root):
    """Cancelling from outside leaves no process behind."""
    (root / "trap").write_text("a" * 60 + "b")
    gate = search.bind(root=root)
    before = children()

    async def main() -> None:
        async with anyio.create_task_group() as tasks:
            tasks.start_soon(gate.call, gate.check(("^(a+)+$", "trap"), {}))
            while children() <= before:
                await anyio.lowlevel.checkpoint()
            tasks.cancel_scope.cancel()

    anyio.run(main)
    assert children() <= before


def test_a_pattern_that_takes_too_much_memory_is_told_so(call, root):
    """What a pattern would remember without end is bounded, in its own process."""
    (root / "huge").write_bytes(b"a" * 20_000_000)
    with pytest.raises(ValueError, match="memory"):
        call(search.bind(root=root), "^(?:(a)|b)*c", "huge")


def test_the_process_has_none_of_the_host_s_environment(call, monkeypatch):
    """No key of the host's is where a search runs: its process starts with nothing."""
    monkeypatch.setenv("OPENAI_API_KEY", "sk-of-the-host")
    gate = search.bind(root="/proc")
    assert call(gate, "sk-of-the-host", f"{os.getpid()}/environ") == []


@pytest.mark.parametrize(
    ("bound", "complaint"), [("MAX_FILES", "more than 2 files"), ("MAX_BYTES", "more than 2 bytes")]
)
def test_too_much_to_search_is_an_error(call, root, monkeypatch, bound, complaint):
    """A search that would leave something out says so, and how to narrow it."""
    monkeypatch.setattr(importlib.import_module("circlet.gates.search"), bound, 2)
    with pytest.raises(ValueError, match=f"{complaint}; search a smaller folder"):
        call(search.bind(root=root), "nowhere to be found")


def children() -> set[str]:
    """The processes that this one has started and that still live."""
    listed: set[str] = set()
    for task in os.listdir("/proc/self/task"):
        with suppress(FileNotFoundError):  # a thread that has just ended
            listed |= set(Path(f"/proc/self/task/{task}/children").read_text().split())
    return listed
