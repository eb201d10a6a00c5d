"""The file gates: what they do, and that nothing leads out of their root."""

from __future__ import annotations

import os
import socket
import threading
from pathlib import Path

import pytest
from circlet.gates import Gate, GateFault, list_dir, read, search, write
from hypothesis import given
from hypothesis import strategies as st

SECRET = "the secret outside"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A root with a neighbour that holds a secret."""
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "secret").write_text(SECRET)
    folder = tmp_path / "root"
    (folder / "sub").mkdir(parents=True)
    (folder / "a.txt").write_text("häll\r\no\n", newline="")
    (folder / "sub" / "b.txt").write_text("b")
    return folder


def rooted(root: Path) -> list[tuple[Gate, tuple[str, ...]]]:
    """Every gate that takes a path, with the arguments before and after it."""
    return [
        (read.bind(root=root), ("{}",)),
        (write.bind(root=root), ("{}", "text")),
        (list_dir.bind(root=root), ("{}",)),
        (search.bind(root=root), ("secret", "{}")),
    ]


def attempt(call, gate, arguments, path):
    return call(gate, *(path if one == "{}" else one for one in arguments))


def test_read_gives_the_text_as_it_is(call, root):
    """Text is UTF-8 and no line ending is touched."""
    assert call(read.bind(root=root), "a.txt") == "häll\r\no\n"
    assert call(read.bind(root=root), "./sub/b.txt") == "b"


def test_read_gives_a_part(call, root):
    """`start` and `length` count characters, or bytes if binary."""
    gate = read.bind(root=root)
    assert call(gate, "a.txt", 1, 2) == "äl"
    assert call(gate, "a.txt", start=100) == ""
    assert call(gate, "a.txt", 1, 2, binary=True) == "ä".encode()
    with pytest.raises(TypeError, match="start must be greater than or equal to 0"):
        call(gate, "a.txt", -1)


def test_what_is_no_text_is_read_as_bytes(call, root):
    """A file that isn't UTF-8 is an error that says how to read it."""
    (root / "bin").write_bytes(b"ab\xff")
    with pytest.raises(ValueError, match=r"'bin' is not UTF-8 text \(byte 2\).*binary=True"):
        call(read.bind(root=root), "bin")
    assert call(read.bind(root=root), "bin", binary=True) == b"ab\xff"


def test_reading_is_bounded(call, root):
    """A file over the bound is refused; one of exactly that size is not."""
    (root / "big").write_bytes(b"x" * 11)
    assert len(call(read.bind(root=root, max_bytes=11), "big")) == 11
    with pytest.raises(ValueError, match="'big' is larger than the limit of 10 bytes"):
        call(read.bind(root=root, max_bytes=10), "big")


def test_a_file_that_claims_to_be_empty_is_bounded_too(call):
    """The bound holds on what is read, not on what the file's size says (as in /proc)."""
    with pytest.raises(ValueError, match="larger than the limit of 3 bytes"):
        call(read.bind(root="/proc/self", max_bytes=3), "status")


@pytest.mark.parametrize("path", ["none", "sub/none"])
def test_a_missing_file_is_an_ordinary_error(call, root, path):
    """Errors are Python's own, with the path as it was given and nothing of the host's."""
    with pytest.raises(FileNotFoundError) as caught:
        call(read.bind(root=root), path)
    assert str(caught.value) == f"[Errno 2] No such file or directory: '{path}'"


def test_other_ordinary_errors(call, root):
    """A folder isn't a file, and a file isn't a folder."""
    with pytest.raises(IsADirectoryError, match="'sub'"):
        call(read.bind(root=root), "sub")
    with pytest.raises(IsADirectoryError):
        call(read.bind(root=root), ".")
    with pytest.raises(NotADirectoryError, match=r"'a\.txt'"):
        call(read.bind(root=root), "a.txt/b")
    with pytest.raises(NotADirectoryError, match=r"'a\.txt'"):
        call(list_dir.bind(root=root), "a.txt")
    with pytest.raises(OSError, match="File name too long"):
        call(read.bind(root=root), "x" * 300)


def test_write_says_what_it_wrote(call, root):
    """A file is created or replaced whole, as UTF-8."""
    gate = write.bind(root=root)
    assert call(gate, "new.txt", "ä\r\n") == "wrote 3 characters (4 bytes) to new.txt"
    assert (root / "new.txt").read_bytes() == "ä\r\n".encode()
    call(gate, "sub/b.txt", "")
    assert (root / "sub" / "b.txt").read_bytes() == b""
    assert sorted(os.listdir(root)) == ["a.txt", "new.txt", "sub"]


