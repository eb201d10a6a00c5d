"""What a sandbox costs in speed: a few programs, sandboxed against plain ``exec`` in one run.

Run ``python benchmarks/cpu.py`` in a checkout. Each program times its own work. Sandboxed and
plain runs alternate, each in a fresh process of the same interpreter, and the median of the
ratios is shown. A busy machine makes single ratios meaningless, so nothing fails on them.
"""

from __future__ import annotations

import json
import platform
import statistics
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass

import command
from circlet import Sandbox
from rich.console import Console
from rich.progress import track
from rich.table import Table

FIB = """
def fib(n):
    return n if n < 2 else fib(n - 1) + fib(n - 2)

fib(22)
"""

WORDS = """
import random

random.seed(1)
letters = "abcdefghijklmnopqrstuvwxyz"
known = ["".join(random.choices(letters, k=random.randint(2, 9))) for _ in range(2000)]
text = " ".join(random.choices(known, k=160_000))[:1_000_000]
# work
counts = {}
for word in text.split():
    counts[word] = counts.get(word, 0) + 1
top = sorted(counts.items(), key=lambda pair: (-pair[1], pair[0]))[:10]
"""

METHODS = """
class Counter:
    def __init__(self):
        self.total = 0
        self.calls = 0

    def add(self, amount):
        self.total += amount
        self.calls += 1
        return self

counter = Counter()
for number in range(100_000):
    counter.add(number)
"""

PRIVATE = METHODS.replace("self.total", "self._total").replace("self.calls", "self._calls")

REGEX = r"""
import re

lines = [f"2024-03-{day:02d} 12:{minute:02d} user{minute}@example.org GET /page/{day * minute}"
         for day in range(1, 29) for minute in range(60)] * 6
text = "\n".join(lines)
# work
pattern = re.compile(r"^(\d{4})-(\d\d)-(\d\d) (\d\d:\d\d) (\w+)@[\w.]+ (GET|POST) (\S+)$", re.M)
pages = {}
for match in pattern.finditer(text):
    pages.setdefault(match[5], []).append(match[7])
hidden = re.sub(r"\w+@[\w.]+", lambda match: "*" * len(match[0]), text)
"""

RECORDS = """
import random
from dataclasses import dataclass

@dataclass(order=True)
class Record:
    rank: int
    name: str
    score: float = 0.0

random.seed(2)
# work
records = [Record(random.randrange(500), f"name {number}") for number in range(10_000)]
for record in records:
    record.score = record.rank / (1 + len(record.name))
by_score = sorted(records, key=lambda record: (record.score, record.name))
by_order = sorted(records[:3000])
"""

PIPELINE = """
def numbers(limit):
    for number in range(limit):
        yield number

def odd(stream):
    for number in stream:
        if number % 2:
            yield number

def squared(stream):
    yield from (number * number for number in stream)

def running(stream):
    total = 0
    for number in stream:
        total += number
        yield total

last = 0
for last in running(squared(odd(numbers(200_000)))):
    pass
"""

PROGRAMS = {
    "fib(22)": (FIB, 1.05),
    "1 MB word count": (WORDS, 1.2),
    "100k method calls": (METHODS, 1.2),
    "the same, private attributes": (PRIVATE, 1.2),
    "regex pass": (REGEX, 1.2),
    "dataclass sort": (RECORDS, 1.2),
    "generator pipeline": (PIPELINE, 1.2),
}
"""Each program with its goal: how many times as long it may take."""

WORK = "# work\n"
"""Before this line of a program, it makes what it works on."""

_PLAIN = "import sys; exec(compile(sys.stdin.read(), '<turn 1>', 'exec'), {'__name__': '__main__'})"


@dataclass(frozen=True)
class Ratio:
    """What one program cost.

    Attributes:
        name: The program's name.
        ratio: Median of sandboxed time to plain time.
        goal: The most that it should be.
        sandboxed_ms: Median time in the sandbox, in milliseconds.
        plain_ms: Median time on plain CPython, in milliseconds.
    """

    name: str
    ratio: float
    goal: float
    sandboxed_ms: float
    plain_ms: float


def timed(program: str) -> str:
    """The program with a clock around its work, whose reading it prints."""
    before, _, work = program.rpartition(WORK)
    return (
        f"{before}\nimport time\nstarted = time.perf_counter()\n{work}\n"
        "print(time.perf_counter() - started)\n"
    )


def sandboxed(source: str) -> float:
    """Seconds that a program's work takes in a sandbox.

    Raises:
        RuntimeError: The program failed.
    """
    with Sandbox() as sandbox:
        ran = sandbox.run(source)
    if ran.status != "ok":
        raise RuntimeError(f"a program of this benchmark fails in the sandbox:\n{ran}")
    return float(ran.stdout)


def plain(source: str) -> float:
    """Seconds that it takes by ``exec`` in a fresh interpreter."""
    command = [sys.executable, "-I", "-c", _PLAIN]
    ran = subprocess.run(command, input=source, capture_output=True, text=True, check=True)
    return float(ran.stdout)


def measured(name: str, runs: int) -> Ratio:
    """Run one program that often in each place, by turns."""
    program, goal = PROGRAMS[name]
    source = timed(program)
    pairs = [(sandboxed(source), plain(source)) for _ in range(runs)]
    ratio = statistics.median(boxed / bare for boxed, bare in pairs)
    boxed_ms, plain_ms = (1000 * statistics.median(times) for times in zip(*pairs, strict=True))
    return Ratio(name, round(ratio, 3), goal, round(boxed_ms, 2), round(plain_ms, 2))


def show(ratios: Sequence[Ratio], runs: int, console: Console) -> None:
    """The report for people."""
    title = f"Time in a sandbox against CPython {platform.python_version()}, {runs} runs"
    heads = ("program", "sandboxed ms", "plain ms", "ratio", "goal")
    table = Table(*heads, title=title, title_justify="left")
    for each in ratios:
        figures = (f"{each.sandboxed_ms:.1f}", f"{each.plain_ms:.1f}", f"{each.ratio:.3f}")
        style = "" if each.ratio <= each.goal else "red"
        table.add_row(each.name, *figures, f"{each.goal:.2f}", style=style)
    console.print(table)


def main(arguments: Sequence[str] | None = None) -> None:
    """Measure and report."""
    options = command.parser(__doc__, runs=15, what="pairs of runs").parse_args(arguments)
    names = track(PROGRAMS, "Measuring", transient=True, console=Console(stderr=True))
    ratios = [measured(name, options.runs) for name in names]
    if options.json:
        print(json.dumps({"runs": options.runs, "ratios": [asdict(each) for each in ratios]}))
    else:
        show(ratios, options.runs, Console())


if __name__ == "__main__":
    main()
