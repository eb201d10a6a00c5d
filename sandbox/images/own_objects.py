"""Objects in an image whose state can be anything: those of the program's own classes above all.

Each is made by the builtin class that it rests on, without any of the program's code, and then
given its variables by the rules that hold for a program.
"""

from __future__ import annotations

import collections
import datetime
import decimal
import fractions
import types
from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from .. import classes
from ..facades.copies import _slot_names
from ..facades.namespaces import SimpleNamespace
from ..names import is_special
from .errors import Unfit
from .shapes import Parts, row, table

if TYPE_CHECKING:
    from .pickling import Plan
    from .unpickling import Loading

_Taken = Callable[[Any], Parts]


def _by_reduce(base: Any) -> _Taken:
    return lambda x: tuple(base.__reduce_ex__(x, 4)[1])


_VALUES: dict[type, _Taken] = {
    str: lambda x: (str.__str__(x),),
    int: lambda x: (int.__int__(x),),
    float: lambda x: (float.__float__(x),),
    complex: lambda x: (complex.__complex__(x),),
    bytes: lambda x: (bytes.__bytes__(x),),
    tuple: lambda x: (tuple.__getitem__(x, slice(None)),),
    frozenset: lambda x: (tuple(frozenset.__iter__(x)),),
    decimal.Decimal: lambda x: (decimal.Decimal.__str__(x),),
    fractions.Fraction: lambda x: fractions.Fraction.as_integer_ratio(x),
    datetime.datetime: _by_reduce(datetime.datetime),
    datetime.date: _by_reduce(datetime.date),
    datetime.time: _by_reduce(datetime.time),
    datetime.timedelta: _by_reduce(datetime.timedelta),
    datetime.tzinfo: lambda _: (),
}
"""What an object is made with that rests on a builtin value."""
_HOLDERS: dict[type, _Taken] = {
    list: lambda x: tuple(list.__iter__(x)),
    set: lambda x: tuple(set.__iter__(x)),
    bytearray: lambda x: (bytes(bytearray.__getitem__(x, slice(None))),),
    collections.deque: lambda x: (tuple(collections.deque.__iter__(x)), _most(x)),
    collections.OrderedDict: lambda x: tuple(collections.OrderedDict.items(x)),
    collections.defaultdict: lambda x: (_factory(x), tuple(dict.items(x))),
    dict: lambda x: tuple(dict.items(x)),
}
"""What an object holds that rests on a builtin container."""


def _most(x: Any) -> Any:
    return vars(collections.deque)["maxlen"].__get__(x)


def _factory(x: Any) -> Any:
    return vars(collections.defaultdict)["default_factory"].__get__(x)


def foundation(kind: type) -> Any:
    """The builtin class that the objects of a class rest on; ``object`` where it is none.

    Raises:
        Unfit: They rest on one whose objects can't be made from outside.
    """
    for base in type.mro(kind):
        if base in _VALUES or base in _HOLDERS:
            return base
        if classes.is_own(base) or base is object:
            continue
        if issubclass(base, BaseException):
            return base
        if any(type(value) is types.MemberDescriptorType for value in vars(base).values()):
            raise Unfit(f"{kind.__name__!r} objects keep what {base.__name__!r} hides")
    return object


# -- taken apart ---------------------------------------------------------------------------------


def take_object(plan: Plan, x: Any) -> Parts:
    """What an object is made with, and what it is given then.

    Objects that are told apart by identity can wait for what they hold, where an image nests
    too deep otherwise. Others can't: they may be a key before it comes.
    """
    kind = type(x)
    base = foundation(kind)
    make = make_object, (kind, _arguments(base, x))
    if plan.deferring and _is_told_by_identity(kind):
        plan.waiting.append(x)
        return make
    return (*make, state_of(x), None, None, fill_object)


def _is_told_by_identity(kind: Any) -> bool:
    return kind.__hash__ is None or kind.__hash__ is object.__hash__


def _arguments(base: Any, x: Any) -> Parts:
    if base in _VALUES:
        return _VALUES[base](x)
    if issubclass(base, BaseException):
        return tuple(base.__reduce__(x)[1])
    if base is object:
        try:
            object.__new__(type(x))
        except TypeError as error:
            raise Unfit(f"{type(x).__name__!r} objects can't be made anew: {error}") from None
    return ()


