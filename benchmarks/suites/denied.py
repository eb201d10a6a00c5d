"""What a sandbox has not, as its documentation says: names, by the reason for their absence.

``docs/language.md`` is the documentation. A test sees to it that nothing stands here that a
sandbox has.
"""

from __future__ import annotations

FILES = "needs files, the network, processes or threads"
MACHINERY = "needs CPython's own test machinery"
INSIDE = "looks into the interpreter: code objects, frames, memory"
TEXTS = "needs a second copy of a module, or __import__"
PICKLE = "pickles, or speaks pickle's protocol"
SPECIAL = "reads special attributes that stay closed, or sets special ones"
HOOKS = "defines special methods that stay closed"
CLASSES = "makes classes otherwise than by a class statement, or writes metaclasses"
SYNTAX = "uses except*"
SYS = "uses sys beyond its data"
PRIVATE = "uses private names of modules, or of classes that are not the test's own"
CLOSED = "uses a function that is refused by name"

REASONS = (
    *(FILES, MACHINERY, INSIDE, TEXTS, PICKLE, SPECIAL, HOOKS, CLASSES, SYNTAX, SYS, PRIVATE),
    CLOSED,
)
"""In the order in which they are looked at; a test is counted under the first that holds."""


def _by_name(names: dict[str, str]) -> dict[str, str]:
    """The reason for each name, from the names for each reason."""
    return {name: reason for reason, text in names.items() for name in text.split()}


MODULES = _by_name(
    {
        FILES: "_thread concurrent dbm fcntl fileinput ftplib glob http.client http.server mmap "
        "multiprocessing platform pwd select selectors shelve shutil signal site socket sqlite3 "
        "ssl subprocess sysconfig tarfile tempfile threading urllib.error urllib.request zipfile",
        MACHINERY: "_testbuffer _testcapi _testinternalcapi _testlimitedcapi _testmultiphase "
        "doctest idlelib pydoc test tkinter turtle unittest",
        INSIDE: "__main__ builtins code codeop copyreg ctypes dis encodings faulthandler gc imp "
        "importlib.abc importlib.machinery importlib.resources importlib.util linecache marshal "
        "opcode pkgutil runpy sre_compile sre_constants sre_parse symtable token tokenize "
        "tracemalloc",
        PICKLE: "pickle pickletools",
    }
)
"""Modules that can't be imported."""

SUPPORT = _by_name(
    {
        FILES: "findfile os_helper run_with_locale run_with_locales script_helper socket_helper "
        "temp_dir threading_helper wait_process",
        INSIDE: "NHASHBITS Py_C_RECURSION_LIMIT Py_DEBUG _1G _2G _4G bigaddrspacetest bigmemtest "
        "calcobjsize calcvobjsize catch_unraisable_exception check__all__ check_sizeof "
        "check_disallow_instantiation check_free_after_iterating collision_stats disable_gc "
        "exceeds_recursion_limit get_c_recursion_limit infinite_recursion refcount_test "
        "no_tracing run_in_subinterp set_recursion_limit setswitchinterval swap_attr",
    }
)
"""Parts of ``test.support`` that can't be stood in for."""

NAMES = _by_name(
    {
        FILES: "input open",
        INSIDE: "breakpoint copyright credits exit help license quit",
        TEXTS: "__import__ import_fresh_module",
    }
)
"""Builtins, and a helper of the tests, that are refused."""

ATTRIBUTES = _by_name(
    {
        PICKLE: "__getinitargs__ __getnewargs__ __getnewargs_ex__ __getstate__ __reduce__ "
        "__reduce_ex__ __setstate__",
        CLASSES: "__mro_entries__ __prepare__ get_original_bases new_class "
        "prepare_class resolve_bases",
        INSIDE: "CellType __closure__ __code__ __globals__ __subclasses__ "
        "__weakref__ ag_await ag_code ag_frame cell_contents co_cellvars co_code "
        "co_consts co_filename co_firstlineno co_flags co_freevars co_name co_names co_varnames "
        "cr_await cr_code cr_frame cr_origin f_back f_builtins f_code f_globals "
        "f_lineno f_locals f_trace gi_code gi_frame gi_yieldfrom "
        "tb_frame tb_lasti tb_lineno tb_next",
        TEXTS: "import_fresh_module",
    }
)
"""Attributes that are refused, whatever they are read of."""

