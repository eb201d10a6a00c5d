"""Imports: allowed of the modules that there are; ``*`` and relative ones are refused."""

import pytest

PROGRAMS = {
    "a module": "import math\nmath.floor(2.5), math.__name__",
    "as": "import math as m, json as j\nm.sqrt(4), j.dumps([1])",
    "from": "from math import pi, floor as f\npi, f(2.5)",
    "from in parentheses": "from math import (\n    pi,\n    e,  # the base\n)\npi > e",
    "a submodule": "import collections.abc\nisinstance([], collections.abc.Sequence)",
    "a submodule as": "import collections.abc as c\nissubclass(dict, c.Mapping)",
    "from a package": "from collections import abc\nfrom os import path\n"
    "issubclass(list, abc.Sequence), path.join('a', 'b')",
    "in a function": "def f():\n    import math\n    from json import dumps\n"
    "    return dumps(math.floor(1.5))\n"
    "f(), 'dumps' in globals()",
    "in a class": "class A:\n    import math\n    from math import pi as p\nA.p, A.math.e",
    "in a condition and a try": """
try:
    import nowhere_at_all
except ImportError:
    nowhere_at_all = None
if True: import math
nowhere_at_all, math.pi
""",
    "the future": "from __future__ import annotations, division, generator_stop\n1 / 2",
    "the future, too late": "x = 1\nfrom __future__ import annotations",
    "a future that never came": "from __future__ import braces",
    "across turns": ("import math as m\nfrom json import loads", "m.pi, loads('[1]')"),
    "twice the same": "import math\nimport math as m\nm is math",
    "a private alias": "import math as _m\nfrom math import pi as _pi\n_m.pi == _pi",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_imports_are_cpythons(same, what):
    """An import binds what it binds in CPython."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


def test_a_module_that_is_not_there_lists_those_that_are(box):
    """The error names the module and what can be imported, in one line."""
    run = box.run("import socket")
    assert run.error is not None
    assert run.error.type == "ModuleNotFoundError"
    assert "'socket'" in run.error.message
    assert "json" in run.error.message
    assert "\n" not in run.error.message


@pytest.mark.parametrize(
    ("source", "instead"),
    [
        ("from math import *", "name what you import"),
        ("def f():\n    import math\nfrom json import *", "name what you import"),
        ("from . import x", "relative"),
        ("from .x import y", "relative"),
        ("from ...x import y", "relative"),
        ("from .x import *", "*"),
    ],
)
def test_open_imports_are_refused(refusal, source, instead):
    """What an import binds is written out; there is no package around the turn."""
    assert instead in refusal(source).message


@pytest.mark.parametrize(
    "source",
    [
        "import {}",
        "import {}.x",
        "import math as {}",
        "import math, json as {}",
        "from math import {}",
        "from math import pi as {}",
        "from math import pi, e as {}",
        "from {} import x as super",
    ],
)
@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__", "__class__"])
def test_what_an_import_binds_is_checked(refusal, source, name):
    """An import binds names."""
    message = refusal(source.format(name)).message
    assert name in message or "super" in message


@pytest.mark.parametrize("form", ["import math as {}", "from math import pi as {}", "import {}"])
def test_no_import_binds_a_gate(refusal, form):
    """A gate's name is no module's."""
    assert '"echo" is a gate here' in refusal(form.format("echo")).message


@pytest.mark.parametrize(
    "source",
    [
        *("import os; os.system", "import sys; sys.modules", "import subprocess", "import ctypes"),
        *("import builtins", "import gc", "import _thread", "import posix", "import marshal"),
        "__import__('os')",
        "import importlib\nimportlib.import_module('ctypes')",
        "from importlib import reload",
        "import circlet",
        "import collections.abc.x",
        "import __main__",
        "from math import __loader__",
        "from json import codecs",
        "from random import _os",
        "import json\njson.codecs",
        "import re\nre.enum",
        "import re\nre.compile = 1",
        "import json\ndel json.loads",
        "import json\njson.loads.__globals__",
        "import math\nmath.__loader__",
        "import math\nmath.__dict__",
        "import math\nmath.__spec__",
        "import math\ngetattr(math, '__spec__')",
        "import json\nsetattr(json, 'loads', 1)",
    ],
)
def test_no_import_leads_out(box, source):
    """What has no facade can't be had, and a module shows its public names only."""
    assert box.run(source).status == "error"
