"""``del``: allowed for names, attributes, items and patterns of them."""

import pytest

PROGRAMS = {
    "a name": "a = 1\ndel a\ntry: a\nexcept NameError as e: print(e)",
    "several": "a = b = c = d = 1\ndel a, (b, [c])\n'a' in globals(), 'd' in globals()",
    "an item and a slice": "a = [1, 2, 3, 4]\ndel a[0], a[1:]\na",
    "a key": "d = {'a': {'b': 1, 'c': 2}}\ndel d['a']['b']\nd",
    "an attribute": "class A: pass\na = A()\na.x = 1\ndel a.x\nhasattr(a, 'x')",
    "a private attribute": "class A: pass\na = A()\na._x = 1\ndel a._x\nhasattr(a, '_x')",
    "a mangled attribute": """
class A:
    def __init__(self): self.__x = 1
    def drop(self):
        del self.__x
        return vars(self)
A().drop()
""",
    "a local": "def f():\n    a = 1\n    del a\n    return a\nf()",
    "what a closure uses": "def f():\n    a = 1\n    def g(): return a\n    del a\n    g()\nf()",
    "a global": "k = 1\ndef f():\n    global k\n    del k\nf()\n'k' in globals()",
    "by the class's methods": """
class A:
    def __delitem__(self, key): print('item', key)
    def __delattr__(self, name): print('attribute', name)
a = A()
del a[1], a[2:3], a.x
""",
    "through a property": """
class A:
    @property
    def x(self): return 1
    @x.deleter
    def x(self): print('deleted')
del A().x
""",
    "a builtin that was hidden": "len = 3\ndel len\nlen('ab')",
    "a name that is not there": "del nowhere_bound",
    "a key that is not there": "del {}['k']",
    "an attribute that is not there": "class A: pass\ndel A().x",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_del_is_cpythons(same, what):
    """``del`` unbinds, calls the class's methods and fails as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("form", ["del {}", "del (a, {})", "del [a, {}]"])
@pytest.mark.parametrize("name", ["super", "__builtins__", "__name__", "echo"])
def test_no_name_that_is_relied_on_is_deleted(refusal, form, name):
    """Python's own names and the gates stay."""
    assert name in refusal(form.format(name)).message


@pytest.mark.parametrize("name", ["__class__", "__globals__", "__dict__", "__code__"])
def test_no_special_attribute_is_deleted(refusal, name):
    """Special attributes can't be deleted, whatever the object."""
    assert name in refusal(f"def f(): ...\ndel f.{name}").message


@pytest.mark.parametrize(
    "source",
    [
        "import json\ndel json.loads",
        "import random\ndel random.Random(1)._randbelow",
        "del int.real",
        "from collections import Counter\ndel Counter.most_common",
    ],
)
def test_nothing_of_the_librarys_is_deleted(box, source):
    """Modules and classes that are not the program's own can't be changed."""
    assert box.run(source).status == "error"
