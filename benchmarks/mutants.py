"""Whether the conformance tests notice small breaks of the runtime, one at a time.

Run ``python benchmarks/mutants.py`` in a checkout with the ``dev`` extra installed. Each mutant of
``mutants.yaml`` breaks one rule by one replacement, in a copy of the package; the conformance
tests are run on that copy, and one of them has to fail. A mutant whose text doesn't stand exactly
once in its file is stale, and an error; so are tests that fail where nothing is broken. A run that
takes too long catches nothing. The exit code is 1 where a mutant is not caught, 2 where it can't
be tried.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from xml.etree import ElementTree

import yaml
from rich.console import Console
from rich.progress import track
from rich.table import Table
from rich.text import Text

ROOT = Path(__file__).resolve().parents[1]
MUTANTS = Path(__file__).with_suffix(".yaml")
TESTS = Path("tests", "conformance")
FIRST = "test_suite.py"
"""The file of tests that is run before the others, for it catches most."""
TIME_LIMIT_S = 180.0
"""How long the tests may take on one mutant, in seconds."""
_FAILED = 1  # pytest's exit code where tests ran and some failed


class Unfit(Exception):
    """Mutants can't be tried: one is stale or wrongly written, or the tests are at fault."""


@dataclass(frozen=True)
class Mutant:
    """One break of the runtime.

    Attributes:
        name: What is wrong with the broken runtime.
        rule: The rule that it breaks.
        file: The file that is changed, a path in the package.
        replace: The text that is replaced; it stands exactly once in the file.
        by: What stands in its place.
    """

    name: str
    rule: str
    file: str
    replace: str
    by: str

    def applied(self, package: Path) -> str:
        """The text of its file with the break in it.

        Args:
            package: The package's folder.

        Raises:
            Unfit: The mutant is stale, or what it makes is no Python.
        """
        path = package / self.file
        if not path.is_file():
            raise Unfit(f"mutant {self.name!r} is stale: there is no {self.file}")
        source = path.read_text(encoding="utf-8")
        count = source.count(self.replace)
        if count != 1:
            raise Unfit(
                f"mutant {self.name!r} is stale: what it replaces stands {count} times in "
                f"{self.file}, not once"
            )
        broken = source.replace(self.replace, self.by)
        try:
            compile(broken, self.file, "exec", dont_inherit=True)
        except SyntaxError as error:
            raise Unfit(f"mutant {self.name!r} makes no Python of {self.file}: {error}") from None
        return broken


@dataclass(frozen=True)
class Verdict:
    """What became of a mutant.

    Attributes:
        name: The mutant's.
        rule: The rule that it breaks.
        caught_by: The first test that failed, or None.
        why_not: Why no test did; None where one did.
        seconds: How long the tests ran.
    """

    name: str
    rule: str
    caught_by: str | None
    why_not: str | None
    seconds: float


def read_mutants(path: Path) -> list[Mutant]:
    """Read a file of mutants.

    Raises:
        Unfit: It says something wrong.
    """
    wanted = [field.name for field in fields(Mutant)]
    mutants: list[Mutant] = []
    for place, entry in enumerate(yaml.safe_load(path.read_text(encoding="utf-8")), 1):
        if not isinstance(entry, dict) or sorted(entry) != sorted(wanted):
            raise Unfit(f"{path.name}: mutant {place} must have just {', '.join(wanted)}")
        if not all(isinstance(value, str) for value in entry.values()):
            raise Unfit(f"{path.name}: mutant {place}: each of {', '.join(wanted)} is a text")
        mutants.append(Mutant(**entry))
    names = [mutant.name for mutant in mutants]
    for name in names:
        if names.count(name) > 1:
            raise Unfit(f"{path.name}: two mutants are named {name!r}")
    return mutants


# -- trying ------------------------------------------------------------------------------------


def copy_tree(root: Path, tree: Path) -> None:
    """Copy what the tests need: the package, and beside it the tests, their settings, the pages.

    Args:
        root: The checkout.
        tree: A folder that is not there yet.
    """
    project = tomllib.loads((root / "pyproject.toml").read_text(encoding="utf-8"))
    for name in project["tool"]["setuptools"]["packages"]:
        target = tree.joinpath(*name.split("."))
        target.mkdir(parents=True)
        for file in root.joinpath(*name.split(".")[1:]).iterdir():
            if file.is_file():
                shutil.copy2(file, target)
    shutil.copy2(root / "pyproject.toml", tree)
    for folder in (TESTS, "docs"):
        shutil.copytree(root / folder, tree / folder, ignore=shutil.ignore_patterns("__pycache__"))
    for file in (root / TESTS.parent).glob("*.py"):
        shutil.copy2(file, tree / TESTS.parent)


