"""The stores on disk: who may write, what a crash leaves, what they say when they can't."""

from __future__ import annotations

import itertools
import logging
import os
import shutil
import signal
import stat
import tempfile
import threading
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import JSONLStore, Loom, SQLiteStore
from circlet.runtime.loom.lock import is_locked

STORES = {"sqlite": SQLiteStore, "jsonl": JSONLStore}


@pytest.fixture(params=STORES)
def layout(request):
    """A format of stores on disk."""
    return request.param


@pytest.fixture
def make(layout):
    """The class of the format's stores."""
    return STORES[layout]


def append(store, rows) -> None:
    for row in rows:
        store.append(row)


OPENED = """
    import sys
    from circlet.runtime.errors import LoomError
    from circlet.runtime.loom import FoldRecord, Loom
    from circlet.runtime.loom.codec import row_of
    from circlet.runtime.loom.formats import opened
    from pathlib import Path
    AT = "2026-01-01T00:00:00.000000Z"
    store = opened(Path(sys.argv[1]), sys.argv[2])
    chain = b""
    def row(n, text=None):
        return row_of(FoldRecord("e", n, n, text or f"text {n}"), n, AT, chain)
"""
WRITER = (
    OPENED
    + """
    n = 0
    for kept in store.read():
        n, chain = kept.n, kept.chain
    while True:
        n += 1
        made = row(n)
        store.append(made)
        chain = made.chain
        print(n, flush=True)
"""
)
HOLDER = (
    OPENED
    + """
    print("held", flush=True)
    sys.stdin.read()
"""
)


def test_a_second_process_may_not_write(run, program, layout, make):
    """One process writes a loom at a time; the other is told which one does, and its command."""
    with program(HOLDER, run, layout) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LoomError) as refusal:
            make(run)
        said = f"the loom at {run} is being written by process {holder.pid} ("
        assert str(refusal.value).startswith(said)
        assert "python" in str(refusal.value).partition("): ")[0]
        assert "read_only=True" in str(refusal.value)


def test_the_same_process_may_not_write_twice(run, make):
    """Two writers in one process would give the same n twice: the second is refused."""
    with (
        closing(make(run)),
        pytest.raises(LoomError, match=f"being written by process {os.getpid()}"),
    ):
        make(run)


def test_one_directory_has_one_writer_whatever_the_format(run):
    """A writer of one format is in the way of one of the other."""
    with closing(SQLiteStore(run)), pytest.raises(LoomError, match="being written"):
        JSONLStore(run)


def test_the_next_writer_goes_on_after_close(run, rows, make):
    """Closing lets the next writer in, and it finds all that was written."""
    made = rows(3)
    with closing(make(run)) as store:
        append(store, made[:2])
    with closing(make(run)) as store:
        store.append(made[2])
        assert list(store.read()) == made


def test_a_dropped_writer_lets_the_next_one_in(run, rows, make):
    """A writer that nobody closed and nobody has any more doesn't hold its lock for ever."""
    held = [make(run)]
    append(held[0], rows(1))
    with pytest.warns(ResourceWarning):
        held.clear()
    with closing(make(run)) as again:
        assert len(list(again.read())) == 1


def test_who_only_looks_keeps_no_writer_out(run, make):
    """A verification that sees whether there is a writer is never taken for one."""
    make(run).close()
    stop = threading.Event()

    def look() -> None:
        while not stop.is_set():
            is_locked(run)

    lookers = [threading.Thread(target=look) for _ in range(2)]
    for looker in lookers:
        looker.start()
    try:
        for _ in range(50):
            make(run).close()
    finally:
        stop.set()
        for looker in lookers:
            looker.join()


def test_a_refused_writer_leaves_the_lock_alone(run, rows, make):
    """A writer that was refused takes nothing from the one that writes."""
    with closing(make(run)) as store:
        for _ in range(3):
            with pytest.raises(LoomError, match="being written"):
                make(run)
        append(store, rows(1))


@pytest.mark.parametrize("durability", ["process", "power"])
def test_a_killed_writer_loses_nothing(run, rows, program, layout, durability, make):
    """LOOM-1: what append returned for is there, though the process was killed outright."""
    with program(WRITER, run, layout) as writer:
        said = [int(writer.stdout.readline()) for _ in range(200)]
        writer.send_signal(signal.SIGKILL)
        said += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    with closing(make(run, durability)) as store:
        kept = list(store.read())
        assert [row.n for row in kept[: len(said)]] == said
        assert kept == rows(len(kept))
        append(store, rows(1, kept[-1]))


