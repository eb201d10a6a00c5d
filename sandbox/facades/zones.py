"""Time zones: all of the machine's, in memory, for a jailed program can open no file."""

from __future__ import annotations

import importlib
import os
import zoneinfo
from datetime import tzinfo
from io import BytesIO
from typing import Any
from zoneinfo import _zoneinfo  # type: ignore[attr-defined]

_MAGIC = b"TZif"
_MAX_FILE = 1 << 20
_OTHER_CLOCKS = ("posix", "right")  # the same zones once more, without and with leap seconds
_zones: dict[str, bytes] = {}


def mend() -> dict[str, Any]:
    """``ZoneInfo`` is the library's own in Python, and finds its data here.

    The one in C trusts its data, and so any that a program would make up.
    """
    _zones.update(_load())
    kind: Any = _zoneinfo.ZoneInfo
    kind._new_instance = classmethod(_new_instance)
    show = kind.__repr__
    kind.__repr__ = lambda zone: ("zoneinfo." if type(zone) is kind else "") + show(zone)
    return {
        "zoneinfo.ZoneInfo": kind,
        "zoneinfo.available_timezones": available_timezones,
    }


def available_timezones() -> set[str]:
    """The names of the zones that there are."""
    return set(_zones) - {"posixrules"}


def _new_instance(cls: type[Any], key: str) -> Any:
    data = _zones.get(key)
    if data is None:
        known = f"there are {len(_zones)}, see available_timezones()"
        none = "this machine has no time zone data, so UTC and fixed offsets are all there is"
        raise zoneinfo.ZoneInfoNotFoundError(
            f"No time zone found with key {key}; {known if _zones else none}"
        )
    zone: Any = tzinfo.__new__(cls)
    zone._key = key
    zone._file_path = None
    zone._load_file(BytesIO(data))
    return zone


def _load() -> dict[str, bytes]:
    """The data of every zone by its name, from the first place that has any."""
    for folder in zoneinfo.TZPATH:
        if found := _load_folder(folder):
            return found
    return _load_package()


def _load_folder(top: str) -> dict[str, bytes]:
    found: dict[str, bytes] = {}
    one_of: dict[bytes, bytes] = {}  # half of the names are other names of the same data
    waiting = [""]
    while waiting:
        prefix = waiting.pop()
        try:
            entries = list(os.scandir(os.path.join(top, prefix)))
        except OSError:
            continue
        for entry in entries:
            name = prefix + entry.name
            if entry.is_dir():
                if name not in _OTHER_CLOCKS:
                    waiting.append(f"{name}/")
            elif data := _read(entry.path):
                found[name] = one_of.setdefault(data, data)
    return found


def _read(path: str) -> bytes:
    """The file's content, if that is a zone's."""
    try:
        with open(path, "rb", buffering=0) as file:
            data = file.read(_MAX_FILE)
    except OSError:
        return b""
    return data if data.startswith(_MAGIC) else b""


def _load_package() -> dict[str, bytes]:
    """The zones of the package ``tzdata``, where that is installed."""
    try:
        package = importlib.import_module("tzdata")
    except ImportError:
        return {}
    return _load_folder(os.path.join(os.path.dirname(package.__file__ or ""), "zoneinfo"))
