"""Third-party packages that a program may import: which may be asked for, and where they stand.

The host looks for them and imports none; ``preloading`` loads them where workers come from. A
package is given as it is, with its submodules, so the language wall is thinner with one: a raw
module leads to others. The kernel's wall stands.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable
from importlib.machinery import ModuleSpec
from importlib.util import find_spec
from pathlib import Path

from .facades.names import PUBLIC

SINGLE_THREADED = {
    f"{library}_NUM_THREADS": "1" for library in ("BLIS", "MKL", "NUMEXPR", "OMP", "OPENBLAS")
}
"""What keeps numeric libraries from starting threads: a process that has some can't be forked."""
_OURS = __name__.partition(".")[0]


def check_packages(names: Iterable[str]) -> tuple[str, ...]:
    """The packages of a session, sorted, each of them once.

    Args:
        names: Top-level names, as a program imports them.

    Raises:
        ValueError: One is no package that can be had here; the text says what to do.
    """
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise ValueError(f"packages are a list of names, such as ['numpy'], not {names!r}")
    given = list(names)
    for name in given:
        _locate(name)
    return tuple(sorted(set(given)))


def folders(names: Iterable[str]) -> list[str]:
    """The folders that hold these packages, in the order in which the host itself searches.

    Raises:
        ValueError: One can't be found.
    """
    found = {folder for name in names for folder in _locate(name)}
    searched = dict.fromkeys(str(Path(entry).absolute()) for entry in sys.path)
    return [*(folder for folder in searched if folder in found), *sorted(found - set(searched))]


def check_modules(modules: Iterable[str] | None, packages: tuple[str, ...]) -> None:
    """Check that all modules that a program is to be narrowed to can be given to it.

    Raises:
        ValueError: One is neither behind a facade nor one of the packages.
    """
    for name in modules or ():
        if not isinstance(name, str) or name not in (*PUBLIC, *packages):
            there = ", ".join(importable(packages))
            raise ValueError(f"no module {name!r} can be given to a program; there are: {there}")


def importable(packages: Iterable[str] = ()) -> list[str]:
    """The names of all modules that a program can be given, and of these packages."""
    return sorted({*PUBLIC, *packages})


def _locate(name: object) -> list[str]:
    """The folders that a package's own folder or file stands in."""
    if not isinstance(name, str) or not name.isidentifier():
        hint = ""
        if isinstance(name, str) and "." in name:
            hint = f"; {name.partition('.')[0]!r} brings its submodules with it"
        raise ValueError(
            f"a package is named as it is imported, such as 'numpy', not {name!r}{hint}"
        )
    if name in sys.stdlib_module_names:
        raise ValueError(
            f"{name!r} is part of Python and no package: what can be given of it is importable "
            "anyway, unless modules leaves it out"
        )
    if name == _OURS:
        raise ValueError(f"{name!r} is what keeps a program in: it can't be given to one")
    spec = _spec(name)
    if spec is None:
        raise ValueError(
            f"the package {name!r} is not installed here: pip install it, under the name that it "
            "has there, or leave it out"
        )
    folders = _folders_of(spec)
    if not folders or any(path.name.partition(".")[0] != name for path in folders):
        raise ValueError(
            f"the package {name!r} is installed in a way that a sandbox can't load it from "
            f"({spec.origin}): it has to stand in a folder, or a file, of its own name"
        )
    return [str(path.absolute().parent) for path in folders]


def _spec(name: str) -> ModuleSpec | None:
    try:
        return find_spec(name)
    except (ImportError, ValueError, AttributeError):  # a module that has been put in its place
        return None


def _folders_of(spec: ModuleSpec) -> list[Path]:
    if spec.submodule_search_locations is not None:
        return [Path(location) for location in spec.submodule_search_locations]
    return [Path(spec.origin)] if spec.origin and spec.has_location else []
