"""The database: what SQL may do to it, older and foreign ones, damage of its files."""

from __future__ import annotations

import shutil
import sqlite3
from contextlib import closing

import pytest
from circlet.runtime.errors import LoomError
from circlet.runtime.loom import Loom, SQLiteStore, verify

AT = "2026-01-01T00:00:00.000000Z"


def append(store, rows) -> None:
    for row in rows:
        store.append(row)


@pytest.mark.parametrize(
    "statement",
    [
        "UPDATE records SET body = x'00' WHERE n = 1",
        "UPDATE records SET chain = x'00'",
        "UPDATE OR REPLACE records SET n = 2 WHERE n = 1",
        "DELETE FROM records",
        "DELETE FROM records WHERE n = 3",
        "INSERT OR REPLACE INTO records VALUES (1, 'at', 'kind', x'00', x'00', x'00')",
        "REPLACE INTO records VALUES (3, 'at', 'kind', x'00', x'00', x'00')",
        "INSERT INTO records VALUES (5, 'at', 'kind', x'00', x'00', x'00')",
        "INSERT INTO records (at, kind, brief, body, chain) VALUES ('', '', x'', x'', x'')",
        "INSERT INTO records VALUES (1, '', '', x'', x'', x'') ON CONFLICT DO UPDATE SET at = ''",
    ],
)
def test_sql_itself_can_change_nothing(run, rows, statement):
    """LOOM-3: below Python too, a record is neither changed nor removed nor slipped in."""
    with closing(SQLiteStore(run)) as store:
        append(store, rows(3))
    with closing(sqlite3.connect(run / "loom.db")) as database:
        with pytest.raises(sqlite3.IntegrityError, match="loom is append-only"):
            database.execute(statement)
        kept = database.execute("SELECT n, body FROM records ORDER BY n").fetchall()
    assert kept == [(row.n, row.body) for row in rows(3)]


def test_a_newer_format_is_refused(run):
    """A loom of a later circlet is neither read wrongly nor written to."""
    SQLiteStore(run).close()
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute("PRAGMA user_version = 3")
    for read_only in (True, False):
        with pytest.raises(LoomError, match="has format 3, this circlet knows 2: upgrade"):
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


@pytest.mark.parametrize(
    ("statement", "wrong"),
    [
        ("DROP TRIGGER records_stay", "records_stay is missing"),
        ("DROP INDEX records_briefs", "records_briefs is missing"),
        ("ALTER TABLE records ADD COLUMN more TEXT", "records is changed"),
        ("CREATE TABLE other (x)", "other is foreign to it"),
        ("CREATE TRIGGER quiet BEFORE INSERT ON records BEGIN SELECT RAISE(IGNORE); END", "quiet"),
        ("DROP TABLE records", "records is missing"),
    ],
)
@pytest.mark.parametrize("read_only", [True, False])
def test_a_layout_that_was_changed_is_refused(run, rows, statement, wrong, read_only):
    """LOOM-3: a database without its triggers, or with something else in it, is told so."""
    with closing(SQLiteStore(run)) as store:
        append(store, rows(2))
    with closing(sqlite3.connect(run / "loom.db")) as database:
        database.execute(statement)
        database.commit()
    with pytest.raises(LoomError, match=f"is not laid out as a loom is: {wrong}"):
        SQLiteStore(run, read_only=read_only)


def make_old(run, rows) -> None:
    """A database of format 1, as circlet wrote it before there was a chain."""
    run.mkdir(parents=True)
    with closing(sqlite3.connect(run / "loom.db", isolation_level=None)) as database:
        database.execute("PRAGMA journal_mode = WAL")
        for statement in (
            "CREATE TABLE records (n INTEGER PRIMARY KEY, at TEXT NOT NULL, kind TEXT NOT NULL,"
            " body BLOB NOT NULL)",
            "CREATE TRIGGER records_stay BEFORE DELETE ON records"
            " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
            "CREATE TRIGGER records_stand BEFORE UPDATE ON records"
            " BEGIN SELECT RAISE(ABORT, 'loom is append-only'); END",
            "CREATE TRIGGER records_follow BEFORE INSERT ON records"
            " WHEN NEW.n IS NOT (SELECT COALESCE(MAX(n), 0) + 1 FROM records)"
            " BEGIN SELECT RAISE(ABORT, 'loom is append-only: n must be the next one'); END",
            "PRAGMA user_version = 1",
        ):
            database.execute(statement)
        for row in rows:
            values = (row.n, row.at, row.kind, row.body)
            database.execute("INSERT INTO records VALUES (?, ?, ?, ?)", values)


