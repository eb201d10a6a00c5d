"""What modules print goes to the turn's output, and what they hold can't be changed."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox
from circlet.sandbox.facades.names import LEFT_OUT, PUBLIC

PRINTED = {
    "import pprint\npprint.pprint({'b': 1, 'a': [2]})": "{'a': [2], 'b': 1}\n",
    "import pprint\npprint.pp({'b': 1, 'a': 2})": "{'b': 1, 'a': 2}\n",
    "import pprint\npprint.PrettyPrinter(indent=1).pprint([1])": "[1]\n",
    "import calendar\ncalendar.prmonth(2024, 2)": "   February 2024\n",
    "import calendar\ncalendar.TextCalendar().pryear(2024)": "2024\n",
    "import re\nre.compile('a', re.DEBUG)": "LITERAL 97\n",
    "import xml.etree.ElementTree as ET\nET.dump(ET.XML('<a>b</a>'))": "<a>b</a>\n",
    "import csv, sys\n_ = csv.writer(sys.stdout).writerow([1, 'a b'])": "1,a b\r\n",
    "import json, sys\njson.dump([1], sys.stdout)": "[1]",
}


@pytest.mark.parametrize("source", PRINTED)
def test_what_a_module_prints_is_the_turns_output(box: Sandbox, source: str) -> None:
    """A function of the library that prints does so where ``print`` does."""
    run = box.run(source)
    assert run.status == "ok", str(run)
    assert PRINTED[source] in run.stdout


def test_what_a_module_prints_can_be_caught(box: Sandbox) -> None:
    """``redirect_stdout`` catches it as well."""
    run = box.run("""
import contextlib, io, pprint
with contextlib.redirect_stdout(io.StringIO()) as out:
    pprint.pprint([1])
out.getvalue()
""")
    assert (run.value, run.stdout) == ("[1]\n", "")


@pytest.mark.parametrize(
    "source",
    [
        "textwrap.TextWrapper.unicode_whitespace_trans[97] = 98",
        "calendar.HTMLCalendar.cssclasses[0] = 'x'",
        "calendar.HTMLCalendar.cssclasses_weekday_head[0] = 'x'",
        "pprint.PrettyPrinter._dispatch",
        "class P(pprint.PrettyPrinter): pass\nP()._dispatch",
    ],
)
def test_what_the_library_relies_on_cannot_be_changed(box: Sandbox, source: str) -> None:
    """No table of a module is a container that a program can write to."""
    run = box.run(f"""
import calendar, pprint, textwrap
{source}
""")
    assert run.status == "error"


def test_lists_and_tables_of_modules_are_copies(box: Sandbox) -> None:
    """They have the types that Python gives them, and the library has its own."""
    run = box.run("""
import hashlib, html, html.entities, json, keyword
lists = keyword.kwlist, keyword.softkwlist
tables = html.entities.html5, html.entities.name2codepoint, html.entities.codepoint2name
sets = hashlib.algorithms_available, hashlib.algorithms_guaranteed
shown = [type(one).__name__ for one in (*lists, *tables, *sets)]
json.dumps(tables[0]), lists[0] + ["x"]
for one in (*lists, *tables, *sets):
    one.clear()
(shown, html.unescape("&lt;"), keyword.iskeyword("if"), hashlib.new("sha256").name)
""")
    assert run.value == (
        ["list"] * 2 + ["dict"] * 3 + ["set"] * 2,
        "<",
        True,
        "sha256",
    )
    with_its_own = box.run("import keyword\nkeyword.kwlist = []")
    assert with_its_own.status == "error"


def test_what_is_ours_goes_by_the_names_of_python(box: Sandbox) -> None:
    """A repr, and the error of a wrong call, show the name that a program knows."""
    run = box.run("""
import copy, dataclasses, functools, importlib, inspect, operator, os, string, typing
print(copy.deepcopy, dataclasses.dataclass, functools.singledispatch, operator.attrgetter)
print(string.Formatter, os.getenv, typing.get_type_hints.__module__, inspect.getmembers)
importlib.import_module()
""")
    assert run.stdout == (
        "<function deepcopy> <function dataclass> <function singledispatch> "
        "<class 'operator.attrgetter'>\n"
        "<class 'string.Formatter'> <function getenv> typing <function getmembers>\n"
    )
    assert run.error is not None
    assert run.error.message.startswith("import_module() missing 1 required")


def test_what_is_left_out_is_no_public_name() -> None:
    """A reason stands for what is not there, and is a short one."""
    for name, why in LEFT_OUT.items():
        module, _, attribute = name.rpartition(".")
        assert name not in PUBLIC
        assert attribute not in PUBLIC.get(module, "").split()
        assert len(why) < 100


@pytest.mark.parametrize("name", ["io.open", "types.new_class", "gzip.open", "shlex.shlex"])
def test_reading_what_is_left_out_says_what_to_use(box: Sandbox, name: str) -> None:
    """The error gives the reason that the table has."""
    run = box.run(f"import {name.partition('.')[0]}\n{name}")
    assert run.error is not None
    assert LEFT_OUT[name] in run.error.message


def test_random_numbers_are_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """A seed gives the same numbers, from the module and from objects of its own."""
    same_as_cpython("""
import random
random.seed(5)
r = random.Random("text")
deck = list(range(9))
r.shuffle(deck)
state = r.getstate()
a = r.random()
r.setstate(state)
class Loaded(random.Random):
    def random(self): return 0.5
(
    random.random(), random.randint(1, 9), random.sample(range(50), 5), r.choices("abc", [1, 2, 3],
    k=4),
    random.gauss(0, 1), deck, r.choice("xyz"), random.randbytes(3), random.uniform(1, 2),
    r.getrandbits(9),
    Loaded().randrange(10), random.triangular(), random.betavariate(1, 2), random.expovariate(2),
    a == r.random(),
)
""")