def test_writers_killed_one_after_the_other(run, rows, program, layout, make):
    """LOOM-1: a stale lock lets the next one in, and each goes on after what the last one kept."""
    seen = 0
    for kill_after in (1, 2, 5, 3, 8):
        with program(WRITER, run, layout) as writer:
            said = [int(writer.stdout.readline()) for _ in range(kill_after)]
            assert said[0] > seen
            seen = said[-1]
    with closing(make(run)) as store:
        kept = list(store.read())
        assert kept == rows(len(kept))
        assert len(kept) >= seen


def test_a_killed_writer_can_be_read_at_once(run, rows, program, layout, make):
    """A reader needs no writer to clean up after one that died."""
    with program(WRITER, run, layout) as writer:
        writer.stdout.readline()
        writer.kill()
    with closing(make(run, read_only=True)) as reader:
        assert [next(reader.read())] == rows(1)


def test_readers_see_each_record_while_another_process_writes(run, rows, program, layout, make):
    """Many read while one writes: what was appended is seen, in order, without a gap."""
    with program(WRITER, run, layout) as writer:
        writer.stdout.readline()
        readers = [make(run, read_only=True) for _ in range(3)]
        made = rows(60)
        for _ in range(50):
            written = int(writer.stdout.readline())
            for reader in readers:
                assert next(reader.read(written - 1)) == made[written - 1]
                assert next(reader.scan(written - 1))[0] == written
        for reader in readers:
            reader.close()


def test_a_reader_in_the_writer_s_process_takes_no_lock_away(run, rows, program, layout, make):
    """Opening and closing readers beside the writer leaves its lock and its writing whole."""
    with closing(make(run)) as store:
        for n, row in enumerate(rows(3), 1):
            with closing(make(run, read_only=True)) as reader:
                store.append(row)
                assert len(list(reader.read())) == n
        with program(HOLDER.replace("held", ""), run, layout) as second:
            assert second.stdout.read() == ""
            assert second.wait() == 1


def test_a_thread_reads_while_another_writes(run, rows, make):
    """One store serves threads: a reader sees a growing run of records without a gap."""
    problems: list[object] = []
    with closing(make(run)) as store:

        def follow(look: Any) -> None:
            seen = 0
            while seen < 300:
                for n, *_ in look(seen):
                    if n != seen + 1:
                        problems.append((seen, n))
                    seen = n

        readers = [threading.Thread(target=follow, args=[it]) for it in (store.read, store.scan)]
        for reader in readers:
            reader.start()
        append(store, rows(300))
        for reader in readers:
            reader.join()
    assert problems == []


def test_a_reader_can_neither_append_nor_put(run, rows, make):
    """A loom that was opened to be read is not written."""
    make(run).close()
    with closing(make(run, read_only=True)) as reader:
        for use in (lambda: append(reader, rows(1)), lambda: reader.put(b"blob")):
            with pytest.raises(LoomError, match="read only"):
                use()


def test_a_reader_makes_nothing(run, make):
    """Reading where there is no loom is an error, and leaves no file behind."""
    with pytest.raises(LoomError, match=f"there is no loom at {run}"):
        make(run, read_only=True)
    assert not run.exists()


READ_WITHOUT_RIGHTS = """
    import os, sys
    from circlet.runtime.loom import Loom
    from circlet.runtime.loom.formats import opened
    from pathlib import Path
    if os.geteuid() == 0:  # who may write everywhere
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    print(len(list(opened(Path(sys.argv[1]), read_only=True).read())))
"""


def test_a_loom_in_a_directory_that_may_not_be_written_can_be_read(rows, program, make):
    """An archived run is readable: nothing is written beside it."""
    home = Path(tempfile.mkdtemp())
    run = home / "run"
    try:
        with closing(make(run)) as store:
            append(store, rows(3))
        home.chmod(0o755)
        run.chmod(0o555)
        (run / make.NAME).chmod(0o444)
        with program(READ_WITHOUT_RIGHTS, run) as reader:
            assert reader.stdout.read() == "3\n"
    finally:
        run.chmod(0o755)
        shutil.rmtree(home)


def test_files_are_their_user_s_alone(run, rows, layout, make):
    """What a loom holds may be secret: every file has mode 0600, every directory 0700."""
    with closing(make(run)) as store:
        append(store, rows(1))
        store.put(b"blob")
        made = [run, *run.rglob("*")]
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()}
        directories = {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()}
    beside = {"loom.db", "loom.db-wal", "loom.db-shm"} if layout == "sqlite" else {"loom.jsonl"}
    assert {*beside, "loom.lock"} < files.keys()
    assert set(files.values()) == {0o600}
    assert directories == {0o700}


