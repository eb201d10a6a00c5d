"""Classes: which are the program's own, and how they come into being.

All rests on one fact. Before the first program runs, every class that exists is made immutable
(``freeze_classes``). From then on a class is the program's own exactly when it is mutable, and
nothing that the interpreter or the standard library relies on can be patched.
"""

from __future__ import annotations

import builtins
import ctypes
import gc
import types
from collections.abc import Iterable, Iterator
from contextlib import suppress
from functools import cache
from typing import Any

from .names import LIBRARY_MARKS, is_private, is_special
from .symbols import TURN

_IMMUTABLE = 1 << 8  # Py_TPFLAGS_IMMUTABLETYPE, CPython 3.10 and later


def freeze_classes() -> int:
    """Make every class of this interpreter immutable; returns how many there are.

    CPython refuses to set an attribute of an immutable class, or to change an object's
    ``__class__`` from or to one. The flag has no public setter, so it is written in place.
    """
    kinds = every_class()
    for kind in kinds:
        freeze(kind)
    return len(kinds)


def every_class() -> set[type]:
    """Every class that exists but ``object`` itself."""
    seen: set[type] = set()
    waiting: list[type] = [object]
    while waiting:
        children: list[type] = type.__subclasses__(waiting.pop())
        for child in children:
            if child not in seen:
                seen.add(child)
                waiting.append(child)
    return seen


def hide_origin(kinds: Iterable[type]) -> None:
    """Let classes of ours pass for builtin ones: a program is shown no module of the runner's."""
    package = __name__.partition(".")[0]
    for kind in kinds:
        if str(kind.__module__).partition(".")[0] == package:  # of some it is no text
            with suppress(TypeError):  # a structure of ctypes, which no program sees
                type.__setattr__(kind, "__module__", "builtins")  # past what a metaclass has


def freeze(kind: type) -> None:
    """Make one class immutable."""
    flags = ctypes.c_ulong.from_address(id(kind) + _flags_offset())
    flags.value |= _IMMUTABLE


def thaw(kind: type) -> None:
    """Make one class mutable until ``freeze_classes``, so that it can be mended."""
    flags = ctypes.c_ulong.from_address(id(kind) + _flags_offset())
    flags.value &= ~_IMMUTABLE


@cache
def _flags_offset() -> int:
    """Where a class object keeps its flags: looked for, so that no layout is assumed."""
    word = ctypes.sizeof(ctypes.c_ulong)
    probes = (int, dict, types.FunctionType, BaseException)
    size: int = type.__basicsize__  # type: ignore[assignment]
    for offset in range(0, size, word):
        found = [ctypes.c_ulong.from_address(id(kind) + offset).value for kind in probes]
        if found == [kind.__flags__ for kind in probes]:
            return offset
    raise RuntimeError("this Python's class objects have no flags where they are looked for")


def put(kind: Any, name: str, value: Any) -> None:
    """Set an attribute of a class of the interpreter's own, which is immutable again afterwards.

    From Python 3.12 on, such a class looks names up in another dictionary than the one that
    setting them writes to, so it is written to both: setting has its operators follow.
    """
    names: dict[str, Any] = gc.get_referents(vars(kind))[0]  # what the read-only view shows
    names[name] = value
    thaw(kind)
    type.__setattr__(kind, name, value)
    freeze(kind)


def close_iteration(kind: type, *methods: str) -> None:
    """Have objects of a class of the interpreter's own not be gone through.

    Args:
        kind: The class.
        methods: Names of its methods that do the same as ``iter``, and go too.
    """
    names: dict[str, Any] = gc.get_referents(vars(kind))[0]
    for name in ("__iter__", *methods):
        names.pop(name, None)
    ctypes.c_void_p.from_address(id(kind) + _iter_offset()).value = None
    ctypes.pythonapi.PyType_Modified(ctypes.py_object(kind))


