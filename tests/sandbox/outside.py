"""What no program may reach, wherever a walk comes upon it."""

from __future__ import annotations

import builtins
import enum
import functools
import os
import re
import sys
import threading
import types
from collections import deque
from collections.abc import Collection
from pathlib import Path
from typing import Any

from circlet.sandbox import classes

OUTSIDE = {
    *("posix", "nt", "os", "subprocess", "socket", "_socket", "gc", "ctypes", "_ctypes", "_imp"),
    *("marshal", "_thread", "signal", "_signal", "faulthandler", "mmap", "fcntl", "select"),
    *("_posixsubprocess", "importlib", "_frozen_importlib", "_frozen_importlib_external"),
    *("pickle", "_pickle", "threading", "multiprocessing", "shutil", "tempfile"),
    *("runpy", "code", "codeop", "pty", "resource", "builtins.open"),
}
"""Modules none of whose functions or classes a program has any business with."""
LOCKS = (type(threading.Lock()), type(threading.RLock()))
OURS = str(Path(classes.__file__).parent)
ADMITTED = {
    *("posix.urandom", "posix.fspath", "os.PathLike", "os.PathLike.__fspath__"),
    *("posix._path_normpath", "posix._path_splitroot_ex"),  # of texts, in C from 3.13 on
}
CONTAINERS = (dict, list, set, bytearray, deque)
KEPT = re.compile(
    r"logging\.(root|lastResort)\.|sys\.argv$|.*\.__slots__$"
    r"|keyword\.\w+$|html\.entities\.\w+$|hashlib\.algorithms_\w+$"
)
"""Containers that are the program's own to change, or that nobody reads again."""
MAKERS = {
    *("typing.NamedTuple", "typing.TypedDict", "typing.NewType", "collections.namedtuple"),
    *("enum.Enum", "enum.Flag", "enum.IntEnum", "enum.IntFlag", "enum.StrEnum"),
    *("dataclasses.make_dataclass", "csv.Sniffer", "Overriding(csv.Sniffer)"),
    "WithRecorders(csv.Sniffer)",
}
"""What makes classes, of names that are checked, or that are always the same."""
FORBIDDEN = {
    id(thing): name
    for name, thing in {
        "open": builtins.open,
        "exec": builtins.exec,
        "eval": builtins.eval,
        "compile": builtins.compile,
        "__import__": builtins.__import__,
        "getattr": builtins.getattr,
        "setattr": builtins.setattr,
        "delattr": builtins.delattr,
        "vars": builtins.vars,
        "globals": builtins.globals,
        "locals": builtins.locals,
        "type": type,
        "str.format": str.format,
        "str.format_map": str.format_map,
        "builtins": vars(builtins),
        "sys.modules": sys.modules,
        "os.environ": os.environ,
    }.items()
}


def why_bad(obj: Any, path: str, given: bool, made: Collection[type]) -> str | None:
    """What an object is that should not be reached; None where it may be.

    Args:
        obj: The object.
        path: How it was reached.
        given: Whether it was there before any call: then all share it.
        made: Classes that the walk itself has made.
    """
    if id(obj) in FORBIDDEN:
        return FORBIDDEN[id(obj)]
    if classes.is_metaclass(obj) and obj is not classes.Type:
        return f"the metaclass {obj.__name__}"
    if classes.leads_out(obj):
        return type(obj).__name__
    if classes.is_class(obj) and classes.is_own(obj) and obj not in made:
        is_made = isinstance(obj, enum.EnumMeta) or any(path.startswith(one) for one in MAKERS)
        return None if is_made or _is_heir(obj) else f"a new class {obj.__name__}"
    if isinstance(obj, functools._lru_cache_wrapper) and obj.cache_parameters()["typed"]:
        return "a cache that keeps classes"
    if callable(obj) and not isinstance(obj, types.MethodType) and not _is_lock(obj):
        module = getattr(obj, "__module__", None)
        if _is_foreign(obj) and isinstance(module, str) and module.split(".")[0] in OUTSIDE:
            name = f"{module}.{getattr(obj, '__qualname__', obj)}"
            return None if name in ADMITTED else name
    if given and isinstance(obj, CONTAINERS) and not KEPT.match(path):
        return f"a shared {type(obj).__name__}"
    return None


def _is_heir(kind: type) -> bool:
    """Whether the walk itself has made it: a base class may be told of its subclasses."""
    return (
        kind.__name__ in ("Heir", "Holder", "Holding", "Record") and kind.__module__ == "__main__"
    )


def _is_foreign(obj: Any) -> bool:
    """Whether it is no function of ours: those go by the names of what they stand for."""
    ours = isinstance(obj, types.FunctionType) and obj.__code__.co_filename.startswith(OURS)
    return not ours


def _is_lock(obj: Any) -> bool:
    """Locks come from ``_thread``; all they can do is wait, which ends with the turn."""
    return any(obj is kind for kind in LOCKS) or type(obj) in LOCKS
