"""Third-party packages in a program's hands: how they are found, loaded, given and kept in."""

from __future__ import annotations

import math
import os
import socket
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import anyio
import pytest
from circlet.sandbox import AsyncSandbox, Limits, Sandbox, pool
from circlet.sandbox.errors import BackendUnavailable, CodecError, PackageUnavailable
from circlet.sandbox.packages import check_packages, folders
from circlet.sandbox.testing import SandboxOf, zygote_without

kernel = pytest.mark.kernel

SHELF = {
    "__init__.py": """
import socket
class Book:
    _price = 3
    def read(self):
        return "read"
    def count(self):
        from shelf._ledger import pages
        return pages()
    def save(self, path):
        open(path, "w")
    def send(self):
        socket.create_connection(("localhost", 9))
    def print(self):
        import no_such_printer
    def plot(self):
        raise ImportError("pip install no_such_plotter")
""",
    "rooms/__init__.py": "",
    "rooms/attic.py": "from .. import Book\nbook = Book()",
    "broken.py": "raise ImportError('this needs what is not installed')",
    "leaves.py": "raise SystemExit(3)",
    "tests/__init__.py": "raise KeyboardInterrupt",
}


@pytest.fixture
def site(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that the host imports from, with the package ``shelf`` in it."""
    for name, text in SHELF.items():
        path = tmp_path / "shelf" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    monkeypatch.syspath_prepend(tmp_path)
    return tmp_path


@pytest.fixture(autouse=True)
def no_zygote_stays_behind(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The zygotes of the packages that a test makes up end with the test."""
    before = set(pool._places)
    yield
    for packages in set(pool._places) - before:
        if packages not in ((), *KEPT):
            zygote = pool._places.pop(packages).zygote
            if zygote is not None:
                zygote.close()


KEPT = [("numpy",), ("numpy", "pandas")]


# -- which can be asked for --------------------------------------------------------------------


@pytest.mark.parametrize(
    ("packages", "message"),
    [
        (["no_such_package"], "the package 'no_such_package' is not installed here: pip install"),
        ("shelf", r"packages are a list of names, such as \['numpy'\], not 'shelf'"),
        (["json"], "'json' is part of Python and no package"),
        (["os"], "'os' is part of Python and no package"),
        (["shelf.rooms"], "not 'shelf.rooms'; 'shelf' brings its submodules with it"),
        (["scikit-learn"], "a package is named as it is imported, such as 'numpy'"),
        ([3], "a package is named as it is imported, such as 'numpy', not 3"),
        (None, "packages are a list of names"),
        (["circlet"], "'circlet' is what keeps a program in"),
    ],
)
def test_a_package_that_cannot_be_had(
    site: Path, monkeypatch: pytest.MonkeyPatch, packages: Any, message: str
) -> None:
    """It is an error that names it, when the session is made and before a process is started."""
    monkeypatch.setattr(pool, "_execute", lambda *_: pytest.fail("a zygote was started"))
    for made in (Sandbox, AsyncSandbox):
        with pytest.raises(ValueError, match=message):
            made(packages=packages)


def test_looking_for_a_package_imports_nothing(site: Path) -> None:
    """The host finds packages without running any of their code."""
    assert check_packages(["shelf", "shelf"]) == ("shelf",)
    assert "shelf" not in sys.modules


def test_a_package_is_looked_for_as_the_host_does(site: Path, tmp_path: Path) -> None:
    """A module of one file, a namespace and a package each give the folder that they stand in."""
    (tmp_path / "single.py").write_text("")
    (tmp_path / "spread" / "inner").mkdir(parents=True)
    assert folders(["shelf", "single", "spread"]) == [str(tmp_path)]


def test_a_package_under_another_folder_name(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What is only found by a hook of the host's is refused with the reason, not half loaded."""
    import importlib.util

    (tmp_path / "init.py").write_text("")
    spec = importlib.util.spec_from_file_location("hooked", tmp_path / "init.py")
    monkeypatch.setattr("circlet.sandbox.packages.find_spec", lambda _: spec)
    with pytest.raises(ValueError, match="'hooked' is installed in a way that a sandbox can't"):
        check_packages(["hooked"])


def test_modules_narrow_packages_too(site: Path) -> None:
    """With ``modules``, a package is importable where it is named there, and not otherwise."""
    with pytest.raises(ValueError, match=r"no module 'shelves' can be given.*, shelf, "):
        Sandbox(packages=["shelf"], modules=["shelves"])
    with pytest.raises(ValueError, match="no module 'shelf' can be given"):
        Sandbox(modules=["shelf"])


@kernel
def test_modules_narrow_what_is_importable(site: Path) -> None:
    """A package that ``modules`` leaves out is as closed as a module that it leaves out."""
    with Sandbox(packages=["shelf"], modules=["math"]) as box:
        run = box.run("import shelf")
        assert run.error
        assert run.error.message.endswith("you can import: math")
        assert box.run("import shelf.rooms").error
    with Sandbox(packages=["shelf"], modules=["shelf"]) as box:
        assert box.run("import shelf.rooms.attic\nshelf.rooms.attic.book.read()").value == "read"
        assert box.run("import math").error


# -- how they are given ------------------------------------------------------------------------


@kernel
def test_a_package_is_given_whole(site: Path) -> None:
    """Every public submodule is there, in each form of import; those that can't load are not."""
    with Sandbox(packages=["shelf"]) as box:
        assert box.run("import shelf\nshelf.rooms.attic.book.read()").value == "read"
        assert box.run("import shelf.rooms.attic as a\na.book.read()").value == "read"
        assert box.run("from shelf.rooms import attic\nattic.book.read()").value == "read"
        assert box.run("from shelf.rooms.attic import book\nbook.read()").value == "read"
        for name in ("broken", "leaves", "tests", "nowhere"):
            run = box.run(f"import shelf.{name}")
            assert run.error
            assert run.error.message == f"the package shelf has no module 'shelf.{name}' here"


@kernel
def test_what_a_package_imports_late_is_there(site: Path) -> None:
    """An import inside a package's function works in a jail, though nothing can be loaded there."""
    (site / "shelf" / "_ledger.py").write_text(
        "def pages():\n"
        "    def inner():\n"
        "        import wave\n"  # of Python's modules one that nothing else here loads
        "        from xml.dom import minidom\n"
        "        from ._paper import weight\n"
        "        return [wave.Error.__name__, minidom.Node.__name__, weight]\n"
        "    return inner()\n"
    )
    (site / "shelf" / "_paper.py").write_text("weight = 80")
    with Sandbox(packages=["shelf"]) as box:
        assert box.run("import shelf\nshelf.Book().count()").value == ["Error", "Node", 80]
        assert box.run("import wave").error


@kernel
@pytest.mark.parametrize(
    ("call", "hint"),
    [
        ("save('x.txt')", "There are no files and no network here: give it an io.StringIO"),
        ("send()", "There are no files and no network here"),
        ("print()", "Nothing can be installed here"),
        ("plot()", "Nothing can be installed here"),
    ],
)
def test_what_a_package_asks_in_vain_has_a_hint(site: Path, call: str, hint: str) -> None:
    """Files, the network, what is not installed: a line says what to use."""
    with Sandbox(packages=["shelf"]) as box:
        run = box.run(f"import shelf\nshelf.Book().{call}")
        assert run.error is not None
        assert run.error.traceback.split("\n")[-1].startswith(hint)


@kernel
def test_other_modules_stay_closed(site: Path) -> None:
    """What a package has imported for itself is no more importable than before."""
    with Sandbox(packages=["shelf"]) as box:
        run = box.run("import socket")
        assert run.error
        assert "no module 'socket' here" in run.error.message
        assert ", shelf, " in run.error.message
    with Sandbox() as box:
        assert box.run("import shelf").error


@kernel
def test_a_packages_classes_are_not_the_programs(site: Path) -> None:
    """They can't be changed, and their private names stay theirs; a subclass has its own."""
    with Sandbox(packages=["shelf"]) as box:
        box.run("from shelf import Book")
        assert "immutable type 'Book'" in str(box.run("Book.title = 1"))
        assert "'Book' is private" in str(box.run("Book()._price"))
        run = box.run(
            "class Mine(Book):\n    def __init__(self):\n        self._own = 2\nMine()._own"
        )
        assert run.value == 2
        assert "is private" in str(box.run("Mine()._price"))


@kernel
def test_one_zygote_a_set_of_packages(site: Path) -> None:
    """Sessions with the same packages share a zygote; the plain one stays as it is."""
    (site / "desk.py").write_text("")
    with Sandbox(packages=["shelf", "desk"]) as one, Sandbox(packages=("desk", "shelf")) as two:
        assert one.run("import shelf, desk\nx = 1\nx").value == 1
        assert two.run("import shelf, desk\nx = 2\nx").value == 2
        assert one.run("x").value == 1
    assert [packages for packages in pool._places if "desk" in packages] == [("desk", "shelf")]
    assert pool.shared(("desk", "shelf")) is not pool.shared()


@kernel
def test_a_fresh_worker_has_the_packages_too(site: Path) -> None:
    """After a kill the session goes on with the same packages."""
    with Sandbox(packages=["shelf"], limits=Limits(eval_ms=200)) as box:
        assert box.run("sum(range(10**12))").state == "rolled_back"
        assert box.run("import shelf\nshelf.Book().read()").value == "read"


@kernel
def test_the_awaiting_face(site: Path) -> None:
    """``AsyncSandbox`` takes packages as ``Sandbox`` does."""

    async def work() -> Any:
        async with AsyncSandbox(packages=["shelf"]) as box:
            return (await box.run("import shelf\nshelf.Book().read()")).value

    assert anyio.run(work) == "read"


@kernel
def test_python_itself_goes_before_packages(site: Path) -> None:
    """What stands beside a package takes no standard module's place."""
    for name in ("random", "json", "colorsys"):
        (site / f"{name}.py").write_text("raise RuntimeError('the wrong one')")
    (site / "shelf" / "late.py").write_text("import colorsys, json")
    with Sandbox(packages=["shelf"]) as box:
        assert (
            box.run("from shelf.late import colorsys\ncolorsys.rgb_to_hsv(0, 0, 0)[0]").value == 0
        )


@kernel
@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("import not_there_at_all", "the package 'faulty' can't be loaded .*not_there_at_all"),
        ("raise SystemExit", "the package 'faulty' can't be loaded .SystemExit"),
        (
            "import _thread, time\n_thread.start_new_thread(time.sleep, (60,))",
            "faulty: a package starts threads",
        ),
    ],
)
def test_a_package_that_cannot_be_loaded(site: Path, text: str, message: str) -> None:
    """It is an error that names it, never a session without it; once mended, it works."""
    (site / "faulty.py").write_text(text)
    with pytest.raises(PackageUnavailable, match=message):
        Sandbox(packages=["faulty"])
    (site / "faulty.py").write_text("x = 'this one is mended: of another length than before'")
    with Sandbox(packages=["faulty"]) as box:
        assert "mended" in box.run("import faulty\nfaulty.x").value