def state_of(x: Any) -> Parts:
    """The variables of an object, what its slots hold, and what it contains."""
    kind = type(x)
    base = foundation(kind)
    variables = _variables(x)
    for name in variables:
        if not _may_have(kind, name):
            raise Unfit(f"{kind.__name__!r} objects keep {name!r} for the library")
    contents: Parts = ()
    if base in _HOLDERS:
        contents = _HOLDERS[base](x)
    elif issubclass(base, BaseException):
        contents = tuple(vars(BaseException)[name].__get__(x) for name in _LINKS)
    return dict(variables), dict(_slots(x)), contents


def _variables(x: Any) -> dict[str, Any]:
    try:
        names: dict[str, Any] = object.__getattribute__(x, "__dict__")
    except AttributeError:
        return {}
    return names


def _slots(x: Any) -> Iterator[tuple[str, Any]]:
    for name in _slot_names(type(x)):
        try:
            yield name, _slot(type(x), name).__get__(x)
        except AttributeError:
            continue  # nothing is in it, or it is the library's


def _slot(kind: type, name: str) -> Any:
    for base in type.mro(kind):
        if name in vars(base):
            if classes.is_own(base) and type(vars(base)[name]) is types.MemberDescriptorType:
                return vars(base)[name]
            break
    raise AttributeError(name)


_LINKS = ("__cause__", "__context__", "__suppress_context__")
"""What an error keeps of others. Its traceback is left behind."""


def _may_have(kind: type, name: Any) -> bool:
    """Whether an object may have a variable of that name, set from outside."""
    if name == "__notes__":
        return issubclass(kind, BaseException)
    return type(name) is str and not is_special(name) and not classes.is_librarys(kind, name)


# -- made again ----------------------------------------------------------------------------------


def make_object(_: Loading, kind: Any, arguments: Parts) -> Any:
    """An object with what can't change about it.

    Raises:
        ValueError: It is of a class whose objects a program can't make so.
    """
    if not classes.is_class(kind) or classes.is_metaclass(kind):
        raise ValueError("the class of an object is none")
    base = foundation(kind)
    if not (classes.is_own(kind) or kind is base or kind in EXACT):
        raise ValueError(f"{kind.__name__!r} objects are not made so")
    made = base.__new__(kind, *row(arguments))
    if not issubclass(base, BaseException):
        return made
    if type(base.__init__) is types.WrapperDescriptorType:
        base.__init__(made, *arguments)
    else:
        made.args = arguments
    return made


def fill_object(_: Loading, x: Any, state: Parts) -> None:
    """Give an object what it holds."""
    kind = type(x)
    variables, slots, contents = row(state)
    base = foundation(kind)
    if not (classes.is_open(kind) or kind in EXACT or issubclass(base, BaseException)):
        raise ValueError(f"{kind.__name__!r} objects can't be given anything")
    _give(x, kind, variables)
    for name, value in table(slots).items():
        _slot(kind, name).__set__(x, value)
    if base in _HOLDERS:
        _FILLERS[base](x, *row(contents))
    elif issubclass(base, BaseException):
        for name, value in zip(_LINKS, row(contents), strict=True):
            vars(BaseException)[name].__set__(x, value)


def _give(x: Any, kind: type, variables: Mapping[Any, Any]) -> None:
    for name, value in table(variables).items():
        if not _may_have(kind, name):
            raise ValueError(f"{name!r} can't be a variable of {kind.__name__!r}")
        _variables(x)[name] = value


def _fill_default(x: Any, factory: Any, pairs: Parts) -> None:
    collections.defaultdict.__init__(x, factory)
    dict.update(x, pairs)


def _fill_ordered(x: Any, *pairs: Any) -> None:
    for key, value in pairs:
        collections.OrderedDict.__setitem__(x, key, value)


_FILLERS: dict[type, Callable[..., None]] = {
    list: lambda x, *items: list.extend(x, items),
    set: lambda x, *items: set.update(x, items),
    bytearray: lambda x, data: bytearray.extend(x, data),
    collections.deque: lambda x, items, most: collections.deque.__init__(x, items, most),
    collections.OrderedDict: _fill_ordered,
    collections.defaultdict: _fill_default,
    dict: lambda x, *pairs: dict.update(x, pairs),
}
EXACT: frozenset[type] = frozenset(
    {
        *(collections.deque, collections.OrderedDict, collections.defaultdict),
        *(collections.Counter, SimpleNamespace, object),
    }
)
"""Classes of the library's whose own objects are made and filled like a program's."""
MAKERS = (make_object, fill_object)
