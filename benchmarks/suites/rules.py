"""Which of CPython's tests don't count, by what their source names, with a reason each.

A test is left out where its source imports a module, reads an attribute or uses a construct of
these lists: what needs files, the network, processes or threads, and what a sandbox refuses by
its documentation. A test is never left out because it fails.
"""

from __future__ import annotations

import ast
from collections.abc import Iterator
from functools import cache
from pathlib import Path

MACHINERY = "needs CPython's own test machinery"
FILES = "needs files, the network, processes or threads"
INSIDE = "looks into the interpreter: code objects, frames, memory, reference counts"
TEXTS = "needs compile() or a second copy of a module"
PICKLE = "pickles, or speaks pickle's protocol"
SPECIAL = "reads or writes special attributes that lead into the interpreter"
HOOKS = "defines special methods that take over attributes, deletion or instance checks"
CLASSES = "makes classes otherwise than by a class statement, or writes metaclasses"
SYNTAX = "uses except* or import *"
SYS = "uses sys beyond its data"
PRIVATE = "uses a module's private names"
CLOSED = "uses a function that reads or runs what a text names, outside of what is checked"

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
        FILES: "os io.open tempfile shutil glob pathlib socket select ssl subprocess multiprocessing "
        "threading _thread concurrent signal mmap fcntl pwd locale platform sysconfig site fileinput "
        "gzip bz2 lzma tarfile zipfile shelve dbm sqlite3 urllib.request urllib.error http ftplib",
        MACHINERY: "unittest.mock doctest test _testcapi _testbuffer _testinternalcapi "
        "_testmultiphase xml idlelib tkinter turtle",
        INSIDE: "gc weakref inspect ctypes dis opcode tracemalloc faulthandler builtins __main__ "
        "importlib imp pkgutil runpy code codeop symtable tokenize token marshal linecache traceback "
        "sre_compile sre_parse sre_constants copyreg encodings codecs errno",
        PICKLE: "pickle cPickle pickletools",
    }
)
"""Modules, by why a sandbox has none."""

SUPPORT = _by_name(
    {
        FILES: "os_helper socket_helper threading_helper script_helper temp_dir run_with_locale "
        "wait_process captured_stdout captured_stderr captured_output findfile",
        INSIDE: "refcount_test check_free_after_iterating check_sizeof calcobjsize calcvobjsize "
        "catch_unraisable_exception setswitchinterval disable_gc swap_attr check_disallow_instantiation "
        "adjust_int_max_str_digits infinite_recursion set_recursion_limit Py_DEBUG no_tracing "
        "check__all__ collision_stats NHASHBITS get_c_recursion_limit suppress_immortalization "
        "force_not_colorized no_color run_in_subinterp bigmemtest bigaddrspacetest _1G _2G _4G "
        "run_no_yield_async_fn exceeds_recursion_limit Py_C_RECURSION_LIMIT",
    }
)
"""Parts of ``test.support``, by why nothing stands in for them."""

NAMES = _by_name(
    {
        FILES: "open input",
        INSIDE: "breakpoint help exit quit copyright credits license",
        TEXTS: "compile __import__ import_fresh_module check_syntax_warning",
    }
)
"""Builtins and helpers that a sandbox refuses."""

ATTRIBUTES = _by_name(
    {
        PICKLE: "__reduce__ __reduce_ex__ __getstate__ __setstate__ __getnewargs__ __getnewargs_ex__",
        SPECIAL: "__dict__ __mro__ __bases__ __base__ __subclasses__ __globals__ __builtins__ "
        "__closure__ __code__ __defaults__ __kwdefaults__ __traceback__ __self__ __func__ "
        "__objclass__ __weakref__ __wrapped__ __get__ __set__ __delete__ __loader__ __spec__ "
        "__file__ __path__ __sizeof__ __dir__ __text_signature__ __type_params__ __signature__ mro "
        "with_traceback",
        HOOKS: "__getattribute__ __setattr__ __delattr__ __del__ __instancecheck__ "
        "__subclasscheck__ __subclasshook__ __abstractmethods__",
        CLASSES: "__prepare__ __mro_entries__ new_class prepare_class resolve_bases EnumMeta EnumType "
        "ABCMeta get_original_bases",
        INSIDE: "gi_frame gi_code gi_running gi_yieldfrom gi_suspended cr_frame cr_code cr_running "
        "cr_await cr_origin cr_suspended ag_frame ag_code ag_running ag_await f_back f_locals "
        "f_globals f_builtins f_code f_lineno f_trace tb_frame tb_next tb_lineno tb_lasti co_code "
        "co_consts co_names co_varnames co_flags co_firstlineno co_filename co_name co_freevars "
        "co_cellvars cell_contents CodeType FrameType TracebackType CellType",
        TEXTS: "import_fresh_module",
        CLOSED: "get_type_hints ForwardRef update_wrapper get_annotations",
    }
)
"""Attributes that a sandbox refuses, whatever they are read of."""

