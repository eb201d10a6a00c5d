"""The main job, end to end through the command, against the same answer computed without it."""

import ast
import json
import os
import re
import subprocess
import sysconfig
import warnings
from pathlib import Path

import pytest
from circlet import Loom

EXAMPLES = Path(__file__).parents[2] / "examples"
SPELL = EXAMPLES / "stdlib_audit.yaml"
CIRCLET = Path(sysconfig.get_path("scripts")) / "circlet"
LEFT_OUT = {"site-packages", "dist-packages"}
KINDS = ("functions", "classes", "methods")
WATCHDOG_S = 600


# -- the same question, answered on the host -------------------------------------------------


class Definitions(ast.NodeVisitor):
    """The public definitions of one file: kind, dotted name and node of each."""

    def __init__(self):
        self.found = []
        self._classes = []

    def visit_ClassDef(self, node):
        if not node.name.startswith("_"):
            self._note("classes", node)
            self._classes.append(node.name)
            self.generic_visit(node)
            self._classes.pop()

    def visit_FunctionDef(self, node):
        if not node.name.startswith("_"):
            self._note("methods" if self._classes else "functions", node)

    visit_AsyncFunctionDef = visit_FunctionDef  # noqa: N815

    def _note(self, kind, node):
        self.found.append((kind, ".".join([*self._classes, node.name]), node))


def is_left_out(name):
    return name in LEFT_OUT or (name.startswith("_") and name != "__init__.py")


def paths_beneath(root):
    """Every public file and link, as a path relative to the root."""
    for folder, folders, files in os.walk(root):
        links = [name for name in folders if os.path.islink(os.path.join(folder, name))]
        folders[:] = [name for name in folders if name not in links and not is_left_out(name)]
        for name in files + links:
            if not is_left_out(name):
                yield Path(folder, name).relative_to(root)


def audit(root):
    """The whole answer for one source tree, as the spell's intent words it."""
    packages, names, missing, links, unparsed = {}, {}, [], [], []
    for path in paths_beneath(root):
        full = root / path
        if full.is_symlink():
            links.append(path.as_posix())
            continue
        if path.suffix != ".py" or not full.is_file():
            continue
        package = path.parts[0] if len(path.parts) > 1 else "(modules)"
        row = packages.setdefault(package, empty_row())
        names.setdefault(package, [])
        row["files"] += 1
        try:
            tree = ast.parse(full.read_bytes())
        except Exception as error:
            unparsed.append({"path": path.as_posix(), "error": type(error).__name__})
            continue
        definitions = Definitions()
        definitions.visit(tree)
        for kind, name, node in definitions.found:
            if ast.get_docstring(node) is not None:
                row["documented"] += 1
                continue
            row["undocumented"][kind] += 1
            names[package].append([path.as_posix(), node.lineno, name, kind])
            missing.append(
                {
                    "package": package,
                    "path": path.as_posix(),
                    "line": node.lineno,
                    "name": name,
                    "kind": kind,
                    "lines": node.end_lineno - node.lineno + 1,
                }
            )
    missing.sort(key=lambda one: (-one["lines"], one["path"], one["line"]))
    return {
        "undocumented": {package: sorted(items) for package, items in names.items()},
        "packages": packages,
        "largest": missing[:20],
        "links": sorted(links),
        "unparsed": sorted(unparsed, key=lambda one: one["path"]),
        "failures": [],
        "totals": totals(packages.values()),
    }


def empty_row():
    return {"files": 0, "documented": 0, "undocumented": dict.fromkeys(KINDS, 0)}


def totals(rows):
    return {
        "packages": len(rows),
        "files": sum(row["files"] for row in rows),
        "documented": sum(row["documented"] for row in rows),
        "undocumented": {kind: sum(row["undocumented"][kind] for row in rows) for kind in KINDS},
    }


# -- the run ---------------------------------------------------------------------------------


def run(spell, out):
    """Run a spell by the command; gives the exit code, the report and what stderr held."""
    command = [CIRCLET, "run", spell, "--out", out, "--json"]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WATCHDOG_S)
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout), done.stderr


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """One run over the standard library of the Python that runs this: report, stderr, loom."""
    out = tmp_path_factory.mktemp("audit") / "run"
    code, report, progress = run(SPELL, out)
    assert code == 0, progress
    with Loom(out, read_only=True) as loom:
        yield report, progress, loom