@cache
def _iter_offset() -> int:
    """Where a class object keeps the function behind ``iter``: the sixth pointer past its flags."""
    offset = _flags_offset() + 6 * ctypes.sizeof(ctypes.c_void_p)
    for kind in (list, dict, str, int, float, types.FunctionType):
        found = ctypes.c_void_p.from_address(id(kind) + offset).value
        if bool(found) != hasattr(kind, "__iter__"):
            raise RuntimeError("this Python's class objects have no iter where it is looked for")
    return offset


def is_own(kind: type) -> bool:
    """Whether a class came into being in the program: nothing else makes mutable ones."""
    return not kind.__flags__ & _IMMUTABLE


_shared: set[type] = set()


def share(kind: type) -> None:
    """Have a program look into instances of a class of ours: all they hold is what it put in."""
    _shared.add(kind)


def is_open(kind: type) -> bool:
    """Whether a program may look into instances of a class: its own, or a shared one."""
    return is_own(kind) or kind in _shared


def is_class(obj: Any) -> bool:
    """Whether an object is a class, whatever it says of itself: a weak proxy, say, would lie."""
    return issubclass(type(obj), type)


def is_metaclass(kind: Any) -> bool:
    """Whether calling ``kind`` would make a class."""
    return is_class(kind) and issubclass(kind, type)


def is_own_function(function: Any) -> bool:
    """Whether it is a function that the program's source defines."""
    return type(function) is types.FunctionType and function.__code__.co_filename.startswith(TURN)


_INTERNAL = (types.ModuleType, types.FrameType, types.CodeType)


def leads_out(obj: Any) -> bool:
    """Whether an object is one that no program may hold: it makes classes, or holds all others."""
    return isinstance(obj, _INTERNAL) or (is_metaclass(obj) and obj is not Type)


_kept_names: dict[type, frozenset[str]] = {}


def note_kept_names(kinds: Iterable[type]) -> None:
    """Note which private names the methods of classes use: their objects keep things by them.

    Those that are no variables of the class can't be seen on it.
    """
    for kind in kinds:
        names = {
            name
            for value in vars(kind).values()
            for function in _functions_of(value)
            for name in function.__code__.co_names
            if is_private(name) and name not in function.__globals__
        }
        if names:
            _kept_names[kind] = frozenset(names)


def _functions_of(value: Any) -> Iterator[types.FunctionType]:
    """The Python functions behind an attribute of a class."""
    parts: tuple[Any, ...] = (value,)
    if type(value) is property:
        parts = (value.fget, value.fset, value.fdel)
    for part in parts:
        function = part.__func__ if type(part) in (classmethod, staticmethod) else part
        if isinstance(function, types.FunctionType):
            yield function


def is_inherited(kind: type, name: str) -> bool:
    """Whether a class that is not the program's own gives ``kind``'s objects that attribute."""
    return any(name in _library_names(base) for base in type.mro(kind) if not is_own(base))


def _library_names(base: type) -> set[str]:
    return vars(base).keys() | _kept_names.get(base, frozenset())


_PROTOCOL = frozenset(
    {"_value_", "_name_", "_missing_", "_generate_next_value_", "_ignore_", "_order_"}
)
"""Private names of the standard library's that are written to be defined and read by others."""


def is_librarys(kind: type, name: str) -> bool:
    """Whether a name is one that a base class, which is not the program's, keeps to itself."""
    return is_private(name) and name not in _PROTOCOL and is_inherited(kind, name)


class PlainClasses(dict[type, bool]):
    """Whether a class is the program's own and no library class gives it private attributes.

    Asked by ``plain[type(obj)]``; an answer is found once. Marks that are in
    ``LIBRARY_MARKS`` don't count: they are always read by a guard.
    """

    def __missing__(self, kind: type) -> bool:
        self[kind] = is_own(kind) and not any(
            is_private(name) and name not in LIBRARY_MARKS
            for base in type.mro(kind)
            if not is_own(base)
            for name in _library_names(base)
        )
        return self[kind]


# -- their making ----------------------------------------------------------------------------


