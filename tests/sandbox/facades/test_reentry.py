"""Objects that a program changes while the library is at work on them: no worker dies of it."""

import pytest
from circlet.sandbox import Sandbox

PROGRAMS = {
    "an array that shrinks while a value becomes a number": """
import array
def attempt(action):
    for code in "bBhHiIlLqQfd":
        a = array.array(code, [0] * 100_000)
        class Value:
            def __index__(self):
                del a[:]
                return 65
            def __float__(self): return float(self.__index__())
        try:
            action(a, Value())
        except (IndexError, TypeError):
            pass
        assert len(a) < 3, (code, len(a))
attempt(lambda a, value: a.__setitem__(99_999, value))
attempt(lambda a, value: array.array.__setitem__(a, 99_999, value))
attempt(lambda a, value: a.append(value))
attempt(lambda a, value: a.insert(99_999, value))
attempt(lambda a, value: a.extend([value]))
attempt(lambda a, value: a.fromlist([value]))
class Own(array.array):
    pass
o = Own("q", [0] * 100_000)
class Value:
    def __index__(self):
        del o[:]
        return 1
try:
    super(Own, o).__setitem__(99_999, Value())
except IndexError:
    o.append(7)
assert o.tolist() == [7]
""",
    "a struct that is made anew while it packs": """
import struct
s = struct.Struct("<" + "Bq" * 200)
class Value:
    def __index__(self):
        s.__init__("<B")
        kept.extend(bytes(range(200)) * n for n in range(1, 60))
        return 1
kept = []
s.pack(Value(), *[1] * 399)
""",
    "an element that is emptied while its children are compared": """
import xml.etree.ElementTree as ET
root = ET.Element("root")
class Child(ET.Element):
    def __eq__(self, other):
        root.clear()
        kept.extend(bytes(8 * n) for n in range(1, 200))
        return False
kept = []
for _ in range(20):
    root.append(Child("a"))
root.remove(ET.Element("x"))
""",
    "a buffer that outlives its reader": """
import io
class Raw(io.RawIOBase):
    def readable(self): return True
    def readinto(self, room):
        kept.append(room)
        return 1
kept = []
reader = io.BufferedReader(Raw())
reader.read(1)
del reader
kept[0][0]
""",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_a_worker_outlives_what_a_program_does_in_between(box: Sandbox, what: str) -> None:
    """Whatever the program gets for it, the session's variables are still there afterwards."""
    box.run("mark = 'here'")
    run = box.run(PROGRAMS[what])
    assert run.status in ("ok", "error"), str(run)
    assert "AssertionError" not in str(run)
    assert box.run("mark").value == "here"
