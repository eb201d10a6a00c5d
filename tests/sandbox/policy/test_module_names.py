"""Special names at turn level: those that modules have are read or set; others are Python's."""

import pytest

PROGRAMS = {
    "the name": "__name__, __name__ == '__main__'",
    "main": "def main(): return 'ran'\nif __name__ == '__main__': r = main()\nr",
    "the name in functions and classes": "def f(): return __name__\nclass A: n = __name__\n"
    "f(), A.n",
    "in a class body": "class A:\n    r = __module__, __qualname__\nA.r",
    "debug": "__debug__, [1 for _ in 'a' if __debug__]",
    "metadata": """
__all__ = ['f']
__version__ = '1.0'
__author__ = 'nobody'
__license__: str = 'MIT'
__all__ += ['g']
__all__, __version__, __author__, __license__
""",
    "metadata across turns": ("__version__ = '1.2'", "__version__ + '.3'"),
    "metadata deleted": "__version__ = '1'\ndel __version__\n__version__",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_names_of_modules_are_cpythons(same, what):
    """A turn knows its name and takes the names that say something of a module."""
    turns = PROGRAMS[what]
    same(*((turns,) if isinstance(turns, str) else turns))


@pytest.mark.parametrize(
    "name",
    [
        *("__name__", "__doc__", "__debug__", "__builtins__", "__file__", "__loader__", "__spec__"),
        *("__package__", "__path__", "__dict__", "__class__", "__annotations__", "__getattr__"),
        *("__main__", "__import__", "__unheard_of__"),
    ],
)
@pytest.mark.parametrize(
    "form", ["{} = 1", "{}: int = 1", "for {} in x: ...", "def {}(): ...", "del {}"]
)
def test_other_special_names_are_not_bound(box, form, name):
    """What Python or the runner looks up is not the program's to set."""
    run = box.run(form.format(name))
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")
    assert name in run.error.message


@pytest.mark.parametrize("name", ["__all__", "__version__", "__author__"])
@pytest.mark.parametrize("form", ["def f():\n    {} = 1", "def f({}): ...", "class A:\n    {} = 1"])
def test_metadata_is_for_the_turns_top_level(refusal, form, name):
    """Elsewhere these names mean nothing."""
    assert name in refusal(form.format(name)).message


def test_a_file_is_not_there(refusal):
    """``__file__`` is asked for to find files beside the code: there are none."""
    assert "file" in refusal("__file__").message.replace("__file__", "")
