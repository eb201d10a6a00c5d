"""The guards that run beside a program, with classes of a worker that has been made ready."""

import json
import subprocess
import sys
from typing import Any

import pytest
from circlet.sandbox import Sandbox

PROBE = """
import json, types
from circlet.sandbox.worker import Worker
from circlet.sandbox import guards
worker = Worker()
worker.make_ready()

def open_classes():
    waiting, found, seen = [object], [], set()
    while waiting:
        for child in type.__subclasses__(waiting.pop()):
            if child not in seen:
                seen.add(child)
                waiting.append(child)
                if guards.is_own(child):
                    found.append(repr(child))
    return found

def outcome(action):
    try:
        action()
    except (TypeError, AttributeError) as error:
        return type(error).__name__
    return "done"

def patch():
    json.JSONEncoder.default = 1

def relabel():
    class Own: pass
    Own().__class__ = types.SimpleNamespace

class Own: pass
print(json.dumps({
    "open": [name for name in open_classes() if "Own" not in name],
    "patch": outcome(patch),
    "relabel": outcome(relabel),
    "own": guards.is_own(Own),
}))
"""


@pytest.fixture(scope="module")
def probe() -> Any:
    """What a worker's interpreter looks like once it is ready."""
    done = subprocess.run(
        [sys.executable, "-c", PROBE], capture_output=True, text=True, check=True, timeout=60
    )
    return json.loads(done.stdout)


def test_every_class_is_immutable_before_the_first_program(probe: Any) -> None:
    """A class is the program's own exactly when it is mutable: none of the others is."""
    assert probe["open"] == []
    assert probe["own"] is True


def test_nothing_that_the_interpreter_relies_on_can_be_patched(probe: Any) -> None:
    """CPython itself refuses to set an attribute of a class, or to take one's place."""
    assert (probe["patch"], probe["relabel"]) == ("TypeError", "TypeError")


@pytest.mark.parametrize(
    ("source", "value"),
    [
        ("type(1) is int and type([]) is list", True),
        ("class A: pass\ntype(A())is A and isinstance(A, type) and isinstance(type, type)", True),
        ("class A: pass\nrepr(type(A)), type(A)(3) is int", ("<class 'type'>", True)),
        ("issubclass(type, object), isinstance(3, type)", (True, False)),
        ("str.format('{}-{:>3}', 1, 2), '{0[a]}'.format({'a': 1})", ("1-  2", "1")),
        ("'{:{width}}|'.format('a', width=3)", "a  |"),
        ("[f('x') for f in ['{}!'.format, '{}?'.format]]", ["x!", "x?"]),
        ("class L:\n    def format(self, x): return x * 2\nL().format(4)", 8),
        ("class A:\n    _a = 1\nsetattr(A, '_a', 2)\ngetattr(A, '_a')", 2),
        ("class A: pass\na = A()\na._x = 1\ndelattr(a, '_x')\nhasattr(a, '_x')", False),
        ("class A:\n    def __init__(s): s.x = 1\nvars(A())", {"x": 1}),
        ("sorted(n for n in dir(3) if n.startswith('bit'))", ["bit_count", "bit_length"]),
        ("(3).__add__(4), 'a'.__len__(), [].__class__ is list", (7, 1, True)),
        ("int.__name__, (lambda: 1).__name__, __name__", ("int", "<lambda>", "__main__")),
        ("class A(int, object): pass\nA(3) + 1", 4),
        (
            "class E(ValueError): pass\ntry: raise E('a')\nexcept E as e: s = str(e)\ns",
            "a",
        ),
    ],
)
def test_the_guarded_builtins_answer_as_pythons_do(box: Sandbox, source: str, value: Any) -> None:
    """``type``, ``getattr``, ``vars``, ``format`` and class statements work as usual."""
    run = box.run(source)
    assert (run.status, run.value) == ("ok", value), str(run)


@pytest.mark.parametrize(
    "source",
    [
        "[]._x",
        "import json\njson._default_decoder",
        "class A(list): pass\nA()._x",
        "import json\njson.dumps._x = 1",
        "from enum import Enum\nclass E(Enum):\n    A = 1\nE._member_names_.append\nE._create_",
        "import string\nclass T(string.Template): pass\nT('')._invalid",
        "class A: pass\nsetattr(A, '__getattribute__', 1)",
        "class A: pass\ndelattr(A, '__dict__')",
        "class A: pass\nsetattr(A(), '__class__', int)",
    ],
)
def test_private_names_are_free_on_ones_own_objects_only(box: Sandbox, source: str) -> None:
    """A single underscore is free where the program's own class defines it, and nowhere else."""
    run = box.run(source)
    assert run.error is not None
    assert run.error.type in ("AttributeError", "TypeError")