BULK = "#" * 400_000 + "\n"  # two such files are more than one reader takes on
SMALL = {
    "loose.py": '''
def documented():
    """It is."""
    def nested(): ...

async def undocumented():
    return lambda: 0

if documented:
    def in_a_branch(): ...
else:
    try:
        pass
    except Exception:
        class InAHandler: ...
match 1:
    case 1:
        def in_a_case(): ...

class Outer:
    """Has one."""

    @property
    def value(self):
        """Has one."""

    @value.setter
    def value(self, value):
        self.kept = value

    class Inner:
        ""
        def method(self):
            pass

    def __len__(self): ...
    def _private(self): ...

class _Private:
    def not_counted(self): ...

def _private(): ...
''',
    "_private.py": "def f(): ...",
    "pkg/__init__.py": "",
    "pkg/__main__.py": "def f(): ...",
    "pkg/latin.py": b"# -*- coding: latin-1 -*-\ndef caf\xe9(): ...\n",
    "pkg/nulls.py": b"x = 1\0",
    "pkg/python2.py": "print 'old'",
    "pkg/notes.txt": "def f(): ...",
    "pkg/escapes.py": "x = '\\d'\nassert (x, 1)",
    "pkg/sub/mod.py": "class C:\n    def m(self): ...",
    "pkg/_sub/mod.py": "class C: ...",
    "pkg/site-packages/other.py": "class C: ...",
    "dist-packages/other.py": "class C: ...",
    "empty/readme.txt": "no Python here",
    "big/a.py": BULK + "def a(): ...",
    "big/b.py": BULK + "def b(): ...",
}
SMALL_UNDOCUMENTED = {
    ("big/a.py", "a", "functions"),
    ("big/b.py", "b", "functions"),
    ("loose.py", "InAHandler", "classes"),
    ("loose.py", "Outer.Inner.method", "methods"),
    ("loose.py", "Outer.value", "methods"),
    ("loose.py", "in_a_branch", "functions"),
    ("loose.py", "in_a_case", "functions"),
    ("loose.py", "undocumented", "functions"),
    ("pkg/latin.py", "caf\xe9", "functions"),
    ("pkg/sub/mod.py", "C", "classes"),
    ("pkg/sub/mod.py", "C.m", "methods"),
}


@pytest.fixture
def small(tmp_path):
    """A small source tree that has every case of the definitions."""
    tree = tmp_path / "lib"
    for path, source in SMALL.items():
        (tree / path).parent.mkdir(parents=True, exist_ok=True)
        (tree / path).write_bytes(source if isinstance(source, bytes) else source.encode())
    (tree / "linked.py").symlink_to(tree / "loose.py")
    (tree / "nowhere.py").symlink_to("gone.py")
    (tree / "_hidden.py").symlink_to(tree / "loose.py")
    (tree / "pkg" / "linked_folder").symlink_to(tree / "pkg" / "sub")
    return tree


def spell_over(tree, **wards):
    """The example's spell, over another source tree and with other wards."""
    text = SPELL.read_text(encoding="utf-8").replace("${stdlib}", str(tree))
    text = text.replace("{script: ", f"{{script: {EXAMPLES}/")
    for name, value in wards.items():
        text, count = re.subn(rf"- {name}: .*", f"- {name}: {value}", text)
        assert count == 1
    spell = tree.with_suffix(".yaml")
    spell.write_text(text, encoding="utf-8")
    return spell


# -- what must hold --------------------------------------------------------------------------


def test_the_answer_is_the_one_computed_without_entities(whole):
    """The standard library's audit agrees in whole with one by ``ast`` on the host."""
    report, _, _ = whole
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        expected = audit(Path(sysconfig.get_path("stdlib")).resolve())
    assert report["result"] == expected


def test_the_run_is_a_deep_tree_that_ends_by_itself(whole):
    """Over ten entities, children of children, a root that calls ``done`` (COMP-2, LOOP-3)."""
    report, progress, loom = whole
    assert report["terminated"] is True
    assert report["truncated"] is False
    assert report["entities"] == len(loom.entities) > 10
    assert report["turns"] == loom.utterance_count > report["entities"]
    assert report["max_depth"] == max(entity.depth for entity in loom.entities.values()) >= 2
    assert "Warning" not in progress
    assert "Traceback" not in progress


def test_usage_adds_up_over_the_tree(whole):
    """The root's usage is that of all queries of all entities (PROD-3)."""
    report, _, loom = whole
    assert report["usage"]["prompt_tokens"] == loom.usage().prompt_tokens > 0
    assert report["usage"]["completion_tokens"] == loom.usage().completion_tokens > 0


def test_children_hang_under_the_node_that_spawned_them(whole):
    """A child's first node follows the part of its parent's turn that spawned it (COMP-5)."""
    _, _, loom = whole
    roots = [entity for entity in loom.entities.values() if entity.spawned_by is None]
    assert len(roots) == 1
    for parent in loom.entities.values():
        own = {turn.id: turn for turn in parent.turns}
        for child in parent.children:
            assert child.outcome == "terminated"
            assert child.id in own[child.spawned_by.node].delegated
            assert child.turns[0].parent_id == child.spawned_by.node


def test_every_case_of_the_definitions_is_met(small, tmp_path):
    """Links, files that don't parse, encodings, nesting and names count as the spell says."""
    code, report, progress = run(spell_over(small), tmp_path / "run")
    assert code == 0, progress
    result = report["result"]
    largest = [(one["path"], one["name"], one["kind"]) for one in result["largest"]]
    assert len(largest) == len(SMALL_UNDOCUMENTED)
    assert set(largest) == SMALL_UNDOCUMENTED
    assert result["links"] == ["linked.py", "nowhere.py", "pkg/linked_folder"]
    assert [one["path"] for one in result["unparsed"]] == ["pkg/nulls.py", "pkg/python2.py"]
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        assert result == audit(small)


def test_a_part_that_was_not_counted_is_named(small, tmp_path):
    """A child that a ward keeps from starting is a failure in the result (COMP-8)."""
    packages = 4  # big, empty, pkg and the loose modules; the parts of big find no room
    code, report, progress = run(spell_over(small, max_entities=packages), tmp_path / "run")
    assert code == 0, progress
    result = report["result"]
    assert result["failures"] == [
        {"package": "big", "reason": "1 files from big/a.py: max_entities"},
        {"package": "big", "reason": "1 files from big/b.py: max_entities"},
    ]
    assert {one["path"] for one in result["largest"]} == {
        path for path, _, _ in SMALL_UNDOCUMENTED if not path.startswith("big/")
    }
