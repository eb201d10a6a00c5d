"""The modules that a program can import: read-only faces with a list of public names each.

A raw module of the standard library is a way out (``re.enum.sys``), and so are some public
functions. A facade holds exactly the names listed here. None of them is a module, a mutable
container, or a function that reads attributes named in a text, evaluates a text, or makes a
class of names that it doesn't check; where a module's own function does, ours stands in.
"""

from __future__ import annotations

import abc
import ast
import collections
import collections.abc
import dataclasses
import enum
import functools
import importlib
import types
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from . import guards
from .policy import is_special

_AST_NODES = " ".join(
    name
    for name, value in vars(ast).items()
    if isinstance(value, type) and issubclass(value, ast.AST) and name[0] != "_"
)

PUBLIC: dict[str, str] = {
    "abc": "ABC abstractmethod",
    "ast": "parse walk dump unparse literal_eval get_docstring get_source_segment iter_fields "
    "iter_child_nodes copy_location fix_missing_locations increment_lineno NodeVisitor "
    "NodeTransformer " + _AST_NODES,
    "bisect": "bisect bisect_left bisect_right insort insort_left insort_right",
    "collections": "ChainMap Counter OrderedDict UserDict UserList defaultdict deque namedtuple",
    "collections.abc": " ".join(collections.abc.__all__),
    "dataclasses": "FrozenInstanceError InitVar KW_ONLY MISSING asdict astuple dataclass field "
    "fields is_dataclass replace",
    "datetime": "MAXYEAR MINYEAR UTC date datetime time timedelta timezone tzinfo",
    "decimal": "BasicContext Clamped Context ConversionSyntax Decimal DecimalException "
    "DefaultContext DivisionByZero DivisionImpossible DivisionUndefined ExtendedContext "
    "FloatOperation Inexact InvalidContext InvalidOperation MAX_EMAX MAX_PREC MIN_EMIN MIN_ETINY "
    "Overflow ROUND_05UP ROUND_CEILING ROUND_DOWN ROUND_FLOOR ROUND_HALF_DOWN ROUND_HALF_EVEN "
    "ROUND_HALF_UP ROUND_UP Rounded Subnormal Underflow getcontext localcontext setcontext",
    "enum": "Enum Flag IntEnum IntFlag StrEnum auto unique",
    "fractions": "Fraction",
    "functools": "cache cached_property cmp_to_key lru_cache partial partialmethod reduce "
    "total_ordering wraps",
    "heapq": "heapify heappop heappush heappushpop heapreplace merge nlargest nsmallest",
    "itertools": "accumulate chain combinations combinations_with_replacement compress count "
    "cycle dropwhile filterfalse groupby islice pairwise permutations product repeat starmap "
    "takewhile tee zip_longest batched",
    "json": "JSONDecodeError JSONDecoder JSONEncoder dump dumps load loads",
    "math": " ".join(name for name in vars(importlib.import_module("math")) if name[0] != "_"),
    "random": "Random SystemRandom betavariate binomialvariate choice choices expovariate "
    "gammavariate gauss getrandbits getstate lognormvariate normalvariate paretovariate randbytes "
    "randint random randrange sample seed setstate shuffle triangular uniform vonmisesvariate "
    "weibullvariate",
    "re": "A ASCII DEBUG I IGNORECASE L LOCALE M MULTILINE Match NOFLAG Pattern PatternError "
    "RegexFlag S DOTALL U UNICODE VERBOSE X compile error escape findall finditer fullmatch match "
    "purge search split sub subn",
    "statistics": "NormalDist StatisticsError correlation covariance fmean geometric_mean "
    "harmonic_mean linear_regression mean median median_grouped median_high median_low mode "
    "multimode pstdev pvariance quantiles stdev variance",
    "string": "Template ascii_letters ascii_lowercase ascii_uppercase capwords digits hexdigits "
    "octdigits printable punctuation whitespace",
    "textwrap": "TextWrapper dedent fill indent shorten wrap",
    "time": "asctime ctime gmtime localtime mktime monotonic monotonic_ns perf_counter "
    "perf_counter_ns process_time process_time_ns sleep strftime strptime struct_time time time_ns",
    "typing": "AbstractSet Annotated Any AnyStr Awaitable Callable ClassVar Collection Concatenate "
    "Container Coroutine Counter DefaultDict Deque Dict Final FrozenSet Generator Generic "
    "Hashable Iterable Iterator List Literal LiteralString Mapping MutableMapping "
    "MutableSequence MutableSet NamedTuple Never NewType NoReturn NotRequired Optional "
    "OrderedDict ParamSpec ParamSpecArgs ParamSpecKwargs Protocol Required Reversible Self "
    "Sequence Set Sized SupportsAbs SupportsFloat SupportsIndex SupportsInt SupportsRound "
    "TYPE_CHECKING Text Tuple Type TypeAlias TypeGuard TypeVar TypeVarTuple TypedDict Union "
    "Unpack assert_never assert_type cast final is_typeddict overload runtime_checkable",
}
"""Importable modules and the names of each; a name that this Python lacks is left out."""


