"""Type parameters and ``type`` statements of Python 3.12: allowed where this Python has them."""

import pytest

PROGRAMS = {
    "a function": "def first[T](xs: list[T]) -> T: return xs[0]\nfirst([1, 2])",
    "a class": """
class Stack[T]:
    def __init__(self): self._items: list[T] = []
    def push(self, x: T):
        self._items.append(x)
        return self
    def pop(self) -> T: return self._items.pop()
Stack[int]().push(1).pop(), Stack().push('a').pop()
""",
    "bounds": "def f[T: int, U: (str, bytes)](x: T, y: U): return x, y\nf(1, 'a')",
    "packs": "def f[*Ts, **P](*a: *Ts): return a\nf(1, 2)",
    "an alias": "type Pair[T] = tuple[T, T]\ntype Name = str\nx: Pair[int] = (1, 2)\nstr(Name), x",
    "an alias of itself": "type Tree = int | list[Tree]\nstr(Tree)",
    "in a class body": "class A:\n    type B = int\n    def f[T](self, x: T) -> T: return x\n"
    "A().f(3)",
    "private names": "def f[_T](x: _T) -> _T: return x\ntype _A = int\nf(1), str(_A)",
    "an async function": "async def f[T](x: T): return x\nc = f(1)\nc.close()",
    "a generic base": "class A[T]: ...\nclass B[T](A[T]): ...\nclass C(B[int]): ...\n"
    "issubclass(C, A)",
    "type as a name": "type = 5\nr = type + 1\ndel type\nr",
}


@pytest.mark.parametrize("what", PROGRAMS)
def test_type_parameters_are_cpythons(same, what):
    """They work as in this Python: one that doesn't know them says so with its own error."""
    same(PROGRAMS[what])


@pytest.mark.parametrize("name", ["super", "__builtins__", "__import__", "__class__"])
@pytest.mark.parametrize(
    "form",
    [
        "def f[{}](): ...",
        "async def f[{}](): ...",
        "class A[{}]: ...",
        "type A[{}] = int",
        "type {} = int",
        "def f[*{}](): ...",
        "def f[**{}](): ...",
    ],
)
def test_their_names_are_checked(box, form, name):
    """A type parameter, and an alias, bind a name like any other."""
    run = box.run(form.format(name))
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")


@pytest.mark.parametrize(
    "form",
    [
        "def f[T: {}](): ...",
        "class A[T: {}]: ...",
        "type A = {}",
        "type A[T: {}] = int",
        "type A = (lambda: {})",
        "def f[T = {}](): ...",
    ],
)
def test_what_stands_in_them_is_checked(box, form):
    """Bounds, defaults and values are evaluated late, and checked at once."""
    run = box.run(form.format("print.__globals__"))
    assert run.error is not None
    assert run.error.type in ("Refused", "SyntaxError")


def test_an_alias_takes_no_gates_name(box):
    """``type echo = int`` would rebind a gate."""
    assert box.run("type echo = int").status == "error"
    assert box.run("echo(3)").value == 3