def test_write_keeps_the_permissions_of_what_it_replaces(call, root):
    """A script stays executable; a set-user-id bit doesn't stay."""
    (root / "a.txt").chmod(0o4750)
    call(write.bind(root=root), "a.txt", "x")
    assert (root / "a.txt").stat().st_mode & 0o7777 == 0o750


def test_write_does_not_reach_through_a_hard_link(call, root):
    """A replaced file is a new one: what else had the old one's name keeps its content."""
    os.link(root.parent / "outside" / "secret", root / "hard")
    call(write.bind(root=root), "hard", "x")
    assert (root.parent / "outside" / "secret").read_text() == SECRET


def test_write_makes_no_folders_and_replaces_none(call, root):
    """A path to a folder, or beneath one that isn't there, is an error."""
    gate = write.bind(root=root)
    with pytest.raises(FileNotFoundError, match="'deep'"):
        call(gate, "deep/new.txt", "x")
    with pytest.raises(IsADirectoryError):
        call(gate, "sub", "x")
    assert sorted(os.listdir(root)) == ["a.txt", "sub"]


def test_what_can_not_be_written_leaves_nothing_behind(call, root):
    """Too large a text, or one that can't be UTF-8, is refused before anything is touched."""
    gate = write.bind(root=root, max_bytes=3)
    with pytest.raises(ValueError, match="larger than the limit of 3 bytes"):
        call(gate, "new", "ää")
    with pytest.raises(ValueError, match="lone surrogate at 1"):
        call(gate, "new", "a\ud800")
    assert sorted(os.listdir(root)) == ["a.txt", "sub"]


def test_list_dir_tells_kind_and_size(call, root):
    """Entries are sorted by name; only a file has a size; a link is shown, not followed."""
    os.symlink("/etc/passwd", root / "link")
    os.mkfifo(root / "pipe")
    assert call(list_dir.bind(root=root)) == [
        {"name": "a.txt", "kind": "file", "size": 9},
        {"name": "link", "kind": "link", "size": None},
        {"name": "pipe", "kind": "other", "size": None},
        {"name": "sub", "kind": "dir", "size": None},
    ]
    assert [one["name"] for one in call(list_dir.bind(root=root), "sub")] == ["b.txt"]


def test_a_name_that_is_no_text_goes_there_and_back(call, root):
    """A file's name that isn't UTF-8 can be listed and then read."""
    with open(os.fsencode(root) + b"/\xff", "w") as file:
        file.write("odd")
    names = [one["name"] for one in call(list_dir.bind(root=root))]
    assert call(read.bind(root=root), names[-1]) == "odd"


BAD_PATHS = [
    "",
    "/",
    "/etc/passwd",
    "..",
    "../outside/secret",
    "sub/../../outside/secret",
    "sub/..",
    "./..",
    "sub//b.txt",
    "sub/",
    "a\0b",
    "\ud800",
    "//etc/passwd",
]


@pytest.mark.parametrize("path", BAD_PATHS)
def test_a_path_that_leaves_the_root_is_refused(call, root, path):
    """Absolute paths, '..', NUL and empty components never reach the file system."""
    for gate, arguments in rooted(root):
        with pytest.raises(ValueError, match="the path"):
            attempt(call, gate, arguments, path)


@pytest.mark.parametrize(
    ("target", "path"),
    [
        ("../outside/secret", "link"),
        ("../outside", "link/secret"),
        ("../outside", "link"),
        ("..", "link/outside/secret"),
        ("/", "link/etc/passwd"),
        ("a.txt", "link"),
        ("sub", "link/b.txt"),
        ("nowhere", "link"),
        ("link", "link"),
    ],
)
def test_no_link_is_followed(call, root, target, path):
    """A symbolic link in any component is refused, wherever it points, and stays as it is."""
    os.symlink(target, root / "link")
    for gate, arguments in rooted(root):
        with pytest.raises(PermissionError, match="Symbolic links are not followed") as caught:
            attempt(call, gate, arguments, path)
        assert str(root) not in str(caught.value)
    assert os.readlink(root / "link") == target


