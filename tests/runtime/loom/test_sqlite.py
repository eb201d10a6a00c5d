"""The store on disk: who may write, what a crash leaves, what it says when it can't."""

from __future__ import annotations

import os
import shutil
import sqlite3
import stat
import subprocess
import sys
import tempfile
import textwrap
import threading
from collections.abc import Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import Loom, SQLiteStore

AT = "2026-01-01T00:00:00.000000Z"


def fill(store: SQLiteStore, count: int) -> None:
    for n in range(1, count + 1):
        store.append(n, AT, "kind", b"body %d" % n)


@contextmanager
def program(code: str, *arguments: Any) -> Iterator[subprocess.Popen[str]]:
    """Another process that runs ``code``; it is killed at the end if it is still there."""
    process = subprocess.Popen(
        [sys.executable, "-c", textwrap.dedent(code), *map(str, arguments)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    with process:
        try:
            yield process
        finally:
            process.kill()


WRITER = """
    import sys
    from circlet.runtime.loom import SQLiteStore
    store = SQLiteStore(sys.argv[1])
    n = sum(1 for _ in store.read())
    while True:
        n += 1
        store.append(n, "2026-01-01T00:00:00.000000Z", "kind", b"body %d" % n)
        print(n, flush=True)
"""

HOLDER = """
    import sys
    from circlet.runtime.loom import SQLiteStore
    store = SQLiteStore(sys.argv[1])
    print("held", flush=True)
    sys.stdin.read()
"""


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = x'00' WHERE n = 1",
        "UPDATE OR REPLACE records SET n = 2 WHERE n = 1",
        "DELETE FROM records",
        "DELETE FROM records WHERE n = 3",
        "INSERT OR REPLACE INTO records VALUES (1, 'at', 'kind', x'00')",
        "REPLACE INTO records VALUES (3, 'at', 'kind', x'00')",
        "INSERT INTO records VALUES (5, 'at', 'kind', x'00')",
        "INSERT INTO records (at, kind, body) VALUES ('at', 'kind', x'00')",
        "INSERT INTO records VALUES (1, 'at', 'kind', x'00') ON CONFLICT DO UPDATE SET at = ''",
    ],
)
def test_sql_itself_can_change_nothing(run, statement):
    """LOOM-3: below Python too, a record is neither changed nor removed nor slipped in."""
    with closing(SQLiteStore(run)) as store:
        fill(store, 3)
    with closing(sqlite3.connect(run / "loom.db")) as database:
        with pytest.raises(sqlite3.IntegrityError, match="loom is append-only"):
            database.execute(statement)
        rows = database.execute("SELECT n, body FROM records ORDER BY n").fetchall()
    assert rows == [(1, b"body 1"), (2, b"body 2"), (3, b"body 3")]


def test_a_second_process_may_not_write(run):
    """One process writes a loom at a time; the other is told which one does."""
    with program(HOLDER, run) as holder:
        assert holder.stdout.readline() == "held\n"
        with pytest.raises(LoomError) as refusal:
            SQLiteStore(run)
        said = f"the loom at {run} is being written by process {holder.pid}"
        assert str(refusal.value).startswith(said)
        assert "read_only=True" in str(refusal.value)


def test_the_same_process_may_not_write_twice(run):
    """Two writers in one process would give the same n twice: the second is refused."""
    with (
        closing(SQLiteStore(run)),
        pytest.raises(LoomError, match=f"being written by process {os.getpid()}"),
    ):
        SQLiteStore(run)


def test_the_next_writer_goes_on_after_close(run):
    """Closing lets the next writer in, and it finds all that was written."""
    with closing(SQLiteStore(run)) as store:
        fill(store, 2)
    with closing(SQLiteStore(run)) as store:
        store.append(3, AT, "kind", b"")
        assert len(list(store.read())) == 3


