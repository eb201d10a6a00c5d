"""Errors: they show the object that they happened on, where a program may see it."""

from collections.abc import Callable

from circlet.sandbox import Sandbox


def test_an_error_tells_its_object_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """The object without the attribute, also where it is given; none where there is none."""
    same_as_cpython(
        "def of(work):\n    try:\n        work()\n    except AttributeError as error:\n"
        "        return error.obj, error.name\n"
        "def given():\n    raise AttributeError('no', name='n', obj=[1])\n"
        "def changed():\n    error = AttributeError()\n    error.obj = 'a'\n    raise error\n"
        "class A: pass\na = A()\n"
        "[of(lambda: a.x)[0] is a, of(lambda: A.x)[0] is A, of(lambda: 'a'.x), of(given),\n"
        " of(changed), of(lambda: len.x)[0] is len, AttributeError().obj]"
    )


def test_an_error_shows_nothing_that_leads_out(box: Sandbox) -> None:
    """``type`` is none of what a program may see: then the error has no object."""
    run = box.run(
        "from contextlib import ExitStack\n"
        "try:\n    ExitStack().enter_context(int)\n"
        "except TypeError as error:\n    earlier = error.__context__\n"
        "[type(earlier).__name__, earlier.name, earlier.obj]"
    )
    assert run.value == ["AttributeError", "__enter__", None]
