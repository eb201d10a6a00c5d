"""Functions in an image: how they are taken apart, and made again.

What makes something is called with the loading that it is part of, and with what a hostile
program may have written; it gives nothing that a program could not make itself.
"""

from __future__ import annotations

import contextlib
import functools
import types
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from .. import classes, guards
from ..facades.functions import CachedProperty
from ..names import is_special
from ..scopes import is_variable
from ..symbols import PLAIN
from .errors import Unfit
from .shapes import Parts, mapping, number, row, table, text
from .sources import SourceLost

if TYPE_CHECKING:
    from .pickling import Plan
    from .unpickling import Loading

_CLASS = "__class__"
_FLAGS = frozenset({"__isabstractmethod__", "__final__", "__override__", "__no_type_check__"})
"""Special variables of a function or a class that decorators leave there: true or false."""
_GATHERED = 0
"""Where a cell's number stands for one of ours."""


def take_function(plan: Plan, function: types.FunctionType) -> Parts:
    """A function of the program's own, or one that the library has made round such a one."""
    if not classes.is_own_function(function):
        return _take_wrapper(function)
    if function.__globals__ is not plan.names.variables:
        raise Unfit(
            f"the function {function.__name__!r} runs on a dictionary that was given to exec(); "
            "define it in a turn"
        )
    try:
        number, path = plan.sources.place_of(function.__code__)
    except SourceLost:
        raise Unfit(
            f"the source of the function {function.__name__!r} is gone; define it again in a turn"
        ) from None
    plan.functions.note(function)
    cells = []
    for name, cell in zip(function.__code__.co_freevars, function.__closure__ or (), strict=True):
        if name not in (PLAIN, _CLASS) and not is_variable(name):
            raise Unfit(f"the function {function.__name__!r} is part of a generic definition")
        cells.append(_GATHERED if name == PLAIN else plan.cells.note(cell) + 1)
    texts = function.__name__, function.__qualname__
    return make_function, (number, path, tuple(cells), *texts)


def make_function(
    loading: Loading, source: int, path: Parts, cells: Parts, name: str, qualname: str
) -> Any:
    """The function, without what it holds."""
    code = loading.compiled.code(number(source), [number(step) for step in row(path)])
    cells = tuple([number(cell) for cell in row(cells)])
    if len(cells) != len(code.co_freevars):
        raise ValueError("a function's closure does not fit its code")
    closure = tuple(
        _cell(loading, free, cell) for free, cell in zip(code.co_freevars, cells, strict=True)
    )
    function = types.FunctionType(code, loading.names.variables, text(name), None, closure)
    function.__qualname__ = text(qualname)
    return function


def _cell(loading: Loading, name: str, number: int) -> types.CellType:
    """The variable behind a name of a closure. What the policy keeps in one is never taken over.

    The class that ``super()`` starts from stands apart from all others, for code could bind
    those anew.
    """
    if name == PLAIN:
        return types.CellType(False)
    if name != _CLASS and not is_variable(name):
        raise ValueError("a closure holds a name that is no variable")
    return loading.cells[number, name == _CLASS]


def cell_contents(cell: types.CellType) -> Parts:
    """What a cell holds: nothing, or one value."""
    try:
        return (cell.cell_contents,)
    except ValueError:
        return ()


def fill_cell(loading: Loading, place: int, contents: Parts) -> None:
    """Put a value into a cell."""
    for is_class in (False, True):
        cell = loading.cells.get((number(place), is_class))
        if cell is None or not row(contents):
            continue
        (value,) = contents
        if is_class and not (classes.is_class(value) and classes.is_own(value)):
            raise ValueError("a method's class is none of the program's own")
        cell.cell_contents = value


def contents_of(function: types.FunctionType) -> Parts:
    """What a function holds besides its code."""
    for name, value in vars(function).items():
        if name != "__wrapped__":
            keep_attribute(function, name, value)
    return (
        function.__defaults__,
        function.__kwdefaults__,
        function.__annotations__,
        function.__doc__,
        getattr(function, "__type_params__", ()),
        dict(vars(function)),
    )