def test_blobs_lie_beside_the_records(run, make):
    """A blob is the file ``blobs/ab/abcdef...``, and nothing unfinished lies about."""
    with closing(make(run)) as store:
        digest = store.put(b"blob")
        store.put(b"blob")
    assert (run / "blobs" / digest[:2] / digest).read_bytes() == b"blob"
    assert [path for path in (run / "blobs").rglob("*") if path.is_file()] == [
        run / "blobs" / digest[:2] / digest
    ]


def test_a_damaged_blob_is_an_error(run, make):
    """A blob's content is checked against its name when it is read."""
    with closing(make(run)) as store:
        digest = store.put(b"blob")
        (run / "blobs" / digest[:2] / digest).write_bytes(b"bloB")
        with pytest.raises(LoomError, match=f"{digest} is damaged"):
            store.get(digest)


@pytest.mark.parametrize("left", [b"", b"bl", bytes(4)])
def test_a_cut_blob_is_mended_by_putting_it_again(run, make, left):
    """What a power cut left of a blob is not taken for the blob."""
    with closing(make(run)) as store:
        digest = store.put(b"blob")
        (run / "blobs" / digest[:2] / digest).write_bytes(left)
        assert store.put(b"blob") == digest
        assert store.get(digest) == b"blob"


def test_a_blob_that_can_t_be_written_is_an_error(run, make):
    """The error of a blob names its file."""
    with closing(make(run)) as store:
        (run / "blobs").write_text("a file in the way")
        with pytest.raises(LoomError, match=r"blobs.* can't be written"):
            store.put(b"blob")


@pytest.mark.parametrize("read_only", [True, False])
def test_a_failed_opening_lets_the_lock_go(run, rows, make, read_only):
    """A file that is no loom is left alone, and keeps nobody out once it is gone."""
    run.mkdir(parents=True)
    (run / make.NAME).write_bytes(b"rubbish\n" * 1000)
    with pytest.raises(LoomError, match=make.NAME):
        make(run, read_only=read_only)
    assert (run / make.NAME).read_bytes() == b"rubbish\n" * 1000
    (run / make.NAME).unlink()
    with closing(make(run)) as store:
        append(store, rows(1))


NO_ROOM = (
    OPENED
    + """
    import resource
    store.append(row(1))
    chain = next(store.read()).chain
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, resource.RLIM_INFINITY))
    for _ in range(2):
        try:
            store.append(row(2, "x" * 1_000_000))
        except LoomError as error:
            print(error)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    store.append(row(2, "x" * 1_000_000))
    print([row.n for row in store.read()])
"""
)


def test_a_disk_that_takes_no_more_is_an_error(run, program, layout, make):
    """A record that can't be written is told and is not there; with room again it goes on."""
    with program(NO_ROOM, run, layout) as writer:
        *errors, numbers = writer.stdout.read().splitlines()
    for error in errors:
        assert str(run / make.NAME) in error
        assert "free" in error
    assert len(errors) == 2
    assert numbers == "[1, 2]"
    with closing(make(run)) as store:
        assert [row.n for row in store.read()] == [1, 2]
        assert store.torn is None


FULL_DISK = (
    OPENED
    + """
    n = 0
    try:
        while True:
            made = row(n + 1, "x" * 10_000)
            store.append(made)
            n, chain = n + 1, made.chain
    except LoomError as error:
        print(error)
    Path(sys.argv[3]).unlink()
    store.append(row(n + 1))
    print(n + 1, len(list(store.read())))
"""
)