# -- where there is no kernel wall --------------------------------------------------------------


def test_auto_never_falls_to_portable_with_packages(
    site: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The language wall is thinner with packages: without the other one they must be asked for."""
    monkeypatch.setattr("platform.machine", lambda: "riscv64")
    monkeypatch.setattr(pool, "_places", {})
    message = r"packages need the kernel back end.*riscv64.*backend=\"portable\""
    with pytest.raises(BackendUnavailable, match=message):
        Sandbox(packages=["shelf"])


def test_portable_has_packages_where_it_is_asked_for(site: Path) -> None:
    """``backend="portable"`` is the caller's own word that the code is trusted."""
    with Sandbox(packages=["shelf"], backend="portable") as box:
        assert box.run("import shelf.rooms.attic as a\na.book.read()").value == "read"
        assert "no module 'socket' here" in str(box.run("import socket"))
    (site / "faulty.py").write_text("import not_there_at_all")
    with pytest.raises(PackageUnavailable, match="not_there_at_all"):
        Sandbox(packages=["faulty"], backend="portable")


# -- numpy and pandas --------------------------------------------------------------------------

NUMERIC = ("numpy", "pandas")
IMPORTS = "import numpy as np, pandas as pd"


@pytest.fixture(scope="module")
def box() -> Iterator[Sandbox]:
    with Sandbox(packages=NUMERIC, limits=Limits(memory_mb=256)) as session:
        session.run(IMPORTS)
        yield session


@pytest.fixture(scope="module")
def raw() -> Iterator[Sandbox]:
    """Numpy and pandas behind the kernel's wall alone."""
    with (
        zygote_without("language", packages=NUMERIC) as zygote,
        SandboxOf(zygote, packages=NUMERIC) as session,
    ):
        session.run(f"{IMPORTS}\nimport sys")
        yield session


@pytest.mark.kernel
@pytest.mark.packages
def test_a_group_by_over_many_rows() -> None:
    """100,000 rows grouped in a worker come to what plain Python makes of them."""
    rows = 100_000
    keys = [(n * 7919) % 97 for n in range(rows)]
    values = [float((n * 31) % 1013) / 8 for n in range(rows)]
    with Sandbox(packages=NUMERIC) as box:
        box.run(
            f"{IMPORTS}\nn = np.arange({rows})\n"
            "frame = pd.DataFrame({'key': (n * 7919) % 97, 'value': ((n * 31) % 1013) / 8})"
        )
        run = box.run(
            "grouped = frame.groupby('key')['value'].agg(['sum', 'count', 'max'])\n"
            "grouped.to_dict('index')"
        )
    groups: dict[int, list[float]] = {}
    for key, value in zip(keys, values, strict=True):
        groups.setdefault(key, []).append(value)
    assert {key: group["count"] for key, group in run.value.items()} == {
        key: len(group) for key, group in groups.items()
    }
    for key, group in groups.items():
        assert run.value[key]["max"] == max(group)
        assert math.isclose(run.value[key]["sum"], math.fsum(group))


EVERYDAY = {
    "from numpy.linalg import norm\nnorm([3, 4])": 5.0,
    "import numpy.random\nnumpy.random.default_rng(1).integers(10, size=3).tolist()": [4, 5, 7],
    "np.fft.ifft(np.fft.fft([1, 2, 3])).real.round().tolist()": [1.0, 2.0, 3.0],
    "np.linalg.solve([[2.0, 0], [0, 4]], [2, 4]).tolist()": [1.0, 1.0],
    "np.array2string(np.eye(2))": "[[1. 0.]\n [0. 1.]]",
    "np.ma.masked_array([1, 2], [0, 1]).sum()": 1,
    "a = pd.DataFrame({'k': ['x', 'y', 'x'], 'n': [1, 2, 3]})\na['n'] += 1\na.n.tolist()": [
        2,
        3,
        4,
    ],
    "a.merge(a, on='k').shape": (5, 3),
    "a.sort_values('n', ascending=False).iloc[0].to_dict()": {"k": "x", "n": 4},
    "a.groupby('k').n.sum().to_dict()": {"x": 6, "y": 3},
    "a.query('n > 2').k.str.upper().tolist()": ["Y", "X"],
    "a.pivot_table(index='k', values='n', aggfunc='max').n.to_dict()": {"x": 4, "y": 3},
    "from io import StringIO\npd.read_csv(StringIO('a,b\\n1,2\\n')).b.sum()": 2,
    "a.describe().loc['mean', 'n']": 3.0,
    "pd.date_range('2024-02-28', periods=2).strftime('%d %b').tolist()": ["28 Feb", "29 Feb"],
    "a.set_index(pd.date_range('2024', periods=3)).n.resample('2D').sum().tolist()": [5, 4],
    "pd.read_xml(StringIO(a.to_xml(parser='etree')), parser='etree').n.tolist()": [2, 3, 4],
    "[row.n for row in a.itertuples()]": [2, 3, 4],
    "a.to_json()": '{"k":{"0":"x","1":"y","2":"x"},"n":{"0":2,"1":3,"2":4}}',
    "str(pd.Timestamp('2024-07-01', tz='Europe/Paris').utcoffset())": "2:00:00",
    "pd.Timestamp('2024-07-01', tz='Asia/Tokyo').tz_convert('UTC').hour": 15,
    "import zoneinfo\npd.Timestamp('2024-07-01', tz=zoneinfo.ZoneInfo('Europe/Paris')).hour": 0,
    "class Frame(pd.DataFrame):\n    pass\ntype(Frame({'a': [1]})).__name__": "Frame",
}


@pytest.mark.kernel
@pytest.mark.packages
def test_everyday_work(box: Sandbox) -> None:
    """What a textbook does with numpy and pandas runs in a jail as it does outside."""
    for source, value in EVERYDAY.items():
        run = box.run(source)
        assert run.status == "ok", str(run)
        assert run.value == value, source


@pytest.mark.kernel
@pytest.mark.packages
def test_nothing_is_loaded_late(raw: Sandbox) -> None:
    """Everyday work loads no module that was not there before: a jailed worker couldn't."""
    before = raw.run("set(sys.modules)").value
    for source in EVERYDAY:
        assert raw.run(source).status == "ok", source
    assert raw.run("set(sys.modules)").value == before


@pytest.mark.kernel
@pytest.mark.packages
def test_what_a_package_prints_is_the_turns_output(box: Sandbox) -> None:
    """A package's own prints are shown as the program's are."""
    run = box.run("pd.DataFrame({'n': [1, 2]}).info()")
    assert "RangeIndex: 2 entries" in run.stdout


@pytest.mark.kernel
@pytest.mark.packages
def test_each_worker_has_random_numbers_of_its_own() -> None:
    """Workers are copies of one process, and their generators are not."""
    drawn = set()
    for _ in range(3):
        with Sandbox(packages=NUMERIC) as box:
            drawn.add(box.run("import numpy as np\nnp.random.rand()").value)
    assert len(drawn) == 3


ATTEMPTS = [
    "np.fromfile('/etc/passwd', dtype='S1')",
    "np.load('/etc/passwd')",
    "np.loadtxt('/etc/passwd', dtype=str, delimiter='\\n')",
    "np.memmap('/etc/passwd')",
    "np.save('/tmp/circlet-packages', np.ones(3))",
    "np.ones(3).tofile('/tmp/circlet-packages')",
    "pd.read_csv('/etc/passwd')",
    "pd.read_csv('http://127.0.0.1:PORT/')",
    "pd.read_pickle('/etc/passwd')",
    "pd.read_json('file:///etc/passwd')",
    "pd.DataFrame({'a': [1]}).to_csv('/tmp/circlet-packages')",
    "pd.Series([1]).to_pickle('/tmp/circlet-packages')",
    "pd.DataFrame({'a': [1]}).eval(\"@__import__('os').listdir('/')\")",
    "pd.eval(\"__import__('os').system('touch /tmp/circlet-packages')\")",
    "pd.io.common.os.listdir('/')",
    "pd.io.common.os.fork()",
    "pd.io.common.os.kill(pd.io.common.os.getppid(), 0)",
    "assert pd.io.common.os.system('touch /tmp/circlet-packages') == 0",
    "np.ctypeslib.load_library('libc.so.6', '/lib/x86_64-linux-gnu')",
    "assert np.ctypeslib.ctypes.CDLL(None).open(b'/etc/passwd', 0) >= 0",
    "assert np.ctypeslib.ctypes.CDLL(None).socket(2, 1, 0) >= 0",
    "assert np.ctypeslib.ctypes.CDLL(None).fork() >= 0",
    "assert np.ctypeslib.ctypes.CDLL(None).execve(b'/bin/true', None, None) >= 0",
]


@pytest.mark.kernel
@pytest.mark.packages
@pytest.mark.parametrize("wall", ["box", "raw"])
@pytest.mark.parametrize("attempt", ATTEMPTS)
def test_the_kernels_wall_stands(attempt: str, wall: str, request: pytest.FixtureRequest) -> None:
    """No way through a package reaches a file, a process or a socket, the other wall up or down."""
    session: Sandbox = request.getfixturevalue(wall)
    with socket.create_server(("127.0.0.1", 0)) as server:
        server.setblocking(False)
        run = session.run(attempt.replace("PORT", str(server.getsockname()[1])))
        with pytest.raises(BlockingIOError):
            server.accept()
    assert run.status == "error", str(run)
    assert "root:" not in str(run)
    assert not list(Path("/tmp").glob("circlet-packages*"))
    assert session.run("1").value == 1


@pytest.mark.kernel
@pytest.mark.packages
def test_memory_is_counted_beyond_what_packages_take(box: Sandbox) -> None:
    """An array within the limit can be had; one past it is a MemoryError, and the state is kept."""
    assert box.run("kept = np.ones(20 * 2**20)\nlen(kept)").value == 20 * 2**20
    run = box.run("np.ones(10**9)")
    assert (run.status, run.state) == ("memory", "kept")
    assert box.run("kept.sum()").value == 20 * 2**20
    box.run("del kept")


@pytest.mark.kernel
@pytest.mark.packages
def test_time_is_bounded_in_numeric_code() -> None:
    """A loop over arrays is stopped and its state kept; one long operation costs the worker."""
    with Sandbox(packages=NUMERIC, limits=Limits(eval_ms=300)) as box:
        box.run(f"{IMPORTS}\na = np.arange(10.0)")
        run = box.run("while True:\n    b = a * a")
        assert (run.status, run.state) == ("timeout", "kept")
        assert box.run("a.sum()").value == 45.0
        run = box.run("c = np.ones(10**6)\nnp.convolve(c, c)")
        assert (run.status, run.state) == ("timeout", "rolled_back")
        assert box.run(f"{IMPORTS}\nnp.arange(3).tolist()").value == [0, 1, 2]


@pytest.mark.kernel
@pytest.mark.packages
@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("np.int64(5)", 5),
        ("np.uint64(2**63)", 2**63),
        ("np.float32(0.5)", 0.5),
        ("np.float64(0.5)", 0.5),
        ("np.bool_(True)", True),
        ("np.complex64(1j)", 1j),
        ("np.str_('a')", "a"),
        ("[np.int8(1), (np.int8(2),), {np.int8(3)}]", [1, (2,), {3}]),
        ("{np.int64(1): np.bool_(False)}", {1: False}),
        ("[pd.NaT, pd.NA, np.datetime64('NaT')]", [None, None, None]),
    ],
)
def test_single_values_cross_as_pythons_own(box: Sandbox, source: str, value: Any) -> None:
    """CIRCLE-8: a number is a number to whoever gets it, whatever library it was counted with."""
    got = box.run(source).value
    assert got == value
    assert type(got) is type(value)
    assert box.run(f"done({source})").answer == value


