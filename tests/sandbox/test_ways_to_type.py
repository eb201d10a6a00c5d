"""Ways to ``type``, which makes classes of any names: no program is handed it, by whatever way."""

from __future__ import annotations

import pytest
from circlet.sandbox import Sandbox

BEFORE = """
found = []
class Keeps:
    def __init__(self, hash=0):
        self.hash = hash
    def __hash__(self):
        return self.hash
    def __eq__(self, other):
        found.append(other)
        return True
def keeps(*args):
    found.extend(args)
    return lambda *_: None
def chain(error):
    while error is not None:
        found.extend([getattr(error, "obj", None), *error.args])
        error = error.__context__
"""
AFTER = """
def made():
    for one in found:
        try:
            return one("Made", (), {"__reduce__": print})
        except TypeError:
            pass
made()
"""
COLLISION = f"""
mask = (1 << 64) - 1
one, two, five = 11400714785074694791, 14029467366897019727, 2870177450012600261
def left(x, by):
    return (x << by | x >> (64 - by)) & mask
def forward(state, hashes):
    for value in hashes:
        state = left((state + value * two) & mask, 31) * one & mask
    return state
def backward(state, hashes):
    for value in reversed(hashes):
        state = (left(state * pow(one, -1, 1 << 64) & mask, 33) - value * two) & mask
    return state
def ended(length):
    return length ^ five ^ 3527539
place = id(int) + {id(type) - id(int)}  # of type, whose hash follows from it
def colliding(key, before, after):
    "The hash of an object with which a key that begins and ends so is taken for another."
    wanted = (forward(five, key) + ended(len(key)) - ended(len(before + after) + 1)) & mask
    state = left(backward(wanted, after) * pow(one, -1, 1 << 64) & mask, 33)
    found = (state - forward(five, before)) * pow(two, -1, 1 << 64) & mask
    return found - (1 << 64) if found >> 63 else found
type_hash = left(place, 60)
"""
"""A tuple's hash is no secret: an object can have the one that brings its key to another's."""
WAYS = {
    "the dispatcher of a method, exchanged": """
from functools import singledispatchmethod
class Dispatcher:
    dispatch = staticmethod(keeps)
choosing = singledispatchmethod(lambda *_: None)
choosing.dispatcher = Dispatcher()
class A:
    choose = choosing
try:
    A().choose(int)
except AttributeError:
    pass
""",
    "a protocol's own hook": """
from typing import Protocol, runtime_checkable
@runtime_checkable
class P(Protocol):
    def area(self): ...
    __subclasshook__ = classmethod(lambda kind, other: found.append(other) or NotImplemented)
isinstance(int, P)
""",
    "the object of an error in the library": """
from contextlib import ExitStack
try:
    ExitStack().enter_context(int)
except TypeError as error:
    chain(error)
""",
    "the object of an error in an asynchronous part of the library": """
import asyncio
from contextlib import AsyncExitStack
async def main():
    try:
        await AsyncExitStack().enter_async_context(int)
    except TypeError as error:
        chain(error)
asyncio.run(main())
""",
    "an error that ran out of depth where a class was looked up": """
from abc import ABC
from functools import singledispatch
@singledispatch
def choose(x): pass
@choose.register
def _(x: ABC): pass
def deep(n):
    return deep(n - 1) if n else choose(int)
for n in range(999, 900, -1):
    try:
        deep(n)
    except RecursionError as error:
        chain(error)
""",
    "the key of a cached call": f"""{COLLISION}
from functools import lru_cache
@lru_cache(typed=True)
def cached(*_): pass
cached(int)
key, kinds = [hash(int), type_hash], [hash(Keeps), hash(Keeps)]
cached(Keeps(hash(int)), Keeps(colliding(key, key[:1], kinds)))
""",
    "the key of an annotation that is kept": f"""{COLLISION}
from typing import Annotated
Annotated[int, ""]
kind = type_hash if isinstance(Annotated, type) else hash(type(Annotated))
before = [hash(Annotated), hash(int), hash("")]
key, kinds = [*before, kind, type_hash, hash(str)], [kind, type_hash, hash(Keeps), hash(Keeps)]
Annotated[int, Keeps(hash("")), Keeps(colliding(key, before, kinds))]
""",
    "a cache made by its class": f"""{COLLISION}
from functools import lru_cache
kind = type(lru_cache(print))
for make in (lambda: kind, lambda: type("", (kind,), {{}})):
    cached = make()(lambda *_: None, 128, True, tuple)
    cached(int)
    key, kinds = [hash(int), type_hash], [hash(Keeps), hash(Keeps)]
    cached(Keeps(hash(int)), Keeps(colliding(key, key[:1], kinds)))
""",
}


@pytest.mark.parametrize("way", WAYS)
def test_nothing_that_makes_classes_is_come_upon(way: str) -> None:
    """The program makes no class of names that a class statement would refuse."""
    with Sandbox() as box:
        run = box.run(f"{BEFORE}{WAYS[way]}{AFTER}")
        assert run.status == "error" or run.value is None, str(run)


def test_a_subclass_of_a_cache_is_no_way_round() -> None:
    """Caches can't be inherited from: a class of the program's own would set its caches up."""
    with Sandbox() as box:
        run = box.run("from functools import cache\nclass A(type(cache(print))): pass")
        assert "can't inherit from '_lru_cache_wrapper'" in str(run)