@pytest.mark.root
def test_a_file_system_that_fills_up(tmp_path, program, layout, make):
    """LOOM-1: on a disk without room nothing half-written is left, and with room it goes on."""
    disk = tmp_path / "disk"
    disk.mkdir()
    if os.system(f"mount -t tmpfs -o size=2m tmpfs {disk} 2>/dev/null") != 0:
        pytest.fail("a tmpfs can't be mounted here, though this test is for root alone")
    try:
        (disk / "ballast").write_bytes(bytes(600_000))
        with program(FULL_DISK, disk / "run", layout, disk / "ballast") as writer:
            error, counts = writer.stdout.read().splitlines()
        assert "free some space" in error
        appended, read = map(int, counts.split())
        assert appended == read > 20
        with closing(make(disk / "run", read_only=True)) as store:
            assert [row.n for row in store.read()] == list(range(1, appended + 1))
    finally:
        os.system(f"umount {disk}")


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_a_path_that_can_t_be_a_directory_is_an_error(tmp_path, make, where):
    """The error names the path."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LoomError, match=f"can't be used: .*{tmp_path / 'file'}"):
        make(tmp_path / where)


def test_an_unknown_durability_is_an_error(run, make):
    """There are two durabilities."""
    with pytest.raises(LoomError, match="'process' or 'power', not 'eternal'"):
        make(run, "eternal")


@pytest.mark.parametrize("name", ["a b", "ünï", "50%", "what?", "a#b"])
def test_any_path_will_do(tmp_path, rows, make, name):
    """A directory's name may hold what a file system lets it hold."""
    with closing(make(tmp_path / name)) as store:
        append(store, rows(1))
    assert (tmp_path / name / make.NAME).is_file()
    with closing(make(tmp_path / name, read_only=True)) as reader:
        assert len(list(reader.read())) == 1


FORKER = (
    OPENED
    + """
    import os
    child = os.fork()
    if child == 0:
        try:
            store.append(row(1))
        except LoomError as error:
            print(error, flush=True)
        store.close()
        os._exit(0)
    os.waitpid(child, 0)
    try:
        opened(Path(sys.argv[1]), sys.argv[2])
    except LoomError as error:
        print(error)
    store.append(row(1))
    print(os.getpid())
"""
)


def test_a_forked_process_leaves_its_parent_s_loom_alone(run, program, layout):
    """A forked child neither writes its parent's loom nor gives its lock away."""
    with program(FORKER, run, layout) as parent:
        child, second, pid = parent.stdout.read().splitlines()
    assert f"opened by process {pid}" in child
    assert f"being written by process {pid}" in second


def test_a_loom_takes_up_the_format_that_is_there(run, layout, make):
    """A loom's path is a run's directory, made when missing; what is in it is taken up."""
    with Loom(run, format=layout) as loom:
        assert loom.path == run
    assert (run / make.NAME).is_file()
    for arguments in ({}, {"format": layout}, {"read_only": True}):
        Loom(run, **arguments).close()
    assert [path.name for path in run.glob("loom.*")].count(make.NAME) == 1
    assert len({"loom.db", "loom.jsonl"} & {path.name for path in run.iterdir()}) == 1
    other = next(name for name in STORES if name != layout)
    with pytest.raises(LoomError, match=f"has the format '{layout}', not '{other}'.*import"):
        Loom(run, format=other)


def test_a_new_loom_is_a_database(run):
    """Where nothing is said and nothing is there, the format is SQLite's."""
    Loom(run).close()
    assert (run / "loom.db").is_file()


def test_two_looms_in_one_directory_are_an_error(run):
    """Nobody is left to guess which of two looms is meant."""
    SQLiteStore(run).close()
    JSONLStore(run).close()
    with pytest.raises(LoomError, match=r"two looms, loom\.db and loom\.jsonl: move one"):
        Loom(run)


def test_an_unknown_format_is_an_error(run):
    """There are two formats."""
    unknown: Any = "xml"
    with pytest.raises(LoomError, match="'sqlite' or 'jsonl', not 'xml'"):
        Loom(run, format=unknown)


def test_a_loom_that_is_read_follows_another_process(run, program, layout):
    """Many read while one writes: a reader's loom takes in what is new when it is asked to."""
    write = """
        import sys
        from circlet.runtime.loom import IdentityRecord, Loom
        loom = Loom(sys.argv[1], format=sys.argv[2], trajectory=False)
        for n, _ in enumerate(sys.stdin):
            loom.append(IdentityRecord(f"i{n}", "c", None, {}, ""))
            print(n, flush=True)
    """
    Loom(run, format=layout).close()
    with program(write, run, layout) as writer, Loom(run, read_only=True) as loom:
        assert not loom.identities
        for count in range(1, 4):
            writer.stdin.write("\n")
            writer.stdin.flush()
            writer.stdout.readline()
            assert loom.refresh() == 1
            assert len(loom.identities) == count
        assert loom.refresh() == 0