@pytest.mark.kernel
@pytest.mark.packages
def test_moments_cross_as_pythons_own(box: Sandbox) -> None:
    """A moment and a span that Python can hold cross as its own; a finer one is an error."""
    import datetime as dt

    assert box.run("pd.Timestamp('2024-01-02 03:04')").value == dt.datetime(2024, 1, 2, 3, 4)
    assert box.run("np.datetime64('2024-01-02')").value == dt.date(2024, 1, 2)
    assert box.run("pd.Timedelta('1 day')").value == dt.timedelta(days=1)
    assert box.run("np.timedelta64(5, 's')").value == dt.timedelta(seconds=5)
    for source in ("np.datetime64(1, 'ns')", "np.timedelta64(1, 'Y')", "np.longdouble(1)"):
        with pytest.raises(CodecError, match="has no match in plain Python"):
            _ = box.run(source).value


@pytest.mark.kernel
@pytest.mark.packages
@pytest.mark.parametrize(
    ("source", "name", "instead"),
    [
        ("np.arange(3)", "ndarray", ".tolist()"),
        ("pd.DataFrame({'a': [1]})", "DataFrame", '.to_dict("records")'),
        ("pd.Series([1])", "Series", ".to_dict()"),
        ("pd.Index([1])", "Index", ".tolist()"),
        ("pd.array([1])", "IntegerArray", ".tolist()"),
    ],
)
def test_tables_stay(box: Sandbox, source: str, name: str, instead: str) -> None:
    """An array or a table is shown, and does not cross: the error says what to hand on instead."""
    run = box.run(source)
    assert run.status == "ok"
    assert run.shown
    with pytest.raises(CodecError, match=f"a value of type {name} can't leave its sandbox"):
        _ = run.value
    for answer in (source, f"[{source}]", f"{{'a': {source}}}"):
        run = box.run(f"done({answer})")
        assert run.status == "error"
        assert run.error
        assert run.error.message.startswith(f"done: a value of type {name} can't leave")
        assert instead in run.error.message


@pytest.mark.kernel
@pytest.mark.packages
def test_a_large_table_is_shown_in_short(box: Sandbox) -> None:
    """The last value of a turn is its repr, which is bounded whatever the size of the table."""
    run = box.run("pd.DataFrame({'n': np.arange(100_000)})")
    assert run.shown
    assert "[100000 rows x 1 columns]" in run.shown
    assert len(run.shown) < 1_000


@pytest.mark.kernel
@pytest.mark.packages
def test_a_zygote_with_packages_has_one_thread() -> None:
    """Numeric libraries start no threads of their own: no worker could be forked."""
    pid = pool.shared(NUMERIC)._process.pid
    assert len(os.listdir(f"/proc/{pid}/task")) == 1
