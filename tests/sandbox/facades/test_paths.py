"""Paths are texts: what would touch a file says so, and no path leads to a module."""

from typing import Any

import pytest
from circlet.sandbox import Sandbox


@pytest.mark.parametrize(
    "source",
    [
        *("Path('a').read_text()", "Path('a').exists()", "Path('a').open()", "Path.cwd()"),
        *("list(Path('a').glob('*'))", "Path('a').mkdir()", "Path('a').resolve()", "Path.home()"),
    ],
)
def test_what_would_touch_a_file_says_so(box: Sandbox, source: str) -> None:
    """The error names the method and what to use."""
    run = box.run(f"from pathlib import Path\n{source}")
    assert run.error is not None
    assert "there are no files here; read and write through a gate" in run.error.message


def test_other_names_are_plain_mistakes(box: Sandbox) -> None:
    """A name that no path has is an ordinary AttributeError."""
    run = box.run("from pathlib import Path\nPath('a').nonsense")
    assert run.error is not None
    assert run.error.message == "'PosixPath' object has no attribute 'nonsense'"


def test_the_environment_is_empty(box: Sandbox) -> None:
    """No variable is set, and setting one is an error that says what to do."""
    source = (
        "import os\n[len(os.environ), dict(os.environ), os.getenv('PATH'), 'HOME' in os.environ]"
    )
    assert box.run(source).value == [0, {}, None, False]
    run = box.run("os.environ['X'] = '1'")
    assert run.error is not None
    assert "keep settings in variables of your own" in run.error.message


@pytest.mark.parametrize(
    ("path", "start", "expected"),
    [
        *(("/a/b", "/a/c/d", "../../b"), ("a", "a", "."), ("/", "/a", ".."), ("a/b", ".", "a/b")),
        *(("../x", ".", "../x"), ("a", "..", ValueError), ("/a", "b", ValueError)),
        ("", "a", ValueError),
    ],
)
def test_relative_paths(box: Sandbox, path: str, start: str, expected: Any) -> None:
    """``relpath`` works where the answer doesn't depend on the folder that one is in."""
    run = box.run(f"import os.path\nos.path.relpath({path!r}, {start!r})")
    if expected is ValueError:
        assert run.error is not None
        assert run.error.type == "ValueError"
    else:
        assert run.value == expected


@pytest.mark.parametrize(
    "source",
    [
        *("os.system('true')", "os.listdir('.')", "os.path.exists('/')", "os.getpid()"),
        *("os.path.os", "os.path.genericpath", "pathlib.os", "pathlib.posixpath"),
        *("from os import getcwd", "import posixpath", "pathlib.PurePath('a')._flavour"),
        "class P(pathlib.PurePosixPath):\n    def look(self): return self._flavour\nP('a').look()",
        "pathlib.PurePosixPath('a').parser.os",
        "pathlib.PurePath('a').parser.genericpath",
        "pathlib.PureWindowsPath('a').parser.os",
    ],
)
def test_what_leads_on_is_not_there(box: Sandbox, source: str) -> None:
    """No module, no process and no file by way of ``os`` and of paths, whatever the Python."""
    assert box.run(f"import os, os.path, pathlib\n{source}").status == "error"
