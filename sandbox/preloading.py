"""Loads packages whole, before the first program: nothing can be loaded in a jail.

A package loads parts of itself, and of the standard library, when they are first used. Here
every public submodule is imported, then what their functions import late, and some everyday
work is done with what is known to need more than that.
"""

from __future__ import annotations

import dis
import gc
import importlib
import pkgutil
import sys
import types
import zoneinfo
from collections.abc import Collection, Iterable, Iterator
from contextlib import suppress
from importlib.util import resolve_name
from typing import Any
from zoneinfo import _zoneinfo  # type: ignore[attr-defined]

from . import foreign
from .errors import PackageUnavailable

_JOKES = {"antigravity", "this"}  # modules that do something when they are loaded
_IMPORT_NAME = dis.opmap["IMPORT_NAME"]
_LEFT_OUT = frozenset({"conftest", "setup", "test", "tests"})
"""Submodules that no program has use for. Those with a leading underscore are left out as well."""

_REHEARSALS: dict[str, str] = {
    "numpy": """
a = numpy.arange(9.0).reshape(3, 3) + numpy.eye(3)
numpy.linalg.inv(a) @ a
numpy.linalg.svd(a), numpy.linalg.eig(a), numpy.linalg.lstsq(a, a[0], rcond=None)
numpy.fft.fft(a), numpy.fft.irfft(numpy.fft.rfft(a))
numpy.random.default_rng(1).normal(size=3), numpy.random.rand(2), numpy.random.permutation(3)
numpy.loadtxt(io.StringIO("1 2\\n3 4")), numpy.genfromtxt(io.StringIO("1,2\\n3,4"), delimiter=",")
numpy.save(io.BytesIO(), a), numpy.savetxt(io.StringIO(), a)
numpy.sort(a), numpy.unique(a), numpy.median(a), numpy.percentile(a, 5), numpy.histogram(a)
numpy.einsum("ij,jk", a, a), numpy.array(["a"]).astype("U2"), numpy.char.upper(["a"])
numpy.datetime64("2024-01-01") + numpy.timedelta64(1, "D"), numpy.ma.masked_array([1, 2], [0, 1])
repr(a), str(a), numpy.array2string(a), numpy.array([1, "b", None], dtype=object) == 1
numpy.polyfit([0, 1, 2], [0, 1, 4], 2), numpy.interp(1, [0, 2], [0, 4])
""",
    "pandas": """
f = pandas.DataFrame({"k": list("abab"), "n": range(4), "x": [0.5, None, 1.5, 2.5]})
f.groupby("k").agg({"n": ["sum", "mean"], "x": "max"}), f.groupby("k")["n"].apply(lambda s: s.max())
f.merge(f, on="k").sort_values("n_x").drop_duplicates().reset_index(drop=True)
f.describe(), f.info(buf=io.StringIO()), f.corr(numeric_only=True), f.isna().sum(), f.fillna(0)
repr(f), f.to_string(), f._repr_html_(), f.to_html(), f.to_csv(), f.to_json(), f.to_dict("records")
pandas.read_csv(io.StringIO(f.to_csv())), pandas.read_csv(io.StringIO("a b"), engine="python")
pandas.read_json(io.StringIO(f.to_json())), pandas.read_fwf(io.StringIO("a b\\n1 2"))
pandas.read_xml(io.StringIO(f.to_xml(parser="etree")), parser="etree")
f.pivot_table(index="k", values="n", aggfunc="sum"), f.melt(), f.query("n > 1"), f.eval("n + x")
pandas.concat([f, f]), pandas.get_dummies(f), pandas.cut(f.n, 2), pandas.crosstab(f.k, f.n)
d = pandas.date_range("2024-01-01", periods=4, freq="D", tz="UTC")
f.set_index(d).resample("2D").sum(numeric_only=True), f.n.rolling(2).mean(), f.n.shift()
pandas.to_datetime(["2024-01-31", "2024-02-29"]).strftime("%d %b"), pandas.Timestamp("3 May 2024")
pandas.to_datetime(f.n, unit="D"), pandas.Timedelta("1 day"), pandas.period_range("2024", periods=2)
f.k.str.upper().str.contains("A", regex=True), f.k.astype("category").cat.codes, f.k.value_counts()
f.convert_dtypes(), f.apply(lambda row: row.n, axis=1), f.T, f.to_numpy(), list(f.itertuples())
""",
}
"""Everyday work by package, a statement a line. What a version can't do is passed over."""