def test_a_dropped_writer_lets_the_next_one_in(run):
    """A writer that nobody closed and nobody has any more doesn't hold its lock for ever."""
    held = [SQLiteStore(run)]
    fill(held[0], 1)
    with pytest.warns(ResourceWarning):
        held.clear()
    with closing(SQLiteStore(run)) as again:
        assert len(list(again.read())) == 1


def test_a_refused_writer_leaves_the_lock_alone(run):
    """A writer that was refused takes nothing from the one that writes."""
    with closing(SQLiteStore(run)) as store:
        for _ in range(3):
            with pytest.raises(LoomError, match="being written"):
                SQLiteStore(run)
        fill(store, 1)


def test_a_killed_writer_loses_nothing(run):
    """LOOM-1: what append returned for is there, though the process was killed outright."""
    with program(WRITER, run) as writer:
        said = [int(writer.stdout.readline()) for _ in range(200)]
        writer.kill()
        said += [int(line) for line in writer.stdout.read().split("\n")[:-1]]
    with closing(SQLiteStore(run)) as store:
        rows = list(store.read())
        assert [n for n, *_ in rows[: len(said)]] == said
        assert all(body == b"body %d" % n for n, _, _, body in rows)
        store.append(len(rows) + 1, AT, "kind", b"goes on")


def test_a_killed_writer_can_be_read_at_once(run):
    """A reader needs no writer to clean up after one that died."""
    with program(WRITER, run) as writer:
        writer.stdout.readline()
        writer.kill()
    with closing(SQLiteStore(run, read_only=True)) as reader:
        assert next(reader.read()) == (1, AT, "kind", b"body 1")


def test_readers_see_each_record_while_another_process_writes(run):
    """Many read while one writes: what was appended is seen, in order, without a gap."""
    with program(WRITER, run) as writer:
        writer.stdout.readline()
        readers = [SQLiteStore(run, read_only=True) for _ in range(3)]
        for _ in range(50):
            written = int(writer.stdout.readline())
            for reader in readers:
                reading = reader.read(written - 1)
                assert next(reading) == (written, AT, "kind", b"body %d" % written)
        for reader in readers:
            reader.close()


def test_a_reader_in_the_writer_s_process_takes_no_lock_away(run):
    """Opening and closing readers beside the writer leaves its lock and its writing whole."""
    with closing(SQLiteStore(run)) as store:
        for n in range(1, 4):
            with closing(SQLiteStore(run, read_only=True)) as reader:
                store.append(n, AT, "kind", b"")
                assert len(list(reader.read())) == n
        with program(HOLDER.replace("held", ""), run) as second:
            assert second.stdout.read() == ""
            assert second.wait() == 1


def test_a_thread_reads_while_another_writes(run):
    """One store serves threads: a reader sees a growing run of records without a gap."""
    problems: list[object] = []
    with closing(SQLiteStore(run)) as store:

        def follow() -> None:
            seen = 0
            while seen < 300:
                for n, *_ in store.read(seen):
                    if n != seen + 1:
                        problems.append((seen, n))
                    seen = n

        reader = threading.Thread(target=follow)
        reader.start()
        fill(store, 300)
        reader.join()
    assert problems == []


def test_a_reader_can_neither_append_nor_put(run):
    """A loom that was opened to be read is not written."""
    SQLiteStore(run).close()
    with closing(SQLiteStore(run, read_only=True)) as reader:
        for use in (lambda: reader.append(1, AT, "kind", b""), lambda: reader.put(b"blob")):
            with pytest.raises(LoomError, match="read only"):
                use()


def test_a_reader_makes_nothing(run):
    """Reading where there is no loom is an error, and leaves no file behind."""
    with pytest.raises(LoomError, match=f"there is no loom at {run}"):
        SQLiteStore(run, read_only=True)
    assert not run.exists()


READ_WITHOUT_RIGHTS = """
    import os, sys
    from circlet.runtime.loom import SQLiteStore
    if os.geteuid() == 0:  # who may write everywhere
        os.setgroups([])
        os.setgid(65534)
        os.setuid(65534)
    print(len(list(SQLiteStore(sys.argv[1], read_only=True).read())))
"""