class _FacadeType(type):
    def __call__(cls, *_: Any, **__: Any) -> Any:
        raise TypeError("a module can't be called")

    def __setattr__(cls, name: str, _: Any) -> None:
        raise AttributeError(f"{cls!r} is read-only: {name!r} can't be set")

    def __delattr__(cls, name: str) -> None:
        raise AttributeError(f"{cls!r} is read-only: {name!r} can't be deleted")

    def __getattr__(cls, name: str) -> Any:
        raise AttributeError(f"{cls!r} has no {name!r} here")

    def __dir__(cls) -> list[str]:
        return sorted(vars(cls))

    def __repr__(cls) -> str:
        return f"<module {cls.__name__!r}>"


class Facade(metaclass=_FacadeType):
    """Base of the modules as a program sees them: public names, and nothing can be set.

    Each is a class, for the interpreter itself then refuses every way of writing to it, once
    classes are frozen; an object's own variables can be written past its class.
    """

    __slots__ = ()


def _facade(name: str, names: Mapping[str, Any]) -> type[Facade]:
    made: Any = _FacadeType(name, (Facade,), {"__slots__": (), **names})
    facade: type[Facade] = made
    return facade


def build() -> dict[str, type[Facade]]:
    """Make every facade. Preloads the modules behind them, so that none is imported later."""
    _mend_abc()
    _mend_ast()
    _mend_collections()
    _mend_enum()
    _mend_dataclasses()
    guards.close(Facade, ast.AST)
    made: dict[str, type[Facade]] = {}
    for name in sorted(PUBLIC, reverse=True):  # what is in a package before the package
        made[name] = _facade(name, {**_public_names(name), **_children(name, made)})
    return made


def narrowed(
    facades: Mapping[str, type[Facade]], modules: Iterable[str]
) -> dict[str, type[Facade]]:
    """The facades of these modules alone; a package that is not among them has only its children.

    Args:
        facades: All facades, by module name.
        modules: Names of the modules.
    """
    wanted = set(modules)
    kept: dict[str, type[Facade]] = {}
    for name in sorted(wanted | {name.partition(".")[0] for name in wanted}, reverse=True):
        names = _own_names(facades[name], facades) if name in wanted else {}
        kept[name] = _facade(name, {**names, **_children(name, kept)})
        guards.freeze(kept[name])
    return kept


def _children(package: str, facades: Mapping[str, type[Facade]]) -> dict[str, type[Facade]]:
    return {
        name.rpartition(".")[2]: facade
        for name, facade in facades.items()
        if name.rpartition(".")[0] == package
    }


def _own_names(facade: type[Facade], facades: Mapping[str, type[Facade]]) -> dict[str, Any]:
    children = _children(facade.__name__, facades)
    return {
        name: value
        for name, value in vars(facade).items()
        if not is_special(name) and name not in children
    }


def _public_names(module_name: str) -> dict[str, Any]:
    module = importlib.import_module(module_name)
    names: dict[str, Any] = {}
    for name in PUBLIC[module_name].split():
        value = _OURS.get(f"{module_name}.{name}", getattr(module, name, None))
        if isinstance(value, types.ModuleType | dict | list | set):
            raise TypeError(
                f"{module_name}.{name} is a {type(value).__name__}: no facade may hold it"
            )
        if value is not None or hasattr(module, name):
            names[name] = value
    return names


# -- what stands in for functions that would lead out ----------------------------------------


def _dataclass(cls: Any = None, /, **options: Any) -> Any:
    """``dataclasses.dataclass`` for classes whose field names are what they seem.

    It writes source text out of them, and makes them the names that positional patterns read.
    """
    if cls is None:
        return lambda decorated: _dataclass(decorated, **options)
    if not isinstance(cls, type) or not guards.is_own(cls):
        raise TypeError("dataclass() takes a class that you have defined")
    for base in cls.__mro__:
        for name, field in vars(base).get("__dataclass_fields__", {}).items():
            _check_field_name(name)
            _check_field_name(field.name)
    for name in vars(cls).get("__annotations__", ()):
        _check_field_name(name)
        if guards.is_guarded(name) and guards.is_inherited(cls, name):
            raise ValueError(f"{name!r} can't be the name of a field: a base class guards it")
    return _without_guarded_patterns(dataclasses.dataclass(**options)(cls))