def load(names: Collection[str]) -> None:
    """Load packages, and what they would load later.

    Raises:
        PackageUnavailable: One can't be loaded.
    """
    # The class that a program finds, which keeps its zones in memory: the one in C reads files.
    zoneinfo.ZoneInfo = _zoneinfo.ZoneInfo  # type: ignore[misc]
    for name in names:
        _load(name)
    _load_late(names)
    foreign.teach()


def rehearse(names: Iterable[str]) -> None:
    """Play through everyday work with packages."""
    for name in names:
        known: dict[str, Any] = {one: importlib.import_module(one) for one in ("io", name)}
        for line in _REHEARSALS.get(name, "").splitlines():
            with suppress(Exception):
                exec(line, known)


def reseed(seed: int) -> None:
    """Give this worker random numbers of its own: a fork has its parent's."""
    if "numpy.random" in sys.modules:
        sys.modules["numpy.random"].seed(seed & 0xFFFF_FFFF)


def _load(name: str) -> None:
    try:
        module = importlib.import_module(name)
    except (Exception, SystemExit) as error:
        reason = f"{type(error).__name__}: {error}"[:1_000]
        raise PackageUnavailable(
            f"the package {name!r} can't be loaded ({reason}); what it needs must be installed "
            "beside it, or be one of the packages too"
        ) from None
    _walk(module)


def _walk(package: types.ModuleType) -> None:
    for found in pkgutil.iter_modules(getattr(package, "__path__", ()), f"{package.__name__}."):
        own_name = found.name.rpartition(".")[2]
        if own_name in _LEFT_OUT or own_name.startswith("_") or not own_name.isidentifier():
            continue
        # One that needs what is not installed is no loss: a program would be told the same.
        with suppress(Exception, SystemExit):
            module = importlib.import_module(found.name)
            if found.ispkg:
                _walk(module)


def _load_late(packages: Collection[str]) -> None:
    """Load what functions of these packages import, and again what those of the new ones do."""
    seen: set[int] = set()
    while found := _late_imports(packages, seen):
        for name in found:
            with suppress(Exception, SystemExit):  # many are no modules, or are not installed
                importlib.import_module(name)


def _late_imports(packages: Collection[str], seen: set[int]) -> set[str]:
    """Modules of these packages, and of Python's, that functions of the packages would import.

    Args:
        packages: Their names.
        seen: Functions that have been looked at, by ``id``; those that are new are added.
    """
    ours = {*packages, *sys.stdlib_module_names} - _JOKES
    found: set[str] = set()
    for function in gc.get_objects():
        if type(function) is not types.FunctionType or id(function) in seen:
            continue
        seen.add(id(function))
        if _top(function.__module__) in packages:
            package = function.__globals__.get("__package__")
            for code in _codes(function.__code__):
                found.update(_imported_by(code, package))
    return {name for name in found if _top(name) in ours and name not in sys.modules}


def _top(name: object) -> str:
    return name.partition(".")[0] if type(name) is str else ""


def _codes(code: types.CodeType) -> Iterator[types.CodeType]:
    """A code object and those inside it."""
    yield code
    for constant in code.co_consts:
        if isinstance(constant, types.CodeType):
            yield from _codes(constant)


def _imported_by(code: types.CodeType, package: str | None) -> Iterator[str]:
    """The full names of what a code object's import statements name, modules or not."""
    if _IMPORT_NAME not in code.co_code[::2]:
        return  # most have none, and are not worth taking apart
    last: list[Any] = [None, None]
    for step in dis.get_instructions(code):
        if step.opcode == _IMPORT_NAME:
            level, names = last
            with suppress(ImportError, ValueError, TypeError):
                module = resolve_name("." * level + step.argval, package)
                yield module
                yield from (f"{module}.{name}" for name in names or () if _is_missing(module, name))
        last = [last[1], step.argval]


def _is_missing(module: str, name: str) -> bool:
    return not hasattr(sys.modules.get(module), name)
