"""``with``: allowed, with several managers and every kind of target."""

import pytest

HEAD = """
class M:
    def __init__(self, name, swallow=False): self.name, self.swallow = name, swallow
    def __enter__(self):
        print('enter', self.name)
        return self
    def __exit__(self, kind, error, trace):
        print('exit', self.name, kind and kind.__name__, error and str(error))
        return self.swallow
"""

PROGRAMS = {
    "one": "with M('a') as a: print(a.name)",
    "several": "with M('a') as a, M('b'), M('c') as c: print(a.name, c.name)",
    "in parentheses": "with (M('a') as a, M('b') as b,): print(a.name + b.name)",
    "an error": "with M('a'): 1 / 0",
    "a swallowed error": "with M('a'), M('b', swallow=True): raise KeyError('k')\nprint('on')",
    "return and break": """
def f():
    for i in range(3):
        with M(i):
            if i: return i
f()
""",
    "targets": """
from contextlib import nullcontext
class T: pass
t, d = T(), {}
with nullcontext((1, [2, 3])) as (a, [b, *c]), nullcontext(4) as t.x, nullcontext(5) as d['k']: pass
a, b, c, t.x, d
""",
    "contextlib's": """
from contextlib import contextmanager, suppress, closing, ExitStack
@contextmanager
def tag(name, log=[]):
    log.append(name)
    try: yield log
    finally: log.append('/' + name)
with tag('x') as log, suppress(ZeroDivisionError): 1 / 0
with ExitStack() as stack:
    for n in 'yz': stack.enter_context(tag(n))
log
""",
    "no manager": "with 5: pass",
    "no __exit__": "class A:\n    def __enter__(self): pass\nwith A(): pass",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_with_is_cpythons(same, what):
    """Managers are entered, told of errors, and left as in CPython."""
    same(HEAD + PROGRAMS[what])


@pytest.mark.parametrize("name", ["super", "__builtins__", "echo"])
@pytest.mark.parametrize("target", ["{}", "(a, {})", "[*{}]"])
def test_targets_are_checked(refusal, target, name):
    """A target binds names."""
    assert name in refusal(f"with x as {target.format(name)}: pass").message


@pytest.mark.parametrize(
    "form", ["with {}: pass", "with x as {}: pass", "with x, {} as y: pass", "with x: {}"]
)
def test_each_part_is_checked(refusal, form):
    """Managers, targets and the body are checked."""
    assert "__globals__" in refusal(form.format("print.__globals__")).message


def test_the_traceback_that_a_manager_gets_is_closed(box):
    """``__exit__`` is handed a traceback whose frames can't be read."""
    source = """
class M:
    def __enter__(self): pass
    def __exit__(self, kind, error, trace):
        for name in ('tb_frame', 'tb_next'):
            print(hasattr(trace, name))
        return True
with M(): 1 / 0
"""
    assert box.run(source).stdout == "False\nFalse\n"