def fill_function(_: Loading, function: types.FunctionType, contents: Parts) -> None:
    """Give a function what it holds."""
    defaults, keyword_defaults, annotations, doc, parameters, variables = row(contents)
    if not classes.is_own_function(function):
        raise ValueError("a function is none of the program's own")
    code = function.__code__
    positional = code.co_argcount
    keywords = code.co_varnames[positional : positional + code.co_kwonlyargcount]
    if defaults is not None and len(row(defaults)) > positional:
        raise ValueError("a function has more defaults than arguments")
    named = None if keyword_defaults is None else table(keyword_defaults)
    if not set(named or ()) <= set(keywords):
        raise ValueError("a function has defaults for arguments that it lacks")
    function.__defaults__ = defaults
    function.__kwdefaults__ = named
    function.__annotations__ = checked_annotations(annotations)
    function.__doc__ = doc
    if row(parameters):
        function.__type_params__ = parameters  # type: ignore[attr-defined]
    for name, value in table(variables).items():
        if name != "__wrapped__":
            check_attribute(name, value)
        vars(function)[name] = value


def checked_annotations(annotations: Any) -> dict[str, Any]:
    """Annotations whose names are those of arguments or fields.

    Raises:
        ValueError: One is another.
    """
    found = table(annotations)
    for name in found:
        if not name.isidentifier() or is_special(name):
            raise ValueError(f"{name!r} can't be annotated")
    return found


def check_attribute(name: Any, value: Any) -> None:
    """Check an attribute of a function or a class that has no meaning to Python.

    Raises:
        ValueError: It has some.
    """
    is_flag = text(name) in _FLAGS and type(value) is bool
    if is_special(name) and not is_flag:
        raise ValueError(f"{name!r} can't be an attribute")


def keep_attribute(owner: Any, name: Any, value: Any) -> None:
    """Check the same of an attribute that is to be kept.

    Raises:
        Unfit: It can't be.
    """
    try:
        check_attribute(name, value)
    except ValueError:
        raise Unfit(f"{owner.__name__!r} has the attribute {name!r}, which can't be kept") from None


# -- what the library has made of a function ---------------------------------------------------


def _identity(function: Any) -> Any:
    return function


_WRAPPERS: dict[str, Callable[[Any], Any]] = {
    "contextmanager": contextlib.contextmanager,
    "asynccontextmanager": contextlib.asynccontextmanager,
}


def _take_wrapper(function: types.FunctionType) -> Parts:
    """What a function was made of, known by its code, which nothing else has."""
    code, variables = function.__code__, vars(function)
    for name, make in _WRAPPERS.items():
        if code is make(_identity).__code__:
            cells = dict(zip(code.co_freevars, function.__closure__ or (), strict=True))
            return make_wrapper, (name, cells["func"].cell_contents)
    if code is getattr(functools.singledispatch(_identity), "__code__", None):
        others = {kind: made for kind, made in variables["registry"].items() if kind is not object}
        return make_generic, (variables["registry"][object], others)
    if code is getattr(functools.lru_cache(typed=True)(_identity), "__code__", None):
        return _take_cached(None, function)
    raise Unfit(f"{function.__name__!r} is a function of the library's own making; make it anew")


def make_wrapper(_: Loading, name: str, function: Any) -> Any:
    """What ``contextmanager`` and the like make of a function."""
    return _WRAPPERS[text(name)](_callable(function))


def make_generic(_: Loading, function: Any, others: dict[Any, Any]) -> Any:
    """What ``singledispatch`` makes of a function and those for other classes."""
    generic: Any = functools.singledispatch(_callable(function))
    for kind, other in mapping(others).items():
        if not classes.is_class(kind):
            raise ValueError("a function is chosen by what is no class")
        generic.register(kind, _callable(other))
    return generic


def _take_cached(_: Plan | None, cached: Any) -> Parts:
    settings = cached.cache_parameters()
    return make_cached, (cached.__wrapped__, settings["maxsize"], settings["typed"])


def make_cached(_: Loading, function: Any, size: int | None, typed: bool) -> Any:
    """What ``lru_cache`` makes of a function; what it had kept is computed anew."""
    most = None if size is None else number(size)
    return functools.lru_cache(most, typed is True)(_callable(function))


def _callable(function: Any) -> Any:
    if not callable(function):
        raise ValueError("what should be a function can't be called")
    return function