class Calls:
    """What is written and synced, in order, by the name of the file or directory."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, home: Path) -> None:
        self.made: list[tuple[str, str]] = []
        self._home = home
        for name in ("write", "fsync", "replace"):
            monkeypatch.setattr(os, name, self._noting(name, getattr(os, name)))

    def _noting(self, name: str, call: Any) -> Any:
        def noted(first: Any, *rest: Any) -> Any:
            at = rest[0] if name == "replace" else os.readlink(f"/proc/self/fd/{first}")
            self.made.append((name, os.path.relpath(at, self._home)))
            return call(first, *rest)

        return noted


@pytest.mark.linux
def test_a_line_is_on_the_disk_before_append_returns(tmp_path, rows, monkeypatch):
    """``power``: the file is synced after each line, and the directories that lead to it."""
    calls = Calls(monkeypatch, tmp_path)
    with closing(JSONLStore(tmp_path / "a" / "run", "power")) as store:
        made = calls.made
        assert {("fsync", "a/run"), ("fsync", "a"), ("fsync", ".")} <= set(made)
        assert made[-2:] == [("write", "a/run/loom.jsonl"), ("fsync", "a/run/loom.jsonl")]
        for row in rows(2):
            made.clear()
            store.append(row)
            assert made == [("write", "a/run/loom.jsonl"), ("fsync", "a/run/loom.jsonl")]


@pytest.mark.linux
def test_a_blob_is_on_the_disk_before_put_returns(run, monkeypatch, make):
    """``power``: a blob's file is synced before it has its name, its directories after that."""
    with closing(make(run, "power")) as store:
        calls = Calls(monkeypatch, run)
        digest = store.put(b"blob")
    kinds = [(name, Path(at).name) for name, at in calls.made if "blobs" in at or at == "."]
    assert kinds[0][0] == "fsync"
    named = kinds.index(("replace", digest))
    assert kinds[named + 1 :] == [("fsync", digest[:2]), ("fsync", "blobs"), ("fsync", "")]


@pytest.mark.linux
def test_nothing_is_synced_where_nobody_asked(run, rows, monkeypatch):
    """``process``: the system has each line, and no time is spent on the disk."""
    calls = Calls(monkeypatch, run)
    with closing(JSONLStore(run)) as store:
        append(store, rows(2))
        store.put(b"blob")
    assert "fsync" not in [name for name, _ in calls.made]


def test_a_line_that_can_t_be_synced_is_not_there(run, rows, monkeypatch):
    """``power``: a record whose sync failed is told as an error, and its n is free."""
    made = rows(1)
    with closing(JSONLStore(run, "power")) as store:
        broken = itertools.count()

        def fsync(_: int) -> None:
            if next(broken) == 0:
                raise OSError(5, "Input/output error")

        monkeypatch.setattr(os, "fsync", fsync)
        with pytest.raises(LoomError, match=r"Input/output error: .*loom\.jsonl"):
            append(store, made)
        assert list(store.read()) == []
        append(store, made)
        assert list(store.read()) == made


@pytest.mark.parametrize(("durability", "level"), [("process", 1), ("power", 2)])
def test_the_database_syncs_as_it_is_asked(run, durability, level):
    """``power``: SQLite syncs its log at each commit (FULL); else only with the checkpoints."""
    with closing(SQLiteStore(run, durability)) as store:
        assert store._database.execute("PRAGMA synchronous").fetchone() == (level,)
        assert store._database.execute("PRAGMA journal_mode").fetchone() == ("wal",)


def test_what_was_cut_off_is_logged(run, rows, make, caplog):
    """A loss is never passed over in silence: it is in the log, and the loom tells of it."""
    with closing(make(run)) as store:
        append(store, rows(20))
        shutil.copytree(run, run.with_name("cut"))
    cut = run.with_name("cut")
    torn = cut / ("loom.db-wal" if make is SQLiteStore else "loom.jsonl")
    with torn.open("r+b") as file:
        file.truncate(torn.stat().st_size - 10)
    with caplog.at_level(logging.WARNING, "circlet"), closing(make(cut)) as store:
        assert "cut off" in store.torn
        assert list(store.read()) == rows(19)
    assert store.torn in caplog.text
    with closing(make(cut)) as store:
        assert store.torn is None


def test_a_reader_of_an_empty_file_is_told_what_that_may_be(run, rows, make, layout):
    """A file with nothing in it yet is not called foreign, and a writer begins a loom in it."""
    run.mkdir(parents=True)
    (run / ("loom.db" if layout == "sqlite" else "loom.jsonl")).touch()
    with pytest.raises(LoomError, match="is empty: its writer has yet to begin"):
        make(run, read_only=True)
    with closing(make(run)) as store:
        append(store, rows(2))
        assert list(store.read()) == rows(2)