def test_a_loom_in_a_directory_that_may_not_be_written_can_be_read():
    """An archived run is readable: nothing is written beside it."""
    home = Path(tempfile.mkdtemp())
    run = home / "run"
    try:
        with closing(SQLiteStore(run)) as store:
            fill(store, 3)
        home.chmod(0o755)
        run.chmod(0o555)
        (run / "loom.db").chmod(0o444)
        with program(READ_WITHOUT_RIGHTS, run) as reader:
            assert reader.stdout.read() == "3\n"
    finally:
        run.chmod(0o755)
        shutil.rmtree(home)


def test_files_are_their_user_s_alone(run):
    """What a loom holds may be secret: every file has mode 0600, every directory 0700."""
    with closing(SQLiteStore(run)) as store:
        fill(store, 1)
        store.put(b"blob")
        made = [run, *run.rglob("*")]
        files = {path.name: stat.S_IMODE(path.stat().st_mode) for path in made if path.is_file()}
        directories = {stat.S_IMODE(path.stat().st_mode) for path in made if path.is_dir()}
    assert {"loom.db", "loom.db-wal", "loom.db-shm", "loom.lock"} < files.keys()
    assert set(files.values()) == {0o600}
    assert directories == {0o700}


def test_blobs_lie_beside_the_database(run):
    """A blob is the file ``blobs/ab/abcdef...``, and nothing unfinished lies about."""
    with closing(SQLiteStore(run)) as store:
        digest = store.put(b"blob")
        store.put(b"blob")
    assert (run / "blobs" / digest[:2] / digest).read_bytes() == b"blob"
    assert [path for path in (run / "blobs").rglob("*") if path.is_file()] == [
        run / "blobs" / digest[:2] / digest
    ]


def test_a_damaged_blob_is_an_error(run):
    """A blob's content is checked against its name when it is read."""
    with closing(SQLiteStore(run)) as store:
        digest = store.put(b"blob")
        (run / "blobs" / digest[:2] / digest).write_bytes(b"bloB")
        with pytest.raises(LoomError, match=f"{digest} is damaged"):
            store.get(digest)


def test_a_cut_blob_is_mended_by_putting_it_again(run):
    """What a power cut left of a blob is not taken for the blob."""
    with closing(SQLiteStore(run)) as store:
        digest = store.put(b"blob")
        (run / "blobs" / digest[:2] / digest).write_bytes(b"")
        assert store.put(b"blob") == digest
        assert store.get(digest) == b"blob"


def test_a_blob_that_can_t_be_written_is_an_error(run):
    """The error of a blob names its file."""
    with closing(SQLiteStore(run)) as store:
        (run / "blobs").write_text("a file in the way")
        with pytest.raises(LoomError, match=r"blobs.* can't be written"):
            store.put(b"blob")


def test_a_newer_format_is_refused(run):
    """A loom of a later circlet is neither read wrongly nor written to."""
    SQLiteStore(run).close()
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute("PRAGMA user_version = 2")
    for read_only in (True, False):
        with pytest.raises(LoomError, match="has format 2, this circlet knows 1: upgrade"):
            SQLiteStore(run, read_only=read_only)


def test_another_database_is_refused(run):
    """A database that is no loom is left as it is."""
    run.mkdir(parents=True)
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute("CREATE TABLE mine (x)")
    with pytest.raises(LoomError, match=r"loom\.db is not a loom"):
        SQLiteStore(run)
    with closing(sqlite3.connect(run / "loom.db")) as database:
        assert database.execute("SELECT name FROM sqlite_master").fetchall() == [("mine",)]


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database_is_an_error(run, read_only):
    """The error names the file and says what to do."""
    run.mkdir(parents=True)
    (run / "loom.db").write_bytes(b"no database at all, whatever its name says" * 100)
    with pytest.raises(LoomError, match=r"loom\.db: file is not a database; choose another"):
        SQLiteStore(run, read_only=read_only)


