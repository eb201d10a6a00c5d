"""The modules that a program can import: public names only, and nothing that leads on."""

import importlib
import json
import subprocess
import sys
from typing import Any

import pytest
from circlet.sandbox import Sandbox
from circlet.sandbox.facades.names import PUBLIC

PROBE = """
import json, types
from circlet.sandbox.facades.build import build
from circlet.sandbox.facades.facade import Facade
made = build()
bad, names = [], {}
for name, facade in made.items():
    content = {key: value for key, value in vars(facade).items() if key[:2] != "__"}
    names[name] = sorted(content)
    for key, value in content.items():
        is_facade = isinstance(value, type) and issubclass(value, Facade)
        inner = is_facade and value is made.get(f"{name}.{key}")
        if isinstance(value, (types.ModuleType, dict, list, set, bytearray)):
            bad.append(f"{name}.{key}")
        if is_facade and not inner:
            bad.append(f"{name}.{key} is another module")
        if key.startswith("_"):
            bad.append(f"{name}.{key} is private")
        if isinstance(value, type) and issubclass(value, type):
            bad.append(f"{name}.{key} makes classes")
print(json.dumps({"bad": bad, "names": names}))
"""


@pytest.fixture(scope="module")
def content() -> Any:
    """What every facade holds."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_no_facade_holds_a_way_out(content: Any) -> None:
    """No module, mutable container, private name or metaclass stands in any facade."""
    assert content["bad"] == []


def test_functions_that_lead_out_are_not_there(content: Any) -> None:
    """Public names that read names from texts, evaluate, or make classes are left out."""
    for name in (
        *("typing.ForwardRef", "re.sys", "random._os", "types.new_class", "types.CellType"),
        *(
            "io.open",
            "io.FileIO",
            "io.BufferedReader",
            "codecs.lookup",
            "codecs.open",
            "copy.copyreg",
        ),
        *(
            "gzip.open",
            "shlex.shlex",
            "zoneinfo.TZPATH",
            "json.scanner",
            "xml.etree.ElementTree.parse",
        ),
        *("hashlib.__builtin_constructor_cache", "calendar.mdays", "urllib.parse.clear_cache"),
    ):
        module, _, attribute = name.rpartition(".")
        assert attribute not in content["names"][module]
    for module in ("pickle", "subprocess", "socket", "ctypes", "marshal", "sqlite3", "zipfile"):
        assert module not in content["names"]


MODULES = sorted(set(PUBLIC) - {"__future__"})  # that one is the compiler's, and comes first


def _a_name(module: str) -> str:
    """A public name that this Python has; a submodule's, where a package has nothing else."""
    inner = [name.rpartition(".")[2] for name in MODULES if name.rpartition(".")[0] == module]
    there = vars(importlib.import_module(module))
    return [*inner, *(n for n in PUBLIC[module].split() if n in there and n != module)][-1]


@pytest.mark.parametrize("module", MODULES)
def test_every_facade_can_be_imported_in_every_form(box: Sandbox, module: str) -> None:
    """``import m``, ``import m as n``, ``from m import x`` and ``from m import x as y`` work."""
    name = _a_name(module)
    top = module.partition(".")[0]
    run = box.run(
        f"import {module}\nimport {module} as m\nfrom {module} import {name}\n"
        f"from {module} import {name} as n\n"
        f"(m is {module}, n is {name}, m.{name} is n, '{name}' in dir(m), repr({top}))"
    )
    assert run.value == (True, True, True, True, f"<module '{top}'>"), str(run)


@pytest.mark.parametrize("module", MODULES)
def test_every_facade_is_read_only(box: Sandbox, module: str) -> None:
    """Nothing can be set, deleted or found by a private name."""
    for source in (
        "m.x = 1",
        f"m.{_a_name(module)} = 1",
        f"del m.{_a_name(module)}",
        "m._x",
        "m.no_such_name",
        "vars(m)",
        "setattr(m, 'x', 1)",
        "class F(type(m)): pass",
    ):
        run = box.run(f"import {module} as m\n{source}")
        assert run.status == "error", source


@pytest.mark.parametrize(
    ("source", "value"),
    [
        (
            "import ast\nt = ast.parse('def f():\\n  \"doc\"\\nclass A: pass')\n"
            "[(type(n).__name__, ast.get_docstring(n)) for n in t.body]",
            [("FunctionDef", "doc"), ("ClassDef", None)],
        ),
        (
            "import ast\nclass V(ast.NodeVisitor):\n    def __init__(s): s.names = []\n"
            "    def visit_Name(s, n): s.names.append(n.id)\nv = V()\n"
            "v.visit(ast.parse('a + b'))\nv.names",
            ["a", "b"],
        ),
        (
            "import ast\nclass T(ast.NodeTransformer):\n"
            "    def visit_Name(s, n): return ast.copy_location(ast.Name('z', n.ctx), n)\n"
            "ast.unparse(T().visit(ast.parse('a + b')))",
            "z + z",
        ),
        ("import ast\nast.literal_eval(\"{'a': (1, 2)}\")", {"a": (1, 2)}),
        ("import ast\nast.dump(ast.Name(id='a', ctx=ast.Load()))", "Name(id='a', ctx=Load())"),
        ("import re\nre.sub(r'(\\w)(\\d)', r'\\2\\1', 'a1 b2')", "1a 2b"),
        ("import re\n[m.group('n') for m in re.finditer(r'(?P<n>\\d+)', 'a1b22')]", ["1", "22"]),
        ("import json\njson.loads(json.dumps({'a': [1, None]}))", {"a": [1, None]}),
        (
            "import json\nclass E(json.JSONEncoder):\n    def default(s, o): return str(o)\n"
            "json.dumps({'x': 1j}, cls=E)",
            '{"x": "1j"}',
        ),
        ("from collections import Counter\nCounter('aab').most_common(1)", [("a", 2)]),
        (
            "from collections import defaultdict as D\nd = D(list)\nd['a'].append(1)\nd",
            {"a": [1]},
        ),
        ("from collections.abc import Mapping\nisinstance({}, Mapping)", True),
        ("from enum import Enum\nE = Enum('E', 'A B')\n[m.name for m in E]", ["A", "B"]),
        ("from enum import Enum\nEnum('E', {'A': 5}).A.value", 5),
        ("from enum import Enum\nEnum('E', [('A', 1), ('B', 2)]).B.value", 2),
        ("from functools import wraps\n@wraps(len)\ndef f(): 'x'\nf.__name__", "len"),
        ("import time\ntime.strptime('2024', '%Y').tm_year", 2024),
        ("from datetime import datetime\ndatetime.strptime('2024-02-03', '%Y-%m-%d').day", 3),
        (
            "'é'.encode('utf-16-le'), b'a'.decode('latin-1'), 'a'.encode('idna')",
            (b"\xe9\0", "a", b"a"),
        ),
        (
            "from random import random, seed\nseed(1)\na = random()\nseed(1)\na == random()",
            True,
        ),
        (
            "from decimal import Decimal as D, getcontext\ngetcontext().prec = 3\nstr(D(1) / 3)",
            "0.333",
        ),
        (
            "from abc import ABC\nclass A(ABC): pass\nA.register(int)\nisinstance(3, A)",
            True,
        ),
    ],
)
def test_facades_do_their_work(box: Sandbox, source: str, value: Any) -> None:
    """What stands in a facade works as in the standard library, in a jailed worker too."""
    run = box.run(source)
    assert (run.status, run.value) == ("ok", value), str(run)
