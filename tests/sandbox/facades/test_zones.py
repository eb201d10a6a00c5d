"""``zoneinfo``: every zone of the machine, and no file is opened for one."""

import zoneinfo
from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox


def test_zones_work_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """Offsets, names, folds and gaps, zones of the past and of the future."""
    same_as_cpython("""
from datetime import datetime, timedelta, timezone
from zoneinfo import ZoneInfo, ZoneInfoNotFoundError
names = ["Europe/Berlin", "America/New_York", "Asia/Kolkata", "Australia/Lord_Howe", "UTC",
"Africa/Casablanca"]
moments = [datetime(1900, 1, 1), datetime(1970, 7, 1), datetime(2024, 3, 31, 2, 30),
           datetime(2024, 10, 27, 2, 30), datetime(2024, 10, 27, 2, 30, fold=1), datetime(2090, 6,
           1)]
told = [
    (z, m.replace(tzinfo=ZoneInfo(z)).isoformat(), m.replace(tzinfo=ZoneInfo(z)).tzname(),
     m.replace(tzinfo=ZoneInfo(z)).dst().total_seconds())
    for z in names for m in moments
]
moved = [m.replace(tzinfo=timezone.utc).astimezone(ZoneInfo(z)).isoformat() for z in names
for m in moments]
try:
    ZoneInfo("Mars/Olympus")
except ZoneInfoNotFoundError as error:
    said = isinstance(error, KeyError), "No time zone found with key Mars/Olympus" in str(error)
z = ZoneInfo("Europe/Berlin")
(told, moved, said, z is ZoneInfo("Europe/Berlin"), str(z), repr(z), z.key,
ZoneInfo.no_cache("UTC") is z)
""")


def test_all_zones_of_the_machine_are_there(box: Sandbox) -> None:
    """The names are those that this Python finds, and each has its data."""
    run = box.run("""
import zoneinfo
from datetime import datetime
names = zoneinfo.available_timezones()
for name in names:
    datetime(2024, 1, 1, tzinfo=zoneinfo.ZoneInfo(name)).utcoffset()
names
""")
    assert run.value == zoneinfo.available_timezones(), str(run)


def test_an_unknown_zone_is_an_error_that_says_what_there_is(box: Sandbox) -> None:
    """The text names the zone and how to see the others."""
    run = box.run("import zoneinfo\nzoneinfo.ZoneInfo('Europe/Nowhere')")
    assert run.error is not None
    assert "Europe/Nowhere" in run.error.message
    assert "available_timezones()" in run.error.message


@pytest.mark.parametrize(
    "source",
    [
        "class Z(ZoneInfo):\n    def _find_tzfile(self, key): return '/etc/hostname'\n"
        "    def _load_file(self, file): escaped.append(file.read())\nZ('x')",
        "class Z(ZoneInfo):\n    def _load_file(self, file): escaped.append(file.name)\nZ('UTC')",
        "ZoneInfo('../../../etc/hostname')",
        "ZoneInfo('/etc/hostname')",
        "ZoneInfo(['UTC'])",
        "ZoneInfo._find_tzfile('UTC')",
        "import zoneinfo\nescaped.append(zoneinfo.TZPATH)",
    ],
)
def test_no_zone_leads_to_a_file(box: Sandbox, source: str) -> None:
    """Neither a key nor a subclass has a file opened, and no path is told."""
    run = box.run(f"from zoneinfo import ZoneInfo\nescaped = []\n{source}")
    assert run.status == "error", str(run)
    assert box.run("escaped").value == []


def test_data_that_a_program_makes_up_is_an_error_or_a_zone(box: Sandbox) -> None:
    """``from_file`` reads what it is given, and wrong data can't do more than raise."""
    run = box.run("""
import io, struct
from datetime import datetime
from zoneinfo import ZoneInfo
def data(index):
    header = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 1, 1, 4)
    empty = struct.pack(">4sc15x6l", b"TZif", b"2", 0, 0, 0, 0, 0, 0)
    return (empty + header + struct.pack(">q", 0) + bytes([index]) + struct.pack(">lbb", 3600, 0, 0)
            + b"XYZ\\0" + b"\\n\\n")
good = ZoneInfo.from_file(io.BytesIO(data(0)))
try:
    bad = ZoneInfo.from_file(io.BytesIO(data(200))).utcoffset(datetime(2000, 1, 1))
except (IndexError, ValueError) as error:
    bad = "an error"
(good.utcoffset(datetime(2000, 1, 1)).total_seconds(), bad)
""")
    assert run.value == (3600.0, "an error"), str(run)