METACLASSES = frozenset({"type", "ABCMeta", "EnumMeta", "EnumType"})
"""Classes that no class inherits from."""

FUNCTIONS = frozenset(
    (
        "asyncio.get_event_loop_policy asyncio.set_event_loop_policy codecs.lookup "
        "codecs.register codecs.register_error codecs.unregister dataclasses.Field "
        "enum.global_enum inspect.currentframe inspect.getattr_static inspect.stack "
        "typing.ForwardRef typing.reveal_type weakref.getweakrefs weakref.proxy"
    ).split()
)
"""Functions and classes of modules that are given, refused each with a reason of its own."""

SPECIAL_NAMES = frozenset(
    (
        "__abs__ __abstractmethods__ __add__ __aenter__ __aexit__ __aiter__ __and__ __anext__ "
        "__annotations__ __await__ __base__ __bases__ __bool__ __bound__ __bytes__ __call__ "
        "__cause__ __ceil__ __class__ __complex__ __constraints__ __contains__ __context__ "
        "__contravariant__ __copy__ __covariant__ __debug__ __deepcopy__ __defaults__ "
        "__delattr__ __delitem__ __dict__ __dir__ __divmod__ __doc__ __enter__ __eq__ __exit__ "
        "__float__ __floor__ __floordiv__ __format__ __fspath__ __func__ __ge__ __getitem__ "
        "__gt__ __hash__ __iadd__ __iand__ __ifloordiv__ __ilshift__ __imatmul__ __imod__ "
        "__imul__ __index__ __init__ __int__ __invert__ __ior__ __ipow__ __irshift__ "
        "__isabstractmethod__ __isub__ __iter__ __itruediv__ __ixor__ __kwdefaults__ __le__ "
        "__len__ __length_hint__ __lshift__ __lt__ __match_args__ __matmul__ __members__ "
        "__missing__ __mod__ __module__ __mro__ __mul__ __name__ __ne__ __neg__ __new__ "
        "__next__ __notes__ __optional_keys__ __or__ __pos__ __post_init__ __pow__ "
        "__qualname__ __radd__ __rand__ __rdivmod__ __repr__ __required_keys__ __reversed__ "
        "__rfloordiv__ __rlshift__ __rmatmul__ __rmod__ __rmul__ __ror__ __round__ __rpow__ "
        "__rrshift__ __rshift__ __rsub__ __rtruediv__ __rxor__ __self__ __setattr__ "
        "__setitem__ __sizeof__ __slots__ __str__ __sub__ __supertype__ __suppress_context__ "
        "__total__ __traceback__ __truediv__ __trunc__ __type_params__ __value__ __version__ "
        "__wrapped__ __xor__"
    ).split()
)
"""Special attributes that are read, of any object or of the program's own; no others are."""

DEFINABLE = SPECIAL_NAMES | frozenset(
    (
        "__class_getitem__ __delete__ __get__ __getattr__ __init_subclass__ __set__ __set_name__ "
        "__subclasshook__"
    ).split()
)
"""Special methods and variables that a class may have."""

SETTABLE = frozenset({"__name__", "__qualname__", "__doc__", "__wrapped__"})
"""Special attributes that a program may set, on what it has made."""

OFFERED = frozenset(
    "_asdict _field_defaults _fields _make _replace _name_ _value_ _missing_ _ignore_ _order_ "
    "_generate_next_value_".split()
)
"""Single-underscore names that the standard library offers to everybody."""

OS_DATA = frozenset(
    "PathLike altsep curdir devnull environ extsep fspath getenv linesep name pardir path pathsep "
    "sep urandom".split()
)
"""What is in ``os``; the rest of it needs files or processes."""

SYS_DATA = frozenset(
    (
        "argv byteorder copyright exc_info exception exit float_info float_repr_style "
        "get_int_max_str_digits getdefaultencoding getfilesystemencoding getrecursionlimit "
        "getrefcount getsizeof hash_info hexversion implementation int_info intern maxsize "
        "maxunicode platform set_int_max_str_digits setrecursionlimit stderr stdin stdout "
        "stdlib_module_names version version_info"
    ).split()
)
"""What is in ``sys``."""