class _TypeMeta(type):
    def __instancecheck__(cls, instance: Any) -> bool:
        return isinstance(instance, type)

    def __subclasscheck__(cls, subclass: Any) -> bool:
        return is_metaclass(subclass)

    def __repr__(cls) -> str:
        return "<class 'type'>"


class Type(metaclass=_TypeMeta):
    """What a program finds under ``type``: it tells the class of an object, and makes none."""

    def __new__(cls, *args: Any, **kwargs: Any) -> Any:  # noqa: D102
        if len(args) != 1 or kwargs:
            raise TypeError("type() takes one object here; write a class statement to make a class")
        return class_of(args[0])


# Not over the real one: an alias hands what it stands for to ``==`` and to calls.
Type.__class_getitem__ = classmethod(types.GenericAlias)  # type: ignore[attr-defined]
Type.__name__ = Type.__qualname__ = "type"


def class_of(obj: Any) -> Any:
    """The object's class; of a class, what stands for its metaclass and makes none."""
    kind = type(obj)
    return _stand_ins.get(kind, Type) if is_metaclass(kind) else kind


def slots(names: Any) -> Any:
    """The names that a class body gives its slots, checked.

    Raises:
        TypeError: One is special, or no plain text.
    """
    kept = dict(names) if isinstance(names, dict) else names
    if not isinstance(kept, dict):
        kept = (kept,) if isinstance(kept, str) else tuple(kept)
    for name in kept:
        if type(name) is not str or (is_special(name) and name not in ("__dict__", "__weakref__")):
            raise TypeError(f"{name!r} can't be the name of a slot")
    return kept


def build_class(
    function: Any, name: str, /, *bases: Any, metaclass: Any = None, **keywords: Any
) -> Any:
    """Make the class of a class statement, if its bases allow it.

    Raises:
        TypeError: A base, or the metaclass, is none that a program may take.
    """
    wanted: type = type
    if metaclass is not None and metaclass is not Type:
        if not is_class(metaclass) or metaclass not in _metaclasses:
            raise TypeError(
                "a class can't have a metaclass of its own here; inherit from ABC or Enum, or "
                "use __init_subclass__ or a class decorator"
            )
        wanted = _metaclasses[metaclass]
    return builtins.__build_class__(function, name, *bases, metaclass=_Maker(wanted), **keywords)


class _Maker:
    """What makes a class of the bases that Python has resolved: a program is asked for them once.

    Args:
        wanted: The metaclass that the class is to have at least.
    """

    def __init__(self, wanted: type) -> None:
        self._wanted = wanted

    def __prepare__(self, name: str, bases: tuple[Any, ...], /, **keywords: Any) -> Any:
        return self._metaclass(bases).__prepare__(name, bases, **keywords)

    def __call__(self, name: str, bases: tuple[Any, ...], names: Any, /, **keywords: Any) -> Any:
        return self._metaclass(bases)(name, bases, names, **keywords)

    def _metaclass(self, bases: tuple[Any, ...]) -> Any:
        winner = self._wanted
        for base in bases:
            if not is_class(base) or is_metaclass(base) or _closed.intersection(type.mro(base)):
                raise TypeError(f"a class can't inherit from {_name_of(base)!r} here")
            if not issubclass(winner, type(base)):
                if not issubclass(type(base), winner):
                    raise TypeError("the bases' metaclasses conflict; inherit from one of them")
                winner = type(base)
        return winner


def _name_of(base: Any) -> str:
    return base.__name__ if is_class(base) else type(base).__name__


_closed: set[type] = {Type}
_stand_ins: dict[type, type] = {}
_metaclasses: dict[type, type] = {}


def show_metaclass(stand_in: type, metaclass: type) -> None:
    """Let a program see what stands for a metaclass, where it asks for the class of a class."""
    _stand_ins[metaclass] = stand_in


def open_metaclass(stand_in: type, metaclass: type) -> None:
    """Let a class statement name a metaclass of the standard library, by what stands for it."""
    _metaclasses[stand_in] = metaclass


def close(*kinds: type) -> None:
    """Take classes, and what inherits from them, out of the reach of inheritance."""
    _closed.update(kinds)