# -- methods, and what stands for one ----------------------------------------------------------


def _take_method(_: Plan, method: types.MethodType) -> Parts:
    function: Any = method.__func__
    if classes.is_own_function(function) or type(function) is not types.FunctionType:
        return make_method, (function, method.__self__)
    return read, (method.__self__, function.__name__)


def make_method(_: Loading, function: Any, owner: Any) -> Any:
    """A function bound to an object."""
    return types.MethodType(_callable(function), owner)


def _take_builtin(_: Plan, method: Any) -> Parts:
    owner = method.__self__
    if isinstance(owner, types.ModuleType) or owner is None:
        raise Unfit(f"the function {method.__name__!r} has no name here")
    return read, (owner, method.__name__)


def _take_descriptor(_: Plan, method: Any) -> Parts:
    return read, (method.__objclass__, method.__name__)


def read(_: Loading, owner: Any, name: str) -> Any:
    """An attribute, as a program would read it."""
    return guards.get_attribute(owner, text(name))


def _take_property(_: Plan, made: property) -> Parts:
    return make_property, (made.fget, made.fset, made.fdel, made.__doc__)


def make_property(_: Loading, *parts: Any) -> property:
    """A property."""
    return property(*parts)


def _take_static(_: Plan, method: Any) -> Parts:
    return make_static, (type(method) is classmethod, method.__func__)


def make_static(_: Loading, is_class: bool, function: Any) -> Any:
    """A static method, or a class's own."""
    return classmethod(function) if is_class else staticmethod(function)


def _take_computed(_: Plan, made: Any) -> Parts:
    return make_computed, (made.func, made.attrname)


def make_computed(_: Loading, function: Any, name: Any) -> Any:
    """A ``cached_property``."""
    made = CachedProperty(function)
    made.attrname = name  # checked when it is used
    return made


def _take_partial(_: Plan, made: Any) -> Parts:
    if vars(made):
        raise Unfit("a partial() has attributes of its own; keep them in a variable")
    return make_partial, (False, made.func, made.args, made.keywords)


def _take_partial_method(_: Plan, made: Any) -> Parts:
    return make_partial, (True, made.func, made.args, made.keywords)


def make_partial(_: Loading, is_method: bool, function: Any, args: Parts, given: Any) -> Any:
    """A function with some of its arguments given."""
    make: Any = functools.partialmethod if is_method else functools.partial
    return make(function, *row(args), **table(given))


def _take_generic_method(_: Plan, made: Any) -> Parts:
    registry = dict(made.dispatcher.registry)
    registry.pop(object)
    return make_generic_method, (made.func, registry)


def make_generic_method(_: Loading, function: Any, others: dict[Any, Any]) -> Any:
    """A ``singledispatchmethod``."""
    made: Any = functools.singledispatchmethod(function)
    for kind, other in mapping(others).items():
        if not classes.is_class(kind):
            raise ValueError("a method is chosen by what is no class")
        made.register(kind, other)
    return made


_COMPUTED: Any = CachedProperty
METHODS: frozenset[type] = frozenset(
    {
        *(types.FunctionType, property, staticmethod, classmethod, _COMPUTED),
        *(functools.partialmethod, functools.singledispatchmethod),
    }
)
"""What makes up the methods of a class."""
TAKERS: dict[type, Callable[..., Parts]] = {
    types.FunctionType: take_function,
    types.MethodType: _take_method,
    types.BuiltinFunctionType: _take_builtin,
    types.MethodWrapperType: _take_builtin,
    types.MethodDescriptorType: _take_descriptor,
    types.WrapperDescriptorType: _take_descriptor,
    types.ClassMethodDescriptorType: _take_descriptor,
    property: _take_property,
    staticmethod: _take_static,
    classmethod: _take_static,
    _COMPUTED: _take_computed,
    functools.partial: _take_partial,
    functools.partialmethod: _take_partial_method,
    functools.singledispatchmethod: _take_generic_method,
    functools._lru_cache_wrapper: _take_cached,
}
MAKERS = (
    *(make_function, make_wrapper, make_generic, make_cached, make_method, read, make_property),
    *(make_static, make_computed, make_partial, make_generic_method),
)