def _without_guarded_patterns(made: Any) -> Any:
    """Cut a class's positional patterns before the first name that is only read by a guard.

    A pattern reads attributes without one, and of any object that passes for an instance.
    """
    names = vars(made).get("__match_args__", ())
    guarded = [place for place, name in enumerate(names) if guards.is_guarded(name)]
    if guarded:
        setattr(made, "__match_args__", names[: guarded[0]])  # noqa: B010 - typed as final
    return made


def _check_field_name(name: Any) -> None:
    if type(name) is not str or not name.isidentifier() or is_special(name):
        raise ValueError(f"{name!r} can't be the name of a field")


def _wraps(wrapped: Any) -> Callable[[Any], Any]:
    """``functools.wraps`` for functions; what is copied can't be chosen.

    Annotations are left out: a class whose annotations come from elsewhere would make
    ``dataclass`` write any source.
    """

    def decorate(wrapper: Any) -> Any:
        if not isinstance(wrapper, types.FunctionType):
            raise TypeError("wraps() decorates functions")
        return functools.update_wrapper(wrapper, wrapped, ("__name__", "__qualname__", "__doc__"))

    return decorate


_OURS: dict[str, Any] = {"dataclasses.dataclass": _dataclass, "functools.wraps": _wraps}


def _mend_abc() -> None:
    """Only the program's own abstract classes can be told of further classes.

    Otherwise what the standard library takes for a mapping would be the program's to say.
    """
    register = abc.ABCMeta.register

    def checked(cls: abc.ABCMeta, subclass: type) -> type:
        if not guards.is_own(cls):
            raise TypeError(f"{cls.__name__}.register is closed here; inherit from it instead")
        return register(cls, subclass)

    abc.ABCMeta.register = checked  # type: ignore[method-assign]


def _mend_ast() -> None:
    """Nodes take their own fields only, and only nodes are walked by their fields.

    Otherwise ``ast.Name(_fields=("__globals__",))`` would make the module's own helpers read
    attributes by any name.
    """
    make = ast.AST.__init__

    def init(node: ast.AST, /, *args: Any, **kwargs: Any) -> None:
        for name in kwargs:
            if name not in node._fields and name not in node._attributes:
                raise TypeError(f"{type(node).__name__} has no field {name!r}")
        make(node, *args, **kwargs)

    def iter_fields(node: ast.AST) -> Iterator[tuple[str, Any]]:
        if not isinstance(node, ast.AST):
            raise TypeError(f"expected a node, got {type(node).__name__!r}")
        for name in type(node)._fields:
            if hasattr(node, name):
                yield name, getattr(node, name)

    ast.AST.__init__ = init  # type: ignore[method-assign,assignment]
    ast.iter_fields = iter_fields


def _mend_collections() -> None:
    """A namedtuple's positional patterns read no name that needs a guard, nor do typing's."""
    make = collections.namedtuple

    def namedtuple(
        typename: str,
        field_names: Any,
        *,
        rename: bool = False,
        defaults: Any = None,
        module: str | None = None,
    ) -> Any:
        made = make(
            typename,
            field_names,
            rename=rename,
            defaults=defaults,
            module=module or "__main__",
        )
        return _without_guarded_patterns(made)

    collections.namedtuple = namedtuple


def _mend_enum() -> None:
    """The functional form (``Enum("Colour", names)``) takes no special names."""
    create = enum.EnumMeta._create_  # type: ignore[attr-defined]

    def checked(cls: Any, class_name: str, names: Any, **options: Any) -> Any:
        if type(names) is str:
            names = names.replace(",", " ").split()
        elif isinstance(names, dict):
            names = dict.items(names)
        # Each item is read once, for an object could show another name the next time.
        members = [item if type(item) is str else tuple(item) for item in names]
        for member in members:
            name = member if type(member) is str else member[0]
            if type(name) is not str or is_special(name):
                raise ValueError(f"{name!r} can't be the name of a member")
        return create(cls, class_name, members, **options)

    enum.EnumMeta._create_ = checked  # type: ignore[attr-defined]


def _mend_dataclasses() -> None:
    """A field can't be renamed to a special name: ``asdict`` reads attributes by field names."""

    def set_attribute(field: dataclasses.Field[Any], name: str, value: Any) -> None:
        if name == "name" and value is not None:
            _check_field_name(value)
        object.__setattr__(field, name, value)

    dataclasses.Field.__setattr__ = set_attribute  # type: ignore[method-assign,assignment]