SYS_DATA = frozenset(
    "version version_info maxsize maxunicode byteorder float_info int_info hash_info platform "
    "implementation getrecursionlimit hexversion".split()
)
"""What a program finds in ``sys``."""


def why_left_out(tree: ast.Module) -> str | None:
    """The first reason that holds for a test's source, or None."""
    found = frozenset().union(*map(_all_reasons, tree.body))
    return next((reason for reason in REASONS if reason in found), None)


@cache
def _all_reasons(node: ast.AST) -> frozenset[str]:
    """The reasons in a statement. Cached, for cuts of one file share most of theirs."""
    if isinstance(node, ast.ClassDef):
        parts = map(_all_reasons, ast.iter_child_nodes(node))
        return frozenset(_reasons(node)).union(*parts)
    return frozenset(reason for each in ast.walk(node) for reason in _reasons(each))


def _reasons(node: ast.AST) -> Iterator[str]:
    match node:
        case ast.Import(names=aliases):
            for alias in aliases:
                yield from _why_module(alias.name)
        case ast.ImportFrom(module=str(module), names=aliases):
            yield from _why_module(module)
            yield from (SYNTAX for alias in aliases if alias.name == "*")
            for alias in aliases:
                yield from _why_name(alias.name, module)
        case ast.Name(id=name):
            yield from _listed(NAMES, name)
            yield from _listed(ATTRIBUTES, name)
        case ast.Attribute(value=value, attr=name):
            yield from _listed(ATTRIBUTES, name)
            yield from _why_attribute(value, name)
        case ast.FunctionDef(name=name) | ast.AsyncFunctionDef(name=name):
            if name not in ("__get__", "__set__", "__delete__"):
                yield from _listed(ATTRIBUTES, name)
        case ast.ClassDef(bases=bases, keywords=keywords):
            if any(keyword.arg == "metaclass" for keyword in keywords):
                yield CLASSES
            yield from (CLASSES for base in bases if getattr(base, "id", "") == "type")
        case ast.Call(func=ast.Name(id="type"), args=[_, _, _]):
            yield CLASSES
        case ast.Call(func=ast.Name(id="getattr" | "setattr" | "hasattr" | "delattr"), args=args):
            for each in args[1:2]:
                if isinstance(each, ast.Constant) and isinstance(each.value, str):
                    yield from _listed(ATTRIBUTES, each.value)
        case ast.TryStar():
            yield SYNTAX


def _why_module(name: str) -> Iterator[str]:
    parts = name.split(".")
    for length in range(1, len(parts) + 1):
        yield from _listed(MODULES, ".".join(parts[:length]))
    if any(part.startswith("_") and part != "__future__" for part in parts):
        yield PRIVATE


def _why_name(name: str, module: str) -> Iterator[str]:
    yield from _listed(ATTRIBUTES, name)
    if module == "sys" and name not in SYS_DATA:
        yield SYS
    if name.startswith("_") and module != "__future__":
        yield PRIVATE


def _why_attribute(value: ast.expr, name: str) -> Iterator[str]:
    match value:
        case ast.Name(id="sys") if name not in SYS_DATA:
            yield SYS
        case ast.Name(id="unittest" | "test") if name == "mock":
            yield MACHINERY
        case (
            ast.Name(id="support")
            | ast.Attribute(value=ast.Name(id="support"), attr="warnings_helper" | "import_helper")
        ):
            yield from _listed(SUPPORT, name)
            yield from _listed(NAMES, name)
            if name not in _stood_in() and name != "import_helper":
                yield MACHINERY
        case ast.Name(id=module) if module in _STANDARD and name[0] == "_" and name[:2] != "__":
            yield PRIVATE


_STANDARD = frozenset(
    "collections copy decimal enum functools heapq itertools json math operator random re "
    "statistics string textwrap types typing asyncio datetime fractions dataclasses contextlib "
    "ipaddress csv calendar pprint reprlib uuid base64 struct".split()
)


@cache
def _stood_in() -> frozenset[str]:
    """The names that our stand-in for ``test.support`` has."""
    tree = ast.parse((Path(__file__).parent / "harness.py").read_text())
    found = set()
    for node in tree.body:
        if isinstance(node, ast.ClassDef) and node.name in ("support", "_WarningsHelper"):
            for each in node.body:
                found.add(getattr(each, "name", ""))
                for target in getattr(each, "targets", ()):
                    found.add(target.id)
    return frozenset(found)

    table = (MODULES, SUPPORT, NAMES, ATTRIBUTES)[which]
    return {name: reason for reason, names in table.items() for name in names.split()}


def _listed(reasons: dict[str, str], name: str) -> Iterator[str]:
    if name in reasons:
        yield reasons[name]
