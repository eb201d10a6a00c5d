"""Weak references and finalizers."""

import pytest
from circlet.sandbox import Sandbox


def test_a_finalizer_outlives_its_name(box: Sandbox) -> None:
    """It is called when the object goes, though the program holds no more than that."""
    run = box.run(
        "import weakref\nclass A: pass\na = A()\n"
        "weakref.finalize(a, print, 'gone', end='!')\nprint('still', end=' ')\ndel a"
    )
    assert run.stdout == "still gone!"


def test_a_finalizers_error_ends_nothing(box: Sandbox) -> None:
    """As in Python, an error in a call-back of a reference is not raised."""
    run = box.run(
        "import weakref\nclass A: pass\na = A()\nweakref.finalize(a, lambda: 1 / 0)\ndel a\n7"
    )
    assert (run.value, run.stdout) == (7, "")


@pytest.mark.parametrize(
    "source",
    [
        *("weakref.finalize(1, print)", "weakref.proxy(A)", "weakref.sys", "weakref.getweakrefs"),
        *("weakref.ref(A).__callback__", "weakref.finalize(A(), print)._call", "weakref.gc"),
    ],
)
def test_what_leads_on_is_not_there(box: Sandbox, source: str) -> None:
    """No module, and nothing that passes for another class."""
    assert box.run(f"import weakref\nclass A: pass\n{source}").status == "error"