def test_an_older_loom_is_read_as_it_is(run, rows):
    """A loom of format 1 can be read without being changed; that it has no chain is told."""
    made = rows(5)
    make_old(run, made)
    before = (run / "loom.db").read_bytes()
    with closing(SQLiteStore(run, read_only=True)) as store:
        assert list(store.read()) == [row._replace(chain=b"") for row in made]
        assert list(store.scan(2)) == [(row.n, row.kind, row.brief) for row in made[2:]]
    assert (run / "loom.db").read_bytes() == before
    [note] = verify(run).notes
    assert "no chain" in note


def test_an_older_loom_is_brought_to_this_format_by_its_next_writer(run, rows):
    """A loom of format 1 gets briefs and chain when it is opened for writing, and goes on."""
    made = rows(6)
    make_old(run, made[:5])
    with closing(SQLiteStore(run)) as store:
        store.append(made[5])
        assert list(store.read()) == made
    with closing(SQLiteStore(run, read_only=True)) as store:
        assert list(store.read()) == made


def test_an_export_of_an_older_loom_is_a_whole_one(run, tmp_path, tell):
    """What a loom of format 1 is exported to has a chain, and can be gone on with."""
    with Loom(tmp_path / "new", trajectory=False) as loom:
        tell(loom).entity("e")
    with closing(SQLiteStore(tmp_path / "new", read_only=True)) as store:
        make_old(run, store.read())
    (tmp_path / "lines").mkdir()
    with Loom(run, read_only=True) as loom:
        loom.export(tmp_path / "lines" / "loom.jsonl", redaction="none")
    with Loom(tmp_path / "lines", trajectory=False) as loom:
        tell(loom).turn("e")
    found = verify(tmp_path / "lines")
    assert (found.faults, found.notes) == ([], [])


def test_a_bringing_up_that_fails_leaves_the_old_loom(run, rows):
    """An older loom with a record that can't be read stays what it was."""
    made = rows(3)
    make_old(run, [*made[:2], made[2]._replace(body=b"\xc1")])
    with pytest.raises(LoomError, match="at record 3: the fold record can't be read"):
        SQLiteStore(run)
    with closing(SQLiteStore(run, read_only=True)) as store:
        reading = store.read()
        assert [next(reading).n, next(reading).n] == [1, 2]
        with pytest.raises(LoomError, match="at record 3"):
            next(reading)


@pytest.mark.parametrize("read_only", [True, False])
def test_a_file_that_is_no_database_is_an_error(run, read_only):
    """The error names the file and says what to do."""
    run.mkdir(parents=True)
    (run / "loom.db").write_bytes(b"no database at all, whatever its name says" * 100)
    with pytest.raises(LoomError, match=r"loom\.db: file is not a database; choose another"):
        SQLiteStore(run, read_only=read_only)


def test_a_damaged_database_is_an_error(run, rows):
    """Pages of rubbish in the middle of a loom are told, never read as records."""
    with closing(SQLiteStore(run)) as store:
        append(store, rows(200, text="x" * 1000))
    with (run / "loom.db").open("r+b") as file:
        file.seek(8192)
        file.write(b"\xff" * 100_000)
    with (
        closing(SQLiteStore(run, read_only=True)) as store,
        pytest.raises(LoomError, match="malformed; restore it from a copy"),
    ):
        list(store.read())


@pytest.fixture
def crashed(run, rows):
    """A run's directory as a crash leaves it: thirty records, all of them still in the log."""
    with closing(SQLiteStore(run)) as store:
        append(store, rows(30))
        shutil.copytree(run, run.with_name("crashed"))
    return run.with_name("crashed")


def log_of(crashed):
    return crashed / "loom.db-wal"


