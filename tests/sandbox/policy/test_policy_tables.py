"""The policy as a whole: every construct is decided on, and says so in its docstring."""

import ast
import inspect

import pytest
from circlet.sandbox import Sandbox, policy
from circlet.sandbox.policy import Policy

NOT_BUILT_BY_THE_PARSER = {
    *("AugLoad", "AugStore", "Param", "Suite", "TypeIgnore"),
    *("Num", "Str", "Bytes", "NameConstant", "Ellipsis", "Index", "ExtSlice"),
}
NODES = sorted(
    name
    for name, kind in vars(ast).items()
    if isinstance(kind, type)
    and issubclass(kind, ast.AST)
    and not issubclass(kind, ast.mod)
    and not kind.__subclasses__()
    and kind.__name__ not in NOT_BUILT_BY_THE_PARSER
    and name[0] != "_"
)


@pytest.mark.parametrize("name", NODES)
def test_each_construct_has_a_method(name):
    """No construct of this Python is left to a default."""
    assert callable(getattr(Policy, f"visit_{name}", None)), name


OURS = sorted(name for name in vars(Policy) if name.startswith("visit_"))


@pytest.mark.parametrize("name", OURS)
def test_each_method_says_what_it_does(name):
    """The first word of a method's docstring is the decision: Allow, Check or Deny."""
    text = inspect.getdoc(getattr(Policy, name)) or ""
    assert text.split()[:1] in (["Allow"], ["Check"], ["Deny"]), text
    assert text.splitlines()[0].endswith((".", ":")), text


def test_syntax_newer_than_the_policy_is_closed() -> None:
    """A node that nobody has looked at is refused, whatever Python adds."""

    class Novelty(ast.expr):
        _fields = ()

    checker = Policy()
    checker.visit(Novelty())
    [(_, message)] = checker.refusals
    assert "Novelty" in message


def test_no_source_can_name_a_guard(box: Sandbox) -> None:
    """The guards' names are no identifiers: no text binds, reads or shadows one."""
    guards = {value for name, value in vars(policy).items() if name.startswith("GUARD_")}
    assert guards
    for guard in guards:
        assert not guard.isidentifier()
        for source in (f"globals()[{guard!r}]", f"globals()[{guard!r}] = print"):
            run = box.run(source)
            assert run.error is not None
            assert run.error.type == "KeyError"
        assert box.run(f"{guard!r} in globals() or {guard!r} in dir()").value is False
        run = box.run(f"def f(**k): return locals()\nsorted(f(**{{{guard!r}: 1}})['k'])")
        assert run.value == [guard]


REFUSALS = [
    "from math import *",
    "from . import x",
    "try: pass\nexcept* ValueError: pass",
    "class A:\n    def __getattribute__(self, n): ...",
    "class A:\n    def __del__(self): ...",
    "class A:\n    def __reduce__(self): ...",
    "class A:\n    def __instancecheck__(self, x): ...",
    "class A:\n    def __prepare__(self, x): ...",
    "class A:\n    def __mro_entries__(self, x): ...",
    "x.__globals__",
    "x.__code__",
    "x.__closure__",
    "x.__builtins__",
    "x.__subclasses__",
    "x.gi_frame",
    "x.tb_frame",
    "x.f_locals",
    "x.__class__ = 1",
    "x.__dict__ = 1",
    "__file__",
    "__import__('os')",
    "super = 1",
    "done = 1",
    "def f():\n    global echo",
    "''.format += 1",
    "match x:\n    case str(format=f): ...",
    "__name__ = 1",
]


@pytest.mark.parametrize("source", REFUSALS)
def test_each_refusal_says_why_or_what_instead(refusal, source):
    """One line: what is refused by name, and after it the reason or what to write."""
    message = refusal(source).message
    assert "\n" not in message
    assert len(message) < 200
    refused, mark, rest = message.partition(": ") if ": " in message else message.partition("; ")
    assert refused
    assert mark
    assert len(rest.split()) >= 2