class Trials:
    """Runs the conformance tests on broken copies of a checkout's package.

    Args:
        root: The checkout.
        folder: An empty folder for the copies.
        time_limit_s: How long the tests may take on one copy, in seconds.
    """

    def __init__(self, root: Path, folder: Path, time_limit_s: float = TIME_LIMIT_S) -> None:
        self._folder = folder
        self._time_limit_s = time_limit_s
        self._whole = folder / "whole"
        copy_tree(root, self._whole)

    @property
    def package(self) -> Path:
        """The copy of the package that nothing is broken in."""
        return next(path.parent for path in self._whole.glob("*/__init__.py"))

    def check(self) -> float:
        """See that the tests pass where nothing is broken; gives how long they took, in seconds.

        Raises:
            Unfit: They don't, or they try another package than the copy.
        """
        name = self.package.name
        told = self._run(self._whole, "-c", f"import {name}; print({name}.__file__)")
        if told.returncode or not Path(_output(self._whole).strip()).is_relative_to(self._whole):
            raise Unfit(f"the copy of {name} is not the one that is imported")
        started = time.perf_counter()
        try:
            code = self._test(self._whole)
        except subprocess.TimeoutExpired:
            raise Unfit(f"the tests take more than {self._time_limit_s:g} s") from None
        if code:
            failed = _first_failure(self._whole) or _output(self._whole)[-2000:]
            raise Unfit(f"the tests fail where nothing is broken: {failed}")
        return time.perf_counter() - started

    def run(self, mutants: Sequence[Mutant], jobs: int) -> Iterator[Verdict]:
        """Try mutants, so many at a time; their verdicts come in order.

        Raises:
            Unfit: One of them is stale; none has been tried then.
        """
        broken = [mutant.applied(self.package) for mutant in mutants]
        with ThreadPoolExecutor(jobs) as pool:
            yield from pool.map(self._try, range(len(mutants)), mutants, broken)

    def _try(self, number: int, mutant: Mutant, broken: str) -> Verdict:
        tree = self._folder / f"mutant-{number}"
        # With what was compiled for the whole tree, but for the one file.
        shutil.copytree(self._whole, tree)
        file = tree / self.package.name / mutant.file
        for compiled in (file.parent / "__pycache__").glob(f"{file.stem}.*"):
            compiled.unlink()
        file.write_text(broken, encoding="utf-8")
        started = time.perf_counter()
        caught_by, why_not = self._judge(tree, mutant.rule)
        seconds = round(time.perf_counter() - started, 1)
        shutil.rmtree(tree)
        return Verdict(mutant.name, mutant.rule, caught_by, why_not, seconds)

    def _judge(self, tree: Path, rule: str) -> tuple[str | None, str | None]:
        """The test that failed; or None, and why. The rule's own cases come first."""
        code = 0
        try:
            for chosen in (("-k", rule), ()):
                code = self._test(tree, *chosen)
                failed = _first_failure(tree) if code == _FAILED else None
                if failed is not None:
                    return failed, None
        except subprocess.TimeoutExpired:
            return None, f"the tests were not over after {self._time_limit_s:g} s"
        return None, f"the tests could not be run (exit code {code})" if code else "all tests pass"

    def _test(self, tree: Path, *chosen: str) -> int:
        """Run the tests, or those chosen, up to the first that fails; gives pytest's exit code.

        Raises:
            subprocess.TimeoutExpired: They took too long.
        """
        files = sorted((tree / TESTS).glob("test_*.py"), key=lambda file: file.name != FIRST)
        settings = ["-x", "-q", "-p", "no:cacheprovider", f"--junitxml={tree / _REPORT}"]
        run = self._run(tree, "-m", "pytest", *settings, *chosen, *(str(file) for file in files))
        return run.returncode

    def _run(self, tree: Path, *arguments: str) -> subprocess.CompletedProcess[bytes]:
        paths = [str(tree), *filter(None, [os.environ.get("PYTHONPATH")])]
        with open(tree / _OUTPUT, "wb") as output:
            return subprocess.run(
                [sys.executable, *arguments],
                cwd=tree,
                env={**os.environ, "PYTHONPATH": os.pathsep.join(paths)},
                stdin=subprocess.DEVNULL,
                stdout=output,  # no pipe, which a process of a sandbox might hold open
                stderr=subprocess.STDOUT,
                timeout=self._time_limit_s,
                check=False,
            )