def opened_again(crashed) -> tuple[list, str | None]:
    (crashed / "loom.db-shm").unlink(missing_ok=True)
    with closing(SQLiteStore(crashed)) as store:
        return list(store.read()), store.torn


def test_a_whole_log_loses_nothing(crashed, rows):
    """LOOM-1: what stands in the log alone is there after a crash, and no loss is told."""
    assert opened_again(crashed) == (rows(30), None)


@pytest.mark.parametrize("cut", [1, 23, 24, 25, 512, 4096, 4119, 4120, 4121, 8240, 20_000])
def test_a_log_that_was_cut_opens_to_what_was_whole(crashed, rows, cut):
    """A torn end costs the newest records, never the others; what is read is whole."""
    with log_of(crashed).open("r+b") as file:
        file.truncate(log_of(crashed).stat().st_size - cut)
    kept, torn = opened_again(crashed)
    assert kept == rows(len(kept))
    assert 30 > len(kept) > 15
    # A log that was cut between two transactions can't be told from one that never went on.
    assert torn is not None or cut % 4120 == 0


@pytest.mark.parametrize("size", [1, 512, 4096, 4120, 5_000, 8240])
@pytest.mark.parametrize("fill", [b"\0", b"\xa5"])
def test_a_last_block_that_was_lost_is_told(crashed, rows, size, fill):
    """A last block of the log that holds anything else is left out, and the loss is told."""
    log = log_of(crashed)
    whole = log.read_bytes()
    log.write_bytes(whole[:-size] + fill * size)
    assert log.read_bytes() != whole
    kept, torn = opened_again(crashed)
    assert kept == rows(len(kept))
    assert 30 > len(kept) > 15
    assert torn is not None or (fill != b"\0" and size == 8240)


def test_rubbish_behind_the_log_is_no_loss(crashed, rows):
    """What an earlier round left behind the last transaction is not taken for a loss."""
    log = log_of(crashed)
    first_page = log.read_bytes()[32 + 4120 * 3 :][:4120]
    stale = first_page[:8] + b"\1\2\3\4\5\6\7\x08" + first_page[16:]
    log.write_bytes(log.read_bytes() + stale * 3)
    assert opened_again(crashed) == (rows(30), None)


def test_damage_in_the_middle_of_the_log_is_told(crashed, rows):
    """A log that SQLite follows only to its middle has lost records: that is told."""
    data = bytearray(log_of(crashed).read_bytes())
    data[len(data) // 2] ^= 1
    log_of(crashed).write_bytes(data)
    faults = [str(fault) for fault in verify(crashed).faults]
    assert any("loom.db-wal is damaged" in fault for fault in faults)
    kept, torn = opened_again(crashed)
    assert kept == rows(len(kept))
    assert torn is not None


def test_a_loom_goes_on_after_a_torn_log(crashed, rows, tell):
    """What is recorded after a loss follows what was left, and the loom is whole again."""
    with log_of(crashed).open("r+b") as file:
        file.truncate(log_of(crashed).stat().st_size - 100)
    kept, _ = opened_again(crashed)
    with closing(SQLiteStore(crashed)) as store:
        append(store, rows(3, kept[-1]))
    with closing(SQLiteStore(crashed, read_only=True)) as store:
        assert list(store.read()) == rows(len(kept) + 3)


def test_opening_reads_no_body(run, tell):
    """A loom opens by its briefs: a damaged body is told when the record is looked at."""
    with Loom(run) as loom:
        tell(loom).entity("e")
    with closing(sqlite3.connect(run / "loom.db")) as database:
        triggers = database.execute(
            "SELECT name, sql FROM sqlite_master WHERE name = 'records_stand'"
        ).fetchall()
        database.execute("DROP TRIGGER records_stand")
        database.execute("UPDATE records SET body = x'c1' WHERE n = 2")
        for _, sql in triggers:
            database.execute(sql)
        database.commit()
    with Loom(run, read_only=True) as loom:
        assert list(loom.entities) == ["e"]
        with pytest.raises(LoomError, match="damaged at record 2: the entity record can't be"):
            loom.entities["e"].depth  # noqa: B018
