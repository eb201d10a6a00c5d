"""The house: what is packaged, what is public, and which way imports run."""

from __future__ import annotations

import ast
import subprocess
import sys
import tarfile
import tomllib
import zipfile
from pathlib import Path

import circlet
import pytest

ROOT = Path(__file__).parents[1]
OUTSIDE = {"tests", "examples", "benchmarks", "docs", "build", "dist", "runs"}

PUBLIC = [
    "LLM",
    "AsyncSandbox",
    "Cantrip",
    "Cast",
    "ChildFailed",
    "Circle",
    "CircletError",
    "ErrorInfo",
    "Execution",
    "Folding",
    "Gate",
    "GateCall",
    "GateInterrupted",
    "Identity",
    "Limits",
    "Loom",
    "Retry",
    "Sandbox",
    "ScriptedLLM",
    "Truncated",
    "gate",
    "llm",
]


def _project() -> dict:
    return tomllib.loads((ROOT / "pyproject.toml").read_text())


def _modules() -> list[Path]:
    return [
        path
        for path in sorted(ROOT.rglob("*.py"))
        if (parts := path.relative_to(ROOT).parts)[0] not in OUTSIDE and parts[0][0] != "."
    ]


def test_packages_are_listed():
    """Every folder of the tree that holds modules is a listed package, and no other is."""
    folders = {path.parent.relative_to(ROOT) for path in _modules()}
    names = {".".join(("circlet", *folder.parts)) for folder in folders}
    assert names == set(_project()["tool"]["setuptools"]["packages"])


def test_public_names():
    """The public face is these names, and each can be had."""
    assert sorted(circlet.__all__) == sorted(PUBLIC)
    for name in PUBLIC:
        assert getattr(circlet, name) is not None


def test_unknown_public_name():
    """A name that is not there is an AttributeError that says so."""
    with pytest.raises(AttributeError, match="no attribute 'Circlet'"):
        _ = circlet.Circlet


def test_importing_the_package_loads_nothing():
    """A sandbox's process imports the package too: its face pulls in no library."""
    code = (
        "import sys, circlet, circlet.sandbox\n"
        "print('pydantic' in sys.modules, 'anyio' in sys.modules)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["False", "False"]


def _imported_rooms(path: Path) -> set[str]:
    """The rooms of the house that a module imports from."""
    package = path.relative_to(ROOT).parent.parts
    rooms = set()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.ImportFrom) and node.level:
            base = package[: len(package) - node.level + 1]
            target = (*base, *(node.module or "").split("."))
            rooms.add(target[0] or (node.names[0].name if not base else ""))
    return rooms


@pytest.mark.parametrize(("room", "below"), [("sandbox", set()), ("gates", {"sandbox"})])
def test_no_import_runs_up(room, below):
    """Floors: the sandbox imports nothing above it, the gates only the sandbox."""
    for path in (ROOT / room).rglob("*.py"):
        assert _imported_rooms(path) <= {room, *below}, path


def test_absolute_imports_of_the_package():
    """Inside the package imports are relative, so that every tool resolves them from the tree."""
    for path in _modules():
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and not node.level:
                assert (node.module or "").partition(".")[0] != "circlet", path


@pytest.fixture(scope="module")
def built(tmp_path_factory) -> Path:
    """An sdist of what is tracked, and the wheel that is built from it."""
    folder = tmp_path_factory.mktemp("build")
    listed = subprocess.run(
        ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"],
        cwd=ROOT,
        capture_output=True,
        check=True,
    )
    source = folder / "source"
    for name in listed.stdout.decode().split("\0"):
        if name and (ROOT / name).is_file():
            target = source / name
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes((ROOT / name).read_bytes())
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder / "out")]
    subprocess.run([*command, str(source)], check=True, capture_output=True)
    return folder / "out"


def test_wheel_holds_the_package_only(built):
    """The wheel holds the package, its type marker and its data, and no tests or examples."""
    with zipfile.ZipFile(next(built.glob("*.whl"))) as wheel:
        names = set(wheel.namelist())
    top = {name.partition("/")[0] for name in names}
    assert top == {"circlet", f"circlet-{_project()['project']['version']}.dist-info"}
    data = {"py.typed", "runtime/media/capabilities.md", "runtime/conformance/renditions.yaml"}
    assert {f"circlet/{name}" for name in data} <= names
    assert not any(name.startswith(("circlet/tests", "circlet/examples")) for name in names)
    modules = {"/".join(("circlet", *path.relative_to(ROOT).parts)) for path in _modules()}
    assert {name for name in names if name.endswith(".py")} == modules


def test_sdist_holds_tests_and_examples(built):
    """The sdist also holds the tests and the examples, so that it can be checked."""
    with tarfile.open(next(built.glob("*.tar.gz"))) as sdist:
        inside = {name.partition("/")[2] for name in sdist.getnames()}
    assert {"tests/test_house.py", "examples/stdlib_audit.yaml", "LICENSE", "README.md"} <= inside
