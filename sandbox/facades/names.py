"""Which modules can be imported, and the names that each one shows: data, which loads nothing."""

from __future__ import annotations

import ast
import collections.abc
import math

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
    "math": " ".join(name for name in vars(math) if name[0] != "_"),
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