def test_what_is_no_file_is_refused_at_once(call, root):
    """A FIFO or socket doesn't hold the reader up, nor is it written to or replaced."""
    os.mkfifo(root / "pipe")
    with socket.socket(socket.AF_UNIX) as listener:
        here = os.getcwd()
        os.chdir(root)  # a socket's path may be short only
        try:
            listener.bind("socket")
        finally:
            os.chdir(here)
        for name in ("pipe", "socket"):
            for gate, arguments in ((read, (name,)), (write, (name, "x"))):
                with pytest.raises(PermissionError, match="Not a regular file"):
                    call(gate.bind(root=root), *arguments)


def test_a_device_is_refused(call):
    """A root may hold devices; they are not read."""
    with pytest.raises(PermissionError, match="Not a regular file: 'zero'"):
        call(read.bind(root="/dev"), "zero")


@given(
    st.lists(st.sampled_from(["..", ".", "", "sub", "link", "a.txt", "/", "secret"]), max_size=6)
)
def test_no_combination_of_components_leads_out(tmp_path_factory, parts):
    """Whatever a path is made of, it is refused or stays beneath the root."""
    base = tmp_path_factory.mktemp("base")
    (base / "secret").write_text(SECRET)
    (base / "root" / "sub").mkdir(parents=True)
    os.symlink("..", base / "root" / "link")
    os.symlink("../..", base / "root" / "sub" / "link")
    try:
        found = read.bind(root=base / "root")("/".join(parts))
    except (OSError, ValueError):
        found = ""
    assert found != SECRET


def test_a_link_put_in_the_way_meanwhile_is_not_followed(root):
    """A folder that turns into a link and back, over and over, never leads out."""
    inside, spare, link = root / "turn", root / "spare", root / "link"
    inside.mkdir()
    (inside / "secret").write_text("inside")
    os.symlink(root.parent / "outside", link)
    reading, writing = read.bind(root=root), write.bind(root=root)
    stop = threading.Event()

    def turn() -> None:
        while not stop.is_set():
            inside.rename(spare)
            link.rename(inside)
            inside.rename(link)
            spare.rename(inside)

    turning = threading.Thread(target=turn)
    turning.start()
    seen = set()
    try:
        for _ in range(3000):
            try:
                seen.add(reading("turn/secret"))
                writing("turn/new", "x")
            except (FileNotFoundError, PermissionError, NotADirectoryError):
                seen.add("refused")
    finally:
        stop.set()
        turning.join()
    assert SECRET not in seen
    assert os.listdir(root.parent / "outside") == ["secret"]


def test_the_root_s_own_links_are_resolved_when_it_is_bound(call, root):
    """A root may be given through a link; where the link points later doesn't matter."""
    link = root.parent / "link"
    link.symlink_to(root)
    gate = read.bind(root=link)
    link.unlink()
    link.symlink_to(root.parent / "outside")
    assert call(gate, "sub/b.txt") == "b"
    with pytest.raises(FileNotFoundError):
        call(gate, "secret")


def test_a_root_that_is_gone(call, root):
    """An error about the root itself doesn't tell where it lies either."""
    gate = list_dir.bind(root=root / "sub")
    (root / "sub" / "b.txt").unlink()
    (root / "sub").rmdir()
    with pytest.raises(FileNotFoundError) as caught:
        call(gate)
    assert str(caught.value) == "[Errno 2] the gate's root can't be opened: '.'"


def test_a_root_has_to_be_a_folder(root):
    """Binding what is no folder is a clear error, when the circle is built (CIRCLE-10)."""
    for folder in (root / "none", root / "a.txt", 5, ""):
        with pytest.raises(GateFault, match="read: root must be an existing folder, got"):
            read.bind(root=folder)


@pytest.mark.parametrize("gate", [read, write, list_dir, search], ids=lambda gate: gate.name)
def test_without_a_root_a_gate_builds_and_fails_when_called(call, gate):
    """The error says how to give the gate a root."""
    arguments = ("x", "y") if gate is write else ("x",)
    with pytest.raises(GateFault) as caught:
        call(gate, *arguments)
    assert str(caught.value) == (
        f"{gate.name}: no root is configured; give the gate a root, "
        f"for example {{name: {gate.name}, root: DIR}}"
    )


def test_no_descriptor_is_left_open(call, root):
    """Every way out of a gate closes what it opened."""
    os.symlink("sub", root / "link")
    call(list_dir.bind(root=root))
    before = len(os.listdir("/proc/self/fd"))
    for path in ("a.txt", "none", "sub", "link/b.txt", "a.txt/b"):
        for gate, arguments in rooted(root):
            try:
                attempt(call, gate, arguments, path)
            except (OSError, ValueError):
                continue
    assert len(os.listdir("/proc/self/fd")) == before
