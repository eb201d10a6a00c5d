"""What a program can hand over or override so that it is shown things: recorders.

They are a program's own, and made as one makes them: their source goes through the policy. What
they have been handed since the last look is given by ``taken``.
"""

from __future__ import annotations

import inspect
import keyword
from collections.abc import Callable, Iterator
from typing import Any

from circlet.sandbox.compiling import compile_turn
from circlet.sandbox.names import CLASS_METHODS, is_special

_MOST = 200
"""Objects that are kept until the next look."""
_UNTOUCHED = frozenset(
    (
        "__new__ __init__ __getattr__ __init_subclass__ __class_getitem__ __subclasshook__ "
        "__setattr__ __delattr__ __repr__"
    ).split()
)
"""Special methods that are left alone: without them no object comes into being."""

SOURCE = """
seen = []
def note(args, kwargs):
    if len(seen) < MOST:
        seen.extend(args)
        seen.extend(kwargs.values())

def record(*args, **kwargs):
    note(args, kwargs)
    return 1

class Recorder:
    def __init__(self, *args, **kwargs):
        note(args, kwargs)
    def __getattr__(self, name):
        if name.startswith("_"):
            raise AttributeError(name)
        return self

def noting(result):
    def method(self, *args, **kwargs):
        note(args, kwargs)
        return result(self)
    return method

RESULTS = {
    **dict.fromkeys("__str__ __format__ __fspath__".split(), lambda _: "a"),
    **dict.fromkeys("__iter__ __reversed__ __await__".split(), lambda _: iter([1])),
    **dict.fromkeys("__exit__ __set__ __delete__ __set_name__ __setitem__".split(), lambda _: None),
    **dict.fromkeys("__delitem__ __post_init__".split(), lambda _: None),
    **dict.fromkeys("__eq__ __bool__ __contains__".split(), lambda _: True),
    **dict.fromkeys("__len__ __length_hint__ __hash__ __int__ __index__".split(), lambda _: 1),
    **dict.fromkeys("__sizeof__ __trunc__ __floor__ __ceil__ __round__".split(), lambda _: 1),
    "__bytes__": lambda _: b"a", "__float__": lambda _: 1.0, "__complex__": lambda _: 1j,
    "__next__": lambda _: next(iter([])), "__dir__": lambda _: [],
}
for name in NAMES:
    setattr(Recorder, name, noting(RESULTS.get(name, lambda self: self)))
recorder = Recorder()

def passing(original):
    def method(*args, **kwargs):
        note(args[1:], kwargs)
        return original(*args, **kwargs)
    return method

class Plain:
    pass

def held(descriptor):
    class Holder:
        value = descriptor
    return Holder

def operated(one):
    for operate in OPERATIONS:
        for pair in ((one, recorder), (recorder, one)):
            try:
                yield operate(*pair)
            except Exception as error:
                yield error
"""


class Recorders:
    """The recorders of one program.

    Args:
        variables: The program's variables, with its builtins.
        operations: What is done to an object and a recorder.

    Attributes:
        variables: The same; ``record``, ``recorder`` and ``Plain`` are in it.
    """

    def __init__(self, variables: dict[str, Any], operations: list[Callable[..., Any]]) -> None:
        self.variables = variables
        names = sorted(CLASS_METHODS - _UNTOUCHED)
        variables.update(NAMES=names, MOST=_MOST, OPERATIONS=operations)
        self.run(SOURCE)

    def run(self, source: str) -> None:
        """Run a source as the program's own."""
        exec(compile_turn(source, "<turn 1>"), self.variables)

    def taken(self) -> list[Any]:
        """What was handed over since the last look."""
        seen = self.variables["seen"]
        found = list(seen)
        seen.clear()
        return found

    def heirs(self, base: type) -> Iterator[type]:
        """Subclasses of a class: one notes what its methods are given, one has recorders for data.

        Raises:
            TypeError: The program can't inherit from it.
        """
        static = {name: inspect.getattr_static(base, name) for name in sorted(_overridable(base))}
        calls = {name: value for name, value in static.items() if _function_of(value) is not None}
        data = [name for name in static if name not in calls and not is_special(name)]
        yield self._heir(base, {}, "")
        yield self._heir(
            base,
            {name: _function_of(value) for name, value in calls.items()},
            "".join(
                f"    {name} = {_wrapper(value)}(passing(originals[{name!r}]))\n"
                for name, value in calls.items()
            ),
        )
        yield self._heir(base, {}, "".join(f"    {name} = recorder\n" for name in data))

    def _heir(self, base: type, originals: dict[str, Any], body: str) -> type:
        self.variables.update(base=base, originals=originals)
        self.run(f"class Heir(base):\n    pass\n{body}")
        made: type = self.variables["Heir"]
        return made


def _overridable(base: type) -> set[str]:
    """The names that a class body can bind anew."""
    names = {name for kind in type.mro(base) for name in vars(kind)}
    return {
        name
        for name in names
        if name.isidentifier()
        and not keyword.iskeyword(name)
        and (name in CLASS_METHODS - _UNTOUCHED or not is_special(name))
    }


def _function_of(value: Any) -> Any:
    """What is called where a class has that under a name; None where it is no method."""
    if isinstance(value, classmethod | staticmethod):
        return value.__func__
    return value if inspect.isroutine(value) else None


def _wrapper(value: Any) -> str:
    return type(value).__name__ if isinstance(value, classmethod | staticmethod) else ""