def test_a_damaged_database_is_an_error(run):
    """Pages of rubbish in the middle of a loom are told, never read as records."""
    with closing(SQLiteStore(run)) as store:
        for n in range(1, 200):
            store.append(n, AT, "kind", bytes(1000))
    with (run / "loom.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 100_000)
    with (
        closing(SQLiteStore(run, read_only=True)) as store,
        pytest.raises(LoomError, match="malformed; restore it from a copy"),
    ):
        list(store.read())


def test_a_failed_opening_lets_the_lock_go(run):
    """A writer that could not open the loom doesn't keep the next one out."""
    run.mkdir(parents=True)
    (run / "loom.db").write_bytes(b"rubbish" * 1000)
    with pytest.raises(LoomError, match="not a database"):
        SQLiteStore(run)
    (run / "loom.db").unlink()
    SQLiteStore(run).close()


NO_ROOM = """
    import resource, sys
    from circlet.runtime.errors import LoomError
    from circlet.runtime.loom import SQLiteStore
    store = SQLiteStore(sys.argv[1])
    store.append(1, "at", "kind", b"fits")
    resource.setrlimit(resource.RLIMIT_FSIZE, (200_000, 200_000))
    try:
        store.append(2, "at", "kind", bytes(1_000_000))
    except LoomError as error:
        print(error)
    store.append(2, "at", "kind", b"fits too")
    print([n for n, *_ in store.read()])
"""


def test_a_disk_that_takes_no_more_is_an_error(run):
    """A record that can't be written is told, is not there, and its n is free."""
    with program(NO_ROOM, run) as writer:
        error, numbers = writer.stdout.read().splitlines()
    assert str(run / "loom.db") in error
    assert "free" in error
    assert numbers == "[1, 2]"


@pytest.mark.parametrize("where", ["file", "file/below"])
def test_a_path_that_can_t_be_a_directory_is_an_error(tmp_path, where):
    """The error names the path."""
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(LoomError, match=f"can't be used: .*{tmp_path / 'file'}"):
        SQLiteStore(tmp_path / where)


def test_an_unknown_durability_is_an_error(run):
    """There are two durabilities."""
    unknown: Any = "eternal"
    with pytest.raises(LoomError, match="'process' or 'power', not 'eternal'"):
        SQLiteStore(run, unknown)


@pytest.mark.parametrize("name", ["a b", "ünï", "50%", "what?", "a#b"])
def test_any_path_will_do(tmp_path, name):
    """A directory's name may hold what a file system lets it hold."""
    with closing(SQLiteStore(tmp_path / name)) as store:
        fill(store, 1)
    assert (tmp_path / name / "loom.db").is_file()
    with closing(SQLiteStore(tmp_path / name, read_only=True)) as reader:
        assert len(list(reader.read())) == 1


FORKER = """
    import os, sys
    from circlet.runtime.errors import LoomError
    from circlet.runtime.loom import SQLiteStore
    store = SQLiteStore(sys.argv[1])
    child = os.fork()
    if child == 0:
        try:
            store.append(1, "at", "kind", b"")
        except LoomError as error:
            print(error, flush=True)
        store.close()
        os._exit(0)
    os.waitpid(child, 0)
    try:
        SQLiteStore(sys.argv[1])
    except LoomError as error:
        print(error)
    store.append(1, "at", "kind", b"")
    print(os.getpid())
"""


def test_a_forked_process_leaves_its_parent_s_loom_alone(run):
    """A forked child neither writes its parent's loom nor gives its lock away."""
    with program(FORKER, run) as parent:
        child, second, pid = parent.stdout.read().splitlines()
    assert f"opened by process {pid}" in child
    assert f"being written by process {pid}" in second


def test_a_loom_on_disk_is_the_directory_s(run):
    """A loom's path is a run's directory, made when missing; its file is ``loom.db``."""
    with Loom(run) as loom:
        assert loom.path == run
    assert (run / "loom.db").is_file()
