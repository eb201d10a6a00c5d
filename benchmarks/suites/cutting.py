"""Cuts single tests out of a file of CPython's tests, each with what it needs and no more."""

from __future__ import annotations

import ast
import sys
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cache
from importlib import import_module
from pathlib import Path

_ALWAYS = ("setUp", "tearDown", "asyncSetUp", "asyncTearDown", "__")
"""How the names of methods begin that are called without being named."""
_HELPERS = ("list_tests", "mapping_tests", "seq_tests", "string_tests")
"""Modules of the ``test`` package that hold tests for others to inherit."""


@dataclass(frozen=True)
class Cut:
    """One test, cut out.

    Attributes:
        name: File, class and method.
        tree: The definitions that it needs.
        call: The line that runs it.
    """

    name: str
    tree: ast.Module
    call: str

    def __str__(self) -> str:
        return f"{ast.unparse(self.tree)}\n{self.call}"


class TestFile:
    """A file of tests: its definitions, with those of the test files that it imports from.

    Args:
        path: The file.
        package: The folder of the ``test`` package.
    """

    def __init__(self, path: Path, package: Path) -> None:
        self._package = package
        self._statements: list[ast.stmt] = []
        self._seen: set[str] = set()
        self._own = self._load(path)
        self._places: dict[str, list[int]] = {}
        for place, node in enumerate(self._statements):
            for name in _bound(node) | _called_on(node):
                self._places.setdefault(name, []).append(place)

    def cuts(self, label: str) -> Iterator[Cut]:
        """Each test of each test case in the file."""
        classes = {node.name: node for node in self._statements if isinstance(node, ast.ClassDef)}
        for node in self._own:
            if isinstance(node, ast.ClassDef) and _is_case(node, classes):
                for method in sorted(_test_names(node, classes)):
                    tree, call = self._cut(node.name, method), f"_run({node.name}, {method!r})\n"
                    yield Cut(f"{label}.{node.name}.{method}", tree, call)

    def _family(self, case: str) -> set[str]:
        """A test case with its bases."""
        found = {case}
        for node in reversed(self._statements):  # a base stands before what inherits from it
            if isinstance(node, ast.ClassDef) and node.name in found:
                found.update(base.id for base in node.bases if isinstance(base, ast.Name))
        return found

    def _load(self, path: Path) -> list[ast.stmt]:
        """Read a file's statements, after those of the test files that it takes names from."""
        if path.stem in self._seen or not path.is_file():
            return []
        self._seen.add(path.stem)
        tree = _Replaced().visit(ast.parse(path.read_bytes()))
        own: list[ast.stmt] = []
        for node in tree.body:
            for name in _test_modules(node):
                self._load(self._package / f"{name}.py")
            own.extend([] if _is_own_import(node) else _split(node))
        self._statements += own
        return own

    def _cut(self, case: str, method: str) -> ast.Module:
        """The statements that one test needs, in their order, its classes cut down to it."""
        family = self._family(case)
        wanted, attributes = {case}, {method}
        kept: dict[int, ast.stmt] = {}
        grown = True
        while grown:  # until nothing that is kept names anything that is not
            before = len(wanted), len(attributes)
            for place in {place for name in wanted for place in self._places.get(name, ())}:
                node = self._statements[place]
                if isinstance(node, ast.ClassDef) and node.name in family:
                    node = _cut_down(node, method, wanted | attributes)
                kept[place] = node
                names, named = _used(node)
                wanted |= names
                attributes |= named
            grown = before != (len(wanted), len(attributes))
        return ast.Module(body=[kept[place] for place in sorted(kept)], type_ignores=[])


class _Replaced(ast.NodeTransformer):
    """Names of ours for what comes from ``unittest``, ``test.support`` and other test files."""

    def visit_ImportFrom(self, node: ast.ImportFrom) -> ast.AST | list[ast.stmt]:
        """``from test.support import x`` becomes ``x = support.x``."""
        module = node.module or ""
        if module == "unittest" or module.startswith("test.support"):
            home = module.removeprefix("test.")
            return [
                _bind(alias.asname or alias.name, f"{home}.{alias.name}") for alias in node.names
            ]
        if module == "test":
            others = [alias for alias in node.names if alias.name != "support"]
            return ast.ImportFrom(module, others, 0) if others else []
        return node

    def visit_Import(self, node: ast.Import) -> ast.AST | list[ast.stmt]:
        """``import unittest`` and ``import test.support as support`` are not needed."""
        kept: list[ast.stmt] = []
        for alias in node.names:
            if alias.name.startswith("test.support") and alias.asname:
                home = alias.name.removeprefix("test.")
                kept += [_bind(alias.asname, home)] if alias.asname != home else []
            elif alias.name.partition(".")[0] not in ("unittest", "test"):
                kept.append(ast.Import([alias]))
        return kept

    def visit_Assign(self, node: ast.Assign) -> ast.AST:
        """``m = import_fresh_module("heapq", fresh=...)`` is the module as it is."""
        match node:
            case ast.Assign(
                targets=[ast.Name(id=target)],
                value=ast.Call(
                    func=function, args=[ast.Constant(value=str(name))], keywords=options
                ),
            ) if _last_name(function) in ("import_fresh_module", "import_module"):
                if not any(option.arg == "blocked" for option in options):
                    return ast.parse(f"import {name} as {target}").body[0]
        return self.generic_visit(node)

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        """``list_tests.CommonTest`` is found by its bare name; so is ``test.test_set.x``."""
        self.generic_visit(node)
        match node.value:
            case ast.Name(id=name) if name in _HELPERS or name.startswith("test_"):
                return ast.Name(node.attr, node.ctx)
            case ast.Attribute(value=ast.Name(id="test"), attr=name) if name in _HELPERS:
                return ast.Name(node.attr, node.ctx)
        return node


