"""The interpreter as data: its limits can be set, as far as the runner stands it."""

from typing import Any

import pytest
from circlet.sandbox import Sandbox

DEEP = {
    "plain calls": "def f(): return f()",
    "classes": "class A:\n    def __init__(self): A()\nf = A",
    "attributes": "class A:\n    def __getattr__(self, n): return getattr(self, 'x')\nf = A().f",
    "texts": "class A:\n    def __str__(self): return '%s' % self\nf = lambda: str(A())",
    "sorting": "from functools import cmp_to_key as key\n"
    "def f(): return sorted([1, 2], key=key(lambda a, b: f()))",
    "iteration": "class A:\n    def __iter__(self): return iter(list(self))\nf = lambda: list(A())",
}


@pytest.mark.parametrize("kind", DEEP)
def test_no_recursion_is_too_deep_for_the_worker(new_box: Any, kind: str) -> None:
    """At the highest limit the worst recursion is an error, and the session lives."""
    box = new_box(eval_ms=20_000)
    assert box.run("import sys\nsys.setrecursionlimit(10**9)\nkept = 7").status == "ok"
    run = box.run(f"{DEEP[kind]}\nf()" if kind != "attributes" else DEEP[kind])
    assert run.error is not None
    assert (run.error.type, run.state) == ("RecursionError", "kept")
    assert box.run("kept").value == 7


def test_calls_can_nest_deep(new_box: Any) -> None:
    """A recursion 15,000 deep runs once the limit allows it."""
    run = new_box().run(
        "import sys\nsys.setrecursionlimit(10**6)\n"
        "def depth(n): return 0 if n == 0 else 1 + depth(n - 1)\ndepth(15_000)"
    )
    assert run.value == 15_000


@pytest.mark.parametrize(
    ("source", "limit"),
    [("10", 1_000), ("10**9", 20_000), ("5_000", 5_000), ("True", 1_000), ("Big(3)", 1_000)],
)
def test_the_limit_is_kept_within_bounds(new_box: Any, source: str, limit: int) -> None:
    """Whatever is asked for, by whatever kind of number, and the next turn runs."""
    box = new_box()
    run = box.run(
        "import sys\nclass Big(int):\n"
        "    def __lt__(self, other): return False\n"
        "    def __gt__(self, other): return False\n"
        f"sys.setrecursionlimit({source})\nsys.getrecursionlimit()"
    )
    assert run.value == limit
    assert box.run("[1, {'a': (2,)}]").value == [1, {"a": (2,)}]


@pytest.mark.parametrize(("digits", "kept"), [(0, 100_000), (10**7, 100_000), (5_000, 5_000)])
def test_texts_of_numbers_stay_short(new_box: Any, digits: int, kept: int) -> None:
    """No signal interrupts the making of a huge text, so the limit can't be lifted at will."""
    source = f"import sys\nsys.set_int_max_str_digits({digits})\nsys.get_int_max_str_digits()"
    assert new_box().run(source).value == kept


@pytest.mark.parametrize("code", ["", "0", "None"])
def test_leaving_with_success_ends_the_turn(box: Sandbox, code: str) -> None:
    """``sys.exit()`` ends a turn as its last line would; ``finally`` blocks run."""
    run = box.run(
        "import sys\ndef f():\n    try:\n"
        f"        sys.exit({code})\n    finally:\n        print('end')\nf()\nprint('never')"
    )
    assert (run.status, run.error, run.stdout, run.value) == ("ok", None, "end\n", None)


@pytest.mark.parametrize(
    ("code", "text"), [("2", "2"), ("'bad input'", "bad input"), ("1.5", "1.5")]
)
def test_leaving_with_failure_is_an_error(box: Sandbox, code: str, text: str) -> None:
    """Any other code is the turn's error; the session goes on."""
    run = box.run(f"import sys\nsys.exit({code})")
    assert run.error is not None
    assert (run.error.type, run.error.message, run.state) == ("SystemExit", text, "kept")


def test_an_exits_own_class_decides_nothing(box: Sandbox) -> None:
    """A subclass can't have its code looked up by the runner."""
    run = box.run(
        "class E(SystemExit):\n    @property\n    def code(self):\n"
        "        while True: pass\nraise E(3)"
    )
    assert (run.status, run.state) == ("error", "kept")


def test_a_caught_exit_is_an_ordinary_error(box: Sandbox) -> None:
    """``except SystemExit`` catches it; ``except Exception`` does not."""
    run = box.run(
        "import sys\ntry:\n    try:\n        sys.exit(3)\n"
        "    except Exception:\n        print('wrong')\n"
        "except SystemExit as e:\n    code = e.code\ncode"
    )
    assert (run.value, run.stdout) == (3, "")


def test_arguments_are_a_list_of_the_programs_own(box: Sandbox) -> None:
    """``sys.argv`` has no arguments; it can be changed as a list can."""
    assert box.run("import sys\nlen(sys.argv), sys.argv[1:]").value == (1, [])
    assert box.run("sys.argv[:] = ['x', 'y']\nsys.argv").value == ["x", "y"]
    assert box.run("sys.argv = []").status == "error"


@pytest.mark.parametrize(
    "name",
    [
        *(
            "modules",
            "path",
            "executable",
            "prefix",
            "settrace",
            "setprofile",
            "meta_path",
            "flags",
        ),
        *("_getframe", "_current_frames", "addaudithook", "displayhook", "excepthook", "orig_argv"),
        *("unraisablehook", "set_asyncgen_hooks", "getframe", "path_hooks", "last_traceback"),
    ],
)
def test_what_leads_on_is_not_there(box: Sandbox, name: str) -> None:
    """Nothing that holds modules, frames, paths of the host or hooks of the interpreter."""
    assert box.run(f"import sys\nsys.{name}").status == "error"
