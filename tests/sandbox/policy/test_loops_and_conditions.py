"""``for``, ``while``, ``if``, ``break``, ``continue``, ``pass``: allowed without restriction."""

import pytest

PROGRAMS = {
    "for": "r = []\nfor i, (a, *b) in enumerate([(1, 2, 3), 'xy']): r.append((i, a, b))\nr, i",
    "for to an attribute and an item": """
class A: pass
a, d = A(), {}
for a.x in range(2): pass
for d['k'] in 'ab': pass
a.x, d
""",
    "else": """
def find(n, xs):
    for x in xs:
        if x == n: break
    else: return 'not found'
    return 'found'
find(1, [1]), find(2, [1]), find(1, [])
""",
    "while": """
n, r = 5, []
while n:
    n -= 1
    if n % 2: continue
    r.append(n)
    if n == 0: break
else: r.append('else')
while False: pass
else: r.append('else')
r
""",
    "nested": """
r = []
for a in range(3):
    for b in range(3):
        if b == a: break
        r.append((a, b))
    else: continue
    if a == 2: break
r
""",
    "if": """
def sign(n):
    if n < 0: return 'minus'
    elif n == 0: return 'zero'
    elif n > 100: pass
    else: return 'plus'
[sign(n) for n in (-1, 0, 1, 101)]
""",
    "iterating over what": """
class Seq:
    def __getitem__(self, i):
        if i > 2: raise IndexError
        return i
[x for x in Seq()], [k for k in {'a': 1}], [x for x in iter([3, 2, 0].pop, 0)], [*map(str, (1, 2))]
""",
    "stars in the iterable": "r = []\nfor x in *[1], 2, *'a': r.append(x)\nr",
    "changing while going through": "d = {1: 2}\nfor k in d: d[k + 1] = 0",
    "not iterable": "for x in 5: pass",
    "break outside": "break",
    "continue in a function outside a loop": "def f(): continue",
    "pass and ellipsis": "def f(): pass\nclass A: ...\nif 1: pass\nf(), A.__name__",
    "semicolons": "a = 1; b = 2; a + b",
    "a long line over several": "x = (1 +\n     2 +\n     3)\ny = 1 + \\\n    2\nx, y",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_loops_are_cpythons(same, what):
    """Loops, their ``else`` and conditions run as in CPython."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("name", ["super", "__builtins__", "echo"])
@pytest.mark.parametrize("target", ["{}", "a, {}", "[*{}, b]", "(a, (b, {}))"])
def test_targets_are_checked(refusal, target, name):
    """A loop binds names."""
    assert name in refusal(f"for {target.format(name)} in x: pass").message


@pytest.mark.parametrize(
    "form",
    [
        "for a in {}: pass",
        "for {} in x: pass",
        "for a in x: {}",
        "for a in x: pass\nelse: {}",
        "while {}: pass",
        "while x: {}",
        "while x: pass\nelse: {}",
        "if {}: pass",
        "if x: {}",
        "if x: pass\nelif {}: pass",
        "if x: pass\nelse: {}",
    ],
)
def test_each_part_is_checked(refusal, form):
    """Conditions, iterables and bodies are checked, also those that never run."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message
