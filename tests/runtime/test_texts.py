"""Values as bounded texts."""

from __future__ import annotations

import pytest
from circlet.runtime.texts import arguments_text, as_text, error_line
from circlet.sandbox.wire import Sealed


class Endless(list):
    """A list that must not be gone through."""

    def __len__(self):
        return 10**12

    def __iter__(self):
        raise AssertionError("it was gone through")

    def __repr__(self):
        return "<endless>"


def test_small_values_are_json():
    """PROD-1: what JSON can write is told as JSON."""
    assert arguments_text({"a": [1, "\u00e4"], "b": None}) == '{"a": [1, "\u00e4"], "b": null}'
    assert arguments_text({"a": Sealed(b"", "int: 5")}) == '{"a": "int: 5"}'
    assert as_text({"a": 1}, 100) == '{"a": 1}'


def test_large_values_are_not_gone_through():
    """PROD-1: a bounded text takes a bounded time."""
    assert arguments_text({"a": Endless()}) == "{'a': <endless>}"
    assert as_text(Endless(), 100) == "<endless>"


def test_a_value_that_holds_itself():
    """PROD-1: there is a text for every value."""
    loop = []
    loop.append(loop)
    assert arguments_text(loop) == "[...]" == as_text(loop, 100)


FRAMES = 'Traceback (most recent call last):\n  File "<turn 1>", line 1, in <module>\n    mean\n'
NAME_ERROR = "NameError: name 'mean' is not defined"


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("", ""),
        ("oops\nmore", "oops"),
        (FRAMES + "KeyError: 1", "KeyError: 1"),
        (f"{FRAMES}{NAME_ERROR}\n'mean' is in statistics: write import statistics", NAME_ERROR),
        ("Traceback (most recent call last):\nMemoryError", "MemoryError"),
        ("Traceback (most recent call last):", "Traceback (most recent call last):"),
    ],
)
def test_the_line_that_tells_an_error(text, line):
    """It names the error, whatever hints follow it."""
    assert error_line(text) == line