def _bind(name: str, value: str) -> ast.stmt:
    return ast.parse(f"{name} = {value}").body[0]


def _last_name(node: ast.AST) -> str:
    return node.attr if isinstance(node, ast.Attribute) else getattr(node, "id", "")


def _test_modules(node: ast.stmt) -> Iterator[str]:
    """The test files that a statement takes names from."""
    if isinstance(node, ast.ImportFrom) and node.module:
        if node.module == "test":
            yield from (alias.name for alias in node.names)
        elif node.module.startswith("test.test_"):
            yield node.module.removeprefix("test.")


def _is_own_import(node: ast.stmt) -> bool:
    return isinstance(node, ast.ImportFrom) and (node.module or "").partition(".")[0] == "test"


def _split(node: ast.stmt) -> Iterable[ast.stmt]:
    """One statement for each name of an import, so that each can be left out by itself."""
    if not isinstance(node, ast.ImportFrom):
        return [node]
    names = node.names
    if names[0].name == "*" and node.module in sys.stdlib_module_names:
        names = [ast.alias(name) for name in _public(node.module)]
    return [ast.ImportFrom(node.module, [alias], node.level) for alias in names]


def _public(module: str) -> list[str]:
    """What ``import *`` takes from a module of the standard library."""
    names = vars(import_module(module))
    public: list[str] = names.get("__all__", [name for name in names if name[0] != "_"])
    return public


@cache
def _bound(node: ast.AST) -> frozenset[str]:
    """The names that a statement binds in its own scope."""
    match node:
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name) | ast.ClassDef(name=name):
            return frozenset({name})
        case ast.Import(names=aliases) | ast.ImportFrom(names=aliases):
            return frozenset(alias.asname or alias.name.partition(".")[0] for alias in aliases)
        case ast.Name(id=name, ctx=ast.Store()):
            return frozenset({name})
        case ast.Lambda() | ast.ListComp() | ast.SetComp() | ast.DictComp() | ast.GeneratorExp():
            return frozenset()
    return frozenset(name for child in ast.iter_child_nodes(node) for name in _bound(child))


def _called_on(node: ast.stmt) -> set[str]:
    """The name of what a statement changes by calling a method of it."""
    match node:
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name(id=name)))):
            return {name}
    return set()


@cache
def _used(node: ast.AST) -> tuple[frozenset[str], frozenset[str]]:
    """The names and the attributes that a statement uses."""
    if isinstance(node, ast.ClassDef):  # in parts, for those are the same in each cut
        parts = [*map(_used, ast.iter_child_nodes(node))]
        return (
            frozenset().union(*(names for names, _ in parts)),
            frozenset().union(*(attributes for _, attributes in parts)),
        )
    names: set[str] = set()
    attributes: set[str] = set()
    for each in ast.walk(node):
        if isinstance(each, ast.Name):
            names.add(each.id)
        elif isinstance(each, ast.Attribute):
            attributes.add(each.attr)
        elif isinstance(each, ast.Constant) and isinstance(each.value, str):
            attributes.add(each.value)  # getattr(self, "name")
    return frozenset(names), frozenset(attributes)


def _cut_down(node: ast.ClassDef, method: str, used: set[str]) -> ast.ClassDef:
    """A class of tests without the tests and helpers that one test doesn't need."""
    body = [
        each
        for each in node.body
        if not (_is_test(each) and getattr(each, "name", "") != method) and _is_needed(each, used)
    ]
    kept = ast.ClassDef(**{field: getattr(node, field) for field in node._fields})
    kept.body = body or [ast.Pass()]
    return kept


def _is_test(node: ast.stmt) -> bool:
    kinds = (ast.FunctionDef, ast.AsyncFunctionDef)
    return isinstance(node, kinds) and node.name.startswith("test")


def _is_needed(node: ast.stmt, used: set[str]) -> bool:
    return any(name in used or name.startswith(_ALWAYS) for name in _bound(node))


def _bases(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> Iterator[ast.ClassDef]:
    for base in node.bases:
        if isinstance(base, ast.Name) and classes.get(base.id, node) is not node:
            yield classes[base.id]


def _is_case(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> bool:
    cases = ("TestCase", "IsolatedAsyncioTestCase")
    return any(_last_name(base) in cases for base in node.bases) or any(
        _is_case(base, classes) for base in _bases(node, classes)
    )


def _test_names(node: ast.ClassDef, classes: dict[str, ast.ClassDef]) -> set[str]:
    names = {each.name for each in node.body if _is_test(each)}  # type: ignore[attr-defined]
    return names.union(*(_test_names(base, classes) for base in _bases(node, classes)))
