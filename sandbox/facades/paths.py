"""Paths as texts: there are no files, and no folder that a program runs in."""

from __future__ import annotations

import ntpath
import os
import pathlib
import posixpath
import types
import urllib.parse  # noqa: F401 - PurePath.as_uri loads it late
from collections.abc import Iterator, Mapping
from typing import Any, NoReturn

from .facade import make
from .names import PUBLIC

_FILE_METHODS = frozenset(dir(pathlib.Path)) - frozenset(dir(pathlib.PurePosixPath))


class Path(pathlib.PurePosixPath):
    """A path as a text. The methods that would touch a file are errors that say so."""

    __slots__ = ()
    __module__ = "pathlib"

    def __getattr__(self, name: str) -> NoReturn:
        if name in _FILE_METHODS:
            raise _no_files(name)
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    @classmethod
    def cwd(cls) -> NoReturn:
        """There is no such folder.

        Raises:
            AttributeError: Always.
        """
        raise _no_files("cwd")

    @classmethod
    def home(cls) -> NoReturn:
        """There is no such folder.

        Raises:
            AttributeError: Always.
        """
        raise _no_files("home")


Path.__name__ = Path.__qualname__ = "PosixPath"  # what Path makes, as repr shows it


class _Environment(Mapping[str, str]):
    """No variable is set, and none can be."""

    __slots__ = ()

    def __getitem__(self, name: str) -> str:
        raise KeyError(name)

    def __iter__(self) -> Iterator[str]:
        return iter(())

    def __len__(self) -> int:
        return 0

    def __setitem__(self, name: str, value: str) -> NoReturn:
        raise TypeError("os.environ is read-only here: keep settings in variables of your own")

    def __repr__(self) -> str:
        return "environ({})"


def mend() -> dict[str, Any]:
    """``os`` is names and texts; a path's own module is a facade too."""
    _hide_parsers()
    ours: dict[str, Any] = {
        f"os.path.{name}": value for name, value in _pure_names(posixpath).items()
    }
    return ours | {
        "os.path.relpath": _relpath,
        "os.environ": _Environment(),
        "os.getenv": _getenv,
        "os.linesep": "\n",
        "os.name": "posix",
        "pathlib.Path": Path,
        "pathlib.PosixPath": Path,
    }


def _hide_parsers() -> None:
    """From Python 3.13 on, paths have their module as a public attribute, and that has ``os``."""
    kinds: tuple[tuple[Any, types.ModuleType], ...] = (
        (pathlib.PurePosixPath, posixpath),
        (pathlib.PureWindowsPath, ntpath),
    )
    for kind, module in kinds:
        if isinstance(getattr(kind, "parser", None), types.ModuleType):
            face = make(module.__name__, _pure_names(module))
            kind.parser = face
            kind.with_name.__globals__[module.__name__] = face  # it is compared with this
            if module is os.path:
                pathlib.PurePath.parser = face  # type: ignore[attr-defined]


def _pure_names(module: types.ModuleType) -> dict[str, Any]:
    names = [*PUBLIC["os.path"].split(), "isreserved"]
    return {name: getattr(module, name) for name in names if hasattr(module, name)}


def _relpath(path: Any, start: Any = posixpath.curdir) -> str:
    """The way from ``start`` to ``path``; both absolute or both relative.

    Raises:
        ValueError: The way depends on a folder that one runs in, and there is none.
    """
    if not path:
        raise ValueError("no path specified")
    ends = [posixpath.normpath(os.fspath(one)) for one in (start, path)]
    if posixpath.isabs(ends[0]) != posixpath.isabs(ends[1]):
        raise ValueError("relpath() takes two absolute paths here, or two relative ones")
    here, there = ([part for part in end.split("/") if part and part != "."] for end in ends)
    shared = len(posixpath.commonprefix([here, there]))
    if ".." in here[shared:]:
        raise ValueError(f"{start!r} leads out of every folder that is known here")
    return "/".join([".."] * (len(here) - shared) + there[shared:]) or "."


def _getenv(key: str, default: Any = None) -> Any:  # noqa: ARG001 - no variable is set
    """The default: no environment variable is set."""
    return default


def _no_files(name: str) -> AttributeError:
    return AttributeError(
        f"Path.{name} is not available: there are no files here; read and write through a gate"
    )
