"""Assignment: allowed to names, attributes, items and patterns of them."""

import pytest

PROGRAMS = {
    "chained": "a = b = [1]\na.append(2)\na is b, b",
    "swap": "a, b = 1, 2\na, b = b, a\na, b",
    "nested targets": "(a, [b, (c, d)]), e = (1, [2, (3, 4)]), 5\na, b, c, d, e",
    "a starred target": "first, *middle, last = range(5)\nfirst, middle, last",
    "a starred target inside": "(a, *b), c = 'xyz', 1\na, b, c",
    "to an item and a slice": "a = [1, 2, 3, 4]\na[0] = 9\na[1:3] = 'pq'\na",
    "to a nested item": "d = {'a': {}}\nd['a']['b'] = [0]\nd['a']['b'][0] = 1\nd",
    "to an attribute": "class A: pass\na = A()\na.b = A()\na.b.c = 1\na.b.c",
    "to attributes by unpacking": "class A: pass\na = A()\na.x, (a.y, *a.z) = 1, (2, 3)\nvars(a)",
    "to a class's attribute": "class A: pass\nA.kinds = ['x']\nA().kinds",
    "left to right": """
log = []
def at(i):
    log.append(i)
    return i
row = [0, 0]
row[at(0)], row[at(1)] = at(2), at(3)
row, log
""",
    "too many values": "a, b = 1, 2, 3",
    "too few values": "a, b, c = 1, 2",
    "nothing to unpack": "a, b = 5",
    "an item of what has none": "(1, 2)[0] = 1",
    "an attribute of what has none": "class A:\n    __slots__ = ()\nA().x = 1",
    "of a unicode name": "été = 1\nﬁn = 2\nété, fin",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_assignment_is_cpythons(same, what):
    """Assignment binds, unpacks and fails as it does in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize(
    "target", ["{}", "a, {}", "[a, {}]", "a, *{}", "b = {}", "(a, (b, {}))", "a[0], {}"]
)
@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__", "__build_class__"])
def test_no_target_is_a_name_that_python_relies_on(refusal, target, name):
    """Wherever a name stands in a target, it is checked."""
    assert name in refusal(f"{target.format(name)} = x").message


@pytest.mark.parametrize("target", ["{}", "a, {}", "*a, {}", "b = {}"])
def test_no_target_is_a_gate(refusal, target):
    """A gate's name can't be assigned to at turn level, however the target is written."""
    assert '"echo" is a gate here' in refusal(f"{target.format('echo')} = 1, 2").message


@pytest.mark.parametrize(
    "target", ["x.{}", "a, x.{}", "[*x.{}]", "a[0].{}", "(lambda: x)().{}", "x.{}.y"]
)
@pytest.mark.parametrize("name", ["__class__", "__globals__", "__code__", "f_locals"])
def test_no_target_is_an_attribute_that_leads_out(box, target, name):
    """Special attributes can't be assigned to; what is read on the way is checked too."""
    run = box.run(f"def x(): pass\na = [x]\n{target.format(name)} = 1")
    assert run.error is not None
    assert run.error.type in ("Refused", "AttributeError", "TypeError")


def test_a_name_in_another_alphabet_is_the_same_name(refusal):
    """Names are checked as the compiler reads them: normalised."""
    assert "__import__" in refusal("__\u2170mport__ = 1").message
    assert "super" in refusal("\u017fuper = 1").message
    assert "__globals__" in refusal("print.__\U0001d4f0lobals__").message
