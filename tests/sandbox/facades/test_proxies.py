"""Read-only views: as in CPython, and nothing behind them is shown."""

from collections.abc import Callable

import pytest
from circlet.sandbox import Sandbox


def test_views_are_compared_as_in_cpython(same_as_cpython: Callable[[str], None]) -> None:
    """With dictionaries and views, from either side."""
    same_as_cpython(
        "from types import MappingProxyType as View\nkept = {'a': 1}\nview = View(kept)\n"
        "def raised(work):\n    try:\n        work()\n    except TypeError:\n        return True\n"
        "merged = view | {'b': 2}, {'b': 2} | view, view | View({'b': 3})\n"
        "kept['a'] = 5\n"
        "[merged, type(merged[0]) is dict, view == {'a': 5}, {'a': 5} == view, view != kept,\n"
        " view == View({'a': 5}), view == 1, view != 1, raised(lambda: view < {}), kept,\n"
        " dict(view), raised(lambda: view | 1)]"
    )


@pytest.mark.parametrize(
    "operation", ["view == Other()", "Other() == view", "view | Other()", "view < Other()"]
)
def test_the_other_side_is_shown_a_copy(box: Sandbox, operation: str) -> None:
    """A pattern's groups, which the library shares, are not for a program to change."""
    run = box.run(
        "import string\nview = string.Template.pattern.groupindex\nbefore = dict(view)\n"
        "class Other:\n"
        "    def note(self, mapping):\n        mapping['named'] = 99\n        return True\n"
        "    __eq__ = __ror__ = __gt__ = __or__ = lambda self, other: (\n"
        "        self.note(other) if isinstance(other, dict) else NotImplemented)\n"
        f"{operation}\n"
        "[dict(view) == before, string.Template('$a').substitute(a=1)]"
    )
    assert run.value == [True, "1"], str(run)
