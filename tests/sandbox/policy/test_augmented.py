"""Augmented assignment: allowed to names, attributes and items."""

import pytest

OPERATORS = ["+", "-", "*", "/", "//", "%", "**", ">>", "<<", "&", "|", "^"]

PROGRAMS = {
    "to an item": "d = {'a': 1}\nd['a'] += 5\nd",
    "to a nested item": "d = {'a': [1, {'b': 2}]}\nd['a'][1]['b'] *= 5\nd",
    "to a slice": "a = [1, 2, 3]\na[1:] += [4]\na",
    "to an attribute": "class A:\n    n = 1\na = A()\na.n += 2\na.n, A.n",
    "to a private attribute": """
class A:
    _n = 1
    def __init__(self): self.__m = 1
    def up(self):
        self._n += 1
        self.__m <<= 3
        return self._n, self.__m
A().up()
""",
    "in place": "a = b = [1]\na += [2]\na |= {3} if isinstance(a, set) else a\nb",
    "in place, of a list": "a = b = [1]\na += [2]\na *= 2\na is b, b",
    "of a set and a dict": "s = {1}\ns |= {2}\ns -= {1}\nd = {}\nd |= {'a': 1}\ns, d",
    "of a text in a loop": "s = ''\nfor c in 'abc': s += c\ns",
    "the target is evaluated once": """
log = []
def at(x):
    log.append('at')
    return x
row = [1, 2]
at(row)[at(0)] += 10
row, log
""",
    "an attribute's object is evaluated once": """
log = []
class A: n = 0
a = A()
def get():
    log.append('get')
    return a
get().n += 1
get().n -= 3
a.n, log
""",
    "through a property": """
class A:
    def __init__(self): self.log = []
    @property
    def n(self):
        self.log.append('read')
        return 1
    @n.setter
    def n(self, value): self.log.append(value)
a = A()
a.n += 4
a.log
""",
    "the method of the class": """
class A:
    def __init__(self, n): self.n = n
    def __iadd__(self, other):
        self.n += other
        return self
    def __imatmul__(self, other): return ('matrix', other)
a = b = A(1)
a += 2
b.n, a is b, (a := a).n
""",
    "a matrix product": """
class A:
    def __imatmul__(self, other): return ('matrix', other)
a = A()
a @= 3
a
""",
    "of an item of a tuple": "t = ([],)\ntry: t[0] += [1]\nexcept TypeError as e: print(e)\nt",
    "of a name that is not there": "def f():\n    nowhere_bound += 1\nf()",
    "in a function": "def f(n):\n    n += 1\n    return n\nf(1)",
    "of a global": "n = 1\ndef f():\n    global n\n    n += 1\nf()\nn",
    "of a nonlocal": "def f():\n    n = 1\n    def g():\n        nonlocal n\n        n += 1\n"
    "    g()\n    return n\nf()",
    "in a class body": "class A:\n    n = 1\n    n += 1\n    n **= 3\nA.n",
    "of a wrong kind": "a = 'x'\na += 1",
}


@pytest.mark.parametrize("operator", OPERATORS)
def test_each_operator(same, operator):
    """Each operator has its augmented form, for names, items and attributes."""
    same(
        f"class A: n = 13\na, x, row = A(), 13, [13]\n"
        f"a.n {operator}= 3\nx {operator}= 3\nrow[0] {operator}= 3\na.n, x, row"
    )


@pytest.mark.parametrize("what", PROGRAMS)
def test_augmented_assignment_is_cpythons(same, what):
    """The target is evaluated once, and the class's in-place method is used."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("name", ["super", "__builtins__", "__name__", "__doc__"])
def test_the_target_is_checked_as_any_other(refusal, name):
    """A name that Python relies on is no target."""
    assert name in refusal(f"{name} += 'x'").message


def test_a_gate_is_no_target(refusal):
    """A gate's name is no target at turn level."""
    assert '"echo" is a gate here' in refusal("echo += 1").message


@pytest.mark.parametrize("name", ["format", "format_map", "vformat", "get_field", "get_value"])
def test_the_formatting_methods_are_no_target(refusal, name):
    """The operand's method would be handed the unchecked method of a text."""
    error = refusal(f"class R:\n    def __radd__(self, o): pass\n''.{name} += R()")
    assert name in error.message


@pytest.mark.parametrize("name", ["__globals__", "__class__", "gi_frame", "__code__", "__self__"])
def test_attributes_that_lead_out_are_no_target(refusal, name):
    """The operand's method would be handed what the attribute is."""
    assert name in refusal(f"print.{name} += R()").message


def test_a_private_attribute_of_others_is_no_target(box):
    """Private names are guarded here too."""
    run = box.run("import random\nr = random.Random(1)\nr._randbelow += 1")
    assert run.error is not None
    assert run.error.type == "AttributeError"
    assert "_randbelow" in run.error.message