_REPORT = "report.xml"
_OUTPUT = "output.txt"


def _output(tree: Path) -> str:
    return (tree / _OUTPUT).read_text(encoding="utf-8", errors="replace")


def _first_failure(tree: Path) -> str | None:
    """The first test that failed, or None where none of them was run to a failure."""
    report = tree / _REPORT
    if not report.is_file():
        return None
    for case in ElementTree.parse(report).iter("testcase"):
        if case.find("failure") is not None or case.find("error") is not None:
            module = (case.get("classname") or "").rpartition(".")[2]
            return f"{module}: {case.get('name')}"
    return None


# -- reports -----------------------------------------------------------------------------------


def summary(verdicts: Sequence[Verdict]) -> str:
    """How many were caught of how many."""
    return f"{sum(one.caught_by is not None for one in verdicts)} of {len(verdicts)} caught"


def show(verdicts: Sequence[Verdict], console: Console) -> None:
    """The report for people."""
    table = Table("mutant", "rule", "caught by", "s", title="Mutants", title_justify="left")
    for one in verdicts:
        told = Text(one.caught_by or f"NOT CAUGHT: {one.why_not}")
        told.stylize("" if one.caught_by else "red")
        table.add_row(Text(one.name), one.rule, told, f"{one.seconds:.1f}")
    console.print(table)
    console.print(summary(verdicts))


def as_json(verdicts: Sequence[Verdict]) -> str:
    """The report for machines."""
    caught = sum(one.caught_by is not None for one in verdicts)
    counts = {"mutants": len(verdicts), "caught": caught}
    return json.dumps({**counts, "verdicts": [asdict(one) for one in verdicts]}, indent=1)


def _chosen(mutants: Sequence[Mutant], names: Sequence[str]) -> list[Mutant]:
    known = {mutant.name: mutant for mutant in mutants}
    for name in names:
        if name not in known:
            raise Unfit(f"there is no mutant {name!r}: --list tells which there are")
    return [known[name] for name in names] or list(mutants)


def _count(text: str) -> int:
    count = int(text)
    if count < 1:
        raise argparse.ArgumentTypeError("there must be at least one")
    return count


def _tried(root: Path, mutants: Sequence[Mutant], jobs: int) -> list[Verdict]:
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        trials = Trials(root, Path(folder).resolve())
        for mutant in mutants:
            mutant.applied(trials.package)  # a stale one is told of before anything is run
        trials.check()
        progress = Console(stderr=True)
        run = trials.run(mutants, jobs)
        return list(track(run, "Trying", len(mutants), transient=True, console=progress))


def main(
    arguments: Sequence[str] | None = None, root: Path = ROOT, mutants_file: Path = MUTANTS
) -> int:
    """Try, report, and say by the exit code whether every mutant was caught."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--list", action="store_true", help="name the mutants, and try none")
    parser.add_argument(
        "--only", action="append", default=[], metavar="NAME", help="this one; can be repeated"
    )
    parser.add_argument("--json", action="store_true", help="report as JSON")
    parser.add_argument(
        "--jobs", type=_count, default=os.cpu_count() or 1, help="how many at a time"
    )
    options = parser.parse_args(arguments)
    console = Console(highlight=False, soft_wrap=True)
    try:
        mutants = _chosen(read_mutants(mutants_file), options.only)
        if options.list:
            for mutant in mutants:
                console.print(Text(f"{mutant.rule}: {mutant.name} ({mutant.file})"))
            return 0
        verdicts = _tried(root, mutants, options.jobs)
    except Unfit as error:
        print(f"mutants.py: {error}", file=sys.stderr)
        return 2
    if options.json:
        print(as_json(verdicts))
    else:
        show(verdicts, console)
    return 0 if all(one.caught_by for one in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
